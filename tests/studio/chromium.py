"""A headless Chromium, driven by its own protocol over a WebSocket."""

import base64
import json
import shutil
import subprocess
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path

from websockets.sync.client import connect

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE_S = 240
"""How long anything may take on a machine with all cores busy; what waits, waits for the thing itself."""

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
]


class Chromium:
    """One browser process with a profile of its own, and further flags."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self._process = subprocess.Popen(
            [PROGRAM, *FLAGS, *flags, f"--user-data-dir={folder}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._port = int(_eventually(lambda: (folder / "DevToolsActivePort").read_text().splitlines()[0]))

    def open(self, address: str, **look) -> "Tab":
        """A new tab at the address; see `Tab.look`."""
        request = urllib.request.Request(f"http://127.0.0.1:{self._port}/json/new?about:blank", method="PUT")
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            tab = Tab(json.load(answer)["webSocketDebuggerUrl"])
        tab.look(**look)
        tab.call("Page.navigate", url=address)
        tab.until(f"location.href.startsWith({address!r}) && document.readyState === 'complete'")
        return tab

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE_S)


class PageLeftError(Exception):
    """The page was left for another while it was asked."""


class Tab:
    """A page: run JavaScript in it, press keys, move the mouse, look at it; `errors` are its console's complaints."""

    def __init__(self, address: str) -> None:
        self._opened = ExitStack()
        self._socket = self._opened.enter_context(connect(address, max_size=None, open_timeout=PATIENCE_S))
        self._number = 0
        self.errors: list[str] = []
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params) -> dict:
        """One command of the protocol and its result."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE_S))
            self._note(message)
            if message.get("id") == self._number:
                if "navigated" in message.get("error", {}).get("message", ""):
                    raise PageLeftError(message["error"]["message"])
                assert "error" not in message, message
                return message["result"]

    def _note(self, message: dict) -> None:
        params = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"])[:500])
        if message.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(json.dumps(params["args"])[:500])
        if message.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(json.dumps(params["entry"])[:500])

    def run(self, code: str):
        """The value of a JavaScript expression, awaited."""
        result = self.call("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def until(self, code: str):
        """Wait until a JavaScript expression is true, also across a reload; its value."""
        return _eventually(lambda: self._run_if_there(code) or None, code)

    def settle(self) -> None:
        """Wait until the page has painted what it knows by now."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def _run_if_there(self, code: str):
        try:
            return self.run(code)
        except PageLeftError:
            return None

    def click(self, selector: str) -> None:
        """Click the middle of an element with the mouse."""
        x, y = self.middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def activate(self, selector: str) -> None:
        """Click an element without the mouse, wherever it is: a page that is being laid out cannot miss it."""
        code = f"document.querySelector({selector!r}).click()"
        result = self.call("Runtime.evaluate", expression=code, userGesture=True)
        assert "exceptionDetails" not in result, result

    def drag(self, points: list[tuple[float, float]]) -> None:
        """Press the mouse at the first point, move it along, release it at the last."""
        kinds = ["mousePressed", *["mouseMoved"] * (len(points) - 2), "mouseReleased"]
        for kind, (x, y) in zip(kinds, points, strict=True):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    def key(self, key: str, code: str) -> None:
        """Press and release a key."""
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=code)

    def middle(self, selector: str) -> tuple[float, float]:
        """Where an element is, after scrolling to it."""
        box = self.box(selector)
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def box(self, selector: str) -> dict:
        """The rectangle of an element, after scrolling to it, once it no longer moves: a page may still be laid out."""
        before = None
        for _ in range(100):
            box = self._box_now(selector)
            if box == before:
                break
            before = box
            self.settle()
        return box

    def _box_now(self, selector: str) -> dict:
        element = f"document.querySelector({selector!r})"
        self.run(f"{element}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        return self.run(f"(({{x, y, width, height}}) => ({{x, y, width, height}}))({element}.getBoundingClientRect())")

    def look(self, width: int = 1440, height: int = 900, scheme: str = "light", scale: float = 1, phone: bool = False):
        """Set the size of the window and whether the system prefers light or dark."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=phone
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path: Path, whole: bool = True) -> bytes:
        """The page as a PNG, whole or as much as fits."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))
        return path.read_bytes()

    def downloads_to(self, folder: Path) -> None:
        """Where files go that the page gives."""
        self.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def close(self) -> None:
        self.call("Page.close")
        self._opened.close()


def _eventually(look, what: str = "the browser"):
    """What `look` returns once it is there."""
    last: Exception | None = None
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            value = look()
            if value is not None:
                return value
        except (OSError, IndexError) as error:
            last = error
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come within {PATIENCE_S} s ({last})")
