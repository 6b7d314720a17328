"""A state that no stream can lead to is refused in one sentence, and the model stays as it was."""

import numpy as np
import pytest

from springback.check import DataError
from springback.files.container import from_bytes
from springback.files.models import ModelState, pack_state, unpack_state
from springback.heads import ElasticHead, KeyedStreams, LearningObserver, Observer, Springs, WindowSprings

IMPOSSIBLE = [
    ("seen", -1.0),
    ("seen", 0.5),
    ("spread", -1.0),
    ("odds", -0.5),
    ("answered", -1),
    ("agreement", -1.0),
    ("position", -1),
    ("clock", np.inf),
]


@pytest.mark.parametrize(("name", "value"), IMPOSSIBLE)
def test_an_impossible_number_in_a_state_is_refused(name, value):
    head = ElasticHead(np.eye(2), np.zeros(2))
    head.step([1.0, 0.2])
    before = head.get_state()
    arrays = unpack_state(
        "ElasticHead", before, {**head.state_.memory._asdict(), "clock": np.zeros(1), "pace": np.zeros(17)}
    )
    arrays[name][:1] = value
    with pytest.raises(DataError, match=f"state cannot be used: .*{name}"):
        head.set_state(pack_state("ElasticHead", arrays))
    assert head.get_state() == before


@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize(("name", "value"), IMPOSSIBLE)
def test_an_impossible_number_in_the_state_of_a_key_is_refused(name, value, compact):
    streams = KeyedStreams(ElasticHead(np.eye(2), np.zeros(2)), compact=compact)
    streams.step("door", [1.0, 0.2])
    before = streams.snapshot("door")
    held = from_bytes("a state", before, "state", ModelState)
    arrays = {part: array.copy() for part, array in held.arrays.items()}
    arrays[name][:1] = value
    with pytest.raises(DataError, match=f"state cannot be used: .*{name}"):
        streams.restore("door", pack_state(held.model, arrays))
    assert streams.snapshot("door") == before


@pytest.mark.parametrize(
    "settings",
    [
        Observer(),
        LearningObserver(depth=4),
        Springs(pull=1.0),
        WindowSprings(window=4, unit_inputs=False),
        WindowSprings(window=4, tuning=2.0),
    ],
)
def test_the_state_of_every_memory_is_accepted_again(settings):
    rows = 50 * np.random.default_rng(0).normal(size=(30, 2)).astype(np.float32)
    head = ElasticHead(np.eye(2), np.zeros(2), settings)
    for row in rows:
        head.step(row)
    again = ElasticHead(np.eye(2), np.zeros(2), settings).set_state(head.get_state())
    np.testing.assert_array_equal(again.track(rows), head.track(rows))
