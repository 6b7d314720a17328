"""What is sent to the page: pictures as bytes, and everything else as JSON."""

import json
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.data.pretrained import shipped_digits
from springback.streaming.readout import N_CLASSES
from springback_studio.controls import CONTROL_NAMES, MODELS, absence_of, controls_of
from springback_studio.inputs import NOISE_FRAMES
from springback_studio.pair import Floats, Pair, PairAnswer
from springback_studio.session import TITLES, Session, Snapshot, missing
from springback_studio.view import SPEED_MAX, View, command_of


def greeting(*, own_source: bool = False) -> dict[str, Any]:
    """What the page needs once: models, sliders, bounds, and whether there is a source of the visitor's own."""
    models = [
        {
            "name": name,
            "title": TITLES[name],
            "missing": missing(name),
            "controls": [asdict(one) for one in controls_of(name).values()],
            "absent": {one: absence_of(name, one) for one in CONTROL_NAMES if absence_of(name, one)},
        }
        for name in MODELS
    ]
    return {
        "say": "hello",
        "models": models,
        "speed_max": SPEED_MAX,
        "noise_frames": NOISE_FRAMES,
        "own_source": own_source,
    }


def stage(session: Session) -> dict[str, Any]:
    """What the page needs about a session's model: its view, the order of its raster, its plane."""
    pair, view = session.pair, session.view
    _, bands = raster_rows(pair)
    return {
        "say": "stage",
        "view": described(view),
        "says": pair.says,
        "spikes": pair.spikes,
        "map_shape": list(pair.map_shape),
        "n_rows": len(pair.unit_labels),
        "bands": bands,
        "plane": {
            "points": session.plane.points.round(4).tolist(),
            "labels": shipped_digits().labels.tolist(),
            "explained": round(100 * session.plane.explained, 1),
        },
    }


def failure(model: str, why: str) -> dict[str, Any]:
    """The message that a model cannot start, and why."""
    return {"say": "failed", "model": model, "title": TITLES[model], "why": why}


def described(view: View) -> dict[str, Any]:
    """A view without its drawing, for the page."""
    shown = {name: getattr(view, name) for name in ("model", "source", "digit", "example", "occlude", "seed", "speed")}
    return {**shown, "settings": dict(view.settings), "has_drawing": view.drawing is not None}


def command(session: Session) -> dict[str, Any]:
    """The command line that shows this view again, for the page."""
    view = session.command_view()
    return {"say": "command", "command": command_of(view), "exact": view.frames == session.frame}


def raster_rows(pair: Pair) -> tuple[NDArray[np.int64], list[list[int]]]:
    """The raster's row of each unit, sorted by class, and [class (-1: none), first row, number of rows] of each."""
    labels = pair.unit_labels
    order = np.argsort(np.where(labels < 0, N_CLASSES + 1, labels), kind="stable")
    rows = np.empty(len(labels), np.int64)
    rows[order] = np.arange(len(labels))
    ranked = labels[order]
    first = np.flatnonzero(np.diff(ranked, prepend=ranked[0] - 1))
    sizes = np.diff(np.append(first, len(ranked)))
    return rows, [[int(ranked[at]), int(at), int(size)] for at, size in zip(first, sizes, strict=True)]


def packed(picture: Snapshot, session: Session, playing: bool, number: int) -> bytes:
    """A picture as one binary message: length of the header (4 bytes), header (JSON), bytes.

    The bytes are the input (784); W, F and G of the adapting model's units and W of the static model's, each as
    `255 * sqrt(value / level)` with the level in the header; the raster's marks (row, moment, strength) of both.
    """
    rows, _ = raster_rows(session.pair)
    efficacy = picture.resting + picture.short_term
    maps = {
        "W": picture.resting,
        "F": picture.short_term,
        "G": efficacy,
        "static": picture.static_resting,
    }
    levels = {name: float(np.abs(values).max(initial=0.0)) for name, values in maps.items()}
    labels = session.pair.unit_labels
    path = picture.path
    header = {
        "number": number,
        "frame": picture.frame,
        "label": picture.shown.label,
        "rows_hidden": picture.shown.rows_hidden,
        "source": session.view.source,
        "playing": playing,
        "answers": [one.predicted for one in picture.answers],
        "posteriors": [one.posterior.round(5).tolist() for one in picture.answers],
        "correct": picture.correct,
        "counted": picture.counted,
        "units": picture.units.tolist(),
        "unit_labels": labels[picture.units].tolist(),
        "static_units": picture.static_units.tolist(),
        "static_labels": labels[picture.static_units].tolist(),
        "n_maps": len(picture.units),
        "levels": levels,
        "n_marks": [len(one.events) for one in picture.answers],
        "path": None
        if path is None
        else {
            "unit": path.unit,
            "label": path.label,
            "rest": path.rest.round(4).tolist(),
            "now": path.now.round(4).tolist(),
            "input": None if path.input is None else path.input.round(4).tolist(),
        },
        "compute_ms": round(picture.compute_ms, 2),
    }
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    parts = [len(text).to_bytes(4, "little"), text, picture.shown.pixels.tobytes()]
    parts += [_as_bytes(values, levels[name]) for name, values in maps.items()]
    parts += [_marks(one, rows) for one in picture.answers]
    return b"".join(parts)


def _as_bytes(values: Floats, level: float) -> bytes:
    """0 ... 255 for 0 ... level, by the square root; negative weights, which only the CNN has, count as zero."""
    share = np.clip(values, 0, None) / level if level > 0 else np.zeros(values.shape)
    return np.asarray(np.rint(255 * np.sqrt(share)), np.uint8).tobytes()


def _marks(answer: PairAnswer, rows: NDArray[np.int64]) -> bytes:
    events = answer.events.copy()
    events["unit"] = rows[events["unit"]]
    return events.tobytes()
