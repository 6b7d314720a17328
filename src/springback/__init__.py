"""Neural elastic clustering and short-term STDP.

A neuron is a centroid. Inputs pull it in proportion to its posterior, `F += pull * X * Q`. Over time it springs back to
rest, `F -> 0`. Its current position is `G = W + F`.

Start with `ElasticClassifier` or `ElasticClustering` for rows of numbers, with `SpikingClassifier` for images and
spikes, with `elasticize` for a trained PyTorch model or a linear classifier of scikit-learn, or with `ElasticHead` for
the weights of any other linear head.

- `elastic`: elastic clustering, as pure functions and as scikit-learn estimators.
- `spiking`: the spiking circuit with long-term and short-term STDP.
- `circuits`: other circuits from the same parts, and their export to Brian2 and NIR.
- `plot`: pictures of what happens in a circuit, in one line.
- `heads`: a frozen linear head of any network, which follows a stream.
- `keyed`: many streams with one model, each with its own state.
- `layers`: elastic layers for PyTorch (extra: torch).
- `onnx`: networks with an elastic head in ONNX files, without PyTorch (extra: onnx).
- `live`: a stream in, answers out: cameras, microphones, tables, sockets and the models that follow them.
- `adaptation`: other methods of test-time adaptation.
- `datasets`: images, and the streams that are made from them.
- `pretrained`: the models that are shipped with the package.
- `paper`: the reproduction of the paper.

Packages and names are loaded when they are first used, so `import springback` is fast and needs no optional dependency.

Source: Moraitis, Sebastian & Eleftheriou, "Optimality of short-term synaptic plasticity in modelling certain dynamic
environments" (2020), arXiv:2009.06808.

Examples
--------
>>> import springback
>>> springback.ElasticClustering(n_clusters=2).n_clusters
2
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from springback.version import __version__

if TYPE_CHECKING:
    from springback import (
        adaptation,
        circuits,
        datasets,
        elastic,
        heads,
        keyed,
        layers,
        live,
        metrics,
        onnx,
        paper,
        plot,
        pretrained,
        spiking,
    )
    from springback.datasets import load_fashion_mnist, load_mnist, make_omnist
    from springback.elastic import ElasticClassifier, ElasticClustering
    from springback.elasticizing import elasticize
    from springback.heads import ElasticHead, ElasticLinearClassifier, Observer, Springs
    from springback.layers import ElasticLinear
    from springback.loading import load_model
    from springback.onnx import OnnxStream
    from springback.spiking import SpikingClassifier
    from springback.stream_pipeline import StreamPipeline

_PACKAGES = (
    "adaptation",
    "circuits",
    "datasets",
    "elastic",
    "heads",
    "keyed",
    "layers",
    "live",
    "metrics",
    "onnx",
    "paper",
    "plot",
    "pretrained",
    "spiking",
)
_NAMES = {
    "ElasticClassifier": "elastic",
    "ElasticClustering": "elastic",
    "ElasticHead": "heads",
    "ElasticLinear": "layers",
    "ElasticLinearClassifier": "heads",
    "Observer": "heads",
    "OnnxStream": "onnx",
    "SpikingClassifier": "spiking",
    "Springs": "heads",
    "StreamPipeline": "stream_pipeline",
    "elasticize": "elasticizing",
    "load_fashion_mnist": "datasets",
    "load_mnist": "datasets",
    "load_model": "loading",
    "make_omnist": "datasets",
}

__all__ = [
    "ElasticClassifier",
    "ElasticClustering",
    "ElasticHead",
    "ElasticLinear",
    "ElasticLinearClassifier",
    "Observer",
    "OnnxStream",
    "SpikingClassifier",
    "Springs",
    "StreamPipeline",
    "__version__",
    "adaptation",
    "circuits",
    "datasets",
    "elastic",
    "elasticize",
    "heads",
    "keyed",
    "layers",
    "live",
    "load_fashion_mnist",
    "load_mnist",
    "load_model",
    "make_omnist",
    "metrics",
    "onnx",
    "paper",
    "plot",
    "pretrained",
    "spiking",
]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"springback.{name}")
    if name in _NAMES:
        return getattr(import_module(f"springback.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'springback' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
