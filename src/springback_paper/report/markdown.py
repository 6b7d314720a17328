"""A document as Markdown."""

from springback_paper.report.document import (
    Block,
    ClaimsBlock,
    Document,
    FigureBlock,
    Heading,
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
    if isinstance(block, Heading):
        return f"## {block.text}"
    if isinstance(block, Paragraph):
        return block.text
    if isinstance(block, TableBlock):
        return _table(block)
    if isinstance(block, Verdicts):
        return "Claims of the paper: " + ", ".join(f"{verdict} **{count}**" for verdict, count in block.counts.items())
    if isinstance(block, ClaimsBlock):
        return _table(block.table)
    return _figure(block)


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
