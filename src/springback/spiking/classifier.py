"""`SpikingClassifier`: the spiking circuit as an estimator that learns from still images and follows a stream."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from springback import check
from springback.files.container import usable
from springback.files.models import pack_state, unpack_state
from springback.spiking import fitting, stream
from springback.spiking.fitting import OnProgress, ignore_progress
from springback.spiking.inference import Counts, flat_frames, respond
from springback.spiking.model import SpikingModel
from springback.spiking.model_file import load_with_state, save_spiking_model
from springback.spiking.monitors.recorder import Recorder
from springback.spiking.presets import Preset, preset_for
from springback.spiking.recorded_runs import short_term_of
from springback.spiking.training import resume_training
from springback.spiking.weights import Floats
from springback.streaming import readout
from springback.streaming.one_at_a_time import one_at_a_time
from springback.streaming.records import Followed, Images
from springback.streaming.stream_model import StreamModel
from springback.streaming.time_stamps import time_of_frame


class SpikingClassifier(ClassifierMixin, StreamModel, BaseEstimator):
    """A winner-take-all circuit of spiking neurons: learns by long-term STDP, follows a stream by short-term STDP.

    `fit` shows it still images, each once and without labels; afterwards the labels name the neurons. `predict`
    recognises still images with the network frozen and at rest. `step` and `track` show it the frames of a stream,
    which pull the synapses of the neurons that answer; between frames the synapses spring back.

    Images and frames are uint8, brightness 0 ... 255, of any shape (n, ...). Labels are whole numbers or strings. A
    saved model contains all its parameters, including those of the stream, so it runs in the same way after loading.

    Parameters
    ----------
    n_neurons : int | None
        Number of excitatory neurons; None: 400, or the number of the preset.
    preset : str | Preset
        "springback-2026", "moraitis-2020", "diehl-cook-2015", or your own set of parameters.
    adapts : bool
        Whether short-term STDP is on in a stream; False: the weights are static.
    random_state : int
        Seed of training and of the input spikes; results are bit-identical for a given seed and machine.
    workers : int
        Number of threads for still images; the result does not depend on it.

    Attributes
    ----------
    model_ : SpikingModel
        The trained network and all its parameters.
    place_ : Place
        The position in the stream.
    classes_ : NDArray[Any]
        The classes, sorted.

    Examples
    --------
    >>> from springback.data.pretrained import shipped_digits, shipped_spiking
    >>> digits = shipped_digits()
    >>> classifier = SpikingClassifier.of(shipped_spiking())
    >>> classifier.predict(digits.pixels[:50:10])
    array([0, 1, 2, 3, 4])
    >>> classifier.step(digits.pixels[70]).argmax()
    np.int64(7)
    """

    model_: SpikingModel
    place_: stream.Place

    def __init__(
        self,
        n_neurons: int | None = None,
        *,
        preset: str | Preset = "springback-2026",
        adapts: bool = True,
        random_state: int = 0,
        workers: int = 1,
    ) -> None:
        self.n_neurons = n_neurons
        self.preset = preset
        self.adapts = adapts
        self.random_state = random_state
        self.workers = workers

    @classmethod
    def of(cls, model: SpikingModel, *, adapts: bool = True, workers: int = 1) -> Self:
        """The classifier of a trained model, at rest.

        Examples
        --------
        >>> from springback.data.pretrained import shipped_spiking
        >>> SpikingClassifier.of(shipped_spiking()).preset.name
        'springback-2026'
        """
        classifier = cls(preset=model.preset, adapts=adapts, random_state=model.seed, workers=workers)
        classifier.model_ = model
        return classifier.reset()

    @classmethod
    def load(cls, path: str | Path, *, adapts: bool | None = None, workers: int = 1) -> Self:
        """The classifier of a model file, in the state in which it was saved.

        Parameters
        ----------
        adapts : bool | None
            Whether short-term STDP is on; None: as it was when the file was saved. If it was different then, the
            stream begins at rest.
        """
        model, state = load_with_state(Path(path))
        adapted = any(name.startswith("short_term.") for name in state) or not state
        found = cls.of(model, adapts=adapted if adapts is None else adapts, workers=workers)
        if state and found.adapts == adapted:
            found.place_ = usable(path, "model", lambda: stream.place_from(model, state, adapts=adapted))
        return found

    @one_at_a_time
    def save(self, path: str | Path) -> None:
        """Write the model and the state of its stream; a file that it replaces is kept as `NAME.previous`."""
        check_is_fitted(self)
        save_spiking_model(self.model_, Path(path), state=stream.place_arrays(self.place_))

    @one_at_a_time
    def get_state(self) -> bytes:
        """The position in the stream as bytes, for a store or another process."""
        check_is_fitted(self)
        return pack_state(type(self).__name__, stream.place_arrays(self.place_))

    @one_at_a_time
    def set_state(self, state: bytes) -> Self:
        """Continue from a position that `get_state` returned, of this model or of one with the same sizes."""
        check_is_fitted(self)
        arrays = unpack_state(type(self).__name__, state, stream.place_arrays(self.place_))
        self.place_ = stream.place_from(self.model_, arrays, adapts=self.place_.state.short_term is not None)
        return self

    @one_at_a_time
    def fit(
        self,
        X: NDArray[np.uint8],
        y: Any,
        *,
        classes: Any = None,
        data: str = "unnamed",
        checkpoint: str | Path | None = None,
        on_progress: OnProgress = ignore_progress,
        recorder: Recorder | None = None,
    ) -> Self:
        """Learn from images X (n, ...), each once; then name every neuron by the labels y it responds to most.

        Parameters
        ----------
        classes : Any
            All classes; None: those that occur in y.
        data : str
            A name for the images; it is stored with the model.
        checkpoint : str | Path | None
            Where to store unfinished training; if `fit` is called again after an interruption, it resumes from there.
        on_progress : OnProgress
            Called with the number of images just processed and an estimate of the accuracy.
        recorder : Recorder | None
            Records the training.
        """
        images = _images(X, y)
        self.model_ = fitting.train_model(
            images,
            self._preset(images),
            classes=readout.classes_in(images.labels if classes is None else classes),
            seed=self._seed(),
            data=data,
            checkpoint=None if checkpoint is None else Path(checkpoint),
            on_progress=on_progress,
            workers=self.workers,
            recorder=recorder,
        )
        stream.warn_if_it_will_be_silent(self.model_, images.pixels)
        return self.reset()

    @one_at_a_time
    def partial_fit(
        self, X: NDArray[np.uint8], y: Any, *, classes: Any = None, recorder: Recorder | None = None
    ) -> Self:
        """Learn from more images, in the given order, and label the neurons again by their responses to these.

        Each call starts with the circuit at rest, so a model that was saved and loaded continues to learn exactly as
        the original would. On a new classifier this is `fit` without shuffling.
        """
        images = _images(X, y)
        if hasattr(self, "model_"):
            model = self.model_
        else:
            preset = replace(self._preset(images), shuffled=False)
            known = readout.classes_in(images.labels if classes is None else classes)
            model = fitting.untrained_model(preset, known, seed=self._seed())
        preset = model.preset
        readout.class_sizes(images.labels, model.classes)
        state = resume_training(model.weights, preset.circuit, n_seen=model.n_seen)
        state = fitting.learn_images(state, images, preset, model.classes, seed=model.seed, recorder=recorder)
        weights = fitting.weights_after(state, preset)
        self.model_ = fitting.label_model(
            replace(model, weights=weights, n_seen=state.n_seen), images, workers=self.workers
        )
        return self.reset()

    def predict(self, X: NDArray[np.uint8]) -> NDArray[Any]:
        """The class of each still image (n, ...); `readout.no_answer` of the classes if no labelled neuron fired."""
        return self._labels(self._respond(X))

    def predict_proba(self, X: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Shares of the classes in the response to each still image, (n, classes); equal if no neuron fired."""
        return self._shares(self._respond(X))

    def track(
        self, X: NDArray[np.uint8], times: Any = None, *, recorder: Recorder | None = None
    ) -> NDArray[np.float64]:
        """Shares of the classes in the response to each frame of a stream, (n, classes), on a copy of the state.

        Parameters
        ----------
        times : Any
            When each frame begins: numbers count frame durations (350 ms by default), dates and durations are
            converted; one frame apart if not given. In a gap the circuit sees nothing.
        recorder : Recorder | None
            Receives the spikes and what its monitors watch.
        """
        return self._shares(self.track_counts(X, times, recorder=recorder))

    def track_labels(
        self, X: NDArray[np.uint8], times: Any = None, *, recorder: Recorder | None = None
    ) -> NDArray[Any]:
        """The class of each frame of a stream, on a copy of the state."""
        return self._labels(self.track_counts(X, times, recorder=recorder))

    @one_at_a_time
    def track_counts(self, X: NDArray[np.uint8], times: Any = None, *, recorder: Recorder | None = None) -> Counts:
        """Output spikes of every neuron to each frame of a stream, (n, n_neurons), on a copy of the state."""
        check_is_fitted(self)
        return stream.follow(self.model_, self.place_, X, times, seed=self._seed(), recorder=recorder)[1]

    @one_at_a_time
    def track_response(self, X: NDArray[np.uint8], times: Any = None, *, in_place: bool = False) -> Followed:
        """`track` with the output spikes as `output`; a circuit follows with or without memory, not both at once.

        Parameters
        ----------
        in_place : bool
            Move the circuit itself instead of a copy of its state.
        """
        check_is_fitted(self)
        place, counts = stream.follow(self.model_, self.place_, X, times, seed=self._seed())
        if in_place:
            self.place_ = place
        shares = self._shares(counts)
        return Followed(shares, np.full(shares.shape, np.nan), np.full(len(shares), np.nan), counts)

    def labels_of(self, followed: Followed) -> NDArray[Any]:
        """The class of every answer; `readout.no_answer` of the classes if no labelled neuron fired."""
        return self._labels(np.asarray(followed.output))

    @property
    def possible_labels_(self) -> tuple[Any, ...]:
        """The classes, and `readout.no_answer` of them."""
        return (*super().possible_labels_, readout.no_answer(self.classes_))

    @one_at_a_time
    def step(self, x: NDArray[np.uint8], time: Any = None, *, recorder: Recorder | None = None) -> NDArray[np.float64]:
        """Show the next frame of the stream: shares of the classes in the response to it, (classes,)."""
        check_is_fitted(self)
        frame = np.asarray(x)[None]
        frame_s = self.model_.preset.streaming.show_ms / 1000
        given = None if time is None else stream.in_frames("time", time, frame_s)
        times = time_of_frame(self.place_.clock, given)
        self.place_, counts = stream.follow(
            self.model_, self.place_, frame, times, seed=self._seed(), recorder=recorder
        )
        return np.asarray(self._shares(counts)[0])

    @one_at_a_time
    def relax(self, elapsed: float, *, recorder: Recorder | None = None) -> Self:
        """Let `elapsed` frame durations pass in which the circuit sees nothing."""
        check_is_fitted(self)
        state, clock = self.place_
        elapsed = check.real("elapsed", elapsed, low=0)
        self.place_ = stream.Place(stream.pass_silence(self.model_, state, elapsed, recorder), clock + elapsed)
        return self

    @one_at_a_time
    def reset(self) -> Self:
        """Return the circuit and its synapses to rest, at the beginning of a stream."""
        check_is_fitted(self, "model_")
        self.place_ = stream.place_at_rest(self.model_, adapts=self.adapts)
        return self

    @property
    def classes_(self) -> NDArray[Any]:  # type: ignore[override]
        """The classes, sorted."""
        return self.model_.classes

    @property
    def n_features_in_(self) -> int:  # type: ignore[override]
        """Number of pixels of a frame."""
        return self.model_.preset.circuit.n_inputs

    @property
    def frame_dtype_(self) -> np.dtype[Any]:
        """Frames are brightness 0 ... 255."""
        return np.dtype(np.uint8)

    @property
    def memory_(self) -> float | None:
        """Time constant of the short-term memory in frame durations; None if synapses have different ones."""
        memory_ms, preset = self.model_.preset.short_term.memory_ms, self.model_.preset
        return None if isinstance(memory_ms, np.ndarray) else memory_ms / preset.streaming.show_ms

    @property
    def short_term_(self) -> Floats:
        """F: how far every synapse is from its resting weight, (n_inputs, n_neurons)."""
        return short_term_of(self.place_.state, self.model_.preset.circuit)

    @property
    def efficacy_(self) -> Floats:
        """G = W + F: the current efficacy of every synapse, (n_inputs, n_neurons)."""
        return np.asarray(self.model_.weights.resting + self.short_term_)

    def _labels(self, counts: Counts) -> NDArray[Any]:
        return readout.classify(counts, self.model_.neuron_labels, self.model_.classes)

    def _shares(self, counts: Counts) -> NDArray[np.float64]:
        return readout.class_shares(counts, self.model_.neuron_labels, self.model_.classes)

    def _respond(self, X: NDArray[np.uint8]) -> Counts:
        check_is_fitted(self)
        preset = self.model_.preset
        return respond(
            self.model_.weights,
            X,
            circuit=preset.circuit,
            presentation=preset.testing,
            seed=self._seed(),
            workers=self.workers,
        )

    def _seed(self) -> int:
        return check.integer("random_state", self.random_state, low=0, high=2**63 - 1)

    def _preset(self, images: Images) -> Preset:
        """The parameters for these images; a preset of your own is used unchanged.

        A published one by name gets the total drive that it has for digits, unless the images have their size.
        """
        n_inputs = images.pixels[0].size
        if isinstance(self.preset, str):
            n_neurons = check.integer("n_neurons", self.n_neurons or 400, low=1)
            return preset_for(self.preset, images.pixels, n_neurons)
        circuit = self.preset.circuit
        fits = self.n_neurons in (None, circuit.n_neurons)
        check.require(fits, "n_neurons", f"be None or {circuit.n_neurons}, as the preset has it", self.n_neurons)
        must = f"have {circuit.n_inputs} pixels, as the preset's circuit has inputs"
        check.require(n_inputs == circuit.n_inputs, "X", must, n_inputs)
        return self.preset


def _images(X: NDArray[np.uint8], y: Any) -> Images:
    X = np.asarray(X)
    check.require(X.ndim >= 2 and len(X) > 0, "X", "hold at least one image, (n, ...)", X.shape)
    return Images(flat_frames(X, X[0].size)[:, None], y)
