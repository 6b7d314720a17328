"""`springback bench streams`: our head and other methods of test-time adaptation, compared on streams."""

from pathlib import Path
from typing import Annotated

import typer

from springback import check
from springback.cli.file_checks import writable_folder
from springback.cli.machine import PROCESS_BYTES, n_cores, refuse_too_many
from springback.extras import require_extra
from springback_bench.cli.running import run_benchmark
from springback_bench.stream_sets import stream_sets


def streams(
    quick: Annotated[
        bool,
        typer.Option("--quick", help="One split, fewer settings and frames; takes at most ten minutes on two cores."),
    ] = False,
    stream: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Measure only this stream; can be given more than once."),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Measure only this method; can be given more than once."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Number of worker processes; all cores if not given.", min=1)
    ] = None,
    page: Annotated[bool, typer.Option("--page", help="Do not measure; only write the page again.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write results, page and figure to this folder.", file_okay=False)
    ] = None,
) -> None:
    """Compare our head with other methods of test-time adaptation, on streams through frozen networks.

    Settings are chosen on validation streams, with the same number of trials for every method; the test streams are
    then answered once, in order and in random order. Writes docs/data/streams.json and docs/streams.md. Streams that
    are missing are fetched and made first (see `springback data streams`). In full it takes at most 90 minutes on two
    cores; a run that was stopped continues where it stopped. With --stream or --method, what was measured is printed;
    it is written only into the results of a run of the same size, where it replaces what was measured before. Outside
    of the repository, it writes below the folder `springback-bench`.

    Examples: `springback bench streams --quick`, `springback bench streams --method t3a --stream meeting`
    """
    from springback_bench.comparison.methods import method_names

    for name in stream or ():
        check.one_of("--stream", name, tuple(stream_sets()))
    for name in method or ():
        check.one_of("--method", name, method_names())
    count = n_cores() if workers is None else workers
    refuse_too_many("--workers", count, n_bytes=PROCESS_BYTES)
    if out is not None:
        writable_folder("--out", out)
    arguments = [f"--workers={count}", *(f"--stream={name}" for name in stream or ())]
    arguments += [f"--method={name}" for name in method or ()]
    arguments += [f"--out={out.resolve()}"] if out is not None else []
    arguments += [name for name, wanted in (("--quick", quick), ("--page", page)) if wanted]
    require_extra("springback bench streams", "psutil")
    run_benchmark("springback_bench.comparison", arguments)
