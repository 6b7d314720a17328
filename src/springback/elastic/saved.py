"""What the estimators of this package save: parameters, what was fitted, and the short-term state."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.elastic import algorithm
from springback.elastic._dense import DenseState
from springback.elastic.algorithm import Model, State
from springback.elastic.kernels import Exponential, ExponentialSum, Windowed
from springback.elastic.params import Elasticity
from springback.files.models import Arrays, SavedRecord, require_names, set_feature_names
from springback.streaming.channel_scaling import Channels
from springback.streaming.pace import UNITS, require_pace
from springback.streaming.time_stamps import UnitCheck

_NOT_A_NUMBER_YET = ("clock", "times")
_LARGEST, _FARTHEST, _SMALLEST_SCALE = 1e30, 1e12, 1e-30


@dataclass(frozen=True, kw_only=True, eq=False)
class SavedClustering(SavedRecord):
    """An `ElasticClustering`: the parameters it was made with, and what was fitted."""

    params: dict[str, Any]
    resting: str | NDArray[np.float64]
    kernel: Exponential | ExponentialSum | None
    random_state: int | None
    elasticity: Elasticity
    novelty_threshold: float | None
    n_iter: int
    cluster_centers: NDArray[Any]
    prior: NDArray[Any]
    labels: NDArray[np.int64]
    channels: Channels | None
    feature_names: tuple[str, ...] | None


@dataclass(frozen=True, kw_only=True, eq=False)
class SavedClassifier(SavedRecord):
    """An `ElasticClassifier`: its clusters, and how often each occurred with each class.

    Parameters
    ----------
    n_clusters : int | None
        As its own clustering asks for; None: it was given no clustering.
    novel_label : NDArray[Any] | None
        One label.
    """

    clustering: SavedClustering
    n_clusters: int | None
    classes: NDArray[Any]
    novel_label: NDArray[Any] | None
    counts: NDArray[np.float64]
    feature_names: tuple[str, ...] | None


def state_arrays(state: State) -> Arrays:
    """The arrays of a state by name."""
    return dict(state._asdict())


def state_from(model: Model, arrays: Mapping[str, NDArray[Any]]) -> State:
    """The state that these arrays hold, if it is one of this model."""
    rest = algorithm.init(model)
    check.require(set(arrays) == set(rest._fields), "state", f"hold {', '.join(rest._fields)}", sorted(arrays))
    state: State = type(rest)(**{name: np.ascontiguousarray(arrays[name]) for name in rest._fields})
    algorithm.check_state(model, state)
    require_pace("state.clock", state.clock[1:])
    for name, part in state._asdict().items():
        if name in _NOT_A_NUMBER_YET:
            check.require(not np.isinf(part).any(), f"state.{name}", "hold times, or NaN", "infinity")
        else:
            within = bool((np.abs(part) <= _LARGEST).all())
            check.require(within, f"state.{name}", f"be finite, at most {_LARGEST:g}", "NaN, infinity or a huge number")
    if isinstance(state, DenseState):
        inside = bool(((state.scale >= _SMALLEST_SCALE) & (state.scale <= 1)).all())
        check.require(inside, "state.scale", "lie in (0, 1]", state.scale)
        for name in ("responsibility", "total"):
            check.require(bool((getattr(state, name) >= 0).all()), f"state.{name}", "be >= 0", "numbers below 0")
        pulled = float((np.abs(state.stored).max(axis=(1, 2), initial=0) * state.scale).max(initial=0))
        check.require(pulled <= _FARTHEST, "state.stored", f"pull no further than {_FARTHEST:g}", pulled)
    return state


def clustering_record(estimator: Any) -> SavedClustering:
    """What a fitted `ElasticClustering` consists of, but for its state."""
    params = estimator.get_params(deep=False)
    kernel, given, seed = params.pop("kernel"), params.pop("resting"), params.pop("random_state")
    if isinstance(kernel, Windowed):
        raise TypeError(
            "a model with a Windowed kernel cannot be saved, because the kernel is a function: use Exponential or "
            "ExponentialSum, or keep the code that makes the model and save its arrays"
        )
    return SavedClustering(
        params=params,
        resting=given if isinstance(given, str) else np.asarray(given, np.float64),
        kernel=kernel,
        random_state=int(seed) if isinstance(seed, int | np.integer) else None,
        elasticity=estimator.model_.params,
        novelty_threshold=estimator.novelty_threshold_,
        n_iter=estimator.n_iter_,
        cluster_centers=estimator.cluster_centers_,
        prior=estimator.prior_,
        labels=estimator.labels_,
        channels=estimator.channels_,
        feature_names=estimator.column_names_,
    )


def clustering_from(kind: Any, record: SavedClustering) -> Any:
    """The `ElasticClustering` of a record, at rest."""
    own = {"resting": record.resting, "kernel": record.kernel, "random_state": record.random_state}
    require_names(record.params | own, *kind._get_param_names())
    model = kind(**record.params, **own)
    given, threshold = model.novelty_threshold, record.novelty_threshold
    check.one_of("memory_in", model.memory_in, UNITS)
    model._elasticity(None if isinstance(given, str) else given)  # checks the parameters
    if threshold is not None:
        check.real("novelty_threshold", threshold, low=-1, high=1)
    model.novelty_threshold_ = threshold
    model.n_iter_ = check.integer("n_iter", record.n_iter, low=1)
    centres = record.cluster_centers
    check.one_of("the dtype of cluster_centers", centres.dtype.name, ("float32", "float64"))
    model.cluster_centers_, model.prior_ = centres, record.prior
    model.labels_ = check.array("labels", record.labels, shape=(None,), dtype=np.int64)
    model.channels_ = record.channels
    model.model_ = algorithm.prepare(record.elasticity, centres, record.prior, record.channels)
    model.state_ = algorithm.init(model.model_)
    model._unit = UnitCheck()
    model.n_features_in_ = centres.shape[1]
    set_feature_names(model, record.feature_names)
    return model
