"""A pipeline of scikit-learn that follows a stream: its transforms are applied row by row."""

import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from springback import check
from springback.heads.preparation import Preparation
from springback.loading import MODELS
from springback.outside import from_plain
from springback.saved_model import Arrays, Parts, SavedModel, require_names

_MODEL = "model."


class StreamPipeline(SavedModel, Pipeline):
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

    KIND = "stream pipeline"

    @property
    def model_(self) -> Any:
        """The elastic model at the end."""
        return self.steps[-1][1]

    def step(self, x: Any, time: Any = None) -> NDArray[Any]:
        """The answer of the model to the next row x (n,); moves it."""
        row = np.asarray(x)
        check.require(row.ndim == 1, "x", "be one row, (n,)", row.shape)
        with warnings.catch_warnings():  # a single row has no names of columns to compare
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            prepared = np.asarray(self._prepared(row[None]))[0]
        return np.asarray(self._model().step(prepared, time))

    def track(self, X: Any, times: Any = None) -> NDArray[Any]:
        """The answers of the model to a recorded stream, on a copy of its state."""
        return np.asarray(self._model().track(self._prepared(X), times))

    def track_labels(self, X: Any, times: Any = None) -> NDArray[Any]:
        """The label of every row of a recorded stream, on a copy of the state."""
        return np.asarray(self._model().track_labels(self._prepared(X), times))

    def track_response(self, X: Any, times: Any = None, **options: Any) -> Any:
        """`track` with all that the model says about each row."""
        return self._model().track_response(self._prepared(X), times, **options)

    def relax(self, elapsed: Any) -> Self:
        """Let time pass without a row."""
        self._model().relax(elapsed)
        return self

    def reset(self) -> Self:
        """Return to rest and forget the past."""
        self._model().reset()
        return self

    def _model(self) -> Any:
        model = self.model_
        if not (hasattr(model, "step") and hasattr(model, "track")):
            raise TypeError(f"the last step must be an elastic model; got {type(model).__name__}: see elasticize")
        check_is_fitted(model)
        return model

    def _prepared(self, X: Any) -> Any:
        for _, transform in self.steps[:-1]:
            if transform is not None and transform != "passthrough":
                X = transform.transform(X)
        return X

    def _parts(self) -> Parts:
        model = self._model()
        if not isinstance(model, SavedModel):
            raise TypeError(f"a pipeline that ends in {type(model).__name__} cannot be saved; save its last step")
        prepared = Preparation.of(self.steps[:-1]).as_parts()
        arrays, values = model._parts()
        width = next(one.n_features_in_ for _, one in self.steps if hasattr(one, "n_features_in_"))
        own = {"steps": prepared[1], "n_features_in": width, "kind": model.KIND, "model": values}
        return Parts(prepared[0] | {f"{_MODEL}{name}": array for name, array in arrays.items()}, own)

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        arrays, values = parts
        require_names(values, "steps", "n_features_in", "kind", "model")
        package, name = MODELS[check.one_of("kind", values["kind"], tuple(MODELS))]
        kind = getattr(import_module(package), name)
        savable = issubclass(kind, SavedModel) and kind is not cls
        check.require(savable, "kind", "be that of an elastic model", values["kind"])
        inside = {name.removeprefix(_MODEL): one for name, one in arrays.items() if name.startswith(_MODEL)}
        model = kind._from_parts(Parts(inside, from_plain(values["model"], dict[str, Any])))
        vars(model).pop("feature_names_in_", None)  # names that a transform gave, which the prepared rows do not have
        width = check.integer("n_features_in", values["n_features_in"], low=1, high=10**9)
        prepared = Preparation.from_parts(arrays, from_plain(values["steps"], list[str]), width)
        require_names(arrays, *(f"{_MODEL}{name}" for name in inside), *prepared.as_parts()[0])
        features = getattr(model, "n_features_in_", None) or model.n_inputs
        check.require(prepared.width(width) == features, "steps", f"make rows of {features} features", width)
        return cls([("prepared", PreparedRows(prepared, width)), ("model", model)])

    def _state_arrays(self) -> Arrays:
        found: Arrays = self._model()._state_arrays()
        return found

    def _set_state_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._model()._set_state_arrays(arrays)


class PreparedRows(TransformerMixin, BaseEstimator):
    """Fitted transforms of a pipeline that was loaded, as one transform."""

    def __init__(self, preparation: Preparation, n_features_in: int) -> None:
        self.preparation = preparation
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
        return self.preparation(rows)
