"""Monitors: every quantity against the oracle; a recorded run is the same run; buffers, folders and refusals."""

from dataclasses import replace

import numpy as np
import pytest

from springback.check import DataError
from springback.spiking import (
    Circuit,
    InhibitoryNeuron,
    LongTermStdp,
    Monitor,
    Presentation,
    Recorder,
    ShortTermStdp,
    Streaming,
    Weights,
    init,
    init_training,
    open_recording,
    record_stream,
    simulate_spikes,
    track,
    train,
)
from springback.spiking._present import present_frames
from springback.spiking.monitors import QUANTITIES, buffers, parts
from tests.spiking import oracle
from tests.spiking.test_kernel import CIRCUIT, SHORT_TERM, STDP, STEPS, drive, pairs

SMALL = Circuit(n_inputs=64, n_neurons=16)
SHOWN = Streaming(intensity=4.0)
RNG = np.random.default_rng(0)
WEIGHTS = Weights(RNG.uniform(0, 1.5, (64, 16)).astype(np.float32), np.full(16, 20.0, np.float32))
FRAMES = RNG.integers(0, 256, (5, 8, 8), dtype=np.uint8)
HOW = {"circuit": SMALL, "presentation": SHOWN, "short_term": ShortTermStdp(pull=0.05), "seed": 3}
LEARNING = LongTermStdp(weight_sum=30.0, theta_step_mv=0.5)
TAUGHT = {"circuit": SMALL, "stdp": LEARNING, "presentation": Presentation(intensity=2.0, spikes_min=40), "seed": 1}


def begun():
    return init(WEIGHTS, SMALL, HOW["short_term"])


def same(a, b):
    if isinstance(a, tuple):
        return all(map(same, a, b))
    if isinstance(a, np.ndarray) and a.dtype.names:
        return all(same(a[name], b[name]) for name in a.dtype.names)
    return np.array_equal(a, b)


def once_per_step(index, step):
    """Without second spikes of an input in a step: the oracle lets the second arrive after the first was depressed."""
    _, kept = np.unique(np.stack([step, index]), axis=1, return_index=True)
    return index[np.sort(kept)], step[np.sort(kept)]


@pytest.mark.parametrize(
    ("plasticity", "seed", "exact_step"),
    [
        ({}, 0, False),
        ({}, 0, True),
        ({"long_term": STDP}, 0, False),
        ({"short_term": SHORT_TERM["no weight dependence, capped"]}, 1, False),
        ({"short_term": SHORT_TERM["one time constant per neuron"]}, 2, True),
        ({"short_term": SHORT_TERM["one time constant per synapse"]}, 3, False),
    ],
)
def test_every_quantity_and_the_spikes_of_partners_are_those_of_the_oracle(plasticity, seed, exact_step):
    circuit = replace(CIRCUIT, inhibitory=InhibitoryNeuron(exact_step=exact_step))
    weights, index, step = drive(seed)
    index, step = once_per_step(index, step)
    there = {"": True, "long-term": "long_term" in plasticity, "short-term": "short_term" in plasticity}
    names = [name for name, one in QUANTITIES.items() if there[one.needs]]
    every = 1000 if "long_term" in plasticity else None
    recorder = Recorder([Monitor(name) for name in names], partner_spikes=True, input_spikes=True)
    run = simulate_spikes(
        weights, index, step, STEPS, circuit=circuit, **plasticity, normalise_every_steps=every, recorder=recorder
    )
    seen = []
    stdp, short_term = plasticity.get("long_term"), plasticity.get("short_term")
    expected, *_ = oracle.run(
        circuit,
        *weights,
        index,
        step,
        STEPS,
        stdp=stdp,
        short_term=short_term,
        normalise_every=every,
        observe=lambda **now: seen.append({name: np.array(one) for name, one in now.items()}),
    )
    assert pairs(run) == expected
    for name in names:
        np.testing.assert_allclose(run.samples[name].values, [one[name] for one in seen], atol=1e-9, err_msg=name)
    partners = [(k, t) for t, one in enumerate(seen) for k in np.flatnonzero(one["partners"])]
    assert len(partners) > 50
    assert sorted(zip(run.partner_index.tolist(), run.partner_step.tolist(), strict=True)) == sorted(partners)
    np.testing.assert_array_equal(run.in_index, index)
    np.testing.assert_array_equal(run.in_step, step)


@pytest.fixture
def tiny_buffers(monkeypatch):
    """Buffers so small that the compiled loop is left in the middle of frames and of pauses."""
    monkeypatch.setattr(buffers, "_BUFFER_BYTES", 2000)
    monkeypatch.setattr(buffers, "_SPIKES", 1)
    monkeypatch.setattr(buffers, "_PRESENTATIONS", 2)


MANY = {
    "v": Monitor("potential_mv", neurons=[2, 7]),
    "v, seldom": Monitor("potential_mv", neurons=[3], every_ms=4.5),
    "threshold": Monitor("threshold_mv", neurons=[7], at_ms=[0.0, 20.0, 500.0]),
    "W": Monitor("W", inputs=[1, 9, 60], neurons=[2, 3], every_steps=70),
    "inhibition": Monitor("inhibition", every_steps=33),
}


def taught(recorder=None):
    state = init_training(SMALL, LEARNING, seed=0)
    return train(state, FRAMES, **TAUGHT, recorder=recorder)


def test_a_recorded_training_with_pauses_and_repeated_images_is_the_same_training(tiny_buffers):
    del tiny_buffers
    plain, counts = taught()
    recorder = Recorder(MANY)
    after, recorded = taught(recorder)
    assert same(after, plain)
    np.testing.assert_array_equal(recorded, counts)
    run = recorder.recording()
    assert run.n_steps == len(run.shown) * 1000  # 350 ms and a pause of 150 ms, in steps of 0.5 ms
    assert len(run.shown) > len(FRAMES), "no image was shown again"
    assert run.shown[:, 0].max() == 4
    np.testing.assert_array_equal(run.samples["v"].step, np.arange(run.n_steps))
    np.testing.assert_array_equal(run.samples["v, seldom"].step, np.arange(0, run.n_steps, 9))
    np.testing.assert_array_equal(run.samples["threshold"].step, [0, 40, 1000])
    np.testing.assert_array_equal(run.samples["threshold"].time_ms, [0, 20, 500])
    assert run.samples["W"].values.shape == (-(-run.n_steps // 70), 3, 2)


def test_small_buffers_record_what_large_ones_do(monkeypatch):
    large, small = Recorder(MANY, input_spikes=True), Recorder(MANY, input_spikes=True)
    taught(large)
    monkeypatch.setattr(buffers, "_BUFFER_BYTES", 2000)
    monkeypatch.setattr(buffers, "_SPIKES", 1)
    monkeypatch.setattr(buffers, "_PRESENTATIONS", 1)
    taught(small)
    large, small = large.recording(), small.recording()
    assert len(small.parts.sources) > 50 > len(large.parts.sources)
    for name in ("out_index", "out_step", "in_index", "in_step", "shown"):
        np.testing.assert_array_equal(getattr(small, name), getattr(large, name))
    for name, one in large.samples.items():
        np.testing.assert_array_equal(small.samples[name].step, one.step)
        np.testing.assert_allclose(small.samples[name].values, one.values, rtol=1e-6)


def test_a_pause_that_is_jumped_over_is_sampled_as_if_it_were_not():
    recorder = Recorder({"v": Monitor("potential_mv", neurons=range(16))})
    after, _ = taught(recorder)
    v = recorder.recording().samples["v"].values
    np.testing.assert_allclose(v[-1], after.circuit.v, rtol=1e-6)
    rest, leak = SMALL.excitatory.v_rest_mv, SMALL.dt_ms / SMALL.excitatory.tau_membrane_ms
    np.testing.assert_allclose(v[-1], rest + (v[-200] - rest) / (1 + leak) ** 199, atol=1e-4)


def test_a_recorded_stream_is_the_same_stream_and_may_be_split():
    plain, counts = track(WEIGHTS, begun(), FRAMES, **HOW)
    whole = record_stream(WEIGHTS, FRAMES, **HOW, neurons=[2, 7], every_steps=9)
    recorder = Recorder([Monitor(name, neurons=[2, 7], every_steps=9) for name in ("potential_mv", "F")])
    state, parts = begun(), []
    for frames in (FRAMES[:2], FRAMES[2:]):
        state, part = track(WEIGHTS, state, frames, **HOW, recorder=recorder)
        parts.append(part)
    assert same(state, plain)
    np.testing.assert_array_equal(np.concatenate(parts), counts)
    run = recorder.recording()
    assert len(whole.out_index) == counts.sum() > 20
    for name in ("out_index", "out_step", "sample_step", "potential_mv", "short_term"):
        np.testing.assert_array_equal(getattr(run, name), getattr(whole, name))
    assert whole.short_term.max() > 0


def test_steps_are_counted_from_where_recording_began():
    state, _ = track(WEIGHTS, begun(), FRAMES[:3], **HOW)
    recorder = Recorder([Monitor("potential_mv", neurons=[0], every_steps=100)])
    _, counts = track(WEIGHTS, state, FRAMES[3:4], **HOW, recorder=recorder)
    run = recorder.recording()
    np.testing.assert_array_equal(np.bincount(run.out_index, minlength=16), counts[0])
    assert 0 <= run.out_step.min() <= run.out_step.max() < run.n_steps == 700
    np.testing.assert_array_equal(run.sample_step, np.arange(7) * 100)
    np.testing.assert_array_equal(run.shown, [[3, 0, 0]])


def test_a_folder_holds_what_memory_would_hold_in_parts_of_limited_size(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "PART_BYTES", 100_000)
    monkeypatch.setattr(buffers, "_BUFFER_BYTES", 600_000)
    watched = {"F": Monitor("F", every_steps=10), "v": Monitor("potential_mv")}
    inside, outside = Recorder(watched), Recorder(watched, folder=tmp_path / "run")
    track(WEIGHTS, begun(), FRAMES, **HOW, recorder=inside)
    state = begun()
    with outside:
        for frame in FRAMES:
            state, _ = track(WEIGHTS, state, frame[None], **HOW, recorder=outside)
    found, expected = open_recording(tmp_path / "run"), inside.recording()
    files = sorted((tmp_path / "run").iterdir())
    assert len(files) == 5
    assert found.n_steps == expected.n_steps == 3500
    for name in ("out_index", "out_step", "shown"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    for name, one in expected.samples.items():
        np.testing.assert_array_equal(found.samples[name].values, one.values)
        assert len(list(found.samples[name].chunks())) == 5
    files[2].rename(files[2].with_name("other"))
    with pytest.raises(DataError, match="lacks part 2"):
        open_recording(tmp_path / "run")
    with pytest.raises(DataError, match="exists already"):
        Recorder(folder=tmp_path / "run")
    with pytest.raises(DataError, match="not a folder with a recording"):
        open_recording(tmp_path)


def test_silence_is_part_of_a_recording_on_disk(tmp_path):
    none = np.zeros(0, np.int64)
    with Recorder(folder=tmp_path / "run") as recorder:
        run = simulate_spikes(WEIGHTS, none, none, 30, circuit=SMALL, recorder=recorder)
        recorder.close()
        simulate_spikes(WEIGHTS, none, none, 40, circuit=SMALL, recorder=recorder, state=run.state)
    found = open_recording(tmp_path / "run")
    assert (found.n_steps, len(found.out_step)) == (70, 0)
    assert len(list((tmp_path / "run").iterdir())) == 2


def test_a_recording_on_disk_keeps_memory_flat(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "PART_BYTES", 1 << 20)
    monkeypatch.setattr(buffers, "_BUFFER_BYTES", 1 << 20)
    recorder = Recorder({"F": Monitor("F")}, folder=tmp_path / "run")
    track(WEIGHTS, begun(), FRAMES, **HOW, recorder=recorder)
    largest = max(path.stat().st_size for path in (tmp_path / "run").iterdir())
    assert largest < 2.5 * 2**20 < 3500 * 64 * 16 * 4  # a part and a buffer of 1 MiB each; the whole has 14 MB


def test_no_specialisation_of_the_recorded_loop_appears_by_accident():
    for monitors in ([], [Monitor("potential_mv")]):
        taught(Recorder(monitors))
        track(WEIGHTS, begun(), FRAMES[:1], **HOW, recorder=Recorder(monitors))
    before = len(present_frames.signatures)
    taught(Recorder(MANY, partner_spikes=True, input_spikes=True, spikes=False))
    track(WEIGHTS, begun(), FRAMES[:1], **HOW, recorder=Recorder([Monitor("F"), Monitor("G", at_steps=[3])]))
    assert len(present_frames.signatures) == before


@pytest.mark.parametrize(
    ("monitors", "message"),
    [
        ([Monitor("potential_mv", neurons=[16])], "Monitor.neurons must be <= 15; got 16"),
        ([Monitor("W", inputs=[-1])], "Monitor.inputs must be >= 0; got -1"),
        ([Monitor("pre_trace")], "must not watch pre_trace in a run without long-term STDP"),
        ([Monitor("potential_mv", every_ms=0.7)], "every_ms must be a multiple of dt_ms = 0.5; got 0.7"),
        ([Monitor("potential_mv", at_steps=[5, 3])], "must be >= 0 and increase"),
        ([Monitor("potential_mv", neurons=[])], "a sample of potential_mv must have 1 ... 268,435,456 values; got 0"),
    ],
)
def test_a_monitor_that_does_not_fit_the_run_is_refused(monitors, message):
    with pytest.raises(ValueError, match=message.replace("...", r"\.\.\.")):
        track(WEIGHTS, begun(), FRAMES, **HOW, recorder=Recorder(monitors))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Monitor("F", every_steps=0), ValueError, "every_steps must be >= 1"),
        (lambda: Monitor("F", every_steps=1, at_ms=[3]), ValueError, "one kind of times; got 'every_steps and at_ms'"),
        (lambda: Monitor("potential_mv", inputs=[1]), ValueError, "inputs must be None, since potential_mv has none"),
        (lambda: Recorder([Monitor("F"), Monitor("F")]), ValueError, "monitors must have names"),
        (lambda: Recorder(["F"]), TypeError, "monitors must be Monitor"),
        (lambda: Recorder().recording(), ValueError, "has recorded nothing yet"),
    ],
)
def test_a_monitor_or_recorder_that_makes_no_sense_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_recorder_goes_on_only_where_it_stopped():
    recorder = Recorder()
    state, _ = track(WEIGHTS, begun(), FRAMES, **HOW, recorder=recorder)
    with pytest.raises(ValueError, match="continue from step 3500 or later"):
        track(WEIGHTS, begun(), FRAMES, **HOW, recorder=recorder)
    other = Circuit(n_inputs=64, n_neurons=16, dt_ms=0.25)
    with pytest.raises(ValueError, match="be a new one for another circuit"):
        track(WEIGHTS, state, FRAMES, **HOW | {"circuit": other}, recorder=recorder)
    with pytest.raises(TypeError, match="recorder must be a Recorder; got list"):
        track(WEIGHTS, begun(), FRAMES, **HOW, recorder=[])


@pytest.mark.parametrize("plasticity", [{"long_term": STDP}, {"short_term": SHORT_TERM["paper"]}, {}])
def test_a_run_of_spikes_continues_from_its_state(plasticity):
    weights, index, step = drive(4)
    whole = simulate_spikes(weights, index, step, STEPS, circuit=CIRCUIT, **plasticity)
    early = step < 1100
    first = simulate_spikes(weights, index[early], step[early], 1100, circuit=CIRCUIT, **plasticity)
    again = simulate_spikes(
        first.weights,
        index[~early],
        step[~early] - 1100,
        STEPS - 1100,
        circuit=CIRCUIT,
        **plasticity,
        state=first.state,
    )
    np.testing.assert_array_equal(np.concatenate([first.out_index, again.out_index]), whole.out_index)
    np.testing.assert_array_equal(np.concatenate([first.out_step, again.out_step + 1100]), whole.out_step)
    assert len(again.out_step) > 20
    assert same(again.state, whole.state)
    assert same(again.weights, whole.weights)
