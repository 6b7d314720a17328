"""`springback studio`: watch synapses stretch and spring back, live in the browser."""

import threading
import webbrowser
from enum import StrEnum
from typing import Annotated, Any

import typer

from springback.cli.display import say
from springback.cli.options import SEED_MAX
from springback.extras import require_extra


class ModelName(StrEnum):
    """The models of the studio."""

    spiking = "spiking"
    elastic = "elastic"
    cnn = "cnn"


def studio(
    model: Annotated[ModelName, typer.Option(help="Which model to show.")] = ModelName.spiking,
    digit: Annotated[int | None, typer.Option(help="Show this test digit instead of the stream.", min=0, max=9)] = None,
    example: Annotated[int, typer.Option(help="Which of the ten examples of that digit to show.", min=0, max=9)] = 0,
    drawing: Annotated[
        str | None, typer.Option(help="Show a drawing, given as the code that the studio exported.")
    ] = None,
    occlude: Annotated[int, typer.Option(help="Number of rows hidden from the top.", min=0, max=28)] = 0,
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
    speed: Annotated[int, typer.Option(help="Frames per second.", min=1, max=60)] = 10,
    seed: Annotated[int, typer.Option(help="Random seed of the frames and spikes.", min=0, max=SEED_MAX)] = 0,
    frames: Annotated[int, typer.Option(help="Play this many frames, then pause.", min=0, max=2000)] = 0,
    port: Annotated[int, typer.Option(help="Port to listen on; 0 uses any free port.", min=0, max=65535)] = 8100,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Allow access from other machines. There is no password.")
    ] = False,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Open a local web page: draw or pick a digit, hide it, add noise, and see what short-term plasticity does.

    Example: `springback studio --model elastic --digit 7 --occlude 12`
    """
    require_extra("springback studio", "fastapi", "uvicorn", "websockets")
    if model is ModelName.cnn:
        require_extra("springback studio --model cnn", "torch")
    from springback.studio.server import make_server
    from springback.studio.view import View, unpacked_drawing

    wanted = {
        "pull": pull,
        "memory": memory,
        "weight_dependence": weight_dependence,
        "intensity": intensity,
        "threshold": threshold,
    }
    if digit is not None and drawing is not None:
        raise ValueError("give --digit or --drawing, not both")
    view = View(
        model=model.value,
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
    server = make_server(view, host=host, port=port, allow_remote=allow_remote)
    threading.Thread(target=_announce, args=(server, host, browser), daemon=True).start()
    server.run()


def _announce(server: Any, host: str, browser: bool) -> None:
    """Say where the page is as soon as it can be opened, and open it."""
    while not server.started:
        if server.should_exit:
            return
        threading.Event().wait(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{port}/"
    say(f"The studio is open at {address} - press Ctrl+C to close it.")
    if browser:
        webbrowser.open(address)
