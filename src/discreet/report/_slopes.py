"""Slopes: the value of each pattern before and after, joined by a line.

Names stand beside the lines, whole if a few rows suffice. No two lines share a name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from ._charts import digits_of, ticks
from ._svg import HALO, Drawing, circle, element, join, line, text, titled
from ._text import ISOLATED, clean, count_columns, fit_text, percent, text_width
from .colours import INK, LIFTS, QUIET, RULE, WARM_EDGE

# Sizes in pixels.
_ROW = 14  # from one row of a label to the next
_GAP = 18  # between the middles of two labels of one row
_HEAD, _FOOT = 34, 14  # above and below the scales
_MIN_HEIGHT = 160  # of the scales
_EDGE = 6  # around a dot
_LEADER = 26  # from a scale to its labels
_VALUE = 42  # for a number in percent
_FONT_SIZE = 11
# Rows of a label; and of a label that equals a second one in fewer rows.
_ROWS, _MAX_ROWS = 3, 8
_NAME_COLUMNS = (24, 16, 11, 8)  # of names that are too long, tried in this order


@dataclass(frozen=True)
class Slope:
    """One line: the names of the items of a pattern, its two values, and whether noise does not explain the change."""

    names: tuple[str, ...]
    before: float
    after: float
    clear: bool

    @property
    def label(self) -> str:
        """Return all names as one text, each with its own writing direction."""
        return ", ".join(map(ISOLATED.format, self.names))


def draw_slopes(rows: Sequence[Slope], *, title: str, names: tuple[str, str], width: int = 680) -> Drawing:
    """Return lines from the left scale to the right one, with labels that do not overlap.

    Parameters
    ----------
    rows
        The lines, the most important first; their values are shares from 0 to 1.
    title
        The title of the drawing.
    names
        The names of the two sides.
    width
        The width of the drawing in pixels.

    Examples
    --------
    >>> drawing = draw_slopes([Slope(("tea",), 0.2, 0.3, True)], title="Supports", names=("March", "April"))
    >>> drawing.inside.count("<circle"), "tea" in drawing.description
    (2, True)
    """
    ends = [end for row in rows for end in (row.before, row.after)]
    marks = ticks(min(ends, default=0.0), max(ends, default=1.0))
    # Names need more room than lines: a slope is read at any width, a cut name is not.
    room = max(112, width * 3 // 8)  # of the names
    left_x, right_x = _VALUE + _LEADER, width - room - _VALUE - _LEADER - 4
    digits = digits_of(marks) + 1 if marks[0] == 0 else 1
    labels = build_labels(rows, room)
    label_heights = [_GAP + _ROW * (len(label) - 1) for label in labels]
    height = max(_MIN_HEIGHT, round(1.2 * sum(label_heights))) + _HEAD + _FOOT

    def y(value: float) -> float:
        part = (value - marks[0]) / (marks[-1] - marks[0])
        return height - _FOOT - part * (height - _HEAD - _FOOT)

    foot = height - _FOOT + 6
    parts = [line(x, _HEAD - 8, x, foot, stroke=RULE) for x in (left_x, right_x)]
    parts += _heads(names, left_x, right_x, width)
    befores = spread_labels([y(row.before) for row in rows], _HEAD, height - _FOOT)
    afters = spread_labels([y(row.after) for row in rows], _HEAD, height - _FOOT, label_heights)
    for row, before_y, after_y, label in zip(rows, befores, afters, labels, strict=True):
        colour = QUIET if not row.clear else LIFTS[2] if row.after > row.before else WARM_EDGE
        start_y, stop_y = y(row.before), y(row.after)
        before, after = (percent(value, digits) for value in (row.before, row.after))
        top = after_y - _ROW * (len(label) - 1) / 2
        leaders = _leader(left_x, start_y, -1, before_y) + _leader(right_x, stop_y, 1, top)
        dashes = None if row.clear else "4 4"
        number_style = {"text_anchor": "end", "font_size": _FONT_SIZE, **HALO}
        names_x = right_x + _LEADER + _VALUE
        parts.append(
            titled(
                f"{row.label}: {before} → {after}",
                line(left_x, start_y, right_x, stop_y, stroke=colour, stroke_width=2, stroke_dasharray=dashes),
                element("path", d=leaders, stroke=colour, fill="none"),
                *(circle(x, dot_y, 4, fill=colour) for x, dot_y in ((left_x, start_y), (right_x, stop_y))),
                text(before, left_x - _LEADER, before_y + 4, **number_style),
                text(after, names_x, top + 4, **number_style),
                *(
                    text(words, names_x + 4, top + _ROW * index + 4, font_size=_FONT_SIZE, fill=INK, **HALO)
                    for index, words in enumerate(label)
                ),
            )
        )
    description = f"Lines from {names[0]} to {names[1]}. " + "; ".join(
        f"{row.label}: {percent(row.before, digits)} to {percent(row.after, digits)}" for row in rows
    )
    return Drawing(title=title, description=description, inside=join(parts), height=height, width=width)


def _heads(names: tuple[str, str], left_x: int, right_x: int, width: int) -> list[Markup]:
    """Return the names of the two sides above their scales; long names start above each half of the drawing."""
    titles = [clean(name, 40) for name in names]
    middle = (left_x + right_x) // 2
    centred = all(text_width(name) < right_x - left_x - 8 for name in titles) and text_width(titles[0]) < 2 * left_x
    places = (left_x, right_x) if centred else (0, middle + 4)
    anchor = "middle" if centred else "start"
    rooms = (middle - 4, width - middle - 4)
    return [
        text(fit_text(name, room), x, 16, text_anchor=anchor, fill=QUIET)
        for x, name, room in zip(places, titles, rooms, strict=True)
    ]


def _leader(x: int, dot_y: float, side: int, label_y: float) -> str:
    """Return the path from a dot to its label, level at both ends, so that the eye can follow it."""
    start, stop = x + side * _EDGE, x + side * (_LEADER - 3)
    return f"M{start} {dot_y:.1f}L{start + 3 * side} {dot_y:.1f}L{stop - 3 * side} {label_y:.1f}L{stop} {label_y:.1f}"


def build_labels(rows: Sequence[Slope], room: float) -> list[list[str]]:
    r"""Return the label of each line as rows of text within a width in pixels: different labels for different names.

    Examples
    --------
    >>> [" / ".join(label) for label in build_labels([Slope(("tea", "milk"), 0.1, 0.2, True)], 40)]
    ['\u2068tea\u2069, / \u2068milk\u2069']
    """
    # Equal labels get more rows first, which shows more of the names, and numbers only if that is not enough.
    labels = [_label(row.names, room, _ROWS) for row in rows]
    for max_rows in (_MAX_ROWS, 0):
        times = Counter(map(tuple, labels))
        numbers: Counter[tuple[str, ...]] = Counter()
        for index, label in enumerate(map(tuple, labels)):
            if times[label] > 1:
                numbers[label] += 1
                labels[index] = (
                    _label(rows[index].names, room, max_rows) if max_rows else [*label, f"({numbers[label]})"]
                )
    return labels


def _label(names: Sequence[str], room: float, max_rows: int) -> list[str]:
    """Return names in a number of rows at most: shortened, or only the first names, until the rows suffice."""
    rows = _wrap_names(names, room)
    if len(rows) <= max_rows:
        return rows
    for columns in _NAME_COLUMNS:
        short_rows = _wrap_names([clean(name, columns) for name in names], room)
        if len(short_rows) <= max_rows:
            return short_rows
    for shown_count in range(len(names) - 1, 0, -1):
        short_rows = _wrap_names(
            [*(clean(name, _NAME_COLUMNS[-1]) for name in names[:shown_count]), f"+ {len(names) - shown_count}"], room
        )
        if len(short_rows) <= max_rows:
            return short_rows
    return rows[:max_rows]


def _wrap_names(names: Sequence[str], room: float) -> list[str]:
    """Return names in rows of text, broken between words, and inside a word that is longer than a row."""
    rows: list[list[tuple[int, str]]] = [[]]
    room_left = room
    for number, name in enumerate(names):
        end = "," if number < len(names) - 1 and not names[number + 1].startswith("+ ") else ""
        for word in _split_words(f"{name}{end}", room):
            word_width = _letters_width(word) + (_letters_width(" ") if rows[-1] else 0.0)
            if word_width > room_left and rows[-1]:
                rows.append([])
                word_width, room_left = _letters_width(word), room
            rows[-1].append((number, word))
            room_left -= word_width
    return [_join_words(row) for row in rows]


def _split_words(text: str, room: float) -> list[str]:
    """Return the words of a text, longer words cut into pieces that fit a width in pixels."""
    pieces: list[str] = []
    for word in text.split() or [text]:
        piece = ""
        for letter in word:
            if piece and count_columns(letter) and _letters_width(piece + letter) > room:
                pieces.append(piece)
                piece = ""
            piece += letter
        pieces.append(piece)
    return pieces


def _join_words(words: Sequence[tuple[int, str]]) -> str:
    """Return a row of text from numbered words; the words of a name keep the writing direction of their name."""
    parts: list[str] = []
    for number in dict.fromkeys(number for number, _ in words):
        text = " ".join(word for word_number, word in words if word_number == number)
        name = text.removesuffix(",")
        parts.append(ISOLATED.format(name) + text[len(name) :])
    return " ".join(parts)


def _letters_width(text: str) -> float:
    """Return the width in pixels of a text in the letters of labels."""
    return text_width(text) * _FONT_SIZE / 12


def spread_labels(
    places: Sequence[float], first_place: float, last_place: float, label_heights: Sequence[float] | None = None
) -> list[float]:
    """Return places for labels: apart, and in total as near to the given places as possible.

    The middles of all rows lie between the first place and the last, if all labels have room; otherwise they
    begin at the first. Labels that touch form a group, which is placed at its mean (pool adjacent violators).

    Parameters
    ----------
    places
        The preferred place of each label in pixels.
    first_place, last_place
        The range of the places.
    label_heights
        The height of each label in pixels; by default one row.

    Examples
    --------
    >>> spread_labels([100.0, 100.0, 40.0], 0, 200)
    [91.0, 109.0, 40.0]
    >>> spread_labels([10.0, 10.0, 198.0], 8.0, 190.0)
    [8.0, 26.0, 190.0]
    """
    # One row each, if no label has more.
    sizes = [_GAP] * len(places) if label_heights is None else label_heights
    # Labels keep the order of their dots, so that no two leaders cross.
    order = sorted(range(len(places)), key=lambda index: (places[index], index))
    # Less its offset from the first label, each place only has to keep the order: labels of a group share one place.
    before = [0.0]
    for upper, lower in pairwise(order):
        before.append(before[-1] + (sizes[upper] + sizes[lower]) / 2)
    if order:
        first_place, last_place = first_place + (sizes[order[0]] - _GAP) / 2, last_place - (sizes[order[-1]] - _GAP) / 2
    groups: list[list[float]] = []
    for index, offset in zip(order, before, strict=False):
        groups.append([places[index] - offset])
        while len(groups) > 1 and _mean(groups[-1]) < _mean(groups[-2]):
            touching = groups.pop()
            groups[-1] += touching
    group_places = [_mean(group) for group in groups for _ in group]
    result = [0.0] * len(places)
    for index, offset, place in zip(order, before, group_places, strict=False):
        result[index] = max(first_place, min(place, last_place - before[-1])) + offset
    return result


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
