"""Choosing how the head of a model remembers, on recorded streams, with labels or without."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import torch
from springback import check
from springback.heads.tuning_result import VARIANTS, Trial, TuningResult, Variant
from springback.torch._layer_calls import refuse_unused, watch_calls
from springback.torch._model_output import class_axis
from springback.torch.elastic_layer import Centre, centre_of
from springback.torch.finding import find_head, possible_layers
from springback.torch.following import check_frames
from springback.torch.plain import deelasticize
from torch import Tensor, nn


@torch.no_grad()
def tune_elastic(
    model: nn.Module,
    frames: Tensor,
    labels: Tensor | None = None,
    *,
    times: Any = None,
    layer: str | None = None,
    centre: Centre | None = None,
    variants: Sequence[Variant] = VARIANTS,
    n_trials: int = 45,
    seed: int = 0,
    images_at_once: int = 1024,
    on_trial: Callable[[Trial], None] = lambda _: None,
) -> TuningResult:
    """Choose the kind of memory of a model's head and its settings on frames (T, B, ...) of training streams.

    The network runs once over the frames, and does not change; `springback.heads.tune_head` then tries settings on what
    the head received, which is compiled code. Each of the B streams begins at rest. Apply what was found with
    `tuned.elasticize(model)`.

    Parameters
    ----------
    labels : Tensor | None
        (T, B), negative where unknown: the score is the accuracy of the head. Without labels it is the agreement
        with two observers that have hindsight; see `springback.heads.tune_head`.
    times : Any
        When the frames come, (T,) or (T, B), in any unit; one step apart if not given.
    layer : str | None
        Name of the head; `find_head` if None.
    centre : Centre | None
        Mean of the features that the head receives, (n,); None: of those of `frames`.
    variants : Sequence[Variant]
        Which kinds of memory to try: "springs", "classes", "observer", "learning".
    n_trials : int
        Number of settings tried for each variant.
    seed : int
        Of the search.
    on_trial : Callable[[Trial], None]
        Receives every trial as soon as it is scored.

    Examples
    --------
    >>> model = nn.Linear(2, 2, bias=False)
    >>> model.weight.data = 5 * torch.eye(2)
    >>> turning = torch.tensor([[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0], [0.0, 1.0], [0.0, 1.0]]).unsqueeze(1)
    >>> labels = torch.tensor([[0], [0], [0], [0], [1], [1]])
    >>> tuned = tune_elastic(model, turning.repeat(1, 3, 1), labels.repeat(1, 3), n_trials=20)
    >>> round(tuned.score_at_rest, 3), round(tuned.score, 3)
    (0.833, 1.0)
    """
    from springback.heads.tuning import tune_head  # compiled code, which layers that are not tuned do without

    check.integer("images_at_once", images_at_once, low=1)
    name, head, features = _what_the_head_sees(model, layer, frames, images_at_once)
    mean = centre_of(centre, head)
    weight, bias = _weights(head)
    found = tune_head(
        _array(weight),
        np.zeros(len(weight), np.float32) if bias is None else _array(bias),
        [_array(stream) for stream in features.unbind(dim=1)],
        None if labels is None else _labels(labels, tuple(frames.shape[:2])),
        times=None if times is None else _of_each_stream(times, frames.shape[1]),
        centre=None if mean is None else _array(mean),
        variants=variants,
        n_trials=n_trials,
        seed=seed,
        on_trial=on_trial,
    )
    return dataclasses.replace(found, layer=name)


def _array(values: Tensor) -> NDArray[Any]:
    return np.ascontiguousarray(values.detach().float().cpu().numpy())


def _of_each_stream(times: Any, n_streams: int) -> list[NDArray[Any]]:
    """Time stamps (T,) or (T, B) as those of each stream."""
    stamps = np.asarray(times)
    return [stamps] * n_streams if stamps.ndim < 2 else list(stamps.T)


def _labels(labels: Tensor, wanted: tuple[int, ...]) -> list[NDArray[Any]]:
    """Labels (T, B) as one array for each stream."""
    check.require(tuple(labels.shape) == wanted, "labels", f"have shape {wanted}, (time, streams)", tuple(labels.shape))
    if labels.is_floating_point():
        raise TypeError(f"labels must be whole numbers, negative where unknown; got {labels.dtype}")
    return list(labels.cpu().numpy().T)


def _what_the_head_sees(
    model: nn.Module, layer: str | None, frames: Tensor, images_at_once: int
) -> tuple[str, nn.Module, Tensor]:
    """The name of the head, the head as an ordinary layer, and its inputs (T, B, n); nothing of the model moves."""
    check_frames(frames)
    plain = deelasticize(model).eval()
    images = frames.flatten(0, 1)
    name = find_head(plain, images[:2]) if layer is None else layer
    head = possible_layers(plain).get(name)
    if head is None:
        raise ValueError(f"layer must name a linear layer of the model; got {layer!r}")
    inputs: list[Tensor] = []
    with watch_calls({name: head}, lambda _, input, __: inputs.append(input)):
        for first in range(0, len(images), images_at_once):
            plain(images[first : first + images_at_once])
    refuse_unused([] if inputs else [name], plain)
    features = torch.cat(inputs)
    if class_axis(head) == 1:
        features = features.movedim(1, -1).flatten(0, -2)
    weight, bias = _weights(head)
    wanted = (len(images), weight.shape[1])
    if features.shape != wanted:
        raise ValueError(
            f"layer {name!r} must be called once per image with one row, (images, {weight.shape[1]}); "
            f"{len(images)} images gave it {tuple(features.shape)}"
        )
    check.require(bool(features.isfinite().all()), "frames", f"give layer {name!r} finite inputs", "NaN or infinity")
    outputs = nn.functional.linear(features, weight, bias)
    differ = bool(((outputs.amax(dim=-1) - outputs.amin(dim=-1)).median() > 0).item())
    check.require(differ, "frames", "give the frozen model outputs that differ between classes", "equal outputs")
    return name, head, features.reshape(*frames.shape[:2], -1)


def _weights(head: Any) -> tuple[Tensor, Tensor | None]:
    """Weights (K, n) and biases (K,) of a linear layer or a convolution with a kernel of one pixel."""
    return head.weight.flatten(1), head.bias
