"""Algorithm 1 as pure functions: `init`, `step`, `track`, `read`, `relax`.

    model = prepare(params, resting, prior)
    state = init(model)
    state, response = track(model, state, frames)

For each frame, in this order: the short-term part relaxes, the posterior is computed from `G = W + F`, and the input
pulls. The response to a frame is therefore the one *before* that frame has pulled. An all-zero frame only lets time
pass; its posterior is the prior.

A stream may be split into calls anywhere, with any number of rows in each. A frame that is missing is a gap in `times`,
or a row of zeros. Input that cannot be used (NaN, rows of another width, times that run backwards) is refused as a
whole: the state is then exactly as it was before the call. A state at rest is that of `init`, so there is no `reset`.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.elastic._dense import DenseState, init_dense, moving, relax_dense, run_dense, short_term_dense
from springback.elastic._frames import as_frame, as_frames
from springback.elastic._reading import read_dense, scratch_of
from springback.elastic._recent import (
    RecentState,
    decay_since,
    init_recent,
    lag_weights,
    run_recent,
    short_term_recent,
)
from springback.elastic.kernels import Windowed
from springback.elastic.params import Constants, Elasticity, constants_of
from springback.streaming.channel_scaling import Channels
from springback.streaming.pace import CLOCK
from springback.streaming.time_stamps import as_elapsed, time_of_frame, times_of_frames

State = DenseState | RecentState
_CHUNK = 4096


class Model(NamedTuple):
    """The parameters, and the constants derived from them and from the resting centroids; nothing in it changes.

    `channels`, if any, say how raw frames are scaled before they are compared with the centroids.
    """

    params: Elasticity
    constants: Constants
    channels: Channels | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # Copied and unpickled arrays are no longer read-only, so the model is built again instead.
        resting = np.ascontiguousarray(self.constants.resting)
        return prepare, (self.params, resting, self.constants.prior, self.channels)


class Response(NamedTuple):
    """The response to T frames.

    Parameters
    ----------
    posterior : NDArray[Any]
        Q, (T, K), before the pull of the same frame.
    similarity : NDArray[Any]
        The largest cosine to any centroid, (T,); 0 for an all-zero frame.
    log_density : NDArray[np.float64]
        Log-likelihood of the frame on the unit sphere given all before it, (T,); NaN for an all-zero frame.
    """

    posterior: NDArray[Any]
    similarity: NDArray[Any]
    log_density: NDArray[np.float64]


def prepare(
    params: Elasticity,
    resting: NDArray[Any],
    prior: NDArray[Any] | None = None,
    channels: Channels | None = None,
) -> Model:
    """A model from parameters, resting centroids (K, n) and their prior (K,), uniform if not given.

    float32 centroids make a float32 model, anything else a float64 one. With `channels`, frames are raw, and centroids
    are in the units of the channels.

    Examples
    --------
    >>> prepare(Elasticity(pull=None, beta=0.5), np.eye(2)).constants.gain
    array([4., 4.])
    """
    constants = constants_of(params, resting, prior)
    if channels is not None:
        width = constants.by_feature.shape[0]
        check.require(len(channels.centre) == width, "channels", f"be {width}, one per feature", len(channels.centre))
    return Model(params, constants, channels)


def init(model: Model) -> State:
    """A state at rest: no short-term part, no past.

    Examples
    --------
    >>> float(short_term(m := prepare(Elasticity(), np.eye(2)), init(m)).sum())
    0.0
    """
    kernel = model.params.decay_kernel
    return init_recent(model.constants, kernel.frames) if isinstance(kernel, Windowed) else init_dense(model.constants)


def copy(state: State) -> State:
    """A copy of a state.

    Examples
    --------
    >>> model = prepare(Elasticity(), np.eye(2))
    >>> copy(init(model)).scale
    array([1.])
    """
    parts = [np.copy(part) for part in state]
    return DenseState(*parts) if isinstance(state, DenseState) else RecentState(*parts)


def check_state(model: Model, state: State) -> None:
    """Refuse the state of another model: the compiled loops do not check its shapes and its position in the ring.

    Examples
    --------
    >>> check_state(prepare(Elasticity(), np.eye(3)), init(prepare(Elasticity(), np.eye(2))))
    Traceback (most recent call last):
    ValueError: state.stored must have shape (1, 3, 3); got (1, 2, 2)
    """
    n, k = model.constants.by_feature.shape
    m, own, double = len(model.constants.weights), model.constants.by_feature.dtype, np.float64
    wanted: dict[str, tuple[tuple[int, ...], Any]]
    if isinstance(state, RecentState):
        d = len(state.times)
        wanted = {
            **{"inputs": ((d, n), own), "drive": ((d, k), own), "overlap": ((d, d), double)},
            **{"posterior": ((d, k), own), "factor": ((d,), double), "times": ((d,), double)},
            **{"position": ((1,), np.int64), "clock": ((CLOCK,), double)},
        }
    elif isinstance(state, DenseState):
        check.require(m > 0, "state", "keep a window of frames, as the model's kernel does", "one of exponentials")
        wanted = {
            **{"stored": ((m, n, k), own), "scale": ((m,), double), "resting_overlap": ((m, k), double)},
            **{"overlap": ((m, m, k), double), "responsibility": ((m, k), double)},
            **{"total": ((m,), double), "clock": ((CLOCK,), double)},
        }
    else:
        raise TypeError(f"state must come from `init`; got {type(state).__name__}")
    for name, (shape, dtype) in wanted.items():
        check.array(f"state.{name}", getattr(state, name), shape=shape, dtype=dtype, finite=False)
    if isinstance(state, RecentState):
        check.integer("state.position", state.position[0], low=0, high=len(state.times) - 1)


def empty_response(model: Model, steps: int) -> Response:
    """An empty response to `steps` frames."""
    dtype = model.constants.by_feature.dtype
    k = len(model.constants.prior)
    return Response(np.empty((steps, k), dtype), np.empty(steps, dtype), np.empty(steps))


def chunks(n_rows: int) -> list[slice]:
    """Stretches of rows, as many at once as fit into memory beside what is computed of them."""
    return [slice(start, start + _CHUNK) for start in range(0, n_rows, _CHUNK)]


def _move(model: Model, state: State, frames: NDArray[Any], times: NDArray[np.float64]) -> Response:
    """Follow checked frames at checked times, moving the state itself."""
    response = empty_response(model, len(frames))
    if isinstance(state, DenseState):
        scratch = scratch_of(model.constants)
        run_dense(model.constants, state, scratch, moving(model.constants), frames, times, *response)
        return response
    # A user's kernel may fail at any lag, so the state itself is only updated after the last chunk.
    moved = RecentState(*map(np.copy, state)) if len(frames) > _CHUNK else state
    for rows in chunks(len(frames)):
        decay = lag_weights(model.params.decay_kernel, moved, times[rows])
        part = Response(*(whole[rows] for whole in response))
        run_recent(model.constants, moved, frames[rows], times[rows], decay, True, *part)
    for part_of_state, new in zip(state, moved, strict=True):
        part_of_state[...] = new
    return response


def track(
    model: Model, state: State, frames: Any, times: Any = None, *, in_place: bool = False
) -> tuple[State, Response]:
    """Follow frames (T, n) in order and return the new state and the response; the given state does not change.

    Splitting the same frames into calls in any way gives the same state and response, bit for bit.

    Parameters
    ----------
    times : Any
        Time stamps (T,), in the unit of the kernel's memory; one step apart if not given. Dates and durations
        (NumPy's, pandas', Python's) become seconds, and the memory is then in seconds.
    in_place : bool
        Move the given state itself instead of a copy, and return it: faster, for callers that own the state.

    Examples
    --------
    >>> model = prepare(Elasticity(kappa=20.0, pull=3.0), np.eye(2))
    >>> turning = [[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0]]
    >>> state, response = track(model, init(model), turning)
    >>> response.posterior.argmax(axis=1), read(model, init(model), turning).posterior.argmax(axis=1)
    (array([0, 0, 0, 0]), array([0, 0, 0, 1]))
    """
    check_state(model, state)
    frames = as_frames(model.constants, frames, model.channels)
    times = times_of_frames(float(state.clock[0]), len(frames), times)
    state = state if in_place else copy(state)
    return state, _move(model, state, frames, times)


def step(model: Model, state: State, x: Any, time: Any = None, *, in_place: bool = False) -> tuple[State, Response]:
    """One frame x (n,) of `track`, at `time` or else one step after the last; its response has one row.

    Examples
    --------
    >>> model = prepare(Elasticity(kappa=5.0), np.eye(2))
    >>> state, response = step(model, init(model), [1.0, 0.0])
    >>> response.posterior.round(3)
    array([[0.993, 0.007]])
    """
    check_state(model, state)
    frames = as_frame(model.constants, x, model.channels)
    times = time_of_frame(float(state.clock[0]), time)
    state = state if in_place else copy(state)
    return state, _move(model, state, frames, times)


def relax(model: Model, state: State, elapsed: Any) -> State:
    """The state after `elapsed` steps of silence (a timedelta: in seconds); the given state does not change.

    Examples
    --------
    >>> model = prepare(Elasticity(kappa=5.0), np.eye(2))
    >>> state, _ = step(model, init(model), [1.0, 0.0])
    >>> round(float(short_term(model, relax(model, state, 2.0)).max() / short_term(model, state).max()), 4)
    0.3679
    """
    elapsed = as_elapsed("elapsed", elapsed)
    check_state(model, state)
    state = copy(state)
    if isinstance(state, DenseState):
        relax_dense(model.constants.memories, state, elapsed)
    else:
        state.clock[0] += elapsed
    return state


def read(model: Model, state: State, frames: Any) -> Response:
    """The response to each frame as if it came now; nothing moves, and frames do not influence each other.

    Examples
    --------
    >>> model = prepare(Elasticity(kappa=5.0), np.eye(2))
    >>> read(model, init(model), [[0.0, 1.0]]).posterior.round(3)
    array([[0.007, 0.993]])
    """
    check_state(model, state)
    frames = as_frames(model.constants, frames, model.channels)
    response = empty_response(model, len(frames))
    if isinstance(state, DenseState):
        scratch = scratch_of(model.constants)
        read_dense(model.constants, state, scratch, moving(model.constants), frames, *response)
    else:
        run_recent(model.constants, state, frames, np.zeros(0), _decay_now(model, state)[None], False, *response)
    return response


def _decay_now(model: Model, state: RecentState) -> NDArray[np.float64]:
    newest_first = np.roll(state.times, -int(state.position[0]))[::-1]
    return decay_since(model.params.decay_kernel, newest_first, state.clock[0])


def short_term(model: Model, state: State) -> NDArray[np.float64]:
    """F, the short-term part of every centroid, (K, n).

    Examples
    --------
    >>> model = prepare(Elasticity(kappa=50.0, pull=0.5), np.eye(2))
    >>> short_term(model, step(model, init(model), [2.0, 0.0])[0]).round(3)
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    check_state(model, state)
    if isinstance(state, DenseState):
        return short_term_dense(model.constants, state)
    return short_term_recent(model.constants, state, _decay_now(model, state))


def efficacy(model: Model, state: State) -> NDArray[np.float64]:
    """G = W + F, where every centroid is now, (K, n).

    Examples
    --------
    >>> efficacy(m := prepare(Elasticity(), np.eye(2)), init(m))
    array([[1., 0.],
           [0., 1.]])
    """
    return np.asarray(model.constants.resting + short_term(model, state))


def expected(model: Model, state: State) -> NDArray[np.float64]:
    """The probability of each class before the next input, (K,).

    This is the prior, moved by the recent past if `beta` is given.

    Examples
    --------
    >>> expected(m := prepare(Elasticity(), np.eye(2)), init(m))
    array([0.5, 0.5])
    """
    silence = np.zeros((1, model.constants.by_feature.shape[0]))
    return np.asarray(read(model, state, silence).posterior[0], np.float64)
