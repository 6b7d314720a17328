"""Runs of springback that take a second or two, for killing: what each does, and what must hold after it.

Each is warmed up in one process and then forked, so that a kill falls into its work and not into its imports.
"""

import hashlib
import json
import os
import signal
import tempfile
from pathlib import Path
from unittest import mock

from tests.paper.runner.here import Here

TRIALS = 30
_LINE = b"\n"


class LostError(Exception):
    """Something that had been finished was gone."""


def note(folder, run, what):
    """One line about a run, written so that a kill leaves it whole or not at all."""
    handle = os.open(folder / f"notes-{run}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(handle, f"{what}\n".encode())
    os.close(handle)


def notes(folder, run):
    path = folder / f"notes-{run}"
    return path.read_text().splitlines() if path.exists() else []


def call(*arguments):
    from springback.cli import main

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    main(list(map(str, arguments)))


class Train:
    """`springback train` with a checkpoint every ten images: it must never go back behind a checkpoint."""

    name = "train"

    def __init__(self):
        from springback.data import load_mnist

        self.images = {"train": load_mnist("train")[:200], "test": load_mnist("test")[:20]}

    def run(self, folder, run):
        from springback.cli import train as command
        from springback.spiking import fitting

        real = fitting.train

        def noted(state, *arguments, **named):
            note(folder, run, state.n_seen)
            return real(state, *arguments, **named)

        with (
            mock.patch.object(fitting, "train", noted),
            mock.patch.object(fitting, "_IMAGES_PER_CALL", 10),
            mock.patch.object(fitting, "_CALLS_PER_CHECKPOINT", 1),
            mock.patch.object(command, "load_images", lambda _which, split, _home: self.images[str(split)]),
        ):
            call("train", "--limit", 200, "--neurons", 16, "--workers", 1, "--out", folder / "model.safetensors")

    def check(self, folder, run):
        """A call of the trainer begins at a checkpoint, so the next run begins there or later."""
        before = max((int(seen) for one in range(run) for seen in notes(folder, one)), default=0)
        if (mine := notes(folder, run)) and int(mine[0]) < before:
            raise LostError(f"training began again at image {mine[0]} though a checkpoint of image {before} was there")

    def is_over(self, folder):
        return (folder / "model.safetensors").exists() and not list(folder.glob("*.checkpoint*"))

    def outcome(self, folder):
        return (folder / "model.safetensors").read_bytes()


class Follow:
    """`springback follow` with a state, a file of answers, and bad lines: no answer twice, and none missing."""

    name = "follow"
    rows = 30_000

    def __init__(self):
        import numpy as np

        from springback.heads import ElasticHead, Observer

        self._folder = tempfile.TemporaryDirectory(prefix="springback-follow-")
        self.model, self.table = (Path(self._folder.name, name) for name in ("head.safetensors", "rows.csv"))
        rng = np.random.default_rng(0)
        head = ElasticHead(rng.normal(size=(3, 4)), np.zeros(3), Observer(novelty_odds=0.05))
        head.save(self.model)
        rows = np.repeat(rng.normal(size=(self.rows // 30, 4)), 30, axis=0) + rng.normal(0, 0.3, (self.rows, 4))
        head.track_response(rows[:9])
        lines = [f"{0.1 * k:.1f}," + ",".join(f"{one:.4f}" for one in row) for k, row in enumerate(rows)]
        for place in range(997, self.rows, 997):
            lines[place] = "oops"
        self.n_answers = self.rows - len(range(997, self.rows, 997))
        self.table.write_text("\n".join(["time,a,b,c,d", *lines]) + "\n")

    def run(self, folder, run):  # noqa: ARG002
        state = folder / "kept.state"
        kept = ("--state", state, "--save-state", state, "--save-every", 0, "--out", folder / "answers.jsonl")
        call("follow", self.model, self.table, "--step", 0.1, *kept)

    def check(self, folder, run):
        """The state on disk never goes back, and the answers that it counts are there."""
        there = self._position(folder)
        before = max((int(line) for one in range(run) for line in notes(folder, one)), default=0)
        if there is None:
            if before:
                raise LostError(f"the state was after frame {before}, and is gone")
            return
        if there.frames < before:
            raise LostError(f"the state is after {there.frames} frames, and was after {before}")
        with (folder / "answers.jsonl").open("rb") as file:
            kept = file.read(there.out_bytes)
        if len(kept) != there.out_bytes or kept.count(_LINE) != there.frames:
            raise LostError(f"{kept.count(_LINE)} whole answers are kept of {there.frames} that the state counts")
        note(folder, run, there.frames)

    def is_over(self, _folder):
        return False

    def outcome(self, folder):
        from safetensors.numpy import load_file

        answers = (folder / "answers.jsonl").read_bytes()
        if answers.count(_LINE) != self.n_answers:
            raise LostError(f"there are {answers.count(_LINE)} answers to {self.n_answers} frames")
        return answers + load_file(folder / "kept.state")["state"].tobytes()

    def _position(self, folder):
        from springback.live.follower import open_model
        from springback.live.position import load_state

        state = folder / "kept.state"
        if not state.exists():
            return None
        identity = hashlib.sha256(self.model.read_bytes()).hexdigest()
        return load_state(state, open_model(self.model), model=identity, step_s=0.1)


class Tasks:
    """The runner with real worker processes: what was finished is never begun again."""

    name = "reproduce, workers"

    def run(self, folder, run):
        from springback_paper.runner.pools import LocalPool
        from springback_paper.runner.run import run_tasks

        def noted(event):
            if event.task is not None:
                note(folder, run, f"{event.what} {event.task.name}")

        failed = run_tasks(self._tasks(), self._store(folder), lambda: LocalPool(2), noted)
        assert not failed, failed

    def check(self, folder, run):
        finished = {line.split()[1] for one in range(run) for line in notes(folder, one) if line.startswith("finished")}
        begun = {line.split()[1] for line in notes(folder, run) if line.startswith("started")}
        if begun & finished:
            raise LostError(f"{sorted(begun & finished)} had been finished and were begun again")

    def is_over(self, _folder):
        return False

    def outcome(self, folder):
        results = self._store(folder).load_all()
        return b"".join(results[name].values.tobytes() for name in sorted(results))

    def _tasks(self):
        from tests.paper.runner.small_tasks import diamond

        return diamond({"n": 200_000})

    def _store(self, folder):
        from springback_paper.runner.run import TaskStore

        return TaskStore(folder / "tasks", self._tasks())


class Reproduce:
    """`springback reproduce` of two figures, in one process: results, figures and report come out whole."""

    name = "reproduce"

    def __init__(self):
        from springback.data import load_mnist

        self.images = {"train": load_mnist("train"), "test": load_mnist("test")}

    def run(self, folder, run):  # noqa: ARG002
        from springback_paper.cli import reproduce as command

        with (
            mock.patch.object(command, "LocalPool", return_value=Here()),
            mock.patch.object(command, "load_images", lambda _which, split, _home: self.images[str(split)]),
        ):
            names = ["--only", "fig_2b", "--only", "fig_3a"]
            call("reproduce", *names, "--limit", 60, "--neurons", 20, "--out", folder / "results")

    def check(self, folder, run):
        """Every file that has its final name is whole; a task that is there stays the same file."""
        there = {path.name: path.stat().st_mtime_ns for path in folder.glob("results/tasks/*.safetensors")}
        before = dict(line.split() for one in range(run + 1) for line in notes(folder, one))
        changed = [name for name, time in before.items() if str(there.get(name)) != time]
        if changed:
            raise LostError(f"{changed} had been finished and were computed again")
        for name, time in there.items():
            note(folder, run, f"{name} {time}")

    def is_over(self, _folder):
        return False

    def outcome(self, folder):

        from safetensors.numpy import load_file

        from springback_paper.results.results_json import check_results

        check_results(json.loads((folder / "results" / "results.json").read_text()))
        found = sorted(path.name for path in folder.glob("results/figures/[!.]*"))
        for path in sorted(folder.glob("results/tasks/*.safetensors")):
            found += [
                path.name,
                *(f"{name} {array.tobytes().hex()}" for name, array in sorted(load_file(path).items())),
            ]
        return "\n".join(found).encode()


class Tune:
    """`springback tune` with a score that costs nothing, so that most of its time is the journal."""

    name = "tune"

    def run(self, folder, run):  # noqa: ARG002
        from springback_paper.cli import tune as command
        from springback_paper.tuning import shared_search

        with (
            mock.patch.object(command, "LocalPool", return_value=Here()),
            mock.patch.object(command, "load_images", return_value=None),
            mock.patch.object(shared_search, "score", _score),
        ):
            os.chdir(folder)
            call("tune", "elastic", "--trials", TRIALS, "--folder", "tuning", "--out", "best.json", "--workers", 1)

    def check(self, folder, run):
        finished = self._finished(folder)
        before = max((int(line) for one in range(run) for line in notes(folder, one)), default=0)
        if finished < before:
            raise LostError(f"{finished} finished trials are left of {before}")
        note(folder, run, finished)

    def is_over(self, _folder):
        return False

    def outcome(self, folder):
        from springback_paper.tuning.tuned_file import load_tuned

        best = load_tuned(folder / "best.json")
        if best.accuracy != _score(None, best.values) or self._finished(folder) < TRIALS:
            raise LostError("the best trial is not what its values score")
        return b"the search has ended"

    def _finished(self, folder):
        from springback_paper.tuning import shared_search
        from springback_paper.tuning.models import Tuning

        journal = folder / "tuning" / "trials.journal"
        if not journal.exists():
            return 0
        with mock.patch.object(shared_search, "score", _score):
            return shared_search.n_finished(shared_search.study_of(Tuning(model="elastic"), str(journal)))


def _score(_tuning, values, _trained=None, *, again=False):  # noqa: ARG001
    return 0.5 - abs(values["kappa"] - 30.0) / 1000.0


def load_everything():
    """Import and compile what the runs need, once."""
    import optuna

    import springback.cli.follow
    import springback.cli.train

    return optuna, springback, Path
