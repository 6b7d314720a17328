"""Everything that springback reads: a whole file of it, how it is loaded, and how what was loaded is used."""

from collections.abc import Callable

from springback.files.container import KINDS
from tests.fuzz.formats import circuits, data, models, networks
from tests.fuzz.formats.format import Format, fingerprint

__all__ = ["CORPUS", "FORMATS", "TEXT", "Format", "fingerprint"]

CORPUS: dict[str, tuple[Callable[[], Format], ...]] = {
    "model": (
        circuits.spiking_model,
        circuits.spiking_stream,
        models.saved_model,
        models.baseline_model,
        models.shipped_model,
    ),
    "state": (
        models.stream_state,
        models.keyed_streams,
        models.state_bytes,
        models.compact_state,
        circuits.run_state,
        circuits.circuit_state,
    ),
    "checkpoint": (circuits.training_checkpoint, models.baseline_checkpoint),
    "recording": (circuits.recording,),
    "video": (data.video,),
    "data": (data.stream_split,),
    "result": (data.record,),
}
"""The records of every kind of container."""

TEXT = (circuits.preset, data.tuned, data.results, data.own_images, networks.onnx_metadata)
"""Files that are no container: those that people write, and those of other programs."""

assert set(CORPUS) == set(KINDS)

FORMATS: dict[str, Callable[[], Format]] = {
    one.__name__.replace("_", " "): one for some in (*CORPUS.values(), TEXT) for one in some
}
"""All of them by name."""
