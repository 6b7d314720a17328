"""A neuron follows its input and springs back, seen on a plane (supplement, "ST-STDP realizes elastic clustering")."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.experiments.active_neurons import choose_example
from springback.records import Video
from springback.spiking.constants import steps
from springback.spiking.model_file import SpikingModel
from springback.spiking.presets import Preset
from springback.spiking.recorded import record_stream

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class PrincipalPath:
    """The way of an input and of a neuron on the plane of the first two principal components of the input's frames.

    Both are directions, vectors scaled to length one: what counts in elastic clustering is the cosine between them. The
    frames of the digit are followed by noise, and by a pause without input.

    label, digit, passed_over, meets_rule  the example, see `active_neurons.ExampleDigit`
    video                                  the name of its video
    neuron                                 the neuron that fires most while the digit is shown
    explained                              percent of the variance of the digit's frames in this plane
    input_path                             (n, 2) the frames of the digit
    resting                                (2,) W
    time_ms, neuron_path                   (samples,), (samples, 2) G = W + F
    snapshots                              which samples are the last of a frame
    n_digit, n_noise                       how many frames show the digit and the noise; the others are the pause
    spikes                                 output spikes of the neuron in all
    pulled_towards_input                   mean cosine, in the space of all pixels, between the neuron's move while it
                                           fires and the way from it to the input; 0 would be by chance
    relaxed_towards_rest                   the same between a move while it does not fire and the way to W
    """

    label: int
    digit: int
    passed_over: int
    meets_rule: bool
    video: str
    neuron: int
    explained: float
    input_path: Floats
    resting: Floats
    time_ms: Floats
    neuron_path: Floats
    snapshots: tuple[int, ...]
    n_digit: int
    n_noise: int
    spikes: int
    pulled_towards_input: float
    relaxed_towards_rest: float


def run(
    model: SpikingModel,
    preset: Preset,
    video: Video,
    *,
    label: int = 0,
    seed: int = 0,
    every_ms: float = 1.0,
    n_pause: int = 6,
) -> PrincipalPath:
    """Record the most active neuron of the example digit, and go on without input for `n_pause` frames."""
    check.integer("n_pause", n_pause, low=0)
    example = choose_example(model, preset, video, label=label, seed=seed)
    shown, neuron, dt_ms = example.video, example.neuron, model.circuit.dt_ms
    every = max(steps(check.real("every_ms", every_ms, above=0), dt_ms), 1)
    pause = np.zeros((n_pause, *shown.frame_shape), np.uint8)
    recording = record_stream(
        model.weights,
        np.concatenate([shown.frames, pause]),
        circuit=model.circuit,
        presentation=preset.streaming,
        short_term=preset.short_term,
        seed=seed,
        neurons=[neuron],
        every_steps=every,
    )
    resting = model.weights.resting[:, neuron].astype(np.float64)
    frames = _directions(shown.frames[: example.n_shown].reshape(example.n_shown, -1).astype(np.float64))
    efficacy = _directions(resting + recording.short_term[:, :, 0])
    centre, plane, explained = principal_plane(frames)
    steps_per_frame = steps(preset.streaming.show_ms, dt_ms)
    fired = recording.out_step[recording.out_index == neuron]
    samples_fired = np.bincount(-(-fired // every), minlength=len(efficacy) + 1)[: len(efficacy)] > 0
    seen = np.minimum(recording.sample_step // steps_per_frame, len(shown) + n_pause - 1)
    to_input = frames[np.minimum(seen, example.n_shown - 1)][1:] - efficacy[:-1]
    moves = np.diff(efficacy, axis=0)
    pulled = samples_fired[1:] & (seen[1:] < example.n_shown)
    relaxing = ~samples_fired[1:] & (np.abs(moves).max(axis=1) > 0)
    last_samples = [int(np.flatnonzero(seen == frame)[-1]) for frame in range(len(shown) + n_pause)]
    return PrincipalPath(
        label=label,
        digit=example.digit,
        passed_over=example.passed_over,
        meets_rule=example.meets_rule,
        video=video.name,
        neuron=neuron,
        explained=explained,
        input_path=(frames - centre) @ plane,
        resting=(_directions(resting) - centre) @ plane,
        time_ms=recording.sample_step.astype(np.float64) * dt_ms,
        neuron_path=(efficacy - centre) @ plane,
        snapshots=tuple(last_samples),
        n_digit=example.n_shown,
        n_noise=len(shown) - example.n_shown,
        spikes=len(fired),
        pulled_towards_input=_mean_cosine(moves[pulled], to_input[pulled]),
        relaxed_towards_rest=_mean_cosine(moves[relaxing], (_directions(resting) - efficacy[:-1])[relaxing]),
    )


def principal_plane(points: Floats) -> tuple[Floats, Floats, float]:
    """The mean of points (n, d), their first two principal components (d, 2), and the percent of variance in these.

    The sign of a component is such that the last point has a positive coordinate.

    >>> centre, plane, explained = principal_plane(np.array([[0.0, 1.0, 5.0], [2.0, 1.0, 5.0], [4.0, 1.0, 5.0]]))
    >>> centre, plane[:, 0].round(6), round(explained)
    (array([2., 1., 5.]), array([1., 0., 0.]), 100)
    """
    centre = points.mean(axis=0)
    _, lengths, components = np.linalg.svd(points - centre, full_matrices=False)
    plane = components[:2].T
    plane = plane * np.where((points[-1] - centre) @ plane < 0, -1.0, 1.0)
    return centre, plane, float(100 * (lengths[:2] ** 2).sum() / max((lengths**2).sum(), 1e-300))


def _directions(vectors: Floats) -> Floats:
    """Vectors scaled to length one; zero stays zero."""
    unit: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
    return unit


def _mean_cosine(one: Floats, other: Floats) -> float:
    cosines = (_directions(one) * _directions(other)).sum(axis=1)
    return float(cosines.mean()) if len(cosines) else float("nan")
