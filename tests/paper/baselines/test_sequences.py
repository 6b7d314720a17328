from dataclasses import replace

import numpy as np
import pytest

import torch
from springback.check import DataError
from springback.data import load_mnist, make_omnist
from springback.files.atomic import previous_path
from springback.streaming.records import Video
from springback_paper.baselines import Lstm, Rnn, SequenceTraining, classify, train_sequence
from springback_paper.baselines.sequences import Lanes
from tests.files.forging import forge

SMALL = SequenceTraining(passes=2, lanes=2, n_frames=3)


@pytest.fixture(scope="module")
def video():
    return make_omnist(load_mnist("train")[:30], seed=0)


def same_weights(one, other):
    return all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), other.state_dict().values(), strict=True))


def echoes(n, seed):
    """Every third frame shows one of two pictures; the two frames after it are black but keep its label."""
    shown = np.repeat(np.random.default_rng(seed).integers(2, size=n), 3)
    lit = np.arange(3 * n) % 3 == 0

    def frames(start, stop):
        made = np.zeros((stop - start, 28, 28), np.uint8)
        for at in range(start, stop):
            if lit[at]:
                made[at - start, 14 * shown[at] : 14 * shown[at] + 14] = 255
        return made

    nothing = np.zeros(3 * n)
    return Video(shown, nothing.astype(np.int16), nothing.astype(np.float32), shown, (28, 28), frames, "echoes")


def test_each_lane_is_a_continuous_stretch_of_the_video(video):
    lanes = Lanes(video, lanes=4, n_frames=5, batches_per_lesson=3)
    lessons = [lanes.lesson(number) for number in range(lanes.lessons)]
    frames, labels = torch.cat([one for one, _ in lessons]), torch.cat([one for _, one in lessons])
    length = len(video) // 4
    assert len(frames) == length // 5 * 5
    for lane in range(4):
        rows = slice(lane * length, lane * length + len(frames))
        np.testing.assert_array_equal(frames[:, lane], video.frames[rows])
        np.testing.assert_array_equal(labels[:, lane], video.labels[rows])
    torch.testing.assert_close(lanes.lesson(lanes.lessons)[0], lessons[0][0])


@pytest.mark.parametrize("kind", [Rnn, Lstm])
def test_training_is_truncated_backpropagation_with_the_state_carried_over(video, kind):
    trained = train_sequence(kind(n_hidden=4, seed=1), video, SMALL)
    model = kind(n_hidden=4, seed=1)
    adam = torch.optim.Adam([one for one in model.parameters() if one.requires_grad], lr=1e-3)
    length = len(video) // 2
    for _ in range(2):
        state = None
        for start in range(0, length - 2, 3):
            at = np.array([range(start, start + 3), range(length + start, length + start + 3)]).T
            x = torch.tensor(video.frames[at] / 255, dtype=torch.float32)
            logits, state = model(x, state)
            loss = torch.stack(
                [torch.nn.functional.cross_entropy(logits[t], torch.tensor(video.labels[at[t]])) for t in range(3)]
            )
            adam.zero_grad()
            loss.mean().backward()
            adam.step()
            state = tuple(part.detach() for part in state)
    for one, other in zip(trained.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=2e-5, rtol=1e-3)


@pytest.mark.parametrize("kind", [Rnn, Lstm])
def test_what_is_hidden_now_is_named_from_memory(kind):
    training = SequenceTraining(passes=6, lanes=10, n_frames=6, learning_rate=0.01)
    trained = train_sequence(kind(n_hidden=10), echoes(1000, seed=0), training)
    video = echoes(100, seed=1)
    assert (classify(trained, video) == video.labels).mean() > 0.98


def test_the_second_bias_of_a_unit_stays_zero(video):
    trained = train_sequence(Lstm(n_hidden=4), video, SMALL)
    assert not trained.cells.bias_hh_l0.any()
    assert not torch.equal(trained.cells.bias_ih_l0, Lstm(n_hidden=4).cells.bias_ih_l0)


@pytest.mark.parametrize("kind", [Rnn, Lstm])
@pytest.mark.parametrize(("share", "optimiser"), [(0.2, "adam"), (0.45, "sgd"), (0.8, "adam")])
def test_a_killed_training_goes_on_to_the_same_bits_with_its_state(tmp_path, video, kind, share, optimiser):
    said, training = [], replace(SMALL, optimiser=optimiser)
    whole = train_sequence(kind(n_hidden=4), video, training, on_progress=lambda done, _: said.append(done))
    total = sum(said)
    assert total == 2 * (len(video) // 6 * 6)
    path, done_before_kill = tmp_path / "training", []

    def kill(done, _accuracy):
        done_before_kill.append(done)
        if sum(done_before_kill) > share * total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_sequence(kind(n_hidden=4), video, training, checkpoint=path, on_progress=kill)
    again = []
    resumed = train_sequence(
        kind(n_hidden=4), video, training, checkpoint=path, on_progress=lambda done, _: again.append(done)
    )
    assert path.exists()
    assert again[0] > 6
    assert sum(again) == total
    assert same_weights(whole, resumed)


def test_the_checkpoint_of_another_network_is_refused(tmp_path, video):
    train_sequence(Rnn(n_hidden=4), video, SMALL, checkpoint=tmp_path / "training")
    with pytest.raises(DataError, match="its model is rnn, not lstm"):
        train_sequence(Lstm(n_hidden=4), video, SMALL, checkpoint=tmp_path / "training")


def test_a_video_too_short_for_one_batch_is_refused(video):
    with pytest.raises(ValueError, match="the video must have at least 2688 frames"):
        train_sequence(Rnn(n_hidden=4), video)


@pytest.mark.parametrize(
    "wrong", [{"passes": -1}, {"lanes": 0}, {"n_frames": 0}, {"learning_rate": 0.0}, {"optimiser": "lion"}]
)
def test_a_training_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError, match=f"SequenceTraining.{next(iter(wrong))} must be"):
        SequenceTraining(**wrong)


@pytest.mark.parametrize(
    ("name", "array", "sentence"),
    [
        ("state.0", np.zeros((1, 3, 4), np.float32), r"state.0 must have shape"),
        ("state.0", np.full((1, 2, 4), np.nan, np.float32), "state.0 must be finite"),
        ("state.2", np.zeros((1, 2, 4), np.float32), "the state must have 2 parts"),
    ],
)
def test_a_state_of_another_network_is_one_sentence(tmp_path, video, name, array, sentence):
    path = tmp_path / "training"
    short = SequenceTraining(passes=1, lanes=2, n_frames=4)
    train_sequence(Lstm(n_hidden=4), video, short, checkpoint=path)
    previous_path(path).unlink(missing_ok=True)
    forge(path, arrays={f"arrays.{name}": array})
    with pytest.raises(DataError, match=f"is not a usable checkpoint: {sentence}"):
        train_sequence(Lstm(n_hidden=4), video, short, checkpoint=path)
