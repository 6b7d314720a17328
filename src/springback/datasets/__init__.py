"""Data: images fetched and verified, the videos and worlds made of them."""

from springback.datasets.fashion_mnist import load_fashion_mnist
from springback.datasets.mnist import load_mnist
from springback.datasets.omnist import NoiseObject, Occluder, Omnist, make_omnist, noise_frames, omnist_2020
from springback.datasets.video_file import load_video, save_video

__all__ = [
    "NoiseObject",
    "Occluder",
    "Omnist",
    "load_fashion_mnist",
    "load_mnist",
    "load_video",
    "make_omnist",
    "noise_frames",
    "omnist_2020",
    "save_video",
]
