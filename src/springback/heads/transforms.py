"""What happens to a row before a linear head sees it: the transforms of a pipeline, one row at a time or many.

The usual transforms of scikit-learn are taken over as arrays, which is fast for single rows and can be saved without
pickle. Any other transform is called as it is.
"""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import FrameError
from springback.streaming.row_scaling import moderate

_PROBES = 8
_LEAST_SCORE = 1e-3
BESIDE = 1e-3
"""Factor of logits beside other features, so small that frames are compared by those alone."""


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


class Scored(Called):
    """A classifier of another library: its class probabilities, and beside them the row itself."""

    def __call__(self, rows: Any) -> NDArray[np.float64]:
        """Probabilities (N, K) and the rows (N, n), side by side."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            return np.hstack([np.asarray(self.transformer.predict_proba(rows), np.float64), rows])


@dataclass(frozen=True, eq=False)
class LogScores:
    """Class scores as logits, log(p + 0.001) without their mean, where p is a score divided by the sum of its row.

    Numbers behind the scores become a direction, by which frames are compared.

    Examples
    --------
    >>> LogScores(2)(np.array([[0.0, 7.0]])).round(2)
    array([[-3.45,  3.45]])
    """

    n_classes: int

    def __call__(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The logits (N, K) and directions; a row without a score above 0, or with one below, is refused."""
        scores = moderate(rows[:, : self.n_classes])
        bad = np.flatnonzero(~((scores >= 0).all(axis=1) & (scores > 0).any(axis=1)))
        if len(bad):
            shown = check.shown(rows[bad[0], : self.n_classes].tolist())
            raise FrameError(
                f"the scores of row {bad[0]} must be at least 0, and one of them above 0; got {shown}: give logits to "
                "ElasticHead(np.eye(n_classes), np.zeros(n_classes)) instead"
            )
        logits = np.log(scores / scores.sum(axis=1, keepdims=True) + _LEAST_SCORE)
        logits -= logits.mean(axis=1, keepdims=True)
        if rows.shape[1] == self.n_classes:
            return np.asarray(logits)
        return np.hstack([logits * BESIDE, UnitLength()(rows[:, self.n_classes :])])


SavedStep = Scaling | Projection | Selection | UnitLength | LogScores
Step = SavedStep | Called


@dataclass(frozen=True, eq=False)
class Transforms:
    """The transforms before a head, in order.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> prepare = Transforms.of([("scale", StandardScaler().fit([[0.0], [2.0]]))])
    >>> prepare(np.array([[3.0]]))
    array([[2.]])
    """

    steps: tuple[Step, ...] = ()

    @classmethod
    def of(cls, named: Iterable[tuple[str, Any]]) -> "Transforms":
        """The steps of a fitted pipeline, without its classifier."""
        steps: list[Step] = []
        for name, one in named:
            if isinstance(prepared := getattr(one, "transforms", None), Transforms):
                steps += prepared.steps
            elif one is not None and one != "passthrough":
                steps.append(_step(name, one))
        return cls(tuple(steps))

    def then(self, step: Step) -> "Transforms":
        """One more step."""
        return Transforms((*self.steps, step))

    def __call__(self, rows: Any) -> NDArray[np.float64]:
        """Features (N, m) of rows, as the head sees them."""
        for step in self.steps:
            rows = step(rows)
        return np.asarray(rows, np.float64)

    def to_save(self) -> tuple[SavedStep, ...]:
        """The steps, if all of them can be saved without pickle."""
        for step in self.steps:
            if isinstance(step, Called):
                if isinstance(step, Scored):
                    raise TypeError(
                        f"{step.name} cannot be saved without pickle: save ElasticLinearClassifier.of_scores(classes) "
                        "instead, and give it the probabilities"
                    )
                raise TypeError(
                    f"the step {step.name!r} ({type(step.transformer).__name__}) of the pipeline cannot be saved "
                    "without pickle: elasticize the classifier alone, pipeline[-1], save that, and transform rows first"
                )
        return tuple(step for step in self.steps if not isinstance(step, Called))

    @classmethod
    def saved(cls, steps: tuple[SavedStep, ...], width: int, features: int) -> "Transforms":
        """Steps from a file, which must turn rows of this width into rows of `features` numbers."""
        made = width
        for step in steps:
            made = _width_after(step, made)
        check.require(made == features, "steps", f"make rows of {features} features", made)
        return cls(steps)


def _width_after(step: SavedStep, width: int) -> int:
    """The width of rows after a step; refuses a step whose arrays do not fit rows of the given width."""
    if isinstance(step, Scaling):
        for name in ("centre", "spread"):
            check.array(name, getattr(step, name), shape=(width,), dtype=np.float64)
        check.require(bool((step.spread != 0).all()), "spread", "not be 0", 0.0)
    elif isinstance(step, Projection):
        matrix = check.array("matrix", step.matrix, shape=(None, width), dtype=np.float64)
        check.array("offset", step.offset, shape=(len(matrix),), dtype=np.float64)
        return len(matrix)
    elif isinstance(step, Selection):
        columns = check.array("columns", step.columns, shape=(None,), dtype=np.int64)
        known = bool(((columns >= 0) & (columns < width)).all())
        check.require(known and len(columns) > 0, "columns", f"lie in 0 ... {width - 1}", columns)
        return len(columns)
    elif isinstance(step, LogScores):
        check.integer("n_classes", step.n_classes, low=2, high=width)
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
