"""The compiled kernels of the heads, one file for each memory: one call follows a stretch of all streams.

All kernels have the same arguments: `kernel(state, rows, answers, gaps, weight, bias, centre, numbers, novel)`.

* `state`: the parts of a state of `springback.heads.memory`, which move in place;
* `rows`: T frames of B streams, (T * B, n); `answers` (T * B, K) holds the output at rest, and then the answers;
* `gaps`: time since the frame before it, (T, B);
* `weight` (K, n) and `bias` (K,): only read if `reads_weights` says so, and may be empty otherwise, the bias always;
* `centre` (n,): subtracted before frames are compared;
* `numbers`: those of `springback.heads.memory.numbers_of`;
* `novel`: receives the probability of something new, (T * B,), if the memory knows it; may be empty.
"""

from typing import Any

from springback.heads.observer import Observer
from springback.heads.settings import Settings
from springback.heads.springs import CentroidSprings, WindowSprings


def kernel_of(settings: Settings) -> Any:
    """The kernel of a memory, which is loaded, and with it Numba, when it is first asked for."""
    if isinstance(settings, Observer):
        from springback.heads.compiled.observer import follow_observer

        return follow_observer
    if isinstance(settings, CentroidSprings):
        from springback.heads.compiled.centroids import follow_centroids

        return follow_centroids
    from springback.heads.compiled.springs import follow_springs, follow_window

    return follow_window if isinstance(settings, WindowSprings) else follow_springs
