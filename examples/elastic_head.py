"""An elastic head on a trained convolutional network: one line of code, no training and no labels.

    python examples/elastic_head.py --out picture.png

The paper's CNN, trained on still digits and noise, is shipped with the package. Its last layer becomes elastic; nothing
else changes. A hundred test digits are shown as a video, frame by frame, as one stream.
"""

import argparse

import numpy as np
from matplotlib.figure import Figure

import torch
from springback.data import make_omnist
from springback.data.pretrained import shipped_cnn, shipped_digits
from springback.streaming.metrics import accuracy, accuracy_by_rows
from springback.torch import Springs, elasticize, track
from springback_paper.baselines import Cnn
from springback_paper.figures.style import BLACK, ORANGE, house_style


def trained():
    """Return the trained network, from the arrays that are shipped with the package."""
    model = Cnn()
    model.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in shipped_cnn().items()})
    return model.eval().requires_grad_(False)


def compare(digits=None, seed=0):
    """Return the video, and the answers of the plain and of the elastic network to its frames."""
    video = make_omnist(shipped_digits() if digits is None else digits, seed=seed)
    frames = torch.from_numpy(video.frames).float()[:, None] / 255  # (time, one stream, 28, 28)
    plain = trained()
    elastic = elasticize(plain, Springs(pull=20.0, memory=1.1))
    return video, *(track(model, frames)[:, 0].argmax(dim=-1).numpy() for model in (plain, elastic))


def draw(video, plain, elastic):
    """Draw the accuracy by rows hidden, and on the noise between digits."""
    with house_style():
        figure = Figure(figsize=(6, 3), layout="constrained")
        axes = figure.subplots()
        for answers, name, colour in ((plain, "CNN", BLACK), (elastic, "CNN with an elastic head", ORANGE)):
            right = accuracy_by_rows(answers, video)
            groups = list(right)
            axes.plot(groups[:-1], [100 * right[one] for one in groups[:-1]], "o-", color=colour, label=name)
            axes.plot(groups[-1:], [100 * right[groups[-1]]], "o", color=colour)
        axes.set(xlabel="rows hidden (of 28)", ylabel="frames answered correctly (%)", ylim=(0, 104))
        axes.legend(frameon=False)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="elastic_head.png")
    out = parser.parse_args().out
    video, plain, elastic = compare()
    draw(video, plain, elastic).savefig(out)
    print(f"{len(video)} frames: CNN {100 * accuracy(plain, video.labels):.0f} %, ", end="")
    print(f"with an elastic head {100 * accuracy(elastic, video.labels):.0f} %")
