"""The names of presets on the command line."""

from enum import StrEnum


class PresetName(StrEnum):
    """The presets of `springback.spiking.presets`."""

    springback_2026 = "springback-2026"
    moraitis_2020 = "moraitis-2020"
    diehl_cook_2015 = "diehl-cook-2015"
