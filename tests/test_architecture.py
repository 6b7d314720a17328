"""The house plan of docs/design.md: imports point down, and modules form no cycle."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "springback"
LAYERS = (
    {"version"},
    {"check", "compiled"},
    {"atomic", "extras", "locks", "magnitude", "one_at_a_time", "quantised", "records", "time_stamps", "channels"},
    {"outside", "torch_state"},
    {"storage", "readout", "metrics", "plain_values", "state_bytes"},
    {"saved_model"},
    {"datasets", "elastic", "spiking", "adaptation"},
    {"circuits", "heads"},
    {"onnx"},
    {"layers", "keyed", "plot"},
    {"loading", "elasticizing"},
    {"stream_pipeline"},
    {"pretrained"},
    {"datasets.streams"},
    {"live"},
    {"paper"},
    {"studio"},
    {"cli"},
)
"""Each part of the package may import those of the lines above it, and those of its own line only where said here."""

STREAMS = "springback.datasets.streams"
"""Runs shipped models over data sets, so it stands above both."""

NEIGHBOURS: set[tuple[str, str]] = {("check", "version"), ("storage", "records"), ("metrics", "readout")}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def import_graph() -> dict[str, set[str]]:
    """The modules of the package that each of its modules imports, anywhere in its text."""
    paths = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
    graph = {}
    for name, path in paths.items():
        found = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path} uses a relative import"
                for alias in node.names:
                    whole = f"{node.module}.{alias.name}"
                    found.add(whole if whole in paths else str(node.module))
        graph[name] = {one for one in found if one in paths and one != name}
    return graph


def part_of(module: str) -> str:
    if module == STREAMS or module.startswith(f"{STREAMS}."):
        return "datasets.streams"
    return module.split(".")[1] if "." in module else ""


def level_of(part: str) -> int:
    return next(level for level, parts in enumerate(LAYERS) if part in parts)


def may_import(importer: str, imported: str) -> bool:
    return importer == imported or level_of(imported) < level_of(importer) or (importer, imported) in NEIGHBOURS


def test_every_part_of_the_package_has_a_place_in_the_plan():
    parts = {part_of(module) for module in import_graph()} - {""}
    assert parts == set().union(*LAYERS)
    assert not parts & {"utils", "helpers", "common", "core", "base", "misc"}


def test_imports_point_down_the_plan():
    edges = [(module, other) for module, found in import_graph().items() for other in found if "." in other]
    assert len(edges) > 100
    wrong = [
        f"{module} imports {other}"
        for module, other in edges
        if module != "springback" and not may_import(part_of(module), part_of(other))
    ]
    assert not wrong


def test_modules_form_no_cycle():
    graph = {module: found - {"springback"} for module, found in import_graph().items() if module != "springback"}
    assert list(TopologicalSorter(graph).static_order())


def test_a_forbidden_direction_would_be_caught():
    for importer, imported in (
        ("elastic", "datasets"),
        ("records", "spiking"),
        ("paper", "cli"),
        ("spiking", "paper"),
        ("datasets", "datasets.streams"),
    ):
        assert not may_import(importer, imported)


def loaded_with(modules: str, wanted: set[str]) -> set[str]:
    """Which of the wanted modules a new process has loaded after importing the given ones."""
    code = f"import sys, {modules}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return wanted & set(done.stdout.split())


def test_the_studio_does_without_what_it_does_not_show():
    pytest.importorskip("fastapi")
    assert not loaded_with("springback.studio.server", {"torch", "matplotlib", "sklearn", "pandas"})


def test_elastic_layers_load_neither_compiled_code_nor_scikit_learn_nor_the_compiler_of_torch():
    pytest.importorskip("torch")
    assert not loaded_with("springback.layers", {"numba", "scipy", "sklearn", "torch._dynamo"})


def test_data_sets_and_commands_load_no_part_of_scipy_before_it_is_used():
    parts = {"scipy.spatial", "scipy.ndimage", "scipy.special", "torch"}
    assert not loaded_with("springback.datasets.streams, springback.cli.data", parts)
