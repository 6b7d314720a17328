"""Many streams at once that share their resting centroids; each has its own short-term part.

A stream keeps its recent (input, posterior) pairs instead of a matrix of K x n numbers (see `_recent`): 1,000 streams
of 400 centroids and 784 features take 0.25 GB with 40 frames, instead of 1.25 GB.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.elastic._frames import as_frames
from springback.elastic._recent import RecentState, decay_since, init_recent, run_recent
from springback.elastic.algorithm import Model, Response, check_state, empty_response
from springback.elastic.kernels import Exponential
from springback.streaming.time_stamps import as_times


def frames_needed(model: Model, error: float = 1e-6) -> int:
    """How many frames a stream must keep so that no row of F is wrong by more than `error`, for unit inputs.

    Solves `gain * exp(-(D + 1) / memory) / (1 - exp(-1 / memory)) <= error` for D; exponential kernels, unit time
    steps.

    Examples
    --------
    >>> from springback.elastic.params import Elasticity
    >>> from springback.elastic.algorithm import prepare
    >>> frames_needed(prepare(Elasticity(pull=3.0), np.eye(2)))
    31
    """
    check.real("error", error, above=0)
    kernel = model.params.decay_kernel
    if not isinstance(kernel, Exponential):
        raise TypeError(f"frames must be given unless the kernel is Exponential; got {kernel!r}")
    most = float(model.constants.gain.max()) / (1 - np.exp(-1 / kernel.memory))
    return max(1, int(np.ceil(kernel.memory * np.log(max(most, error) / error))) - 1)


def init_streams(model: Model, n_streams: int, frames: int | None = None) -> RecentState:
    """`n_streams` streams at rest, each remembering `frames` frames (`frames_needed` if not given).

    Every array of the state has the streams as its first axis.

    Examples
    --------
    >>> from springback.elastic.params import Elasticity
    >>> from springback.elastic.algorithm import prepare
    >>> init_streams(prepare(Elasticity(), np.eye(2)), 3, frames=5).inputs.shape
    (3, 5, 2)
    """
    check.integer("n_streams", n_streams, low=1)
    frames = frames_needed(model) if frames is None else check.integer("frames", frames, low=1)
    one = init_recent(model.constants, frames)
    streams = RecentState(*(np.zeros((n_streams, *part.shape), part.dtype) for part in one))
    streams.times[:] = np.nan
    streams.clock[:] = np.nan
    return streams


@njit(cache=True)
def _run_streams(constants: Any, streams: Any, which: Any, frames: Any, times: Any, decay: Any, posterior: Any,
                 best: Any, log_density: Any) -> None:  # fmt: skip
    for i in range(which.size):
        s = which[i]
        one = RecentState(
            streams.inputs[s],
            streams.drive[s],
            streams.overlap[s],
            streams.posterior[s],
            streams.factor[s],
            streams.times[s],
            streams.position[s],
            streams.clock[s],
        )
        here = slice(i, i + 1)
        run_recent(
            constants, one, frames[here], times[here], decay[here], True, posterior[here], best[here], log_density[here]
        )


def _check_streams(model: Model, streams: RecentState) -> None:
    """Refuse streams that are not states of this model."""
    check.require(np.ndim(streams.times) == 2, "streams.times", "have shape (streams, frames)", np.shape(streams.times))
    total, window = streams.times.shape
    for name, part in streams._asdict().items():
        check.require(len(part) == total, f"streams.{name}", f"have {total} streams", np.shape(part))
    if total:
        check_state(model, RecentState(*(part[0] for part in streams)))
        inside = bool(((streams.position >= 0) & (streams.position < window)).all())
        check.require(inside, "streams.position", f"lie within 0 ... {window - 1}", streams.position)


def _numbers_of_streams(which: Any) -> NDArray[np.int64]:
    numbers = np.asarray(which)
    check.require(
        numbers.ndim == 1 and (numbers.dtype.kind in "iu" or numbers.size == 0),
        "which",
        "be the numbers of streams, in one dimension",
        f"{numbers.dtype} of shape {numbers.shape}",
    )
    return numbers.astype(np.int64)


def _times_of_streams(clock: NDArray[np.float64], times: Any) -> NDArray[np.float64]:
    if times is None:
        largest = float(np.nan_to_num(np.abs(clock)).max(initial=0.0))
        check.require(
            largest < 2.0**53, "times", f"be given: one step after {largest:g} cannot be distinguished from it", None
        )
        return np.where(np.isnan(clock), 0.0, clock + 1.0)
    stamps = as_times("times", times)
    check.require(
        len(stamps) == len(clock), "times", f"hold one time stamp for each of {len(clock)} frames", len(stamps)
    )
    check.require(not bool((stamps < clock).any()), "times", "not run backwards in any stream", stamps)
    return stamps


def step_streams(
    model: Model,
    streams: RecentState,
    frames: NDArray[Any],
    which: NDArray[np.int64] | None = None,
    times: Any = None,
) -> Response:
    """Show one frame to each stream, moving `streams` itself; the response is the one before that frame's pull.

    The number of streams may change from call to call (`which`). A stream whose frame is missing is left out; give
    `times` if the gap should count. Unusable input is refused before any stream has moved.

    Parameters
    ----------
    frames : NDArray[Any]
        (streams shown, n).
    which : NDArray[np.int64] | None
        The streams that are shown a frame, each at most once; all of them if not given.
    times : Any
        Time stamps of these frames; one step after the stream's last if not given; dates become seconds.

    Examples
    --------
    >>> from springback.elastic.params import Elasticity
    >>> from springback.elastic.algorithm import prepare
    >>> model = prepare(Elasticity(kappa=5.0), np.eye(2))
    >>> step_streams(model, init_streams(model, 2), np.eye(2)).posterior.argmax(axis=1)
    array([0, 1])
    """
    _check_streams(model, streams)
    frames = as_frames(model.constants, frames, model.channels)
    total, window = streams.times.shape
    which = np.arange(total) if which is None else _numbers_of_streams(which)
    if len(which) != len(frames):
        raise ValueError(f"frames must have shape ({len(which)}, n), one for each stream shown; got {len(frames)} rows")
    known = len(np.unique(which)) == len(which) and bool(((which >= 0) & (which < total)).all())
    check.require(known, "which", f"name different streams within 0 ... {total - 1}", which)
    times = _times_of_streams(streams.clock[which, 0], times)
    order = (streams.position[which] - 1 - np.arange(window)) % window
    seen = np.take_along_axis(streams.times[which], order, axis=1)
    decay = decay_since(model.params.decay_kernel, seen, times[:, None])
    response = empty_response(model, len(frames))
    _run_streams(model.constants, streams, which, frames, times, decay, *response)
    return response
