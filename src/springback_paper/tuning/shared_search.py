"""A search that any number of processes share through one storage (extra: tune, for optuna)."""

import csv
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from springback.extras import require_extra
from springback_paper.runner.source_digest import code_of
from springback_paper.runner.task import described
from springback_paper.tuning.journal_lock import JournalLock
from springback_paper.tuning.models import Tuning, score


def study_of(tuning: Tuning, storage: str) -> Any:
    """The study of a tuning, made if it is not there; another tuning, or other code, is another study.

    Parameters
    ----------
    storage : str
        A database such as sqlite:///FILE or postgresql://..., or the path of a journal file.
    """
    optuna = _optuna()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    if "://" in storage:
        from sqlalchemy.pool import NullPool  # closes each connection at once: no process leaves one open

        place: Any = optuna.storages.RDBStorage(storage, engine_kwargs={"poolclass": NullPool})
    else:
        path = Path(storage).absolute()
        path.parent.mkdir(parents=True, exist_ok=True)
        journal = optuna.storages.journal.JournalFileBackend(str(path), lock_obj=JournalLock(path))
        place = optuna.storages.JournalStorage(journal)
    about = [described(tuning), code_of([score.__module__]).digest]
    digest = hashlib.sha256(json.dumps(about).encode()).hexdigest()[:12]
    return optuna.create_study(
        storage=place, study_name=f"{tuning.model}-{digest}", direction="maximize", load_if_exists=True
    )


def work(tuning: Tuning, storage: str, n_trials: int, worker: int, trained: Any) -> int:
    """Add trials until the study has `n_trials` finished ones in all; returns how many this process added.

    A point that the model refuses counts as a failed trial.
    """
    optuna = _optuna()
    study = study_of(tuning, storage)
    began = len(study.get_trials(deepcopy=False))
    seed = int(np.random.SeedSequence([tuning.seed, worker, began]).generate_state(1)[0])
    study.sampler = optuna.samplers.TPESampler(seed=seed)
    added = 0
    while n_finished(study) < n_trials:
        trial = study.ask()
        values = {
            name: trial.suggest_float(name, span.low, span.high, log=span.log) for name, span in tuning.space.items()
        }
        try:
            study.tell(trial, score(tuning, values, trained))
        except ValueError:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        added += 1
    return added


def n_finished(study: Any) -> int:
    """How many trials of a study have ended, well or not."""
    return sum(trial.state.is_finished() for trial in study.get_trials(deepcopy=False))


def best_of(study: Any) -> tuple[dict[str, float], float] | None:
    """Values and accuracy of the best trial so far; None if there is none."""
    try:
        return dict(study.best_params), float(study.best_value)
    except ValueError:
        return None


def confirm(tuning: Tuning, study: Any, finalists: int, trained: Any) -> Iterator[tuple[int, float]]:
    """Score the best trials again, on a second video: (number of the trial, its accuracy there), the best first.

    Examples
    --------
    >>> list(confirm(Tuning(model="elastic"), type("Empty", (), {"get_trials": lambda **_: []}), 3, None))
    []
    """
    ended = [trial for trial in study.get_trials(deepcopy=False) if trial.value is not None]
    for trial in sorted(ended, key=lambda one: (-one.value, one.number))[:finalists]:
        yield trial.number, score(tuning, trial.params, trained, again=True)


def write_trials(study: Any, confirmed: Mapping[int, float], file: TextIO) -> None:
    """Every trial of a study as CSV: its values, its accuracy, and that on the second video if it was confirmed."""
    trials = [trial for trial in study.get_trials(deepcopy=False) if trial.state.is_finished()]
    names = sorted({name for trial in trials for name in trial.params})
    table = csv.writer(file, lineterminator="\n")
    table.writerow(["trial", *names, "accuracy", "accuracy_on_second_video"])
    for trial in trials:
        values = [repr(trial.params[name]) if name in trial.params else "" for name in names]
        reached = "" if trial.value is None else repr(trial.value)
        second = repr(confirmed[trial.number]) if trial.number in confirmed else ""
        table.writerow([trial.number, *values, reached, second])


def _optuna() -> Any:
    require_extra("springback tune", "optuna")
    import optuna

    return optuna
