"""A neuron that learned a head in profile follows it as it turns to the front view, which it never saw in training.

    python examples/rotating_head.py --out picture.png

Shown alone, the front view leaves the neuron silent; shown at the end of the turn, it is recognised. The pull, the
threshold and the speed of the turn were set by hand (`springback_paper.figures.head` says which values do not work).
"""

import argparse

from springback_paper.figures.head import HeadRecognition, run
from springback_paper.figures.head import draw as draw_head_recognition


def watch(n_repeats=20, seed=0):
    """Return the answers to the turn and to its controls, over repeats with different spikes."""
    return run(HeadRecognition(n_repeats=n_repeats), seeds=(seed,))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="rotating_head.png")
    out = parser.parse_args().out
    answers = watch()
    draw_head_recognition(answers).savefig(out)
    print(f"front view recognised in percent of {len(answers.spikes)} repeats:")
    print(f"at the end of the turn {100 * answers.front_recognised:.0f}, ", end="")
    print(f"alone {100 * answers.alone_recognised:.0f}, ", end="")
    print(f"right after the profile {100 * answers.jump_recognised:.0f}, with shuffled pixels ", end="")
    print(f"{100 * answers.scrambled_recognised:.0f}")
