"""All kinds of sources. A file of this package that defines `SOURCE` registers itself."""

from functools import cache
from pathlib import Path

from springback.check import DataError
from springback.extras import collect
from springback.live.sources.source import Source, SourceKind, SourceOptions


@cache
def source_kinds() -> tuple[SourceKind, ...]:
    """Every kind of source.

    Examples
    --------
    >>> sorted(one.name for one in source_kinds())[:3]
    ['MQTT topic', 'array file', 'occluded video']
    """
    return tuple(collect("springback.live.sources", "SOURCE"))


def open_source(address: str, options: SourceOptions | None = None) -> Source:
    """Open a stream by its address: a file, "-" for standard input, a device, or a network address.

    Parameters
    ----------
    address : str
        Such as "sensor.csv", "-", "clip.mp4", "camera:0", "microphone", "tcp://localhost:9000" or
        "mqtt://localhost/sensors/hall".
    options : SourceOptions | None
        What else the source is told; None: nothing.

    Examples
    --------
    >>> open_source("video.doc")
    Traceback (most recent call last):
    springback.check.DataError: 'video.doc' is not a source: name a file ending in ..., or an address ...
    """
    given = options or SourceOptions()
    scheme = address.partition(":")[0]
    kinds = source_kinds()
    kind = next((one for one in kinds if scheme in one.schemes), None)
    if kind is None:
        suffix = Path(address).suffix.lower()
        kind = next((one for one in kinds if suffix and suffix in one.suffixes), None)
    if kind is None and Path(address).is_fifo():
        kind = next(one for one in kinds if "-" in one.schemes)
    if kind is None:
        endings = ", ".join(ending for one in kinds for ending in one.suffixes)
        addresses = "; ".join(one.addresses for one in kinds)
        raise DataError(
            f"{address!r} is not a source: name a file ending in {endings}, or an address such as {addresses}"
        )
    return kind.open(address, given)
