"""A Gaussian for each class, learned online (after "DOTA", arXiv 2409.19375, and "UL-TTA", arXiv 2511.09101)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.heads.head_classifier import HeadClassifier
from springback.heads.search import Choice, Range
from springback_bench.rivals._arithmetic import log_softmax, unit, unit_rows
from springback_bench.rivals.rival import Rival


class GaussianMeansState(NamedTuple):
    """The mean of each class, (K, n), the squared deviations from them, (n,), and the frames of each class, (K,)."""

    means: NDArray[np.float64]
    deviations: NDArray[np.float64]
    counts: NDArray[np.float64]


class GaussianMeans(HeadClassifier):
    """The frozen answer, joined with that of a Gaussian for each class, whose means and shared variances are learned.

        g_k = -(1 / 2n) sum_i (x_i - m_ki)^2 / v_i,   z_k = W_k x + b_k + c g_k + ln s_k
        c = strength * t / (t + prior_counts) after t frames

    x are features scaled to length one. The means m start at the weights of the classes, scaled to length one, each of
    which counts as `prior_counts` frames. Then every frame counts towards each class as far as its teacher believes in
    it. The variances v, one for each feature and the same for all classes, are those of the features around the means.
    The covariance is diagonal, so that a frame costs K n operations, and distances are means over the features, because
    features are not independent. Shares s of the classes are equal, or those of the stream so far.

    Input: features (T, n). The method has no notion of time: `relax` and gaps between time stamps change nothing.

    Parameters
    ----------
    weight, bias : NDArray[Any]
        The frozen linear head, (K, n) and (K,).
    strength : float
        What a mean squared deviation of two variances takes from the logit of a class; 0: the head as it is.
    prior_counts : float
        How many frames the weights of a class count as.
    shares : str
        "equal" or "stream".
    teacher : str
        "frozen" or "joined": the answer of which the means learn.

    Examples
    --------
    >>> model = GaussianMeans(4 * np.eye(2), np.zeros(2), strength=10.0, prior_counts=0.1)
    >>> dim = [[1.0, 0.8], [0.1, 1.0], [1.0, 0.8], [1.0, 1.1]]  # the first class is dim here
    >>> model.track(dim).argmax(axis=1), (4 * np.array([1.0, 1.1])).argmax()
    (array([0, 1, 0, 0]), np.int64(1))
    """

    def __init__(
        self,
        weight: NDArray[Any],
        bias: NDArray[Any],
        *,
        strength: float = 5.0,
        prior_counts: float = 10.0,
        shares: str = "equal",
        teacher: str = "joined",
    ) -> None:
        self.strength = check.real("strength", strength, low=0, high=1e9)
        self.prior_counts = check.real("prior_counts", prior_counts, above=0, high=1e9)
        self.shares = check.one_of("shares", shares, ("equal", "stream"))
        self.teacher = check.one_of("teacher", teacher, ("frozen", "joined"))
        super().__init__(weight, bias)

    def _init(self) -> GaussianMeansState:
        k, n = self.weight.shape
        return GaussianMeansState(
            unit_rows(self.weight).astype(np.float64),
            np.full(n, self.prior_counts * k / n),
            np.full(k, self.prior_counts),
        )

    def _run(self, state: GaussianMeansState, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002
        with_shares, from_joined = self.shares == "stream", self.teacher == "joined"
        numbers = (self.strength, self.prior_counts)
        return np.asarray(_learn(*state, rows, self.weight, self.bias, *numbers, with_shares, from_joined))


@njit(cache=True, makes_arrays=True)
def _learn(
    means: Any,
    deviations: Any,
    counts: Any,
    rows: Any,
    weight: Any,
    bias: Any,
    strength: float,
    prior_counts: float,
    with_shares: bool,
    from_joined: bool,
) -> Any:
    k, n = means.shape
    answers = np.empty((len(rows), k))
    for t in range(len(rows)):
        x = unit(rows[t]).astype(np.float64)
        frozen = (weight @ rows[t] + bias).astype(np.float64)
        total = counts.sum()
        seen = total - k * prior_counts
        precision = (total / n) / np.maximum(deviations, 1e-9)
        z = frozen + np.log(counts / total) if with_shares else frozen.copy()
        for one in range(k):
            distance = 0.0
            for i in range(n):
                distance += precision[i] * (x[i] - means[one, i]) ** 2
            z[one] -= strength * max(seen, 0.0) / (seen + prior_counts) * distance / 2
        answers[t] = np.exp(log_softmax(z))
        taught = answers[t] if from_joined else np.exp(log_softmax(frozen))
        for one in range(k):
            counts[one] += taught[one]
            share = taught[one] / counts[one]
            for i in range(n):  # Welford's update: deviations from the mean before and after
                before = x[i] - means[one, i]
                means[one, i] += share * before
                deviations[i] += taught[one] * before * (x[i] - means[one, i])
    return answers


RIVALS = (
    Rival(
        name="gaussian-means",
        title="Gaussian means",
        about="a Gaussian for each class, learned online, joins the frozen answer (after DOTA and UL-TTA)",
        method=GaussianMeans,
        ranges={
            "strength": Range(0.03, 100.0, log=True, per_spread=1),
            "prior_counts": Range(0.1, 300.0, log=True),
            "shares": Choice(("equal", "stream")),
            "teacher": Choice(("frozen", "joined")),
        },
        first=(
            (5.38, 37.95, "equal", "joined"),
            (26.24, 1.463, "stream", "frozen"),
            (0.6011, 0.103, "stream", "frozen"),
            (13.98, 0.4609, "equal", "joined"),
            (32.25, 4.828, "equal", "joined"),
            (4.913, 7.319, "equal", "joined"),
            (0.8411, 0.6804, "equal", "joined"),
            (2.78, 2.384, "stream", "frozen"),
        ),
        microseconds=10,
    ),
)
