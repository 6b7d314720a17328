"""What a model of the comparison (Fig. 4) reached: the one record all of them answer with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.streaming.metrics import accuracy, accuracy_by_ink, accuracy_by_rows
from springback.streaming.records import Video
from springback.streaming.wording import percent
from springback_paper.models import MODELS


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Accuracies of one or more models, from one run.

    Parameters
    ----------
    n_train, n_test : int
        Training and test images used; n_frames: length of the test video.
    mnist_test : dict[str, float]
        {model: accuracy on still test images}.
    omnist_test : dict[str, float]
        {model: accuracy on all frames of the test video}.
    by_rows_hidden : dict[str, dict[str, float]]
        {model: {rows hidden, or "noise": accuracy}}.
    by_ink_hidden : dict[str, dict[str, float]]
        {model: {tenth of the ink that is hidden, or "noise": accuracy}}.

    Examples
    --------
    >>> Scores(n_train=1, n_test=1, n_frames=9, omnist_test={"elastic": 0.95611}).headline
    'elastic 95.61 %'
    """

    n_train: int
    n_test: int
    n_frames: int
    mnist_test: dict[str, float] = field(default_factory=dict)
    omnist_test: dict[str, float] = field(default_factory=dict)
    by_rows_hidden: dict[str, dict[str, float]] = field(default_factory=dict)
    by_ink_hidden: dict[str, dict[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("mnist_test", "omnist_test", "by_rows_hidden", "by_ink_hidden"):
            for model, reached in getattr(self, name).items():
                check.one_of(f"a model of Scores.{name}", model, MODELS)
                groups = reached if isinstance(reached, dict) else {"all": reached}
                for value in groups.values():
                    check.real(f"an accuracy of Scores.{name}", value, low=0, high=1)
        for name in ("n_train", "n_test", "n_frames"):
            check.integer(f"Scores.{name}", getattr(self, name), low=0)

    @property
    def headline(self) -> str:
        """The accuracies in one line."""
        shown = self.omnist_test or self.mnist_test
        return ", ".join(f"{model} {percent(value)} %" for model, value in shown.items())

    @classmethod
    def of(cls, answers: Mapping[str, NDArray[np.int64]], video: Video, **others: Any) -> "Scores":
        """The scores of models by the classes they answered the frames of a video with; `others` are fields.

        Examples
        --------
        >>> from springback.data import make_omnist
        >>> from springback.streaming.records import Images
        >>> video = make_omnist(Images(np.zeros((1, 28, 28), np.uint8), np.array([4])), seed=0)
        >>> Scores.of({"elastic": video.labels}, video, n_train=1, n_test=1).omnist_test
        {'elastic': 1.0}
        """
        return cls(
            n_frames=len(video),
            omnist_test={model: accuracy(said, video.labels) for model, said in answers.items()},
            by_rows_hidden={model: accuracy_by_rows(said, video) for model, said in answers.items()},
            by_ink_hidden={model: accuracy_by_ink(said, video) for model, said in answers.items()},
            **others,
        )
