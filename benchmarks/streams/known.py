"""Choose the settings that a search tries first (`springback.heads.known_settings`).

The same settings, drawn at random, are tried on the validation streams of the first split of every stream set. Then
settings are picked one after the other, each time the one that raises the mean over the streams of the best of those
picked the most. `python -m benchmarks.streams.known` writes benchmarks/known_settings.json in about four minutes.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from springback.datasets.streams import Stream, load_stream, stream_sets
from springback.heads import ElasticHead, Observer, measure_scale
from springback.heads.found import Variant
from springback.heads.tuning import RANGES, settings_of
from springback.magnitude import unit_rows

OUT = Path(__file__).parents[1] / "known_settings.json"
DRAWS: dict[Variant, int] = {"observer": 280, "springs": 160, "classes": 50}
PICKED: dict[Variant, int] = {"observer": 8, "springs": 8, "classes": 5}
_FRAMES, _FRAMES_OF_ONE_OF_MANY = 1500, 700

Draw = tuple[Variant, dict[str, Any]]


def draws() -> list[Draw]:
    """All settings that are tried, the defaults of the observer first."""
    rng = np.random.default_rng(7)
    defaults = {name: getattr(Observer(), name) for name in RANGES["observer"]}
    return [
        ("observer", defaults),
        *(
            (variant, {name: one.at(float(rng.random())) for name, one in RANGES[variant].items()})
            for variant, count in DRAWS.items()
            for _ in range(count)
        ),
    ]


def accuracies(name: str, tried: list[Draw]) -> tuple[float, list[float]]:
    """Accuracy of the frozen head and of all settings on the validation streams of a stream set."""
    split = load_stream(name, 0)
    streams = shortened(split.validation)
    weight, bias, centre = split.head.weight, split.head.bias, split.head.centre
    logits = [split.head.logits(features) for features, _ in streams]
    scales = {
        centred: measure_scale(logits, [unit_rows(one - (centre if centred else 0)) for one, _ in streams])
        for centred in (False, True)
    }
    labels = np.concatenate([wanted for _, wanted in streams])

    def share_right(answers: list[NDArray[Any]]) -> float:
        classes = np.concatenate([one.argmax(axis=1) for one in answers])
        return float((classes == labels)[labels >= 0].mean())

    found = []
    for variant, draw in tried:
        chosen = dict(draw)
        centred = bool(chosen.pop("centred", False))
        settings = settings_of(variant, chosen, scales[centred].spread)
        head = ElasticHead(weight, bias, settings, centre=centre if centred else None, scale=scales[centred])
        found.append(share_right([head.track(features) for features, _ in streams]))
    return share_right(logits), found


def shortened(streams: tuple[Stream, ...]) -> list[tuple[NDArray[np.float32], NDArray[np.int64]]]:
    """Features and labels of the first frames, so that every stream set takes about as long."""
    left, parts = _FRAMES, []
    most = _FRAMES_OF_ONE_OF_MANY if len(streams) > 2 else _FRAMES
    for one in streams:
        count = min(left, most, len(one))
        if count > 0:
            parts.append((one.features[:count], one.labels[:count]))
            left -= count
    return parts


def pick(scores: NDArray[np.float64], frozen: NDArray[np.float64], count: int) -> list[int]:
    """Numbers of the settings that together score best, (streams, settings) -> `count` numbers, in the order picked."""
    picked: list[int] = []
    reached = frozen
    for _ in range(count):
        means = np.maximum(reached[:, None], scores).mean(axis=0)
        means[picked] = -np.inf
        picked.append(int(means.argmax()))
        reached = np.maximum(reached, scores[:, picked[-1]])
    return picked


def main() -> None:
    """Try all settings on all streams, pick, and write what was found."""
    tried, names = draws(), sorted(stream_sets())
    rows = Parallel(n_jobs=-1, verbose=10)(delayed(accuracies)(name, tried) for name in names)
    frozen, scores = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    found: dict[str, Any] = {"streams": names, "known": {}, "mean_below_best": {}}
    for variant, count in PICKED.items():
        own = [number for number, (kind, _) in enumerate(tried) if kind == variant]
        picked = [own[at] for at in pick(scores[:, own], frozen, count)]
        found["known"][variant] = [tried[number][1] for number in picked]
        below = scores[:, own].max(axis=1) - scores[:, picked].max(axis=1)
        found["mean_below_best"][variant] = float(below.mean())
    OUT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
