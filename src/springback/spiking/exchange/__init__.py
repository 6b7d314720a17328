"""Spikes from elsewhere and for elsewhere: pairs of times and ids, event cameras, tonic, Neo, NWB and Brian2.

`spikes_from` takes spikes of any of these kinds and makes `Spikes`; `simulate` runs a trained model on them.
`spikes_of` takes the spikes of a recording, and the methods of `Spikes` give them to others. `to_neo` and `to_nwb`
write a whole recording, with what its monitors sampled. Times always have a unit: quantities are converted, and bare
numbers are refused unless their unit is stated.
"""

from springback.spiking.exchange.neo_format import to_neo
from springback.spiking.exchange.nwb_format import spikes_from_nwb, to_nwb
from springback.spiking.exchange.sources import simulate, spikes_from
from springback.spiking.exchange.spikes import Spikes, spikes_of

__all__ = ["Spikes", "simulate", "spikes_from", "spikes_from_nwb", "spikes_of", "to_neo", "to_nwb"]
