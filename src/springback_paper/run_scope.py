"""How much of the paper to run."""

from dataclasses import dataclass

from springback import check


@dataclass(frozen=True, kw_only=True)
class Scope:
    """How much to run.

    Parameters
    ----------
    full : bool
        Also what takes long: the large network, gradient descent without Adam, every test digit everywhere.
    seeds : tuple[int, ...]
        Every model is run once with each; those that take long only with `few_seeds`.
    limit : int | None
        Use only the first images of each split, for a quick look; None: all.
    neurons : int
        Neurons of the network, and centroids.
    """

    full: bool = False
    seeds: tuple[int, ...] = (0,)
    limit: int | None = None
    neurons: int = 400

    def __post_init__(self) -> None:
        check.require(len(self.seeds) > 0, "Scope.seeds", "have at least one", self.seeds)
        if self.limit is not None:
            check.integer("Scope.limit", self.limit, low=10)
        check.integer("Scope.neurons", self.neurons, low=2)

    @property
    def share(self) -> float:
        """How much of the nominal work a quick look is."""
        return 1.0 if self.limit is None else max(0.02, min(1.0, self.limit / 60_000))

    @property
    def few_seeds(self) -> tuple[int, ...]:
        """The first five seeds, of the networks that take long to train.

        Examples
        --------
        >>> Scope(seeds=tuple(range(10))).few_seeds
        (0, 1, 2, 3, 4)
        """
        return self.seeds[:5]

    @property
    def few_digits(self) -> int:
        """Digits of the videos that figures repeat many times: 100, and 1,000 in a full run.

        Examples
        --------
        >>> Scope().few_digits, Scope(full=True).few_digits, Scope(limit=200).few_digits
        (100, 1000, 10)
        """
        if self.limit is not None:
            return max(5, self.limit // 20)
        return 1000 if self.full else 100

    @property
    def repeats(self) -> tuple[int, ...]:
        """Seeds of the experiments that a figure repeats itself."""
        return (0, 1, 2, 3, 4) if self.limit is None else (0,)

    @property
    def fewest_seeds(self) -> tuple[int, ...]:
        """The first three seeds, of what is costly.

        Examples
        --------
        >>> Scope(seeds=tuple(range(10))).fewest_seeds
        (0, 1, 2)
        """
        return self.seeds[:3]
