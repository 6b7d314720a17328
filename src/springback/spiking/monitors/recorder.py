"""`Recorder`: what a run passes to the compiled loops in order to be recorded."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking._state import CircuitState
from springback.spiking._watch import Watch
from springback.spiking.monitors.buffers import Buffers
from springback.spiking.monitors.monitor import QUANTITIES, Monitor
from springback.spiking.monitors.parts import About, PartsKept
from springback.spiking.monitors.recording import Recording
from springback.spiking.params import Circuit

MOST_MONITORS = 1000
_LONGEST_NAME = 100


class Recorder:
    """Records runs of a circuit: spikes, and samples of what the monitors watch; in memory or in a folder.

    Pass it to `train`, `track` or `simulate_spikes`, or to the methods of a `SpikingClassifier`. It may be passed to
    several calls in a row, of one stream or one training. A recorded run has the same spikes, bit for bit, as one that
    is not recorded, and needs a few megabytes more for the buffers; with a folder, its memory does not grow.

    Parameters
    ----------
    monitors : Mapping[str, Monitor] | Sequence[Monitor]
        What to sample, each under a name of your choice; without names, that of the quantity.
    spikes : bool
        Whether to keep the spikes of the excitatory neurons.
    partner_spikes, input_spikes : bool
        Whether to keep those of the inhibitory partners, and of the inputs.
    folder : str | Path | None
        Write to this new folder, in parts of about 32 MB, during the run; None: keep everything in memory.

    Examples
    --------
    >>> from springback.data.pretrained import shipped_digits, shipped_spiking
    >>> from springback.spiking import SpikingClassifier
    >>> recorder = Recorder([Monitor("potential_mv", neurons=[3, 7], every_ms=5.0)])
    >>> counts = SpikingClassifier.of(shipped_spiking()).track_counts(shipped_digits().pixels[:2], recorder=recorder)
    >>> run = recorder.recording()
    >>> len(run.out_step) == counts.sum(), run.samples["potential_mv"].values.shape  # 2 frames of 350 ms
    (np.True_, (140, 2))
    """

    def __init__(
        self,
        monitors: Mapping[str, Monitor] | Sequence[Monitor] = (),
        *,
        spikes: bool = True,
        partner_spikes: bool = False,
        input_spikes: bool = False,
        folder: str | Path | None = None,
    ) -> None:
        self.monitors = _named(monitors)
        kinds = {"out": spikes, "partner": partner_spikes, "in": input_spikes}
        self._spikes = tuple(kind for kind, wanted in kinds.items() if wanted)
        self._parts = PartsKept(None if folder is None else Path(folder))
        self._buffers: Buffers | None = None
        self._about: About | None = None
        self._next_step = 0
        self._kept_step = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write what is not yet in the folder; a recorder in memory keeps what its buffers hold."""
        self._keep()
        self._parts.close()

    def recording(self) -> Recording:
        """Everything so far; it can be read while the recorder continues."""
        if self._about is None:
            raise ValueError("the recorder has recorded nothing yet: pass it to a run first")
        self.close()
        return Recording(about=self._about, n_steps=self._next_step - self._about.began, parts=self._parts.parts())

    def spikes(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The output spikes so far: which neuron fired, and how many steps after the start of the recording."""
        found = self.recording()
        return found.out_index, found.out_step

    def begin(
        self, circuit: Circuit, state: CircuitState, *, n_in_most: int, long_term: bool, short_term: bool
    ) -> Watch:
        """The buffers for a run that continues from this state; refused if they do not fit it.

        Parameters
        ----------
        n_in_most : int
            The largest number of input spikes of a presentation.
        long_term, short_term : bool
            Which plasticities the run has.
        """
        has = {"": True, "long-term": long_term, "short-term": short_term}
        for name, one in self.monitors.items():
            needed = QUANTITIES[one.quantity].needs
            if not has[needed]:
                raise ValueError(f"monitor {name!r} must not watch {one.quantity} in a run without {needed} STDP")
        step, dtype = state.step, state.v.dtype.name
        about = About.of(circuit, dtype, step, self.monitors)
        if self._buffers is None or self._about is None:
            self._buffers = Buffers(self.monitors, self._spikes, circuit, dtype, step)
            self._about, self._next_step = about, step
            self._parts.begin(about)
        else:
            same = replace(about, began=self._about.began) == self._about
            check.require(same, "recorder", "be a new one for another circuit", "one that has recorded a run")
            check.require(
                step >= self._next_step,
                "recorder",
                f"continue from step {self._next_step} or later, where it stopped (use a new one for another stream)",
                step,
            )
        if self._buffers.is_too_small(n_in_most):
            self._keep()
            self._buffers.make_room(n_in_most)
        self._buffers.aim(step)
        return self._buffers.watch

    def add_inputs(self, index: NDArray[np.int32], step: NDArray[np.int64]) -> None:
        """Keep given input spikes, with steps of the circuit, if input spikes are wanted."""
        if self._buffers is not None and "in" in self._spikes and len(index) > 0:
            part = self._buffers.empty()
            part |= {"in_index": index.astype(np.int32), "in_step": step - self._buffers.began}
            self._parts.add(part, self._next_step - self._buffers.began)

    def note(self, state: CircuitState) -> None:
        """Note that the run has come to this state."""
        self._next_step = state.step

    def make_room(self, state: CircuitState) -> Watch:
        """Empty buffers, for the rest of a run that has come to this state."""
        assert self._buffers is not None
        self.note(state)
        self._keep()
        return self._buffers.watch

    def _keep(self) -> None:
        """Keep what the buffers hold, and how far the run has come, even if it was silent."""
        if self._buffers is not None and (self._buffers.n_kept > 0 or self._kept_step < self._next_step):
            self._kept_step = self._next_step
            self._parts.add(self._buffers.empty(), self._next_step - self._buffers.began)


def _named(monitors: Any) -> dict[str, Monitor]:
    if isinstance(monitors, Mapping):
        named = dict(monitors)
    else:
        listed = list(monitors)
        named = {getattr(one, "quantity", str(one)): one for one in listed}
        check.require(
            len(named) == len(listed), "monitors", "have names, {name: Monitor}, if two watch the same", len(listed)
        )
    check.require(len(named) <= MOST_MONITORS, "monitors", f"be at most {MOST_MONITORS}", len(named))
    for name, one in named.items():
        check.line("the name of a monitor", name)
        check.require(0 < len(name) <= _LONGEST_NAME, "the name of a monitor", "be short", name)
        if not isinstance(one, Monitor):
            raise TypeError(f"monitors must be Monitor(...) records; got {check.shown(one)}")
    return named
