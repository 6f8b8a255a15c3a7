"""Names and numbers as a page shows them.

Names come from data. Here they lose what a browser would act on (control characters, overrides of the writing
direction) and what would burst a page (their length); the escaping of what is left happens where markup is made.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from html import escape
from itertools import pairwise

from ..baskets import Item
from ..results import Itemsets, Patterns, Rules, count_end, cut, end_digits, outwards
from ..wording import JOINERS, number_of as number_of, printable

# The direction of what stands between these has no effect on what stands around them.
ISOLATED = "\u2068{}\u2069"

LONGEST = 120  # columns of a name
_DIGITS = 4  # of a number that is shown


def clean(text: object, most: int = LONGEST) -> str:
    r"""Return a text with what cannot be seen made visible, cut to so many columns.

    Examples
    --------
    >>> clean("tea\x07"), clean("a very long name", most=8)
    ('tea\\x07', 'a very …')
    """
    # Nothing beyond could be shown, however narrow the letters.
    letters = printable(str(text)[: 4 * most])
    if columns(letters) <= most and len(str(text)) <= 4 * most:
        return letters
    used, kept = 1, []
    for letter in letters:
        used += _width(letter)
        if used > most:
            break
        kept.append(letter)
    return "".join(kept).rstrip(JOINERS) + "…"


def columns(text: str) -> int:
    """Return how wide a text is, in widths of a common letter."""
    return sum(map(_width, text))


def _width(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Cf", "Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def wide_of(text: str) -> float:
    """Return how wide a text of 12 units is at the most: in the widest of the fonts that pages ask for.

    Nothing can be measured where pages are made, so labels that must not touch are given more room than they need.

    Examples
    --------
    >>> wide_of("milk") < wide_of("WWWW")
    True
    """
    return 12 * sum(_part(letter) * _width(letter) for letter in text)


def _part(letter: str) -> float:
    """Return the width of a letter as a part of its height, rounded up from DejaVu Sans."""
    if unicodedata.east_asian_width(letter) in "WF":
        return 0.55  # of two columns
    if letter in " \u202f.,:;'|!ijlIftr()[]/-":
        return 0.43
    if letter in "mwMW%@…—&ÆŒ":
        return 1.01
    return 0.79 if letter.isupper() else 0.66


def name(label: Item) -> str:
    """Return the name of an item; quoted where it could be taken for several, or for none."""
    text = clean(label)
    return f'"{text}"' if "," in text or not text.strip() else text


def plain_itemset(labels: Sequence[Item], most: int = LONGEST) -> str:
    """Return an itemset as one line of text, for charts; each name is kept apart from the direction of the others."""
    if not labels:
        return "(no item)"
    room = max(12, most // len(labels))
    names = [name(label) for label in labels]
    if sum(map(columns, names)) + 2 * len(names) > most:
        names = [clean(text, room) for text in names]
    return ", ".join(ISOLATED.format(text) for text in names)


def html_itemset(labels: Iterable[Item]) -> str:
    """Return an itemset as HTML."""
    return ", ".join(f"<bdi>{escape(name(label))}</bdi>" for label in labels) or "(no item)"


def labels_of(itemsets: Itemsets, result: Patterns | Rules) -> list[list[Item]]:
    """Return the labels of each itemset, in the order of their codes."""
    labels = result.vocabulary.take(itemsets.codes).to_pylist()
    return [labels[start:stop] for start, stop in pairwise(itemsets.offsets.tolist())]


def named(patterns: Patterns) -> str:
    """Return the itemset of the first of some patterns."""
    return html_itemset(labels_of(patterns.itemsets, patterns)[0])


def whole(value: float, step: int | None = None) -> str:
    """Return a number of people in four digits, or in whole steps; a dash where it is not known.

    Examples
    --------
    >>> whole(1234), whole(123_456), whole(123_456, 10)
    ('1,234', '123,500', '123,460')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = step_of(value) if step is None else step
    return _signed(f"{round(value / size) * size:,.0f}")


def step_of(value: float, margin: float = math.inf) -> int:
    """Return the power of ten that a number of people is rounded to: four digits, and more where its margin is smaller.

    A number is not rounded by more than a fifth of its margin: digits that noise has not drowned stay.

    Examples
    --------
    >>> step_of(123_456), step_of(123_456, 900), step_of(123_456, 20)
    (100, 100, 1)
    """
    size = 1
    while math.isfinite(value) and abs(round(value / size)) >= 10**_DIGITS and 5 * 10 * size <= margin:
        size *= 10
    return size


def percent(value: float, digits: int = 1) -> str:
    """Return a fraction in percent, with so many decimals, but four digits at most."""
    return "–" if math.isnan(value) else _signed(f"{100 * value:,.{decimals(100 * value, digits)}f}") + "\u202f%"


def percent_end(value: float, digits: int, to_whole: Callable[[float], int]) -> str:
    """Return the end of an interval for a fraction in percent, rounded outwards; one above 0 is not shown as 0.

    Examples
    --------
    >>> percent_end(0.1239, 1, math.floor), percent_end(0.00007, 1, math.floor), percent_end(0, 1, math.floor)
    ('12.3\u202f%', '0.007\u202f%', '0.0\u202f%')
    """
    digits = end_digits(100 * value, digits, to_whole)
    return percent(min(1.0, outwards(value, decimals(100 * value, digits) + 2, to_whole)), digits)


def counts_end(value: float, to_whole: Callable[[float], int], step: int = 1) -> str:
    """Return the end of an interval for a count in whole steps, rounded outwards; one above 0 is not shown as 0."""
    end = count_end(value, to_whole, step)
    return whole(end, 1 if math.isfinite(end) and end % step else step)


def decimals(value: float, most: int) -> int:
    """Return how many decimals a number is shown with, so that it has four digits at most.

    Examples
    --------
    >>> [decimals(value, 2) for value in (0.5, 31.25, 312.5, 31250)]
    [2, 2, 1, 0]
    """
    if not value or not math.isfinite(value):
        return most
    size = int(abs(round(value, most)))  # as it will be once it is rounded: 99.996 becomes 100.0
    return min(most, max(0, _DIGITS - len(str(size)))) if size else most


def digits_for(values: Iterable[float]) -> int:
    """Return how many decimals of a percentage a column needs, so that its smallest value has two digits."""
    sizes = [100 * abs(value) for value in values if value and math.isfinite(value)]
    return min(4, max(1, 1 - math.floor(math.log10(min(sizes))))) if sizes else 1


def loss(value: Fraction) -> str:
    """Return a loss of privacy in four digits, rounded up where it has more."""
    return cut(value, digits=_DIGITS)


def _signed(text: str) -> str:
    return "0" if text == "-0" else text.replace("-", "−")
