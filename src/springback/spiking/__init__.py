"""The biology: a winner-take-all circuit of spiking neurons with long-term and short-term STDP."""

from springback.compiled import discard_stale_code

discard_stale_code(__file__)
