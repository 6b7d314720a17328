"""`ElasticLinearClassifier`: a linear classifier of scikit-learn that follows a stream."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from springback import check
from springback.files.models import (
    AroundModel,
    SavedRecord,
    set_feature_names,
    sorted_labels,
)
from springback.heads.elastic_head import ElasticHead, HeadState, SavedHead
from springback.heads.linear_parts import linear_parts
from springback.heads.memories.observer import Observer
from springback.heads.scale import Scale, measure_scale
from springback.heads.settings import Settings
from springback.heads.transforms import BESIDE, Called, LogScores, SavedStep, Scaling, Scored, Transforms
from springback.heads.tuning import tune_head
from springback.heads.tuning_result import VARIANTS, Trial, Variant
from springback.streaming.channel_scaling import ScalingRule, measure_channels
from springback.streaming.records import Followed
from springback.streaming.row_scaling import real_numbers, unit_rows


@dataclass(frozen=True, kw_only=True, eq=False)
class SavedLinearClassifier(SavedRecord):
    """An `ElasticLinearClassifier`; the estimator that it was made from is not needed again."""

    settings: Settings | None
    scaling: ScalingRule
    steps: tuple[SavedStep, ...]
    classes: NDArray[Any]
    n_features_in: int
    feature_names: tuple[str, ...] | None
    head: SavedHead


SCORES_ALONE = Observer(kappa=0.0, memory=5.0, novelty_odds=0.3, evidence=1.0, continuity=0.0)
"""How class scores are followed if nothing else is known of a frame."""


class ElasticLinearClassifier(ClassifierMixin, AroundModel, BaseEstimator):
    """A linear classifier, any that gives probabilities, or a pipeline that ends in one, which follows the stream.

    `elasticize` makes one from a classifier that is fitted already; `fit` fits a clone of `estimator` first. The
    classifier itself stays frozen: an `ElasticHead` with its weights remembers what the stream has shown.

    `predict` and `predict_proba` read the current state and move nothing; at rest, `predict` answers as the classifier
    does. `step` answers one row and moves. `track` and `track_labels` follow a recorded stream on a copy of the state.
    `relax` lets time pass, and `reset` returns to rest. The transforms of a pipeline are applied to each row.

    A classifier that is not linear, such as a forest, needs `predict_proba`: the head then adds up logarithms of its
    probabilities. `of_scores` follows class scores alone, wherever they come from. `compares_by_` says what frames are
    compared by.

    After fitting it has the attributes `classes_`, `head_`, `settings_`, and `state_`, the state of the stream.

    Parameters
    ----------
    estimator : Any
        LogisticRegression, LinearSVC, RidgeClassifier, LinearDiscriminantAnalysis, NearestCentroid, SGDClassifier or
        the like, any other with `predict_proba`, or a Pipeline that ends in one; None: LogisticRegression.
    settings : Settings | None
        Such as `Observer` or `Springs`; None: the default `LearningObserver`. `tune` chooses them for your stream.
    scaling : ScalingRule
        Units in which rows are compared with those remembered. "auto": each feature is centred and divided by its
        spread if features have different units or rows all point the same way; "standard": always; None: never. The
        answers of the classifier do not depend on it.

    Examples
    --------
    >>> rows = np.array([[1.0, 0.1], [1.0, -0.1], [0.1, 1.0], [-0.1, 1.0]])
    >>> from springback.heads import Observer
    >>> model = ElasticLinearClassifier(settings=Observer()).fit(rows, ["right", "right", "up", "up"])
    >>> turning = [[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0]]
    >>> model.predict(turning).tolist()
    ['right', 'right', 'right', 'up']
    >>> model.track_labels(turning).tolist()
    ['right', 'right', 'right', 'right']
    """

    RECORD = SavedLinearClassifier

    def __init__(
        self, estimator: Any = None, settings: Settings | None = None, *, scaling: ScalingRule = "auto"
    ) -> None:
        self.estimator = estimator
        self.settings = settings
        self.scaling = scaling

    @classmethod
    def of(
        cls, estimator: Any, settings: Settings | None = None, *, rows: Any = None, scaling: ScalingRule = "auto"
    ) -> Self:
        """The elastic version of a classifier that is fitted already.

        Parameters
        ----------
        rows : Any
            Rows like those that it was fitted with, (N, n). Centre and spread are measured from them; without, rows
            are compared as they are.

        Examples
        --------
        >>> from sklearn.svm import LinearSVC
        >>> model = ElasticLinearClassifier.of(LinearSVC().fit([[0.0], [1.0]], ["low", "high"]))
        >>> model.track_labels([[0.9], [0.1]]).shape
        (2,)
        """
        model = cls(estimator, settings, scaling=scaling)
        model._adopt(estimator, rows)
        return model

    @classmethod
    def of_scores(cls, classes: Any, settings: Settings | None = None, *, n_features: int = 0) -> Self:
        """A model of class scores alone: those of trees, a detector, a remote service or anything else.

        A row holds a score of at least 0 for each class: probabilities, or what is proportional to them. They need not
        be calibrated, and 0 is taken as 0.001 of their sum. It can be tuned and saved like any other.

        Parameters
        ----------
        classes : Any
            Their names, (K,), in the order of the scores.
        n_features : int
            How many numbers follow the scores in each row, by whose direction frames are compared, such as an
            embedding or a position; none: frames are compared by their scores.
        settings : Settings | None
            None: the default `LearningObserver`; without features, an `Observer` that does not compare frames, only how
            long ago they were, and that trusts the stream to be continuous, as the track of one object is.

        Examples
        --------
        >>> model = ElasticLinearClassifier.of_scores(["dog", "cat"])
        >>> model.track_labels([[0.1, 0.9], [0.2, 0.8], [0.6, 0.4], [0.1, 0.9]]).tolist()
        ['cat', 'cat', 'cat', 'cat']
        >>> model.compares_by_
        'nothing but the time between them'
        """
        model = cls(None, settings or (None if n_features else SCORES_ALONE))
        model._adopt_scores(np.asarray(classes), Transforms(), n_features, None)
        model.n_features_in_ = len(model.classes_) + n_features
        return model

    def fit(self, X: Any, y: Any) -> Self:
        """Fit a clone of the estimator to rows X and labels y, and start at rest."""
        estimator = LogisticRegression(max_iter=1000) if self.estimator is None else clone(self.estimator)
        if not isinstance(estimator, Pipeline):
            X, y = validate_data(self, X, y)
            check_classification_targets(y)
        self._adopt(estimator.fit(X, y), X)
        return self

    def _adopt(self, estimator: Any, rows: Any) -> None:
        estimator = _inner(estimator)
        *before, (_, last) = _flat_steps("classifier", estimator)
        transforms = Transforms.of(before)
        try:
            parts = linear_parts(last)
        except TypeError:
            if not hasattr(last, "predict_proba"):
                raise
            self._adopt_classifier(estimator, last, transforms, rows)
            return
        weight, bias, centre, scale = parts.weight, parts.bias, None, None
        if rows is not None:
            features = transforms(_as_rows("rows", rows) if not _takes_anything(transforms) else rows)
            channels = measure_channels(features, self.scaling)
            if channels is not None:
                weight, bias = weight * channels.spread, bias + weight @ channels.centre
                transforms = transforms.then(Scaling(channels.centre, channels.spread))
                features = (features - channels.centre) / channels.spread
            else:
                centre = features.mean(axis=0)
            scale = _scale_of(features @ weight.T + bias, features - features.mean(axis=0))
        self.head_ = ElasticHead(weight, bias, self.settings, centre=centre, scale=scale)
        self.transforms_ = transforms
        self.classes_ = parts.classes
        self._take_columns(estimator, weight.shape[1])

    def _adopt_classifier(self, estimator: Any, last: Any, transforms: Transforms, rows: Any) -> None:
        """The probabilities of a classifier that is not linear, with its features beside them."""
        n_features: Any = getattr(last, "n_features_in_", getattr(estimator, "n_features_in_", None))
        check.require(n_features is not None, "the classifier", "have n_features_in_", type(last).__name__)
        scored = transforms.then(Scored(type(last).__name__, last))
        given = None
        if rows is not None:
            given = scored(_as_rows("rows", rows) if not _takes_anything(scored) else rows)
        self._adopt_scores(np.asarray(last.classes_), scored, int(n_features), given)
        self._take_columns(estimator, int(n_features))

    def _adopt_scores(
        self, classes: NDArray[Any], transforms: Transforms, n_features: int, rows: NDArray[np.float64] | None
    ) -> None:
        """An identity head on the logarithms of scores; `rows` hold scores and features."""
        names = classes.tolist()
        n_classes = check.integer("number of classes", len(names), low=2)
        check.require(len(set(names)) == n_classes, "classes", "differ from each other", names)
        check.integer("n_features", n_features, low=0)
        weight, scale = np.eye(n_classes, n_classes + n_features), None
        if n_features:
            weight /= BESIDE
        if rows is not None:
            features = rows[:, n_classes:]
            channels = measure_channels(features, self.scaling)
            centre, spread = np.zeros(rows.shape[1]), np.ones(rows.shape[1])
            centre[n_classes:] = features.mean(axis=0) if channels is None else channels.centre
            spread[n_classes:] = 1.0 if channels is None else channels.spread
            transforms = transforms.then(Scaling(centre, spread))
        self.transforms_ = transforms.then(LogScores(n_classes))
        if rows is not None:
            ready = LogScores(n_classes)(Scaling(centre, spread)(rows))
            scale = _scale_of(ready @ weight.T, ready)
        self.head_ = ElasticHead(weight, np.zeros(n_classes), self.settings, scale=scale)
        self.classes_ = classes

    def _take_columns(self, estimator: Any, width: int) -> None:
        taken: Any = getattr(estimator, "n_features_in_", width)
        self.n_features_in_ = int(taken)
        if hasattr(estimator, "feature_names_in_"):
            self.feature_names_in_ = estimator.feature_names_in_

    @property
    def compares_by_(self) -> str:
        """What frames are compared by, in words."""
        n_features, n_classes = self.head_.n_inputs, self.head_.n_classes
        if self.transforms_.steps and isinstance(self.transforms_.steps[-1], LogScores):
            if getattr(self.settings_, "kappa", 1) == 0:
                return "nothing but the time between them"
            if n_features == n_classes:
                return f"the logarithms of {n_classes} class scores"
            n_features -= n_classes
        return f"the {n_features} features that the classifier receives"

    @property
    def settings_(self) -> Settings:
        """The settings in use: those that were given, or found by `tune`."""
        return self.head_.settings

    def _inner(self) -> ElasticHead:
        check_is_fitted(self)
        return self.head_

    @property
    def state_(self) -> HeadState:
        """The state of the stream; to continue from it, assign it to this model or to one with the same sizes."""
        return self.head_.state_

    @state_.setter
    def state_(self, state: HeadState) -> None:
        self.head_.state_ = state

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row in the current state, as if it came now."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities (rows, classes) of each row in the current state, as if it came now."""
        features = self._features(X)
        return self.head_.read(features)

    @overload
    def step(self, x: Any, time: Any = None) -> NDArray[np.float64]: ...
    @overload
    def step(self, x: Any, time: Any = None, *, lag: int) -> NDArray[np.float64] | None: ...
    def step(self, x: Any, time: Any = None, *, lag: int = 0) -> NDArray[np.float64] | None:
        """Class probabilities (classes,) of the next row x (n,), or of the one `lag` rows ago; moves the model.

        `time` is its time stamp; one step after the last if not given. Dates and durations become seconds. For `lag`,
        see `ElasticHead.step`.

        Examples
        --------
        >>> model = ElasticLinearClassifier().fit([[0.0], [1.0]], ["low", "high"])
        >>> str(model.classes_[model.step([0.9]).argmax()])
        'high'
        """
        check_is_fitted(self)
        if _takes_anything(self.transforms_):
            features = self.transforms_([x] if isinstance(x, str) else np.asarray(x)[None])
        else:
            features = self.transforms_(_one_row(x, self.n_features_in_))
        return self.head_.step(features[0], time, lag=lag)

    def waiting(self) -> NDArray[np.float64]:
        """Class probabilities of the rows whose answers `step(lag=)` still owes; see `ElasticHead.waiting`."""
        return self.head_.waiting()

    def track(self, X: Any, times: Any = None, *, lag: int = 0) -> NDArray[np.float64]:
        """Class probabilities (rows, classes) of a recorded stream, on a copy of the state.

        `times` are time stamps (rows,), one step apart if not given. Dates and durations become seconds.
        """
        features = self._features(X)
        return self.head_.track(features, times, lag=lag)

    def smooth(self, X: Any, times: Any = None) -> NDArray[np.float64]:
        """Class probabilities (rows, classes) of a recorded stream given all of it; see `ElasticHead.smooth`."""
        return self.head_.smooth(self._features(X), times)

    def track_response(self, X: Any, times: Any = None, *, in_place: bool = False) -> Followed:
        """`track` with the answers of the frozen classifier, and how new every row is (NaN with `Springs`).

        Parameters
        ----------
        in_place : bool
            Move the model itself instead of a copy of its state.

        Examples
        --------
        >>> model = ElasticLinearClassifier().fit([[0.0], [1.0]], ["low", "high"])
        >>> model.track_response([[0.9], [0.8]]).frozen.argmax(axis=1)
        array([0, 0])
        """
        return self.head_.track_response(self._features(X), times, in_place=in_place)

    def tune(
        self,
        streams: Any,
        labels: Any = None,
        *,
        times: Any = None,
        variants: Sequence[Variant] = VARIANTS,
        n_trials: int = 45,
        seed: int = 0,
        on_trial: Callable[[Trial], None] = lambda _: None,
    ) -> Self:
        """Choose settings on recorded streams, with labels or without, and start at rest with them.

        Parameters
        ----------
        streams : Any
            One stream, rows (T, n) in time order, or a list of streams; each begins at rest.
        labels : Any
            Correct classes (T,), or a list of them; None (or -1, or "") where one is unknown. Without labels, settings
            are judged as by `tune_head`.
        times : Any
            Time stamps (T,), or a list of them; None: rows are one step apart.
        variants, n_trials, seed, on_trial
            As in `tune_head`. What it found is then `found_`.

        Examples
        --------
        >>> model = ElasticLinearClassifier().fit([[1.0, 0.0], [0.0, 1.0]], ["right", "up"])
        >>> turning = [[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0], [0.0, 1.0], [0.0, 1.0]]
        >>> model = model.tune([turning] * 3, [["right"] * 4 + ["up"] * 2] * 3, n_trials=20)
        >>> round(model.found_.score_at_rest, 3), model.found_.score
        (0.833, 1.0)
        """
        check_is_fitted(self)
        one = not isinstance(streams, list | tuple) or np.ndim(streams[0]) == 1 or isinstance(streams[0], str)
        given = [streams] if one else list(streams)
        rows = [self._features(stream) for stream in given]
        known = None
        if labels is not None:
            known = [self._places(one_labels) for one_labels in ([labels] if one else labels)]
        self.found_ = tune_head(
            self.head_.weight,
            self.head_.bias,
            rows,
            known,
            times=[times] if one and times is not None else times,
            centre=self.head_.centre,
            variants=variants,
            n_trials=n_trials,
            seed=seed,
            on_trial=on_trial,
        )
        self.head_ = self.found_.head(self.head_.weight, self.head_.bias)
        return self

    def _places(self, labels: Any) -> NDArray[np.int64]:
        """The place of each label among the classes; -1 where it is unknown."""
        places = {label: number for number, label in enumerate(self.classes_.tolist())}
        unknown = {None: -1} | {one: -1 for one in (-1, "") if one not in places}
        values = np.asarray(labels, object).tolist()
        wrong = [one for one in values if one not in places and one not in unknown]
        check.require(not wrong, "labels", f"be among the classes {self.classes_.tolist()}", wrong[:1])
        return np.array([places.get(one, -1) for one in values], np.int64)

    def _features(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        if not _takes_anything(self.transforms_):
            X = np.asarray(validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite=False))
            check.array("X", X, shape=(None, None), dtype=np.float64)
        return self.transforms_(X)

    def _record(self) -> SavedLinearClassifier:
        check_is_fitted(self)
        return SavedLinearClassifier(
            settings=self.settings,
            scaling=self.scaling,
            steps=self.transforms_.to_save(),
            classes=self.classes_,
            n_features_in=self.n_features_in_,
            feature_names=self.column_names_,
            head=self.head_._record(),
        )

    @classmethod
    def _from_record(cls, record: SavedLinearClassifier) -> Self:
        model = cls(None, record.settings, scaling=record.scaling)
        model.head_ = ElasticHead._from_record(record.head)
        model.classes_ = record.classes  # of scores, they are in any order
        if not any(isinstance(step, LogScores) for step in record.steps):
            model.classes_ = sorted_labels("classes", record.classes)
        must = f"be {model.head_.n_classes}, one for each row of the weights"
        check.require(len(model.classes_) == model.head_.n_classes, "classes", must, len(model.classes_))
        model.n_features_in_ = check.integer("n_features_in", record.n_features_in, low=1, high=10**9)
        model.transforms_ = Transforms.saved(record.steps, model.n_features_in_, model.head_.n_inputs)
        set_feature_names(model, record.feature_names)
        return model


def _inner(estimator: Any) -> Any:
    """The estimator inside a finished search or a wrapper that only keeps it frozen."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif type(estimator).__name__ == "FrozenEstimator":
            estimator = estimator.estimator
        else:
            return estimator


def _flat_steps(name: str, estimator: Any) -> list[tuple[str, Any]]:
    """The steps of a pipeline, and of pipelines in it; of anything else, itself."""
    estimator = _inner(estimator)
    if not isinstance(estimator, Pipeline):
        return [(name, estimator)]
    return [step for inner, one in estimator.steps for step in _flat_steps(inner, one)]


def _takes_anything(transforms: Transforms) -> bool:
    """Whether the first step may take what is not an array of numbers, such as texts or a table."""
    return bool(transforms.steps) and type(transforms.steps[0]) is Called


def _as_rows(name: str, given: Any) -> NDArray[np.float64]:
    rows = np.asarray(real_numbers(name, given), np.float64)
    check.require(rows.ndim == 2 and len(rows) > 0, name, "be rows of numbers, (N, n)", rows.shape)
    return check.array(name, rows, shape=(None, None), dtype=np.float64)


def _one_row(x: Any, width: int) -> NDArray[np.float64]:
    try:
        row = np.asarray(x, np.float64)
    except (TypeError, ValueError):
        raise ValueError("x must be a row of numbers; got something else") from None
    return check.array("x", row, shape=(width,), dtype=np.float64)[None]


def _scale_of(logits: NDArray[np.float64], centred: NDArray[np.float64]) -> Scale | None:
    """The units of the training rows, or None if their logits do not differ."""
    if not np.ptp(logits, axis=1).any():
        return None
    return measure_scale([logits], [unit_rows(centred)])
