"""Inside the circuit while a digit is slowly hidden: spikes, potentials with thresholds, and the synapses of a neuron.

python examples/inside_the_circuit.py --out picture.png
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

from springback.data import make_omnist
from springback.data.pretrained import shipped_digits, shipped_spiking
from springback.spiking import Monitor, Recorder, SpikingClassifier
from springback.spiking import plots as plot
from springback.streaming.records import Images


def record(label=3, seed=0):
    """Return the recording of one digit of a video, with the neuron that fires most, and the labels of its frames."""
    digits = shipped_digits()
    mine = digits.labels == label
    video = make_omnist(Images(digits.pixels[mine][:1], digits.labels[mine][:1]), seed=seed)
    frames = video.frames
    classifier = SpikingClassifier.of(shipped_spiking())
    winner = int(classifier.track_counts(frames).sum(axis=0).argmax())
    recorder = Recorder(
        {
            "v": Monitor("potential_mv", neurons=[winner], every_ms=1.0),
            "threshold": Monitor("threshold_mv", neurons=[winner], every_ms=1.0),
            "F": Monitor("F", neurons=[winner], every_ms=5.0),
        }
    )
    classifier.track(frames, recorder=recorder)
    return recorder.recording(), winner, video.labels


def draw(run):
    """Draw the three views of a recording, one above the other."""
    figure, (top, middle, bottom) = plt.subplots(3, 1, figsize=(7, 6.5), sharex=True, layout="constrained")
    plot.raster(run, top)
    plot.potentials(run, middle)
    plot.short_term(run, bottom)
    for one in (top, middle):
        one.set_xlabel("")
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="inside_the_circuit.png")
    out = parser.parse_args().out
    run, winner, labels = record()
    draw(run).savefig(out)
    mine = np.sum(run.out_index == winner)
    print(f"{len(run.out_step)} spikes in {len(labels)} frames, {mine} of them of neuron {winner}")
    print(f"largest F of its synapses: {run.samples['F'].values.max():.2f}")
