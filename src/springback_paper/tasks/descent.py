"""CNN, RNN and LSTM by plain gradient descent instead of Adam: as the paper says, and at a rate of our own.

Methods, "ANN training and testing": "gradient descent with a learning rate of 0.001". The other rate is chosen on a
video of training digits that the network has not learned from.
"""

from dataclasses import dataclass, replace

import numpy as np

from springback import check
from springback.data import make_omnist
from springback.streaming.metrics import accuracy
from springback.streaming.records import Images
from springback_paper.baselines import classify
from springback_paper.inputs.digits import Digits, both_splits
from springback_paper.results.scores import Scores
from springback_paper.run_scope import Scope
from springback_paper.runner.task import Task
from springback_paper.tasks.baselines import VIDEO_SECONDS, BaselineOmnist, evaluation, lanes_of, score, train_model
from springback_paper.tasks.entry import Added

RATES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
"""The learning rates that are tried; the first is the paper's."""

_HELD_OUT = 2000
_VIDEO_SEEDS = 2_000_000
_ON_VIDEO = ("cnn", "rnn", "lstm")


@dataclass(frozen=True, kw_only=True)
class DescentRates:
    """What a network reached by plain gradient descent at each learning rate, on a video of held-out training digits.

    Parameters
    ----------
    model : str
        "cnn", "rnn" or "lstm".
    rates, accuracies : tuple[float, ...]
        One of each for each rate.
    n_train, n_held_out : int
        Digits that were learned from, and digits of the video.
    """

    model: str
    rates: tuple[float, ...]
    accuracies: tuple[float, ...]
    n_train: int
    n_held_out: int

    @property
    def best(self) -> float:
        """The rate with the highest accuracy.

        Examples
        --------
        >>> DescentRates(model="rnn", rates=(0.1, 1.0), accuracies=(0.8, 0.6), n_train=9, n_held_out=1).best
        0.1
        """
        return self.rates[int(np.argmax(self.accuracies))]


def try_rates(params: BaselineOmnist, rates: tuple[float, ...], train: Images, seed: int) -> DescentRates:
    """Train once at each rate, on all but the last of the training digits, and follow the video of those.

    Examples
    --------
    >>> halves = np.zeros((60, 28, 28), np.uint8)
    >>> halves[::2, :14], halves[1::2, 14:] = 255, 255
    >>> small = BaselineOmnist(model="lstm", trained_on="omnist", optimiser="sgd", n_hidden=5, lanes=2, epochs=1)
    >>> found = try_rates(small, (1e-9, 1.0), Images(halves, np.arange(60) % 2), seed=0)
    >>> found.best, found.n_train, found.n_held_out
    (1.0, 54, 6)
    """
    check.require(len(rates) > 0, "rates", "have at least one", rates)
    held_out = min(_HELD_OUT, max(len(train) // 10, 1))
    taught, kept = train[:-held_out], train[-held_out:]
    video = make_omnist(kept, seed=seed + _VIDEO_SEEDS)
    models = (train_model(replace(params, learning_rate=rate), taught, seed) for rate in rates)
    return DescentRates(
        model=params.model,
        rates=rates,
        accuracies=tuple(accuracy(classify(model, video), video.labels) for model in models),
        n_train=len(taught),
        n_held_out=len(kept),
    )


def evaluate_at_best(params: BaselineOmnist, tried: DescentRates, train: Images, test: Images, seed: int) -> Scores:
    """Train at the best of the rates, then classify the test images, still and as their video."""
    model = train_model(replace(params, learning_rate=tried.best), train, seed)
    return score(params, model, train, test, seed, key=f"{params.key}_tuned")


def tasks(scope: Scope, seed: int) -> list[Added]:
    """With a full scope and the fewest seeds: each network at the paper's rate, and at the best for the first seed."""
    if not scope.full or seed not in scope.fewest_seeds:
        return []
    found = [evaluation(BaselineOmnist(model="cnn", trained_on="mnist", optimiser="sgd"), scope, seed, 240)]
    first, images = scope.seeds[0], both_splits(scope.limit)
    for kind in _ON_VIDEO:
        params = BaselineOmnist(model=kind, trained_on="omnist", optimiser="sgd", lanes=lanes_of(scope))
        seconds = VIDEO_SECONDS[kind]
        names, as_written = evaluation(params, scope, seed, seconds)
        tuned, search = f"{params.key}_tuned", f"{params.key}_rates-{first}"
        if seed == first:
            given = {"params": params, "rates": RATES, "train": Digits("train", scope.limit)}
            takes = len(RATES) * seconds * scope.share
            trial = Task(name=search, run=try_rates, params=given, seed=seed, needs={}, seconds=takes)
            found.append(((tuned,), trial))
        at_best = Task(
            name=f"{tuned}-{seed}",
            run=evaluate_at_best,
            params={"params": params, **images},
            seed=seed,
            needs={"tried": search},
            seconds=seconds * scope.share,
        )
        found += [(names, as_written), ((tuned,), at_best)]
    return found
