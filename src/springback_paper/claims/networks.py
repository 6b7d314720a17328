"""What the paper says about its circuit beside networks trained with labels."""

from collections.abc import Callable

from springback.streaming.wording import percent
from springback_paper.claims.claim import (
    FAILS,
    HOLDS,
    IN_PART,
    Claim,
    Evidence,
    Judgement,
    Stat,
    apart,
    in_paper,
    named,
    only,
)

_COMPARISON = 'main text, "Comparison with ANNs"'
_MEMORY = 'supplement, "Short-term memory in ST-STDP vs RNN and LSTM"'
_DROP, _NEAR = 0.2, 0.03
_SYNAPSES = 784 * 400
_MOST_HIDDEN = "19"


def _above(*rivals: str, otherwise: tuple[str, ...] = ()) -> Callable[[Evidence], Judgement | None]:
    """Whether the circuit is above all of the rivals that were run; in part if another circuit of ours is.

    Parameters
    ----------
    otherwise : tuple[str, ...]
        The same rivals, trained in another way: it also holds in part if the circuit is above all of these.
    """

    def judge(evidence: Evidence) -> Judgement | None:
        key = evidence.circuit("st_stdp")
        keys = [one for one in (key, "spiking_st_stdp") if one is not None]
        circuits = {one: stat for one in dict.fromkeys(keys) if (stat := evidence.video(one)) is not None}
        shown = {one: stat for one in (*rivals, *otherwise) if (stat := evidence.video(one)) is not None}
        if key not in circuits or not shown.keys() & set(rivals):
            return None

        def beaten(circuit: str, group: tuple[str, ...]) -> int:
            ours, theirs = circuits[circuit], [shown[one] for one in group if one in shown]
            return sum(float(ours["mean"]) > float(stat["mean"]) + apart(ours, stat) for stat in theirs)

        holds = beaten(key, rivals) == len(rivals)
        part = any(beaten(one, rivals) for one in circuits) or (otherwise and beaten(key, otherwise) == len(otherwise))
        verdict = HOLDS if holds else IN_PART if part else FAILS
        return Judgement(verdict, "; ".join(named(one, stat) for one, stat in {**circuits, **shown}.items()))

    return judge


def _lead_grows(evidence: Evidence) -> Judgement | None:
    key = evidence.circuit("st_stdp")
    ours = None if key is None else evidence.video(key)
    trained = {
        where: [evidence.video(f"{network}_{where}") for network in ("mlp", "cnn")] for where in ("mnist", "omnist")
    }
    if key is None or ours is None or any(stat is None for stats in trained.values() for stat in stats):
        return None
    leads = [
        [float(ours["mean"]) - float(stat["mean"]) for stat in trained[where] if stat is not None]
        for where in ("mnist", "omnist")
    ]
    grown = sum(still > video for still, video in zip(*leads, strict=True))
    shown = [
        named(f"{network}_{where}", stat)
        for where in ("mnist", "omnist")
        for network, stat in zip(("mlp", "cnn"), trained[where], strict=True)
        if stat is not None
    ]
    return Judgement((FAILS, IN_PART, HOLDS)[grown], "; ".join([named(key, ours), *shown]))


def _sizes(evidence: Evidence) -> Judgement:  # noqa: ARG001
    """A calculation: weights and biases of the networks as the paper describes them."""
    inputs, outputs = 784, 11
    layers = {
        "MLP": (inputs + 1) * 40 + 41 * outputs,
        "CNN": (25 + 1) * 8 + (8 * 25 + 1) * 8 + (8 * 49 + 1) * 400 + 401 * outputs,
        "RNN": (inputs + 400 + 1) * 400 + 400 * outputs,
        "LSTM": 4 * (inputs + 90 + 1) * 90 + 90 * outputs,
    }
    enough = sum(size >= _SYNAPSES for size in layers.values())
    verdict = HOLDS if enough == len(layers) else IN_PART if enough else FAILS
    shown = ", ".join(f"{name} {size:,}" for name, size in layers.items())
    return Judgement(verdict, f"{shown} (the circuit: {_SYNAPSES:,} synapses)")


def _reaches(model: str, table: str) -> Callable[[Evidence], Judgement | None]:
    """Whether a network has the accuracy that it has in the paper, no more and no less."""

    def judge(evidence: Evidence) -> Judgement | None:
        ours = evidence.still(model) if table == "mnist_test" else evidence.video(model)
        if ours is None:
            return None
        paper = in_paper(table, model)
        off = abs(float(paper["mean"]) - float(ours["mean"]))
        verdict = HOLDS if off <= apart(ours, paper) else IN_PART if off <= _NEAR else FAILS
        others = [f"{model}_sgd", f"{model}_sgd_tuned"] if table == "omnist_test" else []
        beside = [named(one, stat) for one in others if (stat := evidence.video(one)) is not None]
        return Judgement(verdict, "; ".join([f"{named(model, ours)} (paper {percent(paper['mean'])} %)", *beside]))

    return judge


def _drop(evidence: Evidence) -> Judgement | None:
    pairs: dict[str, tuple[Stat, Stat]] = {}
    for model in ("mlp_mnist", "cnn_mnist"):
        still, video = evidence.still(model), evidence.video(model)
        if still is not None and video is not None:
            pairs[model] = still, video
    if not pairs:
        return None
    dropped = sum(float(still["mean"]) - float(video["mean"]) >= _DROP for still, video in pairs.values())
    verdict = HOLDS if dropped == 2 else IN_PART if dropped else FAILS
    words = [f"{named(model, still)} to {percent(video['mean'], 1)} %" for model, (still, video) in pairs.items()]
    return Judgement(verdict, "; ".join(words))


def _lstm_and_noise(evidence: Evidence) -> Judgement | None:
    key = evidence.circuit("st_stdp")
    lstm = [evidence.frames("lstm_omnist", group) for group in ("noise", "0", _MOST_HIDDEN)]
    circuit = None if key is None else evidence.frames(key, "noise")
    if key is None or circuit is None or any(stat is None for stat in lstm):
        return None
    noise, *digits = (float(stat["mean"]) for stat in lstm if stat is not None)
    agreed = (noise < float(circuit["mean"])) + (noise < min(digits))
    words = (
        f"LSTM on noise {percent(noise, 1)} %, without occlusion {percent(digits[0], 1)} %, with {_MOST_HIDDEN} rows "
    )
    return Judgement(
        (FAILS, IN_PART, HOLDS)[agreed], f"{words}hidden {percent(digits[1], 1)} %; {named(key, circuit)} on noise"
    )


def _lstm_when_hidden(evidence: Evidence) -> Judgement | None:
    key = evidence.circuit("st_stdp")
    ours = None if key is None else evidence.frames(key, _MOST_HIDDEN)
    stats = {
        model: stat
        for model in ("rnn_omnist", "lstm_omnist")
        if (stat := evidence.frames(model, _MOST_HIDDEN)) is not None
    }
    if key is None or ours is None or not stats:
        return None
    better = sum(float(stat["mean"]) > float(ours["mean"]) for stat in stats.values())
    verdict = HOLDS if better == 2 else IN_PART if better else FAILS
    return Judgement(verdict, "; ".join([named(key, ours), *(named(model, stat) for model, stat in stats.items())]))


def _per_synapse(evidence: Evidence) -> Judgement | None:
    stats = [evidence.video(model) for model in ("elastic", "elastic_feedback", "elastic_static_best")]
    if any(stat is None for stat in stats):
        return None
    elastic, feedback, static = (stat for stat in stats if stat is not None)
    top, middle, bottom = (float(stat["mean"]) for stat in (elastic, feedback, static))
    above = top > middle + apart(elastic, feedback)
    verdict = HOLDS if above and middle < (top + bottom) / 2 else IN_PART if above else FAILS
    return Judgement(
        verdict,
        f"{named('elastic', elastic)}; without synapses' own memory: {named('elastic_feedback', feedback)}; "
        f"{named('elastic_static_best', static)}",
    )


def _deep(evidence: Evidence) -> Judgement | None:
    plain, elastic = evidence.video("cnn_mnist"), evidence.video("cnn_elastic")
    if plain is None or elastic is None:
        return None
    gain = float(elastic["mean"]) - float(plain["mean"])
    verdict = HOLDS if gain >= 0.05 else IN_PART if gain > apart(plain, elastic) else FAILS
    others = [
        named(one, stat) for one in ("cnn_feedback", "cnn_carry_over") if (stat := evidence.video(one)) is not None
    ]
    return Judgement(verdict, "; ".join([named("cnn_mnist", plain), named("cnn_elastic", elastic), *others]))


_NETWORKS = {
    ("mlp_mnist", "mnist_test"): "An MLP trained on still digits recognises {} % of them.",
    ("cnn_mnist", "mnist_test"): "A CNN trained on still digits recognises {} % of them.",
    ("mlp_mnist", "omnist_test"): "The MLP trained on still digits recognises {} % of the video.",
    ("cnn_mnist", "omnist_test"): "The CNN trained on still digits recognises {} % of the video.",
    ("mlp_omnist", "omnist_test"): "An MLP trained on the video recognises {} % of it.",
    ("cnn_omnist", "omnist_test"): "A CNN trained on the video recognises {} % of it.",
    ("rnn_omnist", "omnist_test"): "An RNN trained on the video recognises {} % of it.",
    ("lstm_omnist", "omnist_test"): "An LSTM trained on the video recognises {} % of it.",
}
"""What the paper says that each network reaches, by model and table."""

ACCURACIES = tuple(
    Claim(
        text=text.format(percent(in_paper(table, model)["mean"])),
        source=_COMPARISON,
        rule=f"Holds: within one standard deviation (the larger one) of the paper. In part: {100 * _NEAR:g} points.",
        command=only(model),
        judge=_reaches(model, table),
    )
    for (model, table), text in _NETWORKS.items()
)

CLAIMS = (
    *ACCURACIES,
    Claim(
        text="These networks have at least as many parameters as the circuit.",
        source=_COMPARISON,
        rule="Holds: all four have. In part: some have. A calculation.",
        command="springback reproduce (any)",
        judge=_sizes,
    ),
    Claim(
        text="MLP and CNN recognise still digits nearly perfectly, but not their occluded video.",
        source=_COMPARISON,
        rule=f"Holds: both drop by at least {100 * _DROP:g} points. In part: one does.",
        command=only("mlp_mnist", "cnn_mnist"),
        judge=_drop,
    ),
    Claim(
        text="The circuit, trained on still digits, is above the MLP and the CNN that were trained on the video.",
        source=_COMPARISON,
        rule=(
            "Holds: the circuit with the paper's parameters is above both by more than one standard deviation. In "
            "part: it, or the circuit with ours, is above one."
        ),
        command=only("moraitis_st_stdp", "spiking_st_stdp", "mlp_omnist", "cnn_omnist"),
        judge=_above("mlp_omnist", "cnn_omnist"),
    ),
    Claim(
        text="Its advantage over the MLP and the CNN grows if these, too, are trained on still digits only.",
        source='main text, "Discussion"',
        rule="Holds: it grows over both. In part: over one.",
        command=only("moraitis_st_stdp", "mlp_mnist", "cnn_mnist", "mlp_omnist", "cnn_omnist"),
        judge=_lead_grows,
    ),
    Claim(
        text="It is also above the RNN and the LSTM.",
        source=_COMPARISON,
        rule=(
            "Holds: above both, trained with Adam, by more than one standard deviation. In part: above one, or above "
            "both as the paper trains them, by plain gradient descent at 0.001."
        ),
        command=only("moraitis_st_stdp", "spiking_st_stdp", "'rnn_omnist*'", "'lstm_omnist*'") + " --full",
        judge=_above("rnn_omnist", "lstm_omnist", otherwise=("rnn_omnist_sgd", "lstm_omnist_sgd")),
    ),
    Claim(
        text="Noise is what the LSTM fails at.",
        source=_COMPARISON,
        rule="Holds: worse on noise than the circuit, and than on digits itself. In part: one of the two.",
        command=only("spiking_st_stdp", "lstm_omnist"),
        judge=_lstm_and_noise,
    ),
    Claim(
        text="RNN and LSTM are better than the circuit on highly occluded frames.",
        source=_MEMORY,
        rule=f"With {_MOST_HIDDEN} rows hidden. Holds: both are. In part: one is.",
        command=only("spiking_st_stdp", "rnn_omnist", "lstm_omnist"),
        judge=_lstm_when_hidden,
    ),
    Claim(
        text="The key is a memory in each synapse, not a memory of which neuron was active.",
        source=_MEMORY,
        rule=(
            "Holds: elastic clustering is above class feedback, which gives less than half of the gain over rest. In "
            "part: above it only."
        ),
        command=only("elastic", "elastic_feedback"),
        judge=_per_synapse,
    ),
    Claim(
        text="The same plasticity, added to a network trained by backpropagation, would improve it on changing input.",
        source='main text, "Discussion"',
        rule="Holds: at least 5 points. In part: any gain.",
        command=only("cnn_mnist", "cnn_elastic", "cnn_feedback"),
        judge=_deep,
    ),
)
"""In the order of the report."""
