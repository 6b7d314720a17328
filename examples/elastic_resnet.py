"""A residual network that was trained on still pictures follows a video of pictures that are gradually hidden.

    python examples/elastic_resnet.py                    handwritten digits; a few minutes on one core
    python examples/elastic_resnet.py fashion-mnist      clothes
    python examples/elastic_resnet.py mnist 1            the same with another seed of the network

The network has the usual architecture for CIFAR-10 (3 x 32 x 32 inputs, three stages of residual blocks, a linear head
`fc`), but is narrower, and its features are centred before the head: rectified and averaged features have a large
component in common, and a pull on one class would pull it for almost every input. The network never sees a video in
training. Then its head becomes elastic; nothing else changes. If torchvision is installed, the same three lines work
for its models:

    model = torchvision.models.resnet18(weights="DEFAULT")
    tuned = tune_elastic(model, frames)             # frames (time, streams, 3, height, width), no labels needed
    outputs = track(tuned.elasticize(model), frames)

Cells are marked with `# %%`, as notebooks are in most editors.
"""

# %% The network
import math
import sys

import numpy as np

import torch
from springback.data import load_fashion_mnist, load_mnist, make_omnist
from springback.torch import Observer, Springs, elasticize, track, tune_elastic
from torch import nn

LOAD = {"mnist": load_mnist, "fashion-mnist": load_fashion_mnist}
CLASSES = 11


class Block(nn.Module):
    """Two convolutions with a shortcut around them."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)
        self.shortcut = nn.Conv2d(before, after, 1, stride, bias=False) if stride > 1 else nn.Identity()

    def forward(self, x):
        inner = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return torch.relu(inner + self.shortcut(x))


class ResNet(nn.Module):
    """A stem, three stages that halve the image and double the features, centred averages, and the head `fc`."""

    def __init__(self, width=8, blocks=1):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        stages, before = [], width
        for stage in range(3):
            after = width * 2**stage
            for number in range(blocks):
                stages.append(Block(before, after, 2 if stage and not number else 1))
                before = after
        self.layers = nn.Sequential(*stages)
        self.avgpool = nn.AdaptiveAvgPool2d(2)
        self.norm = nn.BatchNorm1d(before * 4, affine=False)
        self.fc = nn.Linear(before * 4, CLASSES)

    def forward(self, x):
        x = self.layers(torch.relu(self.bn1(self.conv1(x))))
        return self.fc(self.norm(self.avgpool(x).flatten(1)))


# %% Pictures: 28 x 28 grey -> 32 x 32 with three channels
def as_images(pixels):
    """Convert uint8 (n, 28, 28) to float32 (n, 3, 32, 32)."""
    grey = torch.nn.functional.pad(torch.tensor(pixels).float() / 255, (2, 2, 2, 2))
    return grey.unsqueeze(1).expand(-1, 3, -1, -1)


def as_streams(video, n_streams):
    """Cut the video into streams of equal length: frames (T, streams, 3, 32, 32) and labels (T, streams)."""
    steps = len(video) // n_streams
    frames = as_images(video.frames[: steps * n_streams]).unflatten(0, (n_streams, steps)).transpose(0, 1)
    return frames, torch.tensor(video.labels[: steps * n_streams]).reshape(n_streams, steps).T


# %% Training on still pictures, and on noise as an eleventh class (as the paper trains its convolutional network)
def train(images, noise, epochs, batch=64, seed=0):
    """Train a network on `images` and on the noise frames of the video `noise`."""
    torch.manual_seed(seed)
    x = as_images(np.concatenate([images.pixels, noise.frames[noise.labels == CLASSES - 1]]))
    labels = torch.from_numpy(np.concatenate([images.labels, np.full(len(x) - len(images), CLASSES - 1)]))
    model = ResNet()
    optimiser = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 1e-2, epochs * math.ceil(len(x) / batch))
    rng = torch.Generator().manual_seed(seed)
    for _ in range(epochs):
        for rows in torch.randperm(len(x), generator=rng).split(batch):
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(x[rows]), labels[rows]).backward()
            optimiser.step()
            schedule.step()
    return model.eval().requires_grad_(False)


# %% The comparison
def share_right(model, frames, labels):
    """Return the accuracy on streams; a plain model has no state, so it judges every frame on its own."""
    return float((track(model, frames).argmax(dim=-1) == labels).double().mean())


def compare(name="mnist", images=8000, epochs=4, batch=64, digits=320, n_streams=8, n_trials=40, seed=0):
    """Return rows (name, accuracy on still pictures or None, accuracy on the video), and the settings of each.

    Settings are chosen on a video of other training pictures; all accuracies are measured on test pictures.
    """
    training, test = LOAD[name]("train"), LOAD[name]("test")
    model = train(training[:images], make_omnist(training[-2 * digits : -digits], seed=1), epochs, batch, seed)
    known = as_streams(make_omnist(training[-digits:], seed=2), n_streams)
    frames, labels = as_streams(make_omnist(test[:digits], seed=3), n_streams)

    shown = as_images(test.pixels[:1000])
    still = float((model(shown).argmax(dim=-1).numpy() == test.labels[:1000]).mean())
    rows = [("static", still, share_right(model, frames, labels))]
    without = tune_elastic(model, known[0], n_trials=n_trials)
    with_labels = tune_elastic(model, *known, n_trials=n_trials)
    heads = {
        "default observer": elasticize(model, Observer()),
        "default springs": elasticize(model, Springs()),
        "tuned without labels": without.elasticize(model),
        "tuned": with_labels.elasticize(model),
    }
    for how, elastic in heads.items():
        rows.append((f"elastic, {how}", None, share_right(elastic, frames, labels)))
    return rows, {how: elastic.fc.settings for how, elastic in heads.items()}


def main(name="mnist", seed="0"):
    rows, settings = compare(name, seed=int(seed))
    print(f"{name}: accuracy in percent on test pictures\n{'':32} {'still':>8} {'video':>8}")
    for what, still, video in rows:
        print(f"{what:32} {'' if still is None else f'{100 * still:.1f}':>8} {100 * video:8.1f}")
    for how, chosen in settings.items():
        print(f"{how}: {chosen}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
