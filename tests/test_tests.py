"""Every test can fail: it asserts something, expects an error or a warning, or calls a function here that does."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
EXPECTS = {"raises", "warns", "fail"}


@cache
def functions() -> tuple[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef], ...]:
    trees = [(path, ast.parse(path.read_text())) for path in sorted(TESTS.rglob("*.py"))]
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return tuple((path, node) for path, tree in trees for node in ast.walk(tree) if isinstance(node, kinds))


def called_in(function: ast.AST) -> Iterator[str]:
    """The last names of all that is called, as `raises` of `pytest.raises`."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            yield getattr(node.func, "attr", getattr(node.func, "id", ""))


def asserts(function: ast.AST) -> bool:
    if any(isinstance(node, ast.Assert) for node in ast.walk(function)):
        return True
    return any(name in EXPECTS or name.startswith("assert_") for name in called_in(function))


@cache
def checks() -> set[str]:
    """Names of functions of the tests, other than tests, that assert something, if only through another of them."""
    helpers = [function for _, function in functions() if not function.name.startswith("test_")]
    found = {function.name for function in helpers if asserts(function)}
    while more := {one.name for one in helpers if not found.isdisjoint(called_in(one))} - found:
        found |= more
    return found


def can_fail(function: ast.AST) -> bool:
    return asserts(function) or not checks().isdisjoint(called_in(function))


def test_every_test_can_fail():
    tests = [(path, function) for path, function in functions() if function.name.startswith("test_")]
    assert len(tests) > 1000
    empty = [f"{path.relative_to(TESTS)}: {function.name}" for path, function in tests if not can_fail(function)]
    assert not empty, f"these tests assert nothing: {', '.join(empty)}"


def test_a_test_that_asserts_nothing_would_be_caught():
    empty, with_assert, with_error, with_helper = (
        ast.parse(f"def test_it():\n    {body}")
        for body in ("print(1)", "assert 1", "pytest.raises(ValueError, print)", "can_fail_if(1)")
    )
    assert can_fail(with_assert)
    assert can_fail(with_error)
    assert not can_fail(empty)
    assert not can_fail(with_helper)
    assert "one_sentence" in checks()
