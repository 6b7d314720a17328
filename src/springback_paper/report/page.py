"""A document as one self-contained HTML page: no network, light and dark, wide and narrow."""

from base64 import b64encode
from html import escape
from importlib.resources import files

from springback_paper.report.document import Block, Document, FigureBlock, Heading, Paragraph, TableBlock


def page(document: Document) -> str:
    """The text of report.html.

    Examples
    --------
    >>> "<h1>A &amp; B</h1>" in page(Document("A & B", ()))
    True
    """
    links = " ".join(
        f'<a href="#{escape(block.anchor)}">{escape(block.text)}</a>'
        for block in document.blocks
        if isinstance(block, Heading)
    )
    first = next((at for at, block in enumerate(document.blocks) if isinstance(block, Heading)), len(document.blocks))
    opening = "\n".join(map(_block, document.blocks[:first]))
    body = "\n".join(map(_block, document.blocks[first:]))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(document.title)}</title>
<style>
{files(__package__).joinpath("page.css").read_text()}</style>
</head>
<body><main>
<h1>{escape(document.title)}</h1>
{opening}
<nav aria-label="Sections">{links}</nav>
{body}
</main></body>
</html>
"""


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f'<h2 id="{escape(block.anchor)}">{escape(block.text)}</h2>'
    if isinstance(block, Paragraph):
        return f"<p{' class=quiet' if block.quiet else ''}>{escape(block.text)}</p>"
    if isinstance(block, TableBlock):
        return _table(block)
    return _figure(block)


def _figure(block: FigureBlock) -> str:
    link = ""
    if block.png is None:
        inside = f'<div class="missing">{escape(block.missing)}</div>'
    else:
        data = b64encode(block.png).decode()
        inside = f'<div class="plate"><img alt="{escape(block.title)}" src="data:image/png;base64,{data}"></div>'
        link = f' <a href="{escape(block.numbers)}">Numbers (CSV)</a>'
    return (
        f'<figure id="{escape(block.name)}"><h3>{escape(block.title)}</h3>{inside}'
        f"<figcaption>{escape(block.caption)}{link}</figcaption></figure>"
    )


def _table(block: TableBlock) -> str:
    def row(cells: tuple[str, ...], tag: str) -> str:
        kinds = [' class="word"' if place in block.words else "" for place in range(len(cells))]
        return (
            "<tr>"
            + "".join(f"<{tag}{kind}>{escape(cell)}</{tag}>" for cell, kind in zip(cells, kinds, strict=True))
            + "</tr>"
        )

    rows = "".join(row(cells, "td") for cells in block.rows)
    caption = f'<p class="caption">{escape(block.caption)}</p>' if block.caption else ""
    table = f"<table><thead>{row(block.columns, 'th')}</thead><tbody>{rows}</tbody></table>"
    return f'<div class="scroll">{table}</div>{caption}'
