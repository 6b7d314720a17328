"""A document as one self-contained HTML page: no network, light and dark, wide and narrow."""

from base64 import b64encode
from html import escape

from springback.paper.report.document import Block, Document, FigureBlock, Heading, Paragraph, TableBlock

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --paper: #ffffff; --line: #d8dee4; --mark: #0072B2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --soft: #9aa4af; --paper: #14171b; --line: #343b43; --mark: #56B4E9; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 58rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .5rem 0 1rem; }
h2 { font-size: 1.25rem; margin: 2.75rem 0 .75rem; padding-top: .75rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 0 0 .6rem; }
p { margin: .6rem 0; max-width: 46rem; }
p.quiet, figcaption, .caption { color: var(--soft); font-size: .9rem; }
a { color: var(--mark); }
nav { font-size: .9rem; margin: 1rem 0; }
nav a { margin-right: .9rem; white-space: nowrap; }
figure { margin: 1.75rem 0; }
figure .plate { background: #fff; border: 1px solid var(--line); border-radius: 8px; padding: .6rem; }
figure img { display: block; width: 100%; height: auto; max-width: 54rem; margin: 0 auto; }
figure .missing { border: 1px dashed var(--line); border-radius: 8px; padding: 1rem; color: var(--soft); }
figcaption { margin-top: .6rem; max-width: 46rem; }
.scroll { overflow-x: auto; margin: 1rem 0 .4rem; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .8rem .35rem 0; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--soft); vertical-align: bottom; }
th.word, td.word { text-align: left; white-space: normal; min-width: 7rem; }
td:first-child { font-weight: 500; }
@media (max-width: 640px) { figure .plate { overflow-x: auto; } figure img { min-width: 36rem; } }
@media print { nav { display: none; } figure { break-inside: avoid; } }
"""


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
<style>{_STYLE}</style>
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
    if block.png is None:
        inside = f'<div class="missing">{escape(block.missing)}</div>'
    else:
        data = b64encode(block.png).decode()
        inside = f'<div class="plate"><img alt="{escape(block.title)}" src="data:image/png;base64,{data}"></div>'
    return (
        f'<figure id="{escape(block.name)}"><h3>{escape(block.title)}</h3>{inside}'
        f"<figcaption>{escape(block.caption)}</figcaption></figure>"
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
