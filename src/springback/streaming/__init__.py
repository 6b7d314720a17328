"""What all models of a stream share.

The records that they take (`records`), time stamps, the magnitude and the channels of rows, a lock for each model, the
base class of classifiers that follow a stream, and how answers become classes (`readout`) and are scored (`metrics`).
"""

from typing import TYPE_CHECKING

from springback.lazy import lazy_names

if TYPE_CHECKING:
    from springback.streaming import metrics as metrics

__all__ = ["metrics"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__)
