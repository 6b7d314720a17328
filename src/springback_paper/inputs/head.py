"""A head that turns from profile to front, drawn by ray marching, without any files.

It replaces the person in the supplement, "Application of elastic clustering to other types of transformations", whose
pictures are not published.
"""

import math

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback_paper.inputs.head_look import hair_reflectance, skin_reflectance
from springback_paper.inputs.head_shape import Point, hair_distance, skin_distance

HALF_WIDTH, MIDDLE_Y, NEAR_Z, FAR_Z = 1.27, -0.03, 1.35, -1.35
"""The part of space in the picture, in units of the head's shape: the eyes are at y = 0, the chin at y = -1."""
LIGHT_Y, LIGHT_Z = 0.62, 0.78
"""Direction to the light: above the viewer and not to one side, so that a mirrored turn gives a mirrored picture."""
GAMMA = 1.7
RAYS_PER_SIDE = 128
"""At least this many rays across a picture, and at least two across a pixel: small pictures move smoothly too."""


@njit(cache=True)
def _distance(x: float, y: float, z: float) -> float:
    return min(skin_distance(x, y, z), hair_distance(x, y, z))


@njit(cache=True)
def ray_depth(u: float, v: float, cos: float, sin: float) -> float:
    """Where the ray through (u, v) meets the head, towards the viewer; below `FAR_Z` if it does not."""
    depth = NEAR_Z
    for _ in range(160):
        gap = _distance(cos * u - sin * depth, v, sin * u + cos * depth)
        if gap < 0.0015:
            return depth
        depth -= 0.75 * gap
        if depth < FAR_Z:
            break
    return FAR_Z - 1.0


@njit(cache=True)
def _normal(point: Point) -> Point:
    x, y, z = point
    e = 0.004
    nx = _distance(x + e, y, z) - _distance(x - e, y, z)
    ny = _distance(x, y + e, z) - _distance(x, y - e, z)
    nz = _distance(x, y, z + e) - _distance(x, y, z - e)
    length = math.sqrt(nx * nx + ny * ny + nz * nz) + 1e-12
    return nx / length, ny / length, nz / length


@njit(cache=True)
def _lit_share(point: Point, to_light: Point) -> float:
    """How much of a wide lamp is seen from a spot, 0 to 1."""
    (x, y, z), (lx, ly, lz) = point, to_light
    share = 1.0
    way = 0.04
    for _ in range(40):
        gap = _distance(x + lx * way, y + ly * way, z + lz * way)
        share = min(share, 0.5 + 3.5 * gap / way)
        if share <= 0.0 or way > 1.2:
            break
        way += max(0.02, 0.7 * gap)
    share = max(0.0, share)
    return share * share * (3.0 - 2.0 * share)


@njit(cache=True)
def _open_share(point: Point, normal: Point) -> float:
    """How much of the surroundings is seen from a spot: near 1 on the forehead, less in a fold."""
    (x, y, z), (nx, ny, nz) = point, normal
    blocked = 0.0
    weight = 1.0
    for i in range(1, 6):
        way = 0.045 * i
        blocked += weight * (way - _distance(x + nx * way, y + ny * way, z + nz * way))
        weight *= 0.75
    return min(1.0, max(0.0, 1.0 - 1.9 * blocked))


@njit(cache=True)
def _brightness(u: float, v: float, cos: float, sin: float) -> float:
    """The light that reaches the viewer through (u, v) of the picture, 0 (nothing there) to 1."""
    depth = ray_depth(u, v, cos, sin)
    if depth < FAR_Z:
        return 0.0
    x, y, z = cos * u - sin * depth, v, sin * u + cos * depth
    nx, ny, nz = _normal((x, y, z))
    lx, ly, lz = -sin * LIGHT_Z, LIGHT_Y, cos * LIGHT_Z
    direct = max(0.0, nx * lx + ny * ly + nz * lz)
    if direct > 0.0:
        direct *= _lit_share((x, y, z), (lx, ly, lz))
    towards_viewer = max(0.0, nz * cos - nx * sin)
    diffuse = _open_share((x, y, z), (nx, ny, nz)) * (0.24 + 0.08 * ny + 0.12 * towards_viewer)
    hx, hy, hz = lx - sin, ly, lz + cos
    gloss = max(0.0, nx * hx + ny * hy + nz * hz) / math.sqrt(hx * hx + hy * hy + hz * hz)
    if hair_distance(x, y, z) < skin_distance(x, y, z):
        light = hair_reflectance(x, y, z) * (0.8 * direct + diffuse) + 0.16 * gloss**14 * direct
    else:
        light = skin_reflectance(x, y, z) * (0.8 * direct + diffuse) + 0.07 * gloss**28 * direct
    return min(1.0, light)


@njit(cache=True, makes_arrays=True)
def _draw(yaw_rad: float, size: int, rays_per_pixel_side: int) -> NDArray[np.float64]:
    cos, sin = math.cos(yaw_rad), math.sin(yaw_rad)
    picture = np.zeros((size, size))
    n = size * rays_per_pixel_side
    for row in range(n):
        v = MIDDLE_Y - (2 * row + 1 - n) / n * HALF_WIDTH
        for column in range(n):
            u = (2 * column + 1 - n) / n * HALF_WIDTH
            picture[row // rays_per_pixel_side, column // rays_per_pixel_side] += _brightness(u, v, cos, sin)
    return picture / rays_per_pixel_side**2


def render_head(yaw_deg: float, size: int = 64) -> NDArray[np.uint8]:
    """One picture of a head on a black background, uint8 (size, size).

    The picture is the same on every call; the one of `-yaw_deg` is its mirror image, up to rounding.

    Parameters
    ----------
    yaw_deg : float
        How far the head is turned: 0 looks at the viewer, 90 to the right edge of the picture, -90 to the left.
    size : int
        Height and width in pixels.

    Examples
    --------
    >>> front = render_head(0.0, size=32)
    >>> front.shape, front.dtype, int(front[0, 0])
    ((32, 32), dtype('uint8'), 0)
    """
    yaw_rad = math.radians(check.real("yaw_deg", yaw_deg))
    size = check.integer("size", size, low=1)
    picture = _draw(yaw_rad, size, max(2, math.ceil(RAYS_PER_SIDE / size)))
    return np.round(255.0 * picture ** (1.0 / GAMMA)).astype(np.uint8)


def rotating_head(n_frames: int = 30, size: int = 64, from_deg: float = 90.0, to_deg: float = 0.0) -> NDArray[np.uint8]:
    """A head that turns at constant speed, uint8 (n_frames, size, size); by default from profile to front.

    Parameters
    ----------
    n_frames : int
        Number of pictures, the first at `from_deg` and the last at `to_deg`.
    size : int
        Height and width in pixels.
    from_deg, to_deg : float
        The turn, as in `render_head`.

    Examples
    --------
    >>> video = rotating_head(n_frames=3, size=24)
    >>> video.shape, bool((video[2] == render_head(0.0, size=24)).all())
    ((3, 24, 24), True)
    """
    check.integer("n_frames", n_frames, low=1)
    start, stop = check.real("from_deg", from_deg), check.real("to_deg", to_deg)
    return np.stack([render_head(yaw, size) for yaw in np.linspace(start, stop, n_frames).tolist()])
