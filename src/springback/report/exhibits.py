"""Every figure of the report: which piece it shows, who draws it, and what its caption says.

A new figure is one entry here. What was run is told from the result itself, so that a caption cannot be out of date.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from matplotlib.figure import Figure

from springback.figures.frames import draw_frames
from springback.records import Video
from springback.report.words import listed

COMPARISON = "results"
"""Stands for the whole of results.json where the name of a piece would stand."""


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One figure.

    name    of its files, and of its entry in the catalogue
    piece   the piece whose result it shows; `COMPARISON`: all models' accuracies
    draw    "module.function" in springback.figures
    shows   what there is to see
    ran     what was run, from the result
    paper   what the paper shows in its place
    """

    name: str
    title: str
    piece: str
    draw: str
    shows: str
    ran: Callable[[Any], str]
    paper: str

    def figure(self, result: Any) -> Figure:
        """The figure of a result."""
        if self.draw == "frames.draw_frames":
            return draw_frames(_first_frames(result))
        module, function = self.draw.split(".")
        drawn = getattr(import_module(f"springback.figures.{module}"), function)(result)
        assert isinstance(drawn, Figure)
        return drawn

    def caption(self, result: Any) -> str:
        """What it shows, what was run, and the paper's side."""
        return f"{self.shows} Run: {self.ran(result)} In the paper: {self.paper}"


def _first_frames(result: Any) -> Video:
    n = len(result.frames)
    return Video(
        labels=result.labels,
        rows_hidden=result.rows_hidden,
        ink_hidden=_unknown(n),
        digit=result.labels * 0,
        frame_shape=result.frames.shape[1:],
        source=lambda start, stop: result.frames[start:stop],
        name=result.video,
    )


def _unknown(n: int) -> Any:
    import numpy as np

    return np.full(n, np.nan, np.float32)


def _models_run(results: Any) -> str:
    seeds = listed([str(seed) for seed in results["seeds"]])
    return f"every model that has a value of ours, seed{'s' if len(results['seeds']) > 1 else ''} {seeds}."


def _example(result: Any) -> str:
    rule = "the first that ST-STDP keeps and static weights lose" if result.meets_rule else "the first of its class"
    return (
        f"test digit {result.digit} (a {result.label}; {rule}, after {result.passed_over} others), {result.video}, "
        "shown from rest to the network of the first seed."
    )


def _seeds(result: Any) -> str:
    return f"seed{'s' if len(result.seeds) > 1 else ''} {listed([str(seed) for seed in result.seeds])}"


EXHIBITS = (
    Exhibit(
        name="fig_4a",
        title="Fig. 4a: accuracy on the occluded video",
        piece=COMPARISON,
        draw="comparison.draw_comparison",
        shows="Share of the frames of the OMNIST test video that each model classifies rightly.",
        ran=_models_run,
        paper="mean and standard deviation over ten runs; its values stand beside ours.",
    ),
    Exhibit(
        name="fig_4b",
        title="Fig. 4b: accuracy against occlusion, and on noise",
        piece=COMPARISON,
        draw="occlusion.draw_occlusion",
        shows="The same frames by how many rows of the digit are hidden, and the noise frames.",
        ran=_models_run,
        paper="the five models of its Fig. 4; it gives the curves but no numbers.",
    ),
    Exhibit(
        name="fig_2b",
        title="Fig. 2b: the window of ST-STDP, and the relaxation",
        piece="plasticity_window",
        draw="plasticity_window.draw_plasticity_window",
        shows="How much one pair of spikes adds to a synapse by the lag between them, and how that springs back.",
        ran=lambda r: (
            f"the compiled simulator, pull {r.pull:g}, c {r.c:g}, trace {r.tau_trace_ms:g} ms, "
            f"relaxation {r.tau_short_term_ms:g} ms; lines are the closed form."
        ),
        paper="the same two curves, drawn schematically.",
    ),
    Exhibit(
        name="fig_3a",
        title="Fig. 3a: frames of OMNIST",
        piece="frames",
        draw="frames.draw_frames",
        shows="The beginning of the test video: each digit is hidden from the top, then come four frames of noise.",
        ran=lambda r: f"{r.video}.",
        paper="a sequence of the same kind; lengths are random.",
    ),
    Exhibit(
        name="fig_3c",
        title="Fig. 3c: which neurons answer while a digit is being hidden",
        piece="active_neurons",
        draw="active_neurons.draw_active_neurons",
        shows=(
            "For each 350 ms the nine most active neurons without and with ST-STDP, as maps of their resting weights, "
            "coloured by their number of spikes."
        ),
        ran=_example,
        paper="a zero that stays recognised, and noise that stays silent, only with ST-STDP.",
    ),
    Exhibit(
        name="fig_3d",
        title="Fig. 3d: snapshots of one neuron's efficacies",
        piece="synapse_snapshots",
        draw="synapse_snapshots.draw_synapse_snapshots",
        shows="G = W + F of the neuron that fires most, at the end of each frame.",
        ran=_example,
        paper="the same, for a neuron of its Fig. 3c.",
    ),
    Exhibit(
        name="fig_3e",
        title="Fig. 3e: one synapse",
        piece="synapse_trace",
        draw="synapse_trace.draw_synapse_trace",
        shows="Spikes of the uppermost pixel of the digit and of the neuron, and F of the synapse between them.",
        ran=_example,
        paper="the same over 700 ms; input spikes cease when the pixel is hidden.",
    ),
    Exhibit(
        name="expansion",
        title="Supplement: a representation that expands for a while",
        piece="expansion",
        draw="expansion.draw_expansion",
        shows="A digit that a neuron recognises to its last frame by ink its weights hardly know.",
        ran=lambda r: (
            f"the first {r.n_tried} test digits of class {r.label}, c = {r.c:g}; of the {len(r.candidates)} that were "
            f"kept, the one with most unfamiliar ink ({r.unfamiliar:.0f} %)."
        ),
        paper="a nine with an unusual tail, its figure of temporary expansion.",
    ),
    Exhibit(
        name="principal_path",
        title="Supplement: a neuron follows its input and springs back",
        piece="principal_path",
        draw="principal_path.draw_principal_path",
        shows="Input and efficacies on the first two principal components of the frames of a digit.",
        ran=_example,
        paper='its figure in "ST-STDP realizes elastic clustering".',
    ),
    Exhibit(
        name="head",
        title="Supplement: a head that turns",
        piece="head_recognition",
        draw="head_recognition.draw_head_recognition",
        shows="A neuron knows a head in profile. At the end of the turn it knows the front view; out of context not.",
        ran=lambda r: (
            f"{r.spikes.shape[0]} repeats; the front view is recognised at the end of the turn in "
            f"{r.front_recognised:.0f} % of them, alone in {r.alone_recognised:.0f} %, right after the profile in "
            f"{r.jump_recognised:.0f} %, and scrambled in {r.scrambled_recognised:.0f} %."
        ),
        paper="a rotating head; no numbers. Ours is drawn by the library.",
    ),
    Exhibit(
        name="world_dynamics",
        title="Theory: the random continuous environment",
        piece="world_dynamics",
        draw="world_dynamics.draw_world_dynamics",
        shows=(
            "How well the next observation is foretold and its class inferred as the dynamics vary: a static, a "
            "smoothed and an elastic model against the exact posterior of Theorem S2.1."
        ),
        ran=lambda r: (
            f"{r.n_streams} fresh streams of {r.n_steps} observations in each of {len(r.varied)} worlds; the elastic "
            f"recursion differs from the sum over the whole history by {r.recursion_error:.0e} at most."
        ),
        paper="proved, not measured.",
    ),
    Exhibit(
        name="time_constant",
        title="Time constant: occluded frames against noise",
        piece="time_constant",
        draw="time_constant.draw_time_constant",
        shows="A longer memory serves highly occluded frames and hurts noise.",
        ran=lambda r: f"videos of {r.n_digits} test digits, {_seeds(r)}; nothing else is tuned again.",
        paper="said in words in the supplement.",
    ),
    Exhibit(
        name="parameters",
        title="Accuracy against c, pull and intensity",
        piece="parameter_sweeps",
        draw="parameter_sweeps.draw_parameter_sweeps",
        shows="One parameter of ST-STDP at a time, the others as in the preset.",
        ran=lambda r: f"videos of {r.n_digits} of {r.video_of}, {_seeds(r)}; neurons labelled with {r.labelled_with}.",
        paper="not shown; c and the intensity are not given.",
    ),
    Exhibit(
        name="mechanisms",
        title="What each mechanism brings",
        piece="mechanisms",
        draw="mechanisms.draw_mechanisms",
        shows="One mechanism taken away or added, all else as it was.",
        ran=lambda r: f"videos of {r.n_digits} test digits, {_seeds(r)}.",
        paper="intrinsic plasticity and several time constants are named, not simulated.",
    ),
)
