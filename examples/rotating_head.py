"""A neuron that learned a head in profile follows it as it turns, up to the front view it never saw.

    python examples/rotating_head.py --out picture.png

Shown alone, the front view leaves the neuron silent; shown at the end of the turn, it is recognised. Pull, threshold
and speed of the turn were set by hand (`springback.paper.figures.head` says which values break it).
"""

import argparse

from springback.paper.figures.head import HeadRecognition, run
from springback.paper.figures.head import draw as draw_head_recognition


def watch(n_repeats=20, seed=0):
    """The answers to the turn and to its controls, over repeats with other spikes."""
    return run(HeadRecognition(n_repeats=n_repeats), seed=seed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="rotating_head.png")
    out = parser.parse_args().out
    answers = watch()
    draw_head_recognition(answers).savefig(out)
    print(f"front view recognised in percent of {len(answers.spikes)} repeats:")
    print(f"at the end of the turn {answers.front_recognised:.0f}, alone {answers.alone_recognised:.0f}, ", end="")
    print(f"right after the profile {answers.jump_recognised:.0f}, with shuffled pixels ", end="")
    print(f"{answers.scrambled_recognised:.0f}")
