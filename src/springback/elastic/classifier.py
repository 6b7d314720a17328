"""`ElasticClassifier`: elastic clustering whose clusters have labels."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from springback import check
from springback.compiled import for_types_of, njit
from springback.elastic import algorithm
from springback.elastic._frames import refuse_not_finite
from springback.elastic.estimator import ElasticClustering, unchanged_if_refused, validated
from springback.elastic.novelty import is_novel_by_similarity
from springback.elastic.saved import SavedClassifier
from springback.files.models import AroundModel, set_feature_names, sorted_labels
from springback.streaming.one_at_a_time import one_at_a_time
from springback.streaming.records import Followed
from springback.streaming.row_scaling import moderate


@njit(cache=True, fastmath={"contract", "reassoc"}, error_model="numpy")
def _name(posterior: Any, shares: Any, answer: Any) -> None:
    """Write shares (L + 1, K) . posterior (K,), divided by the last number of it, into answer (L + 1,)."""
    for label in range(answer.size):
        total = 0.0
        for k in range(posterior.size):
            total += posterior[k] * shares[label, k]
        answer[label] = total
    whole = answer[answer.size - 1]
    for label in range(answer.size):
        answer[label] /= whole


class Naming:
    """`P(label | x) = sum_k P(label | k) Q_k(x)` of single frames; it serves as long as the counts are these.

    Parameters
    ----------
    counts : NDArray[np.float64]
        The counts that the shares come from; only kept, to be recognised.
    shares : NDArray[np.float64]
        P(label | k), (K, labels).

    Examples
    --------
    >>> shares = np.array([[1.0, 0.0], [0.5, 0.5]])
    >>> Naming(shares, shares).name(np.array([0.5, 0.5]))
    array([0.75, 0.25])
    """

    def __init__(self, counts: NDArray[np.float64], shares: NDArray[np.float64]) -> None:
        self.counts = counts
        # One more label, of which every cluster has all: its answer is the sum of the others.
        self._shares = np.ascontiguousarray(np.hstack([shares, shares.sum(axis=1, keepdims=True)]).T)
        self._shape = (len(shares),)
        self._run: dict[Any, Callable[..., Any]] = {}

    def name(self, posterior: NDArray[Any]) -> NDArray[np.float64]:
        """Posterior of the labels (labels,) from that of the clusters (K,), which is contiguous."""
        if posterior.shape != self._shape:  # The compiled code does not look.
            raise ValueError(f"posterior must have shape {self._shape}; got {posterior.shape}")
        answer = np.empty(len(self._shares))
        run = self._run.get(posterior.dtype)
        if run is None:
            run = self._run[posterior.dtype] = for_types_of(_name, posterior, self._shares, answer)
        run(posterior, self._shares, answer)
        return answer[:-1]


class ElasticClassifier(ClassifierMixin, AroundModel, BaseEstimator):
    """Elastic clustering whose clusters are named by labelled examples.

    `P(label | x) = sum_k P(label | k) Q_k(x)`, where `P(label | k)` is the share of each label among the training
    examples of cluster k, weighted by their posteriors at rest. The clusters themselves never see a label.

    Reading (`predict`, `predict_proba`) moves nothing. `step` answers for one frame and moves. `partial_fit` also
    moves: its rows are frames in time order. `track` and `track_labels` follow a recorded stream, on a copy of the
    state. The answer for a frame is always the one *before* that frame has pulled.

    Parameters
    ----------
    clustering : ElasticClustering | None
        An `ElasticClustering`; it is cloned. If there are fewer training rows than clusters, as many clusters as
        rows are used.
    novel_label : Any
        The answer for an input that belongs to none of the clusters (needs the clustering's `novelty_threshold`).

    Examples
    --------
    >>> rows = np.array([[1.0, 0.1], [1.0, -0.1], [0.1, 1.0], [-0.1, 1.0]])
    >>> model = ElasticClassifier(ElasticClustering(n_clusters=2, kappa=20.0, pull=3.0, random_state=0))
    >>> model = model.fit(rows, ["right", "right", "up", "up"])
    >>> turning = [[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0]]
    >>> model.predict(turning).tolist()
    ['right', 'right', 'right', 'up']
    >>> model.track_labels(turning).tolist()
    ['right', 'right', 'right', 'right']
    """

    RECORD = SavedClassifier
    _naming: Naming | None = None

    def __init__(self, clustering: ElasticClustering | None = None, *, novel_label: Any = None) -> None:
        self.clustering = clustering
        self.novel_label = novel_label

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_naming"}

    @classmethod
    def from_prototypes(cls, features: Any, labels: Any, *, novel_label: Any = None, **params: Any) -> Self:
        """One centroid for each label, at the mean direction of its examples: a classifier where there is none.

        A single example of each label is enough.

        Parameters
        ----------
        features : Any
            Examples, (rows, n), such as embeddings.
        labels : Any
            Their labels, (rows,).
        params : Any
            Of `ElasticClustering`, such as `kappa`, `pull` and `memory`.

        Examples
        --------
        >>> model = ElasticClassifier.from_prototypes([[1.0, 0.0], [0.0, 1.0]], ["right", "up"], kappa=20.0, pull=3.0)
        >>> model.track_labels([[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0]]).tolist()
        ['right', 'right', 'right', 'right']
        """
        for name in ("resting", "n_clusters"):
            check.require(name not in params, name, "not be given: the prototypes are the centroids", params.get(name))
        X, y = cls()._labelled(features, labels, reset=True)
        check_classification_targets(y)
        classes, place = np.unique(y, return_inverse=True)
        directions = moderate(X)
        lengths = np.linalg.norm(directions, axis=1, keepdims=True)
        directions = directions / np.where(lengths > 0, lengths, 1)
        means = np.stack([directions[place == number].mean(axis=0) for number in range(len(classes))])
        silent = ~means.any(axis=1)
        check.require(not silent.any(), "features", "give each label a direction", classes[silent].tolist())
        model = cls(ElasticClustering(len(classes), resting=means, **params), novel_label=novel_label).fit(X, y)
        model.counts_ = np.diag(np.bincount(place)).astype(np.float64)
        return model

    @one_at_a_time
    def fit(self, X: Any, y: Any) -> Self:
        """Learn resting centroids from rows X, then name them by the labels y."""
        with unchanged_if_refused(self):
            self._fit(X, y, None)
        return self

    def _fit(self, X: Any, y: Any, classes: Any) -> None:
        X, y = self._labelled(X, y, reset=True)
        check_classification_targets(y)
        clustering = ElasticClustering(random_state=0) if self.clustering is None else clone(self.clustering)
        if isinstance(clustering.resting, str):
            distinct = int(X.any(axis=1).sum())
            clustering.set_params(n_clusters=max(1, min(clustering.n_clusters, distinct)))
        self.clustering_ = clustering.fit(X)
        self.classes_ = np.unique(y if classes is None else np.asarray(classes))
        self.counts_ = np.zeros((len(self.clustering_.cluster_centers_), len(self.classes_)))
        self._name(X, y)

    def _labelled(self, X: Any, y: Any, *, reset: bool = False) -> tuple[NDArray[Any], NDArray[Any]]:
        X, y = validate_data(self, X, y, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite=False)
        refuse_not_finite("X", X)
        return X, y

    def _name(self, X: NDArray[Any], y: NDArray[Any]) -> None:
        model, counts = self.clustering_.model_, self.counts_.copy()
        column = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        check.require(
            bool((self.classes_[column] == y).all()), "y", f"hold only {self.classes_.tolist()}", np.unique(y)
        )
        for rows in algorithm.chunks(len(X)):
            posterior = algorithm.read(model, algorithm.init(model), X[rows]).posterior
            for c in range(len(self.classes_)):
                counts[:, c] += posterior[column[rows] == c].sum(axis=0, dtype=np.float64)
        self.counts_ = counts

    @property
    def label_shares_(self) -> NDArray[np.float64]:
        """P(label | cluster), (K, classes); a cluster without examples has the shares of all examples."""
        overall = self.counts_.sum(axis=0)
        smoothed = self.counts_ + 1e-9 * (overall + 1e-300) / max(overall.sum(), 1e-300)
        return np.asarray(smoothed / smoothed.sum(axis=1, keepdims=True))

    @one_at_a_time
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, times: Any = None) -> Self:
        """Show rows in time order; with labels y, also name the clusters by them. Fits first if never fitted.

        If the input is refused, clusters, names and short-term state do not change.
        """
        with unchanged_if_refused(self):
            if not hasattr(self, "clustering_"):
                check.require(y is not None, "y", "be given until the model is fitted", None)
                self._fit(X, y, classes)
            elif y is not None:
                self._name(*self._labelled(X, y))
            self.clustering_.partial_fit(self._validated(X), times=times)
        return self

    def _validated(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        return validated(self, X)

    def _name_of(self, shares: NDArray[Any], similarity: NDArray[Any]) -> NDArray[Any]:
        labels = self.classes_[shares.argmax(axis=1)]
        threshold = self.clustering_.novelty_threshold_
        if self.novel_label is None or threshold is None:
            return np.asarray(labels)
        return np.asarray(np.where(is_novel_by_similarity(similarity, float(threshold)), self.novel_label, labels))

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row in the current state; `novel_label` for a novel one."""
        X = self._validated(X)
        response = algorithm.read(self.clustering_.model_, self.clustering_.state_, X)
        return self._name_of(response.posterior @ self.label_shares_, response.similarity)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Posterior of the labels, (rows, classes), in the current state."""
        X = self._validated(X)
        response = algorithm.read(self.clustering_.model_, self.clustering_.state_, X)
        shares = response.posterior.astype(np.float64) @ self.label_shares_
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    @one_at_a_time
    def step(self, x: Any, time: Any = None) -> NDArray[np.float64]:
        """Posterior of the labels (classes,) of the next frame x (n,), before its own pull; then it pulls.

        `time` is its time stamp; one step after the last if not given.

        Examples
        --------
        >>> model = ElasticClassifier(ElasticClustering(2, resting=np.eye(2))).fit(np.eye(2), ["right", "up"])
        >>> str(model.classes_[model.step([1.0, 0.2]).argmax()])
        'right'
        """
        naming = self._naming
        if naming is None or naming.counts is not self.counts_:
            check_is_fitted(self)
            naming = self._naming = Naming(self.counts_, self.label_shares_)
        return naming.name(self.clustering_.step(x, time))

    @one_at_a_time
    def track_response(self, X: Any, times: Any = None, *, in_place: bool = False) -> Followed:
        """`track` with the answers at rest, and 1 minus the largest cosine of every row to any cluster.

        Parameters
        ----------
        in_place : bool
            Move the model itself instead of a copy of its state.

        Examples
        --------
        >>> model = ElasticClassifier(ElasticClustering(2, resting=np.eye(2))).fit(np.eye(2), ["right", "up"])
        >>> model.track_response([[0.0, 2.0]], in_place=True).novelty
        array([0.])
        """
        X = self._validated(X)
        state = self.clustering_.state_ if in_place else None
        posterior, similarity = self._follow(X, times, state)
        model, named = self.clustering_.model_, self.label_shares_
        frozen = np.empty_like(posterior)
        for rows in algorithm.chunks(len(X)):
            frozen[rows] = algorithm.read(model, algorithm.init(model), X[rows]).posterior @ named
        frozen /= frozen.sum(axis=1, keepdims=True)
        return Followed(posterior, frozen, 1 - similarity.astype(np.float64))

    def _follow(
        self, X: Any, times: Any, state: algorithm.State | None = None
    ) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Posteriors and similarities of validated rows; moves the given state, or a copy of the present one."""
        model = self.clustering_.model_
        state = algorithm.copy(self.clustering_.state_) if state is None else state
        stamps, pace = self.clustering_._in_unit(state, len(X), times)
        named = self.label_shares_
        shares, similarity = np.empty((len(X), len(self.classes_))), np.empty(len(X), X.dtype)
        for rows in algorithm.chunks(len(X)):
            _, response = algorithm.track(model, state, X[rows], stamps[rows], in_place=True)
            shares[rows] = response.posterior @ named
            similarity[rows] = response.similarity
        state.clock[1:] = pace
        self.clustering_._see_pace(times)
        return shares / shares.sum(axis=1, keepdims=True), similarity

    @one_at_a_time
    def track(self, X: Any, times: Any = None) -> NDArray[np.float64]:
        """Posterior of the labels of rows in time order while adapting, (rows, classes), on a copy."""
        return self._follow(self._validated(X), times)[0]

    @one_at_a_time
    def track_labels(self, X: Any, times: Any = None) -> NDArray[Any]:
        """The label of every row in time order while adapting, on a copy; `novel_label` for a novel one."""
        return self._name_of(*self._follow(self._validated(X), times))

    def labels_of(self, followed: Followed) -> NDArray[Any]:
        """The label of every answer of `track_response`; `novel_label` for a novel one."""
        return self._name_of(followed.posterior, 1 - followed.novelty)

    @property
    def possible_labels_(self) -> tuple[Any, ...]:
        """The classes, and `novel_label` if novel rows are looked for."""
        named = super().possible_labels_
        if self.novel_label is None or self.clustering_.novelty_threshold_ is None:
            return named
        return (*named, np.asarray(self.novel_label).item())

    def _inner(self) -> ElasticClustering:
        check_is_fitted(self)
        return self.clustering_

    def _record(self) -> SavedClassifier:
        check_is_fitted(self)
        return SavedClassifier(
            clustering=self.clustering_._record(),
            n_clusters=None if self.clustering is None else self.clustering.n_clusters,
            classes=self.classes_,
            novel_label=None if self.novel_label is None else np.asarray([self.novel_label]),
            counts=self.counts_,
            feature_names=self.column_names_,
        )

    @classmethod
    def _from_record(cls, record: SavedClassifier) -> Self:
        fitted = ElasticClustering._from_record(record.clustering)
        novel = record.novel_label
        check.require(novel is None or novel.shape == (1,), "novel_label", "be one label", novel)
        given = None if record.n_clusters is None else clone(fitted).set_params(n_clusters=record.n_clusters)
        model = cls(given, novel_label=None if novel is None else novel[0])
        model.clustering_ = fitted
        model.classes_ = sorted_labels("classes", record.classes)
        shape = (len(fitted.cluster_centers_), len(model.classes_))
        model.counts_ = check.array("counts", record.counts, shape=shape, dtype=np.float64)
        check.require(bool((record.counts >= 0).all()), "counts", "be >= 0", "numbers below 0")
        model.n_features_in_ = fitted.n_features_in_
        set_feature_names(model, record.feature_names)
        return model
