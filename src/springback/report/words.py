"""How things are called in the report."""

from typing import Any

MODEL_NAMES = {
    "snn_static": "Spiking network, static",
    "snn_st_stdp": "Spiking network, ST-STDP",
    "snn_1600_st_stdp": "Spiking network, 1,600 neurons, ST-STDP",
    "elastic_static": "Elastic clustering, held at rest",
    "elastic": "Elastic clustering",
    "sampling_exponential": "Sampling network, exponential",
    "sampling_relu": "Sampling network, ReLU",
    "mlp_mnist": "MLP on still digits",
    "cnn_mnist": "CNN on still digits",
    "cnn_elastic": "CNN on still digits, elastic head",
    "mlp_omnist": "MLP on video",
    "cnn_omnist": "CNN on video",
    "rnn_omnist": "RNN on video",
    "lstm_omnist": "LSTM on video",
}
"""Every model, in the order of the tables."""

TRAINED_ON = {
    **dict.fromkeys(MODEL_NAMES, "still digits, no labels"),
    **dict.fromkeys(("mlp_mnist", "cnn_mnist", "cnn_elastic"), "still digits and noise, labels"),
    **dict.fromkeys(("mlp_omnist", "cnn_omnist", "rnn_omnist", "lstm_omnist"), "video, labels"),
}


def spread(stat: dict[str, Any] | None, *, missing: str = "not run") -> str:
    """A statistic in percent, with its deviation if there is more than one value.

    >>> spread({"mean": 88.123, "std": 0.0, "n": 1, "values": [88.123]}), spread(None)
    ('88.12', 'not run')
    """
    if stat is None:
        return missing
    deviation = f" ± {stat['std']:.2f}" if stat["n"] != 1 else ""
    return f"{stat['mean']:.2f}{deviation}"


def duration(seconds: float) -> str:
    """A time in words.

    >>> duration(75), duration(9.6), duration(4000)
    ('1 min 15 s', '10 s', '1 h 6 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def listed(words: list[str]) -> str:
    """Words as a list in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "none"
