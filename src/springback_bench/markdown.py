"""Tables in Markdown, numbers in them, and their place in a page."""

from pathlib import Path

from springback.files.atomic import atomic_file


def table_row(*cells: str) -> str:
    """Return one row of a table.

    >>> table_row("a", "b")
    '| a | b |'
    """
    return f"| {' | '.join(cells)} |"


def table_rule(n: int) -> str:
    """Return the line below the head of a table of n columns."""
    return table_row(*("---",) * n)


def plain(text: str) -> str:
    """Return a text without what Markdown would read as something else.

    >>> plain("a|b <c> `d`")
    "a/b (c) 'd'"
    """
    return text.replace("|", "/").replace("<", "(").replace(">", ")").replace("`", "'")


def number(value: float) -> str:
    """Return a number with three digits that count, or all digits of a large one.

    >>> number(1234.5), number(1.2345)
    ('1,234', '1.23')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def write_between(page: Path, marks: tuple[str, str], text: str) -> None:
    """Replace what stands between two marks of a page."""
    before, rest = page.read_text().split(marks[0])
    _, after = rest.split(marks[1])
    with atomic_file(page) as file:
        file.write(f"{before}{marks[0]}\n\n{text}\n\n{marks[1]}{after}".encode())
