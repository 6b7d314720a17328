"""`springback bench`: measure everything in one run, then write the results, the plots and the page.

python -m springback_bench.speed [--quick] [--peers brian2,bindsnet] [--out FOLDER]
python -m springback_bench.speed --parts spiking     only these parts now; the page is written when all are there
python -m springback_bench.speed --page              only write the page and plots again, from the results as they are
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from springback import __version__
from springback.files.atomic import atomic_file
from springback_bench.machine import describe_machine, describe_versions, today
from springback_bench.place import ROOT
from springback_bench.rounding import rounded
from springback_bench.speed import elastic, spiking, start
from springback_bench.speed.growth import measure_growth
from springback_bench.speed.guard import measure_ratio
from springback_bench.speed.kept import COSTS, Kept
from springback_bench.speed.page import write_page
from springback_bench.speed.roofline import measure_roofline
from springback_bench.speed.spiking_peers import CONTENDERS, PEERS, measure_spiking
from springback_bench.speed.work import save_work, the_work

RESULTS, KEPT = "docs/data/speed.json", "build/speed.json"
PARTS = ("spiking", "presets", "elastic", "start", "growth", "roofline", "guard")


def measure(*, peers: tuple[str, ...], quick: bool, kept: Path, parts: tuple[str, ...] = PARTS) -> dict[str, Any]:
    """The parts on this machine; their pieces are kept in a file at once, and a run that was stopped continues."""
    made = {"date": today(), "quick": quick, "springback": __version__, "peers": list(peers)}
    about: dict[str, Any] = {"made": made, "machine": describe_machine(), "versions": describe_versions()}
    pieces = Kept(kept, about)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work.npz"
        measures: dict[str, Callable[[], Any]] = {
            "spiking": lambda: measure_spiking(work, peers=peers, quick=quick, say=say, once=pieces.once),
            "presets": lambda: _told("presets", spiking.measure_presets(repeats=3 if quick else 7)),
            "elastic": lambda: _told("elastic", elastic.measure_elastic(repeats=2 if quick else 5)),
            "start": lambda: _told("start", start.measure_start()),
            "growth": lambda: measure_growth(quick=quick, say=say, once=pieces.once),
            "roofline": lambda: measure_roofline(work, quick=quick, say=say),
            "guard": _guard,
        }
        todo = [part for part in parts if part not in pieces]
        if {"spiking", "roofline"} & set(todo):
            say("preparing: a network that has seen 20,000 digits")
            save_work(the_work(), work, max(n for contender in CONTENDERS for n in contender.n_images))
        for part in todo:
            pieces.once(part, measures[part])
    seconds, busy = (pieces.total(what) for what in COSTS)
    return {
        "made": {**made, "seconds": round(seconds)},
        "machine": {**about["machine"], "cores_busy_elsewhere": busy / max(seconds, 1e-9)},
        "versions": about["versions"],
        **{part: pieces.once(part, measures[part]) for part in PARTS if part in pieces},
    }


def _guard() -> dict[str, float]:
    say("guard: the kernel against a fixed NumPy workload")
    return {"ratio": measure_ratio(tries=5)}


def write(found: dict[str, Any], root: Path = ROOT) -> None:
    """The results as JSON, then page and plots from the JSON alone."""
    (root / RESULTS).parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(root / RESULTS) as file:
        file.write((json.dumps(rounded(found), indent=1) + "\n").encode())
    write_page(json.loads((root / RESULTS).read_text()), root)


def say(line: str) -> None:
    """What is being done now, on the error stream."""
    print(line, file=sys.stderr, flush=True)


def _told(what: str, rows: Any) -> list[dict[str, Any]]:
    kept = []
    for row in rows:
        say(f"{what}: {row[0]}")
        kept.append(row._asdict())
    return kept


def main(arguments: list[str] | None = None) -> None:
    """Read the options, measure, write."""
    options = argparse.ArgumentParser(prog="springback bench")
    options.add_argument("--quick", action="store_true")
    options.add_argument("--peers", default=",".join(PEERS))
    options.add_argument("--parts", default=",".join(PARTS))
    options.add_argument("--out", type=Path, default=ROOT)
    options.add_argument("--page", action="store_true")
    chosen = options.parse_args(arguments)
    lists = {}
    for name, known in (("peers", PEERS), ("parts", PARTS)):
        lists[name] = tuple(one for one in getattr(chosen, name).split(",") if one)
        if unknown := set(lists[name]) - set(known):
            options.error(f"--{name} must be among {', '.join(known)}; got {', '.join(sorted(unknown))}")
    if chosen.page:
        if not (ROOT / RESULTS).is_file():
            options.error(f"--page needs the results of an earlier run, {ROOT / RESULTS}")
        write_page(json.loads((ROOT / RESULTS).read_text()), chosen.out)
        return
    kept = chosen.out / KEPT
    found = measure(**lists, quick=chosen.quick, kept=kept)
    if missing := [part for part in PARTS if part not in found]:
        say(f"still to be measured before the page can be written: {', '.join(missing)}")
        return
    write(found, chosen.out)
    kept.unlink()
    say(f"written: {chosen.out / RESULTS}, {chosen.out / 'docs/benchmarks.md'}")
