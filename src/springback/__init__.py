"""Neural elastic clustering and short-term STDP.

A neuron is a centroid. Inputs pull it in proportion to its posterior, `F += pull * X * Q`. Over time it springs back to
rest, `F -> 0`. Its current position is `G = W + F`.

Start with `ElasticClassifier` or `ElasticClustering` for rows of numbers, with `SpikingClassifier` for images and
spikes, with `elasticize` for a trained PyTorch model or a linear classifier of scikit-learn, or with `ElasticHead` for
the weights of any other linear head.

- `elastic`: elastic clustering, as pure functions and as scikit-learn estimators.
- `spiking`: the spiking circuit with long-term and short-term STDP; `spiking.composed`: other circuits from the same
  parts, and their export to Brian2 and NIR; `spiking.plots`: pictures of what happens in a circuit, in one line.
- `heads`: a frozen linear head of any network, which follows a stream, or many streams with one model; `heads.onnx`:
  networks with an elastic head in ONNX files, without PyTorch (extra: onnx).
- `torch`: elastic layers for PyTorch (extra: torch).
- `metrics`: how many answers are correct, how often they flip, how soon they are correct, and how well calibrated.
- `live`: a stream in, answers out: cameras, microphones, tables, sockets and the models that follow them.
- `data`: images, the videos that are made from them, and the models that are shipped with the package.

The reproduction of the paper is `springback_paper`; the page in the browser is `springback_studio`; other methods of
test-time adaptation, recorded streams and the benchmarks are `springback_bench`. All are installed with the library.

Packages and names are loaded when they are first used, so `import springback` is fast and needs no optional dependency.

Source: Moraitis, Sebastian & Eleftheriou, "Optimality of short-term synaptic plasticity in modelling certain dynamic
environments" (2020), arXiv:2009.06808.

Examples
--------
>>> import springback
>>> springback.ElasticClustering(n_clusters=2).n_clusters
2
"""

from typing import TYPE_CHECKING

from springback.lazy import lazy_names

__version__ = "0.2.0"

if TYPE_CHECKING:
    from springback import data, elastic, heads, live, spiking, torch
    from springback.data import load_fashion_mnist, load_mnist, make_omnist
    from springback.elastic import ElasticClassifier, ElasticClustering
    from springback.files.models import load_model
    from springback.heads import ElasticHead, ElasticLinearClassifier, Observer, Springs
    from springback.heads.conversion import elasticize
    from springback.heads.onnx import OnnxStream
    from springback.heads.stream_pipeline import StreamPipeline
    from springback.live import spark
    from springback.spiking import SpikingClassifier
    from springback.streaming import metrics
    from springback.torch import ElasticLinear

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
    "data",
    "elastic",
    "elasticize",
    "heads",
    "live",
    "load_fashion_mnist",
    "load_mnist",
    "load_model",
    "make_omnist",
    "metrics",
    "spark",
    "spiking",
    "torch",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__)
