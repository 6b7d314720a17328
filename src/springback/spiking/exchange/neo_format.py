"""A recording as a Neo block, which elephant and the readers and writers of Neo take (extra: neo)."""

from typing import Any

import numpy as np

from springback.extras import require_extra
from springback.spiking.exchange.spikes import populations_of
from springback.spiking.monitors.recording import Recording, Samples


def to_neo(recording: Recording, *, name: str = "springback") -> Any:
    """A `neo.Block` with one segment: the spike trains of all neurons, and a signal for each monitor.

    Spike trains of inhibitory partners and of inputs follow those of the neurons if they were recorded; the annotation
    `population` of a train says which it is, and `source_index` its number. Samples at regular intervals become an
    `AnalogSignal`, others an `IrregularlySampledSignal`. The columns of a signal are neurons, inputs or synapses; array
    annotations say which.

    Examples
    --------
    >>> from springback.extras import is_installed
    >>> if is_installed("neo"):
    ...     from springback.data.pretrained import shipped_digits, shipped_spiking
    ...     from springback.spiking import SpikingClassifier, Monitor, Recorder
    ...     recorder = Recorder([Monitor("potential_mv", neurons=[3, 7])])
    ...     _ = SpikingClassifier.of(shipped_spiking()).track(shipped_digits().pixels[:1], recorder=recorder)
    ...     segment = to_neo(recorder.recording()).segments[0]
    ...     assert len(segment.spiketrains) == 400
    ...     assert segment.analogsignals[0].shape == (700, 2)
    """
    require_extra("to_neo", "neo")
    import neo

    segment = neo.Segment(name=name)
    for population, spikes in populations_of(recording).items():
        for train in spikes.neo():
            train.annotate(population=population)
            train.name = f"{population} {train.annotations['source_index']}"
            segment.spiketrains.append(train)
    for one in recording.samples.values():
        signal = _signal(one)
        held = segment.analogsignals if hasattr(signal, "sampling_rate") else segment.irregularlysampledsignals
        held.append(signal)
    block = neo.Block(name=name, springback_dt_ms=recording.dt_ms)
    block.segments.append(segment)
    return block


def _signal(samples: Samples) -> Any:
    import neo
    import quantities as pq

    values = samples.values
    width = values[0].size if len(values) else int(np.prod(values.shape[1:]))
    columns = np.array([getattr(samples, axis) for axis in samples.quantity.axes[-1:]])[0]
    places = {samples.quantity.axes[-1].removesuffix("s"): columns}
    if len(samples.quantity.axes) == 2:
        inputs, neurons = np.meshgrid(samples.inputs, samples.neurons, indexing="ij")
        places = {"input": inputs.ravel(), "neuron": neurons.ravel()}
    about = {
        "name": samples.name,
        "description": samples.quantity.says,
        "array_annotations": places,
    }
    unit = pq.mV if samples.quantity.unit == "mV" else pq.dimensionless
    flat, step = values.reshape(len(values), width), samples.step
    dt = samples.dt_ms * pq.ms
    apart = np.diff(step)
    if len(step) > 1 and bool((apart == apart[0]).all()):
        return neo.AnalogSignal(
            flat, units=unit, sampling_period=int(apart[0]) * dt, t_start=(int(step[0]) + 1) * dt, **about
        )
    return neo.IrregularlySampledSignal((step + 1) * dt, flat, units=unit, time_units=pq.ms, **about)
