"""Recordings of voices: five meetings of a city council, turn by turn, and five voices that talk in the background."""

import io
import tarfile
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.check import DataError
from springback.data.catalogue import Report
from springback.data.fetching import scratch_folder
from springback.data.packages import Package, fetch_debian, unpacked
from springback_bench.stream_sets._speech import RATE_HZ, decoded
from springback_bench.stream_sets.packages import fetch_sdist, stored, tar_member

COUNCIL_SOURCE = "Five meetings of Seattle's city council in the source distribution of speakerbox 1.2.0 (MIT)"
BABBLE_SOURCE = "prompts of Debian's asterisk-core-sounds 1.6.1 in five languages (CC-BY-SA-3.0 and CC-BY-3.0)"

_COUNCIL = Package("speakerbox==1.2.0", 38_939_878, "08da93c037108369cd1ac3aca6f418152f897aadd7137836826b312113161316")
_COUNCIL_FILE = "speakerbox-1.2.0/speakerbox/tests/data/diarized.zip"
_SHORTEST_TURN = RATE_HZ // 2
"""Samples; shorter turns are left out."""

_BABBLE = {
    "en": (10_565_860, "38c5261820b406dcb0ecb37675720da2b0864850690690352ca52707eb623806"),
    "es": (13_048_380, "e4e3b4281057d3b81b779298fd6be705f57411513955c518eed1bcaabbd615b8"),
    "fr": (10_822_860, "7add61d5e42279ecff1bbdf842a5a946ac3644fac9a0fe44384731aa7270c8e0"),
    "it": (10_087_176, "46b4cf7afc508a5fcfc051b7ea233251c0d195dd4ef83cc4b7facb4c6429b016"),
    "ru": (10_579_440, "673b4238a6b8269960f055d868c6a11083f7a0d00979167cb01554046b48ed9b"),
}
_SHORTEST_PROMPT = 16_000
"""Bytes of G.722, two seconds."""

_BABBLE_SAMPLES = 4 * 60 * RATE_HZ


class Turn(NamedTuple):
    """What one person says without a break: who it is, and the samples."""

    speaker: str
    samples: NDArray[np.float32]


def council_meetings(home: Path, report: Report) -> list[list[Turn]]:
    """The turns of every meeting in the order of time; meetings in the order of their names."""
    content = tar_member(stored(_COUNCIL, fetch_sdist, home, report), _COUNCIL_FILE)
    return turns_by_meeting(content)


def turns_by_meeting(archive: bytes) -> list[list[Turn]]:
    """The turns in a zip file whose members are named MEETING/SPEAKER/START-END.wav, with times in milliseconds."""
    meetings: dict[str, list[tuple[int, Turn]]] = {}
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        for name in opened.namelist():
            if not name.endswith(".wav"):
                continue
            try:
                meeting, speaker, span = name.split("/")[-3:]
                start = int(span.partition("-")[0])
            except ValueError:
                raise DataError(f"sound files must be named MEETING/SPEAKER/START-END.wav; got {name!r}") from None
            samples = decoded(opened.read(name), container="wav")
            if len(samples) > _SHORTEST_TURN:
                meetings.setdefault(meeting, []).append((start, Turn(speaker, samples)))
    return [[turn for _, turn in sorted(meetings[one], key=lambda timed: timed[0])] for one in sorted(meetings)]


def babbling_voices(home: Path, report: Report) -> list[NDArray[np.float32]]:
    """Four minutes or more of each of five voices, in five languages."""
    voices = []
    for language, (size, sha256) in _BABBLE.items():
        package = Package(f"asterisk-core-sounds-{language}-g722=1.6.1-1", size, sha256)
        archive = stored(package, fetch_debian, home, report)
        with scratch_folder() as place:
            voices.append(_prompts(unpacked(archive, package, place)))
    return voices


def _prompts(files: Path) -> NDArray[np.float32]:
    """The longer prompts one after another, in the order of their names; those in subfolders are single words."""
    found: list[NDArray[np.float32]] = []
    with tarfile.open(files) as opened:
        for member in sorted(opened.getmembers(), key=lambda one: one.name):
            path = Path(member.name)
            if path.suffix != ".g722" or path.parts[-3] != "sounds" or member.size < _SHORTEST_PROMPT:
                continue
            content = opened.extractfile(member)
            if content is not None:
                found.append(decoded(content.read(), container="g722"))
            if sum(map(len, found)) > _BABBLE_SAMPLES:
                return np.concatenate(found)
    raise DataError(f"{files} must hold prompts of {_BABBLE_SAMPLES // RATE_HZ} s; got {sum(map(len, found))} samples")
