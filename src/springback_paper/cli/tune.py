"""`springback tune`: search the free parameters of a model on training digits."""

import re
import time
from enum import StrEnum
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

import typer

from springback import check
from springback.check import DataError
from springback.cli.display import say, training_progress
from springback.cli.file_checks import new_file, readable_file, writable_folder, writing
from springback.cli.images import ImageSet, Split, load_images
from springback.cli.machine import PROCESS_BYTES, network_bytes, refuse_too_large, refuse_too_many
from springback.cli.options import NEURONS_MAX, TRIALS_MAX, DataHome, Overwrite, seed_option
from springback.data.own_file import load_frames_file, load_images_file
from springback.extras import MissingExtraError, require_extra
from springback.files.atomic import atomic_file
from springback.streaming.readout import class_indices, classes_in
from springback.streaming.records import Images
from springback.streaming.wording import percent
from springback_paper.cli.run_display import run_display
from springback_paper.runner.pools import LocalPool, Pool
from springback_paper.runner.run import TaskStore, run_tasks
from springback_paper.tuning.models import Tuning, task_of
from springback_paper.tuning.own import OwnNetwork, ShownStream, own_images, own_network
from springback_paper.tuning.shared_search import best_of, confirm, n_finished, study_of, work, write_trials
from springback_paper.tuning.tuned_file import Tuned, load_tuned, save_tuned

_LOOK_EVERY_S = 0.5
_TUNED_BYTES = 1_000_000


class Tunable(StrEnum):
    """The models of `springback_paper.tuning.models`."""

    spiking = "spiking"
    spiking_static = "spiking-static"
    paper = "paper"
    paper_static = "paper-static"
    elastic = "elastic"
    cnn_elastic = "cnn-elastic"


def tune(
    model: Annotated[Tunable, typer.Argument(help="Which model to tune.")],
    trials: Annotated[
        int, typer.Option(help="Stop when the search has this many trials in total.", min=1, max=TRIALS_MAX)
    ] = 100,
    out: Annotated[Path | None, typer.Option(help="Write the best trial to this file (JSON).", dir_okay=False)] = None,
    storage: Annotated[
        str | None,
        typer.Option(
            help="Where trials are stored and shared: a journal file, or a database such as sqlite:///tune.db."
        ),
    ] = None,
    folder: Annotated[
        Path, typer.Option(help="Folder for the network that is trained once before the search.", file_okay=False)
    ] = Path("tuning"),
    workers: Annotated[int, typer.Option(help="Number of worker processes.", min=1)] = 2,
    seed: Annotated[int, seed_option("Random seed of training, of the video, and of the search.")] = 0,
    images: Annotated[
        Path | None,
        typer.Option(
            help="Your own images instead of digits, as for `springback train`; for spiking networks.", dir_okay=False
        ),
    ] = None,
    frames: Annotated[
        Path | None,
        typer.Option(
            help="With --images: a stream of your own, an .npz file with `frames`, uint8 (n, ...), and `labels`. The "
            "first half scores the trials, the other the finalists. Default: every fifth image, occluded like digits.",
            dir_okay=False,
        ),
    ] = None,
    train: Annotated[int, typer.Option(help="Train on this many training digits.", min=10, max=55_000)] = 50_000,
    digits: Annotated[int, typer.Option(help="Number of digits in the video.", min=1, max=5000)] = 300,
    finalists: Annotated[
        int,
        typer.Option(
            help="Score this many of the best trials again, on a second video; the best there wins.",
            min=1,
            max=TRIALS_MAX,
        ),
    ] = 10,
    neurons: Annotated[int, typer.Option(help="Number of neurons, or of centroids.", min=2, max=NEURONS_MAX)] = 400,
    overwrite: Overwrite = False,
    data_home: DataHome = None,
) -> None:
    """Search the free parameters of a model, scored on a video of training digits it was not trained on.

    Several of these commands, on one machine or several, share one search if they use the same storage: a journal file
    on a shared disk, or a database. Run the same command again to continue. No test digit is used.

    Examples:

    `springback tune spiking --trials 200`

    `springback tune elastic --storage sqlite:///tune.db --workers 8 --out elastic.json`

    `springback tune spiking --images mine.npz`, then `springback follow mine.safetensors stream.npz --tuned
    tuning/spiking.json`
    """
    given = _own(images, frames)
    own = None if given is None else own_images(*given)
    tuning = Tuning(model=model.value, seed=seed, n_train=train, n_digits=digits, neurons=neurons, own=own)
    require_extra("springback tune", "optuna")
    if model is Tunable.cnn_elastic:
        require_extra("springback tune cnn-elastic", "torch")
    refuse_too_many("--workers", workers, n_bytes=PROCESS_BYTES)
    refuse_too_large(f"--neurons {neurons} with --workers {workers}", workers * network_bytes(neurons, 10_000))
    writable_folder("--folder", folder)
    if out is not None:
        new_file("--out", out, overwrite=overwrite or _is_of(tuning, out))
        check.require(out.suffix != ".csv", "--out", "not end in .csv, where all trials are written", out)
    place = storage or str(folder / "trials.journal")
    study = _study(tuning, place)
    if given is None:
        load_images(ImageSet.mnist, Split.train, data_home)
    environment = {"SPRINGBACK_DATA": str(data_home.absolute())} if data_home else {}
    make_pool = partial(LocalPool, workers, environment=environment)
    trained = _trained(tuning, folder, make_pool) if given is None else _trained_on(tuning, folder, *given)
    if n_finished(study) < trials:
        _search(tuning, place, study, trials, workers, trained, make_pool)
    best = best_of(study)
    if best is None:
        raise DataError(f"no trial in {place} gave a result")
    confirmed = {}
    with training_progress(finalists, "finalists") as advance:
        for number, reached in confirm(tuning, study, finalists, trained):
            confirmed[number] = reached
            advance(1, max(confirmed.values()))
    chosen = max(confirmed, key=lambda number: (confirmed[number], -number))
    values = study.get_trials(deepcopy=False)[chosen].params
    tuned = Tuned(tuning=tuning, values=values, accuracy=confirmed[chosen], n_trials=n_finished(study))
    path = out or folder / f"{model.value}.json"
    log = path.with_suffix(".csv")
    with writing("--out", path):
        save_tuned(tuned, path)
        with atomic_file(log, keep_previous=True) as file:
            write_trials(study, confirmed, text := StringIO())
            file.write(text.getvalue().encode())
    what = f"video of {digits} training digits" if own is None else "stream of the trials"
    say(f"best of {tuned.n_trials} trials: {percent(best[1])} % on the {what}")
    other = "a second video, of other training digits" if own is None else "the other stream"
    say(f"best of {len(confirmed)} finalists: {percent(tuned.accuracy)} % on {other}")
    for name, value in values.items():
        say(f"  {name} {value:.4g}")
    say(f"written to {path}, all trials to {log}")


def _own(images: Path | None, frames: Path | None) -> tuple[Images, ShownStream | None] | None:
    """Your own images and stream; None: digits."""
    if images is None:
        check.require(frames is None, "--frames", "come with --images", frames)
        return None
    readable_file("--images", images)
    shown = load_images_file(images)
    if frames is None:
        return shown, None
    readable_file("--frames", frames)
    stream, labels = load_frames_file(frames)
    if labels is None:
        raise DataError(f"{frames} must hold `labels`, by which settings are judged")
    pixels = (shown.pixels[0].size, stream[0].size)
    check.require(pixels[0] == pixels[1], "--frames", f"have {pixels[0]} pixels, as --images", pixels[1])
    classes = classes_in(shown.labels)
    class_indices("the labels of --frames", labels, classes)
    return shown, ShownStream(stream, labels)


def _trained_on(tuning: Tuning, folder: Path, images: Images, frames: ShownStream | None) -> OwnNetwork:
    """The network that learns from your own images; its training resumes, or is over, if it was begun before."""
    folder.mkdir(parents=True, exist_ok=True)
    preset = tuning.starting_preset
    assert tuning.own is not None
    with training_progress(preset.epochs * len(images)) as advance:
        return own_network(
            images,
            frames,
            preset,
            n_train=tuning.n_train,
            n_shown=tuning.n_digits,
            seed=tuning.seed,
            checkpoint=folder / f"{preset.name}-{tuning.own.digest[:12]}-{tuning.seed}.checkpoint",
            on_progress=advance,
        )


def _is_of(tuning: Tuning, path: Path) -> bool:
    """Whether a file is an earlier result of the same search, which may be replaced."""
    try:
        readable_file("--out", path, at_most=_TUNED_BYTES)
        return load_tuned(path).tuning == tuning
    except DataError:
        return False


def _study(tuning: Tuning, storage: str) -> Any:
    """The study of a search; any problem with its storage is a one-sentence error."""
    shown = re.sub(r"//[^/@]*@", "//...@", storage)  # the address of a database may contain a password
    if "://" not in storage:
        path = Path(storage)
        if path.exists() or path.is_symlink():
            readable_file("--storage", path)
            with path.open("rb") as file:
                if file.read(1) not in (b"", b"{"):
                    raise DataError(f"--storage {shown} is not a journal of trials")
        new_file("--storage", path, overwrite=True, beside=(".lock",))
    try:
        return study_of(tuning, storage)
    except (DataError, MissingExtraError):
        raise
    except Exception as error:  # every database has its own errors
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise DataError(
            f"--storage {shown} cannot be used: {reason}; name a journal file, or a database such as sqlite:///tune.db"
        ) from error


def _trained(tuning: Tuning, folder: Path, make_pool: Any) -> Any:
    """The network that the search starts from; it is trained once and stored."""
    task = task_of(tuning)
    if task is None:
        return None
    store = TaskStore(folder / "tasks", [task])
    with run_display([task]) as on_event:
        failed = run_tasks([task], store, make_pool, on_event)
    if failed:
        raise DataError(f"{task.name} failed: {failed[task.name]}")
    return store.load(task.name)


def _search(tuning: Tuning, place: str, study: Any, trials: int, workers: int, trained: Any, make_pool: Any) -> None:
    """Run the workers, which add trials, and show their progress."""
    pool: Pool = make_pool()
    over = False
    try:
        running = [pool.submit(0.0, work, tuning, place, trials, number, trained) for number in range(workers)]
        with training_progress(trials, "trials", elsewhere=True) as advance:
            shown = 0
            while not over:
                over = all(worker.done() for worker in running)
                done, best = n_finished(study), best_of(study)
                advance(min(done, trials) - shown, best[1] if best else float("nan"))
                shown = min(done, trials)
                time.sleep(0 if over else _LOOK_EVERY_S)
        for worker in running:
            worker.result()
    finally:
        pool.close(at_once=not over)
