"""The paper's task: a spiking circuit follows digits that are gradually hidden, with and without short-term STDP.

    python examples/omnist_with_and_without.py --out picture.png

The circuit is shipped with the package. It has 400 neurons and was trained on still MNIST digits without labels. It is
shown a hundred test digits, which is enough for a picture but not for a result.
"""

import argparse

from matplotlib.figure import Figure

from springback.data import make_omnist
from springback.data.pretrained import shipped_digits, shipped_spiking
from springback.spiking import follow_video
from springback_paper.figures.style import BLACK, ORANGE, house_style


def follow(digits=None, seed=0):
    """Return the scores on the video of the digits: (static, with short-term STDP)."""
    video = make_omnist(shipped_digits() if digits is None else digits, seed=seed)
    return tuple(follow_video(shipped_spiking(), video, adapts=adapts, seed=seed) for adapts in (False, True))


def draw(static, adapting):
    """Draw the accuracy by rows hidden, and on the noise between digits."""
    with house_style():
        figure = Figure(figsize=(6, 3), layout="constrained")
        axes = figure.subplots()
        for score, name, colour in ((static, "static", BLACK), (adapting, "short-term STDP", ORANGE)):
            right = score.by_rows_hidden
            groups = list(right)
            axes.plot(groups[:-1], [100 * right[one] for one in groups[:-1]], "o-", color=colour, label=name)
            axes.plot(groups[-1:], [100 * right[groups[-1]]], "o", color=colour)
        axes.set(xlabel="rows hidden (of 28)", ylabel="frames answered correctly (%)", ylim=(0, 104))
        axes.legend(frameon=False)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="omnist_with_and_without.png")
    out = parser.parse_args().out
    static, adapting = follow()
    draw(static, adapting).savefig(out)
    print(f"all frames: static {100 * static.accuracy:.0f} %, short-term STDP {100 * adapting.accuracy:.0f} %")
