"""Steady classes for the tracked detections of the `supervision` package (extra: supervision)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.heads.keyed_streams import KeyedStreams
from springback.heads.linear_classifier import ElasticLinearClassifier
from springback.heads.settings import Settings

SCORES = "class_scores"
"""Where detections carry the scores of all classes, (N, K), in their `data`."""

PROBABILITIES = "class_probabilities"
"""Where they then carry the probabilities of all classes, (N, K)."""


class SteadyClasses:
    """Gives each tracked object a class that does not flicker; a track that was never seen starts without a past.

    Every object is a stream of its own, by its `tracker_id`, which accumulates the scores of its classes and forgets
    them slowly, so an early mistake does not lock. A detection without a track is answered by itself.

    Parameters
    ----------
    classes : Sequence[Any]
        Names of the classes, in the order of `class_id`.
    settings : Settings | None
        How it remembers; None: as `ElasticLinearClassifier.of_scores`. Chosen by `ElasticLinearClassifier.tune`.
    most_tracks : int
        The largest number of tracks; beyond it, the one that was seen least recently is forgotten.
    forget_after : int
        Forget a track that was not seen for this many frames of the video.

    Examples
    --------
    >>> steady = SteadyClasses(["cat", "dog"])
    >>> steady.follow([7, 8], [[0.9, 0.1], [0.2, 0.8]]).argmax(axis=1)
    array([0, 1])
    >>> steady.follow([8, 7], [[0.45, 0.55], [0.45, 0.55]]).argmax(axis=1)
    array([1, 0])
    """

    def __init__(
        self,
        classes: Sequence[Any],
        settings: Settings | None = None,
        *,
        most_tracks: int = 10_000,
        forget_after: int = 300,
    ) -> None:
        self.classes = tuple(classes)
        self._forget_after = check.integer("forget_after", forget_after, low=1)
        self._frame = 0
        self._model = ElasticLinearClassifier.of_scores(self.classes, settings)
        self.streams: KeyedStreams[int] = KeyedStreams(
            self._model.head_, compact=False, limit=most_tracks, now=lambda: float(self._frame)
        )

    def follow(self, tracks: Sequence[int | None], scores: Any) -> NDArray[np.float64]:
        """Probabilities (N, K) of the N objects of the next frame of a video, each with its track and its scores."""
        self._frame += 1
        rows = np.asarray(scores, np.float64).reshape(-1, len(self.classes))
        answers = self.streams.follow_mixed(list(tracks), self._model.transforms_(rows)).posterior
        self.streams.forget_idle(self._forget_after)
        return np.asarray(answers, np.float64)

    def update(self, detections: Any) -> Any:
        """The `supervision.Detections` of the next frame, with steady `class_id` and `confidence`.

        The scores of all classes are `detections.data["class_scores"]`, (N, K). Without them, `confidence` is the score
        of `class_id`, and the other classes share the rest. All probabilities are then in
        `data["class_probabilities"]`. The detections that were given do not change.
        """
        count = len(detections)
        found = detections[np.arange(count)]  # a copy
        numbers = detections.tracker_id
        tracks = [None] * count if numbers is None else [None if one < 0 else int(one) for one in numbers]
        answers = self.follow(tracks, self._scores(detections))
        found.class_id, found.confidence = answers.argmax(axis=1), answers.max(axis=1, initial=0)
        found.data[PROBABILITIES] = answers
        return found

    def _scores(self, detections: Any) -> NDArray[np.float64]:
        count, n_classes = len(detections), len(self.classes)
        if SCORES in detections.data:
            scores = np.asarray(detections.data[SCORES], np.float64)
            return check.array(f"data[{SCORES!r}]", scores, shape=(count, n_classes), dtype=np.float64)
        if not count:
            return np.empty((0, n_classes))
        if detections.class_id is None or detections.confidence is None:
            raise ValueError(f"detections must have class_id and confidence, or data[{SCORES!r}]; got neither")
        known = bool(((detections.class_id >= 0) & (detections.class_id < n_classes)).all())
        check.require(known, "class_id", f"lie in 0 ... {n_classes - 1}", detections.class_id)
        sure = np.asarray(detections.confidence, np.float64)
        scores = np.repeat(((1 - sure) / (n_classes - 1))[:, None], n_classes, axis=1)
        scores[np.arange(count), detections.class_id] = sure
        return scores
