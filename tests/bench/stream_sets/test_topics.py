"""Articles as streams: what is read when, and that no text is both learned and tested."""

import numpy as np
import pytest

from springback_bench.stream_sets import _minilm, stream_sets, topics
from springback_bench.stream_sets.topics import ROLLING, SENTENCES, sentences_of, split_of, visits, windows_of


class Sheet:
    """In place of the network: every text is drawn at random, but always alike."""

    def __init__(self):
        self.read = []

    def embed(self, texts):
        self.read += texts
        rows = [np.random.default_rng(list(text.encode())).normal(size=_minilm.N_FEATURES) for text in texts]
        return np.array(rows, np.float32)


def numbered(reading):
    """Features that say which article and which frame they are, (articles, frames, 2)."""
    articles, frames = np.meshgrid(np.arange(reading.articles), np.arange(reading.length), indexing="ij")
    return np.stack([articles, frames], axis=-1).astype(np.float32)


@pytest.mark.parametrize("reading", [SENTENCES, ROLLING], ids=["sentences", "rolling"])
def test_a_stream_goes_on_in_every_article_where_it_stopped(reading):
    stream = visits(numbered(reading), reading, np.random.default_rng(0))
    assert (stream.features[:, 0] == stream.labels).all()
    for article in range(reading.articles):
        read = stream.features[stream.labels == article, 1]
        assert (read == np.arange(len(read))).all()
    assert len(stream) > 0.95 * reading.articles * reading.length


def test_every_visit_is_an_object_and_no_article_follows_itself():
    stream = visits(numbered(SENTENCES), SENTENCES, np.random.default_rng(1))
    begins = np.flatnonzero(np.diff(stream.objects, prepend=-1))
    assert (stream.objects[begins] == np.arange(len(begins))).all()
    assert (np.diff(stream.labels[begins]) != 0).all()
    assert np.diff(begins).max() <= SENTENCES.visit_max


@pytest.mark.parametrize("reading", [SENTENCES, ROLLING], ids=["sentences", "rolling"])
def test_what_is_learned_chosen_on_and_tested_shares_no_words(reading):
    words = 16 if reading is ROLLING else 4
    first, middle = reading.learned + reading.between, (reading.learned + reading.between + reading.length) // 2

    def span(start, stop):
        return set(range(4 * start, 4 * (stop - 1) + words))

    learned, chosen = span(0, reading.learned), span(first, middle - reading.between)
    tested = span(middle, reading.length)
    assert not learned & chosen
    assert not chosen & tested


def test_prototypes_answer_what_they_have_learned():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(SENTENCES.articles, 1, 20))
    embeddings = (centres + 0.1 * rng.normal(size=(SENTENCES.articles, SENTENCES.length, 20))).astype(np.float32)
    split = split_of("topic-sentences", 0, embeddings, SENTENCES, rng)
    (test,) = split.test
    assert (split.head.logits(test.features).argmax(axis=1) == test.labels).mean() > 0.99
    np.testing.assert_allclose(np.linalg.norm(test.features, axis=1), 1, rtol=1e-5)


def test_headings_appendices_and_fragments_are_no_sentences():
    whole = "This is the first sentence of the article, long enough. And this is the second, which is long as well."
    article = f"== History ==\n{whole}\nToo short.\n== References ==\nA reference that is long enough to be a sentence."
    assert sentences_of(article) == [part.rstrip(".") + "." for part in whole.split(". ")]


def test_a_window_has_the_last_sixteen_words_after_every_fourth():
    words = [str(number) for number in range(30)]
    windows = windows_of([" ".join(words[:9]), " ".join(words[9:])])
    assert windows == [" ".join(words[at : at + 16]) for at in (0, 4, 8, 12)]


def test_texts_are_read_once_and_then_kept(tmp_path, monkeypatch):
    sheet, told = Sheet(), []
    monkeypatch.setattr(_minilm, "MiniLM", lambda *_: sheet)
    monkeypatch.setattr(_minilm, "stored", lambda *_: tmp_path)
    monkeypatch.setattr(_minilm, "wheel_member", lambda *_: b"")
    lists = [["one", "two"], ["three"]]
    first = _minilm.embedded(lists, tmp_path, told.append)
    again = _minilm.embedded([["three"], ["one", "two"], ["one", "three"]], tmp_path, told.append)
    assert sheet.read == ["one", "two", "three", "one", "three"]
    np.testing.assert_array_equal(first[0], again[1])
    np.testing.assert_array_equal(first[1], again[0])
    assert told == ["reading text 1 of 2", "reading text 2 of 2", "reading text 3 of 3"]


def test_the_splits_of_rolling_text_share_no_article(tmp_path, monkeypatch):
    article = [[f"article {number} and more words of it." * 400] for number in range(80)]
    monkeypatch.setattr(topics, "stored", lambda *_: tmp_path)
    monkeypatch.setattr(topics, "_articles", lambda _: article)
    seen = []

    def embedded(lists, *_):
        seen.append({texts[0] for texts in lists})
        return [np.random.default_rng(0).normal(size=(len(texts), 4)).astype(np.float32) for texts in lists]

    monkeypatch.setattr(_minilm, "embedded", embedded)
    for split in range(3):
        stream_sets()["topic-rolling"].make(split, tmp_path, lambda _: None)
    assert [len(one) for one in seen] == [24, 24, 24]
    assert len(set.union(*seen)) == 72
