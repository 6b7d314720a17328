"""Neural elastic clustering and short-term STDP.

A neuron is a centroid. Inputs pull it in proportion to its posterior, time lets it spring back to rest:
`F += pull * X * Q`, `F -> 0`, and what it believes now is `G = W + F`.

Source: Moraitis, Sebastian & Eleftheriou, "Optimality of short-term synaptic plasticity in modelling certain dynamic
environments" (2020).
"""

from springback.version import __version__

__all__ = ["__version__"]
