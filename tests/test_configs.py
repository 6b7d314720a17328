"""Every configuration of the library is valid with its defaults, and cannot be changed once it is made."""

import dataclasses
import importlib
import pkgutil

import pytest

PACKAGES = (
    "springback.elastic",
    "springback.torch",
    "springback.spiking",
    "springback_bench.rivals",
    "springback.data",
)


def dataclasses_of(package):
    """The public dataclasses that the public modules of a package define."""
    root = importlib.import_module(package)
    for info in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
        if (
            any(part.startswith("_") for part in info.name.split("."))
            or info.name.endswith("river_adapter")
            or ".composed" in info.name
        ):
            continue
        for name, found in vars(importlib.import_module(info.name)).items():
            own = isinstance(found, type) and found.__module__ == info.name and not name.startswith("_")
            if own and dataclasses.is_dataclass(found):
                yield found


def has_required_fields(kind):
    defaults = [(field.default, field.default_factory) for field in dataclasses.fields(kind) if field.init]
    return any(both == (dataclasses.MISSING, dataclasses.MISSING) for both in defaults)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_config_is_valid_with_its_defaults(package):
    if package in ("springback.torch", "springback_bench.rivals"):
        pytest.importorskip("torch")
    for kind in dataclasses_of(package):
        if not has_required_fields(kind):
            made = dataclasses.replace(kind())
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(made, dataclasses.fields(kind)[0].name, None)


def test_the_walk_finds_the_configs():
    names = {kind.__name__ for kind in dataclasses_of("springback.elastic")}
    assert {"Plasticity", "Elasticity", "Exponential"} <= names
