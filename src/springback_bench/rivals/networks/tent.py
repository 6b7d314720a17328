"""Entropy minimisation in the normalisation layers of a network (Wang et al. 2021, "Tent", ICLR)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import torch
from springback.heads.search import Choice
from springback_bench.rivals.networks.network_classifier import AdamState, NetworkClassifier, entropies
from springback_bench.rivals.rival import RATE, Rival
from torch import nn


class Tent(NetworkClassifier):
    """After each frame, the scales and shifts of a network take a step towards a more certain answer to it.

    The step follows the gradient of the entropy of the answer, by Adam, as in the article's experiments on small
    images. The answer is the one before the step. The article takes batches of 64 or more frames and normalises by
    their statistics; at batch size one, "seen" statistics are those of a single frame, and the method is known to
    collapse.

    Input: frames (T, *frame_shape). The method has no notion of time: `relax` and gaps between time stamps change
    nothing.

    Parameters
    ----------
    network : nn.Module
        A network with normalisation layers; a copy is adapted.
    frame_shape : Sequence[int]
        Shape of one frame.
    learning_rate : float
        Step of Adam; the default is that of the article. 0, with "stored" statistics: the network as it is.
    statistics : str
        What batch normalisation normalises with: "seen", the frame itself, or "stored", as in training.

    Examples
    --------
    >>> torch.manual_seed(0)  # doctest: +ELLIPSIS
    <torch...>
    >>> model = Tent(nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 2)), (4,), learning_rate=0.1)
    >>> bool((np.diff(model.track([[1.0, 0.0, 0.0, 2.0]] * 5).max(axis=1)) > 0).all())
    True
    """

    def __init__(
        self,
        network: nn.Module,
        frame_shape: Sequence[int],
        *,
        learning_rate: float = 0.001,
        statistics: str = "seen",
    ) -> None:
        super().__init__(network, frame_shape, learning_rate=learning_rate, statistics=statistics)

    def _init(self) -> AdamState:
        return self._adam()

    def _answer(self, state: AdamState, frame: torch.Tensor) -> NDArray[Any]:
        with torch.enable_grad():
            logits = self._network(frame)
            self._descend(state, entropies(logits).mean())
        return np.asarray(logits.detach().softmax(dim=1)[0])


RIVALS = (
    Rival(
        name="tent",
        title="TENT",
        about="scales and shifts inside the network follow the gradient of the entropy",
        method=Tent,
        reads="frames",
        ranges={"learning_rate": RATE, "statistics": Choice(("stored", "seen"))},
        microseconds=5_000,
    ),
)
