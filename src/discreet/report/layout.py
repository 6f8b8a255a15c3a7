"""Where the circles and the labels of a graph go: by forces, from a circle on and without any random number.

The same links give the same places. What the circles stand for is not known here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.float64]
Box = tuple[float, float, float, float]  # left, top, right, bottom

_STEPS = 400
_GAP = 14  # between two circles
_POINTS = 60  # of a line, when labels look for a place


def settle(nodes: int, links: Sequence[tuple[int, int]], radii: Places, inside: Box) -> Places:
    """Return a place for each node: all push each other away, links pull together, and the middle pulls a little.

    After Fruchterman and Reingold (1991), cooled evenly, then stretched to fill the picture.

    Examples
    --------
    >>> settle(2, [(0, 1)], np.array([5.0, 5.0]), (0, 0, 100, 60)).round().tolist()
    [[100.0, 30.0], [0.0, 30.0]]
    """
    angles = 2 * math.pi * np.arange(nodes) / max(nodes, 1)
    at = np.column_stack([np.cos(angles), np.sin(angles)])
    one, other = (np.array([link[side] for link in links], np.int64) for side in (0, 1))
    degree = np.maximum(np.bincount(np.concatenate([one, other]), minlength=nodes), 1)
    # A hub is pulled by all its links at once: shared out, they do not collapse into a ball.
    strength = 1 / np.sqrt(np.minimum(degree[one], degree[other]))
    ideal = 1.6 / math.sqrt(max(nodes, 1))
    for step in range(_STEPS):
        apart = at[:, None, :] - at[None, :, :]
        distance = np.maximum(np.sqrt((apart**2).sum(2)), 1e-3)
        # What is far apart already is left alone, or groups without links between them would fly to the corners.
        reach = np.exp(-((distance / (2.5 * ideal)) ** 2))
        push = (apart * (ideal**2 / distance**2 * reach)[:, :, None]).sum(1)
        pulled = at[one] - at[other]
        force = pulled * (np.sqrt((pulled**2).sum(1)) / ideal * strength)[:, None]
        pull = np.zeros_like(at)
        np.add.at(pull, one, -force)
        np.add.at(pull, other, force)
        move = push + pull - 0.3 * at
        size = np.maximum(np.sqrt((move**2).sum(1)), 1e-9)
        heat = 0.12 * (1 - step / _STEPS) + 0.001
        at = at + move * (np.minimum(size, heat) / size)[:, None]
    return _apart(_stretched(at, inside), radii, inside)


def _stretched(at: Places, inside: Box) -> Places:
    corner, room = np.array(inside[:2]), np.array(inside[2:]) - np.array(inside[:2])
    low, span = at.min(0), np.ptp(at, 0)
    # What lies on one line goes to the middle instead of being torn apart.
    flat = span < 1e-3
    part = np.where(flat, 0.5, (at - low) / np.where(flat, 1, span))
    placed: Places = corner + part * room
    return placed


def _apart(at: Places, radii: Places, inside: Box) -> Places:
    """Push circles apart that touch, a little at a time."""
    needed = radii[:, None] + radii[None, :] + _GAP
    for _ in range(80):
        between = at[:, None, :] - at[None, :, :]
        distance = np.maximum(np.sqrt((between**2).sum(2)), 1e-6)
        lacking = np.maximum(needed - distance, 0)
        np.fill_diagonal(lacking, 0)
        if not lacking.any():
            break
        at = at + (between / distance[:, :, None] * lacking[:, :, None]).sum(1) * 0.3
        at = np.clip(at, inside[:2], inside[2:])
    return at


def beside(
    at: Places,
    radii: Places,
    links: Sequence[tuple[int, int]],
    sizes: Sequence[tuple[float, float]],
    inside: Box,
) -> list[tuple[float, float]]:
    """Return the middle of each label: beside its circle, where it covers the least of what is there already.

    Parameters
    ----------
    at, radii, links
        The circles, and which of them are joined by lines.
    sizes
        How wide and how high each label is.
    inside
        The picture, which labels must not leave.
    """
    taken: list[Box] = [(x - r, y - r, x + r, y + r) for (x, y), r in zip(at.tolist(), radii.tolist(), strict=True)]
    middles = []
    steps = np.linspace(0, 1, _POINTS)[:, None]
    dots = np.concatenate([np.empty((0, 2)), *(at[one] + steps * (at[other] - at[one]) for one, other in links)])
    for (x, y), radius, (wide, high) in zip(at.tolist(), radii.tolist(), sizes, strict=True):
        right, below = radius + 4 + wide / 2, radius + 2 + high / 2
        slant = 0.75 * radius + wide / 2
        tries = [
            (0, below), (right, 0), (-right, 0), (0, -below), (slant, below), (-slant, below), (slant, -below),
            (-slant, -below),
        ]  # fmt: skip
        boxes = [_around(x + aside, y + down, wide, high) for aside, down in tries]
        costs = [
            sum(_shared(box, held) for held in taken) + 50 * _outside(box, inside) + 6 * _crossed(box, dots)
            for box in boxes
        ]
        best = costs.index(min(costs))
        taken.append(boxes[best])
        middles.append((x + tries[best][0], y + tries[best][1]))
    return middles


def _around(x: float, y: float, wide: float, high: float) -> Box:
    return x - wide / 2, y - high / 2, x + wide / 2, y + high / 2


def _shared(one: Box, other: Box) -> float:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return max(wide, 0) * max(high, 0)


def _crossed(box: Box, dots: Places) -> int:
    """Return how many points of lines a box covers."""
    return int(((dots > box[:2]) & (dots < box[2:])).all(1).sum())


def _outside(box: Box, inside: Box) -> float:
    return sum(
        max(past, 0) for past in (inside[0] - box[0], inside[1] - box[1], box[2] - inside[2], box[3] - inside[3])
    )
