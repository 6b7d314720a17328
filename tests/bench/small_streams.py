"""Made-up splits and results of the benchmark on streams: small, and seconds to measure."""

from typing import Any

import numpy as np

from springback_bench.comparison.methods import all_methods
from springback_bench.comparison.scope import ComparisonScope
from springback_bench.stream_sets import Head, Stream, StreamSplit

CLASSES, WIDTH = 4, 6
SMALL = ComparisonScope(
    trials=8, validation=150, test=200, slow_validation=45, network_trials=2, network_validation=20, timed=20
)


def stream(seed: int, frames: int) -> Stream:
    """Objects of a class stay for ten frames; each looks like its class and, more so, like itself."""
    rng = np.random.default_rng(seed)
    objects = np.arange(frames) // 10
    of_object = rng.integers(CLASSES, size=objects.max() + 1)
    looks = 1.2 * np.eye(CLASSES, WIDTH)[of_object] + rng.normal(0, 0.9, (objects.max() + 1, WIDTH))
    features = looks[objects] + rng.normal(0, 0.5, (frames, WIDTH))
    labels = of_object[objects]
    labels[::17] = -1
    return Stream(
        features=features.astype(np.float32),
        labels=labels.astype(np.int64),
        times=np.arange(frames, dtype=np.float64),
        objects=objects,
    )


def split(name: str = "small", number: int = 0) -> StreamSplit:
    """Two validation streams and two test streams."""
    weight = 3 * np.eye(CLASSES, WIDTH, dtype=np.float32)
    head = Head(weight=weight, bias=np.zeros(CLASSES, np.float32), centre=np.full(WIDTH, 0.3, np.float32))
    first = 100 * number
    validation, test = ((stream(first + one, 100), stream(first + one + 1, 120)) for one in (1, 11))
    return StreamSplit(name=name, split=number, head=head, validation=validation, test=test)


def row(accuracy: float, *, shuffled: float = 0.5, variant: str = "", **more: Any) -> dict[str, Any]:
    """What one method did on two splits."""
    return {
        "accuracy": [accuracy, accuracy],
        "shuffled": [shuffled, shuffled],
        "calibration_error": [0.125, 0.125],
        "at_coverage": [accuracy, accuracy],
        "frozen": [False, False],
        "variant": [variant, variant],
        "settings": [{}, {}],
        "microseconds": 2.5,
        "state_bytes": 4096,
        **more,
    }


def about(*, real: bool = True) -> dict[str, Any]:
    """A description of a stream."""
    return {
        "title": "What is it?",
        "source": "Made up.",
        "step": "1 frame",
        "real": real,
        "splits": 2,
        "classes": 4,
        "validation": [100, 100],
        "test": [200, 200],
    }


def small_results(accuracies: dict[str, dict[str, float]] | None = None) -> dict[str, Any]:
    """Results of the shape that a run writes; by default every method is right in half of the frames of one stream."""
    everywhere = {one.name: 0.5 for one in all_methods() if one.kind != "network"}
    given = accuracies or {"pond": {}}
    return {
        "made": {"date": "2026-01-01", "springback": "0.0", "full": True, "task_seconds": 60.0},
        "scope": {
            "trials": 120,
            "validation": 6000,
            "test": 20000,
            "slow_validation": 1500,
            "network_trials": 12,
            "network_validation": 500,
            "splits": None,
            "timed": 1000,
        },
        "machine": {
            "processor": "a processor",
            "cores": 2,
            "memory_gib": 8.0,
            "system": "Linux",
            "python": "3.11",
            "cores_busy_elsewhere": 0.0,
        },
        "versions": {"numpy": "2.0"},
        "methods": [
            {"name": one.name, "title": one.title, "about": one.about, "kind": one.kind, "slow": one.slow}
            for one in all_methods()
        ],
        "streams": {stream: about() for stream in given},
        "results": {
            stream: {name: row(value, variant="springs") for name, value in {**everywhere, **changed}.items()}
            for stream, changed in given.items()
        },
        "absent": {},
        "failed": {},
    }
