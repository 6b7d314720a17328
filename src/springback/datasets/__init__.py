"""Data: images fetched and verified, the videos and worlds made of them."""

from springback.datasets.drift import Drift, fading, make_drift, moving, turning
from springback.datasets.environment import Observations, RandomContinuousEnvironment
from springback.datasets.environment_inference import Inference
from springback.datasets.fashion_mnist import load_fashion_mnist
from springback.datasets.head import render_head, rotating_head
from springback.datasets.mnist import load_mnist
from springback.datasets.omnist import NoiseObject, Occluder, Omnist, make_omnist, noise_frames, omnist_2020
from springback.datasets.video_file import load_video, save_video

__all__ = [
    "Drift",
    "Inference",
    "NoiseObject",
    "Observations",
    "Occluder",
    "Omnist",
    "RandomContinuousEnvironment",
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
