"""A document as one self-contained HTML page: no network, light and dark, wide and narrow."""

from base64 import b64encode
from collections.abc import Callable
from html import escape
from importlib.resources import files
from typing import Any

from springback.streaming.wording import percent
from springback_paper.claims.claim import FAILS, HOLDS, IN_PART
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
    return _KINDS[type(block)](block)


def _heading(block: Heading) -> str:
    return f'<h2 id="{escape(block.anchor)}">{escape(block.text)}</h2>'


def _paragraph(block: Paragraph) -> str:
    return f"<p{' class=quiet' if block.quiet else ''}>{escape(block.text)}</p>"


def _headline(block: Headline) -> str:
    """Bars from 0 to 100 %, grouped by what the models were trained on."""
    rows, group = [], ""
    for bar in block.bars:
        if bar.trained_on != group:
            group = bar.trained_on
            rows.append(f'<li class="group">trained on {escape(group)}</li>')
        mark, beside = "", ""
        if bar.paper is not None:
            mark = f'<b style="left:{100 * bar.paper:.2f}%"></b>'
            beside = f" <small>paper {percent(bar.paper, 1)}</small>"
        rows.append(
            f"<li{' class=ours' if bar.emphasised else ''}><span>{escape(bar.name)}</span>"
            f'<span class="track"><i style="width:{100 * bar.ours:.2f}%"></i>{mark}</span>'
            f'<span class="value">{percent(bar.ours, 1)}{beside}</span></li>'
        )
    return f'<section class="headline"><p class="caption">{escape(block.title)}</p><ul>{"".join(rows)}</ul></section>'


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
    said = '<p class="caption">The claims of the paper; a number leads to the claim</p>'
    return f'{said}<ul class="verdicts" aria-label="Claims of the paper by verdict">{groups}</ul>'


def _claims(block: ClaimsBlock) -> str:
    rows = "".join(
        f'<li id="claim-{number}"><div><span class="verdict {_colour(one["verdict"])}">{escape(one["verdict"])}</span>'
        f"<h3>{number}. {_held(one['claim'])}</h3><cite>{escape(one['source'])}</cite></div>"
        f"<div><p>{_lines(one['measured'])}</p><p class=quiet>{_held(one['rule'])}</p>"
        f"<code>{_command(one['command'])}</code></div></li>"
        for number, one in enumerate(block.claims, 1)
    )
    return f'<ol class="claims">{rows}</ol><p class="caption">{escape(block.table.caption)}</p>'


def _held(text: str) -> str:
    """Text in which a number stays on one line with its deviation and its unit."""
    return escape(text.replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}").replace(" %", "\N{NO-BREAK SPACE}%"))


def _lines(measured: str) -> str:
    """One line for each model."""
    return "<br>".join(_held(part) for part in measured.split("; "))


def _command(command: str) -> str:
    """A command that breaks only between its options."""
    first, *options = command.split(" --")
    return " ".join([escape(first), *(f"<span>--{escape(option)}</span>" for option in options)])


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


_KINDS: dict[type[Block], Callable[[Any], str]] = {
    Heading: _heading,
    Paragraph: _paragraph,
    TableBlock: _table,
    Headline: _headline,
    Verdicts: _verdicts,
    ClaimsBlock: _claims,
    FigureBlock: _figure,
}
"""How each kind of block becomes HTML."""
