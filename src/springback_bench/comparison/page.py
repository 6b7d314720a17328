"""Turn the results into docs/streams.md. Nothing is measured here; every number comes from the JSON file."""

from pathlib import Path
from typing import Any

from springback.files.atomic import atomic_file
from springback.streaming.wording import duration, percent
from springback_bench.comparison.cells import bold, counted, link, score_cell, signed, titles_of
from springback_bench.comparison.plots import draw_gaps, gap_streams
from springback_bench.comparison.tables import (
    all_methods,
    calibration,
    cost,
    random_order,
    streams_and_methods,
    waiting,
)
from springback_bench.comparison.verdicts import (
    ONE_MEMORY,
    OURS,
    STATIC,
    UNLABELLED,
    UNTUNED,
    ahead,
    best_rival,
    has,
    mean_of,
    points,
    splits_behind,
    streams_with,
    verdicts,
)
from springback_bench.markdown import plain, table_row, table_rule
from springback_paper.wording import listed

PAGE, PICTURE = "docs/streams.md", "docs/images/streams_gaps.png"
SAME = 0.005
"""Accuracies that are closer than this count as equal."""

SHOWN = 0.0005
"""The smallest difference that a table shows."""

MEMORIES = {
    "springs": "springs",
    "classes": "class memory",
    "observer": "observer",
    "learning": "learning observer",
    "frozen": "no memory",
}

Results = dict[str, Any]


def write_page(found: Results, root: Path) -> None:
    """Write the page and its figure below `root`."""
    from springback_paper.figures.style import save_figure

    (root / PICTURE).parent.mkdir(parents=True, exist_ok=True)
    if gap_streams(found):
        save_figure(draw_gaps(found), root / PICTURE)
    with atomic_file(root / PAGE) as file:
        file.write(page_of(found).encode())


def page_of(found: Results) -> str:
    """Return the whole page as Markdown."""
    own = (_head, _targets, _summary, _losses, _memories, _gaps)
    parts = (*own, all_methods, random_order, waiting, calibration, cost, streams_and_methods)
    return "\n\n".join(text for part in parts if (text := part(found))) + "\n"


def _head(found: Results) -> str:
    made, machine, scope = found["made"], found["machine"], found["scope"]
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    splits = "all" if scope["splits"] is None else f"the first {scope['splits']}"
    return f"""# Heads that follow a stream, compared

This page was written by `springback bench streams` from `docs/data/streams.json`; do not edit it by hand.

* springback {made["springback"]}, {_date(made)}, {"full run" if made["full"] else "smaller run"}
* {plain(machine["processor"])}, {machine["cores"]} cores, {machine["memory_gib"]} GiB, {machine["system"]},
  Python {machine["python"]}; other programs kept {machine["cores_busy_elsewhere"]:.1f} cores busy
* {versions}

A frozen network looks at a stream, frame by frame, and its last layer, the head, answers each frame. How many more
frames are answered correctly if something follows the stream: our elastic head, or another method of test-time
adaptation? All of them see one frame at a time, and no labels while they answer.

* **Settings.** Every method tries {scope["trials"]} settings on the validation streams of a split, by the same search:
  first eight that suit many streams, then some anywhere, up to half of all, and the others closer and closer to the
  best so far. It keeps those with the highest accuracy. Our head tries {scope["trials"] // 4} settings for each of its
  four kinds of memory. The eight of each method, and of each kind of memory, were chosen by one program on the
  validation streams of the first splits (`springback_bench.comparison.first_settings`).
* **No gain.** A method is only used on a split if its gain over the frozen network on the validation streams is larger
  than twice the standard error of that gain between the streams, or between ten parts of them if there are only one or
  two; otherwise it answers as the frozen network. Our head is used if its gain is above zero, because it is the mean
  of three memories, one of which was not tuned.
* **Test.** The test streams are then answered once. No image, object, person, recording or passage of text is in both.
  Every stream begins at rest.
* **Splits.** Numbers are means over the splits of a stream ({splits}), ± the standard deviation between splits.
* **Long streams** are cut to {scope["validation"]:,} frames for validation and {scope["test"]:,} frames for the test.
{_fewer(found)}{_missing(found)}""".rstrip()


def _date(made: Results) -> str:
    """When it was measured, and how much work it was, if that was one run."""
    if "since" in made:
        return f"{made['since']} to {made['date']}, some streams and methods later than others"
    return f"{made['date']}, {duration(made['task_seconds'])} of work in all"


def _fewer(found: Results) -> str:
    scope = found["scope"]
    slow = listed([one["title"] for one in found["methods"] if one["slow"]])
    networks = listed([one["title"] for one in found["methods"] if one["kind"] == "network"])
    lines = (
        f"* **Slow methods.** {slow} take far longer than the others, so they choose their settings on at most\n"
        f"  {scope['slow_validation']:,} frames.\n"
    )
    if not scope["network_trials"]:
        return lines + f"* **Left out** of this smaller run: {networks}, which adapt the network itself.\n"
    return lines + (
        f"* **Methods that adapt the network.** {networks} need normalisation layers in the network and gradients.\n"
        f"  They run on the corrupted photographs alone, and try {scope['network_trials']} settings on\n"
        f"  {scope['network_validation']:,} frames.\n"
    )


def _missing(found: Results) -> str:
    lines = ""
    if found["absent"]:
        lines += f"* **Not measured**: {listed([f'`{name}`' for name in found['absent']])}.\n"
    if "since" in found["made"]:
        lines += "* **Empty cells** of the tables below were not measured yet, or not on all splits.\n"
    if found["failed"]:
        lines += f"* **Failed**: {listed([f'{name} ({plain(why)})' for name, why in found['failed'].items()])}.\n"
    return lines


def _targets(found: Results) -> str:
    lines = ["## Targets", "", table_row("target", "", "missed on (points)"), table_rule(3)]
    for one in verdicts(found):
        missed = ", ".join(f"{link(name)} ({signed(by)})" for name, by in one.missed)
        lines.append(table_row(one.target, "met" if one.met else "**missed**", missed))
    return "\n".join(lines)


def _summary(found: Results) -> str:
    titles = titles_of(found)
    lines = [
        "## In short",
        "",
        "Percent of the frames of the test streams that are answered correctly. *Ahead* is how many points our head,",
        "tuned with labels, is above the best other method.",
        "",
        table_row("stream", "frozen", "best other method", "untuned", "tuned without labels", "tuned", "ahead"),
        table_rule(7),
    ]
    for name in found["streams"]:
        rival = best_rival(found, name)
        lines.append(
            table_row(
                link(name),
                score_cell(found, name, STATIC),
                f"{score_cell(found, name, rival)} ({titles[rival]})",
                *(score_cell(found, name, one) for one in (UNTUNED, UNLABELLED, OURS)),
                signed(ahead(found, name)) if has(found, name, OURS) else "",
            )
        )
    return "\n".join(lines)


def _losses(found: Results) -> str:
    streams = streams_with(found, OURS)
    if not streams:
        return ""
    titles = titles_of(found)
    lost = sorted((one for one in streams if ahead(found, one) <= -SHOWN), key=lambda one: ahead(found, one))
    lines = ["## Where it loses", ""]
    for name in lost:
        rival, splits = best_rival(found, name), len(found["results"][name][OURS]["accuracy"])
        ours, theirs = (percent(mean_of(found, name, one), 1) for one in (OURS, rival))
        lines += [
            f"* On {link(name)}, our head is {percent(-ahead(found, name), 1)} points behind *{titles[rival]}*",
            f"  ({ours} against {theirs}); it is behind in {splits_behind(found, name)} of {counted(splits, 'split')}.",
        ]
    won = len(streams) - len(lost)
    if lost and won:
        lines += ["", f"On the others ({won} of {len(streams)} streams), no other method is better on average."]
    elif won:
        lines.append("On no stream that was measured is another method better on average.")
    return "\n".join(lines)


def _memories(found: Results) -> str:
    variants = [one["name"] for one in found["methods"] if one["kind"] == "variant"]
    streams = streams_with(found, ONE_MEMORY, *variants)
    if not streams:
        return ""
    lines = [
        "## Which memory suits which stream",
        "",
        "The four kinds of memory of our head, each tuned alone with labels on the validation streams, and in how",
        "many splits each of them is the one that `tune_head` chooses.",
        "",
        table_row("stream", *(MEMORIES[one] for one in variants), "chosen"),
        table_rule(len(variants) + 2),
    ]
    wanted: dict[str, list[str]] = {}
    for name in streams:
        scores = {one: mean_of(found, name, one) for one in variants}
        best = max(scores.values())
        chosen = found["results"][name][ONE_MEMORY]["variant"]
        counts = ", ".join(f"{MEMORIES[one]} {chosen.count(one)}" for one in MEMORIES if one in chosen)
        cells = [bold(score_cell(found, name, one), scores[one] == best) for one in variants]
        lines.append(table_row(link(name), *cells, counts))
        near = [one for one in variants if scores[one] >= best - SAME]
        wanted.setdefault(near[0] if len(near) == 1 else "", []).append(link(name))
    lines.append("")
    lines += [f"* Clearly best with {MEMORIES[one]}: {listed(wanted[one])}." for one in variants if one in wanted]
    if "" in wanted:
        lines.append(f"* At least two kinds within {points(SAME)} points of the best: {listed(wanted[''])}.")
    return "\n".join(lines)


def _gaps(found: Results) -> str:
    if not gap_streams(found):
        return ""
    ours = "our head, " if has(found, gap_streams(found)[0], OURS) else ""
    return f"""## How long it remembers

A digit goes out of sight, and returns with most of it still covered. How often is it recognised after the return? The
figure shows {ours}the frozen network, and the other methods that are best on `{gap_streams(found)[0]}`.

![accuracy after the return of a digit, against how long it was away](images/{Path(PICTURE).name})"""
