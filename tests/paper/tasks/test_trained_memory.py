"""A network whose pulls and memories are learned on the training video."""

import numpy as np
import pytest

from springback.data import load_mnist, make_omnist

torch = pytest.importorskip("torch", reason="the extra torch is not installed")

from springback.torch import reset  # noqa: E402
from springback_paper.baselines.models import n_parameters  # noqa: E402
from springback_paper.tasks.baselines import training_video  # noqa: E402
from springback_paper.tasks.trained_memory import KEY, TrainedMemory, evaluate, followed, new_network, trained  # noqa: E402

SMALL = TrainedMemory(n_filters=4, n_hidden=20, passes=2, lanes=8, learning_rate=5e-3)


@pytest.fixture(scope="module")
def digits():
    return load_mnist("train")


def test_it_has_fewer_parameters_than_the_lstm():
    assert n_parameters(new_network(TrainedMemory(), seed=0)) == 42_249


def test_pulls_and_memories_are_learned_with_the_weights(digits):
    before, after = new_network(SMALL, 0), trained(SMALL, training_video(digits[:60], 0), 0)
    names = [name for name, one in after.named_parameters() if not torch.equal(one, before.get_parameter(name))]
    assert set(names) == {name for name, _ in before.named_parameters()}
    assert len(set(after.head.log_memory.flatten().tolist())) > 1


def test_a_video_is_answered_as_frame_by_frame(digits):
    model, video = new_network(SMALL, 0).eval(), make_omnist(digits[:4], seed=0)
    got = followed(model, video)
    reset(model.head, 1)
    with torch.no_grad():
        one_by_one = [model(torch.tensor(frame)[None] / 255).argmax().item() for frame in video.frames]
    np.testing.assert_array_equal(got, one_by_one)


def test_a_short_training_already_remembers(digits):
    found = evaluate(SMALL, digits[:1500], digits[2000:2060], seed=0)
    assert found.omnist_test[KEY] > 0.5
    assert found.mnist_test == {}
