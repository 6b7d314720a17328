"""Data sets: images, and the streams that are made from them.

Start with `load_mnist` or `load_fashion_mnist`, which download and verify images on first use, and `make_omnist`, which
turns images into an occluded video. `make_drift` makes images turn, move or fade, `RandomContinuousEnvironment` is the
random world of the theory, and `rotating_head` draws a head that turns. `change_events` turns frames into the events of
a camera. `save_video` and `load_video` store videos.
"""

from springback.data.drift import Drift, fading, make_drift, moving, turning
from springback.data.environment import Observations, RandomContinuousEnvironment
from springback.data.environment_inference import Inference
from springback.data.events import change_events
from springback.data.fashion_mnist import load_fashion_mnist
from springback.data.head import render_head, rotating_head
from springback.data.mnist import load_mnist
from springback.data.omnist import NoiseObject, Occluder, Omnist, make_omnist, noise_frames, omnist_2020
from springback.data.video_file import load_video, save_video

__all__ = [
    "Drift",
    "Inference",
    "NoiseObject",
    "Observations",
    "Occluder",
    "Omnist",
    "RandomContinuousEnvironment",
    "change_events",
    "fading",
    "load_fashion_mnist",
    "load_mnist",
    "load_video",
    "make_drift",
    "make_omnist",
    "moving",
    "noise_frames",
    "omnist_2020",
    "render_head",
    "rotating_head",
    "save_video",
    "turning",
]
