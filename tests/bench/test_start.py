"""What a user waits for first is measured to its end."""

import pytest

from springback_bench.speed import start


def test_a_command_that_ends_well_is_measured_and_one_that_fails_is_told(monkeypatch):
    codes = iter([0, 2])

    def main(_arguments):
        raise SystemExit(next(codes))

    monkeypatch.setattr("springback.cli.main", main)
    work = start.WORK["springback train, 100 neurons, 500 images"]
    work()
    with pytest.raises(SystemExit):
        work()
