"""Limits and texts of options that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from springback import check

SEED_MAX = 2**63 - 1
"""The largest seed; a few numbers above it are reserved for derived seeds."""


def seed_option(text: str, **look: Any) -> Any:
    """The option of a random seed. Its limit is checked here, because help screens would print all nineteen digits."""

    def within(seed: int | None) -> int | None:
        return None if seed is None else check.integer("--seed", seed, low=0, high=SEED_MAX)

    return typer.Option(help=text, callback=within, **look)


NEURONS_MAX = 100_000
SEEDS_MAX = 1000
TRIALS_MAX = 1_000_000


class PresetName(StrEnum):
    """The presets of `springback.spiking.presets`."""

    springback_2026 = "springback-2026"
    moraitis_2020 = "moraitis-2020"
    diehl_cook_2015 = "diehl-cook-2015"


Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")]

DataHome = Annotated[
    Path | None,
    typer.Option(
        help="Folder for data sets; you can also put the original files here yourself (plain or .gz).",
        envvar="SPRINGBACK_DATA",
        file_okay=False,
    ),
]
