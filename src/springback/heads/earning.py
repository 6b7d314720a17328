"""How a head that learns its deployment finds out whether that pays: it bets, frame by frame, against the frozen head.

Let c_t be the answer of the frozen head, b_t the answer with class means alone, p_t the answer of memory, r the
frozen answers of the last frames (those of some 20 frames ago count most), and pi the share of each class among all
frozen answers so far. Two sums are kept:

* S_slow of [r(b_t) - pi(b_t)] - [r(c_t) - pi(c_t)]: where learning changes an answer, do the frozen answers of the
  frames before speak for the new answer rather than for the old one, beyond what their frequency explains?
* S_fast of the same kind for memory, looking ahead: would p of the last frames have predicted c_t better than their
  frozen answers did?

In random order, both have the mean zero. What is learned, and memory, count with the weights

    weight_of(S) = 1 / (1 + e^-(START + RATE S))

the weights of exponentially weighted averaging of two experts (Vovk 1990; Littlestone & Warmuth 1994), with forgetting:
START is the logarithm of the prior odds, and S the difference of the gains of the experts.
"""

RECENT = 0.9
"""What is left a frame later of each of the two stages in which the answers of the last frames fade."""

START_SLOW, START_FAST = 0.5, 4.0
"""The logarithm of the odds at rest that learning pays, and that memory does."""

RATE = 1.5
"""How fast weights follow the sums."""

SMALLEST_LESSON = 0.02
"""This much is subtracted from the posterior of a class before the class is taught, so that few classes are."""
