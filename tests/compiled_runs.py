"""Runs whose only purpose is that their functions are compiled once, before two processes of tests would each do it.

    python -m tests.compiled_runs

Besides the models of `tests.machine_runs`: heads and layers with every kind of memory and in both precisions, other
methods of adaptation, recorded runs of spiking networks and circuits of other parts. Two processes share the runs.
"""

from collections.abc import Callable
from functools import partial
from multiprocessing import get_context

import numpy as np

from springback.data.pretrained import shipped_digits, shipped_spiking
from springback.elastic import init as init_elastic
from springback.elastic import init_streams, read, relax, step_streams, track
from springback.heads import ElasticHead
from springback.spiking import Recorder, Streaming, Weights, count_operations, init, init_training, simulate_spikes
from springback.spiking import track as track_spiking
from springback.spiking import train as train_spiking
from springback_bench.speed.brian2_scripts import circuits, inputs
from springback_paper.sampling import OnlineEm, SamplingStdp, learn_resting
from springback_paper.sampling import init as init_sampling
from springback_paper.sampling import track as track_sampling
from tests import machine_runs
from tests.elastic.test_algorithm import KERNELS, PULLS, a_model, a_stream
from tests.heads.test_elastic_head import BIAS, CENTRE, ROWS, SETTINGS, WEIGHT
from tests.paper.sampling.test_network import EVERY, some_frames, some_weights
from tests.spiking.test_kernel import CIRCUIT, SHORT_TERM, STDP, STEPS, drive
from tests.streaming_models import subjects


def heads() -> None:
    for settings in SETTINGS.values():
        head = ElasticHead(WEIGHT, BIAS, settings, centre=CENTRE)
        head.track(ROWS)
        head.step(ROWS[0])


def layers() -> None:
    import torch
    from springback.torch import track
    from tests.torch.test_heads_counterpart import STREAMS, a_model

    for dtype in (torch.float64, torch.float32):
        for settings in SETTINGS.values():
            track(a_model(settings, CENTRE, dtype=dtype), torch.from_numpy(STREAMS).to(dtype))


def methods() -> None:
    """Every model that follows a stream, except for the spiking one, which `machine_runs.spiking` compiles."""
    for parameter in subjects():
        (subject,) = parameter.values
        if subject.name != "SpikingClassifier":
            subject.make().track(subject.rows)
            subject.moved().relax(1.0)


def clustering() -> None:
    """The plain functions with every kind of memory, in both precisions, and many streams at once."""
    for dtype in (np.float64, np.float32):
        _, _, rows, times = a_stream(dtype)
        for kernel in KERNELS.values():
            for pulls in PULLS.values():
                model = a_model(dtype, kernel=kernel, **pulls)
                state, _ = track(model, init_elastic(model), rows, times)
                relax(model, state, 1.0)
                read(model, state, rows)
    model = a_model()
    step_streams(model, init_streams(model, 3, 5), a_stream()[2][:3])


def given_spikes() -> None:
    """Recorded runs with every kind of plasticity, in double precision."""
    weights, index, step = drive(0)
    for kind in ({}, {"long_term": STDP}, *({"short_term": one} for one in SHORT_TERM.values())):
        simulate_spikes(weights, index, step, STEPS, circuit=CIRCUIT, **kind)


def shown_frames() -> None:
    """Frames, recorded and not, with every kind of plasticity, and given spikes; in single precision."""
    weights, index, step = drive(0)
    single = Weights(*(one.astype(np.float32) for one in weights))
    paper, own = SHORT_TERM["paper"], SHORT_TERM["one time constant per synapse"]
    for kind in ({}, {"long_term": STDP}, {"short_term": paper}, {"short_term": own}):
        simulate_spikes(single, index, step, STEPS, circuit=CIRCUIT, **kind)
    frames = np.random.default_rng(0).integers(0, 256, (2, CIRCUIT.n_inputs), dtype=np.uint8)
    shown = [(single, one, None) for one in (None, *SHORT_TERM.values())]
    shown += [(weights, None, None), (weights, paper, None), *((single, one, Recorder()) for one in (None, paper, own))]
    for given, short_term, recorder in shown:
        how = {"circuit": CIRCUIT, "presentation": Streaming(), "short_term": short_term, "recorder": recorder}
        track_spiking(given, init(given, CIRCUIT, short_term), frames, **how)
    train_spiking(init_training(CIRCUIT, STDP), frames, circuit=CIRCUIT, stdp=STDP, recorder=Recorder())


def composed() -> None:
    """Circuits of other parts: each combination has a kernel of its own."""
    for circuit in circuits().values():
        circuit.run(inputs())
    count_operations(shipped_spiking(), shipped_digits().pixels[:1])


def sampling() -> None:
    """Given and drawn input spikes, with and without plasticity, and learning from both."""
    weights, frames = some_weights(), some_frames(3)
    for circuit in EVERY.values():
        for stdp in (None, SamplingStdp(pull=1.0, memory_ms=500.0)):
            track_sampling(weights, init_sampling(weights, circuit), frames, circuit=circuit, short_term=stdp)
        learn_resting(frames, circuit=circuit, params=OnlineEm(n_neurons=3))


def machine(run: Callable[[], machine_runs.Arrays]) -> None:
    for _ in run():
        pass


RUNS: tuple[Callable[[], None], ...] = (
    shown_frames,
    given_spikes,
    partial(machine, machine_runs.spiking),
    methods,
    composed,
    clustering,
    sampling,
    partial(machine, machine_runs.sampling_networks),
    layers,
    partial(machine, machine_runs.networks),
    heads,
    partial(machine, machine_runs.elastic),
    partial(machine, machine_runs.data),
)
"""The longest first, so that both processes end at about the same time."""


def run_one(place: int) -> None:
    RUNS[place]()


if __name__ == "__main__":
    with get_context("spawn").Pool(2) as pool:
        pool.map(run_one, range(len(RUNS)), chunksize=1)
