"""A drifting sensor: twelve channels with irregular sampling times, and no images.

    python examples/drifting_sensor.py --out picture.png

An array of twelve gas sensors measures one of four substances at a time, with clean air in between. While a substance
is present, the sensors drift (they warm up, they saturate), in a different way each time; in clean air they recover.
The model learns the four fresh signatures once. The data are synthetic and illustrate the idea; this is no benchmark.
"""

import argparse

import numpy as np
from matplotlib.figure import Figure

from springback.elastic import ElasticClassifier, ElasticClustering
from springback_paper.figures.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, house_style

SUBSTANCES = ("ethanol", "acetone", "ammonia", "toluene")
COLOURS = (BLUE, GREEN, PURPLE, SKY)
CHANNELS = 12
AIR = -1


def fresh(n, seed):
    """Return fresh readings (n, 12) and their substances: a signature times a concentration, plus a little noise."""
    signatures = np.random.default_rng(7).uniform(0.1, 1.0, (len(SUBSTANCES), CHANNELS))
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(SUBSTANCES), n)
    readings = signatures[labels] * rng.uniform(0.6, 1.4, (n, 1)) + rng.normal(0, 0.03, (n, CHANNELS))
    return readings, labels


def exposures(n, seed, drift=0.11):
    """Return the times in seconds, the readings and the substances of n exposures, each followed by clean air.

    An exposure has 20 ... 40 readings, 0.5 ... 1.5 s apart. Between readings, every channel drifts by a random amount.
    """
    rng = np.random.default_rng(seed)
    starts, kinds = fresh(n, seed)
    rows, labels, gaps = [], [], []
    for start, kind in zip(starts, kinds, strict=True):
        length = rng.integers(20, 41)
        gap = rng.uniform(0.5, 1.5, length)
        steps = rng.normal(0, drift, (length, CHANNELS)) * np.sqrt(gap)[:, None]
        steps[0] = 0
        rows += [np.maximum(start + steps.cumsum(axis=0) + rng.normal(0, 0.03, (length, CHANNELS)), 0)]
        rows += [np.zeros((1, CHANNELS))]
        labels += [np.full(length, kind), [AIR]]
        gaps += [gap, [10.0]]
    return np.cumsum(np.concatenate(gaps)), np.concatenate(rows), np.concatenate(labels)


def compare(n=100, seed=1):
    """Return times, readings and substances, and the answers of the model at rest and while adapting."""
    readings, labels = fresh(400, seed=0)
    how = {"kappa": 60.0, "pull": 1.0, "memory": 4.0, "memory_in": "time"}  # the memory is in seconds, as the times are
    clustering = ElasticClustering(n_clusters=4, **how, random_state=0)
    model = ElasticClassifier(clustering).fit(readings, labels)
    times, rows, truth = exposures(n, seed)
    return times, rows, truth, model.predict(rows), model.track_labels(rows, times)


def draw(times, rows, truth, static, elastic, seconds=250):
    """Draw the first minutes: all channels, and the three rows of labels."""
    shown = times < seconds
    with house_style():
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
        top.plot(times[shown], np.where(truth == AIR, np.nan, rows.T).T[shown], lw=0.6, color=BLACK)
        top.set_ylabel("12 channels (a.u.)")
        for height, answers in enumerate((elastic, static, truth)):
            for kind, (name, colour) in enumerate(zip(SUBSTANCES, COLOURS, strict=True)):
                mine = shown & (answers == kind) & (truth != AIR)
                bottom.plot(times[mine], np.full(mine.sum(), height), "|", ms=14, mew=2, color=colour,
                            label=name if height == 0 else None)  # fmt: skip
        bottom.set_yticks(range(3), ["elastic", "at rest", "truth"])
        bottom.set(xlabel="time (s)", ylim=(-0.6, 2.6))
        figure.legend(loc="outside upper center", ncols=4, frameon=False, fontsize=8)
        for label, colour in zip(bottom.get_yticklabels(), (ORANGE, BLACK, BLACK), strict=True):
            label.set_color(colour)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="drifting_sensor.png")
    out = parser.parse_args().out
    times, rows, truth, static, elastic = compare()
    draw(times, rows, truth, static, elastic).savefig(out)
    seen = truth != AIR
    print(f"{seen.sum()} readings: at rest {100 * (static == truth)[seen].mean():.0f} % right, ", end="")
    print(f"elastic {100 * (elastic == truth)[seen].mean():.0f} %")
