"""The house plan of docs/design.md: imports point down, modules form no cycle, and the library knows no application."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from springback.extras import is_installed

SRC = Path(__file__).parents[1] / "src"
LIBRARY, APPLICATIONS = "springback", ("springback_paper", "springback_studio", "springback_bench")
LAYERS = (
    {"lazy"},
    {"check", "compiled", "extras"},
    {"streaming"},
    {"files", "testing"},
    {"elastic"},
    {"spiking", "heads"},
    {"data", "torch"},
    {"live"},
    {"cli"},
    {"springback_bench.rivals"},
    {"springback_paper"},
    {"springback_studio"},
    {"springback_bench"},
)
"""Each part may import those of the lines above it, and those of its own line only where said here."""

NEIGHBOURS: set[tuple[str, str]] = set()

RIVALS = "springback_bench.rivals"
"""Rivals know only the library; the paper compares with some of them, and the benchmarks use the paper's runner."""

ON_CALL = "springback.cli."
"""Commands load an application when they are called, and not before."""

MOST_PACKAGES, MOST_LOOSE = 10, 5


def module_name(path: Path) -> str:
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def sources() -> dict[str, ast.Module]:
    """Every module of the import packages; those of other simulators are scripts, which nothing imports."""
    paths = [path for path in sorted(SRC.glob("springback*/**/*.py")) if path.parent.name != "peers"]
    return {module_name(path): ast.parse(path.read_text()) for path in paths}


def imported_by(tree: ast.AST) -> Iterator[str]:
    """Modules of ours that are imported anywhere in a piece of code."""
    known = sources()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield from (one for one in (whole if whole in known else str(node.module),) if one in known)


@cache
def import_graph() -> dict[str, set[str]]:
    """The modules that each module imports, anywhere in its text."""
    return {name: set(imported_by(tree)) - {name} for name, tree in sources().items()}


def runs_at_import(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported; what stands under `if TYPE_CHECKING` does not."""
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(one, ast.If) and ast.unparse(one.test) == "TYPE_CHECKING":
            continue
        inner = [part for field in ("body", "orelse", "finalbody") for part in getattr(one, field, [])]
        inner += [part for handler in getattr(one, "handlers", []) for part in handler.body]
        waiting += inner
        if not inner:
            yield one


def top_of(module: str) -> str:
    return module.partition(".")[0]


def part_of(module: str) -> str:
    if module == RIVALS or module.startswith(f"{RIVALS}."):
        return RIVALS
    if top_of(module) in APPLICATIONS:
        return top_of(module)
    return module.split(".")[1] if "." in module else ""


def level_of(part: str) -> int:
    return next(level for level, parts in enumerate(LAYERS) if part in parts)


def may_import(importer: str, imported: str) -> bool:
    return importer == imported or level_of(imported) < level_of(importer) or (importer, imported) in NEIGHBOURS


def breaks_the_rule(module: str, tree: ast.Module) -> list[str]:
    """What a module of the library imports of the applications although it must not."""
    called = module.startswith(ON_CALL)
    parts: list[ast.AST] = list(runs_at_import(tree)) if called else [tree]
    return [f"{module} imports {one}" for part in parts for one in imported_by(part) if top_of(one) in APPLICATIONS]


def test_every_part_has_a_place_in_the_plan():
    parts = {part_of(module) for module in import_graph()} - {""}
    assert parts == set().union(*LAYERS)
    assert not parts & {"utils", "helpers", "common", "core", "base", "misc"}


def test_the_library_can_be_held_in_mind():
    inside = SRC / LIBRARY
    packages = sorted(path.parent.name for path in inside.glob("*/__init__.py"))
    loose = sorted(path.stem for path in inside.glob("*.py") if path.stem != "__init__")
    assert len(packages) <= MOST_PACKAGES, packages
    assert len(loose) <= MOST_LOOSE, loose


def test_imports_point_down_the_plan():
    edges = [(module, other) for module, found in import_graph().items() for other in found if part_of(other)]
    assert len(edges) > 100
    wrong = [
        f"{module} imports {other}"
        for module, other in edges
        if module != LIBRARY
        and not may_import(part_of(module), part_of(other))
        and not (module.startswith(ON_CALL) and top_of(other) in APPLICATIONS)
    ]
    assert not wrong


def test_the_library_imports_no_application():
    assert [
        one for module, tree in sources().items() if top_of(module) == LIBRARY for one in breaks_the_rule(module, tree)
    ] == []


def test_modules_form_no_cycle():
    """Apart from what a command loads when it is called, which may be a command that uses the others."""
    graph = {
        module: {one for one in found - {LIBRARY} if not (module.startswith(ON_CALL) and top_of(one) in APPLICATIONS)}
        for module, found in import_graph().items()
        if module != LIBRARY
    }
    assert list(TopologicalSorter(graph).static_order())


def test_a_forbidden_direction_would_be_caught():
    for importer, imported in (
        ("elastic", "data"),
        ("streaming", "spiking"),
        ("files", "heads"),
        ("heads", "torch"),
        ("heads", RIVALS),
        ("springback_paper", "springback_bench"),
        (RIVALS, "springback_paper"),
        ("spiking", "springback_paper"),
        ("live", "cli"),
        ("live", "springback_studio"),
        ("springback_paper", "springback_studio"),
    ):
        assert not may_import(importer, imported)


def test_an_application_in_the_library_would_be_caught():
    late = ast.parse("def call():\n    from springback_paper.models import MODELS")
    early = ast.parse("try:\n    from springback_paper.models import MODELS\nexcept ImportError:\n    pass")
    assert breaks_the_rule("springback.heads.scale", late) == ["springback.heads.scale imports springback_paper.models"]
    assert breaks_the_rule("springback.cli.train", late) == []
    assert breaks_the_rule("springback.cli.train", early) == ["springback.cli.train imports springback_paper.models"]


SHARED_NAMES = {"Part"}
"""Class names that stand for one thing in two forms; docs/design.md says which."""


def class_names(modules: dict[str, ast.Module]) -> dict[str, list[str]]:
    """Every public class, with the modules that define one of that name."""
    found: dict[str, list[str]] = {}
    for module, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(module)
    return found


def test_a_class_name_stands_for_one_thing():
    twice = {name: modules for name, modules in class_names(sources()).items() if len(modules) > 1}
    assert set(twice) == SHARED_NAMES, twice


def test_a_class_name_that_occurs_twice_would_be_caught():
    one = ast.parse("class Score:\n    pass\n\nclass _Block:\n    pass")
    assert class_names({"a": one, "b": one}) == {"Score": ["a", "b"]}


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
        stages.append(("import springback.torch", {"numba", "scipy", "sklearn", "torch._dynamo"}))
    assert loaded_after(*stages) == []


def test_networks_in_onnx_files_are_followed_without_pytorch_and_the_library_without_its_applications():
    applications = {*APPLICATIONS, "torch", "springback.torch"}
    parts = "import springback.heads.onnx.stream, springback.heads.elastic_head, springback.elastic, springback.spiking"
    more = "import springback.live, springback.data.pretrained"
    assert loaded_after((parts, applications), (more, applications)) == []


CALL = """
from springback.cli import main
try:
    main([{!r}])
    raise AssertionError("the command does not end")
except SystemExit as done:
    assert done.code == 0
"""


def test_commands_data_sets_and_the_studio_load_nothing_before_it_is_used():
    heavy = {"numba", "sklearn", "matplotlib", "torch", *APPLICATIONS}
    stages = [(CALL.format(flag), heavy) for flag in ("--help", "--version")]
    parts = {"scipy.spatial", "scipy.ndimage", "scipy.special", "torch"}
    stages.append(("import springback_bench.stream_sets, springback.cli.data", parts))
    if is_installed("fastapi"):
        stages.append(("import springback_studio.server", {"torch", "matplotlib", "sklearn", "pandas"}))
    listed = "from springback_bench.stream_sets import stream_sets; assert 'photographs' in stream_sets()"
    stages.append((listed, {"torch", "av", "onnxruntime"}))
    assert loaded_after(*stages) == []


def test_a_library_that_is_loaded_too_early_would_be_caught():
    assert loaded_after(("import springback", {"json"}), ("import json", {"json"})) == ["loaded: json (import json)"]


def flags_named_in(tree: ast.Module) -> list[str]:
    """Texts of a module that name an option of the command line, but for docstrings and commands to copy."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and isinstance(node.body[0], ast.Expr)
    }
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    ]
    whole_commands = re.compile(r"(springback|pip) [a-z]")
    return [text for text in texts if re.search(r" --[a-z]", text) and not whole_commands.search(text)]


OTHER_PROGRAMS = {"springback.data.packages"}
"""They call package managers, whose options they name."""


def test_the_library_names_no_option_of_the_command_line():
    named = {
        module: found
        for module, tree in sources().items()
        if top_of(module) == LIBRARY and part_of(module) != "cli" and module not in OTHER_PROGRAMS
        if (found := flags_named_in(tree))
    }
    assert named == {}


def test_an_option_in_a_message_would_be_caught():
    assert flags_named_in(ast.parse("def f():\n    raise ValueError(f'give {1} with --label')")) == [" with --label"]
    assert flags_named_in(ast.parse("def f():\n    'As with --label.'\n    return 'a -- b'")) == []
