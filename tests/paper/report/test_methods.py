"""The table of ways to follow the video."""

from dataclasses import dataclass, field

from springback_paper.report.tables import methods_table


@dataclass(frozen=True)
class Run:
    accuracy: dict[str, float]
    settings: dict[str, str]
    still: float = 0.99
    video: str = "OMNIST"
    practice: dict[str, float] = field(default_factory=lambda: {"static": 0.5, "elastic": 0.9})


def test_a_row_is_a_method_with_the_mean_over_its_seeds_and_the_best_comes_first():
    table = methods_table(
        [
            Run({"static": 0.60, "elastic": 0.97}, {"static": "", "elastic": "pull 20"}),
            Run({"static": 0.62, "elastic": 0.99}, {"static": "", "elastic": "pull 40"}),
        ]
    )
    assert table.rows == (
        ("elastic", "pull 20; pull 40", "90.00 ± 0.00", "98.00 ± 1.41"),
        ("static", "-", "50.00 ± 0.00", "61.00 ± 1.41"),
    )
    assert "99.00 ± 0.00 % on still test digits" in table.caption


def test_a_single_seed_has_no_spread():
    table = methods_table([Run({"static": 0.60}, {"static": ""})])
    assert table.rows == (("static", "-", "50.00", "60.00"),)
