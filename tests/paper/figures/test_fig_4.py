"""The figures of the comparison, from made-up numbers."""

import io
from itertools import pairwise

import pytest

from springback_paper.figures.breakdown import spread_out
from springback_paper.figures.exhibit import models_run
from springback_paper.figures.fig_4a import draw as draw_comparison
from springback_paper.figures.fig_4b import draw as draw_occlusion
from springback_paper.figures.fig_4b_ink import draw as draw_ink
from springback_paper.models import GROUPS, MODELS, QUALITIES

DRAWN = {key: model for key, model in MODELS.items() if model.in_figures}
ROWS = ("0", "3", "6", "9", "12", "15", "18", "19")
TENTHS = tuple(f"{low}-{low + 10}" for low in range(0, 100, 10))


def stat(mean, n=3):
    """A statistic with this mean in percent."""
    return {"mean": mean / 100, "std": 0.005, "n": n, "values": [mean / 100] * n}


def made_up(models, paper=()):
    place = {model: number for number, model in enumerate(MODELS)}
    return {
        "omnist_test": {model: stat(50.0 + place[model]) for model in models},
        "by_rows_hidden": {
            model: {rows: stat(90.0 - place[model] - int(rows)) for rows in ROWS} | {"noise": stat(95.0)}
            for model in models
        },
        "by_ink_hidden": {
            model: {tenth: stat(90.0 - place[model] - at) for at, tenth in enumerate(TENTHS)} | {"noise": stat(94.0)}
            for model in models
        },
        "paper": {"omnist_test": {model: {**stat(60.0 + place[model]), "n": None} for model in paper}},
    }


def words(axes):
    return [one.get_text() for one in axes.texts]


def test_models_stand_in_the_order_of_their_groups():
    places = [GROUPS.index(model.group) for model in MODELS.values()]
    assert places == sorted(places)


def test_qualities_are_known_and_none_is_had_both_wholly_and_partly():
    for model in MODELS.values():
        assert model.qualities | model.partly <= set(QUALITIES)
        assert not model.qualities & model.partly
    assert all("no labels" in MODELS[key].qualities for key in ("spiking_st_stdp", "elastic"))
    assert not MODELS["lstm_omnist"].qualities | MODELS["cnn_omnist"].qualities


def test_all_models_are_drawn_each_at_its_mean():
    figure = draw_comparison(made_up(MODELS))
    accuracies = figure.axes[0]
    names = [label.get_text() for label in accuracies.get_yticklabels()]
    assert names == [model.short_name for model in DRAWN.values()]
    drawn = {float(line.get_xdata()[0]) for line in accuracies.lines if len(line.get_xdata()) == 1}
    assert sorted(drawn) == pytest.approx([50.0 + place for place, model in enumerate(MODELS) if model in DRAWN])
    assert {"50.0 ± 0.5", "51.0 ± 0.5"} <= set(words(accuracies))
    figure.savefig(io.BytesIO(), format="png")


def test_a_model_that_only_the_paper_ran_is_shown_as_not_run_and_one_that_nobody_ran_is_left_out():
    figure = draw_comparison(made_up(["moraitis_static", "elastic"], paper=["moraitis_static", "lstm_omnist"]))
    accuracies = figure.axes[0]
    names = [label.get_text() for label in accuracies.get_yticklabels()]
    assert names == [MODELS[model].short_name for model in ("moraitis_static", "elastic", "lstm_omnist")]
    assert words(accuracies).count("not run") == 1
    drawn = sorted(float(line.get_xdata()[0]) for line in accuracies.lines if len(line.get_xdata()) == 1)
    place = list(MODELS).index
    ran, alone = place("moraitis_static"), place("lstm_omnist")
    assert drawn == pytest.approx(sorted([50.0 + ran, 50.0 + place("elastic"), 60.0 + ran, 60.0 + alone]))


def test_a_caption_names_few_models_with_fewer_seeds_and_counts_many():
    counts = {model: {"n": 5 if place < 3 else 2} for place, model in enumerate(MODELS)}
    said = models_run({"seeds": list(range(10)), "omnist_test": counts})
    first = [MODELS[model].name for model in list(MODELS)[:3]]
    assert (
        f"only the first 5 for {first[0]}, {first[1]} and {first[2]}; only the first 2 for {len(MODELS) - 3} models."
        in said
    )


def test_a_single_run_has_no_deviation_in_words():
    results = made_up(["elastic"])
    results["omnist_test"]["elastic"] = stat(95.0, n=1)
    assert "95.0" in words(draw_comparison(results).axes[0])


def test_each_model_that_was_run_has_one_named_line_and_one_dot_on_noise():
    figure = draw_occlusion(made_up(["spiking_st_stdp", "spiking_static_best", "cnn_mnist", "lstm_omnist"]))
    still, noise, labels, noise_of_labels = figure.axes
    assert words(still) == ["spiking, ST-STDP", "spiking, static at its best"]
    assert words(labels) == ["CNN", "LSTM, video"]
    for panel, expected in ((still, 2), (labels, 3)):  # the highlighted one stands, pale, in the other panel too
        lines = [line for line in panel.lines if len(line.get_xdata()) == len(ROWS)]
        assert len(lines) == expected
        assert all(list(line.get_xdata()) == [int(rows) for rows in ROWS] for line in lines)
    for panel in (noise, noise_of_labels):
        assert [float(line.get_ydata()[0]) for line in panel.lines if len(line.get_ydata()) == 1] == [95.0, 95.0]
    figure.savefig(io.BytesIO(), format="png")


def test_by_ink_each_tenth_is_drawn_at_its_middle_with_the_values_of_its_own_table():
    figure = draw_ink(made_up(["elastic", "cnn_mnist"]))
    still, noise, labels, _ = figure.axes
    assert words(still) + words(labels) == [MODELS[model].short_name for model in ("elastic", "cnn_mnist")]
    (line,) = [line for line in still.lines if len(line.get_xdata()) == len(TENTHS)]
    assert list(line.get_xdata()) == [5.0, 15.0, 25.0, 35.0, 45.0, 55.0, 65.0, 75.0, 85.0, 95.0]
    first = 90.0 - list(MODELS).index("elastic")
    assert list(line.get_ydata()) == pytest.approx([first - at for at in range(10)])
    assert [float(line.get_ydata()[0]) for line in noise.lines if len(line.get_ydata()) == 1] == [94.0]
    figure.savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize("draw", [draw_occlusion, draw_ink])
def test_all_models_at_once_keep_their_labels_apart(draw):
    figure = draw(made_up(MODELS))
    for panel in figure.axes[::2]:
        heights = sorted(text.get_position()[1] for text in panel.texts)
        assert min(b - a for a, b in pairwise(heights)) > 5
    assert sum(len(panel.texts) for panel in figure.axes) == sum(not model.variant for model in DRAWN.values())


@pytest.mark.parametrize("draw", [draw_comparison, draw_occlusion, draw_ink])
def test_no_results_make_an_empty_figure(draw):
    figure = draw({"omnist_test": {}, "by_rows_hidden": {}, "paper": {}})
    figure.savefig(io.BytesIO(), format="png")
    assert not any(panel.patches or panel.collections for panel in figure.axes)


def test_labels_keep_their_order_and_their_distance():
    heights = [99.0, 98.0, 97.0, 40.0, 41.0, 5.0]
    placed = spread_out(heights, gap=6.0, top=101.0)
    order = sorted(range(6), key=lambda at: -heights[at])
    gaps = [placed[a] - placed[b] for a, b in pairwise(order)]
    assert min(gaps) >= 6.0 - 1e-9
    assert max(placed) <= 101.0
    assert placed[5] == 5.0
    assert (placed[3] + placed[4]) / 2 == 40.5
