"""Options that `springback follow` and `springback tune-stream` share, and what they mean to sources and models."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from springback import check
from springback.live.models.follower import Follower, ModelOptions
from springback.live.preparation import Sound
from springback.live.sources.layout import RowLayout
from springback.live.sources.source import SourceOptions
from springback.outside import read_bytes


class Channels(StrEnum):
    """Order of the channels of pictures."""

    rgb = "rgb"
    bgr = "bgr"
    grey = "grey"


class Fit(StrEnum):
    """How a picture is brought into the shape of the network's."""

    crop = "crop"
    stretch = "stretch"


_ROWS, _SOUND, _PICTURES, _NETWORK = "Rows", "Sound", "Pictures", "Network connections"

Columns = Annotated[
    str | None,
    typer.Option(
        help="Columns with the features, separated by commas: names, or numbers counted from 0. Default: all but time, "
        "label and those that are ignored.",
        rich_help_panel=_ROWS,
    ),
]
Ignore = Annotated[
    str | None,
    typer.Option(help="Columns that are not used, separated by commas.", rich_help_panel=_ROWS),
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time",
        help="Column with the time stamps: numbers, or dates. Default: `time`, if there is one. '' for none.",
        rich_help_panel=_ROWS,
    ),
]
Label = Annotated[
    str | None,
    typer.Option(help="Column with the right answers; the summary then counts them.", rich_help_panel=_ROWS),
]
Classes = Annotated[
    str | None,
    typer.Option(
        help="Names of the classes, separated by commas, or a text file with one name in each line. Default: those in "
        "the model, or numbers."
    ),
]
Tensor = Annotated[
    str | None, typer.Option(help="The array to read from a safetensors file with several.", rich_help_panel=_ROWS)
]
Window = Annotated[
    float | None,
    typer.Option(help="Length of a window of sound, in seconds. Default: as the model says.", rich_help_panel=_SOUND),
]
Hop = Annotated[
    float | None,
    typer.Option(
        help="Time from one window to the next, in seconds. Default: as the model says, or the length of a window.",
        rich_help_panel=_SOUND,
    ),
]
Rate = Annotated[
    int | None,
    typer.Option(
        help="Samples per second that the model takes. Default: as the model says.", min=1, rich_help_panel=_SOUND
    ),
]
Every = Annotated[int, typer.Option(help="Use only every N-th picture.", min=1, rich_help_panel=_PICTURES)]
Mean = Annotated[
    str | None,
    typer.Option(
        help="Mean of each channel, for pixels between 0 and 1, separated by commas; subtracted. Default: as the model "
        "says.",
        rich_help_panel=_PICTURES,
    ),
]
Std = Annotated[
    str | None,
    typer.Option(
        help="Standard deviation of each channel, separated by commas; divided by. Default: as the model says.",
        rich_help_panel=_PICTURES,
    ),
]
PictureChannels = Annotated[
    Channels | None, typer.Option(help="Channels that the network takes.", rich_help_panel=_PICTURES)
]
PictureFit = Annotated[
    Fit | None,
    typer.Option(
        help="Cut the middle out of a picture in the shape of the network's, or stretch all of it.",
        rich_help_panel=_PICTURES,
    ),
]
Retry = Annotated[
    float,
    typer.Option(
        help="How many seconds a lost connection is tried again before the stream counts as ended.",
        min=0,
        rich_help_panel=_NETWORK,
    ),
]

_LARGEST_NAMES = 1_000_000


def model_options(
    *,
    classes: str | None,
    mean: str | None,
    std: str | None,
    channels: Channels | None,
    fit: Fit | None,
    rate: int | None,
    hop: float | None,
) -> ModelOptions:
    """What the model is told."""
    given: dict[str, Any] = {
        "mean": None if mean is None else _numbers("--mean", mean),
        "std": None if std is None else _numbers("--std", std),
        "channels": None if channels is None else channels.value,
        "fit": None if fit is None else fit.value,
        "rate_hz": rate,
    }
    preparation = {name: value for name, value in given.items() if value is not None}
    if rate is not None and hop is not None:
        preparation["hop"] = round(hop * rate)
    return ModelOptions(classes=None if classes is None else _names(classes), preparation=preparation)


def source_options(
    follower: Follower,
    *,
    columns: str | None,
    ignore: str | None,
    time: str | None,
    label: str | None,
    window: float | None,
    hop: float | None,
    rate: int | None,
    every: int,
    retry: float,
    tensor: str | None,
    on_event: Callable[[str], None],
) -> SourceOptions:
    """What the source is told; a network says itself how long its windows are."""
    wants = follower.preparation
    if isinstance(wants, Sound):
        rate = wants.rate_hz
        window = wants.window / rate if window is None else window
        hop = wants.hop / rate if hop is None else hop
    layout = RowLayout(
        columns=None if columns is None else _listed(columns),
        ignore=() if ignore is None else _listed(ignore),
        time=time,
        label=label,
        width=follower.n_features,
        usual=follower.feature_names,
    )
    return SourceOptions(
        layout=layout,
        window_s=window,
        hop_s=hop,
        rate_hz=rate,
        every=every,
        retry_s=retry,
        tensor=tensor,
        on_event=on_event,
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in text.split(","))


def _numbers(option: str, text: str) -> list[float]:
    try:
        return [check.real(option, float(one)) for one in text.split(",")]
    except ValueError:
        raise ValueError(f"{option} must be numbers separated by commas; got {text!r}") from None


def _names(given: str) -> tuple[str, ...]:
    path = Path(given)
    if "," not in given and path.is_file():
        text = read_bytes(path, largest=_LARGEST_NAMES).decode("utf-8-sig")
        return tuple(check.line("--classes", one.strip()) for one in text.splitlines() if one.strip())
    return tuple(check.line("--classes", one.strip()) for one in given.split(","))
