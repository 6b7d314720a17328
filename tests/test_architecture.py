"""The house plan: imports point down, no room imports another, and importing the package stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "springback"
GROUND = {"atomic", "check", "compiled", "extras", "magnitude", "outside", "records", "storage", "version"}
ROOMS = {"datasets", "elastic", "spiking", "layers", "baselines", "rivals", "readout"}
UPPER = ["experiments", "reproduction", "figures", "report", "studio", "cli"]


def may_import(importer: str, imported: str) -> bool:
    if importer == imported:
        return True
    if importer in GROUND:
        return imported in GROUND
    if importer in ROOMS:
        return imported in GROUND
    allowed = GROUND | {"__init__"} | set(UPPER[: UPPER.index(importer)])
    return imported in allowed | (ROOMS if importer in ("experiments", "reproduction", "studio", "cli") else set())


def imports_between_rooms() -> list[tuple[Path, str, str]]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path} uses a relative import"
                module = node.module or ""
                names = [f"springback.{alias.name}" for alias in node.names] if module == "springback" else [module]
            for name in names:
                if name == "springback":
                    found.append((path, part, "__init__"))
                elif name.startswith("springback."):
                    found.append((path, part, name.split(".")[1]))
    return found


def test_the_walk_sees_the_imports():
    assert len(imports_between_rooms()) > 20


@pytest.mark.parametrize(("path", "importer", "imported"), imports_between_rooms())
def test_imports_point_down_the_house_plan(path, importer, imported):
    if importer != "__init__":
        assert may_import(importer, imported), f"{path.name} in {importer} imports {imported}"


@pytest.mark.parametrize(
    ("importer", "imported"),
    [("elastic", "datasets"), ("records", "spiking"), ("figures", "cli"), ("figures", "elastic")],
)
def test_a_forbidden_direction_would_be_caught(importer, imported):
    assert not may_import(importer, imported)


def test_every_part_of_the_house_has_a_place_in_the_plan():
    parts = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in PACKAGE.rglob("*.py")}
    assert parts <= GROUND | ROOMS | set(UPPER) | {"__init__"}
    assert not parts & {"utils", "helpers", "common", "core", "base", "misc"}


def test_importing_springback_pulls_in_neither_torch_nor_matplotlib():
    code = (
        "import sys, springback; print(*(m for m in ('torch', 'matplotlib', 'numba', 'sklearn') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_studio_does_without_what_it_does_not_show():
    pytest.importorskip("fastapi")
    code = (
        "import sys, springback.studio.server;"
        "print(*(m for m in ('torch', 'matplotlib', 'sklearn', 'pandas') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
