"""Run every example of the gallery, and keep its picture, its output and its code on the page.

    python docs/building/gallery.py           all of them, about a minute on one core
    python docs/building/gallery.py NAME ...  only these

Each picture contains the SHA-256 of the script that drew it, as text in a PNG and as a comment in a GIF. A test
compares it with the current script, so that a picture cannot be older than its code.
"""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

sys.path.insert(0, str(Path(__file__).parent))

from marks import filled

ROOT = Path(__file__).parents[2]
EXAMPLES, PAGE, PICTURES = ROOT / "examples", ROOT / "docs" / "gallery.md", ROOT / "docs" / "gallery"
MOVING = {"springs_2d": ROOT / "docs" / "images" / "springs.gif"}
"""Examples that draw an animation, and where it is kept."""

COLOURS = 96
PART = "output and code of {}"


def fingerprint(script: Path) -> str:
    """Return the SHA-256 of a script."""
    return hashlib.sha256(script.read_bytes()).hexdigest()


def drawn_by(picture: Path) -> str:
    """Return the SHA-256, stored in a picture, of the script that drew it."""
    if picture.suffix == ".gif":
        return picture.read_bytes()[-66:-2].decode("ascii", "replace")
    with Image.open(picture) as drawn:
        return str(drawn.text["script"])


def with_comment(gif: bytes, text: str) -> bytes:
    """Return a GIF with a comment (at most 255 characters) as its last block.

    >>> with_comment(b"GIF...;", "hi")
    b'GIF...!\\xfe\\x02hi\\x00;'
    """
    return gif[:-1] + b"\x21\xfe" + bytes([len(text)]) + text.encode("ascii") + b"\x00;"


def picture_of(name: str) -> Path:
    """Return the path of the picture of an example."""
    return MOVING.get(name, PICTURES / f"{name}.png")


def names() -> list[str]:
    """Return the names of all examples in the gallery."""
    return sorted(re.findall(f"^<!-- {PART} -->$".format(r"(\w+)"), PAGE.read_text(), re.MULTILINE))


def with_example(markdown: str, printed: str, name: str) -> str:
    """Return the page with what an example printed and its code, which a click unfolds."""
    code = (EXAMPLES / f"{name}.py").read_text()
    folded = f'<details markdown="1">\n<summary>examples/{name}.py</summary>\n\n```python\n{code}```\n\n</details>'
    return filled(markdown, PART.format(name), f"It prints\n\n```text\n{printed}```\n\n{folded}")


def make(name: str) -> None:
    """Run one example in its own process, and write NAME.png (96 colours) and its part of the page."""
    script, picture = EXAMPLES / f"{name}.py", picture_of(name)
    command = [sys.executable, str(script), "--out", str(picture)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode != 0:
        raise SystemExit(f"{script} failed:\n{done.stderr}")
    PAGE.write_text(with_example(PAGE.read_text(), done.stdout, name))
    if name in MOVING:
        picture.write_bytes(with_comment(picture.read_bytes(), fingerprint(script)))
    else:
        stamp = PngInfo()
        stamp.add_text("script", fingerprint(script))
        with Image.open(picture) as drawn:
            small = drawn.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        small.save(picture, optimize=True, pnginfo=stamp)


if __name__ == "__main__":
    for name in sys.argv[1:] or names():
        print(name, flush=True)
        make(name)
