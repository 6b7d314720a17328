"""One function that loads any saved model: the file says of which kind it is."""

from importlib import import_module
from pathlib import Path
from typing import Any

from springback import check
from springback.check import DataError
from springback.storage import kind_of

MODELS = {
    "elastic classifier": ("springback.elastic", "ElasticClassifier"),
    "elastic clustering": ("springback.elastic", "ElasticClustering"),
    "elastic head": ("springback.heads", "ElasticHead"),
    "elastic linear classifier": ("springback.heads", "ElasticLinearClassifier"),
    "stream pipeline": ("springback.stream_pipeline", "StreamPipeline"),
    "spiking model": ("springback.spiking", "SpikingClassifier"),
}
"""Which class loads a file, by the kind that the file says it is."""


def load_model(path: str | Path) -> Any:
    """The model in a file that `save` of any estimator wrote, in the state in which it was saved.

    Only numbers and settings are read, and all of them are checked; nothing in the file is executed.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from springback.heads import ElasticHead
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ElasticHead(np.eye(2), np.zeros(2)).save(f"{folder}/head.safetensors")
    ...     type(load_model(f"{folder}/head.safetensors")).__name__
    'ElasticHead'
    """
    kind = kind_of(Path(path))
    if kind not in MODELS:
        says = check.shown(kind or "no file of springback")
        raise DataError(f"{path} must hold a saved model ({', '.join(MODELS)}); it says it is {says}")
    package, name = MODELS[kind]
    return getattr(import_module(package), name).load(path)
