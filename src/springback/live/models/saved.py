"""Models that `save` wrote: they take rows of features."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.check import DataError
from springback.live.frames import FrameError
from springback.live.models.follower import Follower, ModelKind, ModelOptions
from springback.live.preparation import Rows
from springback.loading import load_model
from springback.records import Followed


class SavedFollower(Follower):
    """A classifier that takes rows: an `ElasticHead`, an `ElasticClassifier`, or an estimator with an elastic head.

    Parameters
    ----------
    model : Any
        Has `track_response`, `get_state` and `set_state`.
    name : str
        For messages.
    classes : tuple[Any, ...] | None
        Names of the classes; None: those of the model, or else numbers.
    """

    def __init__(self, model: Any, name: str, classes: tuple[Any, ...] | None = None) -> None:
        self.model, self.name = model, name
        own = getattr(model, "classes_", None)
        count = len(own) if own is not None else int(model.n_classes)
        self.classes = tuple(range(count) if own is None else np.asarray(own).tolist())
        if classes is not None:
            if len(classes) != count:
                raise DataError(f"--classes must name the {count} classes of {name}; got {len(classes)}")
            self.classes = classes
        width = getattr(model, "n_features_in_", None)
        self.n_features = int(model.n_inputs if width is None else width)
        names = getattr(model, "feature_names_in_", None)
        self.feature_names = None if names is None else tuple(map(str, names))
        self.preparation = Rows(shape=(self.n_features,))
        self.memory = _memory_of(model)

    def answer(self, inputs: NDArray[Any], times: NDArray[np.float64] | None) -> Followed:
        """The answers to the next rows."""
        with warnings.catch_warnings():  # the source has put the columns in the order of the names
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            try:
                found: Followed = self.model.track_response(inputs, times, in_place=True)
            except ValueError as error:
                raise FrameError(str(error)) from error
        return found

    def get_state(self) -> bytes:
        """What the model remembers of its stream."""
        found: bytes = self.model.get_state()
        return found

    def set_state(self, content: bytes) -> None:
        """Continue from a state."""
        self.model.set_state(content)

    def labels(self, followed: Followed) -> list[Any]:
        """The answer to every row; the model's `novel_label` for a novel one."""
        named = [self.classes[one] for one in followed.posterior.argmax(axis=1)]
        novel = self._novel()
        if novel is None:
            return named
        new = (1 - followed.novelty < float(_last_step(self.model).clustering_.novelty_)).tolist()
        return [novel if is_new else name for is_new, name in zip(new, named, strict=True)]

    @property
    def answerable(self) -> tuple[Any, ...]:
        """The classes, and the model's `novel_label`."""
        novel = self._novel()
        return self.classes if novel is None else (*self.classes, novel)

    def _novel(self) -> Any:
        model = _last_step(self.model)
        novel = getattr(model, "novel_label", None)
        if novel is None or model.clustering_.novelty_ is None:
            return None
        return novel.item() if isinstance(novel, np.generic) else novel


def _last_step(model: Any) -> Any:
    """The elastic model at the end of a pipeline; of anything else, itself."""
    return model.steps[-1][1] if hasattr(model, "steps") else model


def _memory_of(model: Any) -> float | None:
    model = _last_step(model)
    clustering = getattr(model, "clustering_", None)
    if clustering is None:
        return float((model.settings_ if hasattr(model, "settings_") else model.settings).memory)
    params = clustering.model_.params
    return float(params.memory) if params.kernel is None else None


def open_saved(path: Path, options: ModelOptions) -> Follower:
    """The model in a file."""
    model = load_model(path)
    if options.preparation:
        given = ", ".join(options.preparation)
        raise DataError(f"{path} takes rows of features, so {given} cannot be used")
    if not (hasattr(model, "classes_") or hasattr(model, "n_classes")):
        raise DataError(f"{path} has clusters without names; fit an ElasticClassifier, which names them by labels")
    if not hasattr(model, "track_response"):
        raise DataError(f"{path} holds a circuit of spiking neurons; follow its videos with springback stream")
    return SavedFollower(model, str(path), options.classes)


MODEL = ModelKind(name="saved model", suffixes=(".safetensors",), open=open_saved)
