"""Methods that adapt the normalisation layers of a PyTorch network to its stream, by gradients without labels.

They read frames instead of features, and change a copy of the network that they keep. Otherwise they are
`StreamClassifier`s like all methods of `springback_bench.rivals`.
"""

from springback.extras import missing_extra

try:
    import torch as _torch  # noqa: F401
except ImportError:
    raise missing_extra("springback_bench.rivals.networks", "torch") from None
