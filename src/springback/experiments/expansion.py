"""A neuron takes on a form of its digit that it never learned, for as long as it is shown.

Supplement, "ST-STDP temporarily reshapes the internal representation of neurons" (Fig. weirdtail).

Only a synapse with `c + (1 - c) W > 0` can be pulled. With c < 0, as in the preset tuned for accuracy, weak synapses
never are: a neuron strengthens what it knows. Here c > 0, so that every synapse can be pulled.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from springback import check, readout
from springback.experiments.active_neurons import digit_stretches, short_term_after_each, spikes_to
from springback.records import NOISE_LABEL, Video
from springback.spiking.model_file import SpikingModel
from springback.spiking.presets import Preset


@dataclass(frozen=True, kw_only=True, eq=False)
class Expansion:
    """One digit that a neuron recognises to its last frame by ink that its weights hardly know.

    label, digit        its class, and which source image of the video it is
    video               the name of the video
    c                   weight dependence of the pull
    neuron              the neuron that fires most in the last frame
    unfamiliar          share of the ink of the last frame on synapses weaker than the neuron's average, in percent
    candidates          (m,) this share for every digit that was kept, in the order of the video
    n_tried             how many digits of the class were shown
    frames              (n, height, width) uint8, the frames of the digit, with the rows hidden (n,) int16
    spikes              (n,) output spikes of the neuron in each frame
    static_spikes       (n,) the same without short-term STDP
    resting             (height, width) its weights W
    efficacy            (height, width) its efficacies G = W + F at the end of the last frame
    relaxed             (height, width) G at the end of the noise after the digit
    resting_overlap, efficacy_overlap   cosine of the last frame with W and with G
    """

    label: int
    digit: int
    video: str
    c: float
    neuron: int
    unfamiliar: float
    candidates: NDArray[np.float64]
    n_tried: int
    frames: NDArray[np.uint8]
    rows_hidden: NDArray[np.int16]
    spikes: NDArray[np.int32]
    static_spikes: NDArray[np.int32]
    resting: NDArray[np.float32]
    efficacy: NDArray[np.float32]
    relaxed: NDArray[np.float32]
    resting_overlap: float
    efficacy_overlap: float


def run(
    model: SpikingModel,
    preset: Preset,
    video: Video,
    *,
    label: int = 9,
    c: float = 0.1,
    n_digits: int = 200,
    seed: int = 0,
) -> Expansion:
    """Of the first `n_digits` of a class, the one that is kept by the most unfamiliar ink.

    Kept: the last frame of the digit is answered rightly, the neuron that fires most in it is of the right class, and
    this neuron already fired in the first frame. Every digit is shown from rest.
    """
    check.integer("n_digits", n_digits, low=1)
    widened = replace(preset, short_term=replace(preset.short_term, c=check.real("c", c, high=1)))
    tried = digit_stretches(video, label)[:n_digits]
    kept: list[tuple[float, Video, int]] = []
    for shown in tried:
        counts = spikes_to(model, widened, shown, widened.short_term, seed=seed)
        last = _n_shown(shown) - 1
        neuron = int(counts[last].argmax())
        right = readout.classify(counts[last : last + 1], model.neuron_labels)[0] == label
        if right and model.neuron_labels[neuron] == label and counts[0, neuron] > 0:
            kept.append((unfamiliar_ink(shown.frames[last], model.weights.resting[:, neuron]), shown, neuron))
    check.require(len(kept) > 0, "video", f"show a {label} that is recognised to its last frame", f"{len(tried)} lost")
    share, shown, neuron = max(kept, key=lambda one: one[0])
    n = _n_shown(shown)
    resting = model.weights.resting[:, neuron]
    short_term = [now[:, neuron] for now in short_term_after_each(model, widened, shown, seed=seed)]
    efficacy, relaxed = resting + short_term[n - 1], resting + short_term[-1]
    return Expansion(
        label=label,
        digit=int(shown.digit[0]),
        video=video.name,
        c=c,
        neuron=neuron,
        unfamiliar=share,
        candidates=np.array([one for one, _, _ in kept]),
        n_tried=len(tried),
        frames=shown.frames[:n],
        rows_hidden=shown.rows_hidden[:n],
        spikes=spikes_to(model, widened, shown, widened.short_term, seed=seed)[:n, neuron],
        static_spikes=spikes_to(model, widened, shown, None, seed=seed)[:n, neuron],
        resting=resting.reshape(shown.frame_shape),
        efficacy=efficacy.reshape(shown.frame_shape),
        relaxed=relaxed.reshape(shown.frame_shape),
        resting_overlap=_cosine(shown.frames[n - 1], resting),
        efficacy_overlap=_cosine(shown.frames[n - 1], efficacy),
    )


def unfamiliar_ink(frame: NDArray[np.uint8], resting: NDArray[np.float32]) -> float:
    """Percent of a frame's ink on synapses that are weaker than the neuron's average; 0 if there is no ink.

    >>> unfamiliar_ink(np.array([[100, 50], [50, 0]], np.uint8), np.array([0.9, 0.1, 0.8, 0.0], np.float32))
    25.0
    """
    ink = frame.astype(np.float64).ravel()
    return float(100 * ink[resting < resting.mean()].sum() / max(ink.sum(), 1.0))


def _n_shown(video: Video) -> int:
    return int((video.labels != NOISE_LABEL).sum())


def _cosine(frame: NDArray[np.uint8], synapses: NDArray[np.float32]) -> float:
    ink = frame.astype(np.float64).ravel()
    lengths = float(np.linalg.norm(ink)) * float(np.linalg.norm(synapses))
    return float(ink @ synapses) / max(lengths, 1e-12)
