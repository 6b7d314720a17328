"""How the shipped models are made: `python -m springback_paper.pretraining` trains, quantises and writes them.

It takes about ten minutes on one core. Nothing is learned from test digits; those that are shipped for the picker are
the first ten of each class, without any selection.
"""

import argparse
import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.data import load_mnist, make_omnist, noise_frames
from springback.data import pretrained as shipped
from springback.elastic import Elasticity, Exponential, best_threshold, init, prepare, track
from springback.files.atomic import atomic_file
from springback.files.container import write
from springback.files.quantised import decode, encode
from springback.spiking.evaluation import follow_video
from springback.spiking.fitting import train_model
from springback.spiking.presets import springback_2026
from springback.spiking.weights import Weights
from springback.streaming.metrics import accuracy
from springback.streaming.records import NOISE_LABEL, Images, Video
from springback.streaming.wording import percent
from springback_paper.inputs.elastic_omnist import ElasticOmnist, brightness

SEED = 0
_COMPARED_DIGITS = 500
_NOISE_FRAMES = 6000
_CNN_EPOCHS = 6

CNN_SPRINGS: dict[str, Any] = {"pull": 20.0, "memory": 5 / 3}
"""Of the last layer of the CNN, when it follows a video."""


def main(arguments: list[str] | None = None) -> None:
    """Make the files and print how accurate each model is before and after its weights are rounded to bytes."""
    parser = argparse.ArgumentParser(prog="python -m springback_paper.pretraining", description=main.__doc__)
    parser.add_argument("--out", type=Path, default=shipped.models_folder(), help="Folder for the files.")
    parser.add_argument("--only", choices=("digits", "elastic", "spiking", "cnn"), help="Make only this file.")
    chosen = parser.parse_args(arguments)
    train, test = load_mnist("train"), load_mnist("test")
    makers: dict[str, Any] = {
        "digits": make_digits,
        "elastic": make_elastic,
        "spiking": make_spiking,
        "cnn": make_cnn,
    }
    for name, make in makers.items():
        if chosen.only in (None, name):
            record, said = make(train, test)
            write(chosen.out / f"{name}.safetensors", shipped.FILES[name][0], record, about={"made_of": "MNIST"})
            print(f"{name}: {said}", flush=True)
    write_checksums(chosen.out)


def write_checksums(folder: Path) -> None:
    """Write the checksums of all files next to them, in the format of `sha256sum`."""
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in _files(folder)]
    with atomic_file(folder / shipped.CHECKSUMS) as file:
        file.write(("\n".join(lines) + "\n").encode())


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.safetensors"))


def make_digits(_train: Images, test: Images) -> tuple[shipped.CodedDigits, str]:
    """The first ten test digits of each class."""
    rows = np.concatenate([np.flatnonzero(test.labels == one)[: shipped.DIGITS_PER_CLASS] for one in range(10)])
    return shipped.CodedDigits(test.pixels[rows]), f"{len(rows)} test digits"


def make_spiking(train: Images, test: Images) -> tuple[shipped.CodedSpiking, str]:
    """A network of 400 neurons, trained as `springback train` does."""
    preset = springback_2026(n_neurons=shipped.N_NEURONS)
    model = train_model(train, preset, seed=SEED, data="mnist train", workers=2)
    codes = encode(np.ascontiguousarray(model.weights.resting.T))
    rounded = replace(model, weights=Weights(np.ascontiguousarray(decode(codes).T), model.weights.theta))
    video = make_omnist(test[:_COMPARED_DIGITS], seed=SEED)
    scores = [
        follow_video(one, video, adapts=adapts, seed=SEED).accuracy
        for one in (model, rounded)
        for adapts in (False, True)
    ]
    return shipped.CodedSpiking(codes, model.weights.theta, model.neuron_labels), _compared(video, scores)


def make_elastic(train: Images, test: Images) -> tuple[shipped.CodedElastic, str]:
    """400 centroids with the settings of `springback_paper.tasks.elastic`."""
    from springback.elastic import ElasticClassifier, ElasticClustering, spherical_k_means

    params = ElasticOmnist()
    pixels = brightness(train.pixels, params.power)
    resting = spherical_k_means(pixels, shipped.N_NEURONS, seed=SEED, iterations=params.iterations).centroids
    classifier = ElasticClassifier(
        ElasticClustering(len(resting), resting=resting, kappa=params.kappa, pull=params.pull)
    )
    shares = classifier.fit(pixels, train.labels).label_shares_.astype(np.float32)
    codes = encode(resting)
    practice = make_omnist(train[len(train) - params.threshold_images :], seed=SEED + 1_000_000)
    video = make_omnist(test[:_COMPARED_DIGITS], seed=SEED)
    scores, thresholds = [], []
    for centroids in (resting, decode(codes)):
        for pull, beta in ((0.0, None), (params.pull, params.beta)):
            elasticity = Elasticity(kappa=params.kappa, pull=pull, beta=beta, kernel=Exponential(memory=params.memory))
            model = prepare(elasticity, centroids)
            _, response = track(model, init(model), brightness(practice.frames, params.power))
            thresholds.append(best_threshold(response.similarity, practice.labels == NOISE_LABEL))
            _, response = track(model, init(model), brightness(video.frames, params.power))
            named = np.where(response.similarity < thresholds[-1], NOISE_LABEL, (response.posterior @ shares).argmax(1))
            scores.append(accuracy(named, video.labels))
    noise = np.array([thresholds[3], thresholds[2]])
    return shipped.CodedElastic(codes, shares, noise), _compared(video, scores)


def make_cnn(train: Images, test: Images) -> tuple[shipped.CodedCnn, str]:
    """The paper's CNN, trained on still digits and frames of noise."""
    from springback_paper.baselines import Cnn, StillTraining, train_still
    from springback_paper.baselines.model_file import set_weights, weights_of

    noise = noise_frames(_NOISE_FRAMES, seed=SEED)
    frames = Images(
        np.concatenate([train.pixels, noise]), np.concatenate([train.labels, np.full(len(noise), NOISE_LABEL)])
    )
    trained = train_still(Cnn(seed=SEED), frames, StillTraining(epochs=_CNN_EPOCHS), seed=SEED)
    codes = {name: encode(value) for name, value in weights_of(trained).items()}
    rounded = Cnn().eval()
    set_weights(rounded, {name: decode(one) for name, one in codes.items()})
    video = make_omnist(test[:_COMPARED_DIGITS], seed=SEED)
    scores = [
        accuracy(_followed_by_cnn(one, video, adapts=adapts), video.labels)
        for one in (trained, rounded)
        for adapts in (False, True)
    ]
    return shipped.CodedCnn(codes), _compared(video, scores)


def _followed_by_cnn(model: Any, video: Video, *, adapts: bool) -> NDArray[np.int64]:
    """The class of each frame of a video, with the last layer elastic or frozen."""
    import torch
    from springback.heads.memories.springs import Springs
    from springback.torch import algorithm

    head, springs = model.head, Springs(**CNN_SPRINGS)
    with torch.inference_mode():
        features = torch.cat([model.features(torch.tensor(part.frames) / 255) for part in video.chunks()])
        if not adapts:
            return np.asarray(head(features).argmax(1).numpy())
        state = algorithm.init(springs, head.weight, 1)
        _, response = algorithm.track(springs, head.weight, head.bias, state, features[:, None], in_place=True)
    return np.asarray(response.output[:, 0].argmax(1).numpy())


def _compared(video: Video, scores: list[float]) -> str:
    static, adapting, static_bytes, adapting_bytes = (percent(score) for score in scores)
    return (
        f"accuracy on {len(video):,} frames, as trained {static} % static, {adapting} % adapting; "
        f"as bytes {static_bytes} % and {adapting_bytes} %"
    )


if __name__ == "__main__":
    main()
