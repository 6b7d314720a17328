import numpy as np

import torch
from springback.data import load_mnist, make_omnist
from springback.streaming.records import Images
from springback_paper.baselines.shuffling import ShuffledFrames


def numbered_images(n):
    pixels = np.zeros((n, 28, 28), np.uint8)
    pixels[:, 0, 0] = np.arange(n)
    return Images(pixels, np.arange(n) % 11)


def test_each_image_comes_once_per_epoch_with_its_label_in_an_order_of_its_own():
    shuffled = ShuffledFrames(numbered_images(100), seed=4)
    orders = []
    for epoch in range(3):
        frames, labels = shuffled.lesson(epoch)
        order = frames[:, 0, 0].numpy()
        assert sorted(order) == list(range(100))
        np.testing.assert_array_equal(labels, order % 11)
        orders.append(order.tolist())
    assert orders[0] != orders[1] != orders[2]
    assert shuffled.lesson(1)[0][:, 0, 0].tolist() == orders[1]
    assert ShuffledFrames(numbered_images(100), seed=5).lesson(0)[0][:, 0, 0].tolist() != orders[0]


def test_each_frame_of_a_video_comes_once_per_epoch():
    video = make_omnist(load_mnist("train")[:40], seed=0)
    shuffled = ShuffledFrames(video, seed=1, frames_per_block=50, blocks_per_lesson=3)
    per_epoch = shuffled.lessons_per_epoch
    assert per_epoch == -(-len(video) // 150)
    seen = []
    for epoch in range(2):
        lessons = [shuffled.lesson(epoch * per_epoch + part) for part in range(per_epoch)]
        frames = torch.cat([one for one, _ in lessons]).numpy()
        labels = torch.cat([one for _, one in lessons]).numpy()
        for shown, named in ((frames, labels), (video.frames, video.labels)):
            seen.append(sorted(frame.tobytes() + bytes([label]) for frame, label in zip(shown, named, strict=True)))
        assert (labels[1:] == labels[:-1]).mean() < 0.4  # In the video neighbours are nearly always alike.
    assert seen[0] == seen[1] == seen[2] == seen[3]
    assert not torch.equal(shuffled.lesson(0)[1], shuffled.lesson(per_epoch)[1])


def test_a_lesson_mixes_distant_places_of_the_video():
    video = make_omnist(load_mnist("train")[:200], seed=0)
    shuffled = ShuffledFrames(video, seed=0, frames_per_block=20, blocks_per_lesson=8)
    digits = {frame.tobytes(): at for at, frame in enumerate(video.frames)}
    places = [digits[frame.numpy().tobytes()] for frame in shuffled.lesson(0)[0]]
    assert max(places) - min(places) > len(video) / 2


def test_other_data_have_another_name():
    images = numbered_images(20)
    other = Images(images.pixels, images.labels[::-1].copy())
    names = {ShuffledFrames(one, seed=0).name for one in (images, other, images[:10])}
    assert len(names) == 3
    assert ShuffledFrames(numbered_images(20), seed=1).name == ShuffledFrames(images, seed=0).name
