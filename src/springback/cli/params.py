"""`springback params`: all parameters of a preset, as a TOML file to change."""

from typing import Annotated

import typer

from springback.cli.options import NEURONS_MAX, PresetName


def params(
    preset: Annotated[PresetName, typer.Argument(help="Which preset.")],
    neurons: Annotated[int, typer.Option(help="Number of excitatory neurons.", min=1, max=NEURONS_MAX)] = 400,
    inputs: Annotated[int, typer.Option(help="Number of inputs: pixels of an image.", min=1)] = 784,
) -> None:
    """Print all parameters of a preset as TOML, to change them and to train with `springback train --params`.

    Lines that you delete keep the value of the preset named in the line `based_on`.

    Example: `springback params moraitis-2020 > my.toml`
    """
    from springback.spiking.presets import PRESETS, preset_text

    chosen = PRESETS[preset](n_inputs=inputs, n_neurons=neurons)
    typer.echo(preset_text(chosen, based_on=preset.value), nl=False)
