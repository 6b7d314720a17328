"""The paper's four networks: two that see single frames (MLP, CNN), two that keep a state (RNN, LSTM).

Methods, "ANN training and testing". Each is `features` followed by one linear layer, `head`, with 11 outputs: the ten
digits and noise. The soft-max belongs to the loss. Frames come in as brightness 0 ... 1.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from torch.nn import functional

import torch
from springback import check
from springback.streaming.records import Images, Video
from springback_paper.baselines.torch_state import seeded
from torch import Tensor, nn

N_OUTPUTS = 11
MOST_UNITS, MOST_FILTERS = 100_000, 1000
"""Of a layer; the size of more would no longer be a number of bytes."""

SIDE = 28
"""Height and width of a frame in pixels."""

State = tuple[Tensor, ...]
"""What a recurrent network keeps between frames: (hidden,) or (hidden, cell), each (1, lanes, n_hidden)."""


class StillModel(nn.Module):
    """A network that sees one frame at a time: float32 (n, 28, 28) -> logits (n, 11)."""

    kind: ClassVar[str]
    shape: dict[str, Any]
    head: nn.Linear

    def features(self, x: Tensor) -> Tensor:
        """What the last layer receives, (n, n_hidden)."""
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Logits (n, 11) of frames."""
        logits: Tensor = self.head(self.features(x))
        return logits


class Mlp(StillModel):
    """One hidden layer of rectified units: 784 - n_hidden - 11.

    Examples
    --------
    >>> n_parameters(Mlp()), n_parameters(Mlp(n_hidden=400))
    (31851, 318411)
    """

    kind = "mlp"

    def __init__(self, *, n_hidden: int = 40, seed: int = 0) -> None:
        super().__init__()
        self.shape = {"n_hidden": check.integer("n_hidden", n_hidden, low=1, high=MOST_UNITS)}
        with seeded(seed):
            self.hidden = nn.Linear(SIDE * SIDE, n_hidden)
            self.head = nn.Linear(n_hidden, N_OUTPUTS)

    def features(self, x: Tensor) -> Tensor:
        """The hidden units, (n, n_hidden)."""
        return functional.relu(self.hidden(x.flatten(1)))


class Cnn(StillModel):
    """Twice 5 x 5 filters, rectification and 2 x 2 pooling, then a rectified layer with dropout, then the outputs.

    Filters keep the size of the image (zeros around it). Pooling stands before the rectification, which is the same
    function and less work.

    Examples
    --------
    >>> n_parameters(Cnn())
    163427
    """

    kind = "cnn"

    def __init__(self, *, n_filters: int = 8, n_hidden: int = 400, dropout: float = 0.4, seed: int = 0) -> None:
        super().__init__()
        check.integer("n_filters", n_filters, low=1, high=MOST_FILTERS)
        check.integer("n_hidden", n_hidden, low=1, high=MOST_UNITS)
        check.real("dropout", dropout, low=0, high=1)
        self.shape = {"n_filters": n_filters, "n_hidden": n_hidden, "dropout": dropout}
        with seeded(seed):
            self.first = nn.Conv2d(1, n_filters, 5, padding=2)
            self.second = nn.Conv2d(n_filters, n_filters, 5, padding=2)
            self.hidden = nn.Linear(n_filters * (SIDE // 4) ** 2, n_hidden)
            self.head = nn.Linear(n_hidden, N_OUTPUTS)
        self.dropout = nn.Dropout(dropout)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def features(self, x: Tensor) -> Tensor:
        """The rectified layer, (n, n_hidden); with dropout while training."""
        x = x.unsqueeze(1).contiguous(memory_format=torch.channels_last)
        x = functional.relu(functional.max_pool2d(self.first(x), 2))
        x = functional.relu(functional.max_pool2d(self.second(x), 2))
        hidden: Tensor = self.dropout(functional.relu(self.hidden(x.flatten(1))))
        return hidden


class SequenceModel(nn.Module):
    """A network that keeps a state: float32 (time, lanes, 28, 28) and a state -> logits (time, lanes, 11) and a state.

    One bias per unit and none at the outputs: with 90 LSTM cells these are the paper's 315,990 parameters.
    """

    kind: ClassVar[str]
    shape: dict[str, Any]
    cells: nn.RNNBase
    head: nn.Linear

    def __init__(self, cells: Callable[[int, int], nn.RNNBase], n_hidden: int, seed: int) -> None:
        super().__init__()
        self.shape = {"n_hidden": check.integer("n_hidden", n_hidden, low=1, high=MOST_UNITS)}
        with seeded(seed):
            self.cells = cells(SIDE * SIDE, n_hidden)
            self.head = nn.Linear(n_hidden, N_OUTPUTS, bias=False)
        second_bias = self.cells.get_parameter("bias_hh_l0")
        nn.init.zeros_(second_bias.requires_grad_(False))

    def features(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """What the last layer receives, (time, lanes, n_hidden), and the state after the last frame."""
        raise NotImplementedError

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Logits of each frame of the sequences, and the state after the last."""
        hidden, state = self.features(x, state)
        return self.head(hidden), state


class Rnn(SequenceModel):
    """A layer of fully recurrent tanh units: 784 - n_hidden - 11.

    Examples
    --------
    >>> logits, state = Rnn(n_hidden=5)(torch.zeros(3, 2, 28, 28))
    >>> logits.shape, [part.shape for part in state], n_parameters(Rnn())
    (torch.Size([3, 2, 11]), [torch.Size([1, 2, 5])], 478400)
    """

    kind = "rnn"

    def __init__(self, *, n_hidden: int = 400, seed: int = 0) -> None:
        super().__init__(nn.RNN, n_hidden, seed)

    def features(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """The hidden units, (time, lanes, n_hidden), and the state after the last frame."""
        hidden, last = self.cells(x.flatten(2), None if state is None else state[0])
        return hidden, (last,)


class Lstm(SequenceModel):
    """A layer of long short-term memory cells: 784 - n_hidden - 11.

    Examples
    --------
    >>> n_parameters(Lstm())
    315990
    """

    kind = "lstm"

    def __init__(self, *, n_hidden: int = 90, seed: int = 0) -> None:
        super().__init__(nn.LSTM, n_hidden, seed)

    def features(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """The outputs of the cells, (time, lanes, n_hidden), and the state after the last frame."""
        hidden, last = self.cells(x.flatten(2), state)
        return hidden, last


MODELS: dict[str, Callable[..., StillModel | SequenceModel]] = {one.kind: one for one in (Mlp, Cnn, Rnn, Lstm)}
"""By kind."""


def check_size(frames: Images | Video) -> None:
    """Refuse frames of another size than 28 x 28.

    Examples
    --------
    >>> import numpy as np
    >>> check_size(Images(np.zeros((1, 20, 28), np.uint8), np.array([4])))
    Traceback (most recent call last):
    ValueError: the frames must be 28 x 28 pixels; got (20, 28)
    """
    shape = frames.pixels.shape[1:] if isinstance(frames, Images) else frames.frame_shape
    check.require(shape == (SIDE, SIDE), "the frames", f"be {SIDE} x {SIDE} pixels", shape)


def n_parameters(model: nn.Module) -> int:
    """How many numbers training sets.

    Examples
    --------
    >>> n_parameters(nn.Linear(3, 2))
    8
    """
    return sum(weights.numel() for weights in model.parameters() if weights.requires_grad)
