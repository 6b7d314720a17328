"""Limits and texts of options that several commands share."""

from typing import Annotated

import typer

SEED_MAX = 2**63 - 1
"""The largest seed; a few numbers above it are reserved for derived seeds."""

NEURONS_MAX = 100_000
SEEDS_MAX = 1000
TRIALS_MAX = 1_000_000

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")]
