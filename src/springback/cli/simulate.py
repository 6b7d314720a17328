"""`springback simulate`: run a trained network on your own spike trains."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from springback.check import DataError
from springback.cli.display import say, spinner
from springback.cli.file_checks import new_file, readable_file, writing
from springback.cli.options import Overwrite
from springback.data.own_file import read_npz
from springback.files.atomic import atomic_file
from springback.spiking.exchange import simulate as run_on_spikes
from springback.spiking.exchange import spikes_of
from springback.spiking.model_file import load_spiking_model


def simulate(
    model: Annotated[Path, typer.Argument(help="A model written by `springback train`.", dir_okay=False)],
    spikes: Annotated[
        Path, typer.Option(help="Input spikes: an .npz file with two arrays, `times` and `ids`.", dir_okay=False)
    ],
    unit: Annotated[str, typer.Option(help="Unit of the times: s, ms, us, ns or steps.")],
    out: Annotated[
        Path | None, typer.Option(help="Write the output spikes to this file (.npz: times in s, ids).", dir_okay=False)
    ] = None,
    duration_ms: Annotated[
        float | None, typer.Option(help="How long to simulate. Default: until the last spike.", min=0.0)
    ] = None,
    no_short_term: Annotated[bool, typer.Option("--no-short-term", help="Keep the weights static.")] = False,
    overwrite: Overwrite = False,
) -> None:
    """Run a trained network on your own spike trains, and write its output spikes.

    Example: `springback simulate model.safetensors --spikes in.npz --unit ms --out out.npz`
    """
    readable_file("MODEL", model)
    readable_file("--spikes", spikes)
    if out is not None:
        new_file("--out", out, suffixes=(".npz",), overwrite=overwrite)
    network = load_spiking_model(model)
    given = read_npz(spikes, needs=("times", "ids"))
    dt_ms = network.preset.circuit.dt_ms
    with spinner("simulating"):
        try:
            run = run_on_spikes(
                network,
                (given["times"], given["ids"]),
                unit=unit,
                dt_ms=dt_ms,
                duration_s=None if duration_ms is None else duration_ms / 1000,
                adapts=not no_short_term,
            )
        except (TypeError, ValueError) as error:
            raise DataError(f"--spikes {spikes}: {error}") from error
    found = spikes_of(run)
    counts = np.bincount(found.index, minlength=found.n_sources)
    say(f"{len(given['times']):,} input spikes, {found.duration_s:g} s; {len(found):,} output spikes")
    if len(found):
        top = np.argsort(-counts, kind="stable")[:3]
        labels = network.neuron_labels[top]
        named = [str(network.classes[at]) if at >= 0 else "none" for at in labels]
        loudest = (f"neuron {k} (class {name}): {counts[k]}" for k, name in zip(top, named, strict=True) if counts[k])
        say("most spikes: " + "; ".join(loudest))
    if out is not None:
        with writing("--out", out), atomic_file(out) as file:
            np.savez(file, times=found.time_s, ids=found.index)
        say(f"written to {out}")
