"""Every example of the gallery runs, shows what it says, and its picture is not older than its code."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from springback.data.pretrained import shipped_digits
from springback.streaming.records import NOISE_LABEL

ROOT = Path(__file__).parents[1]


def load(path: Path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def example(name: str):
    return load(ROOT / "examples" / f"{name}.py")


gallery = load(ROOT / "docs" / "building" / "gallery.py")


def test_the_gallery_has_every_example_but_the_long_one():
    scripts = {path.stem for path in (ROOT / "examples").glob("*.py")} - {"elastic_resnet"}
    assert set(gallery.names()) == scripts
    assert len(scripts) >= 8


@pytest.mark.parametrize("name", gallery.names())
def test_a_picture_is_small_and_drawn_by_the_script_as_it_is(name):
    path = gallery.picture_of(name)
    assert path.stat().st_size < (250_000 if name in gallery.MOVING else 80_000)
    assert gallery.drawn_by(path) == gallery.fingerprint(ROOT / "examples" / f"{name}.py")
    with Image.open(path) as picture:
        assert max(picture.size) > 300


@pytest.mark.parametrize("name", gallery.names())
def test_the_gallery_has_the_code_of_an_example_and_what_it_prints(name):
    page = gallery.PAGE.read_text()
    part = page.split(f"<!-- {gallery.PART.format(name)} -->")[1]
    printed = re.match(r"\n\nIt prints\n\n```text\n(.+?)```$", part, re.MULTILINE | re.DOTALL)[1]
    assert page == gallery.with_example(page, printed, name), f"python docs/building/gallery.py {name}"


def test_short_term_stdp_keeps_digits_that_static_weights_lose():
    one = example("omnist_with_and_without")
    static, adapting = one.follow(shipped_digits()[::5])
    assert adapting.accuracy > static.accuracy + 0.2
    assert isinstance(one.draw(static, adapting), Figure)


def test_the_neuron_is_nearer_to_the_last_frame_stretched_than_at_rest():
    nine = example("stretched_nine").stretch()
    assert nine.label == 9
    assert nine.efficacy_overlap > nine.resting_overlap + 0.1


def test_a_recording_shows_synapses_stretched_while_the_neuron_fires_and_relaxing_in_noise():
    one = example("inside_the_circuit")
    run, winner, labels = one.record()
    begins_ms = 350.0 * np.flatnonzero(labels == NOISE_LABEL)[0]
    assert run.out_step[run.out_index == winner].max() * run.dt_ms < begins_ms
    stretched, after = run.samples["F"], run.samples["F"].time_ms > begins_ms
    assert stretched.values[-1].max() < 0.5 * stretched.values[~after][-1].max()
    assert isinstance(one.draw(run), Figure)


def test_the_front_view_is_recognised_at_the_end_of_the_turn_and_not_alone():
    answers = example("rotating_head").watch(n_repeats=4)
    assert answers.front_recognised == 1
    assert answers.alone_recognised == 0


def test_hidden_letters_are_kept_by_elastic_centroids():
    one = example("own_images")
    video, static, elastic = one.compare(n_test=20)
    shown = video.labels != NOISE_LABEL
    assert np.mean((elastic == video.labels)[shown]) > np.mean((static == video.labels)[shown]) + 0.1
    assert isinstance(one.draw(video, static, elastic), Figure)


def test_a_drifting_sensor_is_followed():
    one = example("drifting_sensor")
    times, rows, truth, static, elastic = one.compare(n=40, seed=2)
    seen = truth != one.AIR
    assert np.mean((elastic == truth)[seen]) > np.mean((static == truth)[seen]) + 0.05
    assert (np.diff(times) > 0).all()
    assert isinstance(one.draw(times, rows, truth, static, elastic), Figure)


def test_an_elastic_head_keeps_what_the_network_loses():
    pytest.importorskip("torch")
    one = example("elastic_head")
    video, plain, elastic = one.compare(shipped_digits()[::5])
    assert np.mean(elastic == video.labels) > np.mean(plain == video.labels) + 0.15
    assert isinstance(one.draw(video, plain, elastic), Figure)


def test_a_tilting_bar_stays_with_the_neuron_that_knew_it_upright():
    one = example("spike_trains")
    static, adapting = one.run(None), one.run(one.SHORT_TERM)
    late = 2300 / one.CIRCUIT.dt_ms
    assert not (static.out_index[static.out_step >= late] == 0).any()
    assert (adapting.out_index[adapting.out_step >= late] == 0).all()
    assert isinstance(one.draw(static, adapting), Figure)


def test_pairs_of_spikes_add_to_a_synapse_what_the_equations_say_and_it_springs_back():
    one = example("one_synapse")
    before, response = one.pair(lag_ms=10.0)
    assert (response.time_ms - before).tolist() == [10.0] * 5
    time_ms, f = response.sampled.time_ms, response.sampled.short_term[:, 0, 0]
    at = np.searchsorted(time_ms, response.time_ms, side="right")
    decayed = one.expected_f(10.0) * np.exp(-(time_ms[at] - response.time_ms) / one.RULE.memory_ms)
    np.testing.assert_allclose(f[at], decayed, rtol=1e-9)
    after = time_ms > response.time_ms[-1]
    assert abs(one.time_constant_ms(time_ms[after], f[after]) - 300.0) < 1e-6
    window = one.plot.measure_stdp_window(one.RULE, longest_ms=20.0)
    assert isinstance(one.draw(before, response, window), Figure)


def test_a_sweep_gives_the_same_scores_in_this_process_as_on_workers():
    one = example("parameter_sweep")
    one.PULLS, one.MEMORIES = (0.0, 3.0), (3.0,)
    scores = one.sweep(workers=2, n_steps=50, seeds=(0,))
    again = [[one.score(pull, 3.0, n_steps=50, seeds=(0,))] for pull in (0.0, 3.0)]
    assert np.array_equal(scores, again)
    assert scores[1, 0] > scores[0, 0]
    assert isinstance(one.draw(scores), Figure)
