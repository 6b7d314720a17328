"""What a search found, as a JSON file that says what it is and can be loaded back as parameters."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from springback.check import DataError
from springback.paper.tasks.elastic import ElasticOmnist
from springback.paper.tuning.models import Tuning, preset_of
from springback.spiking.presets import Preset
from springback.storage import atomic_file
from springback.version import __version__

KIND = "springback tuned preset"


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """The best trial of a search: what was searched, its values, its accuracy in percent, and of how many trials."""

    tuning: Tuning
    values: Mapping[str, float]
    accuracy: float
    n_trials: int

    def preset(self) -> Preset | ElasticOmnist | dict[str, float]:
        """The parameters it stands for, see `tuning.preset_of`."""
        return preset_of(self.tuning, self.values)


def save_tuned(tuned: Tuned, path: Path) -> None:
    """Write the best trial."""
    text = {
        "kind": KIND,
        "version": __version__,
        "tuning": asdict(tuned.tuning),
        "values": dict(tuned.values),
        "accuracy": tuned.accuracy,
        "n_trials": tuned.n_trials,
    }
    with atomic_file(path, keep_previous=True) as file:
        file.write((json.dumps(text, indent=1) + "\n").encode())


def load_tuned(path: Path) -> Tuned:
    """The best trial of a file, checked."""
    try:
        found = json.loads(path.read_text())
        if found["kind"] != KIND:
            raise ValueError(f"its kind is {found['kind']!r}")
        tuned = Tuned(
            tuning=Tuning(**found["tuning"]),
            values={str(name): float(value) for name, value in found["values"].items()},
            accuracy=float(found["accuracy"]),
            n_trials=int(found["n_trials"]),
        )
        tuned.preset()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path} is not a {KIND}: {error}") from error
    return tuned
