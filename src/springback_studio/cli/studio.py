"""`springback studio`: watch synapses stretch and spring back, live in the browser."""

import os
import sys
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from springback.cli.display import note, say
from springback.cli.errors import INTERRUPTED
from springback.cli.file_checks import readable_file
from springback.cli.follow_options import StreamOptions, takes_stream_options
from springback.cli.options import seed_option
from springback.extras import require_extra

if TYPE_CHECKING:
    from springback.live.follower import Follower
    from springback.live.sources.source import Source

_SHOWN = ("spiking", "elastic", "cnn")


@takes_stream_options("key", "most_streams", "forget_after")
def studio(
    model: Annotated[
        str,
        typer.Option(
            help="Which model to show: spiking, elastic or cnn, which see digits; or the file of your own model "
            "(.onnx, .safetensors), which sees --source, or else the camera or microphone of your browser."
        ),
    ] = "spiking",
    source: Annotated[
        str | None,
        typer.Option(
            help="Where frames come from, for a model of your own: a file (.csv, .jsonl, .npy, .mp4, .wav, ...), -, "
            "camera, microphone, tcp://HOST:PORT, unix:PATH or mqtt://HOST/TOPIC; see springback follow."
        ),
    ] = None,
    digit: Annotated[
        int | None, typer.Option(help="Show this test digit instead of the stream.", metavar="N", min=0, max=9)
    ] = None,
    example: Annotated[
        int, typer.Option(help="Which of the ten examples of that digit to show.", metavar="N", min=0, max=9)
    ] = 0,
    drawing: Annotated[
        str | None, typer.Option(help="Show a drawing, given as the code that the studio exported.")
    ] = None,
    occlude: Annotated[int, typer.Option(help="Number of rows hidden from the top.", metavar="N", min=0, max=28)] = 0,
    pull: Annotated[float | None, typer.Option(help="How far inputs pull synapses (gamma).")] = None,
    memory: Annotated[
        float | None, typer.Option(help="How slowly synapses spring back, in ms (spiking) or frames (elastic, cnn).")
    ] = None,
    weight_dependence: Annotated[
        float | None, typer.Option(help="How much the pull on a synapse depends on its weight (1: not at all).")
    ] = None,
    intensity: Annotated[float | None, typer.Option(help="Brightness of the input (spiking, cnn).")] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Shift of the thresholds in mV (spiking), or noise threshold (elastic).")
    ] = None,
    speed: Annotated[int, typer.Option(help="Frames per second.", metavar="N", min=1, max=60)] = 10,
    seed: Annotated[int, seed_option("Random seed of the frames and spikes.")] = 0,
    frames: Annotated[int, typer.Option(help="Play this many frames, then pause.", metavar="N", min=0, max=2000)] = 0,
    port: Annotated[
        int, typer.Option(help="Port to listen on; 0 uses any free port.", metavar="N", min=0, max=65535)
    ] = 8100,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Allow access from other machines. There is no password.")
    ] = False,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open the page in a browser.")] = False,
    *,
    stream: StreamOptions,
    step: Annotated[
        float | None,
        typer.Option(
            help="Use the time stamps of --source: one step of memory is this many seconds (or units of the stamps).",
            metavar="S",
            min=0,
        ),
    ] = None,
) -> None:
    """Open a local web page: see what short-term plasticity does to digits, to your camera, or to your own stream.

    On the page of digits, draw or pick one, hide it, and add noise. On the pages of the camera and the microphone,
    teach a few things or sounds by showing them. With `--model FILE --source ...`, your own model follows your own
    stream, with its memory and without.

    Examples:

    `springback studio --model elastic --digit 7 --occlude 12`

    `springback studio --model model.safetensors --source sensor.csv --label activity`

    `springback studio --model network.onnx`
    """
    require_extra("springback studio", "fastapi", "uvicorn", "websockets")
    if model == "cnn":
        require_extra("springback studio --model cnn", "torch")
    from springback_studio.own_stream.stream import OwnStream
    from springback_studio.server import make_server
    from springback_studio.view import View, unpacked_drawing

    wanted = {
        "pull": pull,
        "memory": memory,
        "weight_dependence": weight_dependence,
        "intensity": intensity,
        "threshold": threshold,
    }
    if digit is not None and drawing is not None:
        raise ValueError("give --digit or --drawing, not both")
    own = None
    if model not in _SHOWN:
        path = _model_file(model)
        told = stream.model_options(seed=seed)

        def open_model() -> "Follower":
            from springback.live.follower import open_model

            return open_model(path, told)

        def open_source(follower: "Follower") -> "Source":
            from springback.live.sources.catalogue import open_source

            return open_source(str(source), stream.source_options(follower, seed=seed))

        own = OwnStream(
            model_name=path.name,
            open_model=open_model,
            source_name=source,
            open_source=None if source is None else open_source,
            step_s=step,
            speed=speed,
        )
    elif source is not None:
        raise ValueError("--source needs the file of a model of your own: add --model FILE")
    view = View(
        model=model if own is None else "spiking",
        source="drawing" if drawing is not None else "stream" if digit is None else "digit",
        digit=7 if digit is None else digit,
        example=example,
        drawing=None if drawing is None else unpacked_drawing(drawing),
        occlude=occlude,
        settings={name: value for name, value in wanted.items() if value is not None},
        seed=seed,
        speed=speed,
        frames=frames,
    )
    server = make_server(view, host=host, port=port, allow_remote=allow_remote, own=own)
    page = "" if own is None else "own.html"
    threading.Thread(target=_announce, args=(server, host, not no_browser, page), daemon=True).start()
    try:
        server.run()
    except KeyboardInterrupt:
        _leave_unless_idle(INTERRUPTED, "springback: interrupted")
        raise
    _leave_unless_idle(
        0, "springback: the studio is closed"
    )  # a shell may have told its background jobs to ignore Ctrl-C


def _leave_unless_idle(code: int, why: str) -> None:
    """End the process at once if a thread is still at work: Python would wait for it, for as long as it takes."""
    from springback_studio.server import WORKERS

    if any(one.name.startswith(WORKERS) for one in threading.enumerate()):
        note(why)
        sys.stdout.flush()
        os._exit(code)


def _model_file(given: str) -> Path:
    """The file of a model, by its name; a name that is neither a shown model nor a file of one is refused."""
    from springback.live.follower import MODEL_SUFFIXES

    if not given.lower().endswith(MODEL_SUFFIXES):
        known = ", ".join(MODEL_SUFFIXES)
        raise ValueError(f"--model must be one of {', '.join(_SHOWN)}, or a file ending in {known}; got {given!r}")
    path = Path(given)
    readable_file("--model", path)
    return path


def _announce(server: Any, host: str, browser: bool, page: str) -> None:
    """Say where the page is as soon as it can be opened, and open it."""
    while not server.started:
        if server.should_exit:
            return
        threading.Event().wait(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{port}/{page}"
    say(f"The studio is open at {address} - press Ctrl+C to close it.")
    if browser:
        webbrowser.open(address)
