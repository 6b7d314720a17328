"""Settings of PyTorch that last for a while."""

import pytest

import torch
from springback_paper.baselines.torch_state import one_thread, seeded


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_the_number_of_threads_is_restored_even_after_an_error():
    def fail_on_one_thread():
        with one_thread():
            assert torch.get_num_threads() == 1
            raise KeyError

    with pytest.raises(KeyError):
        fail_on_one_thread()
    assert torch.get_num_threads() == 2


def test_random_numbers_outside_are_as_if_none_had_been_drawn():
    torch.manual_seed(5)
    expected = torch.rand(2)
    torch.manual_seed(5)
    with seeded(0):
        torch.rand(100)
    assert torch.equal(torch.rand(2), expected)


def test_a_bad_seed_is_refused():
    with pytest.raises(ValueError, match="seed must be >= 0; got -1"), seeded(-1):
        pass
