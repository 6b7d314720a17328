"""An elastic model as a pure function: frame, elapsed time and state in; answers and the next state out."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from springback.heads.memories.memory import State
from springback.torch import algorithm
from springback.torch._watch import answer_of
from springback.torch.elastic_layer import ElasticLayer, Pass
from springback.torch.plain import elastic_layers
from torch import Tensor, nn


class StatelessModel(nn.Module):
    """An elastic model that keeps nothing between two calls.

    `forward(frame, elapsed, *state)` returns `(output, probability, static, *next_state)`; the state is one tensor for
    each part of each layer, in the order of `part_names`, with the streams first and, if a stream has several
    positions, the positions second. The last elastic layer has to give the output of the model.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.layers = elastic_layers(model)
        self.head = list(self.layers.values())[-1]

    def part_names(self) -> list[str]:
        """Names of the tensors of the state: `layer.part`, or `part` if the model is a layer itself."""
        return [
            f"{name}.{part}" if name else part
            for name, layer in self.layers.items()
            for part in layer.settings.State._fields
        ]

    def at_rest(self, n_streams: int) -> list[Tensor]:
        """The state of streams without a past."""
        parts: list[Tensor] = []
        for layer in self.layers.values():
            state = algorithm.init(layer.settings, layer.matrix, n_streams * layer.rows_per_stream)
            parts += self._outside(layer, state, n_streams)
        return parts

    def forward(self, frame: Tensor, elapsed: Tensor, *state: Tensor) -> tuple[Tensor, ...]:
        """Answers to a frame (streams, ...) that comes `elapsed` (streams,) after the one before it."""
        n_streams, passes = frame.shape[0], list[Pass]()
        held = self._inside(state)
        for layer, own in zip(self.layers.values(), held, strict=True):
            rows = layer.rows_per_stream
            algorithm.wait(layer.settings, own, elapsed if rows == 1 else elapsed.repeat_interleave(rows))
        with self._held(held), self.head.reporting(passes.append):
            output = answer_of(self.model, self.model(frame))
        probability, static = self._answers(passes[0], n_streams)
        after: list[Tensor] = []
        for layer, own in zip(self.layers.values(), held, strict=True):
            after += self._outside(layer, own, n_streams)
        return (output, probability, static, *after)

    def _answers(self, passed: Pass, n_streams: int) -> tuple[Tensor, Tensor]:
        """Probabilities (streams, positions ..., K) with and without memory."""
        plain = nn.functional.linear(passed.rows, self.head.matrix, self.head.bias)
        shape = (n_streams, *self.head.positions, plain.shape[-1])
        both = [answers.softmax(dim=-1).reshape(shape) for answers in (passed.answers, plain)]
        return both[0], both[1]

    @contextmanager
    def _held(self, states: list[State]) -> Iterator[None]:
        with ExitStack() as stack:
            for layer, state in zip(self.layers.values(), states, strict=True):
                stack.enter_context(layer.holding(state))
            yield

    def _inside(self, state: tuple[Tensor, ...]) -> list[State]:
        """The state of every layer, in memory of its own, with one row for each position of each stream."""
        found, start = [], 0
        for layer in self.layers.values():
            kind = layer.settings.State
            parts = state[start : start + len(kind._fields)]
            start += len(kind._fields)
            several = layer.rows_per_stream > 1
            found.append(kind(*(part.flatten(0, 1).clone() if several else part.clone() for part in parts)))
        return found

    def _outside(self, layer: ElasticLayer, state: State, n_streams: int) -> list[Tensor]:
        if layer.rows_per_stream == 1:
            return list(state)
        return [part.reshape(n_streams, layer.rows_per_stream, *part.shape[1:]) for part in state]
