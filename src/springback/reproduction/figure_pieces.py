"""The figures' experiments as pieces: each is handed the trained network and the digits it asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.experiments import (
    active_neurons,
    expansion,
    head_recognition,
    mechanisms,
    parameter_sweeps,
    plasticity_window,
    principal_path,
    synapse_snapshots,
    synapse_trace,
    time_constant,
    world_dynamics,
)
from springback.reproduction import speed
from springback.reproduction.digits import digits, video_of_tests
from springback.spiking.presets import Preset

Inputs = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class FigurePiece:
    """What to run.

    preset  parameters of the network
    limit   use only the first images of each split; None: all
    what    parameters of the experiment itself, if it has any
    seeds   of an experiment that is repeated within the piece
    """

    preset: Preset
    limit: int | None = None
    what: Any = None
    seeds: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class OmnistFrames:
    """The first frames of the test video: frames uint8 (n, height, width), what each shows, and the rows hidden."""

    frames: NDArray[np.uint8]
    labels: NDArray[np.int64]
    rows_hidden: NDArray[np.int16]
    video: str


def frames(params: FigurePiece, seed: int, inputs: Inputs) -> OmnistFrames:  # noqa: ARG001
    """Fig. 3a: the beginning of the video."""
    video = video_of_tests(params.limit, seed)
    shown = video.stretch(0, min(36, len(video)))
    return OmnistFrames(frames=shown.frames, labels=shown.labels, rows_hidden=shown.rows_hidden, video=video.name)


def window(params: FigurePiece, seed: int, inputs: Inputs) -> plasticity_window.PlasticityWindow:  # noqa: ARG001
    """Fig. 2b: with the paper's own parameters."""
    return plasticity_window.run(params.preset.short_term)


def active(params: FigurePiece, seed: int, inputs: Inputs) -> active_neurons.ActiveNeurons:
    """Fig. 3c."""
    return active_neurons.run(*_network(params, seed, inputs), seed=seed)


def snapshots(params: FigurePiece, seed: int, inputs: Inputs) -> synapse_snapshots.SynapseSnapshots:
    """Fig. 3d."""
    return synapse_snapshots.run(*_network(params, seed, inputs), seed=seed)


def trace(params: FigurePiece, seed: int, inputs: Inputs) -> synapse_trace.SynapseTrace:
    """Fig. 3e."""
    return synapse_trace.run(*_network(params, seed, inputs), seed=seed)


def expand(params: FigurePiece, seed: int, inputs: Inputs) -> expansion.Expansion:
    """Supplement: temporary expansion."""
    return expansion.run(*_network(params, seed, inputs), seed=seed)


def path(params: FigurePiece, seed: int, inputs: Inputs) -> principal_path.PrincipalPath:
    """Supplement: elastic clustering seen on a plane."""
    return principal_path.run(*_network(params, seed, inputs), seed=seed)


def turn_head(params: FigurePiece, seed: int, inputs: Inputs) -> head_recognition.HeadAnswers:  # noqa: ARG001
    """Supplement: a head turning from profile to front."""
    return head_recognition.run(params.what, seed=seed)


def sweep(params: FigurePiece, seed: int, inputs: Inputs) -> parameter_sweeps.ParameterSweepsResult:  # noqa: ARG001
    """Accuracy against c, pull and intensity, on training digits."""
    model = inputs["network"].model(params.preset)
    train = digits("train", params.limit)
    return parameter_sweeps.run(params.what, model, params.preset, train, seeds=params.seeds)


def take_apart(params: FigurePiece, seed: int, inputs: Inputs) -> mechanisms.MechanismsResult:  # noqa: ARG001
    """What each mechanism brings."""
    model = inputs["network"].model(params.preset)
    return mechanisms.run(params.what, model, params.preset, digits("test", params.limit), seeds=params.seeds)


def vary_time_constant(
    params: FigurePiece,
    seed: int,  # noqa: ARG001
    inputs: Inputs,
) -> time_constant.TimeConstantResult:
    """Accuracy against the time constant of short-term plasticity."""
    model = inputs["network"].model(params.preset)
    still, tests = digits("train", params.limit), digits("test", params.limit)
    return time_constant.run(params.what, model, params.preset, still, tests, seeds=params.seeds)


def vary_worlds(params: FigurePiece, seed: int, inputs: Inputs) -> world_dynamics.WorldDynamicsResult:  # noqa: ARG001
    """The theory on the random continuous environment."""
    return world_dynamics.run(params.what, seed)


def time_engines(params: FigurePiece, seed: int, inputs: Inputs) -> speed.Speed:  # noqa: ARG001
    """Images and frames per second on this machine."""
    return speed.measure(inputs["network"].model(params.preset), params.preset, digits("train", params.limit))


def _network(params: FigurePiece, seed: int, inputs: Inputs) -> tuple[Any, Preset, Any]:
    return inputs["network"].model(params.preset), params.preset, video_of_tests(params.limit, seed)
