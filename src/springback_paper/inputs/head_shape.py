"""The shape of a human head: how far a point of space is from its skin and its hair.

A shape is a signed distance: negative inside, zero on the surface, positive outside, and near the surface hardly ever
steeper than one, so that a ray may step by most of it. Parts are blended into each other by a rounded minimum. Axes: x
to the side, y up, z where the nose points; the eyes lie at y = 0 and the chin at y = -1, which makes a unit about
11.5 cm. Everything depends on |x| alone: the head is its own mirror image.
"""

import math

from springback.compiled import njit

Point = tuple[float, float, float]

EYE_X, EYE_Y = 0.275, 0.0


@njit(cache=True)
def _egg(point: Point, centre: Point, half_axes: Point) -> float:
    """Ellipsoid, to first order in the distance."""
    x, y, z = point[0] - centre[0], point[1] - centre[1], point[2] - centre[2]
    a, b, c = half_axes
    level = math.sqrt((x / a) ** 2 + (y / b) ** 2 + (z / c) ** 2)
    slope = math.sqrt((x / a**2) ** 2 + (y / b**2) ** 2 + (z / c**2) ** 2)
    if slope < 1e-9:
        return -min(a, b, c)
    return level * (level - 1.0) / slope


@njit(cache=True)
def _limb(point: Point, start: Point, stop: Point, start_radius: float, stop_radius: float) -> float:
    """Rounded stick whose radius changes from one end to the other."""
    x, y, z = point[0] - start[0], point[1] - start[1], point[2] - start[2]
    dx, dy, dz = stop[0] - start[0], stop[1] - start[1], stop[2] - start[2]
    along = (x * dx + y * dy + z * dz) / (dx * dx + dy * dy + dz * dz)
    along = min(1.0, max(0.0, along))
    off_axis = math.sqrt((x - along * dx) ** 2 + (y - along * dy) ** 2 + (z - along * dz) ** 2)
    return off_axis - start_radius - along * (stop_radius - start_radius)


@njit(cache=True)
def _join(a: float, b: float, blend: float) -> float:
    """Both shapes, with the seam rounded over a width `blend`."""
    overlap = max(blend - abs(a - b), 0.0) / blend
    return min(a, b) - 0.25 * blend * overlap * overlap


@njit(cache=True)
def _common(a: float, b: float, blend: float) -> float:
    """The intersection of both shapes."""
    return -_join(-a, -b, blend)


@njit(cache=True)
def _carve(a: float, b: float, blend: float) -> float:
    """Shape a without shape b."""
    return _common(a, -b, blend)


@njit(cache=True)
def _skull(p: Point) -> float:
    cranium = _egg(p, (0.0, 0.30, -0.10), (0.68, 0.70, 0.86))
    face = _egg(p, (0.0, -0.22, 0.22), (0.55, 0.74, 0.56))
    return _join(cranium, face, 0.25)


@njit(cache=True)
def _jaw(p: Point) -> float:
    branch = _limb(p, (0.47, -0.15, -0.02), (0.44, -0.52, 0.10), 0.10, 0.12)
    body = _limb(p, (0.44, -0.52, 0.10), (0.10, -0.84, 0.56), 0.12, 0.14)
    chin = _egg(p, (0.0, -0.86, 0.63), (0.24, 0.14, 0.19))
    return _join(_join(branch, body, 0.10), chin, 0.15)


@njit(cache=True)
def _nose(p: Point) -> float:
    bridge = _limb(p, (0.0, 0.10, 0.735), (0.0, -0.28, 0.945), 0.05, 0.075)
    root = _limb(p, (0.0, 0.05, 0.68), (0.0, -0.33, 0.80), 0.06, 0.10)
    tip = _egg(p, (0.0, -0.305, 0.965), (0.09, 0.08, 0.09))
    wing = _egg(p, (0.10, -0.345, 0.85), (0.062, 0.068, 0.095))
    nostril = _egg(p, (0.058, -0.415, 0.91), (0.034, 0.030, 0.055))
    ridge = _join(_join(bridge, root, 0.05), tip, 0.08)
    return _carve(_join(ridge, wing, 0.07), nostril, 0.02)


@njit(cache=True)
def _mouth(p: Point) -> float:
    muzzle = _egg(p, (0.0, -0.60, 0.64), (0.27, 0.23, 0.20))
    bent = (p[0], p[1], p[2] + 0.9 * p[0] ** 2)
    upper_lip = _egg(bent, (0.0, -0.545, 0.795), (0.21, 0.052, 0.085))
    lower_lip = _egg(bent, (0.0, -0.655, 0.775), (0.18, 0.058, 0.085))
    return _join(_join(upper_lip, lower_lip, 0.02), muzzle, 0.06)


@njit(cache=True)
def _ear(p: Point) -> float:
    """A shell that leans back and stands out from the head, hollow towards the side."""
    x, y, z = p[0] - 0.67, p[1] + 0.10, p[2] + 0.10
    y, z = 0.97 * y + 0.24 * z, 0.97 * z - 0.24 * y
    x, z = 0.88 * x + 0.47 * z, 0.88 * z - 0.47 * x
    q = (x, y, z)
    shell = _egg(q, (0.0, 0.0, -0.04), (0.065, 0.285, 0.185))
    lobe = _egg(q, (0.0, -0.24, 0.03), (0.05, 0.085, 0.075))
    bowl = _egg(q, (0.055, 0.02, -0.025), (0.08, 0.20, 0.115))
    canal = _egg(q, (0.03, -0.04, 0.03), (0.09, 0.075, 0.055))
    return _carve(_carve(_join(shell, lobe, 0.06), bowl, 0.03), canal, 0.03)


@njit(cache=True)
def skin_distance(x: float, y: float, z: float) -> float:
    """The signed distance to the skin: skull, jaw, cheeks, brows, eyes, mouth, nose, ears and neck.

    Examples
    --------
    >>> skin_distance(0.0, 0.0, 0.0) < 0.0 < skin_distance(0.0, 0.0, 1.2)
    True
    """
    p = (abs(x), y, z)
    cheek = _egg(p, (0.36, -0.20, 0.46), (0.18, 0.14, 0.17))
    brow = _limb(p, (0.06, 0.15, 0.745), (0.40, 0.17, 0.56), 0.06, 0.06)
    socket = _egg(p, (0.27, -0.01, 0.82), (0.17, 0.10, 0.17))
    eyeball = _egg(p, (EYE_X, EYE_Y, 0.615), (0.145, 0.145, 0.145))
    neck = _limb(p, (0.0, -0.55, -0.18), (0.0, -1.60, -0.30), 0.42, 0.50)
    d = _join(_skull(p), _jaw(p), 0.22)
    d = _join(d, cheek, 0.18)
    d = _join(d, brow, 0.14)
    d = _carve(d, socket, 0.12)
    d = _join(d, eyeball, 0.03)
    d = _join(d, _mouth(p), 0.07)
    d = _join(d, _nose(p), 0.08)
    d = _join(d, _ear(p), 0.04)
    return _join(d, neck, 0.14)


@njit(cache=True)
def hair_distance(x: float, y: float, z: float) -> float:
    """The signed distance to the hair: a cap on the skull behind the hair line, open around the ears.

    Examples
    --------
    >>> hair_distance(0.0, 1.05, 0.0) < 0.0 < hair_distance(0.0, 0.0, 0.8)
    True
    """
    x = abs(x)
    p = (x, y, z)
    crown = _egg(p, (0.0, 0.33, -0.12), (0.73, 0.755, 0.895))
    back = _egg(p, (0.0, -0.08, -0.40), (0.58, 0.55, 0.52))
    forehead_line = 0.634 * (z - 0.66 + 0.25 * x * x) - 0.773 * (y - 0.66)
    sideburn_line = z - 0.17
    nape_line = 0.42 * (z - 0.18) - 0.908 * (y + 0.14)
    around_ear = _egg(p, (0.67, -0.12, -0.12), (0.40, 0.31, 0.20))
    behind_line = _common(_join(forehead_line, sideburn_line, 0.12), nape_line, 0.08)
    return _carve(_common(_join(crown, back, 0.20), behind_line, 0.06), around_ear, 0.05)
