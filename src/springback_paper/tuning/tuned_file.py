"""What a search found, as a JSON file that says what it is and can be loaded back as parameters."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

from springback import __version__, check
from springback.check import DataError
from springback.files.atomic import atomic_file
from springback.files.records import from_json
from springback.files.regular import read_bytes
from springback.spiking.presets import Preset
from springback_paper.inputs.elastic_omnist import ElasticOmnist
from springback_paper.tuning.models import Tuning, preset_of

KIND = "springback tuned preset"

_LARGEST = 2**20
_BEGINNING = b'{\n "sha256": "'
_UNSEALED = "0" * 64


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """The best trial of a search: what was searched, its values, its accuracy, and of how many trials."""

    tuning: Tuning
    values: Mapping[str, float]
    accuracy: float
    n_trials: int

    def __post_init__(self) -> None:
        check.real("Tuned.accuracy", self.accuracy, low=0, high=1)
        check.integer("Tuned.n_trials", self.n_trials, low=1, high=2**62)
        for name, value in self.values.items():
            check.real(f"Tuned.values[{name!r}]", value)

    def preset(self) -> Preset | ElasticOmnist | dict[str, float]:
        """The parameters it stands for, see `tuning.preset_of`."""
        return preset_of(self.tuning, self.values)


class _Stored(msgspec.Struct, forbid_unknown_fields=True):
    sha256: str
    kind: str
    version: str
    tuning: Tuning
    values: dict[str, float]
    accuracy: float
    n_trials: int


def save_tuned(tuned: Tuned, path: Path) -> None:
    """Write the best trial, with the digest of the text in which the digest's own place holds zeros."""
    content = {
        "sha256": _UNSEALED,
        "kind": KIND,
        "version": __version__,
        "tuning": asdict(tuned.tuning),
        "values": dict(tuned.values),
        "accuracy": tuned.accuracy,
        "n_trials": tuned.n_trials,
    }
    text = (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()
    with atomic_file(path, keep_previous=True) as file:
        file.write(_with_digest(text, hashlib.sha256(text).hexdigest()))


def load_tuned(path: Path) -> Tuned:
    """The best trial of a file, checked."""
    text = read_bytes(path, largest=_LARGEST)
    try:
        found = from_json(text, _Stored)
        check.require(found.kind == KIND, "its kind", f"be {KIND!r}", found.kind)
        whole = hashlib.sha256(_with_digest(text, _UNSEALED)).hexdigest()
        check.require(
            text.startswith(_BEGINNING) and found.sha256 == whole, "its checksum", "be that of its text", "another"
        )
        tuned = Tuned(tuning=found.tuning, values=found.values, accuracy=found.accuracy, n_trials=found.n_trials)
        tuned.preset()
    except KeyError as error:
        raise DataError(f"{path} is not a {KIND}: it lacks {error}") from error
    except (TypeError, ValueError) as error:
        raise DataError(f"{path} is not a {KIND}: {error}") from error
    return tuned


def _with_digest(text: bytes, digest: str) -> bytes:
    return text[: len(_BEGINNING)] + digest.encode() + text[len(_BEGINNING) + len(digest) :]
