"""Named sets of parameters: the published ones, and those that we tuned."""

from dataclasses import dataclass, field

from springback import check
from springback.spiking.params import Circuit, LongTermStdp, Presentation, ShortTermStdp, Streaming


@dataclass(frozen=True, kw_only=True, eq=False)
class Preset:
    """All parameters of one way to train, test and stream a network.

    Parameters
    ----------
    name : str
        The name of the preset.
    shuffled : bool
        Whether training images are shown in a random order (given by the seed) or in that of the data set.
    epochs : int
        How often the training images are shown.
    rate_decay : float
        By what the rates of long-term STDP are multiplied after each epoch.
    threshold_mv : float | None
        The thresholds of all neurons after training, above the offset; None: each keeps its own.
    streaming : Streaming
        How the frames of a stream are shown.
    static : Streaming
        The same for a network without short-term STDP, at the point where it does best; see `SpikingModel.static`.
    """

    name: str = "unnamed"
    circuit: Circuit = field(default_factory=Circuit)
    long_term: LongTermStdp = field(default_factory=LongTermStdp)
    training: Presentation = field(default_factory=Presentation)
    testing: Presentation = field(default_factory=Presentation)
    streaming: Streaming = field(default_factory=Streaming)
    static: Streaming = field(default_factory=Streaming)
    short_term: ShortTermStdp = field(default_factory=ShortTermStdp)
    shuffled: bool = False
    epochs: int = 1
    rate_decay: float = 1.0
    threshold_mv: float | None = None

    def __post_init__(self) -> None:
        check.integer("Preset.epochs", self.epochs, low=1, high=10**6)
        check.real("Preset.rate_decay", self.rate_decay, above=0, high=1)
        if self.threshold_mv is not None:
            check.real("Preset.threshold_mv", self.threshold_mv, low=-1000, high=1000)


def diehl_cook_2015(*, n_inputs: int = 784, n_neurons: int = 400) -> Preset:
    """Diehl & Cook (2015) as in their published code, without the random 0-10 ms delay of input spikes.

    Examples
    --------
    >>> diehl_cook_2015().long_term.rate_post
    0.01
    """
    return Preset(
        name="diehl-cook-2015",
        circuit=Circuit(n_inputs=n_inputs, n_neurons=n_neurons),
        long_term=LongTermStdp(theta_decays_at_rest=True),
    )


def moraitis_2020(*, n_inputs: int = 784, n_neurons: int = 400) -> Preset:
    """Moraitis, Sebastian & Eleftheriou (2020): Table 1 and Methods.

    The paper gives neither the intensity of the stream nor c; both were found on training digits, by
    `springback tune paper` and `paper-static`. It speaks of a single epoch and of the last presentation of the training
    digits; we show them three times, as the code that it builds on does.

    Examples
    --------
    >>> moraitis_2020().short_term.memory_ms
    300.0
    """
    return Preset(
        name="moraitis-2020",
        circuit=Circuit(n_inputs=n_inputs, n_neurons=n_neurons),
        epochs=3,
        streaming=Streaming(intensity=3.47),
        static=Streaming(intensity=3.73),
        short_term=ShortTermStdp(weight_dependence=-0.58),
    )


def springback_2026(*, n_inputs: int = 784, n_neurons: int = 400) -> Preset:
    """The parameters that we tuned on training digits alone; see `springback.paper.tuning` and docs/spiking.md.

    Those of streaming are what `springback tune spiking` and `spiking-static` found; docs/data/tuning has every trial.

    They were tuned for 400 neurons. With more neurons, each fires less often, and the step of its threshold grows in
    proportion, so that thresholds settle at the same value. With far fewer (below about 100), thresholds outgrow the
    input.

    Examples
    --------
    >>> springback_2026().long_term.rate_post > diehl_cook_2015().long_term.rate_post
    True
    """
    return Preset(
        name="springback-2026",
        circuit=Circuit(n_inputs=n_inputs, n_neurons=n_neurons),
        long_term=LongTermStdp(
            rate_post=0.069,
            rate_pre=4e-4,
            tau_pre_ms=17.0,
            tau_post_2_ms=120.0,
            theta_step_mv=0.064 * max(1.0, n_neurons / 400),
            weight_sum=97.0,
        ),
        training=Presentation(intensity=2.4),
        testing=Presentation(intensity=2.5, spikes_min=10),
        shuffled=True,
        streaming=Streaming(intensity=2.78, threshold_shift_mv=-6.2),
        static=Streaming(intensity=3.76, threshold_shift_mv=-7.2),
        short_term=ShortTermStdp(
            pull=0.04,
            weight_dependence=-0.6,
            memory_ms=790.0,
            tau_trace_ms=150.0,
            efficacy_max=4.1,
        ),
    )


PRESETS = {
    "springback-2026": springback_2026,
    "moraitis-2020": moraitis_2020,
    "diehl-cook-2015": diehl_cook_2015,
}
"""Every preset by its name on the command line."""
