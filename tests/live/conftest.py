"""A small recorded stream, and what a model answers to it."""

import shutil
import socket
import subprocess
import time

import numpy as np
import pytest

from springback.heads import ElasticHead, Observer
from springback.live import answers
from springback.live.follower import Follower, ModelOptions

MOSQUITTO = shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/sbin")
LONG_S = 60


class HeadFollower(Follower):
    """An elastic head on rows, pictures or windows of sound, which `preparation` makes into rows."""

    def __init__(self, head, preparation=None):
        super().__init__(head, "a head", ModelOptions(classes=("zero", "one", "two")))
        self.preparation = preparation or self.preparation


def new_head(width, seed=0):
    rng = np.random.default_rng(seed)
    return ElasticHead(rng.normal(size=(3, width)), np.zeros(3), Observer(novelty_odds=0.05))


@pytest.fixture
def rows():
    """Forty rows of four features that wander, float64."""
    rng = np.random.default_rng(1)
    return np.repeat(rng.normal(size=(5, 4)), 8, axis=0) + rng.normal(0, 0.3, (40, 4)).cumsum(axis=0)


@pytest.fixture
def expected(rows):
    """What `track` answers to the recorded rows."""
    return new_head(4).track(rows)


def posteriors(source, follower=None, **options):
    """All answers to a source, (T, K); the source is closed."""
    with source:
        found = [one.followed.posterior for one in answers(source, follower or HeadFollower(new_head(4)), **options)]
    return np.concatenate(found)


@pytest.fixture(scope="session")
def video(tmp_path_factory):
    """Thirty pictures of 64 x 48 that wander between colours, at 10 per second."""
    av = pytest.importorskip("av", reason="the extra video is not installed")
    path = tmp_path_factory.mktemp("video") / "clip.mp4"
    colours = np.cumsum(np.random.default_rng(0).normal(0, 20, (30, 3)), axis=0) + 128
    with av.open(str(path), "w") as file:
        stream = file.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for colour in colours.clip(0, 255):
            pixels = np.broadcast_to(colour.astype(np.uint8), (48, 64, 3)).copy()
            pixels[:, :20] = 255 - pixels[:, :20]
            file.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        file.mux(stream.encode())
    return path


class Broker:
    """A real broker on a free port of this machine."""

    def __init__(self, folder):
        self.log = (folder / "log").open("ab")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.settings = folder / "mosquitto.conf"
        largest = "max_packet_size 268435455"  # from version 2.1 on, a broker refuses more than 2 MB otherwise
        self.settings.write_text(f"listener {self.port} 127.0.0.1\nallow_anonymous true\n{largest}\n")
        self.start()

    def start(self):
        self.process = subprocess.Popen([MOSQUITTO, "-c", self.settings], stdout=self.log, stderr=self.log)
        ends = time.monotonic() + LONG_S
        while time.monotonic() < ends:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert self.process.poll() is None, "the broker ended"
                time.sleep(0.05)
        raise AssertionError("the broker does not listen")

    def stop(self):
        self.process.terminate()
        self.process.wait(LONG_S)

    def publish(self, payloads):
        from paho.mqtt.client import Client
        from paho.mqtt.enums import CallbackAPIVersion

        client = Client(CallbackAPIVersion.VERSION2)
        client.connect("127.0.0.1", self.port)
        client.loop_start()
        for payload in payloads:
            client.publish("hall/imu", payload, qos=1).wait_for_publish(LONG_S)
        client.disconnect()
        client.loop_stop()


@pytest.fixture
def broker(tmp_path):
    pytest.importorskip("paho.mqtt.client", reason="the extra mqtt is not installed")
    if MOSQUITTO is None:
        pytest.skip("mosquitto is not installed (Debian: apt install mosquitto)")
    started = Broker(tmp_path)
    yield started
    started.stop()
    started.log.close()
