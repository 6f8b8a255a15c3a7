"""Where the circles and the labels of a graph go: by forces, from a circle on and without any random number.

The same links give the same places. A circle and its label are one box, and no two boxes touch. What the circles stand
for is not known here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.float64]
Box = tuple[float, float, float, float]  # left, top, right, bottom

_STEPS = 400
_DIGITS = 9
_GAP, _LINES = 8, 8  # between two boxes: beside each other, and below each other


def settle(nodes: int, links: Sequence[tuple[int, int]], inside: Box) -> Places:
    """Return a place for each node: all push each other away, links pull together, and the middle pulls a little.

    After Fruchterman and Reingold (1991), cooled evenly, then stretched to fill the picture.

    Examples
    --------
    >>> settle(2, [(0, 1)], (0, 0, 100, 60)).round().tolist()
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
        # Processors differ in the last digits of a root or a power: without these, all of them draw the same.
        at = (at + move * (np.minimum(size, heat) / size)[:, None]).round(_DIGITS)
    return _stretched(at, inside)


def _stretched(at: Places, inside: Box) -> Places:
    corner, room = np.array(inside[:2]), np.array(inside[2:]) - np.array(inside[:2])
    low, span = at.min(0), np.ptp(at, 0)
    # What lies on one line goes to the middle instead of being torn apart.
    flat = span < 1e-3
    part = np.where(flat, 0.5, (at - low) / np.where(flat, 1, span))
    placed: Places = corner + part * room
    return placed


def spaced(at: Places, boxes: Places, wide: float) -> tuple[Places, float]:
    """Return places at which no two boxes touch, and how high they are together; as near to the given ones as may be.

    Boxes that touch are pushed apart for a while, which is mostly enough. Then they are gone through from top to
    bottom, and whichever still touches one above it goes down until it does not: so that nothing overlaps is certain,
    and it is the height that gives way.

    Parameters
    ----------
    at
        Where the boxes would like to be.
    boxes
        How far each reaches to either side, up and down from its place.
    wide
        How wide the picture is; a box is no wider than that.

    Examples
    --------
    >>> places, high = spaced(np.array([[50.0, 10.0], [50.0, 10.0]]), np.array([[30.0, 5.0, 15.0]] * 2), 100.0)
    >>> bool(abs(places[0, 1] - places[1, 1]) >= 20), high >= 40
    (True, True)
    """
    half, up, down = boxes.T
    low, high = np.minimum(half, wide / 2), np.maximum(wide - half, wide / 2)
    at = at.copy()
    # Two in the same place would be pushed nowhere.
    at += np.column_stack([np.zeros(len(at)), 0.01 * np.arange(len(at))])
    for _ in range(_STEPS):
        at[:, 0] = np.clip(at[:, 0], low, high)
        aside = at[:, None, 0] - at[None, :, 0]
        middle = at[:, 1] + (down - up) / 2
        below = middle[:, None] - middle[None, :]
        lacks_aside = half[:, None] + half[None, :] + _GAP - np.abs(aside)
        lacks_below = (up + down)[:, None] / 2 + (up + down)[None, :] / 2 + _LINES - np.abs(below)
        touching = (lacks_aside > 0) & (lacks_below > 0)
        np.fill_diagonal(touching, False)
        if not touching.any():
            break
        along = touching & (lacks_aside < lacks_below)
        at[:, 0] += 0.25 * np.where(along, np.sign(aside) * lacks_aside, 0).sum(1)
        at[:, 1] += 0.25 * np.where(touching & ~along, np.sign(below) * lacks_below, 0).sum(1)
        at = at.round(_DIGITS)
    at[:, 0] = np.clip(at[:, 0], low, high)
    _lowered(at, boxes)
    at[:, 1] -= (at[:, 1] - up).min(initial=math.inf) if len(at) else 0
    return at, float((at[:, 1] + down).max(initial=0))


def _lowered(at: Places, boxes: Places) -> None:
    """Move boxes down until none touches one above it."""
    placed: list[int] = []
    for node in np.argsort(at[:, 1], kind="stable").tolist():
        half, up, down = boxes[node]
        while True:
            held = [
                other
                for other in placed
                if abs(at[node, 0] - at[other, 0]) < half + boxes[other, 0]
                and at[node, 1] - up < at[other, 1] + boxes[other, 2] + 1
                and at[other, 1] - boxes[other, 1] < at[node, 1] + down + 1
            ]
            if not held:
                break
            at[node, 1] = max(at[other, 1] + boxes[other, 2] for other in held) + up + 1.01
        placed.append(node)
