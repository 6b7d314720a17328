"""How a head that learns its deployment finds out whether that pays: it bets, frame by frame, against the frozen head.

Let c_t be the answer of the frozen head, b_t the answer with class means alone, r the frozen answers of the last frames
(those of some 20 frames ago count most), and pi the share of each class among all frozen answers so far. Of the frame
before, s is what was believed without memory, and p with it. Three sums are kept:

* S_slow of [r(b_t) - pi(b_t)] - [r(c_t) - pi(c_t)]: where learning changes an answer, do the frozen answers of the
  frames before speak for the new answer rather than for the old one, beyond what their frequency explains? And of
  CONTRADICTION (ALLOWED (1 - pi(c_t)) - [b_t != c_t]): means that contradict the head more than a fifth as often as an
  answer by chance does are not those of the classes that it knows.
* S_fast, looking ahead: would the answers of memory to the last frames have predicted c_t better than their frozen
  answers did, beyond what is usual?
* S_near of (p - s)(c_t) - sum_k (p - s)(k) pi(k), which forgets within frames: is memory stuck?

Two more say how far its probabilities can be believed: with c_i and a_i, the answers of the frozen head and of memory
to frames of some 20 frames ago on which they differed, A sums [a_i = c_t], and C sums [c_i = c_t]. From these, an
answer a_t deserves, on average, the probability

    w p + (1 - w) (s(c_t) if a_t = c_t, otherwise 1 - s(c_t)),   w = 2 (A - C) / (A + C + 1), cut at 0 and 1

where p is the probability that the posterior gives to it, and s that of the frozen head: as far as the record does not
speak for memory, the frozen head is believed, and an answer that contradicts it cannot be more probable than that the
frozen head is wrong. The temperature of the answers follows the difference between the probability given and that.

In random order, all but the second term of S_slow have the mean zero. What is learned, and memory, count with the
weights

    weight_of(START_SLOW + RATE_SLOW S_slow),   weight_of(START_FAST + RATE_FAST S_fast + RATE_NEAR S_near)

where weight_of(x) = 1 / (1 + e^-x), and RATE_FAST S_fast is cut at +-MOST_FAST. These are the weights of exponentially
weighted averaging of two experts (Vovk 1990; Littlestone & Warmuth 1994): START is the logarithm of the prior odds, S
the difference of the gains of the experts, and forgetting lets the better expert change, as a fixed share does.
"""

RECENT = 0.9
"""What is left a frame later of each of the two stages in which the answers of the last frames fade."""

NEAR = 0.5
"""What is left a frame later of S_near."""

START_SLOW, START_FAST = -3.0, 2.5
"""The logarithm of the odds at rest that learning pays, and that memory does."""

RATE_SLOW, RATE_FAST, RATE_NEAR = 2.0, 0.5, 8.0
"""How fast weights follow the sums."""

MOST_FAST = 2.0
"""The long-term record of memory changes the logarithm of its odds by no more than this."""

CONTRADICTION, ALLOWED = 0.3, 0.2
"""How much a contradiction to the frozen head costs, and how often it is free, as a share of that of chance."""

SMALLEST_LESSON = 0.02
"""This much is subtracted from the posterior of a class before the class is taught, so that few classes are."""

ENOUGH = 1.0
"""As long as A + C is not far above this, w is small."""

RATE_CALM, FRAMES_CALM = 10.0, 20.0
"""How fast the temperature of the answers follows; it begins as if this many frames had been seen."""

MOST_SHARP, MOST_CALM = -1.5, 4.0
"""Bounds of the logarithm of the temperature."""
