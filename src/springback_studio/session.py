"""A session: a view, the pair of models that see it, and what was shown so far. Each tab has its own session.

The pair is one of the shipped models. The plane is where the page draws the path of the winning unit.
"""

import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.data import pretrained as shipped
from springback.data.pretrained import shipped_digits
from springback.extras import is_installed, missing_extra
from springback.streaming.records import NOISE_LABEL
from springback_paper.inputs.principal_plane import principal_plane
from springback_studio.controls import MODELS
from springback_studio.elastic_pair import ElasticPair
from springback_studio.inputs import Input, ShownFrame, fitted, still
from springback_studio.pair import EVENT, N_ANSWERS, Floats, Pair, PairAnswer
from springback_studio.spiking_pair import SpikingPair
from springback_studio.view import FRAMES_MAX, View


class Plane(NamedTuple):
    """`centre` (features,), `axes` (features, 2), `explained` share of the variance, `points` (n, 2) of the digits."""

    centre: NDArray[np.float64]
    axes: NDArray[np.float64]
    explained: float
    points: NDArray[np.float64]

    def place(self, vectors: Floats) -> NDArray[np.float64]:
        """Positions of the directions of vectors (n, features) on the plane, (n, 2)."""
        return np.asarray((directions(vectors) - self.centre) @ self.axes)


def plane_of(vectors: Floats) -> Plane:
    """The plane of the directions of vectors (n, features), because elastic clustering compares directions.

    Examples
    --------
    >>> plane_of(np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [3.0, 4.0, 0.0]])).points.shape
    (3, 2)
    """
    unit = directions(vectors)
    centre, axes, explained = principal_plane(unit)
    return Plane(centre, axes, explained, (unit - centre) @ axes)


def directions(vectors: Floats) -> NDArray[np.float64]:
    """Vectors scaled to length one; zero stays zero.

    Examples
    --------
    >>> directions(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    wide = np.asarray(vectors, np.float64)
    return np.asarray(wide / np.maximum(np.linalg.norm(wide, axis=-1, keepdims=True), 1e-12))


TITLES = {"spiking": "Spiking network", "elastic": "Elastic clustering", "cnn": "CNN, elastic last layer"}


def missing(model: str) -> str:
    """What keeps a model from running here, in one sentence; empty if nothing does.

    Examples
    --------
    >>> missing("spiking")
    ''
    """
    check.one_of("model", model, MODELS)
    if model == "cnn" and not is_installed("torch"):
        return str(missing_extra("The CNN", "torch"))
    return ""


def make_pair(view: View) -> Pair:
    """The model of a view, with and without short-term plasticity.

    Examples
    --------
    >>> make_pair(View(model="elastic")).map_shape
    (28, 28)
    """
    absent = missing(view.model)
    if absent:
        raise DataError(absent)
    if view.model == "spiking":
        return SpikingPair(shipped.shipped_spiking(), view.settings, seed=view.seed)
    if view.model == "elastic":
        return ElasticPair(shipped.shipped_elastic(), view.settings)
    try:
        from springback_studio.cnn_pair import CnnPair
    except (ImportError, OSError) as error:
        raise DataError(
            f"The CNN needs PyTorch, which is installed but cannot be imported ({error}); "
            "reinstall it with: pip install --force-reinstall torch"
        ) from error
    return CnnPair(shipped.shipped_cnn(), view.settings)


N_MAPS = 8
_KEEP_ACTIVITY = 0.6


class Path(NamedTuple):
    """The winning unit on the plane: its number, class, resting and current position, and that of the input, if any."""

    unit: int
    label: int
    rest: NDArray[np.float64]
    now: NDArray[np.float64]
    input: NDArray[np.float64] | None


class Snapshot(NamedTuple):
    """Everything that the page shows of one frame.

    Parameters
    ----------
    frame : int
        Its number since the last restart; 0: no frame has been shown yet.
    shown : ShownFrame
        The input.
    answers : tuple[PairAnswer, PairAnswer]
        Of the adapting and of the static model.
    correct, counted
        How often each was correct, of how many frames whose class is known.
    units, static_units : NDArray[np.int64]
        The most active units of each; the winner, of the path, is the first of `units`.
    resting, short_term : Floats
        W and F of the adapting model's units, (8, features).
    static_resting : Floats
        W of the static model's units.
    path : Path | None
        Of the winning unit.
    compute_ms : float
        Time it took to compute the frame.
    """

    frame: int
    shown: ShownFrame
    answers: tuple[PairAnswer, PairAnswer]
    correct: tuple[int, int]
    counted: int
    units: NDArray[np.int64]
    static_units: NDArray[np.int64]
    resting: Floats
    short_term: Floats
    static_resting: Floats
    path: Path | None
    compute_ms: float


class Session:
    """The state of one tab. It is not thread-safe: callers must not use it from two threads at once.

    Examples
    --------
    >>> session = Session(View(model="elastic", source="digit", digit=7))
    >>> session.advance().answers[0].predicted
    7
    """

    pair: Pair
    plane: Plane

    def __init__(self, view: View) -> None:
        self._load(view)
        for _ in range(view.frames):
            self.advance()

    def _load(self, view: View) -> None:
        """Switch to a view; if its model cannot start, nothing changes."""
        pair = make_pair(view)
        plane = plane_of(pair.sensed(shipped_digits().pixels))
        self.view, self.pair, self.plane, self._input = view, pair, plane, Input(view)
        self.restart()

    def restart(self) -> None:
        """Return to rest and to the first frame; accuracies are counted from zero."""
        self.pair.restart()
        self._input.restart()
        n = len(self.pair.unit_labels)
        self._activity = np.zeros(n), np.zeros(n)
        self._correct, self._counted, self.frame = [0, 0], 0, 0
        self._winner: int | None = None
        self._touched, self._compute_ms = False, 0.0
        self._last = nothing(n)
        self._shown = self._preview()

    def command_view(self) -> View:
        """The view that reproduces this session; with the number of frames, if nothing was changed meanwhile."""
        return replace(self.view, frames=0 if self._touched else min(self.frame, FRAMES_MAX))

    def choose_model(self, model: str) -> None:
        """Show the same input to another model, which starts at rest."""
        if check.one_of("model", model, MODELS) != self.view.model:
            self._load(self.view.of_model(model))

    def choose_source(self, source: str) -> None:
        """Switch to the stream, the picked digit or the drawing."""
        self._begin_picture(replace(self.view, source=source))

    def pick(self, digit: int, example: int) -> None:
        """Show a shipped test digit."""
        self._begin_picture(replace(self.view, source="digit", digit=digit, example=example))

    def draw(self, drawing: NDArray[np.uint8]) -> None:
        """Show a drawing (112, 112)."""
        self._begin_picture(replace(self.view, source="drawing", drawing=fitted(drawing)))

    def _begin_picture(self, view: View) -> None:
        """Start at rest: in the stream, noise separates two digits; here nothing would release the last one."""
        self._change(view)
        self.pair.restart()
        self._winner = None

    def occlude(self, rows: int) -> None:
        """Hide this many rows of the picture, from the top."""
        self._change(replace(self.view, occlude=rows))

    def throw_noise(self) -> None:
        """Make the next four frames noise."""
        self._input.throw_noise()
        self._touched = True

    def control(self, name: str, value: float) -> None:
        """Move a slider."""
        self._set(replace(self.view, settings={**self.view.settings, name: value}))

    def reset_controls(self) -> None:
        """Set all sliders to their defaults."""
        self._set(replace(self.view, settings={}))

    def _set(self, view: View) -> None:
        self.pair.set(view.settings)
        self._change(view)

    def set_speed(self, speed: int) -> None:
        """Frames per second."""
        self.view = replace(self.view, speed=speed)

    def _change(self, view: View) -> None:
        self.view = view
        self._touched = self._touched or self.frame > 0
        self._shown = self._preview()

    def _preview(self) -> ShownFrame:
        if self.view.source != "stream":
            return still(self.view)
        return ShownFrame(np.zeros((28, 28), np.uint8), None, 0)

    def advance(self) -> Snapshot:
        """Show both models the next frame."""
        began = time.perf_counter()
        self._shown = self._input.next(self.view)
        self._last = self.pair.step(self._shown.pixels)
        self.frame += 1
        for activity, answer in zip(self._activity, self._last, strict=True):
            activity[:] = _KEEP_ACTIVITY * activity + answer.response
        if self._shown.label is not None:
            self._counted += 1
            for which, answer in enumerate(self._last):
                self._correct[which] += answer.predicted == self._shown.label
        adapting = self._last[0]
        if adapting.predicted != NOISE_LABEL and adapting.response.any():
            self._winner = int(adapting.response.argmax())
        self._compute_ms = 1000 * (time.perf_counter() - began)
        return self.look()

    def look(self) -> Snapshot:
        """The current picture; nothing moves."""
        units, static_units = (most_active(activity) for activity in self._activity)
        if self._winner is not None:
            units = np.append(self._winner, units[units != self._winner])[:N_MAPS]
        resting, short_term = self.pair.resting(units), self.pair.short_term(units)
        path = None
        if self._winner is not None:
            rest, now = self.plane.place(np.stack([resting[0], resting[0] + short_term[0]]))
            seen = self.plane.place(self.pair.sensed(self._shown.pixels[None]))[0] if self._shown.pixels.any() else None
            path = Path(self._winner, int(self.pair.unit_labels[self._winner]), rest, now, seen)
        return Snapshot(
            frame=self.frame,
            shown=self._shown,
            answers=self._last,
            correct=(self._correct[0], self._correct[1]),
            counted=self._counted,
            units=units,
            static_units=static_units,
            resting=resting,
            short_term=short_term,
            static_resting=self.pair.resting(static_units),
            path=path,
            compute_ms=self._compute_ms,
        )


def most_active(activity: NDArray[np.float64]) -> NDArray[np.int64]:
    """The units that were most active recently, the most active first.

    Examples
    --------
    >>> most_active(np.array([0.0, 3.0, 5.0, 3.0]))
    array([2, 1, 3, 0])
    """
    return np.argsort(-activity, kind="stable")[:N_MAPS]


def nothing(n_units: int) -> tuple[PairAnswer, PairAnswer]:
    """The answers before the first frame: none."""
    silent = PairAnswer(np.zeros(n_units), np.zeros(N_ANSWERS), NOISE_LABEL, np.zeros(0, EVENT))
    return silent, silent
