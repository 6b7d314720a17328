"""Where results are written, and where the environment of the other simulators is."""

from pathlib import Path


def root() -> Path:
    """The repository, if this is a checkout of it; otherwise the folder `springback-bench` below the current one."""
    above = Path(__file__).parents[2]
    return above if (above / "pyproject.toml").is_file() else Path("springback-bench").absolute()


ROOT = root()
BENCH_PYTHON = ROOT / ".venv-bench" / "bin" / "python"
"""The interpreter that has the other simulators; `make bench` makes it."""
