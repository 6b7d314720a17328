"""The look of the head's surface: how much light each spot of skin, eye, lip, brow and hair reflects.

Axes and unit are those of the head's shape. All reflectances are fractions, 0 black to 1 white.
"""

import math

from springback.compiled import njit
from springback_paper.inputs.head_shape import EYE_X, EYE_Y

SKIN, LIP, MOUTH_LINE, MOUTH_Y = 0.68, 0.40, 0.15, -0.60
BROW, LASH, WHITE_OF_EYE, IRIS, PUPIL = 0.13, 0.12, 0.90, 0.14, 0.02
HAIR, STRAND_CONTRAST = 0.12, 0.22


@njit(cache=True)
def _rise(low: float, high: float, value: float) -> float:
    """From 0 below `low` to 1 above `high`, without a kink."""
    s = min(1.0, max(0.0, (value - low) / (high - low)))
    return s * s * (3.0 - 2.0 * s)


@njit(cache=True)
def _mix(a: float, b: float, share_of_b: float) -> float:
    return a + (b - a) * share_of_b


@njit(cache=True)
def _paint_brow(tone: float, x: float, y: float) -> float:
    along = (x - 0.09) / 0.37
    middle = 0.165 + 0.11 * along - 0.10 * along * along
    half_thickness = 0.045 * (1.0 - 0.55 * min(1.0, max(0.0, along)))
    across = 1.0 - _rise(0.6, 1.3, abs(y - middle) / half_thickness)
    ends = _rise(-0.06, 0.06, along) * (1.0 - _rise(0.90, 1.06, along))
    return _mix(tone, BROW, across * ends)


@njit(cache=True)
def _paint_eye(tone: float, x: float, y: float) -> float:
    across, up = (x - EYE_X) / 0.125, y - EYE_Y
    if abs(across) >= 1.1:
        return tone
    arch = max(0.0, 1.0 - across * across)
    upper_lid, lower_lid = 0.057 * arch, -0.050 * arch
    if lower_lid < up < upper_lid:
        from_pupil = math.sqrt((x - EYE_X) ** 2 + (up - 0.003) ** 2)
        tone = _mix(PUPIL, IRIS, _rise(0.020, 0.030, from_pupil))
        tone = _mix(tone, WHITE_OF_EYE, _rise(0.052, 0.062, from_pupil))
    from_lash = abs(up - upper_lid) if up > 0.0 else 2.0 * abs(up - lower_lid)
    return _mix(LASH, tone, _rise(0.008, 0.022, from_lash))


@njit(cache=True)
def _paint_lips(tone: float, x: float, y: float) -> float:
    across = x / 0.24
    if across >= 1.0:
        return tone
    arch = 1.0 - across * across
    cleft = 0.025 * math.exp(-((x / 0.035) ** 2))
    up = y - MOUTH_Y
    tone = _mix(tone, LIP, _rise(-0.008, 0.012, min(0.10 * arch - cleft - up, up + 0.115 * arch)))
    return _mix(MOUTH_LINE, tone, _rise(0.004, 0.022, abs(up - 0.02 * across * across)))


@njit(cache=True)
def skin_reflectance(x: float, y: float, z: float) -> float:
    """The reflectance of a spot on the skin, with brows, open eyes and lips painted on the front of the face.

    Examples
    --------
    >>> skin_reflectance(0.0, -0.3, 1.0), round(skin_reflectance(0.275, 0.0, 0.76), 2)
    (0.68, 0.02)
    """
    if z <= 0.3:
        return SKIN
    x = abs(x)
    return _paint_lips(_paint_eye(_paint_brow(SKIN, x, y), x, y), x, y)


@njit(cache=True)
def hair_reflectance(x: float, y: float, z: float) -> float:
    """The reflectance of a spot on the hair, with strands that run back from the forehead.

    Examples
    --------
    >>> 0.05 < hair_reflectance(0.3, 0.9, 0.0) < 0.2
    True
    """
    across = math.atan2(abs(x), y + 0.1)
    strand = math.sin(46.0 * across + 5.0 * math.sin(3.0 * z)) + 0.6 * math.sin(91.0 * across + 4.0 * z)
    return HAIR * (1.0 + STRAND_CONTRAST * strand)
