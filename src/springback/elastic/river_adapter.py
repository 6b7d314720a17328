"""Elastic clustering with river's interface: `learn_one`, `predict_one`."""

from typing import Any

import numpy as np

from springback.extras import missing_extra

try:
    from river import base
except ImportError:
    raise missing_extra("springback.elastic.river_adapter", "river") from None

from springback import check
from springback.elastic import algorithm
from springback.elastic.dense import DenseState
from springback.elastic.kernels import Exponential
from springback.elastic.params import Elasticity
from springback.elastic.resting import fit_von_mises_fisher


class RiverElasticClustering(base.Clusterer):
    """Elastic clustering of a stream of dicts, learned from scratch.

    The first `warm_up` observations are kept to find where the centroids rest; from then on every observation pulls,
    and the rest is forgotten. Until then every answer is cluster 0. A feature that is missing counts as zero; a feature
    that was never seen before joins with a resting weight of zero. Memory does not grow with the stream.

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
        self._params = Elasticity(kappa=kappa, pull=pull, kernel=Exponential(memory=memory))
        self._column: dict[Any, int] = {}
        self._waiting: list[dict[Any, float]] = []
        self._model: algorithm.Model | None = None
        self._state: algorithm.State | None = None

    def _row(self, x: dict[Any, float]) -> np.ndarray[Any, Any]:
        row = np.zeros(len(self._column))
        for name, value in x.items():
            if name in self._column:
                row[self._column[name]] = value
        return row

    def _start(self) -> None:
        rows = np.array([self._row(x) for x in self._waiting])
        rows = rows[rows.any(axis=1)]
        if len(rows) < self.n_clusters:
            del self._waiting[0]
            return
        found = fit_von_mises_fisher(rows, self.n_clusters, kappa=self.kappa, seed=self.seed)
        self._model = algorithm.prepare(self._params, found.centroids, found.prior)
        self._state = algorithm.init(self._model)
        self._waiting.clear()
        algorithm.advance(self._model, self._state, rows)

    def _widen(self) -> None:
        """Let features join that were never seen before, with weight zero."""
        if self._model is None or not isinstance(self._state, DenseState):
            return
        missing = len(self._column) - len(self._model.constants.by_feature)
        if missing == 0:
            return
        resting = np.pad(self._model.constants.resting, ((0, 0), (0, missing)))
        self._model = algorithm.prepare(self._params, resting, self._model.constants.prior)
        self._state = self._state._replace(stored=np.pad(self._state.stored, ((0, 0), (0, missing), (0, 0))))

    def learn_one(self, x: dict[Any, float], **_: Any) -> None:
        """Show one observation."""
        for name in sorted(x.keys() - self._column.keys(), key=repr):
            self._column[name] = len(self._column)
        self._widen()
        if self._model is not None and self._state is not None:
            algorithm.advance(self._model, self._state, self._row(x))
            return
        self._waiting.append(dict(x))
        if len(self._waiting) >= self.warm_up:
            self._start()

    def predict_one(self, x: dict[Any, float]) -> int:
        """The cluster of an observation as things stand now; moves nothing."""
        if self._model is None or self._state is None:
            return 0
        return int(algorithm.read(self._model, self._state, self._row(x)).posterior.argmax())
