"""One protocol for every streaming model of the library: `step`, `track`, `reset`, `relax`, and what they promise.

A subject is a model and a stream that it can follow. Adaptation methods are found by walking their package; every other
model has a function below that makes it.
"""

import copy
import functools
import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from springback import adaptation
from springback.extras import is_installed
from springback.loading import load_model

CLASSES = 4
WIDTH = 7
LONG = 1_000_000


@dataclass(frozen=True)
class Subject:
    """A model to test.

    Parameters
    ----------
    make : Callable[[], Any]
        A new model at rest; two of them are the same.
    rows : np.ndarray
        A stream for it, (T, n).
    exact : bool
        Whether splitting a stream changes no bit of the answers; otherwise they agree to rounding.
    stamped : bool
        Whether `step` and `track` take time stamps.
    relaxes : bool
        Whether the model has a notion of time, so that it is at rest again after a long silence.
    refuses_nan : bool
        Whether rows with NaN are refused; otherwise they only let time pass.
    draws : bool
        Whether answers are drawn at random, by the number of the frame, so that equal states at different places of a
        stream do not give equal answers.
    """

    name: str
    make: Callable[[], Any]
    rows: np.ndarray
    exact: bool = True
    stamped: bool = True
    relaxes: bool = True
    refuses_nan: bool = True
    draws: bool = False

    def same(self, one: Any, other: Any) -> bool:
        return np.array_equal(one, other) if self.exact else self.close(one, other)

    @staticmethod
    def close(one: Any, other: Any) -> bool:
        return np.allclose(one, other, rtol=1e-4, atol=1e-5)

    def moved(self, steps: int = 5) -> Any:
        """A model that has seen the first rows."""
        model = self.make()
        for row in self.rows[:steps]:
            model.step(row)
        return model


def adaptation_classes() -> list[type[adaptation.StreamClassifier]]:
    """Every method in the package, exported or not."""
    found = set()
    for module in pkgutil.walk_packages(adaptation.__path__, "springback.adaptation.", onerror=lambda _: None):
        if ".networks" in module.name and not is_installed("torch"):
            continue
        for _, one in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(one, adaptation.StreamClassifier) and not inspect.isabstract(one):
                found.add(one)
    return sorted(found, key=lambda one: one.__name__)


def adaptation_subject(method: type[adaptation.StreamClassifier]) -> Subject:
    rng = np.random.default_rng(0)
    if issubclass(method, adaptation.HeadClassifier):
        weight, bias = rng.normal(size=(CLASSES, WIDTH)), rng.normal(size=CLASSES)
        make, rows = functools.partial(method, weight, bias), rng.random((30, WIDTH))
    elif ".networks." in method.__module__:
        make, rows = functools.partial(network_method, method), rng.normal(size=(30, WIDTH, 5)).astype(np.float32)
    else:
        make, rows = functools.partial(method, CLASSES), rng.normal(size=(30, CLASSES))
    relaxes = method._relax is not adaptation.StreamClassifier._relax
    return Subject(method.__name__, make, rows, relaxes=relaxes)


def network_method(method: type[adaptation.StreamClassifier], **settings: Any) -> adaptation.StreamClassifier:
    """A method that adapts a network, with a small network that has batch and group normalisation."""
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = torch.nn.Sequential(
            torch.nn.Conv1d(WIDTH, 6, 3),
            torch.nn.BatchNorm1d(6),
            torch.nn.ReLU(),
            torch.nn.GroupNorm(2, 6),
            torch.nn.Flatten(),
            torch.nn.Linear(18, CLASSES),
        )
    short = {"Note": {"n_memory": 4}, "Roid": {"window": 4}}.get(method.__name__, {})
    return method(network, (WIDTH, 5), **{"learning_rate": 0.01, **short, **settings})


def directions(rows: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Noisy rows around `CLASSES` directions, and which direction each belongs to."""
    rng = np.random.default_rng(1)
    labels = np.arange(rows) % CLASSES
    return np.abs(rng.normal(size=(CLASSES, WIDTH)))[labels] + 0.2 * rng.random((rows, WIDTH)), labels


@functools.cache
def fitted_clustering() -> Any:
    from springback.elastic import ElasticClustering

    model = ElasticClustering(n_clusters=CLASSES, kappa=20.0, pull=2.0, memory=2.0, random_state=0)
    return model.fit(directions()[0])


@functools.cache
def fitted_classifier() -> Any:
    from springback.elastic import ElasticClassifier, ElasticClustering

    clustering = ElasticClustering(n_clusters=CLASSES, kappa=20.0, pull=2.0, memory=2.0, random_state=0)
    return ElasticClassifier(clustering).fit(*directions())


class ElasticNetwork:
    """An elasticized PyTorch model as a classifier of one stream, by the functions of `springback.layers`."""

    def __init__(self) -> None:
        import torch

        from springback import layers

        torch.manual_seed(0)
        network = torch.nn.Sequential(torch.nn.Linear(WIDTH, 6), torch.nn.ReLU(), torch.nn.Linear(6, CLASSES))
        self.network = layers.elasticize(network, layers.Springs(pull=2.0, memory=2.0))
        layers.reset(self.network, n_streams=1)

    def step(self, x: np.ndarray, time: Any = None) -> np.ndarray:
        import torch

        from springback import layers

        return np.asarray(layers.step(self.network, torch.from_numpy(x).float()[None], time).softmax(dim=-1)[0])

    def track(self, X: np.ndarray, times: Any = None) -> np.ndarray:
        import torch

        from springback import layers

        frames = torch.from_numpy(X).float()[:, None]
        return np.asarray(layers.track(self.network, frames, times).softmax(dim=-1)[:, 0])

    def reset(self) -> None:
        from springback import layers

        layers.reset(self.network, n_streams=1)

    def relax(self, elapsed: float) -> None:
        from springback import layers

        layers.relax(self.network, elapsed)


def elastic_heads() -> list[Subject]:
    """The scale of an observer is given, because a measured one outlasts a silence."""
    from springback.heads import ElasticHead, Observer, Scale, Springs

    settings = {"springs": Springs(pull=2.0, memory=2.0), "observer": Observer(), "classes": Observer(kappa=0.0)}
    rng = np.random.default_rng(0)
    weight, bias, rows = rng.normal(size=(CLASSES, WIDTH)), rng.normal(size=CLASSES), rng.random((30, WIDTH))
    return [
        Subject(f"ElasticHead, {name}", functools.partial(ElasticHead, weight, bias, one, scale=Scale(3.0, 0.5)), rows)
        for name, one in settings.items()
    ]


@functools.cache
def fitted_linear(piped: bool) -> Any:
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from springback.heads import ElasticLinearClassifier, Observer

    rows, labels = directions()
    names = np.array(["north", "east", "south", "west"])[labels]
    estimator = make_pipeline(StandardScaler(), PCA(3), LogisticRegression()) if piped else LogisticRegression()
    return ElasticLinearClassifier.of(estimator.fit(rows, names), Observer(continuity=0.0), rows=rows)


@functools.cache
def fitted_pipeline() -> Any:
    from sklearn.preprocessing import MaxAbsScaler

    from springback.elastic import ElasticClassifier, ElasticClustering
    from springback.stream_pipeline import StreamPipeline

    clustering = ElasticClustering(n_clusters=CLASSES, kappa=20.0, pull=2.0, memory=2.0, random_state=0)
    steps = [("scale", MaxAbsScaler()), ("model", ElasticClassifier(clustering))]
    return StreamPipeline(steps).fit(*directions())


def copied_linear(piped: bool) -> Any:
    return copy.deepcopy(fitted_linear(piped))


@functools.cache
def exported_file() -> Any:
    """A folder with an exported network; it lasts as long as the tests."""
    import tempfile

    import torch

    from springback import layers

    torch.manual_seed(0)
    folder = tempfile.TemporaryDirectory()
    model = layers.elasticize(torch.nn.Linear(WIDTH, CLASSES), layers.Springs(pull=2.0, memory=2.0))
    layers.export_onnx(model, f"{folder.name}/model.onnx")
    return folder


def onnx_stream() -> Any:
    from springback.onnx import OnnxStream

    return OnnxStream(f"{exported_file().name}/model.onnx", threads=1)


@functools.cache
def fitted_spiking() -> Any:
    from springback.spiking import SpikingClassifier

    return SpikingClassifier(n_neurons=20).fit(*shown_digits())


def shown_digits() -> tuple[np.ndarray, np.ndarray]:
    from springback.pretrained import shipped_digits

    digits = shipped_digits()[:40]
    return digits.pixels, digits.labels


def subjects() -> list[Any]:
    """All models, each a parameter of its own; what needs PyTorch is left out where it is missing."""
    rows, _ = directions(30)
    others = [
        Subject("ElasticClustering", lambda: copy.deepcopy(fitted_clustering()), rows),
        Subject("ElasticClassifier", lambda: copy.deepcopy(fitted_classifier()), rows, exact=False),
        *elastic_heads(),
        *(
            Subject(f"ElasticLinearClassifier, {name}", functools.partial(copied_linear, piped), rows, exact=False)
            for name, piped in (("alone", False), ("pipeline", True))
        ),
        Subject("StreamPipeline", lambda: copy.deepcopy(fitted_pipeline()), rows, exact=False),
        Subject("ElasticNetwork", ElasticNetwork, rows, exact=False, refuses_nan=False),
        Subject("OnnxStream", onnx_stream, rows),
        Subject("SpikingClassifier", lambda: copy.deepcopy(fitted_spiking()), shown_digits()[0][:10], draws=True),
    ]
    needs = {"ElasticNetwork": ["torch"], "OnnxStream": ["torch", "onnx", "onnxscript", "onnxruntime"]}
    others = [one for one in others if all(map(is_installed, needs.get(one.name, [])))]
    return [pytest.param(one, id=one.name) for one in [*map(adaptation_subject, adaptation_classes()), *others]]


@pytest.fixture(params=subjects())
def subject(request: pytest.FixtureRequest) -> Subject:
    return request.param


def test_every_method_of_adaptation_is_found_and_exported():
    exported = set(adaptation.__all__)
    if is_installed("torch"):
        exported |= set(importlib.import_module("springback.adaptation.networks").__all__)
    assert {one.__name__ for one in adaptation_classes()} <= exported
    assert len(adaptation_classes()) >= 4


def test_answers_are_probabilities(subject):
    model, rows = subject.make(), subject.rows
    tracked, stepped = model.track(rows), model.step(rows[0])
    assert tracked.ndim == 2
    assert len(tracked) == len(rows)
    assert stepped.shape == tracked.shape[1:]
    for answers in (tracked, stepped):
        assert np.isfinite(answers).all()
        assert (answers >= 0).all()
        assert np.allclose(answers.sum(axis=-1), 1, atol=1e-5)


def test_labels_are_the_most_probable_classes(subject):
    model = subject.make()
    if not hasattr(model, "track_labels"):
        pytest.skip("this model has no labels")
    best = model.track(subject.rows).argmax(axis=1)
    assert np.array_equal(model.track_labels(subject.rows), getattr(model, "classes_", np.arange(LONG))[best])


def test_track_leaves_the_model_as_it_was(subject):
    model, untouched = subject.moved(), subject.moved()
    first = model.track(subject.rows)
    assert np.array_equal(model.track(subject.rows), first)
    assert np.array_equal(model.step(subject.rows[0]), untouched.step(subject.rows[0]))


def test_the_stream_moves_the_model(subject):
    moved, still = subject.moved(), subject.make()
    assert any(
        not np.array_equal(moved.track(rows), still.track(rows)) for rows in (subject.rows[n:] for n in range(9))
    )


def test_steps_one_by_one_are_the_tracked_stream(subject):
    model = subject.make()
    assert subject.same([model.step(row) for row in subject.rows], subject.make().track(subject.rows))


def test_a_stream_may_be_split_anywhere(subject):
    whole = subject.make().track(subject.rows)
    for steps in (1, 4, len(subject.rows) - 1):
        assert subject.same(subject.moved(steps).track(subject.rows[steps:]), whole[steps:])


def test_after_a_reset_the_model_is_as_new(subject):
    model = subject.moved()
    model.reset()
    assert np.array_equal(model.track(subject.rows), subject.make().track(subject.rows))


def test_no_time_changes_nothing(subject):
    model = subject.moved()
    model.relax(0)
    assert np.array_equal(model.track(subject.rows), subject.moved().track(subject.rows))


def test_a_long_silence_is_a_reset_if_the_model_has_a_notion_of_time(subject):
    model = subject.moved()
    model.relax(LONG)
    if subject.draws:
        assert not model.short_term_.any()
        return
    rested = (subject.make() if subject.relaxes else subject.moved()).track(subject.rows)
    assert subject.close(model.track(subject.rows), rested)


def test_silences_add_up(subject):
    twice, once = subject.moved(), subject.moved()
    twice.relax(2)
    twice.relax(3)
    once.relax(5)
    assert subject.close(twice.track(subject.rows), once.track(subject.rows))


def test_time_must_be_given_and_cannot_run_backwards_in_relax(subject):
    model = subject.moved()
    with pytest.raises(TypeError):
        model.relax()
    for wrong in (-1, np.nan):
        with pytest.raises(ValueError, match="elapsed must be"):
            model.relax(wrong)
    assert np.array_equal(model.track(subject.rows), subject.moved().track(subject.rows))


def test_time_stamps_one_step_apart_are_no_time_stamps(stamped):
    times = 3.0 + np.arange(len(stamped.rows))
    whole = stamped.make().track(stamped.rows)
    assert stamped.close(stamped.make().track(stamped.rows, times), whole)
    model = stamped.make()
    assert stamped.close([model.step(row, time) for row, time in zip(stamped.rows, times, strict=True)], whole)


def test_a_gap_between_time_stamps_is_a_silence(stamped):
    rows = stamped.rows
    gap, silence = stamped.moved(), stamped.moved()
    silence.relax(4)
    assert stamped.close(gap.track(rows, 9 + np.arange(len(rows))), silence.track(rows))
    assert stamped.close(gap.step(rows[0], 9), silence.step(rows[0]))
    assert stamped.close(gap.track(rows), silence.track(rows))


def test_time_stamps_that_run_backwards_are_refused_and_nothing_moves(stamped):
    model, rows = stamped.moved(), stamped.rows
    with pytest.raises(ValueError, match=r"^time must be >= 4, the time of the last frame; got [^\n]*$"):
        model.step(rows[0], 1)
    with pytest.raises(ValueError, match=r"^times must.* backwards.*; got [^\n]*$"):
        model.track(rows[:3], [7, 9, 8])
    assert np.array_equal(model.track(rows), stamped.moved().track(rows))


def test_there_is_one_time_stamp_for_each_row(stamped):
    model = stamped.moved()
    with pytest.raises(ValueError, match="times must"):
        model.track(stamped.rows[:3], [7, 8])
    assert np.array_equal(model.track(stamped.rows), stamped.moved().track(stamped.rows))


@pytest.fixture
def stamped(subject: Subject) -> Subject:
    if not subject.stamped:
        pytest.skip("this model takes no time stamps")
    return subject


def test_rows_with_nan_are_refused_or_only_let_time_pass(subject):
    if subject.rows.dtype.kind != "f":
        pytest.skip("the rows of this model are whole numbers")
    broken = subject.rows.copy()
    broken[3, 2] = np.nan
    model, other = subject.moved(), subject.moved()
    if subject.refuses_nan:
        for call in (lambda: model.step(broken[3]), lambda: model.track(broken)):
            with pytest.raises(ValueError, match="finite"):
                call()
    else:
        model.step(broken[3])
        other.relax(1)
    assert subject.close(model.track(subject.rows), other.track(subject.rows))


def test_rows_of_another_width_are_refused_and_nothing_moves(subject):
    model = subject.moved()
    for call in (lambda: model.step(subject.rows[0, :-1]), lambda: model.track(subject.rows[:, :-1])):
        with pytest.raises((ValueError, TypeError, RuntimeError)):  # the last is PyTorch's own
            call()
    assert np.array_equal(model.track(subject.rows), subject.moved().track(subject.rows))


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_continues_as_the_model_would_and_apart_from_it(subject, duplicate):
    model = subject.moved()
    other = duplicate(model)
    expected = model.track(subject.rows)
    assert np.array_equal(other.track(subject.rows), expected)
    for row in subject.rows[:3]:
        other.step(row)
    assert np.array_equal(model.track(subject.rows), expected)


def test_a_saved_model_continues_where_it_was(subject, tmp_path):
    model, path = subject.moved(), tmp_path / "model.safetensors"
    if not hasattr(model, "save"):
        pytest.skip("this model has no files")
    model.save(path)
    loaded = load_model(path)
    assert type(loaded) is type(model)
    for name in ("track", "track_labels"):
        if hasattr(model, name):
            assert np.array_equal(getattr(loaded, name)(subject.rows), getattr(model, name)(subject.rows))
    assert np.array_equal(loaded.step(subject.rows[0]), model.step(subject.rows[0]))
    assert np.array_equal(loaded.reset().track(subject.rows), subject.make().track(subject.rows))


def test_a_state_as_bytes_is_that_of_the_stream_and_is_refused_if_it_has_changed(subject):
    model, other = subject.moved(), subject.make()
    if not hasattr(model, "get_state"):
        pytest.skip("this model has no state as bytes")
    state = model.get_state()
    assert np.array_equal(other.set_state(state).track(subject.rows), model.track(subject.rows))
    model.step(subject.rows[0])
    assert np.array_equal(other.track(subject.rows), subject.moved().track(subject.rows))
    assert subject.moved().get_state() == state
    changed = bytearray(state)
    changed[-9] ^= 1
    for wrong in (bytes(changed), state[:-1], state + b"x", b"", other.reset().get_state()[:-20]):
        with pytest.raises(ValueError, match=r"^state must"):
            other.set_state(wrong)
    with pytest.raises(TypeError, match="must be bytes from get_state"):
        other.set_state("state")
    assert np.array_equal(other.track(subject.rows), subject.make().track(subject.rows))


def test_two_models_do_not_disturb_each_other(subject):
    one, other = subject.make(), subject.moved()
    answers = []
    for row in subject.rows:
        answers.append(one.step(row))
        other.step(subject.rows[0])
    assert subject.same(answers, subject.make().track(subject.rows))


def test_the_input_is_not_written_to(subject):
    rows, model = subject.rows.copy(), subject.make()
    model.track(rows)
    for row in rows:
        model.step(row)
    assert np.array_equal(rows, subject.rows)
