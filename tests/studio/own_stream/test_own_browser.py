"""The camera and the microphone in a real browser, which is given recordings instead of devices."""

import pytest

from springback.extras import missing_extra
from springback.live.frames import Bad, Frames
from springback_studio.view import View
from tests.studio.chromium import PROGRAM, Chromium
from tests.studio.conftest import serving
from tests.studio.own_stream.test_own_stream_tab import LABELS, ROWS, Recorded, make_stream
from tests.studio.recorded import scene, tone, write_camera, write_microphone

pytestmark = [pytest.mark.waits, pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed")]

PHONE = {"width": 390, "height": 844, "scale": 2, "phone": True}
SEEN = """(() => {
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  pen.drawImage(document.querySelector("#screen"), 300, 220, 40, 40, 0, 0, 1, 1);
  const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
  return red > blue + 25 ? 0 : blue > red + 25 ? 1 : -1;
})()"""
"""Which of two scenes the page shows: red stripes or blue ones."""


HEARD = """(() => {
  const screen = document.querySelector("#screen");
  const pen = new OffscreenCanvas(screen.width, screen.height).getContext("2d", { willReadFrequently: true });
  pen.drawImage(screen, 0, 0);
  const covered = (share) => pen.getImageData(0.98 * screen.width, share * screen.height, 1, 1).data[3] > 0;
  return covered(0.3) ? 1 : covered(0.48) ? 2 : 0;
})()"""
"""Which of two tones the waveform ends with: the loud one or the soft one."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    folder = tmp_path_factory.mktemp("devices")
    camera = write_camera(folder / "camera.y4m", [scene(0), scene(1)], repeats=50)
    microphone = write_microphone(folder / "microphone.wav", [tone(330, 5, loudness=0.8), tone(2500, 5, loudness=0.1)])
    chromium = Chromium(
        folder / "profile",
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
        "--autoplay-policy=no-user-gesture-required",
        f"--use-file-for-fake-video-capture={camera}",
        f"--use-file-for-fake-audio-capture={microphone}",
    )
    yield chromium
    chromium.close()


@pytest.fixture(scope="module")
def served():
    with serving(View(model="elastic", source="digit")) as studio:
        yield studio


@pytest.fixture
def open_page(browser, served):
    opened = []

    def opener(path, **look):
        opened.append(browser.open(served.address + path, **look))
        return opened[-1]

    yield opener
    for tab in opened:
        tab.close()
        assert tab.errors == []


def start(tab):
    tab.until("!document.querySelector('#start').disabled")
    tab.activate("#start")
    tab.until("Number(document.body.dataset.answered) >= 2")


def press(tab, thing, kind):
    x, y = tab.middle(f".thing:nth-child({thing + 1}) .hold")
    tab.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


def taught(thing):
    button = f"document.querySelector('.thing:nth-child({thing + 1}) .hold').textContent"
    return f"Number(/[0-9]+/.exec({button})?.[0]) >= 8"


def teach(tab, thing):
    """A short press, which teaches a few frames."""
    press(tab, thing, "mousePressed")
    press(tab, thing, "mouseReleased")
    tab.until(taught(thing))
    tab.until("!document.querySelector('.hold.on')")


def test_a_visitor_teaches_two_things_to_the_camera_and_both_are_recognised(open_page, tmp_path):
    tab = open_page("own.html#camera")
    start(tab)
    for thing in (0, 1):
        tab.until(f"{SEEN} === {thing}")
        teach(tab, thing)
    names = ["Background", "Thing 1"]
    for thing in (1, 0):
        tab.until(f"{SEEN} === {thing} && document.querySelector('#answer-0').textContent === {names[thing]!r}")
        assert tab.run("document.querySelector('#answer-1').textContent") in names
    tab.until("document.querySelector('#changes-0').textContent.startsWith('changed its mind')")
    tab.settle()
    tab.screenshot(tmp_path / "camera.png")


@pytest.mark.more
def test_a_visitor_teaches_two_sounds_to_the_microphone(open_page):
    tab = open_page("own.html#microphone")
    start(tab)
    for thing in (1, 2):
        tab.until(f"{HEARD} === {thing}")
        teach(tab, thing)
    for thing in (1, 2):
        tab.until(f"{HEARD} === {thing} && document.querySelector('#answer-0').textContent === 'Sound {thing}'")


def on_the_screen(tab, name):
    """Whether an element is on the screen without scrolling."""
    box = f"document.querySelector('#{name}').getBoundingClientRect()"
    return tab.run(f"scrollY === 0 && {box}.top >= 0 && {box}.bottom <= innerHeight && {box}.right <= innerWidth")


@pytest.mark.parametrize(("page", "names"), [("own.html#camera", "answer"), ("index.html", "glance")])
def test_on_a_phone_both_answers_are_seen_without_scrolling(open_page, page, names, tmp_path):
    tab = open_page(page, **PHONE)
    if page == "index.html":
        tab.until("Number(document.body.dataset.frame) >= 2")
        tab.until("document.querySelector('#glance-0').textContent !== '–'")
        tab.key("Escape", "Escape")
    else:
        tab.until("!document.querySelector('#start').disabled")
        assert on_the_screen(tab, "screen")
        assert on_the_screen(tab, "start")
    assert on_the_screen(tab, f"{names}-0")
    assert on_the_screen(tab, f"{names}-1")
    assert tab.run("document.documentElement.scrollWidth <= innerWidth")
    tab.settle()
    tab.screenshot(tmp_path / "phone.png", whole=False)


def test_a_camera_that_is_not_allowed_is_one_sentence(open_page):
    tab = open_page("own.html#camera")
    tab.until("!document.querySelector('#start').disabled")
    tab.run("navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', 'NotAllowedError'))")
    tab.activate("#start")
    tab.until("!document.querySelector('#notice').hidden")
    assert "Allow it next to the address" in tab.run("document.querySelector('#notice').textContent")
    assert tab.run("document.querySelector('#start').textContent") == "Start the camera"


@pytest.mark.parametrize("look", [{}, PHONE], ids=["desktop", "phone"])
def test_a_model_that_cannot_start_says_so_on_the_page_with_the_command(browser, look, tmp_path):
    def fail():
        raise missing_extra("network.onnx", "onnxruntime")

    with serving(View(model="elastic", source="digit"), own=make_stream(None, fail)) as studio:
        tab = browser.open(studio.address + "own.html", **look)
        try:
            tab.until("!document.querySelector('#failure').hidden")
            assert "pip install 'springback[" in tab.run("document.querySelector('#failure-why').textContent")
            assert on_the_screen(tab, "failure-why")
            tab.screenshot(tmp_path / "failure.png", whole=False)
        finally:
            tab.close()
        assert tab.errors == []


def test_a_source_of_ones_own_is_shown_with_its_truth(browser, tmp_path):
    with serving(View(model="elastic", source="digit"), own=make_stream()) as studio:
        tab = browser.open(studio.address + "own.html")
        try:
            tab.until(f"document.querySelector('#meter').textContent === 'Frame {len(LABELS)}'")
            tab.until("document.querySelector('#caption').textContent.endsWith('The source has ended.')")
            assert tab.run("document.querySelector('#correct-0').textContent").endswith(
                f"of {len(LABELS)} frames correct"
            )
            tab.click("#again")
            tab.until("!document.querySelector('#caption').textContent.endsWith('The source has ended.')")
            tab.settle()
            tab.screenshot(tmp_path / "source.png")
        finally:
            tab.close()
        assert tab.errors == []


class Damaged(Recorded):
    """Rows with two lines between them that are no rows, one near the start and one at the end."""

    def __init__(self):
        super().__init__()
        wide = "not a row of numbers: b'" + "0123456789abcdef" * 20 + "'"
        bad = tuple(Bad(before, f"line {before}: {wide}") for before in (2, len(ROWS)))
        self._left = [Frames(values=ROWS, labels=LABELS, bad=bad), None]


def test_a_page_of_400_pixels_shows_a_long_reason_without_growing_and_counts_unusable_frames_as_they_come(browser):
    caption = "document.querySelector('#caption').textContent"
    with serving(View(model="elastic", source="digit"), own=make_stream(Damaged, speed=8)) as studio:
        tab = browser.open(studio.address + "own.html", width=400, height=800, scale=1)
        try:
            tab.until(f"{caption}.includes('1 frame could not be used: line 2: not a row')")
            tab.until(f"{caption}.includes('2 frames could not be used: line {len(ROWS)}: not a row')")
            assert tab.run("document.documentElement.scrollWidth") <= 400
        finally:
            tab.close()
        assert tab.errors == []
