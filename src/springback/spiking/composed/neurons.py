"""Neuron models: frozen records that say how a membrane integrates and when it fires.

All of them have the membrane of the paper's circuit, with conductances and a constant drive:

    tau dv/dt = v_rest + drive - v + g_e (E_e - v) + g_i (E_i - v)

They differ in when they fire: at a fixed threshold, at one that rises with every spike, or at random.
"""

from dataclasses import dataclass

from springback import check
from springback.spiking.params import check_neuron

_LARGEST_MV = 1e6


@dataclass(frozen=True, kw_only=True)
class Lif:
    """A leaky integrate-and-fire neuron: it fires when its potential is above the threshold.

    Under a constant drive alone, with a reset to rest, it fires every `refractory + tau ln(drive / (drive - height))`,
    where `height = v_threshold - v_rest`; it never fires if the drive is not larger than that.

    Parameters
    ----------
    drive_mv : float
        A constant input current, times the resistance of the membrane.
    refractory_ms : float
        How long the potential stays at its reset value after a spike.

    Examples
    --------
    >>> Lif(tau_membrane_ms=20.0).v_threshold_mv
    -52.0
    >>> Lif(tau_membrane_ms=-3.0)
    Traceback (most recent call last):
    ValueError: Lif.tau_membrane_ms must be > 0; got -3.0
    """

    tau_membrane_ms: float = 100.0
    v_rest_mv: float = -65.0
    v_reset_mv: float = -65.0
    v_threshold_mv: float = -52.0
    refractory_ms: float = 5.0
    e_excitatory_mv: float = 0.0
    e_inhibitory_mv: float = -100.0
    drive_mv: float = 0.0

    def __post_init__(self) -> None:
        check_neuron(self, _LARGEST_MV)


@dataclass(frozen=True, kw_only=True)
class AdaptiveLif(Lif):
    """A LIF neuron whose threshold rises by `threshold_step_mv` with each spike and decays with `tau_threshold_ms`.

    At a steady rate r, the threshold is higher by `threshold_step * r * tau_threshold` on average.

    Examples
    --------
    >>> AdaptiveLif(threshold_step_mv=0.05, tau_threshold_ms=1e7).threshold_step_mv  # as in Diehl & Cook (2015)
    0.05
    """

    threshold_step_mv: float = 1.0
    tau_threshold_ms: float = 200.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check.reals(self, "threshold_step_mv", low=0)
        check.reals(self, "tau_threshold_ms", above=0)


@dataclass(frozen=True, kw_only=True)
class StochasticLif(Lif):
    """A LIF neuron that fires at random, with a rate that grows exponentially with its potential.

    The rate is `rate_at_threshold_hz * exp((v - v_threshold) / width)` (escape noise: Gerstner & van Hemmen 1992); in a
    step it fires with probability `1 - exp(-rate dt)`.

    Examples
    --------
    >>> StochasticLif(width_mv=0.0)
    Traceback (most recent call last):
    ValueError: StochasticLif.width_mv must be > 0; got 0.0
    """

    rate_at_threshold_hz: float = 100.0
    width_mv: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check.reals(self, "rate_at_threshold_hz", "width_mv", above=0)
