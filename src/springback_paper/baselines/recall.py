"""Associative retrieval: strings of keys and values, and recurrent networks that are asked for the value of a key.

The task of Ba et al. (2016, arXiv 1610.06258) and Rodriguez, Guo & Moraitis (2022, arXiv 2206.14048). In a string such
as `c9k8j3?k=`, each letter is followed by its digit, and the digit of the last letter is wanted at the end. Letters of
a string differ. All networks receive one character at a time, have a state alone to remember by, and learn by
backpropagation through the whole string.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from torch.nn import functional

import torch
from springback import check
from springback.torch import ElasticLinear, Springs, reset
from springback_paper.baselines.torch_state import one_thread, seeded
from torch import Tensor, nn

LETTERS, DIGITS = 26, 10
CHARACTERS = LETTERS + DIGITS + 2
"""Letters, digits, `?` and `=`."""

MOST_PAIRS = LETTERS


def strings(rng: np.random.Generator, count: int, pairs: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Characters (2 pairs + 3, count) and the digits that are wanted, (count,).

    Examples
    --------
    >>> characters, wanted = strings(np.random.default_rng(0), 1, 3)
    >>> text = "".join("abcdefghijklmnopqrstuvwxyz0123456789?="[one] for one in characters[:, 0])  # such as a2b3c4?a=
    >>> len(text), text[text.index(text[-2]) + 1] == str(wanted[0])
    (9, True)
    """
    keys = rng.permuted(np.tile(np.arange(LETTERS), (count, 1)), axis=1)[:, :pairs]
    values = rng.integers(DIGITS, size=(count, pairs))
    asked, every = rng.integers(pairs, size=count), np.arange(count)
    found = np.empty((2 * pairs + 3, count), np.int64)
    found[0:-3:2], found[1:-3:2] = keys.T, LETTERS + values.T
    found[-3], found[-2], found[-1] = CHARACTERS - 2, keys[every, asked], CHARACTERS - 1
    return found, values[every, asked]


class Retriever(nn.Module):
    """Characters (time, strings) -> logits of the digits (strings, 10): an embedding, cells, and a readout."""

    def __init__(self, n_embedded: int, n_hidden: int) -> None:
        super().__init__()
        self.n_hidden = n_hidden
        self.embedding = nn.Embedding(CHARACTERS, n_embedded)
        self.readout = nn.Linear(n_hidden, DIGITS)

    def last(self, embedded: Tensor) -> Tensor:
        """The hidden units after the last character, (strings, n_hidden)."""
        raise NotImplementedError

    def forward(self, characters: Tensor) -> Tensor:
        """The logits of the digits, after the last character."""
        logits: Tensor = self.readout(self.last(self.embedding(characters)))
        return logits


class ElasticRetriever(Retriever):
    """The recurrent form of the elastic layer: `h = tanh(ElasticLinear([x, h]))`, with pull and memory learned."""

    def __init__(
        self, n_embedded: int, n_hidden: int, learned: Literal["unit", "synapse"], springs: Springs | None = None
    ) -> None:
        super().__init__(n_embedded, n_hidden)
        settings = springs or Springs(pull=1.0, memory=20.0, kappa=1.0, continuity=0.0, unit_inputs=False)
        self.cells = ElasticLinear(n_embedded + n_hidden, n_hidden, settings=settings, learned=learned)

    def last(self, embedded: Tensor) -> Tensor:
        """The hidden units after the last character, (strings, n_hidden)."""
        reset(self.cells, embedded.shape[1])
        hidden = embedded.new_zeros(embedded.shape[1], self.n_hidden)
        for x in embedded:
            hidden = self.cells(torch.cat([x, hidden], dim=-1)).tanh()
        return hidden


class PlainRetriever(Retriever):
    """Without plasticity: the layer of `nn.LSTM` or `nn.RNN`."""

    def __init__(self, n_embedded: int, n_hidden: int, kind: type[nn.LSTM] | type[nn.RNN]) -> None:
        super().__init__(n_embedded, n_hidden)
        self.cells = kind(n_embedded, n_hidden)

    def last(self, embedded: Tensor) -> Tensor:
        """The hidden units after the last character, (strings, n_hidden)."""
        hidden: Tensor = self.cells(embedded)[0][-1]
        return hidden


class DeltaRetriever(Retriever):
    """Linear attention with the delta rule: the fast weights S replace what a key recalls by its new value.

    A linear layer of `[x, h]` gives a query q, a key k, a value v, a rate b and an input z of the hidden units;
    `S += b (v - S k) k`, and `h = tanh(z + V S q)`. Queries and keys pass a SiLU and have length 1; 0 < b < 1.
    """

    def __init__(self, n_embedded: int, n_hidden: int, n_keys: int) -> None:
        super().__init__(n_embedded, n_hidden)
        self.parts = (n_hidden, n_keys, n_keys, n_keys, 1)
        self.cells = nn.Linear(n_embedded + n_hidden, sum(self.parts))
        self.recalled = nn.Linear(n_keys, n_hidden, bias=False)

    def last(self, embedded: Tensor) -> Tensor:
        """The hidden units after the last character, (strings, n_hidden)."""
        count, n_keys = embedded.shape[1], self.parts[1]
        hidden, fast = embedded.new_zeros(count, self.n_hidden), embedded.new_zeros(count, n_keys, n_keys)
        for x in embedded:
            z, query, key, value, rate = self.cells(torch.cat([x, hidden], dim=-1)).split(self.parts, dim=-1)
            query, key = (functional.normalize(functional.silu(one), dim=-1).unsqueeze(-1) for one in (query, key))
            missing = rate.sigmoid() * (value - (fast @ key).squeeze(-1))
            fast = torch.baddbmm(fast, missing.unsqueeze(-1), key.mT)
            hidden = torch.tanh(z + self.recalled((fast @ query).squeeze(-1)))
        return hidden


@dataclass(frozen=True, kw_only=True)
class Lessons:
    """How a network learns the task.

    Parameters
    ----------
    steps : int
        Steps of Adam; gradients are scaled to a length of at most 1.
    strings : int
        In each step, all of one length.
    pairs : tuple[int, ...]
        Numbers of keys in a string; each step draws one of them.
    learning_rate : float
        Of Adam.
    every : int
        Steps between two tests of the network.
    tests : int
        Strings of each test and number of pairs.
    """

    steps: int = 2000
    strings: int = 64
    pairs: tuple[int, ...] = (3, 4, 5, 6, 7, 8, 9, 10)
    learning_rate: float = 3e-3
    every: int = 250
    tests: int = 250

    def __post_init__(self) -> None:
        check.sizes(self, steps=1, strings=1, every=1, tests=1)
        for one in self.pairs:
            check.integer("Lessons.pairs", one, low=1, high=MOST_PAIRS)
        check.real("Lessons.learning_rate", self.learning_rate, above=0)


def learn(network: Retriever, lessons: Lessons, *, seed: int, tests_seed: int) -> NDArray[np.float64]:
    """Train a network in place; its accuracy on strings that it was not trained on, (tests, numbers of pairs)."""
    rng = np.random.default_rng(seed)
    optimiser = torch.optim.Adam(network.parameters(), lr=lessons.learning_rate)
    found = []
    with one_thread(), seeded(seed):
        for number in range(1, lessons.steps + 1):
            characters, wanted = strings(rng, lessons.strings, int(rng.choice(lessons.pairs)))
            loss = functional.cross_entropy(network.train()(torch.from_numpy(characters)), torch.from_numpy(wanted))
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            if number % lessons.every == 0:
                found.append(accuracy(network, lessons, tests_seed))
    return np.array(found)


@torch.no_grad()
def accuracy(network: Retriever, lessons: Lessons, seed: int) -> list[float]:
    """The share of digits that are right, for each number of pairs."""
    network.eval()
    rng, found = np.random.default_rng(seed), []
    for pairs in lessons.pairs:
        characters, wanted = strings(rng, lessons.tests, pairs)
        found.append(float((network(torch.from_numpy(characters)).argmax(dim=-1).numpy() == wanted).mean()))
    return found
