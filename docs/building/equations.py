"""Equations without scripts or fonts from elsewhere: a fenced block of kind `math` becomes MathML."""

import re

_BLOCK = re.compile(r"^```math\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def with_mathml(markdown: str) -> str:
    """The page with each block of LaTeX as one line of MathML, which browsers draw themselves.

    >>> "<mfrac>" in with_mathml("```math\\n\\\\frac{a}{b}\\n```")
    True
    """
    from latex2mathml.converter import convert

    return _BLOCK.sub(
        lambda found: f'<div class="equation">{convert(found[1].strip(), display="block")}</div>', markdown
    )
