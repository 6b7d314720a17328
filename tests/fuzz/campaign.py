"""Hundreds of thousands of damaged files: `python -m tests.fuzz.campaign --cases 100000`.

Every format in a process of its own, with compiled code that checks every index; a process that dies is begun anew
after the file that killed it. Prints a table, and exits with 1 if any file crashed, hung, or was taken though damaged.
"""

import argparse
import mmap
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from tests.fuzz.cases import Judge, Outcome, flip_case, make_case, quick_folder
from tests.fuzz.formats import FORMATS

NEXT, FLIPS_REFUSED, FIRST_OUTCOME = 0, 1, 2
_SLOTS = FIRST_OUTCOME + len(Outcome)
COLUMNS = (
    "cases",
    "refused",
    "unchanged",
    "valid",
    "tracebacks",
    "crashes",
    "hangs",
    "damage",
    "flips",
    "flips refused",
)


def work(name: str, n_cases: int, n_flips: int, progress: Path) -> None:
    """Judge the cases that are left; what is done is written down after each, so that a crash loses nothing."""
    form = FORMATS[name]()
    with open(progress, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory, quick_folder() as folder:
        tally = np.frombuffer(memory, np.int64)
        judge, failures = Judge(form, folder, use=True), 0
        for number in range(int(tally[NEXT]), n_cases + n_flips):
            tally[NEXT] = number + 1
            flip = number >= n_cases
            outcome, reason = judge((flip_case if flip else make_case)(form, number))
            if flip and outcome == Outcome.REFUSED:
                tally[FLIPS_REFUSED] += 1
            elif flip and outcome == Outcome.UNCHANGED:
                outcome, reason = Outcome.DAMAGE, "a flipped bit was not seen"
            if not flip or outcome > Outcome.VALID:
                tally[FIRST_OUTCOME + outcome] += 1
            if reason and failures < 20:
                failures += 1
                print(f"{name}, case {number}: {outcome.name.lower()}: {reason}", file=sys.stderr, flush=True)
        del tally


def run(name: str, n_cases: int, n_flips: int, cache: Path) -> dict[str, int]:
    """All cases of a format; how often what happened."""
    n_flips = n_flips if FORMATS[name]().sealed else 0
    crashes = 0
    with tempfile.TemporaryDirectory() as folder:
        progress = Path(folder) / "progress"
        progress.write_bytes(bytes(8 * _SLOTS))
        environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "tests.fuzz.campaign", "--work", name, "--progress", str(progress)]
        command += ["--cases", str(n_cases), "--flips", str(n_flips)]
        while True:
            code = subprocess.run(command, env=environment, check=False).returncode
            tally = np.frombuffer(progress.read_bytes(), np.int64)
            if code == 0:
                break
            if code > 0 and tally[NEXT] == 0:
                raise RuntimeError(f"the cases of {name} cannot be made")
            crashes += 1
            print(f"{name}, case {tally[NEXT] - 1}: the process ended with {code}", file=sys.stderr, flush=True)
    found = {outcome: int(tally[FIRST_OUTCOME + outcome]) for outcome in Outcome}
    return {
        "cases": n_cases,
        "refused": found[Outcome.REFUSED],
        "unchanged": found[Outcome.UNCHANGED],
        "valid": found[Outcome.VALID],
        "tracebacks": found[Outcome.TRACEBACK],
        "crashes": crashes,
        "hangs": found[Outcome.HANG],
        "damage": found[Outcome.DAMAGE],
        "flips": n_flips,
        "flips refused": int(tally[FLIPS_REFUSED]),
    }


def main() -> int:
    """Run the campaign and print its table."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.campaign", description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000, help="damaged files per format")
    parser.add_argument("--flips", type=int, default=1000, help="flipped bits per format")
    parser.add_argument("--only", choices=sorted(FORMATS), action="append", help="this format alone (repeatable)")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--progress", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.work:
        work(chosen.work, chosen.cases, chosen.flips, chosen.progress)
        return 0
    print("| format | " + " | ".join(COLUMNS) + " |\n|" + " --- |" * (len(COLUMNS) + 1), flush=True)
    bad = 0
    with tempfile.TemporaryDirectory() as cache:
        for name in chosen.only or FORMATS:
            row = run(name, chosen.cases, chosen.flips, Path(cache))
            bad += row["tracebacks"] + row["crashes"] + row["hangs"] + row["damage"]
            bad += row["flips"] - row["flips refused"]
            print(f"| {name} | " + " | ".join(f"{row[column]:,}" for column in COLUMNS) + " |", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
