"""Streams that are forgotten: the answers do not depend on how frames come together, or on an interruption."""

import numpy as np
import pytest

from springback.heads import ElasticHead, Observer
from springback.live import Frames, Signal, Source, Tally, answers
from springback.live.follower import Follower, ModelOptions
from springback.live.position import load_state, save_state

RNG = np.random.default_rng(0)
WEIGHT, ROWS = RNG.normal(size=(3, 4)), RNG.normal(size=(400, 4))
KEYS = [f"{number}" for number in (np.cumsum(RNG.random(400) < 0.1) + RNG.integers(0, 6, 400)).tolist()]
SECONDS = np.cumsum(RNG.exponential(1.0, 400))


class Pieces(Source):
    """A source that hands on so many frames at a time."""

    def __init__(self, chosen, size, seconds=SECONDS):
        self.signal = Signal(kind="rows")
        numbers = np.arange(400)[chosen]
        self.left = [numbers[start : start + size] for start in range(0, len(numbers), size)]
        self.seconds = seconds

    def read(self):
        if not self.left:
            return None
        at = self.left.pop(0)
        return Frames(values=ROWS[at], seconds=self.seconds[at], keys=[KEYS[one] for one in at])


def a_follower(most=None, forget_after=None):
    head = ElasticHead(WEIGHT, np.zeros(3), Observer(novelty_odds=0.05))
    return Follower(head, "head", ModelOptions(keyed=True, most_streams=most, forget_after=forget_after))


def followed(follower, source, step_s):
    given = answers(source, follower, step_s=step_s)
    return np.concatenate([one.followed.posterior for one in given if one is not None])


def one_by_one(most, forget_after, timed):
    """The answers as they are defined: each stream alone, at rest after it was forgotten."""
    heads, last, found, now = {}, {}, [], -np.inf
    for number, key in enumerate(KEYS):
        moment = SECONDS[number] if timed else number + 1.0
        now = max(now, moment)
        if forget_after is not None:
            for other in [one for one in heads if now - last[one] >= forget_after]:
                del heads[other]
        if key not in heads and most is not None and len(heads) == most:
            del heads[next(iter(heads))]
        head = heads.pop(key, None) or ElasticHead(WEIGHT, np.zeros(3), Observer(novelty_odds=0.05))
        head.memory_in_ = "time" if timed else "frames"
        heads[key], last[key] = head, moment
        found.append(head.step(ROWS[number], moment if timed else None))
    return np.array(found)


BOUNDS = [(None, 8.0), (4, None), (4, 8.0), (1, None), (None, 0.0)]


@pytest.mark.parametrize(("most", "forget_after"), BOUNDS)
@pytest.mark.parametrize("step_s", [None, 1.0])
def test_a_stream_is_forgotten_at_the_same_frame_however_frames_come_together(most, forget_after, step_s):
    wanted = one_by_one(most, forget_after, step_s is not None)
    for size in (1, 7, 400):
        found = followed(a_follower(most, forget_after), Pieces(slice(None), size), step_s)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-7)


@pytest.mark.parametrize(("most", "forget_after"), BOUNDS)
@pytest.mark.parametrize("step_s", [None, 1.0])
def test_a_run_that_goes_on_from_its_state_forgets_as_one_without_a_break(most, forget_after, step_s, tmp_path):
    late = SECONDS + 1.7e9  # as dates are
    wanted = followed(a_follower(most, forget_after), Pieces(slice(None), 50, late), step_s)
    about = {"model": "the head", "step_s": step_s}
    found = []
    for part in (slice(0, 170), slice(170, 230), slice(230, None)):
        follower = a_follower(most, forget_after)
        if found:
            load_state(tmp_path / "state", follower, **about)
        found.append(followed(follower, Pieces(part, 50, late), step_s))
        save_state(tmp_path / "state", follower, **about)
    np.testing.assert_allclose(np.concatenate(found), wanted, rtol=0, atol=1e-7)


def test_streams_whose_times_are_negative_are_forgotten_too():
    follower = a_follower(forget_after=5.0)
    followed(follower, Pieces(slice(None), 400, SECONDS - 1e6), 1.0)
    alive = {key for key, moment in zip(KEYS, SECONDS, strict=True) if SECONDS[-1] - moment < 5.0}
    assert set(follower.streams.states) == alive


def test_a_refused_frame_forgets_nothing():
    follower = a_follower(forget_after=3.0)
    with_gap = Frames(
        values=np.array([ROWS[0], ROWS[1], np.full(4, np.nan), ROWS[2]]),
        seconds=np.array([0.0, 1.0, 1000.0, 2.0]),
        keys=["a", "a", "b", "a"],
    )
    tally, source = Tally(), Pieces(slice(0, 0), 1)
    source.read = iter([with_gap, None]).__next__
    given = list(answers(source, follower, step_s=1.0, tally=tally))
    head = ElasticHead(WEIGHT, np.zeros(3), Observer(novelty_odds=0.05))
    head.memory_in_ = "time"
    np.testing.assert_allclose(
        np.concatenate([one.followed.posterior for one in given]), head.track(ROWS[:3], [0.0, 1.0, 2.0]), atol=1e-7
    )
    assert (tally.frames, tally.bad) == (3, 1)
