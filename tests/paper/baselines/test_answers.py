import numpy as np
import pytest

import torch
from springback.data import load_mnist, make_omnist
from springback_paper.baselines import Cnn, Lstm, Mlp, Rnn, classify, respond


@pytest.fixture(scope="module")
def video():
    return make_omnist(load_mnist("train")[:20], seed=0)


@pytest.mark.parametrize("model", [Mlp(), Cnn(), Rnn(), Lstm()], ids=["mlp", "cnn", "rnn", "lstm"])
def test_chunks_of_any_size_give_the_same_answers(model, video):
    logits = [np.concatenate([part.logits for part in respond(model, video, frames_per_chunk=n)]) for n in (7, 1000)]
    np.testing.assert_allclose(logits[0], logits[1], atol=1e-5)
    np.testing.assert_array_equal(classify(model, video), logits[1].argmax(axis=1))


@pytest.mark.parametrize("model", [Rnn(), Lstm()], ids=["rnn", "lstm"])
def test_a_recurrent_network_sees_one_stream_frame_by_frame(model, video):
    state, answers = None, []
    with torch.no_grad():
        for frame in video.frames:
            logits, state = model(torch.tensor(frame[None, None] / 255, dtype=torch.float32), state)
            answers.append(int(logits.argmax()))
    np.testing.assert_array_equal(classify(model, video), answers)


def test_features_through_the_head_are_the_logits(video):
    model = Cnn(seed=4)
    for part in respond(model, video, frames_per_chunk=100):
        again = part.features @ model.head.weight.detach().numpy().T + model.head.bias.detach().numpy()
        np.testing.assert_allclose(part.logits, again, atol=1e-5)


def test_dropout_is_off_and_the_mode_of_the_model_is_restored(video):
    model = Cnn(n_hidden=30).train()
    first, again = (next(iter(respond(model, video))) for _ in range(2))
    np.testing.assert_array_equal(first.features, again.features)
    assert len(list(respond(model, video))) == 1
    assert model.training


def test_images_and_their_frames_get_the_same_answers():
    images = load_mnist("train")[:9]
    model = Mlp(seed=1)
    assert classify(model, images).tolist() == model(torch.tensor(images.pixels) / 255).argmax(1).tolist()
    assert classify(model, images[:0]).shape == (0,)
