"""Algorithm 1 as pure functions: `init`, `step`, `track`, `read`, `relax`.

    model = prepare(params, resting, prior)
    state = init(model)
    state, response = track(model, state, frames)

Per frame, in this order: the short-term part relaxes, the posterior is read from `G = W + F`, and the input pulls. The
response to a frame is therefore the one *before* that frame has pulled. An all-zero frame only lets time pass; its
posterior is the prior.

A stream may be cut into calls anywhere, and any number of rows may come in each. A frame that is missing is a gap in
`times`, or a row of zeros. What cannot be taken (NaN, rows of another width, times that run backwards) is refused as a
whole: the state is then exactly as it was before the call.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.elastic.dense import DenseState, init_dense, relax_dense, run_dense, short_term_dense
from springback.elastic.kernels import Windowed
from springback.elastic.params import Constants, Elasticity, constants_of
from springback.elastic.recent import (
    RecentState,
    decay_since,
    init_recent,
    lag_weights,
    run_recent,
    short_term_recent,
)
from springback.magnitude import largest_entries, moderate
from springback.time_stamps import as_elapsed, times_of_frames

State = DenseState | RecentState
_CHUNK = 4096
_LONGEST = {"float32": 1e12, "float64": 1e100}
"""Inputs that pull with their own length must have their largest entry below this, and above its inverse."""


class Model(NamedTuple):
    """Parameters and the constants made of them and of the resting centroids; nothing in it changes."""

    params: Elasticity
    constants: Constants

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies and pickles of arrays forget that they are read-only; a model is remade instead.
        return prepare, (self.params, np.ascontiguousarray(self.constants.resting), self.constants.prior)


class Response(NamedTuple):
    """What comes out of T frames.

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


def prepare(params: Elasticity, resting: NDArray[Any], prior: NDArray[Any] | None = None) -> Model:
    """A model from parameters, resting centroids (K, n) and their prior (K,), uniform if not given.

    float32 centroids make a float32 model, anything else a float64 one.

    Examples
    --------
    >>> prepare(Elasticity(beta=0.5), np.eye(2)).constants.gain
    array([4., 4.])
    """
    return Model(params, constants_of(params, resting, prior))


def init(model: Model) -> State:
    """A state at rest: no short-term part, no past.

    Examples
    --------
    >>> float(short_term(m := prepare(Elasticity(pull=1.0), np.eye(2)), init(m)).sum())
    0.0
    """
    kernel = model.params.kernel
    return init_recent(model.constants, kernel.frames) if isinstance(kernel, Windowed) else init_dense(model.constants)


def copy(state: State) -> State:
    """The same state in memory of its own.

    Examples
    --------
    >>> model = prepare(Elasticity(pull=1.0), np.eye(2))
    >>> copy(init(model)).scale
    array([1.])
    """
    parts = [np.copy(part) for part in state]
    return DenseState(*parts) if isinstance(state, DenseState) else RecentState(*parts)


def check_state(model: Model, state: State) -> None:
    """Refuse the state of another model: compiled loops take its shapes and its place in the ring as they are.

    Examples
    --------
    >>> check_state(prepare(Elasticity(pull=1.0), np.eye(3)), init(prepare(Elasticity(pull=1.0), np.eye(2))))
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
            **{"position": ((1,), np.int64), "clock": ((1,), double)},
        }
    elif isinstance(state, DenseState):
        check.require(m > 0, "state", "keep a window of frames, as the model's kernel does", "one of exponentials")
        wanted = {
            **{"stored": ((m, n, k), own), "scale": ((m,), double), "resting_overlap": ((m, k), double)},
            **{"overlap": ((m, m, k), double), "responsibility": ((m, k), double)},
            **{"total": ((m,), double), "clock": ((1,), double)},
        }
    else:
        raise TypeError(f"state must be one that `init` has made; got {type(state).__name__}")
    for name, (shape, dtype) in wanted.items():
        check.array(f"state.{name}", getattr(state, name), shape=shape, dtype=dtype, finite=False)
    if isinstance(state, RecentState):
        check.integer("state.position", state.position[0], low=0, high=len(state.times) - 1)


def as_frames(model: Model, frames: Any) -> NDArray[Any]:
    """Frames as the compiled loops want them: (T, n), contiguous, of the model's dtype, finite, of moderate length.

    Only the direction of a frame matters (unless `unit_inputs` is False), so one that is nearly silent or huge is
    multiplied by a power of two, which changes nothing else.
    """
    dtype = model.constants.by_feature.dtype
    given = _real_rows(frames)
    wanted = model.constants.by_feature.shape[0]
    check.require(given.ndim == 2 and given.shape[1] == wanted, "frames", f"have shape (any, {wanted})", given.shape)
    refuse_not_finite("frames", given)
    if model.params.unit_inputs:
        given = moderate(given)
    else:
        _refuse_extreme_lengths(given, dtype.name)
    return np.ascontiguousarray(given, dtype)


def _real_rows(frames: Any) -> NDArray[Any]:
    try:
        given = np.atleast_2d(np.asarray(frames))
        given = given.astype(np.float64) if given.dtype.kind == "O" else given
    except (TypeError, ValueError):
        raise ValueError("frames must be rows of numbers, all of the same length; got rows that are not") from None
    if given.dtype.kind not in "fiub":
        raise TypeError(f"frames must hold real numbers; got dtype {given.dtype}")
    return given if given.dtype in (np.float32, np.float64) else given.astype(np.float64)


def refuse_not_finite(name: str, rows: NDArray[Any]) -> None:
    """Refuse rows that hold NaN or infinity, and say which is the first."""
    finite = np.isfinite(largest_entries(rows))
    if not finite.all():
        first = int(np.flatnonzero(~finite)[0])
        what = "NaN" if np.isnan(rows[first]).any() else "infinity (inf)"
        raise ValueError(
            f"{name} must be finite everywhere; got {what} in row {first}: leave the row out and give times, or put "
            "zeros in its place, which only let time pass"
        )


def _refuse_extreme_lengths(rows: NDArray[Any], dtype: str) -> None:
    most, largest = _LONGEST[dtype], largest_entries(rows)
    extreme = (largest > most) | ((largest > 0) & (largest < 1 / most))
    if extreme.any():
        raise ValueError(
            f"frames must have a largest entry within {1 / most:g} ... {most:g} if unit_inputs is False; got "
            f"{float(largest[extreme][0]):g}: scale the data, or leave unit_inputs at True"
        )


def empty_response(model: Model, steps: int) -> Response:
    """Room for the response to `steps` frames."""
    dtype = model.constants.by_feature.dtype
    k = len(model.constants.prior)
    return Response(np.empty((steps, k), dtype), np.empty(steps, dtype), np.empty(steps))


def advance(model: Model, state: State, frames: Any, times: Any = None) -> Response:
    """`track` that moves the given state itself instead of a copy: for those who own the state.

    Examples
    --------
    >>> model = prepare(Elasticity(pull=1.0), np.eye(2))
    >>> advance(model, state := init(model), np.eye(2)).posterior.shape
    (2, 2)
    """
    check_state(model, state)
    frames = as_frames(model, frames)
    times = times_of_frames(float(state.clock[0]), len(frames), times)
    response = empty_response(model, len(frames))
    if isinstance(state, DenseState):
        run_dense(model.constants, state, frames, times, True, *response)
        return response
    # A user's kernel may fail at any lag, so the state itself moves only after the last chunk has been through.
    moved = RecentState(*map(np.copy, state)) if len(frames) > _CHUNK else state
    for start in range(0, len(frames), _CHUNK):
        rows = slice(start, start + _CHUNK)
        decay = lag_weights(model.params.kernel, moved, times[rows])
        part = Response(*(whole[rows] for whole in response))
        run_recent(model.constants, moved, frames[rows], times[rows], decay, True, *part)
    for part_of_state, new in zip(state, moved, strict=True):
        part_of_state[...] = new
    return response


def track(model: Model, state: State, frames: Any, times: Any = None) -> tuple[State, Response]:
    """Follow frames (T, n) in order and return the new state and the response; the given state is left as it was.

    Any chunking of the same frames gives the same state and response, bit for bit.

    Parameters
    ----------
    times : Any
        Time stamps (T,), in the unit of the kernel's memory; one step apart if not given. Dates and durations
        (NumPy's, pandas', Python's) become seconds, so that the memory is then in seconds.

    Examples
    --------
    >>> model = prepare(Elasticity(kappa=20.0, pull=3.0), np.eye(2))
    >>> turning = [[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0]]
    >>> state, response = track(model, init(model), turning)
    >>> response.posterior.argmax(axis=1), read(model, init(model), turning).posterior.argmax(axis=1)
    (array([0, 0, 0, 0]), array([0, 0, 0, 1]))
    """
    state = copy(state)
    response = advance(model, state, frames, times)
    return state, response


def step(model: Model, state: State, x: Any, time: Any = None) -> tuple[State, Response]:
    """One frame (n,) of `track`.

    Examples
    --------
    >>> model = prepare(Elasticity(kappa=5.0, pull=1.0), np.eye(2))
    >>> state, response = step(model, init(model), [1.0, 0.0])
    >>> response.posterior.round(3)
    array([[0.993, 0.007]])
    """
    return track(model, state, np.atleast_2d(x), None if time is None else [time])


def relax(model: Model, state: State, elapsed: Any = None) -> State:
    """The state after `elapsed` steps of silence (a timedelta: in seconds); without a number, wholly at rest.

    Examples
    --------
    >>> model = prepare(Elasticity(kappa=5.0, pull=1.0), np.eye(2))
    >>> state, _ = step(model, init(model), [1.0, 0.0])
    >>> round(float(short_term(model, relax(model, state, 2.0)).max() / short_term(model, state).max()), 4)
    0.3679
    """
    if elapsed is None:
        return init(model)
    elapsed = as_elapsed("elapsed", elapsed)
    check_state(model, state)
    state = copy(state)
    if isinstance(state, DenseState):
        relax_dense(model.constants, state, elapsed)
    else:
        state.clock[0] += elapsed
    return state


def read(model: Model, state: State, frames: Any) -> Response:
    """The response to each frame as if it came now; nothing moves, and frames do not influence each other.

    Examples
    --------
    >>> model = prepare(Elasticity(kappa=5.0, pull=1.0), np.eye(2))
    >>> read(model, init(model), [[0.0, 1.0]]).posterior.round(3)
    array([[0.007, 0.993]])
    """
    check_state(model, state)
    frames = as_frames(model, frames)
    response = empty_response(model, len(frames))
    if isinstance(state, DenseState):
        run_dense(model.constants, state, frames, np.zeros(0), False, *response)
    else:
        run_recent(model.constants, state, frames, np.zeros(0), _decay_now(model, state)[None], False, *response)
    return response


def _decay_now(model: Model, state: RecentState) -> NDArray[np.float64]:
    newest_first = np.roll(state.times, -int(state.position[0]))[::-1]
    return decay_since(model.params.kernel, newest_first, state.clock[0])


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
    >>> efficacy(m := prepare(Elasticity(pull=1.0), np.eye(2)), init(m))
    array([[1., 0.],
           [0., 1.]])
    """
    return np.asarray(model.constants.resting + short_term(model, state))


def expected(model: Model, state: State) -> NDArray[np.float64]:
    """The probability of each class before the next input, (K,).

    This is the prior, moved by the recent past if `beta` is given.

    Examples
    --------
    >>> expected(m := prepare(Elasticity(pull=1.0), np.eye(2)), init(m))
    array([0.5, 0.5])
    """
    silence = np.zeros((1, model.constants.by_feature.shape[0]))
    return np.asarray(read(model, state, silence).posterior[0], np.float64)
