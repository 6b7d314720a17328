"""The list of stream sets."""

import pytest

from springback_bench.stream_sets import stream_sets


@pytest.mark.parametrize("name", stream_sets())
def test_each_stream_set_says_where_it_is_from_and_under_which_licence(name):
    chosen = stream_sets()[name]
    assert chosen.title.endswith(("?", ")"))
    assert chosen.source.endswith(".")
    assert "(" in chosen.source
    assert chosen.splits >= 3
