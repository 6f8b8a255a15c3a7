"""The places of circles and labels of a graph: by forces, from a circle on and without any random number.

Equal links give equal places. A circle and its label are one box, and no two boxes touch. The meaning of the
circles is not known here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.float64]
Box = tuple[float, float, float, float]  # left, top, right, bottom

_STEPS = 400  # of the simulated forces: more steps do not change a picture of 26 items visibly; fewer leave it tangled
_DIGITS = 9  # decimals of a place on which all processors agree
_SIDE_GAP, _LINE_GAP = 8, 8  # pixels between two boxes side by side, and between two in a column


def settle_nodes(nodes: int, links: Sequence[tuple[int, int]], inside: Box) -> Places:
    """Return a place for each node: nodes repel all nodes, links and the centre pull them together.

    After Fruchterman and Reingold (1991), cooled evenly, then stretched to fill the picture.

    Examples
    --------
    >>> settle_nodes(2, [(0, 1)], (0, 0, 100, 60)).round().tolist()
    [[100.0, 30.0], [0.0, 30.0]]
    """
    # From a circle: a random start would give a different picture at each call.
    angles = 2 * math.pi * np.arange(nodes) / max(nodes, 1)
    places = np.column_stack([np.cos(angles), np.sin(angles)])
    starts, ends = (np.array([link[side] for link in links], np.int64) for side in (0, 1))
    degree = np.maximum(np.bincount(np.concatenate([starts, ends]), minlength=nodes), 1)
    # A hub is pulled by all its links at once: divided by their number, its neighbours do not collapse into a ball.
    strength = 1 / np.sqrt(np.minimum(degree[starts], degree[ends]))
    ideal = 1.6 / math.sqrt(max(nodes, 1))
    for step in range(_STEPS):
        offsets = places[:, None, :] - places[None, :, :]
        distance = np.maximum(np.sqrt((offsets**2).sum(2)), 1e-3)
        # Distant nodes do not push: otherwise groups without links between them would fly to the corners.
        reach = np.exp(-((distance / (2.5 * ideal)) ** 2))
        push = (offsets * (ideal**2 / distance**2 * reach)[:, :, None]).sum(1)
        spans = places[starts] - places[ends]
        force = spans * (np.sqrt((spans**2).sum(1)) / ideal * strength)[:, None]
        pull = np.zeros_like(places)
        np.add.at(pull, starts, -force)
        np.add.at(pull, ends, force)
        move = push + pull - 0.3 * places
        size = np.maximum(np.sqrt((move**2).sum(1)), 1e-9)
        heat = 0.12 * (1 - step / _STEPS) + 0.001
        # Processors differ in the last digits of a root or a power: rounded, the picture is equal everywhere.
        places = (places + move * (np.minimum(size, heat) / size)[:, None]).round(_DIGITS)
    return _stretch(places, inside)


def _stretch(places: Places, inside: Box) -> Places:
    corner, room = np.array(inside[:2]), np.array(inside[2:]) - np.array(inside[:2])
    low, span = places.min(0), np.ptp(places, 0)
    # Nodes on one line go to the middle, as they have no distance to stretch.
    flat = span < 1e-3
    part = np.where(flat, 0.5, (places - low) / np.where(flat, 1, span))
    placed: Places = corner + part * room
    return placed


def separate_boxes(places: Places, boxes: Places, width: float) -> tuple[Places, float]:
    """Return places at which no two boxes touch, near to the given places, and the height of all boxes together.

    1. Boxes that touch push apart, for a limited number of steps; this is mostly enough.
    2. From top to bottom, each box that still touches one above it moves down until it does not. So no overlap remains,
       and the height gives way.

    Parameters
    ----------
    places
        The preferred place of each box.
    boxes
        The reach of each box in pixels: to either side, up and down from its place.
    width
        The width of the picture in pixels; a box is no wider.

    Examples
    --------
    >>> boxes = np.array([[30.0, 5.0, 15.0]] * 2)
    >>> places, height = separate_boxes(np.array([[50.0, 10.0]] * 2), boxes, 100.0)
    >>> bool(abs(places[0, 1] - places[1, 1]) >= 20), height >= 40
    (True, True)
    """
    half, above, below = boxes.T
    left, right = np.minimum(half, width / 2), np.maximum(width - half, width / 2)
    places = places.copy()
    # Two boxes at one place would be pushed in no direction.
    places += np.column_stack([np.zeros(len(places)), 0.01 * np.arange(len(places))])
    for _ in range(_STEPS):
        # Each step moves boxes back inside first, so that pushing cannot drive them out.
        places[:, 0] = np.clip(places[:, 0], left, right)
        sides = places[:, None, 0] - places[None, :, 0]
        middle = places[:, 1] + (below - above) / 2
        heights = middle[:, None] - middle[None, :]
        lacks_aside = half[:, None] + half[None, :] + _SIDE_GAP - np.abs(sides)
        lacks_below = (above + below)[:, None] / 2 + (above + below)[None, :] / 2 + _LINE_GAP - np.abs(heights)
        touching = (lacks_aside > 0) & (lacks_below > 0)
        np.fill_diagonal(touching, False)
        if not touching.any():
            break
        along = touching & (lacks_aside < lacks_below)
        places[:, 0] += 0.25 * np.where(along, np.sign(sides) * lacks_aside, 0).sum(1)
        places[:, 1] += 0.25 * np.where(touching & ~along, np.sign(heights) * lacks_below, 0).sum(1)
        places = places.round(_DIGITS)
    places[:, 0] = np.clip(places[:, 0], left, right)
    _move_down(places, boxes)
    places[:, 1] -= (places[:, 1] - above).min(initial=math.inf) if len(places) else 0
    return places, float((places[:, 1] + below).max(initial=0))


def _move_down(places: Places, boxes: Places) -> None:
    """Move boxes down until no box touches one above it."""
    placed: list[int] = []
    for node in np.argsort(places[:, 1], kind="stable").tolist():
        half, above, below = boxes[node]
        while True:
            touching = [
                placed_node
                for placed_node in placed
                if abs(places[node, 0] - places[placed_node, 0]) < half + boxes[placed_node, 0]
                and places[node, 1] - above < places[placed_node, 1] + boxes[placed_node, 2] + 1
                and places[placed_node, 1] - boxes[placed_node, 1] < places[node, 1] + below + 1
            ]
            if not touching:
                break
            places[node, 1] = (
                max(places[placed_node, 1] + boxes[placed_node, 2] for placed_node in touching) + above + 1.01
            )
        placed.append(node)
