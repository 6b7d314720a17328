"""An occluded 9 stretches a neuron: for a while, its synapses take on a shape that they never learned.

    python examples/stretched_nine.py --out picture.png

Of ten nines, the script shows the one that is kept until its last frame with the most ink where the neuron's weights
are small (the supplement of the paper shows such a neuron). Every synapse can be pulled here (c > 0); see
`springback_paper.figures.expansion`.
"""

import argparse

from springback.data import make_omnist
from springback.data.pretrained import shipped_digits, shipped_spiking
from springback.streaming.records import Images
from springback_paper.figures.expansion import draw as draw_expansion
from springback_paper.figures.expansion import run


def stretch(label=9, weight_dependence=0.1, seed=0):
    """Return a record of the digit and its neuron."""
    model = shipped_spiking()
    digits = shipped_digits()
    mine = digits.labels == label
    video = make_omnist(Images(digits.pixels[mine], digits.labels[mine]), seed=seed)
    return run(model, video, label=label, weight_dependence=weight_dependence, seed=seed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="stretched_nine.png")
    out = parser.parse_args().out
    nine = stretch()
    draw_expansion(nine).savefig(out)
    print(f"kept to the last frame: {len(nine.candidates)} of {nine.n_tried} nines")
    print(f"cosine of neuron {nine.neuron} to the last frame: {nine.resting_overlap:.2f} at rest, ", end="")
    print(f"{nine.efficacy_overlap:.2f} stretched")
