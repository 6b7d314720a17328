"""Elastic clustering with river's interface: `learn_one`, `predict_one`."""

import math
from numbers import Real
from typing import Any

import numpy as np

from springback.extras import missing_extra

try:
    from river import base
except ImportError:
    raise missing_extra("springback.elastic.river_adapter", "river") from None

from springback import check
from springback.elastic import algorithm
from springback.elastic._dense import DenseState
from springback.elastic.params import elasticity_of
from springback.elastic.resting import fit_von_mises_fisher
from springback.streaming.pace import elapsed_in_frames, next_times, time_now
from springback.streaming.time_stamps import as_elapsed, as_times


class RiverElasticClustering(base.Clusterer):
    """Elastic clustering of a stream of dicts, learned from scratch.

    The first `warm_up` observations are kept to find where the centroids rest; until then every answer is cluster 0.
    From then on every observation pulls, and none is kept. A feature that is missing counts as zero; a feature that was
    never seen before joins with a resting weight of zero. Memory does not grow with the stream.

    An observation with a value that is not a finite number is refused, and the model does not change; leave out
    features that are missing.

    Examples
    --------
    >>> model = RiverElasticClustering(n_clusters=2, warm_up=4, seed=0)
    >>> for x in [{"a": 1.0, "b": 0.1}, {"a": 0.1, "b": 1.0}, {"a": 1.0}, {"b": 1.0}]:
    ...     model.learn_one(x)
    >>> model.predict_one({"a": 1.0}) != model.predict_one({"b": 1.0})
    True
    """

    def __init__(
        self,
        n_clusters: int = 5,
        kappa: float = 50.0,
        pull: float = 1.0,
        memory: float = 2.0,
        warm_up: int = 100,
        seed: int | None = None,
    ) -> None:
        self.n_clusters = check.integer("n_clusters", n_clusters, low=1)
        self.warm_up = check.integer("warm_up", warm_up, low=n_clusters)
        self.seed = seed
        self.kappa = kappa
        self.pull = pull
        self.memory = memory
        self._params = elasticity_of(kappa=kappa, pull=pull, memory=memory)
        self._column: dict[Any, int] = {}
        self._waiting: list[tuple[dict[Any, float], float | None]] = []
        self._model: algorithm.Model | None = None
        self._state: algorithm.State | None = None

    def _row(self, x: dict[Any, float]) -> np.ndarray[Any, Any]:
        row = np.zeros(len(self._column))
        for name, value in x.items():
            if name in self._column:
                row[self._column[name]] = value
        return row

    @staticmethod
    def _numbers(x: dict[Any, Any]) -> dict[Any, float]:
        must = "be a finite number (leave the feature out where it is missing)"
        for name, value in x.items():
            check.require(isinstance(value, Real | np.bool_) and math.isfinite(value), f"x[{name!r}]", must, value)
        return {name: float(value) for name, value in x.items()}

    def _stamp(self, time: Any) -> float | None:
        """A time stamp as a number; refused if it is earlier than the last, or if only part of the warm-up has one."""
        stamp = None if time is None else float(as_times("time", time)[0])
        last = self._waiting[-1][1] if self._waiting else stamp
        if self._state is not None:
            now = float(time_now(self._state.clock[None, 1:], self._state.clock[:1])[0])
            last = stamp if stamp is None or np.isnan(now) else now
        both = (stamp is None) == (last is None)
        check.require(both, "time", "be given with every observation of the warm-up, or with none", time)
        check.require(stamp is None or last is None or stamp >= last, "time", f"be >= {last}, the last one", time)
        return stamp

    def _start(self) -> None:
        rows = np.array([self._row(x) for x, _ in self._waiting])
        lit = rows.any(axis=1)
        rows = rows[lit]
        times = np.array([time for _, time in self._waiting])[lit]
        if len(rows) < self.n_clusters:
            del self._waiting[0]
            return
        found = fit_von_mises_fisher(rows, self.n_clusters, kappa=self.kappa, seed=self.seed)
        self._model = algorithm.prepare(self._params, found.centroids, found.prior)
        self._state = algorithm.init(self._model)
        self._waiting.clear()
        stamps, pace = self._in_frames(self._state, len(rows), None if times.dtype == object else times)
        algorithm.track(self._model, self._state, rows, stamps, in_place=True)
        self._state.clock[1:] = pace

    @staticmethod
    def _in_frames(state: algorithm.State, steps: int, times: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        return next_times("times", steps, times, float(state.clock[0]), state.clock[1:], "frames")

    def _widen(self) -> None:
        """Add features that were never seen before, with weight zero."""
        if self._model is None or not isinstance(self._state, DenseState):
            return
        missing = len(self._column) - len(self._model.constants.by_feature)
        if missing == 0:
            return
        resting = np.pad(self._model.constants.resting, ((0, 0), (0, missing)))
        self._model = algorithm.prepare(self._params, resting, self._model.constants.prior)
        self._state = self._state._replace(stored=np.pad(self._state.stored, ((0, 0), (0, missing), (0, 0))))

    def step(self, x: dict[Any, float], time: Any = None) -> int:
        """The cluster of the next observation, before its own pull; then it pulls. Cluster 0 during the warm-up.

        Examples
        --------
        >>> model = RiverElasticClustering(n_clusters=2, warm_up=2, seed=0)
        >>> [model.step({"a": 1.0}), model.step({"b": 1.0})]  # warm-up
        [0, 0]
        >>> model.step({"a": 1.0, "b": 0.1}) == model.predict_one({"a": 1.0})
        True
        """
        x, stamp = self._numbers(x), self._stamp(time)
        for name in sorted(x.keys() - self._column.keys(), key=repr):
            self._column[name] = len(self._column)
        self._widen()
        if self._model is not None and self._state is not None:
            times, pace = self._in_frames(self._state, 1, stamp)
            _, response = algorithm.step(self._model, self._state, self._row(x), times[0], in_place=True)
            self._state.clock[1:] = pace
            return int(response.posterior.argmax())
        self._waiting.append((x, stamp))
        if len(self._waiting) >= self.warm_up:
            self._start()
        return 0

    def learn_one(self, x: dict[Any, float], time: Any = None, **_: Any) -> None:
        """Show one observation, at `time` (a date counts in seconds) or else one step after the last."""
        self.step(x, time)

    def predict_one(self, x: dict[Any, float]) -> int:
        """The cluster of an observation in the current state; moves nothing."""
        x = self._numbers(x)
        if self._model is None or self._state is None:
            return 0
        return int(algorithm.read(self._model, self._state, self._row(x)).posterior.argmax())

    def relax(self, elapsed: Any) -> None:
        """Let time pass, in the unit of the time stamps if there were any; during the warm-up nothing is pulled yet."""
        elapsed = as_elapsed("elapsed", elapsed)
        if self._model is not None and self._state is not None:
            steps = elapsed_in_frames(self._state.clock[1:], elapsed, "frames")
            self._state = algorithm.relax(self._model, self._state, steps)

    def reset(self) -> None:
        """Return to rest and forget the past; the resting centroids, or the rows of the warm-up, stay."""
        if self._model is not None:
            self._state = algorithm.init(self._model)
