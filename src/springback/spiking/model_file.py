"""Spiking networks on disk, with everything it takes to run them again as they were made."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.outside import from_json
from springback.spiking.network import Weights, check_weights
from springback.spiking.params import Circuit, IntrinsicPlasticity, LongTermStdp, Presentation, ShortTermStdp
from springback.spiking.presets import Preset
from springback.storage import DamagedError, read_tensors, save_tensors
from springback.version import __version__

_KIND = "spiking model"
_TAU = "tau_short_term_ms"

_SHORTEST_MS, _LONGEST_MS = 1e-6, 1e12
_LARGEST = 1e7
_MOST_STEPS = 10**6


@dataclass(frozen=True, kw_only=True, eq=False)
class SpikingModel:
    """A trained network with everything it takes to run it again.

    Parameters
    ----------
    training, testing, streaming : Presentation
        How images are shown to learn, to be recognised, and as a video.
    short_term : ShortTermStdp
        The short-term plasticity it streams with.
    preset : str
        Name of the set of parameters all of these come from.
    weights : Weights
        Resting weights and thresholds.
    neuron_labels : NDArray[np.int64]
        Int64 (n_neurons,), the class of each neuron, -1 for none; from training data.
    seed, data
        What it was trained with.
    """

    preset: str
    circuit: Circuit
    long_term: LongTermStdp
    training: Presentation
    testing: Presentation
    streaming: Presentation
    short_term: ShortTermStdp
    weights: Weights
    neuron_labels: NDArray[np.int64]
    seed: int
    data: str

    def __post_init__(self) -> None:
        check.line("preset", self.preset)
        check.line("data", self.data)
        check.integer("seed", self.seed, low=0, high=2**64 - 1)
        check_weights(self.weights, self.circuit)
        labels = check.array("neuron_labels", self.neuron_labels, shape=(self.circuit.n_neurons,), dtype=np.int64)
        check.require(bool(((labels >= -1) & (labels < 1000)).all()), "neuron_labels", "lie in -1 ... 999", labels)
        _check_tau(self.short_term, self.circuit)


def model_of(
    preset: Preset, weights: Weights, neuron_labels: NDArray[np.int64], *, seed: int, data: str
) -> SpikingModel:
    """A model with all the parameters of a preset.

    Examples
    --------
    >>> preset = Preset(circuit=Circuit(n_inputs=2, n_neurons=3), name="tiny")
    >>> model_of(preset, Weights(np.zeros((2, 3)), np.zeros(3)), np.arange(3), seed=0, data="none").preset
    'tiny'
    """
    return SpikingModel(
        preset=preset.name,
        circuit=preset.circuit,
        long_term=preset.long_term,
        training=preset.training,
        testing=preset.testing,
        streaming=preset.streaming,
        short_term=preset.short_term,
        weights=weights,
        neuron_labels=neuron_labels,
        seed=seed,
        data=data,
    )


def save_model(model: SpikingModel, path: Path) -> None:
    """Write a model; the file it replaces is kept beside it as `NAME.previous`."""
    tensors = {**model.weights._asdict(), "neuron_labels": model.neuron_labels}
    tau = model.short_term.tau_short_term_ms
    if isinstance(tau, np.ndarray):
        tensors[_TAU] = tau.astype(np.float64)
    params = {
        "circuit": asdict(model.circuit),
        "long_term": asdict(model.long_term),
        "training": asdict(model.training),
        "testing": asdict(model.testing),
        "streaming": asdict(model.streaming),
        "short_term": asdict(model.short_term) | {_TAU: None if isinstance(tau, np.ndarray) else tau},
        "preset": model.preset,
        "seed": model.seed,
        "data": model.data,
    }
    metadata = {"params": json.dumps(params, sort_keys=True, allow_nan=False), "springback_version": __version__}
    save_tensors(path, tensors, kind=_KIND, metadata=metadata, keep_previous=True)


def load_model(path: Path) -> SpikingModel:
    """A model from its file, every value checked."""
    tensors, metadata = read_tensors(path, kind=_KIND)
    try:
        stored = from_json(metadata.get("params", ""), _Stored)
        _check_ranges(stored)
        names = {"resting", "theta", "neuron_labels", *([_TAU] if stored.short_term.tau_short_term_ms is None else [])}
        check.require(set(tensors) == names, "the file", f"hold {', '.join(sorted(names))}", sorted(tensors))
        return SpikingModel(
            preset=stored.preset,
            circuit=stored.circuit,
            long_term=stored.long_term,
            training=stored.training,
            testing=stored.testing,
            streaming=stored.streaming,
            short_term=_short_term(stored.short_term, tensors.get(_TAU)),
            weights=Weights(tensors["resting"], tensors["theta"]),
            neuron_labels=tensors["neuron_labels"],
            seed=stored.seed,
            data=stored.data,
        )
    except DataError:
        raise
    except (TypeError, ValueError) as error:
        raise DamagedError(f"{path} is not a usable model: {error}") from error


class _StoredShortTerm(msgspec.Struct, forbid_unknown_fields=True):
    """`ShortTermStdp` as JSON; time constants of neurons or synapses are an array of the file, and None here."""

    pull: float
    c: float
    tau_short_term_ms: float | None
    tau_trace_ms: float
    efficacy_max: float | None
    threshold_shift_mv: float
    intrinsic: IntrinsicPlasticity | None


class _Stored(msgspec.Struct, forbid_unknown_fields=True):
    circuit: Circuit
    long_term: LongTermStdp
    training: Presentation
    testing: Presentation
    streaming: Presentation
    short_term: _StoredShortTerm
    preset: str
    seed: int
    data: str


def _short_term(stored: _StoredShortTerm, tau: NDArray[np.float64] | None) -> ShortTermStdp:
    plain = msgspec.structs.asdict(stored)
    if tau is None:
        return ShortTermStdp(**plain)
    check.array(_TAU, tau, shape=(None,) * tau.ndim, dtype=np.float64)
    for one in (tau.min(initial=1), tau.max(initial=1)):
        check.real(_TAU, one, low=_SHORTEST_MS, high=_LONGEST_MS)
    return replace(ShortTermStdp(**plain | {_TAU: 1.0}), tau_short_term_ms=tau)


def _check_ranges(stored: _Stored) -> None:
    """Refuse numbers that no circuit has: a file must not ask for more memory or time than there is."""
    for record in (stored.circuit, stored.long_term, stored.training, stored.testing, stored.streaming):
        _check_numbers(record)
    _check_numbers(stored.short_term)
    for shown in (stored.training, stored.testing, stored.streaming):
        n_steps = (shown.show_ms + shown.rest_ms) / stored.circuit.dt_ms
        check.real("the steps of one image", n_steps, high=_MOST_STEPS)


def _check_numbers(record: Any) -> None:
    for name, value in msgspec.to_builtins(record).items():
        if isinstance(value, dict):
            _check_numbers(getattr(record, name))
        elif isinstance(value, int | float) and name.endswith("_ms") and value != 0:
            check.real(name, value, low=_SHORTEST_MS, high=_LONGEST_MS)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            check.real(name, value, low=-_LARGEST, high=_LARGEST)


def _check_tau(short_term: ShortTermStdp, circuit: Circuit) -> None:
    n, k = circuit.n_inputs, circuit.n_neurons
    shape = np.shape(short_term.tau_short_term_ms)
    check.require(shape in ((), (k,), (n, k)), _TAU, f"have shape (), ({k},) or ({n}, {k})", shape)
