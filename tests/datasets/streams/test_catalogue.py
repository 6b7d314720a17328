"""The list of stream sets."""

import subprocess
import sys

import pytest

from springback.datasets.streams import stream_sets


def test_stream_sets_are_listed_without_optional_libraries():
    code = (
        "import sys; from springback.datasets.streams import stream_sets; assert 'photographs' in stream_sets();"
        "print(*(m for m in ('torch', 'av', 'onnxruntime') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("name", stream_sets())
def test_each_stream_set_says_where_it_is_from_and_under_which_licence(name):
    chosen = stream_sets()[name]
    assert chosen.title.endswith(("?", ")"))
    assert chosen.source.endswith(".")
    assert "(" in chosen.source
    assert chosen.splits >= 3
