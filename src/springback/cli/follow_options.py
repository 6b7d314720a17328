"""Options of the commands that follow a stream, as one record, and what they mean to sources and models."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import numpy as np
import typer

from springback import check
from springback.check import DataError
from springback.cli.display import note
from springback.files.regular import read_bytes
from springback.heads import ElasticLinearClassifier
from springback.live.follower import Follower, ModelOptions
from springback.live.preparation import Sound
from springback.live.sources.csv_rows import columns_of
from springback.live.sources.layout import RowLayout
from springback.live.sources.source import SourceOptions


class ChannelOrder(StrEnum):
    """Order of the channels of pictures."""

    rgb = "rgb"
    bgr = "bgr"
    grey = "grey"


class Fit(StrEnum):
    """How a picture is brought into the shape of the network's."""

    crop = "crop"
    stretch = "stretch"


_ROWS, _SOUND, _PICTURES = "Rows", "Sound", "Pictures"


def _told(panel: str | None, text: str, **limits: Any) -> Any:
    """An option in a part of the help screen."""
    return typer.Option(help=text, rich_help_panel=panel, **limits)


_LARGEST_NAMES = 1_000_000

Columns = Annotated[
    str | None,
    _told(
        _ROWS,
        "Columns with the features, separated by commas: names, or numbers counted from 0. Default: all but time, "
        "label and those that are ignored.",
    ),
]
Time = Annotated[
    str | None,
    _told(_ROWS, "Column with the time stamps: numbers, or dates. Default: `time`, if there is one. '' for none."),
]
Key = Annotated[
    str | None,
    _told(
        _ROWS,
        "Column that says which of several streams a row belongs to; each has a memory of its own, and their rows may "
        "be mixed.",
    ),
]
ForgetAfter = Annotated[
    float | None,
    _told(
        _ROWS,
        "With --key: forget a stream that has had no row for this long: in steps, or without --step in rows of all "
        "streams.",
        min=0,
    ),
]
Step = Annotated[
    float | None,
    typer.Option(
        help="Use the time stamps: one step of the model's memory is this many seconds (or units of the stamps). "
        "Default: frames are one step apart, whatever their time stamps say.",
        min=0,
    ),
]


@dataclass(frozen=True, kw_only=True)
class StreamOptions:
    """What a source and a model are told besides their addresses; each field is an option of a command."""

    columns: Columns = None
    ignore: Annotated[str | None, _told(_ROWS, "Columns that are not used, separated by commas.")] = None
    time: Time = None
    label: Annotated[
        str | None, _told(_ROWS, "Column with the labels; the summary then says how many answers are correct.")
    ] = None
    key: Key = None
    most_streams: Annotated[
        int | None,
        _told(
            _ROWS,
            "With --key: keep at most this many streams; the one that has been silent for longest is forgotten first.",
            min=1,
        ),
    ] = None
    forget_after: ForgetAfter = None
    classes: Annotated[
        str | None,
        _told(
            None,
            "Names of the classes, separated by commas, or a text file with one name in each line. Default: those in "
            "the model, or numbers.",
        ),
    ] = None
    window: Annotated[
        float | None, _told(_SOUND, "Length of a window of sound, in seconds. Default: as the model says.")
    ] = None
    hop: Annotated[
        float | None,
        _told(
            _SOUND,
            "Time from one window to the next, in seconds. Default: as the model says, or the length of a window.",
        ),
    ] = None
    rate: Annotated[
        int | None, _told(_SOUND, "Samples per second that the model takes. Default: as the model says.", min=1)
    ] = None
    every: Annotated[int, _told(_PICTURES, "Use only every N-th picture.", min=1)] = 1
    tensor: Annotated[str | None, _told(_ROWS, "Which array to read, if a safetensors file has several.")] = None
    mean: Annotated[
        str | None,
        _told(
            _PICTURES,
            "Mean of each channel, for pixels between 0 and 1, separated by commas; it is subtracted. Default: as the "
            "model says.",
        ),
    ] = None
    std: Annotated[
        str | None,
        _told(
            _PICTURES,
            "Standard deviation of each channel, separated by commas; pixels are divided by it. Default: as the model "
            "says.",
        ),
    ] = None
    channels: Annotated[ChannelOrder | None, _told(_PICTURES, "Channels that the network takes.")] = None
    fit: Annotated[
        Fit | None,
        _told(_PICTURES, "Crop the middle of each picture to the shape that the network takes, or stretch all of it."),
    ] = None

    def model_options(self, **circuit: Any) -> ModelOptions:
        """What the model is told; `circuit` is what only circuits of spiking neurons are told."""
        given: dict[str, Any] = {
            "mean": None if self.mean is None else _numbers("--mean", self.mean),
            "std": None if self.std is None else _numbers("--std", self.std),
            "channels": None if self.channels is None else self.channels.value,
            "fit": None if self.fit is None else self.fit.value,
            "rate_hz": self.rate,
        }
        preparation = {name: value for name, value in given.items() if value is not None}
        if self.rate is not None and self.hop is not None:
            preparation["hop"] = round(self.hop * self.rate)
        classes = None if self.classes is None else _names(self.classes)
        for option, bound in (("--most-streams", self.most_streams), ("--forget-after", self.forget_after)):
            check.require(bound is None or self.key is not None, option, "come with --key", bound)
        return ModelOptions(
            classes=classes,
            preparation=preparation,
            keyed=self.key is not None,
            most_streams=self.most_streams,
            forget_after=self.forget_after,
            **circuit,
        )

    def follower_of_scores(self, source: str) -> Follower:
        """A model of class scores alone; its classes are the names of their columns."""
        layout = self._layout()
        columns = layout.columns or (None if self.classes is None else _names(self.classes))
        if columns is None:
            if not source.lower().endswith(".csv"):
                raise DataError("say with --classes which classes the scores are of; only a .csv file can name them")
            columns = columns_of(Path(source), layout)
        model = ElasticLinearClassifier.of_scores(columns)
        model.feature_names_in_ = np.array(columns, object)
        return Follower(model, "class scores", self.model_options())

    def _layout(self, **of_model: Any) -> RowLayout:
        return RowLayout(
            columns=None if self.columns is None else _listed(self.columns),
            ignore=() if self.ignore is None else _listed(self.ignore),
            time=self.time,
            label=self.label,
            key=self.key,
            **of_model,
        )

    def source_options(self, follower: Follower, **others: Any) -> SourceOptions:
        """What the source is told; a network says itself how long its windows are."""
        wants, window, hop, rate = follower.preparation, self.window, self.hop, self.rate
        if isinstance(wants, Sound):
            rate = wants.rate_hz
            window = wants.window / rate if window is None else window
            hop = wants.hop / rate if hop is None else hop
        return SourceOptions(
            layout=self._layout(width=follower.n_features, usual=follower.model.column_names_),
            window_s=window,
            hop_s=hop,
            rate_hz=rate,
            every=self.every,
            tensor=self.tensor,
            on_event=note,
            **others,
        )


def takes_stream_options(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of `StreamOptions`, but for some; it receives them as one record, `stream`."""
    hints = get_type_hints(StreamOptions, include_extras=True)
    options = [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=hints[one.name])
        for one in fields(StreamOptions)
        if one.name not in without
    ]

    def with_options(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(**given: Any) -> None:
            stream = StreamOptions(**{one.name: given.pop(one.name) for one in options})
            command(stream=stream, **given)

        signature = inspect.signature(command)
        own = [one.replace(kind=one.KEYWORD_ONLY) for one in signature.parameters.values() if one.name != "stream"]
        vars(call)["__signature__"] = signature.replace(parameters=[*own, *options])
        del call.__annotations__["stream"]
        return call

    return with_options


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
