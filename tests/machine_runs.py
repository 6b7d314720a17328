"""A run of every data generator and a small run of every model, for a process of its own on a pretended processor.

    python -m tests.machine_runs FILE

writes the results to an .npz file: arrays `data/NAME` and `file/NAME` must be the same bytes everywhere, `result/NAME`
may differ by rounding, `spikes/NAME` in a few places; `processor` says which instructions were used.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.data import (
    RandomContinuousEnvironment,
    make_omnist,
    noise_frames,
    save_video,
)
from springback.data.pretrained import shipped_cnn, shipped_digits, shipped_spiking
from springback.elastic import ElasticClustering
from springback.spiking import (
    init,
    init_training,
    springback_2026,
    track,
    train,
)
from springback.spiking.constants import spike_odds
from springback.spiking.encoding import draw_spikes, new_alias_table, spikes_bound
from springback.streaming.records import Images
from springback_bench.stream_sets.drift import fading, make_drift, moving, turning
from springback_paper import sampling
from springback_paper.inputs.head import rotating_head
from springback_paper.sampling import OnlineEm, SamplingCircuit, SamplingStdp, SpikingInput, learn_resting
from tests.spiking.oracle import stream_key

Arrays = Iterator[tuple[str, NDArray[Any]]]


def data() -> Arrays:
    """Everything that is made from a seed and taken for granted afterwards."""
    digits = shipped_digits()
    video = make_omnist(digits, seed=5)
    yield "data/omnist", video.frames
    yield "data/omnist labels", np.concatenate([video.labels, video.rows_hidden, video.digit])
    yield "data/omnist ink", video.ink_hidden
    for drift in (turning, moving, fading):
        yield f"data/{drift.__name__}", make_drift(digits, seed=1, params=drift()).frames
    yield "data/noise", noise_frames(100, seed=2)
    yield "data/head", rotating_head(n_frames=4, size=32)
    seen = world().sample(300, seed=0)
    yield "data/world", np.concatenate([seen.points.ravel(), seen.labels, seen.parents])
    yield "data/input spikes", input_spikes(digits)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "video.safetensors")
        save_video(make_omnist(digits[:5], seed=0), path)
        yield "file/video", np.frombuffer(path.read_bytes(), np.uint8)


def world() -> RandomContinuousEnvironment:
    means = np.array([[-1.0, 0.0], [1.0, 0.0]])
    return RandomContinuousEnvironment(means=means, spreads=0.3, diffusion=0.2, beta=0.1, decay=2.0)


def input_spikes(digits: Images) -> NDArray[np.int64]:
    """Which pixel spikes in which step, for ten digits one after the other."""
    preset = springback_2026()
    shown, dt = preset.testing, preset.circuit.dt_ms
    rates, n_steps = spike_odds(shown, shown.intensity, dt), round(shown.show_ms / dt)
    brightest = preset.circuit.n_inputs * float(rates[-1])
    which, first = np.zeros(spikes_bound(brightest, n_steps), np.int32), np.zeros(n_steps + 1, np.int64)
    aliases = new_alias_table(preset.circuit.n_inputs, brightest, len(which))
    found = []
    for number, frame in enumerate(digits.pixels[:10]):
        key = np.uint64(stream_key(0, 1, number, 0))
        n = draw_spikes(frame.ravel(), rates, n_steps, key, aliases, which, first)
        found += [which[:n].astype(np.int64), first.copy()]
    return np.concatenate(found)


def spiking() -> Arrays:
    """Training of a circuit, and a stream through the one that travels with the package."""
    digits, small = shipped_digits(), springback_2026(n_neurons=60)
    state = init_training(small.circuit, small.long_term, seed=0)
    how = {"circuit": small.circuit, "stdp": small.long_term, "presentation": small.training}
    _, counts = train(state, digits.pixels, **how, seed=0)
    yield "spikes/spiking training", counts
    preset, weights = shipped_spiking().preset, shipped_spiking().weights
    run = {"circuit": preset.circuit, "presentation": preset.streaming, "short_term": preset.short_term}
    begun = init(weights, preset.circuit, preset.short_term)
    yield "spikes/spiking stream", track(weights, begun, make_omnist(digits[:8], seed=0).frames, **run)[1]


def elastic() -> Arrays:
    """EM, and the tracking of a video by both forms of the short-term part."""
    digits = shipped_digits()
    rows = digits.pixels.reshape(len(digits), -1) / np.float32(255)
    model = ElasticClustering(n_clusters=10, kappa=60.0, pull=3.0, memory=2.0, random_state=0).fit(rows)
    yield "result/elastic: centroids", model.cluster_centers_
    frames = make_omnist(digits[:8], seed=0).frames.reshape(-1, 784) / np.float32(255)
    yield "result/elastic: posterior", model.track(frames)
    seen = world().sample(100, seed=0)
    yield "result/world: posterior", world().exact_posterior(seen.points, seen.times)


def sampling_networks() -> Arrays:
    """Online EM by spikes, and a stream."""
    digits = shipped_digits()
    circuit = SamplingCircuit(kappa=20.0, spikes=SpikingInput())
    weights = learn_resting(digits.pixels, circuit=circuit, params=OnlineEm(n_neurons=5), seed=0)
    frames = make_omnist(digits[:4], seed=0).frames.reshape(-1, 784)
    short_term = SamplingStdp(pull=1.0, memory_ms=500.0)
    begun = sampling.init(weights, circuit)
    _, response = sampling.track(weights, begun, frames, circuit=circuit, short_term=short_term, seed=0)
    yield "spikes/sampling stream", response.counts


def training_order() -> NDArray[np.int64]:
    """Which digit comes when, in the third lesson of a network."""
    from springback_paper.baselines.shuffling import ShuffledFrames

    order: NDArray[np.int64] = ShuffledFrames(shipped_digits(), seed=0).lesson(2)[1].numpy()
    return order


def networks() -> Arrays:
    """The paper's CNN with an elastic head, a perceptron trained here, and the other adaptation methods."""
    import torch
    from springback.torch import Springs, elasticize, track
    from springback_bench.rivals.entropy_minimisation import EntropyMinimisation
    from springback_bench.rivals.markov_filter import MarkovFilter
    from springback_bench.rivals.prototype_adjustment import PrototypeAdjustment
    from springback_paper.baselines import Cnn, Mlp, StillTraining, train_still

    digits = shipped_digits()
    yield "data/training order", training_order()
    torch.set_num_threads(1)
    cnn = Cnn()
    cnn.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in shipped_cnn().items()})
    frames = torch.from_numpy(make_omnist(digits[:8], seed=0).frames).float()[:, None] / 255
    with torch.no_grad():
        elastic_cnn = elasticize(cnn.eval(), Springs(pull=20.0, memory=1.1))
        yield "result/elastic head: logits", track(elastic_cnn, frames)[:, 0].numpy()
    trained = train_still(Mlp(n_hidden=10), digits, StillTraining(epochs=3, batch=20), seed=1)
    with torch.no_grad():
        yield "result/perceptron: logits", trained(torch.from_numpy(digits.pixels) / 255).numpy()
    rng = np.random.default_rng(0)
    x, w, bias = np.abs(rng.normal(size=(60, 7))).astype(np.float32), rng.normal(size=(4, 7)), rng.normal(size=4)
    yield "result/adaptation: entropy", EntropyMinimisation(w, bias, learning_rate=0.05).track(x).astype(np.float32)
    yield "result/adaptation: prototypes", PrototypeAdjustment(w, bias, n_support=5).track(x).astype(np.float32)
    yield "result/adaptation: filter", MarkovFilter(4).track(x[:, :4])


def processor() -> list[str]:
    """Which instructions the libraries use here."""
    from numba.core import config
    from numpy._core._multiarray_umath import __cpu_features__
    from threadpoolctl import threadpool_info

    import torch

    features = " ".join(name for name, used in __cpu_features__.items() if used)
    blas = next((one["architecture"] for one in threadpool_info() if one["internal_api"] == "openblas"), "none")
    capability = torch.backends.cpu.get_cpu_capability()
    return [f"numpy={features}", f"numba={config.CPU_NAME or 'host'}", f"blas={blas}", f"torch={capability}"]


RUNS: tuple[Callable[[], Arrays], ...] = (data, spiking, elastic, sampling_networks, networks)


if __name__ == "__main__":
    made = dict(pair for run in RUNS for pair in run())
    np.savez(sys.argv[1], **made, processor=np.array(processor()))
