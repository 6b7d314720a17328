"""How a head notices that its stream is continuous: neighbouring frames get the same answer more often than any two.

If frames came in random order, the answer of the frozen head to a frame would equal its answer to the frame before just
as often as its answer to any earlier frame. So the difference

    d_t = [c_t = c_(t-1)] - (share of class c_t among the earlier answers),   c_t the answer of the frozen head

has the mean zero, whatever the classes and however good the network. Its running sum S and the running sum of its
squares V give a test: z = S / sqrt(V) is about normal in random order, and grows with the length of a stream whose
neighbours belong together. Before anything is known, the stream is taken to be continuous; the prior sums below stand
for that.
"""

FORGETTING = 1 - 1 / 300
"""What is left a frame later of the sums and of the weight of the earlier answers; a long silence leaves nothing."""

PRIOR_SUM, PRIOR_SQUARES = 2.0, 0.25
"""What S and V begin with: four standard errors in favour of a continuous stream."""
