"""Class prototypes that wander on a sphere (after Schirmer et al. 2025, "STAD", TMLR; von Mises-Fisher)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.heads.head_classifier import HeadClassifier
from springback.heads.search import Choice, Range
from springback_bench.rivals._arithmetic import log_softmax, unit, unit_rows
from springback_bench.rivals.rival import Rival

_STEPS_BACK = 20
"""Steps of the recursion between orders of Bessel functions; the result is then exact to 4e-6 or better."""


class PrototypeDynamicsState(NamedTuple):
    """Unit features of the window, (D, n), expected prototypes before and in it, (D + 1, K, n), frames in it, (1,)."""

    directions: NDArray[np.float32]
    means: NDArray[np.float32]
    filled: NDArray[np.int64]


class PrototypeDynamics(HeadClassifier):
    """Class prototypes that drift from frame to frame, inferred without labels over a short window (after STAD).

    A prototype w_k moves by a von Mises-Fisher step of concentration `kappa_transition`, and unit features h scatter
    around the prototype of their class with `kappa_emission`. Each prototype of each frame of the window has a
    von Mises-Fisher belief with mean direction rho, concentration gamma and expectation m = A(gamma) rho, where
    A(gamma) = I_(n/2)(gamma) / I_(n/2-1)(gamma). An iteration updates

        lambda_tk ~ pi_k exp(kappa_emission m_tk . h_t)
        beta_tk = kappa_transition (m_(t-1)k + m_(t+1)k) + kappa_emission lambda_tk h_t
        gamma_tk = |beta_tk|,   rho_tk = beta_tk / gamma_tk

    where m_(t+1) is absent for the newest frame. Prototypes start as the weight vectors, scaled to length one; what
    leaves the window is no longer changed. The answer is lambda of the newest frame after the iterations. Magnitudes
    of weights and features and the biases are not used, so even prototypes that never move do not answer exactly as the
    head does. The article also estimates the two concentrations from each batch of frames, which batches of one do not
    allow: here they are settings.

    Input: features (T, n). The method has no notion of time: `relax` and gaps between time stamps change nothing.

    Parameters
    ----------
    weight : NDArray[Any]
        Weights of the frozen head, (K, n).
    bias : NDArray[Any]
        Biases of the frozen head, (K,); checked, but not used.
    kappa_transition : float
        How little prototypes move; 1e12: they stay at the weights. The prototype of a class that is not seen fades,
        unless this setting is much larger than n. The default is ours, from a video of training digits.
    kappa_emission : float
        How close features are to their prototype. The default is from the same video.
    window : int
        Frames whose prototypes are inferred together; the article has 3.
    iterations : int
        Iterations for each frame.
    shares : str
        The shares pi of the classes: "uniform", or "window", the mean lambda of the frames in the window.

    Examples
    --------
    A prototype follows an object that turns away from it:

    >>> frames = [[1.0, 0.0], [0.9, 0.6], [0.8, 0.9], [0.6, 0.9]]
    >>> for kappa_transition in (20.0, 1e9):
    ...     model = PrototypeDynamics(
    ...         np.eye(2), np.zeros(2), kappa_transition=kappa_transition, kappa_emission=20.0
    ...     )
    ...     print(model.track_labels(frames))
    [0 0 0 0]
    [0 0 1 1]
    """

    def __init__(
        self,
        weight: NDArray[Any],
        bias: NDArray[Any],
        *,
        kappa_transition: float = 1e5,
        kappa_emission: float = 50.0,
        window: int = 3,
        iterations: int = 3,
        shares: str = "uniform",
    ) -> None:
        self.kappa_transition = check.real("kappa_transition", kappa_transition, above=0, high=1e12)
        self.kappa_emission = check.real("kappa_emission", kappa_emission, above=0, high=1e8)
        self.window = check.integer("window", window, low=1, high=10_000)
        self.iterations = check.integer("iterations", iterations, low=1)
        self.shares = check.one_of("shares", shares, ("uniform", "window"))
        super().__init__(weight, bias)

    def _init(self) -> PrototypeDynamicsState:
        means = np.zeros((self.window + 1, self.n_classes, self.n_inputs), np.float32)
        means[0] = unit_rows(self.weight)
        return PrototypeDynamicsState(np.zeros((self.window, self.n_inputs), np.float32), means, np.zeros(1, np.int64))

    def _run(self, state: PrototypeDynamicsState, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002
        kappas = (self.kappa_transition, self.kappa_emission)
        return np.asarray(_follow(*state, rows, kappas, self.iterations, self.shares == "window"))


@njit(cache=True, makes_arrays=True)
def _follow(
    directions: Any,
    means: Any,
    filled: Any,
    rows: Any,
    kappas: Any,
    iterations: int,
    learn_shares: bool,
) -> Any:
    kappa_transition, kappa_emission = kappas
    window, k = len(directions), means.shape[1]
    answers = np.empty((rows.shape[0], k))
    belongs = np.empty((window, k))
    beta = np.empty(means.shape[2])
    for t in range(rows.shape[0]):
        if filled[0] == window:
            for i in range(window - 1):
                directions[i] = directions[i + 1]
            for i in range(window):
                means[i] = means[i + 1]
        else:
            filled[0] += 1
        size = filled[0]
        directions[size - 1] = unit(rows[t])
        means[size] = means[size - 1]
        log_shares = np.zeros(k)
        for _ in range(iterations):
            for i in range(size):
                belongs[i] = _belongs(means[i + 1], directions[i], log_shares, kappa_emission)
            if learn_shares:
                for one in range(k):
                    log_shares[one] = np.log(belongs[:size, one].mean() + 1e-300)
            for i in range(size):
                for one in range(k):
                    drawn = kappa_emission * belongs[i, one]
                    for at in range(len(beta)):
                        beta[at] = kappa_transition * means[i, one, at] + drawn * directions[i, at]
                    if i < size - 1:
                        for at in range(len(beta)):
                            beta[at] += kappa_transition * means[i + 2, one, at]
                    gamma = np.sqrt(np.dot(beta, beta))
                    length = mean_resultant_length(gamma, len(beta)) / max(gamma, 1e-12)
                    for at in range(len(beta)):
                        means[i + 1, one, at] = length * beta[at]
        answers[t] = _belongs(means[size], directions[size - 1], log_shares, kappa_emission)
    return answers


@njit(cache=True, makes_arrays=True)
def _belongs(means: Any, direction: Any, log_shares: Any, kappa_emission: float) -> Any:
    return np.exp(log_softmax(log_shares + kappa_emission * (means @ direction).astype(np.float64)))


@njit(cache=True)
def mean_resultant_length(kappa: float, n: int) -> float:
    """Length of the mean of a von Mises-Fisher distribution in n dimensions: I_(n/2)(kappa) / I_(n/2-1)(kappa).

    The ratio of the next higher order gives that of an order, and errors shrink on the way down, so it suffices to
    start some orders above, from an approximation between the bounds of Amos (1974) that is right for large kappa.
    """
    if kappa < 1e-12:
        return kappa / n
    order = n / 2 + _STEPS_BACK
    ratio = kappa / (order - 0.5 + np.sqrt(order**2 - 0.25 + kappa**2))
    for _ in range(_STEPS_BACK):
        order -= 1
        ratio = 1 / (2 * order / kappa + ratio)
    return float(ratio)


RIVALS = (
    Rival(
        name="stad",
        title="STAD",
        about="class prototypes in a state-space model on the sphere (after Schirmer et al. 2025)",
        method=PrototypeDynamics,
        ranges={
            "kappa_transition": Range(1.0, 1e7, log=True),
            "kappa_emission": Range(1.0, 1e4, log=True),
            "window": Choice((1, 3, 5)),
            "shares": Choice(("uniform", "window")),
        },
        first=(
            (10490.0, 1.441, 5, "window"),
            (23750.0, 3880.0, 5, "uniform"),
            (1508000.0, 6.154, 3, "window"),
            (223000.0, 1823.0, 5, "uniform"),
            (158300.0, 210.2, 3, "window"),
            (1880.0, 155.1, 1, "window"),
            (518000.0, 32.94, 5, "window"),
            (752.8, 9.077, 1, "window"),
        ),
        slow=True,
        microseconds=80,
    ),
)
