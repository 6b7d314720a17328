"""What a report is made of: headings, paragraphs, tables and figures, before they become HTML or Markdown."""

from dataclasses import dataclass

NOT_RUN = "not run"
"""Why a figure is missing that nobody asked for."""


@dataclass(frozen=True)
class Heading:
    """The title of a section; `anchor` names it in links."""

    text: str
    anchor: str


@dataclass(frozen=True)
class Paragraph:
    """Plain text; a `quiet` one is set smaller."""

    text: str
    quiet: bool = False


@dataclass(frozen=True)
class TableBlock:
    """A table; every cell is text. The columns in `words` are set to the left, those of numbers to the right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    words: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class FigureBlock:
    """A figure, drawn (PNG bytes) or not (None, then `missing` says why).

    Parameters
    ----------
    name : str
        Of its files in the folder of figures: the picture, and the numbers that it shows as NAME.csv.
    """

    name: str
    title: str
    caption: str
    png: bytes | None
    missing: str = NOT_RUN

    @property
    def numbers(self) -> str:
        """Where its numbers are, from the folder of the report."""
        return f"figures/{self.name}.csv"


Block = Heading | Paragraph | TableBlock | FigureBlock


@dataclass(frozen=True)
class Document:
    """A whole report."""

    title: str
    blocks: tuple[Block, ...]
