"""The site as it is read: built without a warning, opened from disk, without a network, on a laptop and on a phone."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs")
pytest.importorskip("websockets")

from tests.studio.chromium import PROGRAM, Chromium

pytestmark = [pytest.mark.waits, pytest.mark.more]

ROOT = Path(__file__).parents[2]
LAPTOP, PHONE = 1280, 390

needs_a_browser = pytest.mark.skipif(PROGRAM is None, reason="no Chromium")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    chromium = Chromium(tmp_path_factory.mktemp("profile"))
    yield chromium
    chromium.close()


def pages(site: Path) -> list[Path]:
    return sorted(page for page in site.rglob("*.html") if page.name != "404.html")


def test_no_page_loads_anything_from_elsewhere(site):
    assert len(pages(site)) > 20
    for page in pages(site):
        loads = re.findall(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"?(https?:)?//", page.read_text())
        assert not loads, page


def test_pages_show_no_markdown(site):
    for page in pages(site):
        seen = re.sub(r"<(script|style|pre)\b.*?</\1>", "", page.read_text(), flags=re.DOTALL)
        assert not re.search(r"```|^:::|<p>\|", seen, re.MULTILINE), page


@needs_a_browser
def test_every_page_fits_the_window_and_shows_its_pictures(site, browser):
    tab = browser.open("about:blank")
    for page in pages(site):
        address = page.as_uri()
        tab.look(width=LAPTOP)
        tab.call("Page.navigate", url=address)
        tab.until(f"location.href === {address!r} && document.readyState === 'complete'")
        assert tab.run("document.documentElement.scrollWidth") <= LAPTOP, page
        tab.look(width=PHONE, phone=True)
        assert tab.run("document.documentElement.scrollWidth") <= PHONE, page
        broken = "[...document.images].filter(one => !one.complete || !one.naturalWidth).map(one => one.src)"
        assert tab.run(broken) == [], page
        assert tab.errors == [], page
    tab.close()


@needs_a_browser
def test_the_search_works_on_pages_opened_from_disk(site, browser):
    tab = browser.open((site / "gallery.html").as_uri())
    tab.run("document.querySelector('.md-search__input').focus()")
    for letter in "occluder":
        tab.key(letter, f"Key{letter.upper()}")
    found = "[...document.querySelectorAll('.md-search-result__item a')].map(one => one.href)"
    tab.until(f"{found}.length > 0")
    assert any("api/index.html" in address for address in tab.run(found))
    assert tab.run("performance.getEntriesByType('resource').filter(one => !one.name.startsWith('file:')).length") == 0
    tab.close()
