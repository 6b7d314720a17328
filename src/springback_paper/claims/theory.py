"""What the paper says about its theory: optimality, the algorithm, the linear bias, sampling by spikes."""

import numpy as np

from springback.spiking.params import ExcitatoryNeuron
from springback.streaming.wording import percent
from springback_paper.claims.claim import FAILS, HOLDS, IN_PART, Claim, Evidence, Judgement, named, only

_EXACT = 1e-9
_EXCESS = 0.01
_LINE_BOUND = 0.319
_STDP_GAIN = 0.1
_LINEAR = 0.05
_WRITTEN = ("theory_exponential", "theory_winner", "theory_maximum")
_SAMPLING = ("exponential", "relu", "spiking_exponential", "spiking_relu")


def _optimal(evidence: Evidence) -> Judgement | None:
    result = evidence.task("world_dynamics")
    if result is None:
        return None
    static, elastic, exact = (result.observers.index(name) for name in ("static", "elastic", "exact"))
    gap = result.distance[:, static] - result.distance[:, elastic]
    error = 2 * np.hypot(result.distance_error[:, static], result.distance_error[:, elastic])
    better, worse = int((gap > error).sum()), int((gap < -error).sum())
    excess = float((result.wrong[:, elastic] - result.wrong[:, exact]).mean())
    every = better == len(gap) and excess <= _EXCESS
    verdict = HOLDS if every else IN_PART if better > len(gap) / 2 and not worse else FAILS
    return Judgement(
        verdict,
        f"elastic clustering: closer to the exact posterior than a static mixture in {better} of {len(gap)} worlds, "
        f"farther in {worse}; "
        f"mean distance {result.distance[:, elastic].mean():.3f} against {result.distance[:, static].mean():.3f}; "
        f"wrong class {percent(float(result.wrong[:, elastic].mean()), 1)} %, exact observer "
        f"{percent(float(result.wrong[:, exact].mean()), 1)} %",
    )


def _recursion(evidence: Evidence) -> Judgement | None:
    result = evidence.task("world_dynamics")
    if result is None:
        return None
    error = float(result.recursion_error)
    return Judgement(HOLDS if error <= _EXACT else FAILS, f"posteriors differ by {error:.0e} at most")


def _line(evidence: Evidence) -> Judgement:  # noqa: ARG001
    """A calculation: Eq. S39 with G0 = -cos(phi) is P = sin(phi) - phi cos(phi), and the line is 1 - cos(phi)."""
    angles = np.array([1.0, 0.1])
    curve = np.sin(angles) - angles * np.cos(angles)
    there, beyond = (1 - np.cos(angles)) / curve - 1
    verdict = HOLDS if max(there, beyond) <= _LINE_BOUND else FAILS
    return Judgement(
        verdict,
        f"{percent(there, 1)} % where the paper looks (G0 = -cos 1); it grows without bound as P falls "
        f"({1 + beyond:.0f} times P at P = {curve[1]:.1e})",
    )


def _mean_direction(evidence: Evidence) -> Judgement:  # noqa: ARG001
    """A calculation: a class of two directions with unequal chances, and the centroid with the highest likelihood."""
    angles, chances = np.array([-0.3, 0.9]), np.array([0.75, 0.25])
    mean = float(np.angle(chances @ np.exp(1j * angles)))
    places = np.linspace(-0.3, 0.9, 120_001)[:, None]
    best = float(places[(np.log(np.maximum(np.cos(angles - places), 1e-9)) @ chances).argmax(), 0])
    verdict = HOLDS if abs(mean - best) < 1e-3 else IN_PART
    return Judgement(
        verdict,
        f"a class of -0.3 rad (three times of four) and 0.9 rad: mean direction {mean:.3f}, best {best:.3f} rad; they "
        "agree if a class is symmetric (the proof drops 1 / q between Eqs. S56 and S57)",
    )


def _lif_as_relu(evidence: Evidence) -> Judgement:  # noqa: ARG001
    """A calculation: the closed form of the rate of the paper's neuron, and the best line well above its threshold."""
    neuron = ExcitatoryNeuron()
    drive = np.linspace(2.0, 10.0, 161)
    rate = 1000 / (neuron.refractory_ms + neuron.tau_membrane_ms * np.log(drive / (drive - 1)))
    off = float(np.abs(np.polyval(np.polyfit(drive, rate, 1), drive) - rate).max() / rate.max())
    verdict = HOLDS if off <= _LINEAR else IN_PART if off <= 3 * _LINEAR else FAILS
    return Judgement(
        verdict,
        f"without noise, from 2 to 10 times the threshold: at most {percent(off, 1)} % of the highest rate, "
        f"{rate.max():.0f} Hz, off a line (refractory {neuron.refractory_ms:g} ms); zero below the threshold",
    )


def _samples(evidence: Evidence) -> Judgement | None:
    result = evidence.task("sampling_posterior")
    if result is None:
        return None
    passed = [p > 0.001 for p in result.p_value.values()]
    verdict = HOLDS if all(passed) else IN_PART if any(passed) else FAILS
    words = "; ".join(
        f"{name}: distance {result.distance[name]:.4f}, {result.expected[name]:.4f} expected by chance"
        for name in result.p_value
    )
    return Judgement(verdict, f"{words} ({min(result.spikes.values()):,} spikes)")


def _sampling_circuits(evidence: Evidence) -> Judgement | None:
    pairs = []
    for network in _SAMPLING:
        model = f"sampling_{network}"
        adaptive, static = evidence.video(model), evidence.video(f"{model}_static")
        if adaptive is not None and static is not None:
            pairs.append((model, float(adaptive["mean"]) - float(static["mean"]), adaptive, static))
    if not pairs:
        return None
    risen = sum(gain >= _STDP_GAIN for _, gain, _, _ in pairs)
    verdict = HOLDS if risen == len(pairs) else IN_PART if risen else FAILS
    words = [f"{named(model, high)} (static {percent(low['mean'], 1)} %)" for model, _, high, low in pairs]
    return Judgement(verdict, "; ".join(words))


def _as_written(evidence: Evidence) -> Judgement | None:
    static = evidence.video("elastic_static_best")
    rows = {key: stat for key in _WRITTEN if (stat := evidence.video(key)) is not None}
    if static is None or _WRITTEN[0] not in rows:
        return None
    above = [key for key, stat in rows.items() if float(stat["mean"]) > float(static["mean"])]
    verdict = HOLDS if _WRITTEN[0] in above else IN_PART if above else FAILS
    words = [named(key, stat) for key, stat in (*rows.items(), ("elastic_static_best", static))]
    return Judgement(verdict, "; ".join(words))


CLAIMS = (
    Claim(
        text="In environments with random but continuous dynamics, elastic clustering is the optimal model.",
        source='main text, "The neural elastic clustering algorithm"; supplement, Theorem S3.2',
        rule=(
            "Holds: in every world closer to the exact posterior than a static mixture (two standard errors), and at "
            f"most {100 * _EXCESS:g} point more errors than the exact one. In part: closer in most worlds, farther in "
            "none."
        ),
        command=only("world_dynamics"),
        judge=_optimal,
    ),
    Claim(
        text="Pull and relaxation (Eqs. 2 and 3) compute the optimum, which is a sum over the whole past (Eq. S24).",
        source="main text, Eqs. 1-3; supplement, Algorithm 1",
        rule=f"Holds: posteriors differ by at most {_EXACT:g}.",
        command=only("world_dynamics"),
        judge=_recursion,
    ),
    Claim(
        text="The exponential model works as derived, with u the cosine itself and gamma = f(0) / (beta P).",
        source="supplement, Theorem S3.2",
        rule="Holds: above the same centroids at rest on OMNIST. In part: only if the winner answers or takes all.",
        command=only("'theory_*'", "elastic", "elastic_static_best"),
        judge=_as_written,
    ),
    Claim(
        text="The line G0 = P - 1 overestimates P by at most 31.9 %.",
        source="supplement, section S4.1",
        rule="Holds: the overestimation is at most 31.9 % everywhere. A calculation.",
        command="springback reproduce (any)",
        judge=_line,
    ),
    Claim(
        text="In the linear model, the best centroid of a class points in the direction of its mean.",
        source="supplement, Theorem S4.1",
        rule="Holds: also for a class that is not symmetric (0.001 rad). In part: for a symmetric one. A calculation.",
        command="springback reproduce (any)",
        judge=_mean_direction,
    ),
    Claim(
        text="A leaky integrate-and-fire neuron is close to a rectified linear one: its rate rises linearly.",
        source="supplement, section S6.3",
        rule=(
            f"Holds: at most {100 * _LINEAR:g} % of the highest rate off a line. In part: {300 * _LINEAR:g} %. A "
            "calculation."
        ),
        command="springback reproduce (any)",
        judge=_lif_as_relu,
    ),
    Claim(
        text="The spikes of stochastic neurons with lateral inhibition are samples of the posterior.",
        source='supplement, "Implementation with spiking neurons"',
        rule="Holds: a chi-square test of the spike counts accepts the posterior (p > 0.001) for both kinds of neuron.",
        command=only("sampling_posterior"),
        judge=_samples,
    ),
    Claim(
        text="Circuits of such neurons, also with spiking input, follow changing input by ST-STDP.",
        source='supplement, "Neurosynaptic equivalence of the optimal model: ST-STDP"',
        rule=f"Holds: each that was run gains at least {100 * _STDP_GAIN:g} points on the video. In part: some do.",
        command=only("'sampling_*'") + " --full",
        judge=_sampling_circuits,
    ),
)
"""In the order of the report."""
