"""Parts of a page that are made from other files: between `<!-- NAME -->` and `<!-- end of NAME -->`."""

_MARK = "<!-- {} -->"


def filled(markdown: str, name: str, content: str) -> str:
    """Return the page with new content between the marks of one part.

    >>> filled("<!-- table: speed -->\\nold\\n<!-- end of table: speed -->", "table: speed", "new")
    '<!-- table: speed -->\\n\\nnew\\n\\n<!-- end of table: speed -->'
    """
    begin, end = _MARK.format(name), _MARK.format(f"end of {name}")
    if markdown.count(begin) != 1 or markdown.count(end) != 1:
        raise SystemExit(f"Put {begin} and {end} into the page, once each.")
    before, rest = markdown.split(begin)
    return f"{before}{begin}\n\n{content.strip()}\n\n{end}{rest.split(end)[1]}"
