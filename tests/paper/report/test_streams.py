"""The table of streams."""

from dataclasses import dataclass

from springback.paper.report.streams import streams_table


@dataclass(frozen=True)
class Run:
    stream: str
    still: float
    accuracy: dict[str, float]


def test_a_row_is_a_stream_with_the_mean_over_its_seeds():
    found = {
        "adaptation-0": Run("omnist", 0.99, {"static": 0.6, "elastic": 0.97}),
        "adaptation-1": Run("omnist", 0.98, {"static": 0.62, "elastic": 0.99}),
        "adaptation_mlp_omnist-0": Run("omnist", 0.96, {"static": 0.5, "elastic": 0.9}),
        "adaptation_cnn_shuffled-0": Run("shuffled", 0.99, {"static": 0.6, "elastic": 0.55}),
        "elastic-0": object(),
    }
    table = streams_table(found)
    assert table.columns == ("stream, network", "still images", "static", "elastic")
    assert ("occluded digits (OMNIST), CNN", "98.50 ± 0.71", "61.00 ± 1.41", "98.00 ± 1.41") in table.rows
    assert ("occluded digits (OMNIST), MLP", "96.00", "50.00", "90.00") in table.rows
    assert ("OMNIST in random order, CNN", "99.00", "60.00", "55.00") in table.rows
    assert len(table.rows) == 3


def test_without_streams_there_is_no_table():
    assert streams_table({"elastic-0": object()}) is None
