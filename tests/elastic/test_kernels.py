import numpy as np
import pytest

from springback.elastic import Exponential, ExponentialSum, Windowed, measurement_kernel


def test_kernels_are_the_functions_they_say():
    lag = np.array([0.0, 1.0, 3.5])
    np.testing.assert_allclose(Exponential(memory=2.0, odds=3.0)(lag), 3 * np.exp(-lag / 2))
    both = ExponentialSum(weights=(1.0, 0.5), memories=(2.0, 9.0))(lag)
    np.testing.assert_allclose(both, np.exp(-lag / 2) + 0.5 * np.exp(-lag / 9))
    np.testing.assert_allclose(measurement_kernel(np.array([0.25, 4.0]), 0.1), [2 * np.exp(-0.025), 0.5 * np.exp(-0.4)])


@pytest.mark.parametrize(
    "make",
    [
        lambda: Exponential(memory=0.0),
        lambda: ExponentialSum(weights=(1.0,), memories=(1.0, 2.0)),
        lambda: Windowed(function=lambda lag: -lag - 1, frames=3),
        lambda: Windowed(function=lambda lag: lag, frames=3),
        lambda: Windowed(function=np.exp, frames=0),
        lambda: measurement_kernel(0.0, 1.0),
    ],
)
def test_bad_kernels_are_refused(make):
    with pytest.raises(ValueError, match="must"):
        make()
