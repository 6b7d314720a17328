"""`make bench`: the speed of the spiking engine and of elastic clustering with its peers, in one run."""

from benchmarks import elastic, spiking

spiking.speed()
elastic.speed()
