"""The bias of the linear model that belongs to a prior probability, for inputs on a sphere of any dimension.

Eq. S39 integrates the rectified likelihood `max(cos(phi) + G0, 0)` over the circle, which is the sphere of n = 2
features. On the sphere of n features the integrand has the weight `sin(phi)^(n - 2)`, and with G0 = -cos(psi)

    P(G0) = (n - 1) * integral from 0 to psi of (cos(phi) - cos(psi)) sin(phi)^(n - 2) dphi
          = sin(psi)^(n - 1) - (n - 1) cos(psi) * integral from 0 to psi of sin(phi)^(n - 2) dphi,

scaled, as in the paper, so that G0 = 0 gives P = 1. The inverse has no closed form; it is a table.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_POINTS = 8192
_SPREADS = 14.0
"""How far the finer part of the table reaches, in standard deviations of a random cosine, 1 / sqrt(n)."""


def prior_of_bias(bias: NDArray[np.float64], n_features: int) -> NDArray[np.float64]:
    """P(G0) for biases in -1 ... 0 on the sphere of `n_features` features; the circle (Eq. S39) for two.

    Examples
    --------
    >>> prior_of_bias(np.array([-1.0, -0.097, 0.0]), 784).round(4)
    array([0.    , 0.0025, 1.    ])
    """
    cosine = -np.asarray(bias, np.float64)
    sine_squared = np.clip(1 - cosine**2, 0, 1)
    return np.clip(sine_squared ** ((n_features - 1) / 2) - cosine * _slope(sine_squared, n_features), 0, 1)


def _slope(sine_squared: NDArray[np.float64], n_features: int) -> NDArray[np.float64]:
    """The derivative dP / dG0: (n - 1) times the integral from 0 to psi of sin(phi)^(n - 2)."""
    from scipy.special import betainc, betaln

    half = (n_features - 1) / 2
    return np.asarray(half * np.exp(betaln(half, 0.5)) * betainc(half, 0.5, sine_squared))


@lru_cache(maxsize=16)
def bias_table(n_features: int) -> NDArray[np.float64]:
    """Rows ln P (increasing), G0 and dG0 / dlnP, from which G0 is read by cubic (Hermite) interpolation.

    Examples
    --------
    >>> table = bias_table(784)
    >>> np.interp(np.log(1 / 400), *table[:2]).round(4)
    np.float64(-0.0969)
    """
    likely = np.linspace(0, min(1.0, _SPREADS / np.sqrt(n_features)), _POINTS)
    unlikely = np.cos(np.geomspace(1e-4, np.pi / 2, _POINTS))
    bias = -np.unique(np.concatenate([likely, unlikely]))[::-1]
    prior = prior_of_bias(bias, n_features)
    keep = (prior > 1e-290) & (np.diff(prior, prepend=-1.0) > 0)
    prior, bias = prior[keep], bias[keep]
    table = np.stack([np.log(prior), bias, prior / _slope(np.clip(1 - bias**2, 0, 1), n_features)])
    table.flags.writeable = False
    return table
