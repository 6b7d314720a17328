"""`springback bench streams`: all methods on all streams, then the results as JSON, and the page from the JSON alone.

python -m springback_bench.comparison [--quick] [--stream NAME]... [--method NAME]... [--workers N] [--out FOLDER]
    [--trials N] [--splits N]
python -m springback_bench.comparison --page      only write the page and its figure again, from the results as they are

Every result is stored under a digest of all it depends on, so a run that was stopped continues where it stopped. The
page shows all stored results for the same trials and frames, those of earlier runs included. A run of some streams or
methods alone prints what it has measured; if there are results of a run with the same trials and frames, its own take
their places among them.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from springback import __version__
from springback.check import DataError
from springback.cli.display import note, spinner
from springback.extras import MissingExtraError, is_installed
from springback.files.atomic import atomic_file
from springback.heads.tuning_result import VARIANTS, Variant
from springback_bench.comparison.cells import score_cell
from springback_bench.comparison.first_settings import measure_picked, pick_for, streams_made
from springback_bench.comparison.measure import Measured, measure_rival, measure_static
from springback_bench.comparison.methods import Own, all_methods, method_names
from springback_bench.comparison.page import write_page
from springback_bench.comparison.scope import FULL, QUICK, ComparisonScope
from springback_bench.machine import OtherWork, describe_machine, describe_versions, today
from springback_bench.place import ROOT
from springback_bench.rivals import Rival
from springback_bench.rounding import rounded
from springback_bench.stream_sets import StreamSet, load_stream, sizes_made, stream_sets
from springback_bench.stream_sets.split_file import SplitSizes
from springback_paper.cli.run_display import run_display
from springback_paper.runner.pools import LocalPool, Pool
from springback_paper.runner.run import TaskStore, run_tasks
from springback_paper.runner.task import Task

RESULTS, KEPT = "docs/data/streams.json", "build/streams"
NETWORK_STREAMS = ("corruptions-correlated", "corruptions-iid")

Results = dict[str, Any]


def tasks_of(one: StreamSet, scope: ComparisonScope, methods: Collection[str] | None = None) -> list[Task]:
    """Every method, or some of them, on every split of a stream set, and what they need."""
    found = []
    for method in all_methods():
        run = _runner(method, one, scope)
        if run is None or (methods is not None and method.name not in methods):
            continue
        first = _picking(method)
        found += [first] if first else []
        for split in splits_of(one, scope):
            sizes = sizes_made(one.name, split)
            params = {"name": one.name, "split": split, "version": one.version, "scope": replace(scope, splits=None)}
            found.append(
                Task(
                    name=task_name(one.name, split, method.name),
                    run=run.func,
                    params={**params, **run.keywords},
                    needs={"first": first.name} if first else {},
                    modules=(method.method.__module__,) if isinstance(method, Rival) else (),
                    seconds=_seconds(method, scope, sizes),
                )
            )
    return found


def _picking(method: Own | Rival) -> Task | None:
    """What chooses the settings that a rival tries first, if its file has none."""
    if method.kind != "rival" or method.first:
        return None
    params = {"method": method.name, "streams": streams_made()}
    return Task(
        name=f"first.{method.name}",
        run=pick_for,
        params=params,
        needs={},
        modules=(method.method.__module__,),
        seconds=60,
    )


def _seconds(method: Own | Rival, scope: ComparisonScope, sizes: SplitSizes | None) -> float:
    """What a task takes, roughly: to begin with the longest, and to say how much time is left."""
    if sizes is None:
        return 1.0
    validation = scope.slow_validation if method.slow else scope.validation
    if method.kind == "network":
        frames = scope.network_trials * scope.network_validation
        timed = scope.network_timed
    else:
        trials = scope.trials // len(VARIANTS) if method.kind == "variant" else scope.trials
        trials = 0 if method.name in ("static", "untuned") else trials
        frames = trials * min(validation, sizes.validation)
        timed = scope.timed
    frames += 2 * min(scope.test, sizes.test) + 3 * timed
    return max(0.1, 1e-6 * method.microseconds * frames * sizes.classes / 10)


def task_name(stream: str, split: int, method: str) -> str:
    """The name of a result."""
    return f"{stream}-{split}.{method}"


def splits_of(one: StreamSet, scope: ComparisonScope) -> range:
    """The splits that are measured."""
    return range(one.splits if scope.splits is None else min(scope.splits, one.splits))


def _runner(method: Own | Rival, one: StreamSet, scope: ComparisonScope) -> "partial[Measured] | None":
    """What measures a method on a stream; None if it cannot follow it, or follows from others."""
    from springback_bench.comparison import ours

    if method.kind == "static":
        return partial(measure_static)
    if isinstance(method, Rival) and method.kind == "rival":
        found = partial(measure_rival, first=method.first_settings) if method.first else partial(measure_picked)
        return partial(found, method=method.name)
    if method.kind == "variant":
        return partial(ours.measure_variant, variant=cast(Variant, method.name))
    if method.kind == "network":
        if one.name not in NETWORK_STREAMS or not scope.network_trials or not is_installed("torch"):
            return None
        from springback_bench.comparison.networks import measure_network

        return partial(measure_network, method=method.name)
    others = {
        "untuned": ours.measure_untuned,
        "unlabelled": ours.measure_unlabelled,
        "several": ours.measure_several,
        "springback": ours.measure_tuned,
    }
    return partial(others[method.name]) if method.name in others else None


def prepare(sets: Sequence[StreamSet], scope: ComparisonScope) -> dict[str, str]:
    """Make the splits that are not in the data home yet, one after the other; why some streams are absent, by name."""
    absent = {}
    for one in sets:
        for split in splits_of(one, scope):
            if sizes_made(one.name, split) is None:
                try:
                    with spinner(f"{one.name}, split {split}") as report:
                        load_stream(one.name, split, report=report)
                except (DataError, MissingExtraError, OSError) as error:
                    absent[one.name] = str(error)
                    break
    return absent


def measure(
    sets: Sequence[StreamSet],
    scope: ComparisonScope,
    folder: Path,
    make_pool: Callable[[], Pool],
    methods: Collection[str] | None = None,
) -> Results:
    """Measure what is not kept yet; the results of all streams, those that earlier runs have kept included."""
    others, absent = OtherWork(), prepare(sets, scope)
    there = [one for one in sets if one.name not in absent]
    tasks = _once(task for one in there for task in tasks_of(one, scope, methods))
    with run_display(tasks) as on_event:
        failed = run_tasks(tasks, TaskStore(folder, tasks), make_pool, on_event)
    for name, reason in failed.items():
        note(f"{name} failed: {reason}")
    store = TaskStore(folder, _once(task for one in stream_sets().values() for task in tasks_of(one, scope)))
    kept = store.load_all()
    found = {name: results_of(one, scope, kept) for name, one in stream_sets().items()}
    measured = {name: one for name, one in found.items() if one}
    return {
        "made": {
            "date": today(),
            "springback": __version__,
            "full": scope == FULL,
            "task_seconds": sum(store.timing(name).seconds for name in kept),
        },
        "scope": asdict(scope),
        "machine": {**describe_machine(), "cores_busy_elsewhere": others.cores()},
        "versions": describe_versions(),
        "methods": [
            {"name": one.name, "title": one.title, "about": one.about, "kind": one.kind, "slow": one.slow}
            for one in all_methods()
        ],
        "streams": {name: _about(stream_sets()[name], scope) for name in measured},
        "results": measured,
        "absent": {
            name: absent.get(name, "not measured in this run") for name in stream_sets() if name not in measured
        },
        "failed": failed,
    }


def _once(tasks: Iterable[Task]) -> list[Task]:
    """The tasks without those that several streams need and that are therefore named several times."""
    return list({task.name: task for task in tasks}.values())


def _about(one: StreamSet, scope: ComparisonScope) -> Results:
    sizes = [size for split in splits_of(one, scope) if (size := sizes_made(one.name, split)) is not None]
    return {
        "title": one.title,
        "source": one.source,
        "step": one.step,
        "real": one.real,
        "splits": len(splits_of(one, scope)),
        "classes": max((size.classes for size in sizes), default=0),
        "validation": [min(size.validation, scope.validation) for size in sizes],
        "test": [min(size.test, scope.test) for size in sizes],
    }


def results_of(one: StreamSet, scope: ComparisonScope, kept: Mapping[str, Measured]) -> Results:
    """What each method did on a stream set, split by split; empty if the frozen network was not measured everywhere.

    A method for which no settings were better than the frozen network on the validation streams is not used: it
    answers as the frozen network does.
    """
    splits = splits_of(one, scope)
    rows: dict[str, list[Measured]] = {}
    for method in all_methods():
        names = [task_name(one.name, split, method.name) for split in splits]
        if all(name in kept for name in names):
            rows[method.name] = [kept[name] for name in names]
    if "static" not in rows:
        return {}
    return {name: _table_row(found, rows["static"]) for name, found in rows.items()}


def _table_row(found: Sequence[Measured], static: Sequence[Measured]) -> Results:
    used = [rest if one.frozen else one for one, rest in zip(found, static, strict=True)]
    by_gap = {gap: [one.by_gap[gap] for one in used if gap in one.by_gap] for gap in sorted(used[0].by_gap, key=int)}
    return {
        "accuracy": [one.accuracy for one in used],
        "shuffled": [one.shuffled for one in used],
        "calibration_error": [one.calibration_error for one in used],
        "at_coverage": [one.at_coverage for one in used],
        "frozen": [one.frozen for one in found],
        "variant": [one.variant for one in found],
        "settings": [one.settings for one in found],
        "microseconds": found[0].microseconds,
        "state_bytes": found[0].state_bytes,
        **({"by_gap": by_gap} if by_gap else {}),
    }


def methods_for(names: Sequence[str]) -> set[str]:
    """What must be measured for some methods: the frozen network, because it stands in where nothing was gained."""
    return {"static", *names}


def joined(earlier: Results, found: Results) -> Results:
    """Earlier results, in which those of another run take their places; methods that are gone are left out."""
    names = {one["name"] for one in found["methods"]}
    streams = [name for name in stream_sets() if name in {**earlier["streams"], **found["streams"]}]
    results = {name: {**earlier["results"].get(name, {}), **found["results"].get(name, {})} for name in streams}
    before = earlier["made"]
    made = {name: value for name, value in found["made"].items() if name != "task_seconds"}  # unknown for both together
    return {
        **found,
        "made": {**made, "since": before.get("since", before["date"])},
        "streams": {name: found["streams"].get(name, earlier["streams"].get(name)) for name in streams},
        "results": {name: {one: row for one, row in rows.items() if one in names} for name, rows in results.items()},
        "absent": {name: why for name, why in found["absent"].items() if name not in streams},
        "waiting": earlier.get("waiting", {}),
    }


def summary(found: Results, streams: Sequence[str], methods: Sequence[str]) -> str:
    """What a run of some streams or methods has found, a line for each method on each stream.

    >>> row = {"accuracy": [0.5, 0.75], "shuffled": [0.5, 0.5]}
    >>> print(summary({"results": {"pond": {"static": row}}}, ["pond", "sea"], ["static", "t3a"]))
    pond, static: 62.5 ± 17.7 % right, 50.0 ± 0.0 % in random order
    """
    return "\n".join(
        f"{stream}, {method}: {score_cell(found, stream, method)} % right, "
        f"{score_cell(found, stream, method, 'shuffled')} % in random order"
        for stream in streams
        for method in methods
        if method in found["results"].get(stream, {})
    )


def write(found: Results, root: Path = ROOT) -> None:
    """The results as JSON, then page and figure from the JSON alone."""
    (root / RESULTS).parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(root / RESULTS) as file:
        file.write((json.dumps(rounded(found), indent=1) + "\n").encode())
    write_page(json.loads((root / RESULTS).read_text()), root)


def main(arguments: list[str] | None = None) -> None:
    """Read the options, measure, print or write."""
    options = argparse.ArgumentParser(prog="springback bench streams")
    options.add_argument("--quick", action="store_true")
    options.add_argument("--stream", action="append", choices=tuple(stream_sets()), metavar="NAME")
    options.add_argument("--method", action="append", choices=method_names(), metavar="NAME")
    options.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options.add_argument("--out", type=Path, default=ROOT)
    options.add_argument("--page", action="store_true")
    options.add_argument("--trials", type=int)
    options.add_argument("--splits", type=int)
    given = options.parse_args(arguments)
    if given.page:
        if not (ROOT / RESULTS).is_file():
            options.error(f"--page needs the results of an earlier run, {ROOT / RESULTS}")
        write_page(json.loads((ROOT / RESULTS).read_text()), given.out)
        return
    changed = {name: value for name in ("trials", "splits") if (value := getattr(given, name)) is not None}
    scope = replace(QUICK if given.quick else FULL, **changed)
    names = given.stream or list(stream_sets())
    methods = methods_for(given.method) if given.method else None
    pool = partial(LocalPool, given.workers)
    found = measure([stream_sets()[name] for name in names], scope, given.out / KEPT, pool, methods)
    if not found["results"]:
        sys.exit("no stream could be measured")
    if given.stream or given.method:
        print(summary(found, names, [one for one in method_names() if methods is None or one in methods]))
        earlier = json.loads((given.out / RESULTS).read_text()) if (given.out / RESULTS).is_file() else {}
        if earlier.get("scope") != found["scope"]:
            return
        found = joined(earlier, found)
    write(found, given.out)
    note(f"written: {given.out / RESULTS}, {given.out / 'docs/streams.md'}")
