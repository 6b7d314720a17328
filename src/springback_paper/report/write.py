"""The report of a run: results.json, report.html, report.md, and every figure as PNG, SVG and CSV."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from springback.files.atomic import atomic_file
from springback.streaming.wording import duration
from springback_paper.figures.exhibit import COMPARISON, SECTIONS, Exhibit, exhibits
from springback_paper.figures.table import write_csv
from springback_paper.report.claims import claims_block
from springback_paper.report.descent import descent_table
from springback_paper.report.document import (
    NOT_RUN,
    Block,
    Document,
    FigureBlock,
    Heading,
    Paragraph,
    TableBlock,
    Verdicts,
)
from springback_paper.report.headline import headline
from springback_paper.report.markdown import markdown
from springback_paper.report.page import page
from springback_paper.report.pictures import Picture, pictures_of
from springback_paper.report.tables import comparison_table, methods_table, occlusion_table, speed_table, times_table
from springback_paper.report.theory import theory_table
from springback_paper.runner.pools import Pool
from springback_paper.wording import listed


def write_report(
    folder: Path,
    results: dict[str, Any],
    found: Mapping[str, Any],
    *,
    failed: Mapping[str, str] | None = None,
    shown: Sequence[Exhibit] | None = None,
    pool: Pool | None = None,
) -> dict[str, str]:
    """Write everything into the folder; returns why figures could not be drawn, by name.

    Parameters
    ----------
    results : dict[str, Any]
        The dictionary of results.json.
    found : Mapping[str, Any]
        Results of tasks by name; a figure whose task is missing is shown as not run.
    failed : Mapping[str, str] | None
        Why tasks failed, by name.
    shown : Sequence[Exhibit] | None
        Which figures; None: all.
    pool : Pool | None
        The workers that draw the figures; None: they are drawn here.
    """
    with atomic_file(folder / "results.json") as file:
        file.write((json.dumps(results, indent=1) + "\n").encode())
    wanted = exhibits() if shown is None else shown
    there = [one for one in wanted if _is_there(one, results, found)]
    drawn = pictures_of([(one, found[one.name] if one.run else results) for one in there], pool)
    pictures = {one.name: picture for one, picture in zip(there, drawn, strict=True)}
    figures = {one.name: _block(one, pictures.get(one.name), folder / "figures") for one in wanted}
    undrawn = {name: one.missing for name, one in figures.items() if one.png is None and one.missing != NOT_RUN}
    document = _document(results, found, wanted, figures, {**(failed or {}), **undrawn})
    for name, text in (("report.html", page(document)), ("report.md", markdown(document))):
        with atomic_file(folder / name) as file:
            file.write(text.encode())
    return undrawn


def _is_there(exhibit: Exhibit, results: dict[str, Any], found: Mapping[str, Any]) -> bool:
    return exhibit.name in found if exhibit.run else bool(results["omnist_test"])


def _block(exhibit: Exhibit, drawn: Picture | Exception | None, folder: Path) -> FigureBlock:
    """The figure as the report shows it; its files are written."""
    try:
        if isinstance(drawn, Exception):
            raise drawn
        if drawn is None:
            return FigureBlock(exhibit.name, exhibit.title, exhibit.shows, None)
        for suffix, content in (("png", drawn.png), ("svg", drawn.svg)):
            with atomic_file(folder / f"{exhibit.name}.{suffix}") as file:
                file.write(content)
        write_csv(drawn.numbers, folder / f"{exhibit.name}.csv")
    except Exception as error:
        why = f"could not be drawn ({type(error).__name__}: {error})"
        return FigureBlock(exhibit.name, exhibit.title, exhibit.shows, None, why)
    return FigureBlock(exhibit.name, exhibit.title, drawn.caption, drawn.png)


def _document(
    results: dict[str, Any],
    found: Mapping[str, Any],
    shown: Sequence[Exhibit],
    figures: Mapping[str, FigureBlock],
    failed: Mapping[str, str],
) -> Document:
    first = figures.get("fig_4a")
    others = [figures[one.name] for one in shown if one.section == COMPARISON and one.name != "fig_4a"]
    claims = claims_block(results)
    opening = headline(results)
    blocks: list[Block] = [opening] if opening else []
    blocks += [Verdicts(claims.claims)] if claims else []
    blocks += [Paragraph(_what_was_run(results))]
    blocks += [Heading("The claims of the paper", "claims"), claims] if claims else []
    blocks += [Heading("Every model", "models"), *([first] if first else []), comparison_table(results)]
    rates = descent_table(found)
    blocks += [rates] if rates else []
    blocks += [Heading("Occlusion and noise", "occlusion"), *others]
    blocks += [occlusion_table(results, table) for table in ("by_rows_hidden", "by_ink_hidden") if results[table]]
    theory = theory_table(results)
    blocks += [Heading("The theory as written", "written"), theory] if theory else []
    for section in SECTIONS:
        blocks_of = [figures[one.name] for one in shown if one.section == section != COMPARISON]
        blocks += [Heading(section, section.split()[-1].lower()), *blocks_of] if blocks_of else []
    followed = [result for name, result in found.items() if name.startswith("adaptation-")]
    if followed:
        blocks += [Heading("The elastic head and other methods of adaptation", "adaptation"), methods_table(followed)]
    blocks += [Heading("Speed", "speed"), speed_table(results)]
    if failed:
        rows = tuple((name, reason) for name, reason in sorted(failed.items()))
        blocks += [Heading("What failed", "failed"), TableBlock(("task", "why"), rows, words=(0, 1))]
    blocks += [Heading("How it was made", "made"), Paragraph(_how(results), quiet=True), times_table(results)]
    return Document("Short-term plasticity, reproduced", tuple(blocks))


def _what_was_run(results: dict[str, Any]) -> str:
    scope = results["environment"].get("scope", {})
    seeds = results["seeds"]
    frames = max(scope.get("frames", {}).values(), default=0)
    digits = max(scope.get("test_digits", {}).values(), default=0)
    train = max(scope.get("train_digits", {}).values(), default=0)
    quick = " This is a quick look at a part of the data, not a reproduction." if scope.get("limit") else ""
    missing = "" if scope.get("full") else " Plain gradient descent and the large network are run with --full."
    return (
        f"Models learn from {train:,} still MNIST digits, the spiking networks and elastic clustering without labels, "
        f"and then follow OMNIST: a video of {digits:,} test digits, each slowly hidden and followed by noise "
        f"({frames:,} frames). Only the baselines that say so were trained on such video. "
        f"Seed{'s' if len(seeds) > 1 else ''} {listed([str(seed) for seed in seeds])}; free parameters were tuned on "
        f"training digits alone.{missing}{quick} The paper is {results['paper']['citation']}."
    )


def _how(results: dict[str, Any]) -> str:
    about = results["environment"]
    packages = ", ".join(f"{name} {version}" for name, version in about.get("packages", {}).items() if version)
    total = sum(results["speed"].get("task_seconds", {}).values())
    earlier = about.get("earlier")
    kept = ""
    if earlier is not None:
        kept = f"{len(earlier['models'])} models are those of an earlier run on {earlier['processor']}. "
    return (
        f"springback {results['version']}, Python {about.get('python')}, {packages}; {about.get('processor')}, "
        f"{about.get('cores')} cores. {kept}All tasks together took {duration(total)} on one core each. "
        "The same numbers are in results.json; figures/ has every figure as PNG and SVG, and its numbers as CSV."
    )
