"""Methods that adapt the normalisation layers of a PyTorch network to its stream, by gradients without labels.

They read frames instead of features, and change a copy of the network that they keep. Otherwise they are
`StreamClassifier`s like all methods of `springback.adaptation`.
"""

from springback.extras import missing_extra

try:
    import torch as _torch  # noqa: F401
except ImportError:
    raise missing_extra("springback.adaptation.networks", "torch") from None

from springback.adaptation.networks.network_classifier import NetworkClassifier
from springback.adaptation.networks.note import Note
from springback.adaptation.networks.roid import Roid
from springback.adaptation.networks.tent import Tent

__all__ = ["NetworkClassifier", "Note", "Roid", "Tent"]
