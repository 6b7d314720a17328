"""Certain and diverse frames, weights averaged with the source, a corrected prior (Marsden et al. 2024, "ROID")."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch.nn.functional import cosine_similarity

import torch
from springback import check
from springback.heads.search import Choice, Range
from springback_bench.rivals.networks.network_classifier import NetworkClassifier, entropies
from springback_bench.rivals.networks.normalisation import write
from springback_bench.rivals.rival import RATE, Rival
from torch import nn

_SURE = 0.99
_TEMPERATURE = 1 / 3
_TREND = 0.9
"""The article's constants: probabilities are clipped at `_SURE` in the loss, `_TEMPERATURE` sharpens the weights of
frames, and the mean answer, from which frames should differ, keeps a share of `_TREND` at each update."""


class RoidState(NamedTuple):
    """Adam's state, the last frames (D, *frame_shape) and answers (D, K), the mean answer (K,), frames so far, (1,)."""

    values: NDArray[np.float32]
    first: NDArray[np.float32]
    second: NDArray[np.float32]
    steps: NDArray[np.int64]
    frames: NDArray[np.float32]
    answers: NDArray[np.float64]
    trend: NDArray[np.float32]
    n_frames: NDArray[np.int64]


class Roid(NetworkClassifier):
    """Gradient steps on certain and unusual frames, drawn back to the source, and a corrected prior (ROID).

    The last `window` frames are kept. Once all of them are new, scales and shifts take a step of Adam along the
    gradient of the mean of v_i L_i over them, with the soft likelihood ratio

        L = -sum_k p_k ln(p_k / (1 - p_k)),   v = exp(3 c d) for diverse frames, 0 for the others,

    where c is the certainty (minus the entropy) and d the diversity (1 minus the cosine of p and the running mean
    answer), both scaled to 0 ... 1 among the frames, and diverse frames have a d of at least the mean. After the step,
    values <- keep * values + (1 - keep) * those of the source network. Probabilities are multiplied by
    (pi + s) / (1 + s K), where pi is their mean over the frames kept, B the number of these, and
    s = max(1 / B, 1 / K) / max pi. The answer is the one before the step. The article takes batches;
    a window that is learned from when it is all new is our choice for single frames. The article's additional loss,
    which compares augmented images, is left out, because frames need not be images.

    Input: frames (T, *frame_shape). The method has no notion of time: `relax` and gaps between time stamps change
    nothing.

    Parameters
    ----------
    network : nn.Module
        A network with normalisation layers; a copy is adapted.
    frame_shape : Sequence[int]
        Shape of one frame.
    learning_rate : float
        Step of Adam.
    window : int
        How many frames are kept, and lie between two steps.
    keep : float
        Share of the adapted values after a step; the article has 0.99. 0: the source's values.
    correct_prior : bool
        Whether probabilities are corrected. If not, the network answers as it is at a learning rate of 0 with "stored"
        statistics.
    statistics : str
        What batch normalisation normalises with: "seen", the frames in the window, or "stored", as in training.

    Examples
    --------
    >>> torch.manual_seed(0)  # doctest: +ELLIPSIS
    <torch...>
    >>> model = Roid(nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 2)), (4,), learning_rate=0.1, window=2)
    >>> model.track(np.random.default_rng(0).normal(size=(5, 4))).shape
    (5, 2)
    """

    def __init__(
        self,
        network: nn.Module,
        frame_shape: Sequence[int],
        *,
        learning_rate: float = 0.001,
        window: int = 16,
        keep: float = 0.99,
        correct_prior: bool = True,
        statistics: str = "seen",
    ) -> None:
        self.window = check.integer("window", window, low=2)
        self.keep = check.real("keep", keep, low=0, high=1)
        if not isinstance(correct_prior, bool):
            raise TypeError(f"correct_prior must be True or False; got {check.shown(correct_prior)}")
        self.correct_prior = correct_prior
        super().__init__(network, frame_shape, learning_rate=learning_rate, statistics=statistics)

    def _init(self) -> RoidState:
        k = self.n_classes
        return RoidState(
            *self._adam(),
            np.zeros((self.window, *self.frame_shape), np.float32),
            np.zeros((self.window, k)),
            np.full(k, 1 / k, np.float32),
            np.zeros(1, np.int64),
        )

    def _answer(self, state: RoidState, frame: torch.Tensor) -> NDArray[Any]:
        place = int(state.n_frames[0]) % self.window
        state.n_frames[:] += 1
        filled = min(int(state.n_frames[0]), self.window)
        state.frames[place] = frame[0].numpy()
        with torch.no_grad():
            together = torch.tensor(state.frames[:filled]) if self.statistics == "seen" else frame
            p = self._network(together).softmax(dim=1)[place if self.statistics == "seen" else 0].numpy()
        state.answers[place] = p
        answer = self._corrected(p.astype(np.float64), state.answers[:filled])
        if place == self.window - 1:
            self._learn(state)
        return answer

    def _corrected(self, p: NDArray[np.float64], recent: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self.correct_prior:
            return p
        shares = recent.mean(axis=0)
        smooth = max(1 / len(recent), 1 / self.n_classes) / shares.max()
        corrected = p * (shares + smooth) / (1 + smooth * self.n_classes)
        return np.asarray(corrected / corrected.sum())

    def _learn(self, state: RoidState) -> None:
        with torch.enable_grad():
            logits = self._network(torch.tensor(state.frames))
            p = logits.softmax(dim=1)
            trend = torch.tensor(state.trend)
            clipped = p.clamp(max=_SURE)
            ratios = -(clipped * torch.log(clipped / (1 - clipped) + 1e-5)).sum(dim=1)
            self._descend(state, (_weights(logits.detach(), trend) * ratios).mean())
        state.trend[:] = _TREND * state.trend + (1 - _TREND) * p.detach().mean(dim=0).numpy()
        state.values[:] = self.keep * state.values + (1 - self.keep) * self._source
        write(self._moving, state.values)


def _weights(logits: torch.Tensor, trend: torch.Tensor) -> torch.Tensor:
    diversity = _spread_out(1 - cosine_similarity(logits.softmax(dim=1), trend[None], dim=1))
    certainty = _spread_out(-entropies(logits))
    weights = torch.exp(diversity * certainty / _TEMPERATURE)
    return torch.where(diversity >= diversity.mean(), weights, 0)


def _spread_out(x: torch.Tensor) -> torch.Tensor:
    """Numbers moved and scaled to 0 ... 1."""
    return (x - x.min()) / (x.max() - x.min()).clamp(min=1e-12)


RIVALS = (
    Rival(
        name="roid",
        title="ROID",
        about="weighted gradients, averaged with the weights at rest, and the correction of the prior",
        method=Roid,
        reads="frames",
        ranges={
            "learning_rate": RATE,
            "window": Range(4, 64, log=True, whole=True),
            "keep": Choice((0.9, 0.99, 0.999, 1.0)),
            "correct_prior": Choice((True, False)),
            "statistics": Choice(("stored", "seen")),
        },
        microseconds=20_000,
    ),
)
