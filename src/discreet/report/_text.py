"""Names and numbers as a page shows them.

Names come from data. Here they lose the characters that a browser would act on (control characters, overrides of the
writing direction) and the length that would burst a page. A template or an element of SVG escapes the remaining text.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

from markupsafe import Markup

from ..baskets import Item
from ..results import Itemsets, Patterns, Rules, count_end, cut, end_digits, outwards
from ..wording import JOINERS, number_of as number_of, printable

# The two characters isolate the writing direction of a text from the texts beside it (Unicode, UAX 9).
ISOLATED = "\u2068{}\u2069"

# HTML's element of this isolation.
_NAME_START, _NAME_END = Markup("<bdi>"), Markup("</bdi>")

NAME_COLUMNS = 120  # of a name at most. Larger: wider tables; smaller: more names are cut
_DIGITS = 4  # of a number: a reader compares four at a glance, and noise rarely leaves more


def clean(text: object, max_columns: int = NAME_COLUMNS) -> str:
    r"""Return a text with its invisible characters made visible, cut to a number of columns.

    Examples
    --------
    >>> clean("tea\x07"), clean("a very long name", max_columns=8)
    ('tea\\x07', 'a very …')
    """
    # A letter and the marks on it are rarely more than four characters: text beyond could not be shown anyway.
    letters = printable(str(text)[: 4 * max_columns])
    if count_columns(letters) <= max_columns and len(str(text)) <= 4 * max_columns:
        return letters
    # One column is for the ellipsis.
    used_columns, shown_letters = 1, []
    for letter in letters:
        used_columns += _letter_columns(letter)
        if used_columns > max_columns:
            break
        shown_letters.append(letter)
    return "".join(shown_letters).rstrip(JOINERS) + "…"


def count_columns(text: str) -> int:
    """Return the width of a text in columns: widths of a common letter."""
    return sum(map(_letter_columns, text))


def _letter_columns(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Cf", "Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def text_width(text: str) -> float:
    """Return the largest width in pixels of a text of 12 pixels, over the fonts that pages ask for.

    No font can be measured where pages are made, so labels that must not touch get the room of the widest font.

    Examples
    --------
    >>> text_width("milk") < text_width("WWWW")
    True
    """
    return 12 * sum(_relative_width(letter) * _letter_columns(letter) for letter in text)


def _relative_width(letter: str) -> float:
    """Return the width of a letter as a share of its height, rounded up from DejaVu Sans."""
    if unicodedata.east_asian_width(letter) in "WF":
        return 0.55  # for each of its two columns
    if letter in " \u202f.,:;'|!ijlIftr()[]/-":
        return 0.43
    if letter in "mwMW%@…—&ÆŒ":
        return 1.01
    return 0.79 if letter.isupper() else 0.66


def fit_text(text: str, room: float) -> str:
    """Return a text cut to a width in pixels, with an ellipsis at a cut."""
    # Most labels fit, and are not taken apart.
    if text_width(text) <= room:
        return text
    width, shown_letters = text_width("…"), []
    for letter in text:
        width += text_width(letter)
        if width > room:
            break
        shown_letters.append(letter)
    return "".join(shown_letters).rstrip() + "…"


def item_text(label: Item) -> str:
    """Return the name of an item; in quotes if blank, or with a comma and would read as several names."""
    text = clean(label)
    return f'"{text}"' if "," in text or not text.strip() else text


def plain_itemset(labels: Sequence[Item], max_columns: int = NAME_COLUMNS) -> str:
    """Return an itemset as one line of text, for charts; the writing direction of each name is isolated."""
    if not labels:
        return "(no item)"
    names = [item_text(label) for label in labels]
    if sum(map(count_columns, names)) + 2 * len(names) > max_columns:
        names = [clean(text, max(12, max_columns // len(labels))) for text in names]
    return ", ".join(ISOLATED.format(text) for text in names)


def itemset(labels: Iterable[Item]) -> Markup:
    """Return an itemset as markup, in which no name changes the writing direction of the next."""
    names = (_NAME_START + item_text(label) + _NAME_END for label in labels)
    return Markup(", ").join(names) or Markup("(no item)")


def labels_of(itemsets: Itemsets, result: Patterns | Rules) -> list[list[Item]]:
    """Return the labels of each itemset, in the order of their codes."""
    labels = result.vocabulary.take(itemsets.codes).to_pylist()
    return [labels[start:stop] for start, stop in pairwise(itemsets.offsets.tolist())]


def first_itemset(patterns: Patterns) -> Markup:
    """Return the itemset of the first pattern as markup."""
    return itemset(labels_of(patterns.itemsets, patterns)[0])


def count_text(value: float, step: int | None = None) -> str:
    """Return a number of people in four digits, or as a multiple of `step`; a dash for nan.

    Examples
    --------
    >>> count_text(1234), count_text(123_456), count_text(123_456, 10)
    ('1,234', '123,500', '123,460')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = step_of(value) if step is None else step
    return _with_minus(f"{round(value / size) * size:,.0f}")


def step_of(value: float, margin: float = math.inf) -> int:
    """Return the power of ten to which a number of people is rounded: four digits, and more for a small margin.

    A number is rounded by a tenth of its margin at most, so that every digit above the noise is shown.

    Examples
    --------
    >>> step_of(123_456), step_of(123_456, 900), step_of(123_456, 20)
    (100, 100, 1)
    """
    # Powers of ten alone: rounding to multiples of five would look like exact digits.
    size = 1
    while math.isfinite(value) and abs(round(value / size)) >= 10**_DIGITS and 5 * 10 * size <= margin:
        size *= 10
    return size


def percent(value: float, digits: int = 1) -> str:
    """Return a fraction in percent, with a number of decimals, but four digits at most."""
    return "–" if math.isnan(value) else _with_minus(f"{100 * value:,.{decimals(100 * value, digits)}f}") + "\u202f%"


def percent_end(value: float, digits: int, to_whole: Callable[[float], int]) -> str:
    """Return the end of an interval of a fraction in percent, rounded outwards; an end above 0 is not shown as 0.

    Examples
    --------
    >>> percent_end(0.1239, 1, math.floor), percent_end(0.00007, 1, math.floor), percent_end(0, 1, math.floor)
    ('12.3\u202f%', '0.007\u202f%', '0.0\u202f%')
    """
    digits = end_digits(100 * value, digits, to_whole)
    return percent(min(1.0, outwards(value, decimals(100 * value, digits) + 2, to_whole)), digits)


def count_end_text(value: float, to_whole: Callable[[float], int], step: int = 1) -> str:
    """Return the end of an interval of a count as a multiple of `step`, rounded outwards; above 0 it stays above 0."""
    end = count_end(value, to_whole, step)
    return count_text(end, 1 if math.isfinite(end) and end % step else step)


def decimals(value: float, max_decimals: int) -> int:
    """Return the number of decimals with which a number is shown, so that it has four digits at most.

    Examples
    --------
    >>> [decimals(value, 2) for value in (0.5, 31.25, 312.5, 31250)]
    [2, 2, 1, 0]
    """
    if not value or not math.isfinite(value):
        return max_decimals
    size = int(abs(round(value, max_decimals)))  # of the rounded number: 99.996 becomes 100.0
    return min(max_decimals, max(0, _DIGITS - len(str(size)))) if size else max_decimals


def percent_digits(values: Iterable[float]) -> int:
    """Return the number of decimals of a column of percentages that shows two digits of its smallest value."""
    sizes = [100 * abs(value) for value in values if value and math.isfinite(value)]
    return min(4, max(1, 1 - math.floor(math.log10(min(sizes))))) if sizes else 1


def loss_text(value: Fraction) -> str:
    """Return a loss of privacy in four digits, rounded up."""
    return cut(value, digits=_DIGITS)


def lift_text(value: float) -> str:
    """Return a lift with two decimals, and four digits at most."""
    return f"{value:,.{decimals(value, 2)}f}" if math.isfinite(value) else count_text(value)


def sentence(text: str) -> str:
    """Return a text as a sentence, with a capital letter and a full stop."""
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _with_minus(text: str) -> str:
    """Return the text of a number with a minus sign for its hyphen, and without the sign of -0."""
    return "0" if text == "-0" else text.replace("-", "−")
