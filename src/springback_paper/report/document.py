"""What a report is made of: headings, paragraphs, tables and figures, before they become HTML or Markdown."""

from collections.abc import Mapping
from dataclasses import dataclass

from springback_paper.claims.claim import VERDICTS

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
class Verdicts:
    """A strip with a coloured field for every claim, which is a link to it, and how many have each verdict.

    Parameters
    ----------
    claims : tuple[Mapping[str, str], ...]
        As in results.json.
    """

    claims: tuple[Mapping[str, str], ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many claims have each verdict, without those that none has."""
        counts = {verdict: sum(one["verdict"] == verdict for one in self.claims) for verdict in VERDICTS}
        return {verdict: count for verdict, count in counts.items() if count}


@dataclass(frozen=True)
class ClaimsBlock:
    """The claims one by one; `table` is the same for a page that has nothing but tables."""

    claims: tuple[Mapping[str, str], ...]
    table: TableBlock


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


@dataclass(frozen=True)
class Bar:
    """One model of the headline; accuracies are fractions, and `paper` is None where the paper has none."""

    name: str
    trained_on: str
    ours: float
    paper: float | None
    emphasised: bool


@dataclass(frozen=True)
class Headline:
    """A bar for the accuracy of each of a few models, with a mark for the paper's."""

    title: str
    bars: tuple[Bar, ...]


Block = Heading | Paragraph | TableBlock | Headline | Verdicts | ClaimsBlock | FigureBlock


@dataclass(frozen=True)
class Document:
    """A whole report."""

    title: str
    blocks: tuple[Block, ...]
