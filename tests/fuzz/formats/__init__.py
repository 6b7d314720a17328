"""Every format that springback reads: a whole file of it, how it is loaded, and how what was loaded is used."""

from collections.abc import Callable

from tests.fuzz.formats import circuits, data, models, networks
from tests.fuzz.formats.format import Format, fingerprint

__all__ = ["FORMATS", "Format", "fingerprint"]

FORMATS: dict[str, Callable[[], Format]] = {
    "spiking model": circuits.spiking_model,
    "spiking stream": circuits.spiking_stream,
    "saved model": models.saved_model,
    "training checkpoint": circuits.training_checkpoint,
    "video": data.video,
    "record of scores": data.record,
    "tuned preset": data.tuned,
    "results": data.results,
    "baseline model": models.baseline_model,
    "baseline checkpoint": models.baseline_checkpoint,
    "shipped model": models.shipped_model,
    "stream split": data.stream_split,
    "stream state": models.stream_state,
    "recording": circuits.recording,
    "run state": circuits.run_state,
    "circuit state": circuits.circuit_state,
    "preset": circuits.preset,
    "own images": data.own_images,
    "ONNX metadata": networks.onnx_metadata,
}
