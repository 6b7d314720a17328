"""Turn your own images into an occluded video, with any size, any classes, and an occluder of your choice.

    python examples/own_images.py --out picture.png

The images in this example are drawn by the script: the letters B, D, E and P, 40 x 40 pixels, which look alike once
their right half is hidden. Replace `my_images` with your own: uint8 pixels (n, height, width) and labels 0 ... 9.
"""

import argparse

import numpy as np
from matplotlib.figure import Figure
from PIL import Image, ImageDraw, ImageFont

from springback.data import NoiseObject, Occluder, Omnist, make_omnist
from springback.elastic import ElasticClassifier, ElasticClustering
from springback.streaming.metrics import accuracy, accuracy_by_rows
from springback.streaming.records import NOISE_LABEL, Images
from springback_paper.figures.style import BLACK, ORANGE, house_style

LETTERS = "BDEP"
SIDE = 40


def my_images(n, seed):
    """Return letters of random size and position: uint8 (n, 40, 40), with labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(LETTERS), n)
    pixels = np.zeros((n, SIDE, SIDE), np.uint8)
    for image, label in zip(pixels, labels, strict=True):
        canvas = Image.new("L", (SIDE, SIDE))
        font, place = ImageFont.load_default(rng.uniform(33, 37)), rng.uniform(19, 21, 2)
        ImageDraw.Draw(canvas).text(place, LETTERS[label], fill=255, font=font, anchor="mm", stroke_width=1)
        image[:] = canvas
    return Images(pixels, labels)


# A plate slides in from the right by 2 columns per frame and stops at 24 of 40; four empty frames separate the letters.
OCCLUSION = Omnist(
    frames_min=15,
    frames_max=18,
    occluder=Occluder(direction="left", speed=2, slow_speed=2, slow_from=24, stop_at=24),
    noise=NoiseObject(n_frames=4, candidates=0),
)


def compare(n_train=400, n_test=60, seed=0):
    """Return the video, and the answers of centroids at rest and of elastic centroids to each frame."""
    train, test = my_images(n_train, seed=seed), my_images(n_test, seed=seed + 1)
    springs = {"pull": 10.0, "memory": 2.0, "beta": 1.0}  # with beta, a class that was just seen is expected again
    clustering = ElasticClustering(n_clusters=40, resting="kmeans", kappa=20.0, random_state=0, **springs)
    model = ElasticClassifier(clustering).fit(train.pixels.reshape(n_train, -1) / 255.0, train.labels)
    video = make_omnist(test, seed=seed, params=OCCLUSION)
    frames = video.frames.reshape(len(video), -1) / 255.0
    return video, model.predict(frames), model.track_labels(frames)


def draw(video, static, elastic):
    """Draw one letter as it is hidden, with both answers, and the accuracy by columns hidden."""
    shown = video.labels != NOISE_LABEL
    kept = (elastic == video.labels) & (static != video.labels) & shown
    mine = np.flatnonzero(video.digit == video.digit[kept.argmax()])[:13:2]
    with house_style():
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        top, bottom = figure.subfigures(2, 1, height_ratios=[1, 1.6])
        for panel, frame in zip(top.subplots(1, len(mine)), mine, strict=True):
            panel.imshow(video.frames[frame], cmap="gray", vmin=0, vmax=255)
            panel.set_axis_off()
            for place, answer, colour in ((0.25, static[frame], BLACK), (0.75, elastic[frame], ORANGE)):
                panel.text(place, -0.05, LETTERS[answer], transform=panel.transAxes, ha="center", va="top",
                           color=colour)  # fmt: skip
        axes = bottom.subplots()
        columns = np.unique(video.rows_hidden[shown])
        for answers, name, colour in ((static, "at rest", BLACK), (elastic, "elastic", ORANGE)):
            by_columns = accuracy_by_rows(answers, video)
            right = [100 * by_columns[str(one)] for one in columns]
            axes.plot(columns, right, "o-", color=colour, label=name)
        axes.set(xlabel="columns hidden (of 40)", ylabel="right (%)", ylim=(0, 104))
        axes.legend(frameon=False)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="own_images.png")
    out = parser.parse_args().out
    video, static, elastic = compare()
    draw(video, static, elastic).savefig(out)
    shown = video.labels != NOISE_LABEL
    right = [100 * accuracy(answers[shown], video.labels[shown]) for answers in (static, elastic)]
    print(f"{shown.sum()} frames of letters: at rest {right[0]:.0f} %, elastic {right[1]:.0f} %")
