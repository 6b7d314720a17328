"""`ElasticClustering`: the optimal observer as a scikit-learn estimator."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from springback import check
from springback.elastic import algorithm
from springback.elastic._frames import refuse_not_finite
from springback.elastic._stepper import Stepper
from springback.elastic.density import sample_linear, sample_vmf
from springback.elastic.kernels import Kernel
from springback.elastic.novelty import is_novel_by_similarity, similarity_threshold
from springback.elastic.novelty import similarity as similarity_of
from springback.elastic.params import Elasticity, elasticity_of
from springback.elastic.resting import Resting, fit_von_mises_fisher, spherical_k_means
from springback.elastic.saved import SavedClustering, clustering_from, clustering_record, state_arrays, state_from
from springback.files.models import Arrays, SavedModel
from springback.streaming.channel_scaling import Channels, ScalingRule, measure_channels
from springback.streaming.one_at_a_time import one_at_a_time
from springback.streaming.pace import UNITS, MemoryIn, elapsed_in_frames, next_times
from springback.streaming.records import Followed
from springback.streaming.row_scaling import moderate
from springback.streaming.stream_model import StreamModel
from springback.streaming.time_stamps import UnitCheck, as_elapsed, as_times

NOVEL = -1
"""The answer of `predict` for an input that belongs to none of the clusters."""


@contextmanager
def unchanged_if_refused(estimator: BaseEstimator) -> Iterator[None]:
    """Restore an estimator's attributes if the body fails; their arrays must be replaced, not modified."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def validated(estimator: BaseEstimator, X: Any, *, reset: bool = False) -> NDArray[Any]:
    """Rows X as float32 or float64, of the width that was fitted, finite."""
    rows: NDArray[Any] = np.asarray(
        validate_data(estimator, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite=False)
    )
    refuse_not_finite("X", rows)
    return rows


class ElasticClustering(ClusterMixin, TransformerMixin, SavedModel, StreamModel, BaseEstimator):
    """Online clustering with centroids that are pulled by what they see and spring back to where they rest.

    `fit` learns where the centroids rest. `predict`, `predict_proba`, `score_samples` and `transform` read the current
    state and move nothing. `step` answers for one frame and moves. `partial_fit` also moves: its rows are frames in
    time order. `track` follows a recorded stream on a copy of the state. The answer for a frame is always the one
    *before* that frame has pulled. `relax` lets time pass, and `reset` returns to rest.

    A stream may be split into calls with any number of rows. A frame that is missing is a gap in `times`, or a row of
    zeros, which only lets time pass. Rows with NaN or infinity, rows of another width, and times that run backwards are
    refused, and the model is then exactly as it was before the call. Rows may have any length from 5e-324 to 1.8e308:
    only their direction matters (unless `unit_inputs` is False).

    After fitting it has the attributes `cluster_centers_` (the resting centroids, (K, n)), `prior_` (K,),
    `novelty_threshold_`, `labels_` (of the training rows), `n_iter_`, `channels_` (how raw channels are scaled, or
    None), and `state_` (the short-term state, separate from what was fitted).

    Parameters
    ----------
    n_clusters : int
        Number of centroids.
    resting : str | NDArray[Any]
        "vmf" (EM for a von Mises-Fisher mixture), "kmeans" (spherical), or the centroids themselves, one per row.
    kappa : float
        Concentration; the default suits images, and the paper uses 1.
    pull : float | None
        Gamma; None: derived from beta and the prior.
    memory : float
        Time constant of the relaxation, in steps; `kernel` replaces it by any other decay.
    memory_in : MemoryIn
        "frames": time stamps are counted in usual steps of the stream. "time": memory and kernel are in their unit,
        which is seconds for dates.
    novelty_threshold : float | Literal['auto'] | None
        Inputs whose largest cosine is below this are answered with -1 and pull nothing; "auto": the value below
        which 0.1 % of the training rows fall.
    scaling : ScalingRule
        What happens to raw channels before rows are compared by their direction. "auto": each channel is centred and
        divided by its spread over the training rows if these all point nearly the same way, as accelerations do under
        gravity, or if their channels have different units; rows that are directions already (images, embeddings)
        stay, as they do if `resting` is given. "standard": always. None: never. Centroids are in scaled units.
    others
        As in `Elasticity`.

    Examples
    --------
    >>> rows = np.array([[1.0, 0.1], [1.0, -0.1], [0.1, 1.0], [-0.1, 1.0]])
    >>> model = ElasticClustering(n_clusters=2, kappa=20.0, pull=3.0, random_state=0).fit(rows)
    >>> right, up = model.predict([[1.0, 0.0], [0.0, 1.0]])
    >>> turning = [[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0]]
    >>> model.predict(turning) == right, model.track(turning).argmax(axis=1) == right
    (array([ True,  True,  True, False]), array([ True,  True,  True,  True]))
    """

    RECORD = SavedClustering
    _stepper: Stepper | None = None

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        resting: str | NDArray[Any] = "vmf",
        kappa: float = 50.0,
        pull: float | None = 1.0,
        memory: float = 2.0,
        memory_in: MemoryIn = "frames",
        kernel: Kernel | None = None,
        beta: float | None = None,
        likelihood: str = "exponential",
        inference: str | None = None,
        bias_rule: str = "sphere",
        bias_update: str = "theorem",
        weight_dependence: float = 1.0,
        novelty_threshold: float | Literal["auto"] | None = None,
        pull_threshold: float = 0.0,
        unit_inputs: bool = True,
        scaling: ScalingRule = "auto",
        max_iter: int = 50,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.resting = resting
        self.kappa = kappa
        self.pull = pull
        self.memory = memory
        self.memory_in = memory_in
        self.kernel = kernel
        self.beta = beta
        self.likelihood = likelihood
        self.inference = inference
        self.bias_rule = bias_rule
        self.bias_update = bias_update
        self.weight_dependence = weight_dependence
        self.novelty_threshold = novelty_threshold
        self.pull_threshold = pull_threshold
        self.unit_inputs = unit_inputs
        self.scaling = scaling
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_stepper"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "state_" in state:
            # A state that was loaded from a memory map is read-only and could not be updated.
            state = {**state, "state_": algorithm.copy(state["state_"])}
        super().__setstate__(state)

    def _elasticity(self, novelty_threshold: float | None) -> Elasticity:
        given = {one.name: getattr(self, one.name) for one in fields(Elasticity)}
        return elasticity_of(**{**given, "novelty_threshold": novelty_threshold})

    def _rest(self, X: NDArray[Any]) -> Resting:
        n_clusters = check.integer("n_clusters", self.n_clusters, low=1)
        if not isinstance(self.resting, str):
            given = np.array(self.resting, X.dtype)
            check.array("resting", given, shape=(n_clusters, X.shape[1]), dtype=X.dtype)
            given = given if self.channels_ is None else self.channels_.scaled(given)
            return Resting(given, np.full(n_clusters, 1 / n_clusters), self.kappa, np.zeros(0))
        check.integer("max_iter", self.max_iter, low=1)
        check.real("tol", self.tol, low=0)
        how = check.one_of("resting", self.resting, ("vmf", "kmeans"))
        seed = check_random_state(self.random_state).randint(2**31)
        options = {"seed": seed, "iterations": self.max_iter, "tolerance": self.tol}
        if how == "kmeans":
            return spherical_k_means(X, n_clusters, **options)
        return fit_von_mises_fisher(X, n_clusters, kappa=self.kappa, **options)

    def _measured(self, X: NDArray[Any]) -> Channels | None:
        if self.scaling == "auto" and (not isinstance(self.resting, str) or self.n_clusters == 1):
            return None
        return measure_channels(X, self.scaling)

    @one_at_a_time
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn where the centroids rest from rows X (rows, features), and start from rest."""
        with unchanged_if_refused(self):
            self._fit(X)
        return self

    def _fit(self, X: Any) -> None:
        check.one_of("memory_in", self.memory_in, UNITS)
        threshold: float | None = None if isinstance(self.novelty_threshold, str) else self.novelty_threshold
        if isinstance(self.novelty_threshold, str):
            check.one_of("novelty_threshold", self.novelty_threshold, ("auto",))
        params = self._elasticity(threshold)
        X = validated(self, X, reset=True)
        self.channels_ = self._measured(X)
        raw, X = X, X if self.channels_ is None else self.channels_.scaled(X)
        resting = self._rest(X)
        self.cluster_centers_ = resting.centroids
        self.prior_ = resting.prior
        self.n_iter_ = max(1, len(resting.log_likelihood))
        model = algorithm.prepare(params, self.cluster_centers_, self.prior_, self.channels_)
        similarity = np.empty(len(X))
        self.labels_ = np.empty(len(X), np.int64)
        for rows in algorithm.chunks(len(X)):
            response = algorithm.read(model, algorithm.init(model), raw[rows])
            self.labels_[rows] = response.posterior.argmax(axis=1)
            similarity[rows] = response.similarity
        if isinstance(self.novelty_threshold, str):
            threshold = similarity_threshold(similarity)
            model = algorithm.prepare(self._elasticity(threshold), self.cluster_centers_, self.prior_, self.channels_)
        if threshold is not None:
            self.labels_[is_novel_by_similarity(similarity, float(threshold))] = NOVEL
        self.novelty_threshold_ = threshold
        self.model_ = model
        self.state_ = algorithm.init(model)
        self._unit = UnitCheck()

    @one_at_a_time
    def step(self, x: Any, time: Any = None) -> NDArray[Any]:
        """Posterior (K,) of the next frame x (n,), before its own pull; then it pulls, and the state has moved.

        `time` is its time stamp; one step after the last if not given. The model is checked once per stream and each
        frame only for itself, so this is the method for live data; it is fastest with arrays of floats.

        Examples
        --------
        >>> model = ElasticClustering(2, resting=np.eye(2)).fit(np.eye(2))
        >>> model.step([1.0, 0.2]).round(3)
        array([1., 0.])
        """
        stepper = self._stepper
        if stepper is None or stepper.state is not self.state_ or stepper.model is not self.model_:
            check_is_fitted(self)
            stepper = self._stepper = Stepper(self.model_, self.state_, self.memory_in)
        if time is None or self.memory_in == "frames" or self._unit.is_judged:
            return stepper.step(x, time)
        before = float(self.state_.clock[0])
        posterior = stepper.step(x, time)
        if not np.isnan(before):
            self._unit.see(self.state_.clock[:1] - before, self._longest_memory)
        return posterior

    @one_at_a_time
    def partial_fit(self, X: Any, y: Any = None, times: Any = None) -> Self:  # noqa: ARG002
        """Show rows in time order: each pulls, and time lets the centroids spring back.

        times (rows,): time stamps; one step apart if not given; dates and durations become seconds. Any chunking gives
        the same state. A model that was never fitted first learns its resting centroids from these rows.
        """
        with unchanged_if_refused(self):
            if not hasattr(self, "model_"):
                self._fit(X)
            rows = validated(self, X)
            stamps, pace = self._in_unit(self.state_, len(rows), times)
            algorithm.track(self.model_, self.state_, rows, stamps, in_place=True)
            self.state_.clock[1:] = pace
        self._see_pace(times)
        return self

    def track(self, X: Any, times: Any = None) -> NDArray[Any]:
        """Posterior (rows, K) of rows in time order while adapting, on a copy of the current state.

        Each posterior is the one before that row's own pull.
        """
        return self._track(X, times)[1].posterior

    def track_log_density(self, X: Any, times: Any = None) -> NDArray[np.float64]:
        """Log-likelihood (rows,) of each row given all before it, while adapting, on a copy of the current state."""
        return self._track(X, times)[1].log_density

    @one_at_a_time
    def track_response(self, X: Any, times: Any = None, *, in_place: bool = False) -> Followed:
        """`track` with the posteriors at rest, and 1 minus the largest cosine of every row to any cluster.

        Parameters
        ----------
        in_place : bool
            Move the model itself instead of a copy of its state.
        """
        rows, response = self._track(X, times, in_place=in_place)
        frozen = algorithm.read(self.model_, algorithm.init(self.model_), rows).posterior
        return Followed(response.posterior, frozen, 1 - response.similarity.astype(np.float64))

    @one_at_a_time
    def _track(self, X: Any, times: Any, *, in_place: bool = False) -> tuple[NDArray[Any], algorithm.Response]:
        check_is_fitted(self)
        rows = validated(self, X)
        stamps, pace = self._in_unit(self.state_, len(rows), times)
        state, response = algorithm.track(self.model_, self.state_, rows, stamps, in_place=in_place)
        state.clock[1:] = pace
        self._see_pace(times)
        return rows, response

    def labels_of(self, followed: Followed) -> NDArray[Any]:
        """The cluster of every answer; -1 for a novel one (if `novelty` is set)."""
        labels = super().labels_of(followed)
        if self.novelty_threshold_ is not None:
            labels[is_novel_by_similarity(1 - followed.novelty, float(self.novelty_threshold_))] = NOVEL
        return labels

    @property
    def possible_labels_(self) -> tuple[Any, ...]:
        """The numbers of the clusters, and -1 if `novelty` is set."""
        return super().possible_labels_ if self.novelty_threshold_ is None else (*super().possible_labels_, NOVEL)

    @property
    def classes_(self) -> NDArray[Any]:  # type: ignore[override]
        """The numbers of the clusters, which the answers of a stream are about."""
        return np.arange(len(self.cluster_centers_))

    @property
    def memory_(self) -> float | None:
        """Time constant of the memory; None for a kernel."""
        params = self.model_.params
        return float(params.memory) if params.kernel is None else None

    @property
    def memory_in_(self) -> MemoryIn:
        """The unit in which time is counted."""
        return self.memory_in

    @memory_in_.setter
    def memory_in_(self, unit: MemoryIn) -> None:
        self.memory_in, self._stepper = unit, None

    @property
    def _longest_memory(self) -> float:
        """Of the exponentials in the decay; infinite for a kernel that is any function."""
        return float(self.model_.constants.memories.max(initial=0.0)) or float("inf")

    def _in_unit(
        self, state: algorithm.State, steps: int, times: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """When the next rows come in the unit of the memory, and `clock[1:]` of the state after them."""
        return next_times("times", steps, times, float(state.clock[0]), state.clock[1:], self.memory_in)

    def _elapsed(self, elapsed: Any) -> float:
        """A silence in the unit of the memory."""
        return elapsed_in_frames(self.state_.clock[1:], as_elapsed("elapsed", elapsed), self.memory_in)

    def _see_pace(self, times: Any) -> None:
        if times is not None and self.memory_in == "time":
            self._unit.see(np.diff(as_times("times", times)), self._longest_memory)

    @one_at_a_time
    def relax(self, elapsed: Any) -> Self:
        """Let time pass without a row: in the unit of the time stamps, if there were any, and in steps otherwise."""
        check_is_fitted(self)
        self.state_ = algorithm.relax(self.model_, self.state_, self._elapsed(elapsed))
        return self

    @one_at_a_time
    def reset(self) -> Self:
        """Return to rest and forget the past; what was fitted stays.

        Examples
        --------
        >>> model = ElasticClustering(2, resting=np.eye(2)).fit(np.eye(2)).partial_fit([[1.0, 0.2]])
        >>> float(model.reset().short_term_.max())
        0.0
        """
        check_is_fitted(self)
        self.state_ = algorithm.init(self.model_)
        return self

    def _read(self, X: Any) -> algorithm.Response:
        check_is_fitted(self)
        return algorithm.read(self.model_, self.state_, validated(self, X))

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The cluster of each row in the current state; -1 for a novel one (if `novelty_threshold` is set)."""
        response = self._read(X)
        labels = np.asarray(response.posterior.argmax(axis=1), np.int64)
        if self.novelty_threshold_ is not None:
            labels[is_novel_by_similarity(response.similarity, float(self.novelty_threshold_))] = NOVEL
        return labels

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Posterior (rows, K) of each row in the current state."""
        return np.asarray(self._read(X).posterior)

    def transform(self, X: Any) -> NDArray[Any]:
        """Similarity (rows, K): the cosine of each row to each centroid where it is now."""
        check_is_fitted(self)
        X = validated(self, X)
        scaled = X if self.channels_ is None else self.channels_.scaled(X)
        return similarity_of(self.efficacy_, scaled).astype(X.dtype)

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Log-likelihood of each row's direction in the current state; NaN for an all-zero row."""
        return self._read(X).log_density

    def log_likelihood(self, X: Any, elapsed: Any = 1.0) -> NDArray[np.float64]:
        """Log-likelihood of each row as the next observation, after a silence as in `relax`."""
        check_is_fitted(self)
        later = algorithm.relax(self.model_, self.state_, self._elapsed(elapsed))
        return algorithm.read(self.model_, later, validated(self, X)).log_density

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Mean of `score_samples` over rows that are not all zero."""
        scores = self.score_samples(X)
        check.require(not np.isnan(scores).all(), "X", "hold a row that is not all zero", "zeros only")
        return float(np.nanmean(scores))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Draw unit-length observations from the model in its current state, and the clusters they come from."""
        check_is_fitted(self)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        expected = algorithm.expected(self.model_, self.state_)
        labels = rng.choice(len(expected), check.integer("n_samples", n_samples, low=1), p=expected / expected.sum())
        centres = self.efficacy_[labels]
        centres = moderate(centres)
        centres = centres / np.linalg.norm(centres, axis=1, keepdims=True)
        if self.likelihood == "linear":
            return sample_linear(centres, rng), labels
        return sample_vmf(centres, self.kappa, rng), labels

    def _record(self) -> SavedClustering:
        check_is_fitted(self)
        return clustering_record(self)

    @classmethod
    def _from_record(cls, record: SavedClustering) -> Self:
        model: Self = clustering_from(cls, record)
        return model

    def _state_arrays(self) -> Arrays:
        check_is_fitted(self)
        return state_arrays(self.state_)

    def _set_state_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.state_ = state_from(self.model_, arrays)

    @property
    def efficacy_(self) -> NDArray[np.float64]:
        """G = W + F: where every centroid is now, (K, n)."""
        return algorithm.efficacy(self.model_, self.state_)

    @property
    def short_term_(self) -> NDArray[np.float64]:
        """F: how far every centroid is from its resting place, (K, n)."""
        return algorithm.short_term(self.model_, self.state_)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)
