"""The paper's CNN as the studio shows it: with an elastic last layer, and as it was trained."""

import numpy as np
from numpy.typing import NDArray

from springback.extras import missing_extra

try:
    import torch
except ImportError:
    raise missing_extra("springback_studio.cnn_pair", "torch") from None

from springback.heads.memories.springs import Springs
from springback.torch import algorithm
from springback_paper.baselines.model_file import set_weights
from springback_paper.baselines.models import Cnn
from springback_studio.controls import Settings
from springback_studio.pair import N_ANSWERS, Floats, Frame, PairAnswer, posterior_events


class CnnPair:
    """One convolutional network whose last layer is pulled in one copy, `springback.torch`, and fixed in the other.

    Examples
    --------
    >>> from springback.data.pretrained import shipped_cnn, shipped_digits
    >>> from springback_studio.controls import defaults_of
    >>> pair = CnnPair(shipped_cnn(), defaults_of("cnn"))
    >>> [answer.predicted for answer in pair.step(shipped_digits().pixels[0])]
    [0, 0]
    """

    map_shape = (20, 20)
    spikes = False
    says = "The paper's CNN; its last layer elastic and frozen. Maps show the 400 features that a class weighs."

    def __init__(self, weights: dict[str, NDArray[np.float32]], settings: Settings) -> None:
        self._model = Cnn().eval()
        set_weights(self._model, weights)
        self._weight = self._model.head.weight.detach()
        self._bias = self._model.head.bias.detach()
        self.unit_labels = np.arange(N_ANSWERS)
        self.set(settings)
        self.restart()

    def set(self, settings: Settings) -> None:
        """Continue with other settings; the short-term state is kept."""
        self._brightness = settings["intensity"] / 255
        self._springs = springs_of(settings)

    def restart(self) -> None:
        """Return to rest."""
        self._state = algorithm.init(self._springs, self._weight, 1)

    @torch.inference_mode()
    def step(self, frame: Frame) -> tuple[PairAnswer, PairAnswer]:
        """Show both the next frame (28, 28)."""
        features = self._features(frame[None])
        _, elastic = algorithm.track(
            self._springs, self._weight, self._bias, self._state, features[None], in_place=True
        )
        return _answer(elastic.output[0, 0]), _answer(self._model.head(features)[0])

    def resting(self, units: NDArray[np.int64]) -> Floats:
        """W of some classes, (n, 400)."""
        return self._weight.numpy()[units]

    def short_term(self, units: NDArray[np.int64]) -> Floats:
        """The current F of some classes, (n, 400)."""
        return algorithm.short_term(self._state)[0].numpy()[units]

    @torch.inference_mode()
    def sensed(self, frames: NDArray[np.uint8]) -> Floats:
        """The features that the last layer receives, (n, 400)."""
        features: Floats = self._features(frames).numpy()
        return features

    def _features(self, frames: NDArray[np.uint8]) -> torch.Tensor:
        return self._model.features(torch.tensor(frames) * self._brightness)


def springs_of(settings: Settings) -> Springs:
    """The sliders as parameters of the elastic layer.

    Examples
    --------
    >>> from springback_studio.controls import defaults_of
    >>> springs_of(defaults_of("cnn")).pull
    20.0
    """
    return Springs(pull=settings["pull"], memory=settings["memory"], weight_dependence=settings["weight_dependence"])


def _answer(logits: torch.Tensor) -> PairAnswer:
    posterior = logits.double().softmax(0).numpy()
    return PairAnswer(posterior, posterior, int(posterior.argmax()), posterior_events(posterior))
