"""`springback reproduce`: every table and figure of the paper next to our own numbers, on one page."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from springback.cli.display import console, say
from springback.cli.file_checks import writable_folder
from springback.cli.images import ImageSet, Split, load_images
from springback.cli.machine import PROCESS_BYTES, network_bytes, refuse_too_large, refuse_too_many
from springback.cli.options import NEURONS_MAX, SEEDS_MAX, DataHome
from springback.extras import is_installed, require_extra
from springback.files.atomic import atomic_file
from springback.streaming.readout import refuse_overlap
from springback_paper.catalogue import Catalogue, catalogue_of
from springback_paper.cli.run_display import run_display
from springback_paper.models import MODELS
from springback_paper.results.earlier_run import load_earlier
from springback_paper.results.gathering import gather
from springback_paper.run_scope import Scope
from springback_paper.runner.pools import ClusterPool, LocalPool, Pool
from springback_paper.runner.run import Event, OnEvent, TaskStore, run_tasks, set_aside
from springback_paper.runner.shared_pool import SharedPool
from springback_paper.runner.task import with_needs
from springback_paper.wording import spread


def reproduce(
    full: Annotated[
        bool,
        typer.Option("--full", help="Also run the slow parts: ten seeds, plain gradient descent, 1,600 neurons."),
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Run only this model or figure, and what it needs; * and ? match; repeatable.", metavar="NAME"
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(help="Number of seeds (0, 1, ...). Default: 1, or 10 with --full.", min=1, max=SEEDS_MAX),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the report and for the results of finished tasks.", file_okay=False)
    ] = Path("results"),
    workers: Annotated[int, typer.Option(help="Number of worker processes, one core each.", min=1)] = 2,
    cluster: Annotated[
        str | None,
        typer.Option(help="Run on a Dask cluster: the address of its scheduler.", metavar="tcp://..."),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume/--no-resume", help="Reuse finished tasks, or set them aside and start from scratch."),
    ] = True,
    earlier: Annotated[
        Path | None,
        typer.Option(
            help="A results.json: models that this run does not compute are reported as they are there.",
            dir_okay=False,
            exists=True,
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="Use only this many images of each set, for a quick look.", min=10)
    ] = None,
    neurons: Annotated[int, typer.Option(help="Number of neurons, and of centroids.", min=10, max=NEURONS_MAX)] = 400,
    list_names: Annotated[bool, typer.Option("--list", help="List the names for --only and exit.")] = False,
    data_home: DataHome = None,
) -> None:
    """Reproduce the paper: train every model, follow the video, draw the figures, and write one report.

    Takes about ten minutes on two cores; `--full` takes hours. If interrupted, run the same command again to
    resume: finished tasks are not computed again, unless the code or the parameters they depend on have changed.

    Writes `report.html` (open it in a browser), `report.md`, `results.json` and `figures/` to the folder.

    Examples:

    `springback reproduce`

    `springback reproduce --only 'fig_3*' --only spiking_st_stdp`

    `springback reproduce --full --workers 16`

    `springback reproduce --full --only 'spiking*' --earlier docs/data/results.json` (renew a part of the results)

    `springback reproduce --limit 2000 --out quick` (a quick look, not a result)
    """
    scope = Scope(full=full, seeds=tuple(range(seeds or (10 if full else 1))), limit=limit, neurons=neurons)
    catalogue = catalogue_of(scope)
    if list_names:
        _print_names(catalogue)
        return
    before = None if earlier is None else load_earlier(earlier)
    wanted = catalogue.choose(only) if only else [task.name for task in catalogue.tasks]
    writable_folder("--out", out)
    if cluster:
        require_extra("--cluster", "distributed")
    else:
        refuse_too_many("--workers", workers, n_bytes=PROCESS_BYTES)
        refuse_too_large(
            f"--neurons {neurons} with --workers {workers}", workers * network_bytes(neurons, limit or 10_000)
        )
    images, tests = (load_images(ImageSet.mnist, split, data_home) for split in Split)
    refuse_overlap(images, tests)
    if not is_installed("torch"):
        say("torch is not installed, so networks trained with labels are left out: pip install 'springback[torch]'")
    if not resume and (away := set_aside(out / "tasks")) is not None:
        say(f"earlier tasks are set aside in {away}")
    folder = TaskStore(out / "tasks", catalogue.tasks)
    tasks = with_needs(wanted, catalogue.tasks)
    environment = {"SPRINGBACK_DATA": str(data_home.absolute())} if data_home else {}
    make_pool = partial(ClusterPool, cluster) if cluster else partial(LocalPool, workers, environment=environment)
    with SharedPool(make_pool) as pool:
        with run_display(tasks) as show:
            failed = run_tasks(tasks, folder, lambda: pool, lambda event: _note(event, show, out / "failed"))
        _finish(out, scope, catalogue, folder, failed, before, pool if pool.is_open else None)


def _note(event: Event, show: OnEvent, folder: Path) -> None:
    """Show an event; the traceback of a failure is written to a file."""
    show(event)
    if event.what == "failed" and event.task is not None:
        with atomic_file(folder / f"{event.task.name}.txt") as file:
            file.write(event.trace.encode())


def _finish(
    out: Path,
    scope: Scope,
    catalogue: Catalogue,
    folder: TaskStore,
    failed: Mapping[str, str],
    earlier: dict[str, Any] | None,
    pool: Pool | None,
) -> None:
    """Write the report, print the table, and exit with code 1 if something failed."""
    from springback_paper.report import write_report

    results, found = gather(scope, catalogue, folder, earlier)
    undrawn = write_report(out, results, found, failed=failed, pool=pool)
    console.print(_table(results))
    for name, reason in {**failed, **undrawn}.items():
        say(f"failed: {name}: {reason}")
    if failed:
        say(f"details of each failure: {out / 'failed'}")
    say(f"report: {out / 'report.html'}")
    if failed or undrawn:
        raise typer.Exit(1)


def _table(results: dict[str, Any]) -> Table:
    table = Table("accuracy, %", "still digits", "paper", "video", "paper")
    for model, about in MODELS.items():
        if model in results["omnist_test"] or model in results["mnist_test"]:
            cells = [
                spread(where[kind].get(model), missing="-")
                for kind in ("mnist_test", "omnist_test")
                for where in (results, results["paper"])
            ]
            table.add_row(about.name, *cells)
    return table


def _print_names(catalogue: Catalogue) -> None:
    table = Table("name", "tasks")
    for name, tasks in catalogue.entries.items():
        table.add_row(name, str(len(tasks)))
    console.print(table)
