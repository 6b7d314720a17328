"""Every streaming model of the library, each with a stream that it can follow.

Adaptation methods are found by walking their package; every other model has a function below that makes it.
"""

import copy
import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from springback.extras import is_installed
from springback_bench import rivals as adaptation

CLASSES = 4
WIDTH = 7


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
    takes_times, forgets, refuses_nan, draws : bool
        As in `check_stream_model`.
    """

    name: str
    make: Callable[[], Any]
    rows: np.ndarray
    exact: bool = True
    takes_times: bool = True
    forgets: bool = True
    refuses_nan: bool = True
    draws: bool = False

    @property
    def promises(self) -> dict[str, bool]:
        """What `check_stream_model` is told about the model."""
        return {name: getattr(self, name) for name in ("exact", "takes_times", "forgets", "refuses_nan", "draws")}

    def moved(self, steps: int = 5) -> Any:
        """A model that has seen the first rows."""
        model = self.make()
        for row in self.rows[:steps]:
            model.step(row)
        return model


def adaptation_classes() -> list[type[adaptation.StreamClassifier]]:
    """Every method in the package, exported or not."""
    found = set()
    for module in pkgutil.walk_packages(adaptation.__path__, "springback_bench.rivals.", onerror=lambda _: None):
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
    forgets = method._relax is not adaptation.StreamClassifier._relax
    return Subject(method.__name__, make, rows, forgets=forgets)


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
    """An elasticized PyTorch model as a classifier of one stream, by the functions of `springback.torch`."""

    def __init__(self) -> None:
        import torch
        from springback import torch as layers

        torch.manual_seed(0)
        network = torch.nn.Sequential(torch.nn.Linear(WIDTH, 6), torch.nn.ReLU(), torch.nn.Linear(6, CLASSES))
        self.network = layers.elasticize(network, layers.Springs(pull=2.0, memory=2.0))
        layers.reset(self.network, n_streams=1)

    def step(self, x: np.ndarray, time: Any = None) -> np.ndarray:
        import torch
        from springback import torch as layers

        return np.asarray(layers.step(self.network, torch.from_numpy(x).float()[None], time).softmax(dim=-1)[0])

    def track(self, X: np.ndarray, times: Any = None) -> np.ndarray:
        import torch
        from springback import torch as layers

        frames = torch.from_numpy(X).float()[:, None]
        return np.asarray(layers.track(self.network, frames, times).softmax(dim=-1)[:, 0])

    def reset(self) -> None:
        from springback import torch as layers

        layers.reset(self.network, n_streams=1)

    def relax(self, elapsed: float) -> None:
        from springback import torch as layers

        layers.relax(self.network, elapsed)


def elastic_heads() -> list[Subject]:
    """The scale of an observer is given, because a measured one outlasts a silence."""
    from springback.heads import ElasticHead, LearningObserver, Observer, Scale, SeveralMemories, Springs

    settings = {
        "springs": Springs(pull=2.0, memory=2.0),
        "observer": Observer(),
        "classes": Observer(kappa=0.0),
        "learning observer": LearningObserver(depth=4, slowness=20.0),
    }
    rng = np.random.default_rng(0)
    weight, bias, rows = rng.normal(size=(CLASSES, WIDTH)), rng.normal(size=CLASSES), rng.random((30, WIDTH))
    make = functools.partial(ElasticHead, weight, bias, scale=Scale(3.0, 0.5))
    alone = [Subject(f"ElasticHead, {name}", functools.partial(make, one), rows) for name, one in settings.items()]
    together = functools.partial(SeveralMemories, list(map(make, settings.values())), temperature=1.5)
    return [*alone, Subject("SeveralMemories", together, rows)]


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
    from springback.heads.stream_pipeline import StreamPipeline

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
    from springback import torch as layers

    torch.manual_seed(0)
    folder = tempfile.TemporaryDirectory()
    model = layers.elasticize(torch.nn.Linear(WIDTH, CLASSES), layers.Springs(pull=2.0, memory=2.0))
    layers.export_onnx(model, f"{folder.name}/model.onnx")
    return folder


def onnx_stream() -> Any:
    from springback.heads.onnx import OnnxStream

    return OnnxStream(f"{exported_file().name}/model.onnx", threads=1)


@functools.cache
def fitted_spiking() -> Any:
    from springback.spiking import SpikingClassifier

    return SpikingClassifier(n_neurons=20).fit(*shown_digits())


def shown_digits() -> tuple[np.ndarray, np.ndarray]:
    from springback.data.pretrained import shipped_digits

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
        Subject("ElasticNetwork", ElasticNetwork, rows, exact=False),
        Subject("OnnxStream", onnx_stream, rows),
        Subject("SpikingClassifier", lambda: copy.deepcopy(fitted_spiking()), shown_digits()[0][::4], draws=True),
    ]
    needs = {"ElasticNetwork": ["torch"], "OnnxStream": ["torch", "onnx", "onnxscript", "onnxruntime"]}
    others = [one for one in others if all(map(is_installed, needs.get(one.name, [])))]
    return [pytest.param(one, id=one.name) for one in [*map(adaptation_subject, adaptation_classes()), *others]]
