"""The long tables of docs/streams.md: all methods, random order, calibration, cost, the streams themselves."""

from statistics import mean, stdev
from typing import Any

from springback.streaming.wording import percent
from springback_bench.comparison.cells import between, bold, link, score_cell, signed, size
from springback_bench.comparison.scores import BINS, COVERAGE
from springback_bench.comparison.verdicts import (
    OURS,
    STATIC,
    UNLABELLED,
    UNTUNED,
    best_rival,
    has,
    mean_of,
    streams_with,
)
from springback_bench.markdown import number, plain, table_row, table_rule
from springback_paper.wording import listed

Results = dict[str, Any]


def all_methods(found: Results) -> str:
    """Accuracy of every method on every stream."""
    lines = ["## All methods", "", "Percent of frames answered correctly; the best method of each stream in bold."]
    best = {
        name: max(mean_of(found, name, one["name"]) for one in _compared(found) if has(found, name, one["name"]))
        for name in found["streams"]
    }

    def cell(stream: str, method: str) -> str:
        return bold(score_cell(found, stream, method), mean_of(found, stream, method) == best[stream])

    return "\n".join(lines + _by_method(found, cell))


def random_order(found: Results) -> str:
    """What every method does to frames in random order."""
    lines = [
        "## Frames in random order",
        "",
        "The same settings on the frames of the test streams in random order. There is nothing to follow, so a method",
        "should do no harm. The first row shows the percent of frames that the frozen network answers correctly, the",
        "others the difference to it in points.",
    ]

    def cell(stream: str, method: str) -> str:
        at_rest = mean_of(found, stream, STATIC, "shuffled")
        if method == STATIC:
            return percent(at_rest, 1)
        return signed(mean_of(found, stream, method, "shuffled") - at_rest)

    return "\n".join(lines + _by_method(found, cell))


def waiting(found: Results) -> str:
    """Accuracy of the observer against how many frames an answer waits for; empty if it was not measured."""
    measured: dict[str, dict[str, list[float]]] = found.get("waiting", {})
    if not measured:
        return ""
    waits = list(next(iter(measured.values())))
    lines = [
        "## Answers that may wait",
        "",
        "Percent of the frames of recorded streams that the observer answers correctly if an answer may wait for some",
        "frames after its own (`track(lag=)`), or for the whole stream (`smooth`). The settings are those that were",
        "chosen for answers at once; on a split where they were not better than no memory, the frozen network answers.",
        "Where `evidence=0` was chosen, as on `cocktail`, a frame says nothing of the class of those before, so no",
        "wait changes an answer. Measured by `python -m springback_bench.comparison.waiting`.",
        "",
        table_row("stream", "frozen", *(wait if wait == "whole stream" else f"wait {wait}" for wait in waits)),
        table_rule(2 + len(waits)),
    ]
    for stream, row in measured.items():
        cells = [percent(mean(values), 1) + f" ± {percent(stdev(values), 1)}" for values in row.values()]
        lines.append(table_row(link(stream), score_cell(found, stream, STATIC), *cells))
    return "\n".join(lines)


def _compared(found: Results) -> list[Results]:
    return [one for one in found["methods"] if one["kind"] != "variant"]


def _by_method(found: Results, cell: Any) -> list[str]:
    """Tables of methods (rows) and streams (columns), recorded streams and drawn ones apart."""
    lines: list[str] = []
    for real, what in ((True, "recorded"), (False, "drawn by springback")):
        streams = streams_with(found, STATIC, real=real)
        if not streams:
            continue
        lines += ["", table_row(what, *map(link, streams)), table_rule(len(streams) + 1)]
        for one in _compared(found):
            cells = [cell(name, one["name"]) if has(found, name, one["name"]) else "" for name in streams]
            if any(cells):
                lines.append(table_row(one["title"], *cells))
    return lines


def calibration(found: Results) -> str:
    """How far the probabilities can be trusted."""
    silent = percent(1 - COVERAGE, 0)
    lines = [
        "## Can the probabilities be trusted?",
        "",
        f"The expected calibration error ({BINS} bins) is how far the probability of an answer and the share of",
        "correct answers lie apart, on average, in percent. The second table has the accuracy if a method may skip",
        f"the {silent} % of frames that it is least certain of. The best other method is the one with the highest",
        "accuracy on all frames.",
    ]
    shown = ("frozen", "best other method", "untuned", "tuned without labels", "tuned")
    for score, title in (
        ("calibration_error", "calibration error"),
        ("at_coverage", f"accuracy at {percent(COVERAGE, 0)} % coverage"),
    ):
        lines += ["", table_row(title, *shown), table_rule(len(shown) + 1)]
        for name in found["streams"]:
            methods = (STATIC, best_rival(found, name), UNTUNED, UNLABELLED, OURS)
            lines.append(table_row(link(name), *(score_cell(found, name, one, score) for one in methods)))
    return "\n".join(lines)


def cost(found: Results) -> str:
    """Time and memory on the streams with the fewest and the most classes, and where networks are adapted."""
    streams = list(found["streams"])
    by_classes = [pick(streams, key=lambda name: found["streams"][name]["classes"]) for pick in (min, max)]
    adapted = {one["name"] for one in found["methods"] if one["kind"] == "network"}
    networks = [name for name in streams if adapted & found["results"][name].keys()][:1]
    chosen = list(dict.fromkeys((*by_classes, *networks)))
    lines = [
        "## What it costs",
        "",
        f"Processor time per frame on one thread of {plain(found['machine']['processor'])}, the median of three,",
        "and the bytes of the state. The network itself and the weights of the frozen head come on top, except for",
        "methods that adapt the network. Methods that read logits get them for free; those that read features",
        "compute them. Settings are those chosen for the stream, and they matter: a longer window costs more.",
        "",
        table_row("", *(f"{link(name)}: {unit}" for name in chosen for unit in ("us per frame", "state"))),
        table_rule(1 + 2 * len(chosen)),
    ]
    for one in found["methods"]:
        cells: list[str] = []
        for name in chosen:
            row = found["results"][name].get(one["name"])
            cells += [number(row["microseconds"]), size(row["state_bytes"])] if row else ["", ""]
        if any(cells):
            lines.append(table_row(one["title"], *cells))
    return "\n".join(lines)


def streams_and_methods(found: Results) -> str:
    """What each stream is and where it comes from, and what each method does."""
    lines = [
        "## The streams",
        "",
        "`springback data streams` lists them, fetches what they need, and makes them.",
        "",
        table_row("stream", "what is asked", "one step", "classes", "frames for validation", "frames for the test"),
        table_rule(6),
    ]
    sources: dict[str, list[str]] = {}
    for name, about in found["streams"].items():
        frames = [between(about[part]) for part in ("validation", "test")]
        named = f'<span id="{name}"></span>`{name}`'
        lines.append(table_row(named, about["title"], about["step"], str(about["classes"]), *frames))
        sources.setdefault(about["source"], []).append(f"`{name}`")
    lines += ["", "Where they come from:", ""]
    lines += [f"* {listed(names)}: {source}" for source, names in sources.items()]
    lines += ["", "## The methods", ""]
    lines += [f"* **{one['title']}**: {one['about']}." for one in found["methods"]]
    return "\n".join(lines)
