"""States of the streams of an elastic model of PyTorch, for `springback.heads.KeyedStreams`."""

from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

import torch
from springback import check
from springback.heads.keyed_states import BatchedStates
from springback.streaming.records import Followed
from springback.streaming.stream_classifier import refuse_overflow
from springback.torch import algorithm
from springback.torch._layer_calls import refuse_not_finite
from springback.torch._model_output import answer_of
from springback.torch.elastic_layer import Pass
from springback.torch.following import all_layers, memory_in, refuse_training
from springback.torch.plain import elastic_layers
from torch import Tensor, nn


class ModuleStates(BatchedStates):
    """States of an elastic model: what each of its elastic layers remembers of a row, on the device of the layer.

    The streams are the rows that the elastic layers receive: one for each image of a batch, for each box of a detector,
    or for each token, (streams, positions), row by row.
    """

    kind, rows_in_frames = "elastic model", True

    def __init__(self, model: nn.Module) -> None:
        self._model, self._layers = model, elastic_layers(model)
        check.require(len(self._layers) > 0, "the model", "be elastic; call elasticize(model)", type(model).__name__)
        refuse_training(model)
        rest = [algorithm.init(layer.settings, layer.matrix, 1) for layer in self._layers.values()]
        names = [f"{name}.{part}" for name, state in zip(self._layers, rest, strict=True) for part in state._fields]
        self._kinds = [type(state) for state in rest]
        memories = {layer.settings.memory for layer in self._layers.values()}
        unit = memory_in(list(self._layers.values()))
        super().__init__(tuple(part for state in rest for part in state), names, max(memories), unit)

    def frames(self, X: Any) -> Tensor:
        """Finite frames, as the model takes them."""
        frames = torch.as_tensor(X)
        refuse_not_finite("X", frames)
        return frames

    @torch.no_grad()
    def _run(self, parts: list[Tensor], frames: Tensor, gaps: NDArray[np.float64]) -> tuple[Followed, list[Tensor]]:
        refuse_training(self._model)
        rest = iter(parts)
        states = [kind(*(next(rest) for _ in kind._fields)) for kind in self._kinds]
        head, passes, answers = list(self._layers.values())[-1], list[Pass](), list[Followed]()
        with all_layers(self._model) as layers, ExitStack() as stack:
            for layer, state in zip(layers.values(), states, strict=True):
                stack.enter_context(layer.holding(state))
            stack.enter_context(head.reporting(passes.append))
            for frame, gap in zip(frames, gaps, strict=True):
                with ExitStack() as now:
                    for layer in layers.values():
                        now.enter_context(layer.frames_after([gap]))
                    output = head._rows_of_output(answer_of(self._model, self._model(frame)))
                fits = len(output) == len(gap)
                check.require(fits, "the model", f"answer with {len(gap)} rows, one for each key", len(output))
                answers.append(self._followed(output, passes))
                passes.clear()
        if not answers:
            empty = np.empty((0, head.matrix.shape[0]))
            answers = [Followed(empty, empty, np.empty(0), empty)]
        return Followed.joined(answers), [part for state in states for part in state]

    def _followed(self, output: Tensor, passes: list[Pass]) -> Followed:
        """The answers of the head with and without memory; those of a layer that never moves are the same."""
        head = list(self._layers.values())[-1]
        elastic = passes[-1].answers if passes else output
        at_rest = nn.functional.linear(passes[-1].rows, head.matrix, head.bias) if passes else output
        posterior, frozen = (self._array(one.double().softmax(dim=-1)) for one in (elastic, at_rest))
        refuse_overflow(posterior)
        novelty = passes[-1].novelty if passes else None
        new = np.full(len(output), np.nan) if novelty is None else self._array(novelty.double())
        return Followed(posterior, frozen, new, self._array(output))

    def _together(self, parts: tuple[Any, ...]) -> Any:
        return torch.cat(parts)

    def _alone(self, part: Any, stream: int) -> Any:
        return part[stream : stream + 1].clone()

    def _array(self, part: Any) -> NDArray[Any]:
        found: NDArray[Any] = part.detach().cpu().numpy()
        return found

    def _require_possible(self, arrays: dict[str, NDArray[Any]]) -> None:
        for name, layer in self._layers.items():
            own = {key.rpartition(".")[2]: part for key, part in arrays.items() if key.rpartition(".")[0] == name}
            own.pop("clock", None)
            own.pop("pace", None)
            layer.check_state({part: torch.from_numpy(array) for part, array in own.items()})

    def unpack(self, content: bytes) -> Any:
        """The state in bytes, on the devices of the layers."""
        found = super().unpack(content)
        parts = zip(found.parts, self._rest.parts, strict=True)
        return found._replace(parts=tuple(torch.from_numpy(part).to(like.device) for part, like in parts))
