"""Spike trains from elsewhere: the events of a camera, or the spikes of another simulator, drive the circuit directly.

    python examples/spike_trains.py --out picture.png

The events are synthetic: a bar in front of a 16 x 16 event camera is upright at first and tilts by 75 degrees within
two seconds. Four neurons prefer bars at 0, 45, 90 and 135 degrees; their weights are set by hand. The circuit needs
only two arrays from your data: which input spiked, and in which time step.
"""

import argparse

import numpy as np
from matplotlib.figure import Figure

from springback.spiking import Circuit, ShortTermStdp, Weights, simulate_spikes
from springback_paper.figures.style import BLACK, ORANGE, house_style

SIDE = 16
TILTS_DEG = (0, 45, 90, 135)
CIRCUIT = Circuit(n_inputs=SIDE * SIDE, n_neurons=len(TILTS_DEG))
SHORT_TERM = ShortTermStdp(pull=0.04, weight_dependence=1.0, memory_ms=400.0, tau_trace_ms=20.0, efficacy_max=3.0)
DURATION_MS = 2500.0


def bar(tilt_deg):
    """Return how well each pixel lies on a bar through the middle, 0 ... 1, (256,)."""
    y, x = np.mgrid[:SIDE, :SIDE] - (SIDE - 1) / 2
    tilt = np.radians(tilt_deg)
    across, along = x * np.cos(tilt) + y * np.sin(tilt), y * np.cos(tilt) - x * np.sin(tilt)
    return (np.exp(-((across / 1.3) ** 2)) * (abs(along) < 7.5)).ravel()


def tilt_at(time_ms):
    """Return the tilt: 0 degrees for the first 300 ms, 75 degrees after 2,300 ms."""
    return 75 * np.clip((time_ms - 300) / 2000, 0, 1)


def events(seed=0, rate_hz=60.0):
    """Return an event list like that of a camera: times in ms (n,), addresses 0 ... 255 (n,), ordered by time."""
    rng = np.random.default_rng(seed)
    steps = np.arange(0, DURATION_MS, 1.0)
    fired = rng.random((len(steps), SIDE * SIDE)) < rate_hz / 1000 * np.array([bar(tilt_at(one)) for one in steps])
    when, address = np.nonzero(fired)
    return steps[when] + rng.uniform(0, 1, len(when)), address


def run(short_term, seed=0):
    """Feed the events to the circuit, after converting milliseconds to time steps."""
    times_ms, address = events(seed)
    weights = Weights(np.stack([bar(tilt) for tilt in TILTS_DEG], axis=1), np.full(len(TILTS_DEG), 15.0))
    return simulate_spikes(
        weights,
        address,
        (times_ms / CIRCUIT.dt_ms).astype(np.int64),
        int(DURATION_MS / CIRCUIT.dt_ms),
        circuit=CIRCUIT,
        short_term=short_term,
        neurons=[0],
        every_steps=100,
    )


def draw(static, adapting, seed=0):
    """Draw snapshots of the events, the output spikes of both circuits, and the efficacies of the neuron for 0."""
    times_ms, address = events(seed)
    moments = np.arange(0, DURATION_MS, 500.0)
    with house_style():
        figure = Figure(figsize=(7.2, 4.6), layout="constrained")
        top, middle, bottom = figure.subfigures(3, 1, height_ratios=[1, 1.5, 1])
        for panel, start in zip(top.subplots(1, len(moments)), moments, strict=True):
            during = (times_ms >= start) & (times_ms < start + 200)
            counts = np.bincount(address[during], minlength=SIDE * SIDE)
            panel.imshow(counts.reshape(SIDE, SIDE), cmap="gray_r")
            panel.set_title(f"events, {start:.0f} ms", fontsize=7)
            panel.set_axis_off()
        axes = middle.subplots()
        for record, offset, colour, name in ((static, -0.17, BLACK, "static"), (adapting, 0.17, ORANGE, "short-term")):
            at = record.out_index + offset
            axes.plot(record.out_step * CIRCUIT.dt_ms, at, "|", color=colour, ms=7, label=name)
        axes.set_yticks(range(len(TILTS_DEG)), [f"knows {tilt}\N{DEGREE SIGN}" for tilt in TILTS_DEG])
        axes.set(xlabel="time (ms)", ylim=(-0.6, len(TILTS_DEG) - 0.4), xlim=(0, DURATION_MS))
        axes.legend(frameon=False, fontsize=7, loc="upper right")
        for panel, start in zip(bottom.subplots(1, len(moments)), moments, strict=True):
            sample = np.searchsorted(adapting.sample_step * CIRCUIT.dt_ms, start)
            efficacy = adapting.weights.resting[:, 0] + adapting.short_term[sample, :, 0]
            panel.imshow(efficacy.reshape(SIDE, SIDE), cmap="cividis", vmin=0, vmax=3)
            panel.set_title(f"G of \u201c0\N{DEGREE SIGN}\u201d, {start:.0f} ms", fontsize=7)
            panel.set_axis_off()
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="spike_trains.png")
    out = parser.parse_args().out
    static, adapting = run(None), run(SHORT_TERM)
    draw(static, adapting).savefig(out)
    late = 2300 / CIRCUIT.dt_ms
    for name, record in (("static", static), ("short-term STDP", adapting)):
        spikes = np.bincount(record.out_index[record.out_step >= late], minlength=len(TILTS_DEG))
        print(f"{name}: spikes of the four neurons in the last 200 ms {spikes.tolist()}")
