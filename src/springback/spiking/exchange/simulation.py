"""A trained model that receives spikes instead of frames."""

from typing import Any

from springback import check
from springback.spiking.exchange.sources import is_pair, spikes_from
from springback.spiking.model import SpikingModel
from springback.spiking.monitors.recorder import Recorder
from springback.spiking.monitors.recording import Recording
from springback.spiking.recorded_runs import RunState, simulate_spikes
from springback.spiking.weights import Weights


def simulate(
    model: SpikingModel,
    source: Any,
    *,
    adapts: bool = True,
    recorder: Recorder | None = None,
    state: RunState | None = None,
    **form: Any,
) -> Recording:
    """Run a trained model on spikes of another program, with the short-term STDP and thresholds of its streams.

    Parameters
    ----------
    source : Any
        Spikes in any form that `spikes_from` takes.
    adapts : bool
        Whether short-term STDP is on.
    recorder : Recorder | None
        What to record in addition to the spikes.
    state : RunState | None
        Continue from the state of an earlier recording; None: from rest.
    form : Any
        The unit and other options of `spikes_from`.

    Examples
    --------
    >>> import numpy as np
    >>> from springback.data.pretrained import shipped_digits, shipped_spiking
    >>> digit = shipped_digits().pixels[10].ravel() > 128
    >>> pixels = np.repeat(np.flatnonzero(digit), 30)  # each lit pixel spikes 30 times within 350 ms
    >>> times = np.random.default_rng(0).uniform(0, 350, len(pixels))
    >>> run = simulate(shipped_spiking(), (times, pixels), unit="ms", duration_s=0.35)
    >>> run.n_steps, shipped_spiking().neuron_labels[np.bincount(run.out_index).argmax()]
    (700, np.int64(1))
    """
    preset = model.preset
    circuit = preset.circuit
    if is_pair(source):
        form = {"n_sources": circuit.n_inputs, **form}
    spikes = spikes_from(source, **form)
    must = f"have {circuit.n_inputs} sources, as the model has inputs"
    check.require(spikes.n_sources == circuit.n_inputs, "the spikes", must, spikes.n_sources)
    index, step, n_steps = spikes.steps(circuit.dt_ms)
    shift = model.weights.theta.dtype.type(preset.streaming.threshold_shift_mv)
    return simulate_spikes(
        Weights(model.weights.resting, model.weights.theta + shift),
        index,
        step,
        n_steps,
        circuit=circuit,
        short_term=preset.short_term if adapts else None,
        recorder=recorder,
        state=state,
    )
