"""Both models as proper densities on the unit sphere: normalisers and samplers.

The exponential model with concentration kappa is a mixture of von Mises-Fisher densities `C_n(kappa) exp(kappa u)`; the
linear model's likelihood is `max(u, 0) / Z_n`. A proper density makes models comparable by their log-likelihood.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ive

from springback import check

_SMALL_ORDER = 30.0


def log_bessel_i(order: float, x: float) -> float:
    """Logarithm of the modified Bessel function I_order(x), for any order that images need.

    Below order 30 from SciPy's scaled function; above it, where that underflows, from the uniform expansion in
    1 / order (DLMF 10.41.3) with four terms, whose relative error is below 1e-9.

    Examples
    --------
    >>> round(log_bessel_i(0.0, 1.0), 6)
    0.235914
    """
    if order < _SMALL_ORDER:
        return float(np.log(ive(order, x)) + x)
    z = x / order
    root = np.hypot(1.0, z)
    p = 1.0 / root
    terms = (
        1.0,
        (3 * p - 5 * p**3) / 24,
        (81 * p**2 - 462 * p**4 + 385 * p**6) / 1152,
        (30375 * p**3 - 369603 * p**5 + 765765 * p**7 - 425425 * p**9) / 414720,
        (4465125 * p**4 - 94121676 * p**6 + 349922430 * p**8 - 446185740 * p**10 + 185910725 * p**12) / 39813120,
    )
    series = sum(term / order**power for power, term in enumerate(terms))
    exponent = order * (root + np.log(z / (1.0 + root)))
    return float(exponent - 0.5 * np.log(2 * np.pi * order) - 0.5 * np.log(root) + np.log(series))


def log_uniform_density(n_features: int) -> float:
    """Log density of the uniform distribution on the unit sphere in `n_features` dimensions.

    Examples
    --------
    >>> round(float(np.exp(log_uniform_density(2))) * 2 * np.pi, 12)
    1.0
    """
    check.integer("n_features", n_features, low=1)
    return float(gammaln(n_features / 2) - np.log(2.0) - n_features / 2 * np.log(np.pi))


def log_vmf_normaliser(n_features: int, kappa: float) -> float:
    """Log of C_n(kappa), so that `C_n(kappa) exp(kappa cos)` integrates to one over the unit sphere.

    `ln C = (n/2 - 1) ln kappa - (n/2) ln 2 pi - ln I_{n/2-1}(kappa)`; uniform at kappa = 0.

    Examples
    --------
    >>> round(log_vmf_normaliser(3, 2.0), 6) == round(float(np.log(2 / (4 * np.pi * np.sinh(2)))), 6)
    True
    """
    check.real("kappa", kappa, low=0)
    if kappa == 0:
        return log_uniform_density(n_features)
    order = n_features / 2 - 1
    return float(order * np.log(kappa) - n_features / 2 * np.log(2 * np.pi) - log_bessel_i(order, kappa))


def log_linear_normaliser(n_features: int) -> float:
    """Log of 1 / Z_n, so that `max(cos, 0) / Z_n` integrates to one over the unit sphere.

    Z_n is the volume of the unit ball in n - 1 dimensions (the shadow of a half sphere).

    Examples
    --------
    >>> round(float(np.exp(log_linear_normaliser(3))) * np.pi, 12)
    1.0
    """
    check.integer("n_features", n_features, low=1)
    return float(gammaln((n_features + 1) / 2) - (n_features - 1) / 2 * np.log(np.pi))


def _turn(direction: NDArray[Any], cosine: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Unit vectors at the given cosines from unit `direction` rows, uniform around them."""
    tangent = rng.standard_normal(direction.shape)
    tangent -= (tangent * direction).sum(axis=1, keepdims=True) * direction
    length = np.linalg.norm(tangent, axis=1, keepdims=True)
    tangent = np.divide(tangent, length, out=np.zeros_like(tangent), where=length > 0)
    cosine = cosine[:, None]
    return np.asarray(cosine * direction + np.sqrt(np.maximum(1 - cosine**2, 0)) * tangent)


def sample_vmf(
    direction: NDArray[Any], kappa: float, seed: int | np.random.Generator | None = None
) -> NDArray[np.float64]:
    """One von Mises-Fisher draw around each unit row of `direction` (rows, features), by Wood's rejection (1994).

    Examples
    --------
    >>> round(float(sample_vmf(np.array([[1.0, 0.0, 0.0]]), 1e6, seed=0)[0, 0]), 3)
    1.0
    """
    rng = np.random.default_rng(seed)
    direction = np.asarray(direction, np.float64)
    rows, n = direction.shape
    if n == 1:
        stay = rng.random(rows) < 1 / (1 + np.exp(-2 * kappa))
        return np.where(stay[:, None], direction, -direction)
    b = (n - 1) / (2 * kappa + np.hypot(2 * kappa, n - 1))
    x0 = (1 - b) / (1 + b)
    offset = kappa * x0 + (n - 1) * np.log1p(-(x0**2))
    cosine = np.empty(rows)
    missing = np.arange(rows)
    while missing.size:
        z = rng.beta((n - 1) / 2, (n - 1) / 2, missing.size)
        w = (1 - (1 + b) * z) / (1 - (1 - b) * z)
        good = kappa * w + (n - 1) * np.log(np.maximum(1 - x0 * w, 1e-300)) - offset >= np.log(rng.random(missing.size))
        cosine[missing[good]] = w[good]
        missing = missing[~good]
    return _turn(direction, cosine, rng)


def sample_linear(direction: NDArray[Any], seed: int | np.random.Generator | None = None) -> NDArray[np.float64]:
    """One draw from the density `max(cos, 0) / Z_n` around each unit row of `direction`, in closed form.

    Examples
    --------
    >>> bool((sample_linear(np.tile([1.0, 0.0], (50, 1)), seed=0)[:, 0] >= 0).all())
    True
    """
    rng = np.random.default_rng(seed)
    direction = np.asarray(direction, np.float64)
    rows, n = direction.shape
    if n == 1:
        return direction.copy()
    cosine = np.sqrt(1 - rng.random(rows) ** (2 / (n - 1)))
    return _turn(direction, cosine, rng)
