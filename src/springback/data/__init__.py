"""Data sets: images, and the streams that are made from them.

Start with `load_mnist` or `load_fashion_mnist`, which download and verify images on first use, and `make_omnist`, which
turns images into an occluded video. `RandomContinuousEnvironment` is the random world of the theory. `change_events`
turns frames into the events of a camera. `save_video` and `load_video` store videos.
"""

from springback.data.environment import Inference, Observations, RandomContinuousEnvironment
from springback.data.events import change_events
from springback.data.mnist import load_fashion_mnist, load_mnist
from springback.data.omnist import NoiseObject, Occluder, Omnist, make_omnist, noise_frames, omnist_2020
from springback.data.video_file import load_video, save_video

__all__ = [
    "Inference",
    "NoiseObject",
    "Observations",
    "Occluder",
    "Omnist",
    "RandomContinuousEnvironment",
    "change_events",
    "load_fashion_mnist",
    "load_mnist",
    "load_video",
    "make_omnist",
    "noise_frames",
    "omnist_2020",
    "save_video",
]
