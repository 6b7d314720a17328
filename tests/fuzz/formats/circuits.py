"""Formats of the spiking circuit: models, streams, trainings, recordings, states and presets."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from springback.spiking import SpikingClassifier, load_run_state, save_run_state, simulate_spikes
from springback.spiking import composed as circuits
from springback.spiking.exchange import spikes_of
from springback.spiking.inference import init, track
from springback.spiking.model import SpikingModel
from springback.spiking.model_file import load_spiking_model, save_spiking_model
from springback.spiking.monitors import Monitor, Recorder, open_recording
from springback.spiking.params import Circuit, LongTermStdp, Presentation, ShortTermStdp, Streaming
from springback.spiking.presets import PRESETS, Preset, load_preset, preset_text
from springback.spiking.state_files import load_checkpoint, save_checkpoint
from springback.spiking.training import init_training, parts_of_training, train
from springback.spiking.weights import Weights
from springback.streaming import readout
from tests.fuzz.formats.format import Format, require_finite, written

CIRCUIT = Circuit(n_inputs=12, n_neurons=5)
STDP = LongTermStdp(weight_sum=3.0)
RESTLESS = Presentation(show_ms=50.0, rest_ms=0.0, intensity=6.0)
NAMING: dict[str, Any] = {"circuit": CIRCUIT, "long_term": STDP, "training": RESTLESS, "seed": 3, "data": "noise"}
FRAMES = np.random.default_rng(0).integers(0, 256, (4, 12), dtype=np.uint8)


def spiking_model() -> Format:
    rng = np.random.default_rng(0)
    weights = Weights(rng.uniform(0, 1, (12, 5)).astype(np.float32), np.full(5, 20.0, np.float32))
    content = []
    for tau in (300.0, np.full(5, 200.0), np.full((12, 5), 250.0)):
        preset = Preset(
            name="small",
            circuit=CIRCUIT,
            streaming=Streaming(intensity=4.0),
            short_term=ShortTermStdp(pull=0.5, memory_ms=tau),
        )
        classes = np.array(["a", "b", "c", "d", "e"]) if np.ndim(tau) == 1 else readout.DIGITS
        model = SpikingModel(
            preset=preset, weights=weights, neuron_labels=np.arange(5), classes=classes, data="noise", n_seen=9
        )
        content.append(written(lambda path, model=model: save_spiking_model(model, path)))

    def use(model: SpikingModel) -> None:
        preset = model.preset
        how = {"circuit": preset.circuit, "presentation": preset.streaming, "short_term": preset.short_term}
        state = init(model.weights, preset.circuit, preset.short_term)
        frames = np.resize(FRAMES[:1], (1, preset.circuit.n_inputs))
        for _ in range(2):
            state, counts = track(model.weights, state, frames, **how)
        require_finite(state.circuit.v, state.circuit.ge)
        readout.classify(counts, model.neuron_labels, model.classes)

    return Format("spiking model", tuple(content), load_spiking_model, use)


def spiking_stream() -> Format:
    rng = np.random.default_rng(0)
    weights = Weights(rng.uniform(0, 1, (12, 5)).astype(np.float32), np.full(5, 20.0, np.float32))
    shown, stdp = Streaming(intensity=9.0), ShortTermStdp(pull=0.5)
    preset = Preset(name="small", circuit=CIRCUIT, streaming=shown, short_term=stdp)
    model = SpikingModel(preset=preset, weights=weights, neuron_labels=np.arange(5), data="noise", n_seen=9)
    content = []
    for adapts in (True, False):
        classifier = SpikingClassifier.of(model, adapts=adapts)
        for frame in FRAMES:
            classifier.step(frame)
        content.append(written(classifier.save))

    def use(classifier: SpikingClassifier) -> None:
        width = classifier.model_.preset.circuit.n_inputs
        require_finite(classifier.step(np.resize(FRAMES[0], width)), classifier.short_term_)

    return Format("spiking stream", tuple(content), SpikingClassifier.load, use)


def training_checkpoint() -> Format:
    state = init_training(CIRCUIT, STDP, seed=3)
    state, _ = train(state, FRAMES, circuit=CIRCUIT, stdp=STDP, presentation=RESTLESS, seed=3)
    assert state.circuit.common["n_recent"][0] > 0

    def use(state: Any) -> None:
        after, _ = train(state, FRAMES[:1], circuit=CIRCUIT, stdp=STDP, presentation=RESTLESS, seed=3)
        parts_of_training(after, CIRCUIT)
        require_finite(after.resting, after.circuit.theta, after.circuit.v)

    content = written(lambda path: save_checkpoint(state, path, **NAMING))
    return Format("training checkpoint", (content,), lambda path: load_checkpoint(path, **NAMING), use)


def recording() -> Format:
    rng = np.random.default_rng(0)
    weights = Weights(rng.uniform(0, 3, (12, 5)).astype(np.float32), np.full(5, 20.0, np.float32))
    watched = [Monitor("potential_mv", every_steps=50), Monitor("G", inputs=[1, 7], at_steps=[3, 90])]
    with tempfile.TemporaryDirectory() as folder:
        with Recorder(watched, partner_spikes=True, input_spikes=True, folder=f"{folder}/run") as recorder:
            shown = Streaming(intensity=9.0)
            track(weights, init(weights, CIRCUIT, None), FRAMES, circuit=CIRCUIT, presentation=shown, recorder=recorder)
        content = (Path(folder) / "run" / "part-000000.safetensors").read_bytes()

    def load(path: Path) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "part-000000.safetensors").symlink_to(path)
            found = open_recording(folder)
            kinds = [spikes_of(found, kind) for kind in ("out", "partner", "in")]
            return found.n_steps, kinds, [one.values for one in found.samples.values()]

    def use(found: Any) -> None:
        n_steps, kinds, values = found
        assert n_steps > 0
        require_finite(*values, *(one.time_s for one in kinds))

    return Format("recording", (content,), load, use)


def run_state() -> Format:
    rng = np.random.default_rng(6)
    weights = Weights(rng.uniform(0, 9, (12, 5)), np.full(5, 5.0))
    index, step = rng.integers(0, 12, 300), np.sort(rng.integers(0, 400, 300))
    content = []
    for how in ({"long_term": STDP}, {"short_term": ShortTermStdp(pull=0.5)}):
        run = simulate_spikes(weights, index, step, 400, circuit=CIRCUIT, **how)
        content.append(written(lambda path, run=run: save_run_state(path, run.weights, run.state, circuit=CIRCUIT)))

    def use(found: Any) -> None:
        weights, state = found
        how: dict[str, Any] = {} if state.traces is None else {"long_term": STDP}
        how |= {} if state.short_term is None else {"short_term": ShortTermStdp(pull=0.5)}
        run = simulate_spikes(weights, index, step, 400, circuit=CIRCUIT, state=state, **how)
        require_finite(run.v_mv, run.weights.resting)

    return Format("run state", tuple(content), lambda path: load_run_state(path, circuit=CIRCUIT), use)


def circuit_state() -> Format:
    rng = np.random.default_rng(7)
    circuit = circuits.ComposedCircuit(
        rng.uniform(0, 1, (4, 3)), neurons=circuits.Lif(), plasticity=circuits.PairStdp()
    )
    spikes = circuits.spikes_at(rng.integers(0, 4, 200), np.sort(rng.uniform(0, 100, 200)), 100.0)
    content = written(circuit.run(spikes).state.save)

    def load(path: Path) -> Any:
        return circuits.ComposedState.load(path)

    def use(state: Any) -> None:
        require_finite(circuit.run(spikes, state=state).state.arrays["v"])

    return Format("circuit state", (content,), load, use)


def preset() -> Format:
    content = tuple(preset_text(make(n_inputs=12, n_neurons=5)).encode() for make in PRESETS.values())
    return Format("preset", content, load_preset, preset_text, sealed=False)
