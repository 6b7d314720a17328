"""What recording costs: training and streaming with and without a recorder, interleaved, in processor time.

python -m springback_bench.speed.recording      one line for each kind, with the ratio to recording nothing
"""

import resource
from collections.abc import Callable
from typing import Any

import numpy as np

from springback.data.pretrained import shipped_digits, shipped_spiking
from springback.spiking import Monitor, Recorder, init, init_training, track, train

ROUNDS = 14
KINDS: dict[str, Callable[[], Recorder | None]] = {
    "nothing": lambda: None,
    "all spikes": Recorder,
    "all spikes, 10 potentials every step": lambda: Recorder([Monitor("potential_mv", neurons=range(10))]),
    "all spikes, 10 potentials every ms": lambda: Recorder([Monitor("potential_mv", neurons=range(10), every_ms=1.0)]),
}


def processor_seconds() -> float:
    """Return user and system time of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure() -> dict[str, dict[str, float]]:
    """Return {work: {kind: median of the ratios to recording nothing}}."""
    model = shipped_spiking()
    preset, circuit = model.preset, model.preset.circuit
    frames = np.concatenate([shipped_digits().pixels] * 2)

    def learn(state: Any, recorder: Recorder | None) -> Any:
        return train(
            state, frames, circuit=circuit, stdp=preset.long_term, presentation=preset.training, recorder=recorder
        )[0]

    def follow(state: Any, recorder: Recorder | None) -> Any:
        shown: dict[str, Any] = {"presentation": preset.streaming, "short_term": preset.short_term}
        return track(model.weights, state, frames, circuit=circuit, recorder=recorder, **shown)[0]

    works: dict[str, tuple[Callable[[Any, Recorder | None], Any], Any]] = {
        "training": (learn, init_training(circuit, preset.long_term, seed=0)),
        "streaming": (follow, init(model.weights, circuit, preset.short_term)),
    }
    found: dict[str, dict[str, float]] = {}
    for work, (run, first) in works.items():
        recorders = {kind: make() for kind, make in KINDS.items()}
        states = dict.fromkeys(KINDS, first)
        seconds: dict[str, list[float]] = {kind: [] for kind in KINDS}
        for _ in range(ROUNDS):
            for kind, recorder in recorders.items():
                start = processor_seconds()
                states[kind] = run(states[kind], recorder)
                seconds[kind].append(processor_seconds() - start)
        base = np.array(seconds["nothing"][1:])
        found[work] = {kind: float(np.median(np.array(some[1:]) / base)) for kind, some in seconds.items()}
    return found


if __name__ == "__main__":
    for work, ratios in measure().items():
        for kind, ratio in ratios.items():
            print(f"{work}, recording {kind}: {ratio:.2f} times", flush=True)
