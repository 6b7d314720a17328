"""What happens to a row before a linear head sees it: the transforms of a pipeline, one row at a time or many.

The usual transforms of scikit-learn are taken over as arrays, which is fast for single rows and can be saved without
pickle. Any other transform is called as it is.
"""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.magnitude import moderate

_PROBES = 8


@dataclass(frozen=True, eq=False)
class Scaling:
    """Each channel minus its centre, divided by its spread, (n,)."""

    centre: NDArray[np.float64]
    spread: NDArray[np.float64]

    def __call__(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scaled rows (N, n)."""
        return np.asarray((rows - self.centre) / self.spread)


@dataclass(frozen=True, eq=False)
class Projection:
    """Rows times a matrix (m, n), plus an offset, (m,)."""

    matrix: NDArray[np.float64]
    offset: NDArray[np.float64]

    def __call__(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The projected rows (N, m)."""
        return np.asarray(rows @ self.matrix.T + self.offset)


@dataclass(frozen=True, eq=False)
class Selection:
    """Some of the channels, by number."""

    columns: NDArray[np.int64]

    def __call__(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The chosen channels of rows (N, n)."""
        return np.asarray(rows[:, self.columns])


@dataclass(frozen=True, eq=False)
class UnitLength:
    """Rows of length one; zeros stay."""

    def __call__(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The scaled rows (N, n)."""
        rows = moderate(rows)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths > 0, lengths, 1))


@dataclass(frozen=True, eq=False)
class Called:
    """A transform of another library, which is called as it is and cannot be saved."""

    name: str
    transformer: Any

    def __call__(self, rows: Any) -> NDArray[np.float64]:
        """What the transform makes of rows, dense."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            made = self.transformer.transform(rows)
        made = made.toarray() if hasattr(made, "toarray") else made
        return np.asarray(made, np.float64)


Step = Scaling | Projection | Selection | UnitLength | Called
KINDS = {kind.__name__: kind for kind in (Scaling, Projection, Selection, UnitLength)}


@dataclass(frozen=True, eq=False)
class Preparation:
    """The transforms before a head, in order.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> prepare = Preparation.of([("scale", StandardScaler().fit([[0.0], [2.0]]))])
    >>> prepare(np.array([[3.0]]))
    array([[2.]])
    """

    steps: tuple[Step, ...] = ()

    @classmethod
    def of(cls, named: Iterable[tuple[str, Any]]) -> "Preparation":
        """The steps of a fitted pipeline, without its classifier."""
        steps: list[Step] = []
        for name, one in named:
            if isinstance(prepared := getattr(one, "preparation", None), Preparation):
                steps += prepared.steps
            elif one is not None and one != "passthrough":
                steps.append(_step(name, one))
        return cls(tuple(steps))

    def then(self, step: Step) -> "Preparation":
        """One more step."""
        return Preparation((*self.steps, step))

    def __call__(self, rows: Any) -> NDArray[np.float64]:
        """Features (N, m) of rows, as the head sees them."""
        for step in self.steps:
            rows = step(rows)
        return np.asarray(rows, np.float64)

    def width(self, width: int) -> int:
        """How many features rows of this width have afterwards; only for steps that can be saved."""
        for step in self.steps:
            width = len(step.offset) if isinstance(step, Projection) else width
            width = len(step.columns) if isinstance(step, Selection) else width
        return width

    def as_parts(self) -> tuple[dict[str, NDArray[Any]], list[str]]:
        """Arrays by name, and the kinds of the steps, for a file."""
        arrays: dict[str, NDArray[Any]] = {}
        kinds = []
        for number, step in enumerate(self.steps):
            if isinstance(step, Called):
                raise TypeError(
                    f"the step {step.name!r} ({type(step.transformer).__name__}) of the pipeline cannot be saved "
                    "without pickle: elasticize the classifier alone, pipeline[-1], save that, and transform rows first"
                )
            kinds.append(type(step).__name__)
            arrays |= {f"step.{number}.{one.name}": getattr(step, one.name) for one in fields(step)}
        return arrays, kinds

    @classmethod
    def from_parts(cls, arrays: Mapping[str, NDArray[Any]], kinds: list[str], width: int) -> "Preparation":
        """The steps that `as_parts` described, for rows of this width; arrays that do not fit are refused."""
        steps: list[Step] = []
        for number, name in enumerate(kinds):
            kind = KINDS[check.one_of("step", name, tuple(KINDS))]
            own = {one.name: arrays[f"step.{number}.{one.name}"] for one in fields(kind)}
            width = _checked(kind, own, width)
            steps.append(kind(**own))
        return cls(tuple(steps))


def _checked(kind: type[Any], own: Mapping[str, NDArray[Any]], width: int) -> int:
    """The width of rows after a step whose arrays come from a file."""
    if kind is Scaling:
        for name, array in own.items():
            check.array(name, array, shape=(width,), dtype=np.float64)
        check.require(bool((own["spread"] != 0).all()), "spread", "not be 0", 0.0)
    elif kind is Projection:
        matrix = check.array("matrix", own["matrix"], shape=(None, width), dtype=np.float64)
        check.array("offset", own["offset"], shape=(len(matrix),), dtype=np.float64)
        return len(matrix)
    elif kind is Selection:
        columns = check.array("columns", own["columns"], shape=(None,), dtype=np.int64)
        known = bool(((columns >= 0) & (columns < width)).all())
        check.require(known and len(columns) > 0, "columns", f"lie in 0 ... {width - 1}", columns)
        return len(columns)
    return width


def _step(name: str, transformer: Any) -> Step:
    """A transform as arrays if it is one of the usual ones and they give the same rows, or else as it is."""
    called = Called(name, transformer)
    step = _as_arrays(transformer)
    width = getattr(transformer, "n_features_in_", None)
    if step is None or width is None:
        return called
    rows = 10 * np.random.default_rng(0).normal(size=(_PROBES, width))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = called(rows)
        made = step(rows)
    return step if made.shape == wanted.shape and np.allclose(made, wanted, rtol=1e-6, atol=1e-9) else called


def _as_arrays(transformer: Any) -> Step | None:
    from sklearn import decomposition, feature_selection, preprocessing

    width = getattr(transformer, "n_features_in_", 0)
    step: Step | None = None
    if isinstance(transformer, preprocessing.StandardScaler):
        step = _scaling(transformer.mean_, transformer.scale_, width)
    elif isinstance(transformer, preprocessing.RobustScaler):
        step = _scaling(transformer.center_, transformer.scale_, width)
    elif isinstance(transformer, preprocessing.MaxAbsScaler):
        step = _scaling(None, transformer.scale_, width)
    elif isinstance(transformer, preprocessing.MinMaxScaler):
        step = _scaling(-transformer.min_ / transformer.scale_, 1 / transformer.scale_, width)
    elif isinstance(transformer, preprocessing.Normalizer):
        step = UnitLength()
    elif isinstance(transformer, decomposition.PCA):
        matrix = np.asarray(transformer.components_, np.float64)
        if transformer.whiten:
            matrix = matrix / np.sqrt(np.asarray(transformer.explained_variance_, np.float64))[:, None]
        step = Projection(matrix, -matrix @ np.asarray(transformer.mean_, np.float64))
    elif isinstance(transformer, decomposition.TruncatedSVD):
        matrix = np.asarray(transformer.components_, np.float64)
        step = Projection(matrix, np.zeros(len(matrix)))
    elif isinstance(transformer, feature_selection.SelectorMixin):
        step = Selection(np.asarray(transformer.get_support(indices=True), np.int64))
    return step


def _scaling(centre: Any, spread: Any, width: int) -> Scaling:
    return Scaling(
        np.zeros(width) if centre is None else np.asarray(centre, np.float64),
        np.ones(width) if spread is None else np.asarray(spread, np.float64),
    )
