"""The paper's own numbers, each with the place it stands: Moraitis, Sebastian & Eleftheriou (2020)."""

from typing import Any

_SNN = 'main text, "Application to recognition of transforming visual inputs"'
_ANN = 'main text, "Comparison with ANNs"'


def _stat(mean: float, std: float, source: str, *, n: int | None = None) -> dict[str, Any]:
    return {"mean": mean, "std": std, "n": n, "source": source}


PAPER: dict[str, Any] = {
    "citation": (
        "T. Moraitis, A. Sebastian and E. Eleftheriou, Optimality of short-term synaptic plasticity in modelling "
        "certain dynamic environments (2020)"
    ),
    "mnist_test": {
        "snn_static": _stat(88.49, 0.12, _SNN, n=5),
        "mlp_mnist": _stat(96.89, 0.17, _ANN),
        "cnn_mnist": _stat(98.92, 0.21, _ANN),
    },
    "omnist_test": {
        "snn_static": _stat(61.10, 0.48, _SNN),
        "snn_st_stdp": _stat(87.90, 0.29, _SNN, n=10),
        "mlp_mnist": _stat(56.89, 0.78, _ANN),
        "cnn_mnist": _stat(65.91, 2.68, _ANN),
        "mlp_omnist": _stat(80.76, 0.58, _ANN, n=10),
        "cnn_omnist": _stat(84.19, 0.32, _ANN, n=10),
        "rnn_omnist": _stat(82.01, 0.17, _ANN, n=10),
        "lstm_omnist": _stat(84.78, 4.21, _ANN, n=10),
    },
    "frames": {"train": 990_089, "test": 164_915, "source": 'caption of Fig. 4; Methods, "The OMNIST dataset"'},
}
"""Accuracies in percent, mean and standard deviation over runs; n where the paper says how many (Fig. 4: ten)."""
