"""The buffers of a recorder: made for a circuit and a dtype, filled by the compiled loops, emptied now and then."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.spiking._watch import BLOCK, NEVER_DUE, PLAN, POTENTIAL, PRE_TRACE, TALLY, Watch
from springback.spiking.monitors.monitor import QUANTITIES, Monitor
from springback.spiking.params import Circuit

_BUFFER_BYTES = 3 << 20
"""Bytes of the samples of all monitors; NumPy asks for huge pages from 4 MB on, which were slower here."""

_SPIKES, _STEPS = 1 << 22, 2048
_PRESENTATIONS = 4096

Part = dict[str, NDArray[Any]]
"""What was recorded since the buffers were last emptied: arrays by their names in a file."""

KINDS = ("out", "partner", "in")
"""Spikes of neurons, of inhibitory partners and of inputs."""

_COUNTS = (*(f"n_{kind}" for kind in KINDS), "n_shown")


class Buffers:
    """The `Watch` of a recorder, and how its content becomes a `Part`.

    Parameters
    ----------
    spikes : tuple[str, ...]
        Which of `KINDS` to keep.
    began : int
        The step of the circuit in which the recording begins.
    """

    def __init__(
        self, monitors: Mapping[str, Monitor], spikes: tuple[str, ...], circuit: Circuit, dtype: str, began: int
    ) -> None:
        self.began, self._spikes, self._circuit = began, spikes, circuit
        self._rows: dict[str, tuple[str, int]] = {}
        self._shapes = {name: one.shape(circuit) for name, one in monitors.items()}
        plans: dict[str, list[Any]] = {"potentials": [], "neurons": [], "synapses": []}
        chosen: list[NDArray[np.int32]] = [np.zeros(0, np.int32)]
        times: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
        n_values = n_samples = 0
        for name, one in monitors.items():
            row = np.zeros((), PLAN)
            row["quantity"] = QUANTITIES[one.quantity].code
            for axis in ("neurons", "inputs"):
                mine = one.indices(axis, circuit)
                row[axis], row[f"n_{axis}"] = sum(map(len, chosen)), len(mine)
                chosen.append(mine)
            at = one.times(circuit.dt_ms)
            row["times"] = sum(map(len, times))
            row["times_end"], row["every"] = row["times"] + len(at), one.interval(circuit.dt_ms)
            times.append(at + began)
            row["size"] = int(np.prod(self._shapes[name]))
            share = _BUFFER_BYTES // len(monitors)
            row["capacity"] = max(share // (int(row["size"]) * np.dtype(dtype).itemsize), BLOCK)
            row["values"], row["samples"] = n_values, n_samples
            n_values += int(row["capacity"] * row["size"])
            n_samples += int(row["capacity"])
            plan = "synapses" if row["quantity"] >= PRE_TRACE else "neurons"
            plan = "potentials" if row["quantity"] == POTENTIAL else plan
            self._rows[name] = (plan, len(plans[plan]))
            plans[plan].append(row)
        room = max(min(_STEPS * circuit.n_neurons, _SPIKES), 4 * BLOCK * circuit.n_neurons)
        arrays: dict[str, Any] = {plan: np.array(rows, PLAN) for plan, rows in plans.items()}
        for kind in KINDS:
            n = room if kind in spikes else 0
            arrays |= {f"{kind}_index": np.empty(n, np.int32), f"{kind}_step": np.empty(n, np.int64)}
        self.watch = Watch(
            **arrays,
            chosen=np.concatenate(chosen),
            times=np.concatenate(times),
            values=np.empty(n_values, dtype),
            when=np.empty(n_samples, np.int64),
            shown=np.empty((_PRESENTATIONS, 3), np.int64),
            tally=np.zeros(1, TALLY),
        )

    def is_too_small(self, n_in_most: int) -> bool:
        """Whether there would be no room for `n_in_most` input spikes of one presentation."""
        return "in" in self._spikes and len(self.watch.in_index) < n_in_most

    def make_room(self, n_in_most: int) -> None:
        """Provide for `n_in_most` input spikes of one presentation; the buffers must be empty."""
        self.watch = self.watch._replace(
            in_index=np.empty(2 * n_in_most, np.int32), in_step=np.empty(2 * n_in_most, np.int64)
        )

    def aim(self, step: int) -> None:
        """Let every monitor be due at its next time from `step` on."""
        watch = self.watch
        for plan in (watch.potentials, watch.neurons, watch.synapses):
            for row in plan:
                if row["every"] > 0:
                    row["next"] = step + (self.began - step) % row["every"]
                else:
                    times = watch.times[: row["times_end"]]
                    row["times"] += int((times[row["times"] :] < step).sum())
                    row["next"] = times[row["times"]] if row["times"] < row["times_end"] else NEVER_DUE
        watch.tally["due_neurons"] = watch.neurons["next"].min(initial=NEVER_DUE)
        watch.tally["due_synapses"] = watch.synapses["next"].min(initial=NEVER_DUE)

    @property
    def n_kept(self) -> int:
        """How many spikes, presentations and samples the buffers hold."""
        plans = (self.watch.potentials, self.watch.neurons, self.watch.synapses)
        kept = sum(int(self.watch.tally[name][0]) for name in _COUNTS)
        return kept + sum(int(plan["filled"].sum()) for plan in plans)

    def empty(self) -> Part:
        """What was recorded since the last call, with steps from where the recording began; the buffers are empty.

        Buffers that are at least half full are given away and replaced by new ones; otherwise their content is copied.
        """
        watch, part = self.watch, Part()
        for kind in KINDS:
            n = int(watch.tally[f"n_{kind}"][0])
            part[f"{kind}_index"] = getattr(watch, f"{kind}_index")[:n].copy()
            part[f"{kind}_step"] = getattr(watch, f"{kind}_step")[:n] - self.began
        shown = watch.shown[: int(watch.tally["n_shown"][0])]
        part["shown"] = shown - np.array([0, 0, self.began])
        rows = {name: getattr(watch, plan)[at] for name, (plan, at) in self._rows.items()}
        given_away = 2 * sum(int(row["filled"] * row["size"]) for row in rows.values()) >= len(watch.values) > 0
        if given_away:
            watch.when[...] -= self.began
            self.watch = watch._replace(values=np.empty_like(watch.values), when=np.empty_like(watch.when))
        for name, row in rows.items():
            n, first, at = int(row["filled"]), int(row["values"]), int(row["samples"])
            values = watch.values[first : first + n * int(row["size"])].reshape(n, *self._shapes[name])
            step = watch.when[at : at + n]
            part[f"samples.{name}.values"] = values if given_away else values.copy()
            part[f"samples.{name}.step"] = step if given_away else step - self.began
            row["filled"] = 0
        for name in _COUNTS:
            watch.tally[name] = 0
        return part
