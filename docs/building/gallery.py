"""Run every example of the gallery and keep its picture and what it printed, so that the pages show what the code does.

    python docs/building/gallery.py           all of them, about a minute on one core
    python docs/building/gallery.py NAME ...  only these

Each picture carries the SHA-256 of the script that drew it: a PNG as text, a GIF as a comment. A test compares it with
the script as it is now, so that a picture cannot be older than its code.
"""

import hashlib
import subprocess
import sys
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

ROOT = Path(__file__).parents[2]
EXAMPLES, GALLERY = ROOT / "examples", ROOT / "docs" / "gallery"
MOVING = {"springs_2d": ROOT / "docs" / "images" / "springs.gif"}
"""Examples that end in an animation, and where it is kept."""

COLOURS = 96
MARK = "<!-- output and code of this example -->"


def fingerprint(script: Path) -> str:
    """The SHA-256 of a script."""
    return hashlib.sha256(script.read_bytes()).hexdigest()


def drawn_by(picture: Path) -> str:
    """The SHA-256 of the script that drew a picture, as the picture says."""
    if picture.suffix == ".gif":
        return picture.read_bytes()[-66:-2].decode("ascii", "replace")
    with Image.open(picture) as drawn:
        return str(drawn.text["script"])


def with_comment(gif: bytes, text: str) -> bytes:
    """A GIF with a comment (at most 255 characters) as its last block.

    >>> with_comment(b"GIF...;", "hi")
    b'GIF...!\\xfe\\x02hi\\x00;'
    """
    return gif[:-1] + b"\x21\xfe" + bytes([len(text)]) + text.encode("ascii") + b"\x00;"


def picture_of(name: str) -> Path:
    """Where the picture of an example is kept."""
    return MOVING.get(name, GALLERY / f"{name}.png")


def names() -> list[str]:
    """Every example that has a page in the gallery."""
    return sorted(page.stem for page in GALLERY.glob("*.md") if page.stem != "index")


def with_example(markdown: str, name: str) -> str:
    """A page with what its example printed and its code in the place of the mark."""
    if MARK not in markdown:
        return markdown
    printed, code = (GALLERY / f"{name}.txt").read_text(), (EXAMPLES / f"{name}.py").read_text()
    shown = f"It prints\n\n```text\n{printed}```\n\n## examples/{name}.py\n\n```python\n{code}```\n"
    return markdown.replace(MARK, shown)


def make(name: str) -> None:
    """Run one example in its own process; write NAME.png (96 colours) and NAME.txt."""
    script = EXAMPLES / f"{name}.py"
    picture = picture_of(name)
    command = [sys.executable, str(script), "--out", str(picture)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode != 0:
        raise SystemExit(f"{script} failed:\n{done.stderr}")
    (GALLERY / f"{name}.txt").write_text(done.stdout)
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
