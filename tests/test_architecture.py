"""The house plan of docs/design.md: imports point down, and modules form no cycle."""

import ast
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from springback.extras import is_installed

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


@cache
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


def loaded_after(*stages: tuple[str, set[str]]) -> list[str]:
    """What one new process has loaded after each piece of code, of the modules that it must not have loaded by then."""
    code = "import sys\n" + "".join(
        f"{code}\nprint('loaded:', *sorted(set(sys.modules) & {unwanted}))\n" for code, unwanted in stages
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    found = [line for line in done.stdout.splitlines() if line.startswith("loaded:")]
    assert len(found) == len(stages)
    return [f"{one} ({code})" for (code, _), one in zip(stages, found, strict=True) if one != "loaded:"]


def test_the_package_is_light_and_elastic_layers_load_no_compiled_code_no_scikit_learn_and_no_compiler_of_torch():
    stages = [("import springback", {"torch", "matplotlib", "numba", "sklearn", "scipy", "numpy"})]
    if is_installed("torch"):
        stages.append(("import springback.layers", {"numba", "scipy", "sklearn", "torch._dynamo"}))
    assert loaded_after(*stages) == []


CALL = """
from springback.cli import main
try:
    main([{!r}])
    raise AssertionError("the command does not end")
except SystemExit as done:
    assert done.code == 0
"""


def test_commands_data_sets_and_the_studio_load_nothing_before_it_is_used():
    stages = [(CALL.format(flag), {"numba", "sklearn", "matplotlib", "torch"}) for flag in ("--help", "--version")]
    parts = {"scipy.spatial", "scipy.ndimage", "scipy.special", "torch"}
    stages.append(("import springback.datasets.streams, springback.cli.data", parts))
    if is_installed("fastapi"):
        stages.append(("import springback.studio.server", {"torch", "matplotlib", "sklearn", "pandas"}))
    listed = "from springback.datasets.streams import stream_sets; assert 'photographs' in stream_sets()"
    stages.append((listed, {"torch", "av", "onnxruntime"}))
    assert loaded_after(*stages) == []


def test_a_library_that_is_loaded_too_early_would_be_caught():
    assert loaded_after(("import springback", {"json"}), ("import json", {"json"})) == ["loaded: json (import json)"]
