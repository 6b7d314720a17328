"""Spikes from and for other programs: round trips with the real libraries, units, and what is refused."""

from datetime import UTC, datetime

import numpy as np
import pytest

from springback.check import DataError
from springback.spiking import Circuit, Monitor, Recorder, ShortTermStdp, Streaming, Weights, record_stream
from springback.spiking.exchange import Spikes, simulate, spikes_from, spikes_from_nwb, spikes_of, to_neo, to_nwb
from springback.spiking.model import SpikingModel
from springback.spiking.presets import Preset

CIRCUIT = Circuit(n_inputs=64, n_neurons=16)
RNG = np.random.default_rng(0)
WEIGHTS = Weights(RNG.uniform(0, 1.5, (64, 16)).astype(np.float32), np.full(16, 20.0, np.float32))
FRAMES = RNG.integers(0, 256, (3, 8, 8), dtype=np.uint8)
STREAMED = Streaming(intensity=4.0, threshold_shift_mv=-1.0)
MODEL = SpikingModel(
    preset=Preset(circuit=CIRCUIT, streaming=STREAMED, short_term=ShortTermStdp(pull=0.05)),
    weights=WEIGHTS,
    neuron_labels=np.zeros(16, np.int64),
)


@pytest.fixture(scope="module")
def recording():
    watched = {
        "v": Monitor("potential_mv", neurons=[2, 7], every_ms=1.0),
        "F": Monitor("F", neurons=[2, 7], inputs=[0, 5, 9], every_steps=50),
        "thresholds": Monitor("threshold_mv", at_ms=[0.0, 1.5, 700.0]),
    }
    recorder = Recorder(watched, partner_spikes=True, input_spikes=True)
    return record_stream(
        WEIGHTS,
        FRAMES,
        circuit=CIRCUIT,
        presentation=STREAMED,
        short_term=MODEL.preset.short_term,
        seed=3,
        recorder=recorder,
    )


def assert_same(found, expected, *, within_s=1e-9):
    assert (found.n_sources, len(found)) == (expected.n_sources, len(expected))
    assert found.duration_s == pytest.approx(expected.duration_s)
    order = [np.lexsort((one.index, np.round(one.time_s, 7))) for one in (found, expected)]
    np.testing.assert_array_equal(found.index[order[0]], expected.index[order[1]])
    np.testing.assert_allclose(found.time_s[order[0]], expected.time_s[order[1]], atol=within_s)


def test_the_input_spikes_of_a_stream_drive_the_model_to_the_same_output_spikes(recording):
    inputs = spikes_of(recording, "in")
    assert inputs.n_sources == 64
    assert len(recording.out_step) > 20
    for source, form in (
        (inputs, {}),
        (inputs.pair("ms"), {"unit": "ms", "duration_s": inputs.duration_s}),
        ((recording.in_step, recording.in_index), {"unit": "steps", "dt_ms": 0.5, "duration_s": inputs.duration_s}),
        (inputs.events((8, 8)), {"unit": "us", "shape": (8, 8), "polarity": "merged", "duration_s": inputs.duration_s}),
    ):
        run = simulate(MODEL, source, **form)
        np.testing.assert_array_equal(run.out_index, recording.out_index)
        np.testing.assert_array_equal(run.out_step, recording.out_step)
    assert len(simulate(MODEL, inputs, adapts=False).out_step) != len(recording.out_step)


def test_neo_receives_all_trains_and_signals_and_gives_the_spikes_back(recording):
    pytest.importorskip("neo", reason="neo is not installed (extra: neo)")
    block = to_neo(recording)
    segment = block.segments[0]
    assert len(segment.spiketrains) == 16 + 16 + 64
    out = [one for one in segment.spiketrains if one.annotations["population"] == "excitatory"]
    assert_same(spikes_from(out), spikes_of(recording))
    inputs = [one for one in segment.spiketrains if one.annotations["population"] == "input"]
    np.testing.assert_array_equal(simulate(MODEL, inputs).out_step, recording.out_step)
    signals = {one.name: one for one in [*segment.analogsignals, *segment.irregularlysampledsignals]}
    assert str(signals["v"].units.dimensionality) == "mV"
    assert float(signals["v"].sampling_period.rescale("ms")) == pytest.approx(1.0)
    np.testing.assert_array_equal(signals["v"].magnitude, recording.samples["v"].values)
    assert signals["F"].shape == (42, 6)
    assert signals["F"].array_annotations["input"].tolist() == [0, 0, 5, 5, 9, 9]
    np.testing.assert_allclose(signals["thresholds"].times.rescale("ms").magnitude, [0.5, 2.0, 700.5])


def test_neo_times_count_from_the_earliest_start_whatever_their_unit():
    neo = pytest.importorskip("neo", reason="neo is not installed (extra: neo)")
    pq = pytest.importorskip("quantities")
    trains = [
        neo.SpikeTrain([1010.0, 1030.0] * pq.ms, t_start=1000 * pq.ms, t_stop=1500 * pq.ms),
        neo.SpikeTrain([1.02] * pq.s, t_start=1.0 * pq.s, t_stop=2.0 * pq.s),
    ]
    found = spikes_from(trains)
    np.testing.assert_allclose(found.time_s, [0.01, 0.02, 0.03])
    assert found.index.tolist() == [0, 1, 0]
    assert found.duration_s == pytest.approx(1.0)
    np.testing.assert_allclose(spikes_from((np.array([3.0, 4.0]) * pq.ms, [0, 1])).time_s, [0.003, 0.004])
    with pytest.raises(ValueError, match="unit must be None, since spike trains of Neo bring their own"):
        spikes_from(trains, unit="s")


def test_elephant_reads_a_run(recording):
    pytest.importorskip("neo", reason="neo is not installed (extra: neo)")
    statistics = pytest.importorskip("elephant.statistics", reason="elephant is not installed")
    rates = [float(statistics.mean_firing_rate(one).rescale("Hz")) for one in to_neo(recording).segments[0].spiketrains]
    np.testing.assert_allclose(rates[:16], spikes_of(recording).rates_hz)


def test_nwb_receives_units_and_series_and_gives_the_spikes_back(recording, tmp_path):
    pynwb = pytest.importorskip("pynwb", reason="pynwb is not installed (extra: nwb)")
    path = to_nwb(recording, tmp_path / "run.nwb", session_start_time=datetime(2026, 1, 1, tzinfo=UTC))
    assert_same(spikes_from_nwb(path, population="excitatory"), spikes_of(recording))
    assert_same(spikes_from_nwb(path, population="inhibitory"), spikes_of(recording, "partner"))
    run = simulate(MODEL, spikes_from_nwb(path, population="input"))
    np.testing.assert_array_equal(run.out_step, recording.out_step)
    with pynwb.NWBHDF5IO(str(path), "r") as reader:
        series = reader.read().processing["monitors"]["v"]
        np.testing.assert_array_equal(series.data[:], recording.samples["v"].values)
        assert (series.unit, series.conversion) == ("volts", 1e-3)
        np.testing.assert_allclose(series.timestamps[:2], [0.0005, 0.0015])
    with pytest.raises(DataError, match="exists already"):
        to_nwb(recording, path)
    (tmp_path / "other.nwb").write_bytes(b"no NWB file")
    with pytest.raises(DataError, match="is not an NWB file"):
        spikes_from_nwb(tmp_path / "other.nwb")


def test_events_pass_through_tonic(recording):
    tonic = pytest.importorskip("tonic", reason="tonic is not installed")
    from tonic.io import make_structured_array

    inputs = spikes_of(recording, "in")
    events = inputs.events((8, 8))
    theirs = make_structured_array(events["x"], events["y"], events["t"], events["p"])
    form = {"unit": "us", "shape": (8, 8), "duration_s": inputs.duration_s}
    assert_same(spikes_from(theirs, polarity="merged", **form), inputs, within_s=1e-6)
    frames = tonic.transforms.ToFrame(sensor_size=(8, 8, 2), n_time_bins=1)(theirs)
    early = inputs.index[events["t"] < events["t"].max()]  # the frames of tonic leave out the very last moment
    np.testing.assert_array_equal(frames.sum(axis=(0, 1)).ravel(), np.bincount(early, minlength=64))
    split = Spikes(np.array([3, 64 + 3]), np.array([0.1, 0.2]), n_sources=128, duration_s=inputs.duration_s)
    assert_same(spikes_from(split.events((8, 8)), polarity="split", **form), split, within_s=1e-6)
    assert spikes_from(split.events((8, 8)), polarity="off", **form).time_s == pytest.approx([0.2])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Brian2 calls old names of pyparsing
def test_brian2_plays_our_spikes_and_gives_its_own(recording):
    brian2 = pytest.importorskip("brian2", reason="Brian2 cannot be imported here (make test-optional)")
    brian2.prefs.codegen.target = "numpy"
    brian2.start_scope()
    brian2.defaultclock.dt = 0.5 * brian2.ms
    inputs = spikes_of(recording, "in")
    group = inputs.brian2()
    monitor = brian2.SpikeMonitor(group)
    brian2.Network(group, monitor).run(inputs.duration_s * brian2.second)
    found = spikes_from(monitor, duration_s=inputs.duration_s)
    assert_same(found, inputs)
    np.testing.assert_array_equal(simulate(MODEL, found).out_step, recording.out_step)


EVENTS = np.array([(10, 1, 0, 1)], [("t", int), ("x", int), ("y", int), ("p", bool)])


@pytest.mark.parametrize(
    ("source", "form", "error", "message"),
    [
        (([1.0], [0]), {}, ValueError, "times must have a unit: they are bare numbers"),
        (([1.0], [0]), {"unit": "minutes"}, ValueError, "unit must be one of 's', 'ms', 'us', 'ns', 'steps'"),
        (([1.0], [0]), {"unit": "steps"}, ValueError, "dt_ms must be given if times are in steps"),
        (([1.0], [0.5]), {"unit": "s"}, ValueError, "ids must be whole numbers"),
        (([1.0], [-1]), {"unit": "s"}, ValueError, "index must lie within"),
        (([-1.0], [1]), {"unit": "s"}, ValueError, "times must lie within 0"),
        (([1.0, 2.0], [1]), {"unit": "s"}, ValueError, "times and ids must have the same length"),
        (([np.nan], [1]), {"unit": "s"}, ValueError, "times must be finite"),
        (([5.0], [1]), {"unit": "s", "duration_s": 1.0}, ValueError, "times must lie within 0 ... 1 s, the duration"),
        (EVENTS, {"unit": "us"}, ValueError, "shape must be the .height, width. of the sensor"),
        (EVENTS, {"unit": "us", "shape": (2, 2)}, ValueError, "polarity must be one of 'merged', 'split', 'on', 'off'"),
        (EVENTS, {"unit": "us", "shape": (1, 1), "polarity": "on"}, ValueError, "x of the events must lie within"),
        ({"a": 1}, {}, TypeError, "spikes must be .times, ids."),
        (
            ([1.0], [0]),
            {"unit": "s", "shape": (2, 2)},
            ValueError,
            "shape must be None, since these are not events of a camera",
        ),
    ],
)
def test_spikes_that_cannot_be_understood_are_refused(source, form, error, message):
    with pytest.raises(error, match=message):
        spikes_from(source, **form)


def test_a_source_of_another_size_is_not_simulated():
    other = Spikes(np.array([3]), np.array([0.1]), n_sources=100, duration_s=0.2)
    with pytest.raises(ValueError, match="the spikes must have 64 sources, as the model has inputs; got 100"):
        simulate(MODEL, other)
