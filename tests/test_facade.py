"""`import springback`: Tab shows the library; how light it is, is in test_architecture.py."""

import pytest

import springback


def test_every_name_that_tab_shows_can_be_used():
    assert set(dir(springback)) == set(springback.__all__)
    for name in dir(springback):
        assert getattr(springback, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'springback' has no attribute 'elastik'"):
        springback.elastik  # noqa: B018
