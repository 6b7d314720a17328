"""`Spikes`: spikes in the one form in which they are exchanged; and times with units."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.extras import require_extra
from springback.spiking.monitors.recording import Recording

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""How many seconds each unit is."""


def has_unit(times: Any) -> bool:
    """Whether times are quantities, of the library quantities (Neo) or of Brian2."""
    return hasattr(times, "rescale") or hasattr(times, "dim")


def in_seconds(name: str, times: Any, unit: str | None, dt_ms: float | None = None) -> NDArray[np.float64]:
    """Times in seconds: quantities are converted, and bare numbers are taken in the stated unit.

    Parameters
    ----------
    unit : str | None
        "s", "ms", "us", "ns" or "steps" for bare numbers; None for quantities.
    dt_ms : float | None
        The time step, for "steps".

    Examples
    --------
    >>> in_seconds("times", [1, 2], "ms")
    array([0.001, 0.002])
    >>> in_seconds("times", [1, 2], None)
    Traceback (most recent call last):
    ValueError: times must have a unit: they are bare numbers, so state unit="s", "ms", "us", "ns" or "steps"
    """
    if has_unit(times):
        check.require(unit is None, "unit", f"be None, since {name} bring their own", unit)
        if hasattr(times, "rescale"):
            return _numbers(name, times.rescale("s").magnitude)
        from_brian = np.asarray(times)  # Brian2 keeps every quantity in its base units, here seconds
        is_time = str(getattr(times, "dim", "")) in {"s", "second"}
        check.require(is_time, name, "be in a unit of time", str(getattr(times, "dim", "")))
        return _numbers(name, from_brian)
    if unit is None:
        raise ValueError(
            f'{name} must have a unit: they are bare numbers, so state unit="s", "ms", "us", "ns" or "steps"'
        )
    check.one_of("unit", unit, (*SECONDS, "steps"))
    if unit == "steps":
        if dt_ms is None:
            raise ValueError("dt_ms must be given if times are in steps")
        return _numbers(name, times) * (check.real("dt_ms", dt_ms, above=0) * 1e-3)
    return _numbers(name, times) * SECONDS[unit]


def _numbers(name: str, values: Any) -> NDArray[np.float64]:
    found = np.asarray(values)
    is_list = found.ndim == 1 and (found.dtype.kind in "iuf" or found.size == 0)
    check.require(is_list, name, "be numbers in one dimension", f"{found.dtype} of shape {found.shape}")
    found = found.astype(np.float64)
    check.require(bool(np.isfinite(found).all()), name, "be finite", "NaN or infinity")
    return found


_EVENT = np.dtype([("x", np.int16), ("y", np.int16), ("t", np.int64), ("p", np.bool_)])


@dataclass(frozen=True, eq=False)
class Spikes:
    """Which of `n_sources` inputs or neurons spiked, and when; in the order of time.

    Parameters
    ----------
    index : NDArray[np.int64]
        (n,) which of them, 0 ... n_sources - 1.
    time_s : NDArray[np.float64]
        (n,) when, in seconds from the beginning.
    n_sources : int
        How many inputs or neurons there are, silent ones included.
    duration_s : float
        How long the recording is.

    Examples
    --------
    >>> Spikes(np.array([2, 0]), np.array([0.1, 0.2]), n_sources=3, duration_s=1.0).rates_hz
    array([1., 0., 1.])
    """

    index: NDArray[np.int64]
    time_s: NDArray[np.float64]
    n_sources: int
    duration_s: float

    def __post_init__(self) -> None:
        check.integer("n_sources", self.n_sources, low=1)
        check.real("duration_s", self.duration_s, low=0)
        index, time_s = np.asarray(self.index), np.asarray(self.time_s, np.float64)
        whole = index.ndim == 1 and (index.dtype.kind in "iu" or index.size == 0)
        check.require(whole, "index", "be whole numbers in one dimension", f"{index.dtype} of shape {index.shape}")
        check.require(
            index.shape == time_s.shape, "index and time_s", "have the same length", (len(index), len(time_s))
        )
        inside = bool(((index >= 0) & (index < self.n_sources)).all())
        got = (index.min(), index.max()) if len(index) else "none"
        check.require(inside, "index", f"lie within 0 ... {self.n_sources - 1}", got)
        check.require(bool(np.isfinite(time_s).all()), "time_s", "be finite", "NaN or infinity")
        inside = bool(((time_s >= 0) & (time_s <= self.duration_s)).all())
        got = (time_s.min(), time_s.max()) if len(time_s) else "none"
        check.require(inside, "times", f"lie within 0 ... {self.duration_s:g} s, the duration", got)
        order = np.argsort(time_s, kind="stable")
        object.__setattr__(self, "index", index[order].astype(np.int64))
        object.__setattr__(self, "time_s", time_s[order])

    def __len__(self) -> int:
        return len(self.index)

    @property
    def rates_hz(self) -> NDArray[np.float64]:
        """Spikes per second of each of them."""
        return np.bincount(self.index, minlength=self.n_sources) / max(self.duration_s, 1e-300)

    def steps(self, dt_ms: float) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """(index, step, n_steps), as `simulate_spikes` takes them: step t holds the spikes of t * dt ... (t + 1) * dt.

        Examples
        --------
        >>> Spikes(np.array([2, 0]), np.array([0.0012, 0.0015]), n_sources=3, duration_s=0.01).steps(0.5)
        (array([2, 0]), array([2, 3]), 20)
        """
        dt_s = check.real("dt_ms", dt_ms, above=0) * 1e-3
        n_steps = int(np.ceil(round(self.duration_s / dt_s, 6)))
        step = np.floor(np.round(self.time_s / dt_s, 6)).astype(np.int64)
        return self.index, np.minimum(step, max(n_steps - 1, 0)), n_steps

    def pair(self, unit: str = "s") -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """(times, ids), with times in the unit "s", "ms", "us" or "ns"."""
        return self.time_s / SECONDS[check.one_of("unit", unit, tuple(SECONDS))], self.index

    def events(self, shape: tuple[int, int]) -> NDArray[np.void]:
        """A structured array (x, y, t, p) as of an event camera, with t in microseconds; tonic takes it as it is.

        With twice as many sources as pixels, the second half has polarity False.
        """
        height, width = shape
        n = check.integer("height", height, low=1) * check.integer("width", width, low=1)
        fits = self.n_sources in (n, 2 * n)
        check.require(fits, "shape", f"have {self.n_sources} pixels, or half as many", shape)
        found = np.zeros(len(self), _EVENT)
        found["x"], found["y"] = self.index % n % width, self.index % n // width
        found["t"], found["p"] = np.round(self.time_s * 1e6), self.index < n
        return found

    def by_source(self) -> list[NDArray[np.float64]]:
        """The times of each source in seconds, silent ones included."""
        order = np.argsort(self.index, kind="stable")
        ends = np.cumsum(np.bincount(self.index, minlength=self.n_sources))[:-1]
        return np.split(self.time_s[order], ends)

    def neo(self) -> list[Any]:
        """One `neo.SpikeTrain` for each source, silent ones included (extra: neo)."""
        require_extra("Spikes.neo", "neo")
        import neo
        import quantities as pq

        return [
            neo.SpikeTrain(times * pq.s, t_stop=self.duration_s * pq.s, source_index=number)
            for number, times in enumerate(self.by_source())
        ]

    def brian2(self, **options: Any) -> Any:
        """A Brian2 `SpikeGeneratorGroup` that plays these spikes; `options` are passed on to it."""
        require_extra("Spikes.brian2", "brian2")
        import brian2

        return brian2.SpikeGeneratorGroup(self.n_sources, self.index, self.time_s * brian2.second, **options)


def spikes_of(recording: Recording, kind: str = "out") -> Spikes:
    """The spikes of a recording: of the neurons ("out"), of their inhibitory partners ("partner"), of inputs ("in").

    The time of a spike is the beginning of its step.
    """
    check.one_of("kind", kind, ("out", "partner", "in"))
    about = recording.about
    n = about.n_inputs if kind == "in" else about.n_neurons
    index, step = getattr(recording, f"{kind}_index"), getattr(recording, f"{kind}_step")
    dt_s = about.dt_ms * 1e-3
    return Spikes(index.astype(np.int64), step * dt_s, n_sources=n, duration_s=recording.n_steps * dt_s)


def populations_of(recording: Recording) -> dict[str, Spikes]:
    """The spikes of the neurons and, if they were recorded, of their partners and the inputs, by population."""
    named = (("out", "excitatory"), ("partner", "inhibitory"), ("in", "input"))
    found = {population: (kind, spikes_of(recording, kind)) for kind, population in named}
    return {population: spikes for population, (kind, spikes) in found.items() if kind == "out" or len(spikes)}
