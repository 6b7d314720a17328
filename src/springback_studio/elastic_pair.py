"""Elastic clustering as a pair: with elastic centroids, and with frozen ones."""

import numpy as np
from numpy.typing import NDArray

from springback.data.pretrained import ShippedElastic
from springback.elastic import Elasticity, Exponential, Model, State, init, prepare, short_term, track
from springback.streaming.readout import UNLABELLED
from springback.streaming.records import NOISE_LABEL
from springback_paper.inputs.elastic_omnist import ElasticOmnist, brightness
from springback_studio.controls import Settings
from springback_studio.pair import N_ANSWERS, Floats, Frame, PairAnswer, posterior_events

_PARAMS = ElasticOmnist()
_SURE = 0.5
"""A centroid is assigned to a class if at least this share of the training digits near it belong to that class."""


class ElasticPair:
    """400 centroids, pulled and at rest, with the settings of `springback_paper.tasks.elastic`.

    Examples
    --------
    >>> from springback_studio.controls import defaults_of
    >>> from springback.data.pretrained import shipped_digits, shipped_elastic
    >>> pair = ElasticPair(shipped_elastic(), defaults_of("elastic"))
    >>> [answer.predicted for answer in pair.step(shipped_digits().pixels[0])]
    [0, 0]
    """

    map_shape = (28, 28)
    spikes = False
    says = "400 centroids of digits, the paper's optimal observer; elastic and frozen."

    def __init__(self, shipped: ShippedElastic, settings: Settings) -> None:
        self._shipped = shipped
        shares = shipped.label_shares
        self.unit_labels = np.where(shares.max(axis=1) >= _SURE, shares.argmax(axis=1), UNLABELLED)
        self._at_rest = prepare(Elasticity(kappa=_PARAMS.kappa, pull=0.0), shipped.resting)
        self.set(settings)
        self.restart()

    def set(self, settings: Settings) -> None:
        """Continue with other settings; the short-term state is kept."""
        self._threshold = settings["threshold"]
        elasticity = Elasticity(
            kappa=_PARAMS.kappa,
            pull=settings["pull"],
            beta=_PARAMS.beta,
            kernel=Exponential(memory=settings["memory"]),
            weight_dependence=settings["weight_dependence"],
        )
        self._elastic = prepare(elasticity, self._shipped.resting)

    def restart(self) -> None:
        """Return to rest."""
        self._state, self._static_state = init(self._elastic), init(self._at_rest)

    def step(self, frame: Frame) -> tuple[PairAnswer, PairAnswer]:
        """Show both the next frame (28, 28)."""
        return (
            self._answer(self._elastic, self._state, frame, self._threshold),
            self._answer(self._at_rest, self._static_state, frame, self._shipped.noise_frozen),
        )

    def resting(self, units: NDArray[np.int64]) -> Floats:
        """W of some centroids, (n, 784)."""
        return self._shipped.resting[units]

    def short_term(self, units: NDArray[np.int64]) -> Floats:
        """The current F of some centroids, (n, 784)."""
        return short_term(self._elastic, self._state)[units]

    def sensed(self, frames: NDArray[np.uint8]) -> Floats:
        """The square root of the brightness, (n, 784)."""
        return brightness(frames, _PARAMS.power)

    def _answer(self, model: Model, state: State, frame: Frame, threshold: float) -> PairAnswer:
        _, heard = track(model, state, self.sensed(frame[None]), in_place=True)
        posterior = np.zeros(N_ANSWERS)
        if heard.similarity[0] < threshold:
            posterior[NOISE_LABEL] = 1.0
            return PairAnswer(np.zeros_like(heard.posterior[0]), posterior, NOISE_LABEL, posterior_events(np.zeros(0)))
        posterior[:NOISE_LABEL] = heard.posterior[0] @ self._shipped.label_shares
        posterior /= posterior.sum()
        return PairAnswer(heard.posterior[0], posterior, int(posterior.argmax()), posterior_events(heard.posterior[0]))
