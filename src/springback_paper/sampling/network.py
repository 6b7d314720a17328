"""The sampling networks, run on still images or on a stream.

The functions are pure: they copy a state before compiled code writes to it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking._random import Draws, seed_of, stream_key
from springback.spiking._state import copied
from springback.spiking._state_check import check_n_seen
from springback.spiking.encoding import SpikeTrain, check_train
from springback.spiking.inference import each, flat_frames, frame_rows
from springback.streaming.row_scaling import moderate
from springback_paper.sampling import _kernel as kernel
from springback_paper.sampling._constants import (
    Learning,
    Neurons,
    SamplingShortTerm,
    constants_of,
    epsp_steps,
    neurons_of,
    short_term_constants,
    traces_of,
)
from springback_paper.sampling._state_check import check_sampling_state
from springback_paper.sampling.params import SamplingCircuit, SamplingStdp
from springback_paper.sampling.state import SamplingState, SamplingWeights, rest

RESPONDING, STREAMING, DRIVEN, LEARNING = range(16, 20)
"""The purpose of a presentation, which is part of the key of its random stream."""

_IMAGES_PER_SHARD = 500


class SamplingResponse(NamedTuple):
    """Output spikes of each frame, int32 (n, n_neurons), and how well the best neuron fitted, float32 (n,).

    The fit is the mean over the possible spike times of the largest cosine similarity; 0 where there was no input.
    """

    counts: NDArray[np.int32]
    similarity: NDArray[np.float32]


class SamplingStream(NamedTuple):
    """A stream: the state of its synapses and traces, and the number of frames seen."""

    state: SamplingState
    n_seen: int


def sampling_weights(resting: NDArray[Any], prior: NDArray[Any] | None = None) -> SamplingWeights:
    """Weights of any origin (a trained LIF network, EM centroids as columns), each neuron's scaled to length one.

    Parameters
    ----------
    resting : NDArray[Any]
        (n_inputs, n_neurons); negative weights are allowed.
    prior : NDArray[Any] | None
        P_k, (n_neurons,), scaled to sum to one; None: uniform.

    Examples
    --------
    >>> sampling_weights(np.array([[3.0, 0.0], [4.0, 2.0]])).resting.round(3)
    array([[0.6, 0. ],
           [0.8, 1. ]], dtype=float32)
    """
    array = np.asarray(resting, np.float64)
    check.array("resting", array, shape=(None, None), dtype=np.float64)
    array = moderate(array.T).T
    length = np.linalg.norm(array, axis=0)
    check.require(
        bool(length.size and length.min() > 0), "resting", "have a neuron, and no neuron without weights", array.shape
    )
    odds = np.ones(array.shape[1]) if prior is None else np.array(prior, np.float64)
    check.array("prior", odds, shape=(array.shape[1],), dtype=np.float64)
    check.require(bool((odds > 0).all()), "prior", "be > 0 everywhere", float(odds.min()))
    return SamplingWeights(np.ascontiguousarray(array / length, np.float32), odds / odds.sum())


def posterior(weights: SamplingWeights, x: NDArray[Any], *, circuit: SamplingCircuit) -> NDArray[np.float64]:
    """Q at rest, (..., n_neurons), for inputs (..., n_inputs): Eq. S26 or S77.

    All zero where no neuron is excited.

    Examples
    --------
    >>> two = sampling_weights(np.eye(2))
    >>> posterior(two, np.array([1.0, 0.0]), circuit=SamplingCircuit(kappa=1.0)).round(3)
    array([0.731, 0.269])
    """
    x = moderate(np.asarray(x, np.float64))
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    u = np.divide(x, length, out=np.zeros_like(x), where=length > 0) @ weights.resting.astype(np.float64)
    if circuit.neuron == "relu":
        joint = np.maximum(u + weights.prior - circuit.threshold, 0.0)
    else:
        joint = np.exp(circuit.kappa * (u - u.max(axis=-1, keepdims=True))) * weights.prior
    joint *= length > 0
    total = joint.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(joint, total, out=np.zeros_like(joint), where=total > 0))


def init(weights: SamplingWeights, circuit: SamplingCircuit) -> SamplingStream:
    """A stream at rest."""
    n_terms, window = 0, 0
    if circuit.spikes is not None:
        n_terms = len(circuit.spikes.kernel.exponentials(circuit.dt_ms).share)
        window = epsp_steps(circuit)
    n_inputs, n_neurons = weights.resting.shape
    return SamplingStream(rest(n_inputs, n_neurons, n_terms, window), 0)


def track(
    weights: SamplingWeights,
    state: SamplingStream,
    frames: NDArray[Any],
    *,
    circuit: SamplingCircuit,
    short_term: SamplingStdp | None = None,
    seed: int = 0,
) -> tuple[SamplingStream, SamplingResponse]:
    """Show a stream's next frames; returns its new state and the response to them.

    Splitting a stream into calls in any way gives the same result. With `short_term` None the weights are static.
    Frames of another shape or dtype, or with NaN, are refused. The given state is never changed, so the stream can
    continue from it.

    Parameters
    ----------
    frames : NDArray[Any]
        Any shape with n_inputs numbers per frame; uint8 if inputs spike, else uint8 or float32.

    Examples
    --------
    >>> two, circuit = sampling_weights(np.eye(2)), SamplingCircuit(kappa=20.0)
    >>> frame, stdp = np.array([[9, 1]], np.uint8), SamplingStdp(pull=0.1)
    >>> now, seen = track(two, init(two, circuit), frame, circuit=circuit, short_term=stdp)
    >>> seen.counts, short_term_of(now).round(1)
    (array([[31,  0]], dtype=int32), array([[2. , 0. ],
           [0.2, 0. ]], dtype=float32))
    """
    neurons = neurons_of(weights, circuit)
    rows = frames_of(frames, neurons.resting.shape[0], circuit)
    now, plastic = _copied(state, circuit, weights), short_term_constants(short_term, weights, circuit)
    draws = Draws(seed_of(seed), STREAMING, state.n_seen)
    response = empty_response(len(rows), weights.resting.shape[1])
    present(circuit, neurons, now, rows, draws, response, plastic)
    return SamplingStream(now, state.n_seen + len(rows)), response


def respond(
    weights: SamplingWeights, frames: NDArray[Any], *, circuit: SamplingCircuit, seed: int = 0, workers: int = 1
) -> SamplingResponse:
    """The response of the static network to still images, each seen from rest; the same for any number of workers.

    Examples
    --------
    >>> two, images = sampling_weights(np.eye(2)), np.array([[9, 0], [0, 9]], np.uint8)
    >>> respond(two, images, circuit=SamplingCircuit(kappa=20.0)).counts.argmax(axis=1)
    array([0, 1])
    """
    neurons = neurons_of(weights, circuit)
    rows = frames_of(frames, neurons.resting.shape[0], circuit)
    response = empty_response(len(rows), weights.resting.shape[1])

    def run(start: int) -> None:
        shard = slice(start, start + _IMAGES_PER_SHARD)
        part = SamplingResponse(response.counts[shard], response.similarity[shard])
        draws = Draws(seed_of(seed), RESPONDING, start)
        present(circuit, neurons, init(weights, circuit).state, rows[shard], draws, part, each_from_rest=True)

    each(run, range(0, len(rows), _IMAGES_PER_SHARD), workers)
    return response


def track_spikes(
    weights: SamplingWeights,
    state: SamplingStream,
    train: SpikeTrain,
    *,
    circuit: SamplingCircuit,
    short_term: SamplingStdp | None = None,
    seed: int = 0,
) -> tuple[SamplingStream, SamplingResponse]:
    """Like `track`, but for given input spikes: the train is treated as one frame.

    Examples
    --------
    >>> from springback.spiking.encoding import spike_train
    >>> from springback_paper.sampling import SpikingInput
    >>> two, circuit = sampling_weights(np.eye(2)), SamplingCircuit(spikes=SpikingInput())
    >>> train = spike_train(np.zeros(50, int), np.arange(50) * 10, 500)
    >>> track_spikes(two, init(two, circuit), train, circuit=circuit)[1].counts
    array([[22,  0]], dtype=int32)
    """
    check.require(circuit.spikes is not None, "SamplingCircuit.spikes", "be given to take spikes", None)
    neurons = neurons_of(weights, circuit)
    n_inputs, n_neurons = neurons.resting.shape
    check_train(train, n_inputs)
    per_step = np.diff(train.first)
    crowd = int(per_step.max(initial=0))
    check.require(crowd <= n_inputs, "spikes in one step", f"be at most {n_inputs}, one per input", crowd)
    now, traces = _copied(state, circuit, weights), traces_of(circuit, n_inputs)
    plastic = short_term_constants(short_term, weights, circuit)
    counts = np.zeros((1, n_neurons), np.int32)
    key = stream_key(seed_of(seed), DRIVEN, state.n_seen, 1)
    constants, parts = constants_of(circuit, n_neurons), (traces, plastic, None)
    summed, n_looked = kernel.run_steps(
        constants, neurons, now, train, len(per_step), np.uint64(key), counts[0], *parts
    )
    kernel.end_frame(neurons, now, traces, plastic)
    similarity = np.array([summed / n_looked if n_looked else 0.0], np.float32)
    return SamplingStream(now, state.n_seen + 1), SamplingResponse(counts, similarity)


def present(
    circuit: SamplingCircuit,
    neurons: Neurons,
    state: SamplingState,
    rows: NDArray[Any],
    draws: Draws,
    response: SamplingResponse,
    short_term: SamplingShortTerm | None = None,
    learning: Learning | None = None,
    *,
    each_from_rest: bool = False,
) -> None:
    """Show rows of frames; changes the state, fills the response and, when learning, changes the neurons."""
    constants, traces = constants_of(circuit, neurons.resting.shape[1]), traces_of(circuit, rows.shape[1])
    kernel.present_frames(
        constants, neurons, state, shown(rows, circuit), draws, each_from_rest, response, traces, short_term, learning
    )


def short_term_of(stream: SamplingStream) -> NDArray[np.float32]:
    """The current F of every synapse, (n_inputs, n_neurons)."""
    state = stream.state
    whole = np.zeros_like(state.short)
    n = int(state.common["n_members"][0])
    whole[:, state.member[:n]] = state.short[:, :n] * np.float32(state.common["scale"][0])
    return whole


def empty_response(n_frames: int, n_neurons: int) -> SamplingResponse:
    """An empty response to `n_frames` frames."""
    return SamplingResponse(np.zeros((n_frames, n_neurons), np.int32), np.zeros(n_frames, np.float32))


def frames_of(frames: NDArray[Any], n_inputs: int, circuit: SamplingCircuit) -> NDArray[Any]:
    """Frames of any shape as rows of `n_inputs` numbers."""
    if circuit.spikes is not None:
        return flat_frames(frames, n_inputs)
    if not isinstance(frames, np.ndarray):
        raise TypeError(f"frames must be a NumPy array of uint8 or float32; got {type(frames).__name__}")
    if frames.dtype not in (np.uint8, np.float32):
        raise ValueError(
            f"frames must be a NumPy array of uint8 or float32; got dtype {frames.dtype}: "
            "convert it with frames.astype(np.float32)"
        )
    rows = frame_rows(frames, n_inputs)
    return check.array("frames", rows, shape=(None, n_inputs), dtype=frames.dtype)


def shown(rows: NDArray[Any], circuit: SamplingCircuit) -> NDArray[Any]:
    """Rows of frames as the compiled loop takes them: uint8 to be encoded as spikes, float32 if analog."""
    return rows if circuit.spikes is not None else moderate(rows.astype(np.float32))


def _copied(stream: SamplingStream, circuit: SamplingCircuit, weights: SamplingWeights) -> SamplingState:
    fresh = init(weights, circuit).state
    fits = [np.shape(now) for now in stream.state] == [np.shape(new) for new in fresh]
    if not fits:
        raise ValueError(
            "state must have been made for these weights and this circuit; got one of another shape: "
            "make it with init(weights, circuit)"
        )
    check_n_seen(stream.n_seen)
    check_sampling_state(stream.state, fresh)
    return copied(stream.state)
