"""`springback bench`: measure everything in one run, then write the results, the plots and the page.

python -m springback_bench.speed [--quick] [--peers brian2,bindsnet] [--out FOLDER]
python -m springback_bench.speed --page              only write the page and plots again, from the results as they are
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from springback import __version__
from springback.files.atomic import atomic_file
from springback_bench.machine import OtherWork, describe_machine, describe_versions, today
from springback_bench.place import ROOT
from springback_bench.rounding import rounded
from springback_bench.speed import elastic, spiking, start
from springback_bench.speed.growth import measure_growth
from springback_bench.speed.guard import measure_ratio
from springback_bench.speed.page import write_page
from springback_bench.speed.roofline import measure_roofline
from springback_bench.speed.spiking_peers import CONTENDERS, PEERS, measure_spiking
from springback_bench.speed.work import save_work, the_work

RESULTS = "docs/data/speed.json"


def measure(*, peers: tuple[str, ...], quick: bool) -> dict[str, Any]:
    """Everything, in one run on this machine."""
    begun, others = time.perf_counter(), OtherWork()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work.npz"
        say("preparing: a network that has seen 20,000 digits")
        save_work(the_work(), work, max(n for contender in CONTENDERS for n in contender.n_images))
        found: dict[str, Any] = {
            "made": {"date": today(), "quick": quick, "springback": __version__, "peers": list(peers)},
            "machine": describe_machine(),
            "versions": describe_versions(),
            "spiking": measure_spiking(work, peers=peers, quick=quick, say=say),
        }
        found["presets"] = _told("presets", spiking.measure_presets(repeats=3 if quick else 7))
        found["elastic"] = _told("elastic", elastic.measure_elastic(repeats=2 if quick else 5))
        found["start"] = _told("start", start.measure_start())
        found["growth"] = measure_growth(quick=quick, say=say)
        found["roofline"] = measure_roofline(work, quick=quick, say=say)
    say("guard: the kernel against a fixed NumPy workload")
    found["guard"] = {"ratio": measure_ratio(tries=5)}
    found["machine"]["cores_busy_elsewhere"] = others.cores()
    found["made"]["seconds"] = round(time.perf_counter() - begun)
    return found


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
    options.add_argument("--out", type=Path, default=ROOT)
    options.add_argument("--page", action="store_true")
    chosen = options.parse_args(arguments)
    peers = tuple(name for name in chosen.peers.split(",") if name)
    unknown = set(peers) - set(PEERS)
    if unknown:
        options.error(f"--peers must be among {', '.join(PEERS)}; got {', '.join(sorted(unknown))}")
    if chosen.page:
        if not (ROOT / RESULTS).is_file():
            options.error(f"--page needs the results of an earlier run, {ROOT / RESULTS}")
        write_page(json.loads((ROOT / RESULTS).read_text()), chosen.out)
        return
    found = measure(peers=peers, quick=chosen.quick)
    write(found, chosen.out)
    say(f"written: {chosen.out / RESULTS}, {chosen.out / 'docs/benchmarks.md'}")
