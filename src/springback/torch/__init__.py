"""Elastic layers for PyTorch: a trained network that remembers what it sees, as the exact observer or by springs.

Start with `elasticize`, which makes the head of a trained model elastic. `step` shows it the next frame, `track` runs
it over a recorded stream, and `tune_elastic` chooses how it remembers. `Observer` and `Springs` are the settings,
`ElasticLinear` is the layer, and `algorithm` contains its arithmetic as pure functions. `springback.heads` is the same
without PyTorch.
"""

from springback.extras import missing_extra

try:
    import torch as _torch  # noqa: F401
except ImportError:
    raise missing_extra("springback.torch", "torch") from None

from springback.heads.memories.centroids import CentroidSprings
from springback.heads.memories.learning_observer import LearningObserver
from springback.heads.memories.observer import Observer
from springback.heads.memories.springs import Springs
from springback.heads.memories.window import WindowSprings
from springback.heads.scale import Scale
from springback.torch.elastic_conv import ElasticConv1d, ElasticConv2d, ElasticConv3d
from springback.torch.elastic_filters import ElasticFilters2d
from springback.torch.elastic_layer import ElasticLayer
from springback.torch.elastic_linear import ElasticLinear
from springback.torch.executorch_export import export_executorch
from springback.torch.finding import find_head
from springback.torch.following import add_streams, get_state, relax, remove_streams, reset, set_state, step, track
from springback.torch.models import elasticize
from springback.torch.onnx_export import export_onnx
from springback.torch.plain import deelasticize, elastic_layers
from springback.torch.soft_hebb import SoftHebbConv2d
from springback.torch.tuning import tune_elastic

__all__ = [
    "CentroidSprings",
    "ElasticConv1d",
    "ElasticConv2d",
    "ElasticConv3d",
    "ElasticFilters2d",
    "ElasticLayer",
    "ElasticLinear",
    "LearningObserver",
    "Observer",
    "Scale",
    "SoftHebbConv2d",
    "Springs",
    "WindowSprings",
    "add_streams",
    "deelasticize",
    "elastic_layers",
    "elasticize",
    "export_executorch",
    "export_onnx",
    "find_head",
    "get_state",
    "relax",
    "remove_streams",
    "reset",
    "set_state",
    "step",
    "track",
    "tune_elastic",
]
