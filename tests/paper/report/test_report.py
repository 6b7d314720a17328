"""The report: nothing invented, nothing left out, one file."""

import json
import re
from dataclasses import dataclass, replace
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.figure import Figure

from springback_paper.catalogue import catalogue_of
from springback_paper.claims.claim import CLAIM_KEYS
from springback_paper.figures.exhibit import exhibits
from springback_paper.report.document import Document, FigureBlock, Heading, Verdicts
from springback_paper.report.page import page
from springback_paper.report.write import write_report
from springback_paper.results.results_json import KEYS, check_results, collect, this_environment, what_was_used
from springback_paper.results.scores import Scores
from springback_paper.run_scope import Scope


@dataclass(frozen=True)
class Result:
    value: float = 1.5


def results():
    scores = [
        Scores(
            n_train=60_000,
            n_test=10_000,
            n_frames=165_050,
            mnist_test={"elastic": 0.949},
            omnist_test={"elastic": 0.9561},
            by_rows_hidden={"elastic": {"0": 0.96, "19": 0.905, "noise": 0.99}},
        ),
        Scores(n_train=60_000, n_test=2000, n_frames=33_000, omnist_test={"sampling_relu": 0.8}),
    ]
    environment = {**this_environment(), "scope": {"full": False, "limit": None, **what_was_used(scores)}}
    return collect(scores, seeds=[0], speed={"task_seconds": {"elastic-0": 75.0}}, environment=environment)


def exhibit(name, fails=False):
    def draw(result):
        if fails:
            raise RuntimeError("no ink")
        figure = Figure(figsize=(2, 1))
        figure.subplots().plot([0, result.value])
        return figure

    draw.__module__ = f"figures.{name}"
    first = next(one for one in exhibits() if one.run is not None)
    return replace(
        first,
        title=f"Title of {name}",
        draw=draw,
        table=lambda r: {"value_mv": [r.value]},
        ran=lambda r: f"value {r.value}.",
    )


@pytest.fixture
def written(tmp_path):
    shown = (exhibit("fig_2b"), exhibit("fig_3a"), exhibit("fig_3c", fails=True))
    found = {"fig_2b": Result(), "fig_3c": Result()}
    undrawn = write_report(tmp_path, results(), found, failed={"x-0": "ValueError: <oops>"}, shown=shown)
    return tmp_path, undrawn


class Outside(HTMLParser):
    """Everything a page would load, and whether every tag is closed."""

    def __init__(self):
        super().__init__()
        self.loads, self.links, self.open = [], [], []

    def handle_starttag(self, tag, attributes):
        kept = self.links if tag == "a" else self.loads
        kept += [value for name, value in attributes if name in ("src", "href", "srcset") and value[0] != "#"]
        self.open += [] if tag in ("meta", "img", "br") else [tag]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_one_file_that_loads_nothing(written):
    text = (written[0] / "report.html").read_text()
    parser = Outside()
    parser.feed(text)
    assert parser.open == []
    assert parser.loads
    assert all(one.startswith("data:image/png;base64,") for one in parser.loads)
    assert "@import" not in text
    assert "url(" not in text
    assert "<script" not in text
    assert 'name="viewport"' in text
    assert "prefers-color-scheme: dark" in text


def test_numbers_stand_beside_the_papers_and_what_is_missing_says_so(written):
    text = (written[0] / "report.md").read_text()
    assert "| Elastic clustering | 95.61 | - | 94.90 | - | still digits, no labels |" in text
    assert "| The paper's spiking network, ST-STDP | not run | 87.90 ± 0.29 | not run | 88.49 ± 0.12 |" in text
    assert "| LSTM on video | not run | 84.78 ± 4.21 | - | - | video, labels |" in text
    assert "Sampling network, ReLU: 2,000" in text
    assert "165,050 frames" in text


def test_the_claims_open_the_report_and_the_theory_has_a_table_of_its_own(tmp_path):
    claim = {
        "claim": "So.",
        "source": "S1",
        "measured": "95 %",
        "verdict": "holds in part",
        "rule": "If.",
        "command": "-",
        "digest": "0",
    }
    theory = Scores(n_train=9, n_test=9, n_frames=9, omnist_test={"theory_line": 0.3, "elastic": 0.9})
    found = collect([theory], seeds=[0], speed={}, environment={"scope": {}})
    write_report(tmp_path, {**found, "claims": [claim]}, {}, shown=())
    text = (tmp_path / "report.md").read_text()
    assert "| So. | 95 % | holds in part | If. | S1 | `-` |" in text
    assert "Claims: 1; holds in part: 1." in text
    assert text.index("The claims of the paper") < text.index("Every model") < text.index("The theory as written")
    assert "| Linear model, the paper's line (Eq. S66) | 30.00 | With 400 classes" in text
    assert text.count("Eq. S66") == 1


def test_a_page_opens_with_its_first_figure_and_a_link_to_every_claim(tmp_path):
    names = ("holds", "stale", "holds")
    claims = tuple(
        dict.fromkeys(CLAIM_KEYS, "") | {"claim": f"Claim {n}.", "verdict": one, "command": f"run --only {n}"}
        for n, one in enumerate(names)
    )
    write_report(tmp_path, {**results(), "claims": list(claims)}, {}, shown=())
    text = (tmp_path / "report.html").read_text()
    figure = FigureBlock("fig_4a", "The headline", "", b"png")
    opening = page(Document("T", (figure, Verdicts(claims), Heading("Claims", "claims"))))
    assert opening.index("The headline") < opening.index('href="#claim-1"') < opening.index("<nav")
    for number in (1, 2, 3):
        assert text.count(f'href="#claim-{number}"') == text.count(f'id="claim-{number}"') == 1
    assert '<b class="verdict holds">holds: 2</b>' in text
    assert '<b class="verdict open">stale: 1</b>' in text
    assert "<code>run <span>--only 2</span></code>" in text
    assert "Claims of the paper: holds **2**, stale **1**" in (tmp_path / "report.md").read_text()


def test_the_headline_has_a_bar_for_each_main_model_and_a_mark_where_the_paper_has_a_number(tmp_path):
    main = Scores(
        n_train=9, n_test=9, n_frames=9, omnist_test={"moraitis_st_stdp": 0.8, "elastic": 0.9, "theory_line": 0.3}
    )
    write_report(tmp_path, collect([main], seeds=[0], speed={}, environment={"scope": {}}), {}, shown=())
    page_text, words = (tmp_path / "report.html").read_text(), (tmp_path / "report.md").read_text()
    assert page_text.index('class="headline"') < page_text.index("<nav")
    opening = page_text.split("<nav")[0]
    assert opening.count('class="track"') == 2
    assert opening.count('<b style="left:87.90%">') == 1
    assert "| The paper's spiking network, ST-STDP | 80.0 | 87.9 | still digits, no labels |" in words
    assert "| Elastic clustering | 90.0 | - | still digits, no labels |" in words


def test_commands_break_only_between_options_and_numbers_stay_with_their_units(tmp_path):
    told = {"claim": "It has 61 %.", "measured": "a 60.0 ± 0.5 %; b", "command": "run --only x-y --full"}
    claim = dict.fromkeys(CLAIM_KEYS, "") | told | {"verdict": "holds"}
    write_report(tmp_path, {**results(), "claims": [claim]}, {}, shown=())
    text = (tmp_path / "report.html").read_text()
    assert "<code>run <span>--only x-y</span> <span>--full</span></code>" in text
    assert "a 60.0\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}0.5\N{NO-BREAK SPACE}%<br>b" in text
    assert "61\N{NO-BREAK SPACE}%" in text


def test_a_figure_is_drawn_missing_or_failed_and_each_is_told(written):
    folder, undrawn = written
    assert undrawn == {"fig_3c": "could not be drawn (RuntimeError: no ink)"}
    text = (folder / "report.md").read_text()
    assert "![Title of fig_2b](figures/fig_2b.png)" in text
    assert "Run: value 1.5." in text
    assert re.search(r"Title of fig_3a\n\n\(not run\)", text)
    assert "(could not be drawn (RuntimeError: no ink))" in text
    assert sorted(path.name for path in (folder / "figures").iterdir()) == [
        "fig_2b.csv",
        "fig_2b.png",
        "fig_2b.svg",
    ]


def test_the_numbers_of_a_drawn_figure_are_linked_beside_it_and_no_others(written):
    folder = written[0]
    parser = Outside()
    parser.feed((folder / "report.html").read_text())
    assert parser.links == ["figures/fig_2b.csv"]
    assert (folder / "report.md").read_text().count(".csv)") == 1
    assert "Run: value 1.5." in (folder / "report.md").read_text()
    assert (folder / "figures" / "fig_2b.csv").read_bytes() == b"value_mv\n1.5\n"


def test_a_figure_of_the_comparison_without_numbers_is_not_run(tmp_path):
    shown = [one for one in exhibits() if one.name in ("fig_4b", "fig_4b_ink")]
    assert write_report(tmp_path, results(), {}, shown=shown) == {}
    text = (tmp_path / "report.md").read_text()
    assert "![Fig. 4b: accuracy against occlusion, and on noise](figures/fig_4b.png)" in text
    assert re.search(r"### Fig\. 4b by ink.*\n\n\(not run\)", text)
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == ["fig_4b.csv", "fig_4b.png", "fig_4b.svg"]


def test_failures_are_listed_and_nothing_is_taken_for_markup(written):
    text = (written[0] / "report.html").read_text()
    assert "ValueError: &lt;oops&gt;" in text
    assert "<oops>" not in text
    assert "What failed" in text


def test_results_json_is_of_the_promised_form(written):
    found = json.loads((written[0] / "results.json").read_text())
    check_results(found)
    assert set(found) == set(KEYS)


def test_every_exhibit_is_in_the_catalogue_with_its_task():
    catalogue = catalogue_of(Scope(full=True))
    tasks = {task.name for task in catalogue.tasks}
    for one in exhibits():
        assert one.name in catalogue.entries
        assert one.run is None or one.name in tasks
    assert not {name for name in set(catalogue.entries) - {one.name for one in exhibits()} if name.startswith("fig_")}


def test_frames_are_drawn_from_what_was_kept():
    @dataclass(frozen=True)
    class Frames:
        frames: np.ndarray
        labels: np.ndarray
        rows_hidden: np.ndarray
        video: str

    shown = Frames(
        np.arange(3 * 784, dtype=np.uint8).reshape(3, 28, 28), np.array([7, 7, 10]), np.array([0, 3, -1], np.int16), "v"
    )
    one = next(one for one in exhibits() if one.name == "fig_3a")
    titles = [axes.get_title() for axes in one.draw(shown).axes]
    assert titles[:3] == ["7, 0 rows", "7, 3 rows", "noise"]
    assert one.caption(shown).startswith("The beginning")


def test_a_page_and_its_markdown_twin_have_the_same_figures(written):
    folder = written[0]
    for text, marks in (((folder / "report.html").read_text(), "<h3>"), ((folder / "report.md").read_text(), "### ")):
        assert text.count(marks) == 3
