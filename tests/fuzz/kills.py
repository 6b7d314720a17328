"""Kill runs at random moments, run them again, and see that nothing hangs, crashes or is lost.

python -m tests.fuzz.kills --kills 200 --seed 0
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

PATIENCE_S = 300.0
KILLS_IN_A_ROW = 8
MARK = "SPRINGBACK_KILLS"


def forked(run, folder, number):
    """Begin a run in a process of its own; what it prints goes to a file."""
    pid = os.fork()
    if pid:
        return pid
    code = 99
    try:
        with (folder / "printed").open("ab") as printed:
            os.dup2(printed.fileno(), 1)
            os.dup2(printed.fileno(), 2)
        run(folder, number)
        code = 0
    except SystemExit as left:
        code = int(left.code or 0)
    except BaseException:
        (folder / "printed").open("a").write(traceback.format_exc())
    finally:
        os._exit(code)


def exit_code(pid, seconds):
    """The exit code of a process, or None if it still runs after this number of seconds."""
    deadline = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            return None
        time.sleep(0.001)


def end(pid):
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def left_behind(token):
    """Processes of the runs that are still there; each run and its workers carry a mark in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            marked = f"{MARK}={token}".encode() in path.read_bytes().split(b"\0")
        except OSError:
            continue
        if marked and int(path.parent.name) != os.getpid():
            found.append(int(path.parent.name))
    return found


def campaign(kind, n_kills, rng):
    """(kills, runs, failures) of one kind of run."""
    kills = runs = 0
    failures = []
    with tempfile.TemporaryDirectory(prefix="springback-kills-") as name:
        for attempt in ("warm", "clean"):
            folder = Path(name, attempt)
            folder.mkdir()
            start = time.monotonic()
            pid = forked(kind.run, folder, 0)
            if exit_code(pid, PATIENCE_S) != 0:
                return 0, 1, [f"the run that nobody disturbed failed: {(folder / 'printed').read_text()[-2000:]}"]
            duration = time.monotonic() - start
        wanted = kind.outcome(folder)
        while kills < n_kills:
            folder = Path(name, f"folder-{runs}")
            folder.mkdir()
            for number in range(KILLS_IN_A_ROW + 1):
                runs += 1
                pid = forked(kind.run, folder, number)
                disturbed = kills < n_kills and number < KILLS_IN_A_ROW
                code = exit_code(pid, rng.uniform(0, duration) if disturbed else PATIENCE_S)
                if code is None:
                    end(pid)
                    kills += disturbed
                    failures += [] if disturbed else [f"run {number} had not ended after {PATIENCE_S:g} s"]
                try:
                    kind.check(folder, number)
                except Exception as error:
                    failures.append(f"{type(error).__name__}: {error}")
                if code not in (None, 0):
                    failures.append(f"run {number} ended with {code}: {(folder / 'printed').read_text()[-2000:]}")
                if code is not None or not disturbed or kind.is_over(folder):
                    break
            if not failures and kind.outcome(folder) != wanted:
                failures.append("the outcome is not that of the run that nobody disturbed")
            if failures:
                break
    return kills, runs, failures


def main():
    from tests.fuzz import small_runs

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="the name of one kind of run")
    chosen = parser.parse_args()
    token = f"{os.getpid()}-{chosen.seed}"
    os.environ[MARK] = token
    small_runs.load_everything()
    shares = {
        small_runs.Follow: 1.0,
        small_runs.Train: 0.4,
        small_runs.Tune: 0.3,
        small_runs.Tasks: 0.2,
        small_runs.Reproduce: 0.1,
    }
    bad = False
    for make, share in shares.items():
        if not (n_kills := round(share * chosen.kills)) or chosen.only not in (None, make.name):
            continue
        kind = make()
        start = time.monotonic()
        rng = random.Random(f"{chosen.seed} {kind.name}")
        kills, runs, failures = campaign(kind, n_kills, rng)
        print(f"{kind.name}: {kills} kills in {runs} runs, {time.monotonic() - start:.0f} s, {len(failures)} failures")
        print(*failures, sep="\n", flush=True)
        bad = bad or bool(failures)
    deadline = time.monotonic() + 60
    while (rest := left_behind(token)) and time.monotonic() < deadline:
        time.sleep(0.1)
    print(f"{len(rest)} processes left behind")
    sys.exit(bool(bad or rest))


if __name__ == "__main__":
    main()
