"""Convert our docstrings to Markdown: parameter lists become tables, and examples become code blocks.

A docstring consists of blocks separated by blank lines. A block of examples starts with `>>>`. A block whose lines
are `name   meaning` (with two or more spaces in between, and indented continuation lines) is a list of parameters. A
block that is indented as a whole is code. Anything else is prose.
"""

import re
from typing import Any

import griffe

_ROW = re.compile(r"^(\S+(?:,? \S+)*?) {2,}(\S.*)$")
_NAMES = re.compile(r"^[\w*., ]+$")


class HouseDocstrings(griffe.Extension):
    """Rewrite every docstring when it is loaded."""

    def on_object(self, *, obj: griffe.Object, **_rest: Any) -> None:
        """Convert the docstring of one object; griffe calls this for every module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(docstring: str) -> str:
    """Return a docstring as Markdown.

    >>> as_markdown("Says hello.\\n\\nname   whom to greet").splitlines()[-1]
    '| `name` | whom to greet |'
    """
    return "\n\n".join(_block(block) for block in re.split(r"\n\s*\n", docstring.strip("\n")))


def _block(block: str) -> str:
    lines = block.split("\n")
    if block.startswith(">>>"):
        return f"```pycon\n{block}\n```"
    if all(line.startswith("    ") for line in lines):
        return "```python\n" + "\n".join(line[4:] for line in lines) + "\n```"
    rows = _parameters(lines)
    if rows is None:
        return block
    table = [f"| {_code(names)} | {_cell(meaning)} |" for names, meaning in rows]
    return "\n".join(["| name | meaning |", "| --- | --- |", *table])


def _parameters(lines: list[str]) -> list[tuple[str, str]] | None:
    """Return the rows of a list of parameters, or None if the lines are something else."""
    if not any(_ROW.match(line) for line in lines):
        return None
    rows: list[list[str]] = []
    for line in lines:
        found = _ROW.match(line)
        if line.startswith(" ") and rows:
            rows[-1][1] = f"{rows[-1][1]} {line.strip()}".strip()
        elif found and rows and rows[-1][0].endswith(","):
            rows[-1] = [f"{rows[-1][0]} {found[1]}", found[2]]
        elif found:
            rows.append([found[1], found[2]])
        elif _NAMES.match(line):
            rows.append([line, ""])
        else:
            return None
    return [(names, meaning) for names, meaning in rows]


def _code(names: str) -> str:
    return ", ".join(f"`{name.strip()}`" for name in names.split(",") if name.strip())


def _cell(text: str) -> str:
    """Escape vertical bars, which would end a table cell except inside backticks."""
    parts = text.split("`")
    parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
    return "`".join(parts)
