"""A document as one self-contained HTML page: no network, light and dark, wide and narrow."""

from base64 import b64encode
from html import escape
from importlib.resources import files

from springback_paper.claims.claim import FAILS, HOLDS, IN_PART
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
    if isinstance(block, Verdicts):
        return _verdicts(block)
    if isinstance(block, ClaimsBlock):
        return _claims(block)
    return _figure(block)


def _verdicts(block: Verdicts) -> str:
    """Claims that have the same verdict stand side by side; the numbers are those in the list of claims."""
    groups = "".join(
        f'<li><b class="verdict {_colour(verdict)}">{escape(verdict)}: {count}</b> '
        + " ".join(
            f'<a class="{_colour(verdict)}" href="#claim-{number}" title="{escape(one["claim"])}">{number}</a>'
            for number, one in enumerate(block.claims, 1)
            if one["verdict"] == verdict
        )
        + "</li>"
        for verdict, count in block.counts.items()
    )
    return f'<ul class="verdicts" aria-label="Claims of the paper by verdict">{groups}</ul>'


def _claims(block: ClaimsBlock) -> str:
    rows = "".join(
        f'<li id="claim-{number}"><div><span class="verdict {_colour(one["verdict"])}">{escape(one["verdict"])}</span>'
        f"<h3>{number}. {escape(one['claim'])}</h3><cite>{escape(one['source'])}</cite></div>"
        f"<div><p>{escape(one['measured'])}</p><p class=quiet>{escape(one['rule'])}</p>"
        f"<code>{escape(one['command'])}</code></div></li>"
        for number, one in enumerate(block.claims, 1)
    )
    return f'<ol class="claims">{rows}</ol><p class="caption">{escape(block.table.caption)}</p>'


def _colour(verdict: str) -> str:
    """The class in page.css; what is neither confirmed nor refuted has none of its own."""
    return {HOLDS: "holds", IN_PART: "part", FAILS: "fails"}.get(verdict, "open")


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
