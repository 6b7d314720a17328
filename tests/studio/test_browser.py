"""The page in a real browser: what it shows is what the library computes, and its console stays silent."""

import io
import sys
import time

import numpy as np
import pytest
from PIL import Image

from springback.data.pretrained import shipped_digits, shipped_spiking
from springback.spiking.inference import init, track
from springback.spiking.presets import springback_2026
from springback.streaming import metrics, readout
from springback_studio.inputs import fitted, stream_round
from springback_studio.view import View, command_of
from tests.studio.chromium import PROGRAM, Chromium
from tests.studio.conftest import eventually, serving

pytestmark = [pytest.mark.waits, pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed")]

READ = """(() => {{
  const pen = new OffscreenCanvas({side}, {side}).getContext("2d", {{ willReadFrequently: true }});
  pen.drawImage(document.querySelector("#{name}"), 0, 0);
  return [...pen.getImageData(0, 0, {side}, {side}).data].filter((_, i) => i % 4 === 0);
}})()"""
INK, WELL = 0x1A, 0xF7


@pytest.fixture(scope="module")
def served():
    with serving(View(model="spiking", speed=30)) as studio:
        yield studio


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    chromium = Chromium(tmp_path_factory.mktemp("profile"))
    yield chromium
    chromium.close()


@pytest.fixture
def tab(browser, served):
    assert eventually(lambda: not served.live)
    page = browser.open(served.address)
    try:
        page.until("Number(document.body.dataset.frame) >= 2")
        yield page
    finally:
        page.close()
    assert page.errors == []


def visible(tab, name):
    """Whether an element is on the screen, not only on the page, and nothing lies over it."""
    return tab.run(
        f"(one => {{ const {{x, y, width, height}} = one.getBoundingClientRect();"
        " return one.contains(document.elementFromPoint(x + width / 2, y + height / 2)); })"
        f"(document.querySelector('#{name}'))"
    )


def text(tab, name):
    return tab.run(f"document.querySelector('#{name}').textContent")


def pause(tab):
    tab.run("document.querySelector('#play').textContent === 'Pause' && document.querySelector('#play').click()")
    tab.until("document.querySelector('#play').textContent === 'Play'")


def choose(tab, name, value):
    tab.run(
        f"(one => {{ one.value = {value!r};"
        " one.dispatchEvent(new Event('input')); one.dispatchEvent(new Event('change')); })"
        f"(document.querySelector('#{name}'))"
    )


def shown_pixels(tab, name="input", side=28):
    """What a canvas shows in light colours, back to 0 ... 255."""
    red = np.array(tab.run(READ.format(name=name, side=side))).reshape(side, side)
    return np.rint(255 * (WELL - red) / (WELL - INK)).clip(0, 255)


def test_the_stream_shows_the_librarys_own_numbers(tab, served):
    tab.until("Number(document.body.dataset.frame) >= 20")
    pause(tab)
    session = next(iter(served.live)).session
    assert eventually(lambda: tab.run("Number(document.body.dataset.frame)") == session.frame)
    n = session.frame
    video, model = stream_round(0, 0), shipped_spiking()
    frames = video.source(0, n)
    assert np.abs(shown_pixels(tab) - frames[-1]).max() <= 2
    for which, short_term in enumerate((model.preset.short_term, None)):
        _, counts = track(
            model.weights,
            init(model.weights, model.preset.circuit, short_term),
            frames,
            circuit=model.preset.circuit,
            presentation=model.preset.streaming,
            short_term=short_term,
        )
        predicted = readout.classify(counts, model.neuron_labels)
        answer = "noise" if predicted[-1] == 10 else str(predicted[-1])
        assert text(tab, f"answer-{which}") == answer
        share = 100 * metrics.accuracy(predicted, video.labels[:n])
        assert text(tab, f"accuracy-{which}") == f"{share:.1f} % of {n} frames"
        right = predicted[-1] == video.labels[n - 1]
        assert text(tab, f"verdict-{which}") == ("✓ correct" if right else "✗ wrong")


def test_a_visitor_draws_hides_throws_noise_and_switches_the_model(tab, served):
    session = next(iter(served.live)).session
    tab.key("Escape", "Escape")
    tab.click("#tab-drawing")
    tab.until("!document.querySelector('#panel-drawing').hidden")
    box = tab.box("#pad")
    x = box["x"] + box["width"] / 2
    tab.drag([(x, box["y"] + share * box["height"]) for share in np.linspace(0.15, 0.85, 12)])
    tab.until("document.querySelector('#truth').textContent === 'Shown: a drawing'")
    tab.until("document.querySelector('#answer-0').textContent === '1'")
    drawn = fitted(shown_pixels(tab, "pad", 112).astype(np.uint8))
    assert eventually(lambda: np.abs(session.view.drawing.astype(int) - drawn).max() <= 4)
    pause(tab)
    assert eventually(lambda: np.abs(shown_pixels(tab) - session.view.drawing).max() <= 2)

    tab.key("7", "Digit7")
    tab.until("document.querySelector('#truth').textContent === 'Shown: a 7'")
    tab.run("document.activeElement.blur()")
    for _ in range(9):
        tab.key("ArrowDown", "ArrowDown")
    tab.until("document.querySelector('#truth').textContent === 'Shown: a 7, 9 of 28 rows hidden'")
    expected = shipped_digits().pixels[70].copy()
    expected[:9] = 0
    assert eventually(lambda: np.abs(shown_pixels(tab) - expected).max() <= 2)

    tab.key("n", "KeyN")
    tab.key("ArrowRight", "ArrowRight")
    tab.until("document.querySelector('#truth').textContent === 'Shown: noise'")
    tab.key(" ", "Space")
    tab.until("document.querySelector('#play').textContent === 'Pause'")
    tab.until("document.querySelector('#truth').textContent.startsWith('Shown: a 7')")

    tab.click("#reset")
    choose(tab, "control-pull", "0.1")
    assert eventually(lambda: session.view.settings["pull"] == 0.1)
    tab.click("#reset")
    usual = springback_2026().short_term.pull
    tab.until(f"document.querySelector('#control-pull').value === '{usual:g}'")
    choose(tab, "model", "elastic")
    tab.until("document.querySelector('#says').textContent.startsWith('400 centroids')")
    assert eventually(lambda: session.view.model == "elastic")
    tab.until("document.querySelector('#answer-0').textContent === '7'")


def ends_with(path, end):
    """Whether a download is complete: the browser makes the file before it has written it."""
    return path.exists() and path.read_bytes().endswith(end)


def test_exports_are_a_picture_a_recording_and_a_command(tab, served, tmp_path):
    tab.key("Escape", "Escape")
    tab.downloads_to(tmp_path)
    tab.click("#record")
    tab.until("document.querySelector('#record').textContent === 'Stop and save'")
    start = tab.run("Number(document.body.dataset.frame)")
    tab.until(f"Number(document.body.dataset.frame) > {start + 5}")
    tab.click("#record")
    assert eventually(lambda: ends_with(tmp_path / "springback.gif", b";"))
    gif = Image.open(io.BytesIO((tmp_path / "springback.gif").read_bytes()))
    assert gif.n_frames >= 5

    pause(tab)
    tab.click("#png")
    assert eventually(lambda: ends_with(tmp_path / "springback.png", b"IEND\xaeB`\x82"))
    png = Image.open(tmp_path / "springback.png").convert("L")
    assert png.size[0] == 2 * 1440
    assert len(np.unique(np.asarray(png))) > 50

    tab.click("#command")
    tab.until("document.querySelector('#command-box').open")
    session = next(iter(served.live)).session
    assert text(tab, "command-text") == command_of(session.command_view())
    assert f"--frames {session.frame}" in text(tab, "command-text")


def test_it_fits_light_dark_and_phone(tab, tmp_path):
    tab.run("localStorage.clear(); window.stale = true; location.reload()")
    tab.until("!window.stale && Number(document.body?.dataset.frame) >= 10")
    tab.until("!document.querySelector('#guide').hidden")
    tab.click("#guide-close")
    tab.until("document.querySelector('#guide').hidden")
    pause(tab)
    brightness = {}
    for name, look in {
        "light": {},
        "dark": {"scheme": "dark"},
        "phone": {"width": 390, "height": 844, "scale": 2, "phone": True},
        "tablet": {"width": 900, "height": 1100, "scheme": "dark"},
    }.items():
        tab.look(**look)
        tab.until(f"document.documentElement.dataset.theme === '{look.get('scheme', 'light')}'")
        tab.until(f"innerWidth === {look.get('width', 1440)}")
        tab.settle()
        image = Image.open(io.BytesIO(tab.screenshot(tmp_path / f"{name}.png"))).convert("L")
        brightness[name] = np.asarray(image)[5, 5]
        assert tab.run("document.documentElement.scrollWidth <= innerWidth")
    assert brightness["light"] > 200
    assert brightness["dark"] < 60
    unnamed = tab.run(
        "[...document.querySelectorAll('button, input, select, canvas[role]')].filter((one) =>"
        " !(one.labels?.length || one.textContent.trim() || one.ariaLabel || one.title)).map((one) => one.outerHTML)"
    )
    assert unnamed == []


LOOKS = {"light": {}, "dark": {"scheme": "dark"}, "phone": {"width": 390, "height": 844, "scale": 2, "phone": True}}
INSTALL = "pip install 'springback[torch]'"


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
@pytest.mark.usefixtures("no_torch")
def test_a_model_that_cannot_start_says_so_on_the_page_and_another_can_be_chosen(browser, look, tmp_path):
    with serving(View(model="cnn", source="digit")) as studio:
        tab = browser.open(studio.address, **look)
        try:
            tab.until("!document.querySelector('#failure').hidden")
            assert INSTALL in text(tab, "failure-why")
            assert text(tab, "failure-title") == "This model cannot start: CNN, elastic last layer"
            assert "Choose another model" in text(tab, "failure-next")
            assert visible(tab, "failure-why")
            assert tab.run("document.querySelector('#busy').hidden && document.querySelector('#grid').inert")
            assert tab.run("document.documentElement.scrollWidth <= innerWidth")
            tab.settle()
            tab.screenshot(tmp_path / "failure.png")
            tab.run(
                "void (window.hidden_once = new Promise((done) => new MutationObserver(() => done(true))"
                ".observe(document.querySelector('#failure'), { attributes: true })))"
            )
            tab.click("#failure-again")
            assert tab.run("window.hidden_once")
            tab.until("!document.querySelector('#failure').hidden")
            choose(tab, "model", "elastic")
            tab.until("Number(document.body.dataset.frame) >= 2")
            assert tab.run("document.querySelector('#failure').hidden && !document.querySelector('#grid').inert")
        finally:
            tab.close()
        assert tab.errors == []


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_a_model_that_cannot_be_switched_to_says_so_and_the_present_one_goes_on(browser, look, tmp_path, monkeypatch):
    with serving(View(model="elastic", source="digit")) as studio:
        tab = browser.open(studio.address, **look)
        try:
            tab.until("Number(document.body.dataset.frame) >= 2")
            tab.key("Escape", "Escape")
            monkeypatch.setitem(sys.modules, "torch", None)
            tab.run("document.querySelector('#explained').scrollIntoView()")
            choose(tab, "model", "cnn")
            tab.until("!document.querySelector('#failure').hidden")
            assert INSTALL in text(tab, "failure-why")
            assert text(tab, "failure-next") == "The page continues with: Elastic clustering."
            assert tab.run("document.querySelector('#model').value") == "elastic"
            assert visible(tab, "failure-why")
            frame = tab.run("Number(document.body.dataset.frame)")
            tab.until(f"Number(document.body.dataset.frame) > {frame + 2}")
            tab.settle()
            tab.screenshot(tmp_path / "failure.png", whole=False)
            tab.click("#failure-close")
            tab.until("document.querySelector('#failure').hidden")
        finally:
            tab.close()
        assert tab.errors == []


def test_an_error_that_ends_the_view_stays_on_the_page(browser, monkeypatch, tmp_path, caplog):
    with serving(View(model="elastic", source="digit")) as studio:
        tab = browser.open(studio.address)
        try:
            tab.until("Number(document.body.dataset.frame) >= 2")
            monkeypatch.setattr("springback_studio.session.Session.advance", lambda *_: 1 / 0)
            tab.until("!document.querySelector('#notice').hidden")
            assert text(tab, "notice").startswith("Internal error; see the terminal")
            assert visible(tab, "notice")
            tab.settle()
            tab.screenshot(tmp_path / "ended.png")
        finally:
            tab.close()
    assert "ZeroDivisionError" in caplog.text


def test_a_studio_that_was_closed_is_said_on_the_page(browser, tmp_path):
    with serving(View(model="elastic", source="digit")) as studio:
        tab = browser.open(studio.address)
        tab.until("Number(document.body.dataset.frame) >= 2")
    try:
        tab.until("!document.querySelector('#notice').hidden")
        assert text(tab, "notice").startswith("The connection to the studio was lost.")
        assert tab.run("document.querySelector('#busy').hidden")
        tab.screenshot(tmp_path / "lost.png")
    finally:
        tab.close()


def test_a_frame_in_the_browser_costs_the_server_less_than_a_tenth_of_a_second_of_cpu(tab, capsys):
    tab.key("Escape", "Escape")
    choose(tab, "speed", "60")
    first, began, worked = tab.run("Number(document.body.dataset.frame)"), time.monotonic(), time.process_time()
    tab.until(f"Number(document.body.dataset.frame) >= {first + 60}")
    n = tab.run("Number(document.body.dataset.frame)") - first
    took, worked = time.monotonic() - began, time.process_time() - worked
    with capsys.disabled():
        print(f"\nspiking, in the browser: {n / took:.1f} simulated frames/s; {text(tab, 'meter')}")
    assert worked / n < 1 / 10  # half of that on an idle machine
