"""What the estimators of this package save: parameters, what was fitted, and the short-term state."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.channels import Channels
from springback.elastic import algorithm
from springback.elastic._dense import DenseState
from springback.elastic.algorithm import Model, State
from springback.elastic.kernels import Exponential, ExponentialSum, Windowed
from springback.elastic.params import Elasticity
from springback.outside import from_plain
from springback.plain_values import record_as_plain, record_from_plain
from springback.saved_model import Arrays, Parts, require_names
from springback.time_stamps import Pace

_KERNELS = (Exponential, ExponentialSum)
_NOT_A_NUMBER_YET = ("clock", "times")
_LARGEST, _FARTHEST, _SMALLEST_SCALE = 1e30, 1e12, 1e-30


def kernel_as_plain(kernel: Any) -> dict[str, Any] | None:
    """A kernel as values for JSON; one that is a function is refused."""
    if isinstance(kernel, Windowed):
        raise TypeError(
            "a model with a Windowed kernel cannot be saved, because the kernel is a function: use Exponential or "
            "ExponentialSum, or keep the code that makes the model and save its arrays"
        )
    return record_as_plain(kernel)


def kernel_from_plain(plain: Any) -> Exponential | ExponentialSum | None:
    """The kernel that `kernel_as_plain` described."""
    kernel: Exponential | ExponentialSum | None
    kernel = None if plain is None else record_from_plain("kernel", plain, _KERNELS)
    return kernel


def elasticity_as_plain(params: Elasticity) -> dict[str, Any]:
    """The parameters of a model as values for JSON."""
    tagged = record_as_plain(params)
    assert tagged is not None
    return {**tagged["values"], "kernel": kernel_as_plain(params.kernel)}


def elasticity_from_plain(plain: Any) -> Elasticity:
    """The parameters that `elasticity_as_plain` described; each value is checked."""
    values = from_plain(plain, dict[str, Any])
    require_names(values, *(one.name for one in fields(Elasticity)))
    kernel = kernel_from_plain(values["kernel"])
    return Elasticity(**{**values, "kernel": kernel})


def state_arrays(state: State) -> Arrays:
    """The arrays of a state by name."""
    return dict(state._asdict())


def state_from(model: Model, arrays: Mapping[str, NDArray[Any]]) -> State:
    """The state that these arrays hold, if it is one of this model."""
    rest = algorithm.init(model)
    check.require(set(arrays) == set(rest._fields), "state", f"hold {', '.join(rest._fields)}", sorted(arrays))
    state: State = type(rest)(**{name: np.ascontiguousarray(arrays[name]) for name in rest._fields})
    algorithm.check_state(model, state)
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


def fitted_parts(estimator: Any) -> Parts:
    """What a fitted `ElasticClustering` consists of, but for its state."""
    params = estimator.get_params(deep=False)
    given = params.pop("resting")
    arrays = {"cluster_centers_": estimator.cluster_centers_, "prior_": estimator.prior_, "labels_": estimator.labels_}
    if not isinstance(given, str):
        arrays["resting"] = np.asarray(given, np.float64)
    if estimator.channels_ is not None:
        arrays |= {"channels.centre": estimator.channels_.centre, "channels.spread": estimator.channels_.spread}
    seed = params["random_state"]
    values = {
        "params": {
            **params,
            "resting": given if isinstance(given, str) else None,
            "kernel": kernel_as_plain(params["kernel"]),
            "random_state": int(seed) if isinstance(seed, int | np.integer) else None,
        },
        "elasticity": elasticity_as_plain(estimator.model_.params),
        "novelty": estimator.novelty_,
        "n_iter": estimator.n_iter_,
        "feature_names": feature_names_as_plain(estimator),
    }
    return Parts(arrays, values)


def fitted_from_parts(kind: Any, parts: Parts) -> Any:
    """The `ElasticClustering` that `fitted_parts` described, at rest."""
    arrays, values = parts
    require_names(values, "params", "elasticity", "novelty", "n_iter", "feature_names")
    params = from_plain(values["params"], dict[str, Any])
    require_names(params, *kind._get_param_names())
    own = params["resting"] is None
    scaled = ["channels.centre", "channels.spread"] if "channels.centre" in arrays else []
    require_names(arrays, "cluster_centers_", "prior_", "labels_", *(["resting"] if own else []), *scaled)
    model = kind(
        **{
            **params,
            "resting": arrays["resting"] if own else params["resting"],
            "kernel": kernel_from_plain(params["kernel"]),
        }
    )
    novelty = values["novelty"]
    model._elasticity(None if isinstance(model.novelty, str) else model.novelty)  # checks the parameters
    model.novelty_ = None if novelty is None else check.real("novelty", novelty, low=-1, high=1)
    model.n_iter_ = check.integer("n_iter", values["n_iter"], low=1)
    centres = arrays["cluster_centers_"]
    check.one_of("cluster_centers_.dtype", centres.dtype.name, ("float32", "float64"))
    model.cluster_centers_, model.prior_ = centres, arrays["prior_"]
    model.labels_ = check.array("labels_", arrays["labels_"], shape=(None,), dtype=np.int64)
    model.channels_ = Channels(*(arrays[name] for name in scaled)) if scaled else None
    elasticity = elasticity_from_plain(values["elasticity"])
    model.model_ = algorithm.prepare(elasticity, centres, arrays["prior_"], model.channels_)
    model.state_ = algorithm.init(model.model_)
    model._pace = Pace()
    model.n_features_in_ = centres.shape[1]
    set_feature_names(model, values["feature_names"])
    return model


def feature_names_as_plain(estimator: Any) -> list[str] | None:
    """The names of the columns that an estimator was fitted with, if they had any."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def set_feature_names(estimator: Any, plain: Any) -> None:
    """Give an estimator the names of its columns again."""
    if plain is not None:
        names = from_plain(plain, list[str])
        width = estimator.n_features_in_
        check.require(len(names) == width, "feature_names", f"be {width}, one for each column", len(names))
        estimator.feature_names_in_ = np.array(names, object)
