"""`to_brian2`: a circuit as a script and a file of weights, in a folder."""

import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from springback import check
from springback.files.atomic import atomic_file
from springback.spiking.composed.brian2.equations import IMPLICIT
from springback.spiking.composed.brian2.script import script_of
from springback.spiking.composed.circuit import ComposedCircuit
from springback.spiking.composed.paper import circuit_of
from springback.spiking.encoding import SpikeTrain, check_train
from springback.spiking.model import SpikingModel
from springback.spiking.params import ShortTermStdp

METHODS = (IMPLICIT, "rk4", "rk2", "euler", "exponential_euler", "heun")


class Brian2Files(NamedTuple):
    """What `to_brian2` has written: the script, its weights, and the input spikes or None."""

    script: Path
    weights: Path
    spikes: Path | None


def to_brian2(
    network: ComposedCircuit | SpikingModel,
    folder: str | Path,
    *,
    method: str = IMPLICIT,
    spikes: SpikeTrain | None = None,
    adapts: bool = True,
) -> Brian2Files:
    """Write a network as a Brian2 script, `network.py`, with its weights in `network.npz` beside it.

    The script needs Brian2, not springback, and has the plasticity of the circuit. With the method "implicit" it
    advances potentials by springback's own step: both programs then fire the same neurons in the same steps. With a
    method of Brian2, such as "rk4", they approach each other as the step falls. Rates of stochastic neurons agree.

    Parameters
    ----------
    network : ComposedCircuit | SpikingModel
        A circuit, or a trained model as it follows a stream.
    folder : str | Path
        Is created; files of the same names in it are replaced.
    method : str
        "implicit", or an integrator of Brian2.
    spikes : SpikeTrain | None
        Input spikes, stored as `spikes.npz`, with which the script can be run at once.
    adapts : bool
        Of a model: whether short-term STDP is on.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     files = to_brian2(ComposedCircuit(np.ones((3, 2))), folder)
    ...     files.script.name, "NeuronGroup" in files.script.read_text()
    ('network.py', True)
    """
    check.one_of("method", method, METHODS)
    circuit = circuit_of(network, adapts=adapts)
    arrays: dict[str, Any] = {"weights": circuit.weights, "thresholds_mv": circuit.thresholds_mv}
    if isinstance(circuit.short_term, ShortTermStdp) and np.ndim(circuit.short_term.memory_ms) == 1:
        arrays["memory_ms"] = np.asarray(circuit.short_term.memory_ms)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = Brian2Files(
        folder / "network.py", folder / "network.npz", None if spikes is None else folder / "spikes.npz"
    )
    with atomic_file(files.script) as file:
        file.write(script_of(circuit, method).encode())
    _write_arrays(files.weights, arrays)
    if spikes is not None and files.spikes is not None:
        _write_arrays(files.spikes, spike_arrays(spikes, circuit))
    return files


def spike_arrays(spikes: SpikeTrain, circuit: ComposedCircuit) -> dict[str, Any]:
    """A spike train as the script reads it."""
    n_steps = check_train(spikes, circuit.n_inputs)
    step = np.repeat(np.arange(n_steps), np.diff(spikes.first))
    return {"index": spikes.which, "time_ms": step * circuit.dt_ms, "duration_ms": n_steps * circuit.dt_ms}


def _write_arrays(path: Path, arrays: dict[str, Any]) -> None:
    held = io.BytesIO()
    np.savez_compressed(held, **arrays)
    with atomic_file(path) as file:
        file.write(held.getvalue())
