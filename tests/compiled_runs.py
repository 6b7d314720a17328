"""Runs whose only purpose is that their functions are compiled once, before two processes of tests would each do it.

    python -m tests.compiled_runs

The models of `tests.machine_runs` are compiled by that; these are the others: heads and layers with every kind of
memory and in both precisions, other methods of adaptation, and recorded runs of spiking networks.
"""

from collections.abc import Callable

import numpy as np

from springback.elastic import Elasticity, Windowed, prepare, read, track
from springback.elastic import init as init_elastic
from springback.heads import ElasticHead
from springback.spiking import Recorder, Streaming, Weights, init, init_training, simulate_spikes
from springback.spiking import track as track_spiking
from springback.spiking import train as train_spiking
from springback.spiking.sampling import SamplingStdp
from springback.spiking.sampling import init as init_sampling
from springback.spiking.sampling import track as track_sampling
from tests.heads.test_elastic_head import BIAS, CENTRE, ROWS, SETTINGS, WEIGHT
from tests.spiking.sampling.test_network import EVERY, some_frames, some_weights
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
    """Every model that follows a stream, except for the spiking one, which the other process compiles."""
    for parameter in subjects():
        (subject,) = parameter.values
        if subject.name != "SpikingClassifier":
            subject.make().track(subject.rows)
            subject.moved().relax(1.0)


def clustering() -> None:
    """The plain functions, whose numbers have double precision, with both kinds of memory."""
    rows = ROWS.astype(float)
    for kernel in (None, Windowed(function=lambda lag: 1.0 * (lag <= 1), frames=1)):
        settings = Elasticity(kappa=9.0, pull=2.0) if kernel is None else Elasticity(kappa=9.0, pull=2.0, kernel=kernel)
        model = prepare(settings, WEIGHT)
        track(model, init_elastic(model), rows)
        read(model, init_elastic(model), rows)


def spiking() -> None:
    """Given spikes and frames, recorded and not, with every kind of plasticity, in both precisions."""
    weights, index, step = drive(0)
    kinds = [{}, {"long_term": STDP}, *({"short_term": one} for one in SHORT_TERM.values())]
    for kind in kinds:
        simulate_spikes(weights, index, step, STEPS, circuit=CIRCUIT, **kind)
    single = Weights(*(one.astype(np.float32) for one in weights))
    for kind in (*kinds[:3], kinds[5]):
        simulate_spikes(single, index, step, STEPS, circuit=CIRCUIT, **kind)
    frames = np.random.default_rng(0).integers(0, 256, (2, CIRCUIT.n_inputs), dtype=np.uint8)
    paper, own = SHORT_TERM["paper"], SHORT_TERM["one time constant per synapse"]
    shown = [(single, one, None) for one in (None, *SHORT_TERM.values())]
    shown += [(weights, None, None), (weights, paper, None), *((single, one, Recorder()) for one in (None, paper, own))]
    for given, short_term, recorder in shown:
        how = {"circuit": CIRCUIT, "presentation": Streaming(), "short_term": short_term, "recorder": recorder}
        track_spiking(given, init(given, CIRCUIT, short_term), frames, **how)
    train_spiking(init_training(CIRCUIT, STDP), frames, circuit=CIRCUIT, stdp=STDP, recorder=Recorder())


def sampling() -> None:
    """Given and drawn input spikes, with and without plasticity, and learning from given numbers."""
    for circuit in EVERY.values():
        for stdp in (None, SamplingStdp(pull=1.0, memory_ms=500.0)):
            weights = some_weights()
            track_sampling(weights, init_sampling(weights, circuit), some_frames(3), circuit=circuit, short_term=stdp)


RUNS: tuple[Callable[[], None], ...] = (heads, layers, methods, clustering, sampling, spiking)


if __name__ == "__main__":
    for run in RUNS:
        run()
