"""`import springback`: light, and Tab shows the library."""

import subprocess
import sys

import pytest

import springback


def test_every_name_that_tab_shows_can_be_used():
    assert set(dir(springback)) == set(springback.__all__)
    for name in dir(springback):
        assert getattr(springback, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'springback' has no attribute 'elastik'"):
        springback.elastik  # noqa: B018


def test_importing_springback_loads_no_heavy_library():
    heavy = ("torch", "matplotlib", "numba", "sklearn", "scipy", "numpy")
    code = f"import sys, springback; print(*(m for m in {heavy} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
