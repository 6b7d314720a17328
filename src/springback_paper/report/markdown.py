"""A document as Markdown."""

from collections.abc import Callable
from typing import Any

from springback.streaming.wording import percent
from springback_paper.report.document import (
    Block,
    ClaimsBlock,
    Document,
    FigureBlock,
    Heading,
    Headline,
    Paragraph,
    TableBlock,
    Verdicts,
)


def markdown(document: Document) -> str:
    r"""The text of report.md; figures are links into the folder beside it.

    Examples
    --------
    >>> print(markdown(Document("Results", (TableBlock(("model", "%"), (("a|b", "9"),)),))))
    # Results
    <BLANKLINE>
    | model | % |
    | --- | ---: |
    | a\|b | 9 |
    <BLANKLINE>
    """
    return "\n\n".join([f"# {document.title}", *map(_block, document.blocks)]) + "\n"


def _block(block: Block) -> str:
    return _KINDS[type(block)](block)


def _verdicts(block: Verdicts) -> str:
    return "Claims of the paper: " + ", ".join(f"{verdict} **{count}**" for verdict, count in block.counts.items())


def _bars(block: Headline) -> str:
    rows = [
        (bar.name, percent(bar.ours, 1), "-" if bar.paper is None else percent(bar.paper, 1), bar.trained_on)
        for bar in block.bars
    ]
    table = TableBlock(("model", "ours", "paper", "trained on"), tuple(rows), words=(0, 3))
    return f"{block.title}:\n\n{_table(table)}"


def _figure(block: FigureBlock) -> str:
    if block.png is None:
        return f"### {block.title}\n\n({block.missing})\n\n{block.caption}"
    image = f"![{block.title}](figures/{block.name}.png)"
    return f"### {block.title}\n\n{image}\n\n{block.caption} [Numbers (CSV)]({block.numbers})"


def _table(block: TableBlock) -> str:
    rule = ["---" if place in block.words else "---:" for place in range(len(block.columns))]
    lines = [_row(block.columns), _row(tuple(rule)), *map(_row, block.rows)]
    return "\n".join(lines) + (f"\n\n{block.caption}" if block.caption else "")


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


_KINDS: dict[type[Block], Callable[[Any], str]] = {
    Heading: lambda block: f"## {block.text}",
    Paragraph: lambda block: str(block.text),
    TableBlock: _table,
    Headline: _bars,
    Verdicts: _verdicts,
    ClaimsBlock: lambda block: _table(block.table),
    FigureBlock: _figure,
}
"""How each kind of block becomes Markdown."""
