"""A pipeline of scikit-learn that follows a stream: its transforms are applied row by row."""

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from springback import check
from springback.elastic.saved import SavedClassifier, SavedClustering
from springback.files.models import AroundModel, SavedRecord, model_class
from springback.heads.elastic_head import SavedHead
from springback.heads.linear_classifier import SavedLinearClassifier
from springback.heads.transforms import SavedStep, Transforms
from springback.streaming.records import Followed
from springback.streaming.stream_model import StreamModel


@dataclass(frozen=True, kw_only=True, eq=False)
class SavedPipeline(SavedRecord):
    """A `StreamPipeline`: what prepares its rows, and the model at its end."""

    steps: tuple[SavedStep, ...]
    n_features_in: int
    model: SavedClustering | SavedClassifier | SavedLinearClassifier | SavedHead


class StreamPipeline(AroundModel, Pipeline):
    """A `Pipeline` whose last step is an elastic model, which keeps that model's `step`, `track`, `relax` and `reset`.

    `fit` and `predict` are those of `Pipeline`. A pipeline that ends in a linear classifier needs none of this:
    `springback.elasticize` takes it as it is.

    Parameters
    ----------
    steps : list[tuple[str, Any]]
        Names and transforms, and at the end an `ElasticClustering`, `ElasticClassifier` or `ElasticLinearClassifier`.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from springback import ElasticClassifier, ElasticClustering
    >>> rows = np.array([[1.0, 500.0], [1.0, 480.0], [0.0, 620.0], [0.1, 640.0]])
    >>> model = ElasticClassifier(ElasticClustering(2, kappa=20.0, pull=3.0, random_state=0))
    >>> pipeline = StreamPipeline([("scale", StandardScaler()), ("model", model)]).fit(rows, ["a", "a", "b", "b"])
    >>> pipeline.track_labels([[1.0, 490.0], [0.8, 570.0]]).tolist()
    ['a', 'a']
    """

    RECORD = SavedPipeline

    @property
    def model_(self) -> Any:
        """The elastic model at the end."""
        return self.steps[-1][1]

    @property
    def classes_(self) -> NDArray[Any]:  # type: ignore[override]
        """What the answers of the model are about."""
        return np.asarray(self.model_.classes_)

    @property
    def n_features_in_(self) -> int:  # type: ignore[override]
        """Width of the rows before the transforms."""
        return int(next(one.n_features_in_ for _, one in self.steps if hasattr(one, "n_features_in_")))

    @property
    def possible_labels_(self) -> tuple[Any, ...]:
        """All that the model can answer."""
        return self._inner().possible_labels_

    def labels_of(self, followed: Followed) -> NDArray[Any]:
        """The class of every answer, as the model names it."""
        return self._inner().labels_of(followed)

    def step(self, x: Any, time: Any = None) -> NDArray[Any]:
        """The answer of the model to the next row x (n,); moves it."""
        row = np.asarray(x)
        check.require(row.ndim == 1, "x", "be one row, (n,)", row.shape)
        with warnings.catch_warnings():  # a single row has no names of columns to compare
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            prepared = np.asarray(self._prepared(row[None]))[0]
        return np.asarray(self._inner().step(prepared, time))

    def track(self, X: Any, times: Any = None) -> NDArray[Any]:
        """The answers of the model to a recorded stream, on a copy of its state."""
        return np.asarray(self._inner().track(self._prepared(X), times))

    def track_labels(self, X: Any, times: Any = None) -> NDArray[Any]:
        """The label of every row of a recorded stream, on a copy of the state."""
        return np.asarray(self._inner().track_labels(self._prepared(X), times))

    def track_response(self, X: Any, times: Any = None, *, in_place: bool = False) -> Followed:
        """`track` with all that the model says about each row."""
        return self._inner().track_response(self._prepared(X), times, in_place=in_place)

    def _inner(self) -> StreamModel:
        model = self.model_
        if not isinstance(model, StreamModel):
            raise TypeError(f"the last step must be an elastic model; got {type(model).__name__}: see elasticize")
        check_is_fitted(model)
        return model

    def _prepared(self, X: Any) -> Any:
        for _, transform in self.steps[:-1]:
            if transform is not None and transform != "passthrough":
                X = transform.transform(X)
        return X

    def _record(self) -> SavedPipeline:
        model, steps = self._savable(), Transforms.of(self.steps[:-1]).to_save()
        return SavedPipeline(steps=steps, n_features_in=self.n_features_in_, model=model._record())

    @classmethod
    def _from_record(cls, record: SavedPipeline) -> Self:
        model = model_class(type(record.model).__name__)._from_record(record.model)
        vars(model).pop("feature_names_in_", None)  # names that a transform gave, which the prepared rows do not have
        width = check.integer("n_features_in", record.n_features_in, low=1, high=10**9)
        prepared = Transforms.saved(record.steps, width, model.n_features_in_)
        return cls([("prepared", PreparedRows(prepared, width)), ("model", model)])


class PreparedRows(TransformerMixin, BaseEstimator):
    """Fitted transforms of a pipeline that was loaded, as one transform."""

    def __init__(self, transforms: Transforms, n_features_in: int) -> None:
        self.transforms = transforms
        self.n_features_in = n_features_in

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def n_features_in_(self) -> int:
        """Width of the rows before the transforms."""
        return self.n_features_in

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Nothing is left to fit."""
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Features of rows X (N, n)."""
        rows = np.asarray(X, np.float64)
        check.array("X", rows, shape=(None, self.n_features_in), dtype=np.float64)
        return self.transforms(rows)
