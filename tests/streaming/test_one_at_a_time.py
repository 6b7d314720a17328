"""Threads that share a model lose no frame."""

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from springback import ElasticClassifier, ElasticClustering, SpikingClassifier
from springback.data.pretrained import shipped_digits, shipped_spiking
from springback.heads import ElasticHead, ElasticLinearClassifier, KeyedStreams

ROWS = np.array([[1.0, 0.1], [1.0, -0.1], [0.1, 1.0], [-0.1, 1.0]])
LABELS = ["right", "right", "up", "up"]
THREADS, STEPS = 4, 150


def in_threads(call, steps=STEPS):
    """Call a function from several threads, which are interrupted as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            for done in [pool.submit(lambda: [call() for _ in range(steps)]) for _ in range(THREADS)]:
                done.result()
    finally:
        sys.setswitchinterval(before)


def a_clustering():
    return ElasticClustering(2, resting=np.eye(2)).fit(ROWS)


@pytest.mark.parametrize(
    ("make", "clock"),
    [
        (lambda: ElasticHead(np.eye(2), np.zeros(2)), lambda head: head.state_.clock),
        (lambda: ElasticLinearClassifier().fit(ROWS, LABELS), lambda model: model.state_.clock),
        (a_clustering, lambda model: float(model.state_.clock[0])),
        (
            lambda: ElasticClassifier(ElasticClustering(2, resting=np.eye(2))).fit(ROWS, LABELS),
            lambda model: float(model.clustering_.state_.clock[0]),
        ),
    ],
    ids=["head", "linear classifier", "clustering", "classifier"],
)
def test_every_step_of_every_thread_counts(make, clock):
    model = make()
    model.step(ROWS[0])
    in_threads(lambda: model.step(ROWS[0]))
    assert clock(model) == THREADS * STEPS


def test_every_frame_of_a_keyed_stream_counts():
    streams = KeyedStreams(ElasticHead(np.eye(2), np.zeros(2)), compact=False)
    in_threads(lambda: streams.step("door", ROWS[0]))
    head = ElasticHead(np.eye(2), np.zeros(2)).set_state(streams.snapshot("door"))
    assert head.state_.clock == THREADS * STEPS - 1


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_does_not_wait_for_the_original(copied):
    head = ElasticHead(np.eye(2), np.zeros(2))
    head.step(ROWS[0])
    other = copied(head)
    with ThreadPoolExecutor(1) as pool:
        waited = []

        class Row:
            """A row that is only given out after the copy has answered, while the original is in the middle of it."""

            def __array__(self, dtype=None, copy=None):
                waited.append(pool.submit(other.step, ROWS[1]).result(timeout=10))
                return np.asarray(ROWS[1], dtype)

        answer = head.step(Row())
    np.testing.assert_array_equal(waited[0], answer)


def test_every_frame_of_a_spiking_classifier_counts():
    classifier, frame = SpikingClassifier.of(shipped_spiking()), shipped_digits().pixels[0]
    classifier.step(frame)
    in_threads(lambda: classifier.step(frame), steps=10)
    assert classifier.place_.clock == THREADS * 10


@pytest.fixture(scope="module")
def onnx_file(tmp_path_factory):
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnxscript")
    pytest.importorskip("onnxruntime")
    from springback.torch import elasticize, export_onnx

    path = tmp_path_factory.mktemp("onnx") / "head.onnx"
    export_onnx(elasticize(torch.nn.Linear(2, 2)), path)
    return path


def test_every_frame_of_an_onnx_stream_counts(onnx_file):
    from springback.heads.onnx import OnnxStream

    stream, alone = (OnnxStream(onnx_file, threads=1) for _ in range(2))
    in_threads(lambda: stream.step(ROWS[0]))
    for _ in range(THREADS * STEPS):
        alone.step(ROWS[0])
    assert stream.get_state() == alone.get_state()
