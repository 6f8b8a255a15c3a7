"""The differences of two results: two months, two segments, two releases.

A difference of noisy counts carries the noise of both. All intervals of one comparison hold at once in 95 of 100 cases:
with many patterns compared one by one, some would seem to change by noise alone. A pattern on one list alone is called
unlisted in the second: a list does not state the counts of the patterns that it leaves out. Nothing here reads data:
two releases are compared for free.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

from ..baskets import Item, Unit
from ..errors import MisuseError
from ..wording import number_of, printable
from ._comparable import Common, notes_of, provenance_of
from ._patterns import Patterns
from ._promise import end_digits, outwards
from ._provenance import Provenance
from ._result import Result, draw_with
from ._simultaneous import FAMILY_FAILURE, interval_count_of, stretch_of, stretched_supports
from ._untrusted import parse_choice, read_fields

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Group

    from ._picture import Picture

Change: TypeAlias = Literal["more", "less", "unclear", "same", "unlisted", "incomparable"]

# The order of changes: changes that noise does not explain come first.
_ORDER: dict[Change, int] = {"more": 0, "less": 0, "unclear": 1, "same": 2, "unlisted": 3, "incomparable": 4}
_WORDS: dict[Change, str] = {
    "unclear": "within noise",
    "same": "the same",
    "unlisted": "not listed there",
    "incomparable": "not comparable",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One itemset, its support before and after, and the interval of the difference.

    Parameters
    ----------
    items
        The itemset.
    before, after
        Its support in each result; None in a result that does not list it.
    low, high
        An interval for the true difference of the supports; None for unlisted and incomparable patterns. In 95 of 100
        comparisons all intervals hold at once.
    change
        ``"more"`` and ``"less"`` for an interval on one side of 0, ``"unclear"`` for an interval around 0, ``"same"``
        for [0, 0]; ``"unlisted"`` for a pattern on one list alone, which states nothing about its count in the second
        result; ``"incomparable"`` for supports of different baskets or items.
    """

    items: frozenset[Item]
    before: float | None
    after: float | None
    low: float | None
    high: float | None
    change: Change

    @property
    def clear(self) -> bool:
        """Return whether noise does not explain the change: it is more, or less."""
        return self.change in ("more", "less")

    @property
    def words(self) -> str:
        """Return the change in words."""
        return _WORDS.get(self.change, self.change)

    @property
    def difference(self) -> float | None:
        """Return the difference of the supports; None for an unlisted or incomparable pattern."""
        is_compared = self.before is not None and self.after is not None and self.change != "incomparable"
        return (self.after or 0.0) - (self.before or 0.0) if is_compared else None


@dataclass(frozen=True, repr=False)
class Differences(Result):
    """The result of :func:`discreet.diff`: a sequence of :class:`Difference`, clear and large changes first.

    Parameters
    ----------
    rows
        The differences.
    names
        The names of the two results.
    coverage
        The coverage of all intervals together, in percent; 100 for two exact results.
    unit
        The unit of the supports.
    standing
        ``"private"``, or ``"simulated"`` or ``"exact"`` if either result is.
    notes
        Sentences for the reader: the guarantee of each result, the privacy loss of both together, and caveats.
    warnings
        Sentences on the reasons for which patterns cannot be compared.
    """

    FORM: ClassVar[str] = "differences/1"
    NOUN: ClassVar[str] = "differences"
    PAGE: ClassVar[str] = "difference_page"
    SHOWN_ROWS: ClassVar[int] = 10

    rows: tuple[Difference, ...]
    names: tuple[str, str]
    coverage: int
    unit: Unit
    standing: Literal["private", "simulated", "exact"]
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.rows)

    def __getitem__(self, place: int) -> Difference:
        return self.rows[place]

    @cached_property
    def clear(self) -> tuple[Difference, ...]:
        """Return the changes that noise does not explain."""
        return tuple(row for row in self.rows if row.clear)

    @property
    def noisy(self) -> bool:
        """Return whether a difference may be noise: not for two exact results."""
        # A loaded file states no guarantee of each side; widths of intervals and the coverage show whether noise was
        # added.
        return any(row.low != row.high for row in self.rows) or self.coverage < 100

    @property
    def tally(self) -> str:
        """Return the number of patterns by change, in words."""
        times = Counter(row.change for row in self.rows)
        if times["incomparable"] and times["incomparable"] == len(self):
            return f"{number_of(len(self), 'pattern')}: none can be compared"
        moves = ", ".join(f"{times[change]:,} {change}" for change in ("more", "less") if times[change]) or "no change"
        beyond = " beyond noise" if self.noisy else ""
        unlisted = f", {times['unlisted']:,} on one list alone" if times["unlisted"] else ""
        incomparable = f", {times['incomparable']:,} not comparable" if times["incomparable"] else ""
        return f"{number_of(len(self), 'pattern')}: {moves}{beyond}{unlisted}{incomparable}"

    @property
    def headline(self) -> str:
        """Return the number of patterns by change, with the names of the results, in one line."""
        # Names come last: after a name written from right to left, numbers would change places.
        before, after = map(printable, self.names)
        return f"{self.tally}, from {before} to {after}"

    @property
    def provenance(self) -> Provenance:
        """Return the provenance: whether either result was simulated, and the notes."""
        return Provenance(simulated=self.standing == "simulated", notes=self.notes)

    def _html(self, rows: int | None) -> str:
        return str(draw_with("difference_rows", self, len(self) if rows is None else rows))

    def _text(self, rows: int | None) -> str:
        # Text and not a table: names of items may be long, and a narrow terminal would cut the numbers.
        rows_shown = self.rows[:rows]
        lines = [
            self.headline,
            *self.warnings,
            *(f"  {_itemset_text(row.items)}: {self._row_text(row)}" for row in rows_shown),
        ]
        if len(self) > len(rows_shown):
            lines.append(f"  … and {len(self) - len(rows_shown):,} more")
        return "\n".join([*lines, *self.notes])

    def _rich(self, rows: int | None) -> Group:
        from rich.console import Group
        from rich.text import Text

        # In a group: a console joins single texts, and then wraps them.
        return Group(Text(self._text(rows), no_wrap=True, overflow="ignore"))

    def _row_text(self, row: Difference) -> str:
        before, after = (("–" if support is None else f"{support:.2%}") for support in (row.before, row.after))
        # The word "from" keeps numbers in their order after an item written from right to left.
        return f"from {before} to {after}, {row.words}{_interval_text(row)}"

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table: `items`, `before`, `after`, `difference`, `low`, `high`, `change`, `clear`."""
        import pyarrow as pa

        # Items are text in the table: an Arrow list has one type, and the two results may have different
        # vocabularies.
        names = ("before", "after", "difference", "low", "high", "change", "clear")
        kinds = dict.fromkeys(names, pa.float64()) | {"change": pa.large_string(), "clear": pa.bool_()}
        rows = [
            {"items": sorted(map(str, row.items))} | {name: getattr(row, name) for name in names} for row in self.rows
        ]
        return pa.Table.from_pylist(rows, pa.schema({"items": pa.list_(pa.large_string())} | kinds))

    def to_dict(self) -> dict[str, Any]:
        """Return all values as plain values."""
        return {
            "discreet": self.FORM,
            "names": list(self.names),
            "coverage": self.coverage,
            "unit": self.unit,
            "standing": self.standing,
            "notes": list(self.notes),
            "warnings": list(self.warnings),
            "differences": [
                row | {"items": sorted(difference.items, key=str)}
                for row, difference in zip(self.to_arrow().to_pylist(), self.rows, strict=True)
            ],
        }

    def plot(self, rows: int = 12) -> Picture:
        """Return a picture of the largest changes as slopes, from one result to the other.

        Parameters
        ----------
        rows
            The number of patterns, among the first that are on both lists.
        """
        picture: Picture = draw_with("difference_picture", self, rows)
        return picture

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Self:
        rows = tuple(map(_read_row, values["differences"]))
        # Earlier versions wrote the coverage under the name `sure`.
        coverage = values["coverage"] if "coverage" in values else values["sure"]
        return read_fields(cls, values, rows=rows, coverage=parse_choice(coverage, range(101)))


def diff(before: Any, after: Any, *, names: tuple[str, str] | None = None) -> Differences:
    """Return the differences of two results: two months, two segments, two releases.

    Privacy: costs nothing, as only released results are used. For a person in both data sets, the losses of the two
    results add up; the notes state the sum.

    Parameters
    ----------
    before, after
        Results with counts: files that `save` or the command line wrote, or patterns, releases and outcomes.
    names
        The names of the two results; by default the names of the files, or *before* and *after*.

    Returns
    -------
    Differences
        One row for each pattern of either result, clear and large changes first. Supports are compared, so that the
        numbers of people may differ. In at most 5 of 100 comparisons, any change called clear is none.

    Examples
    --------
    >>> import discreet
    >>> march = discreet.mine([{"tea"}] * 30 + [{"milk"}] * 70, min_count=1)
    >>> april = discreet.mine([{"tea"}] * 60 + [{"milk"}] * 60, min_count=1)
    >>> [(sorted(row.items), row.change, round(row.difference, 2)) for row in discreet.diff(march, april)]
    [(['milk'], 'less', -0.2), (['tea'], 'more', 0.2)]
    """
    # Counts of baskets and counts of people have different sensitivities and different meanings.
    earlier, later = _patterns(before), _patterns(after)
    if earlier.unit != later.unit:
        raise MisuseError(f"One result counts {earlier.unit}, the other {later.unit}: they cannot be compared.")
    # Names of files tell two months apart, where before and after would not.
    titles = (_name(before, "before"), _name(after, "after")) if names is None else (str(names[0]), str(names[1]))
    # A hierarchy turns numbers of products into names: then the names of both lists are compared.
    as_text = earlier.vocabulary.numeric != later.vocabulary.numeric
    earlier_rows, later_rows = _rows_by_itemset(earlier, as_text), _rows_by_itemset(later, as_text)
    common = Common.find(earlier, later, titles)
    # Only compared patterns share the failure probability: an unlisted pattern has no interval that could fail.
    compared_count = sum(common.covers(items) for items in earlier_rows.keys() & later_rows.keys())
    stretch = stretch_of(sum(interval_count_of(patterns, compared_count) for patterns in (earlier, later)))
    bounds = _bounds(earlier, stretch), _bounds(later, stretch)
    rows = [
        _row(
            items,
            bounds[0][earlier_rows[items]] if items in earlier_rows else None,
            bounds[1][later_rows[items]] if items in later_rows else None,
            comparable=common.covers(items),
        )
        for items in {**earlier_rows, **later_rows}
    ]
    # Rounded, so that rounding errors of floats do not decide the order of equal changes.
    rows.sort(key=lambda row: (_ORDER[row.change], -abs(round(_change_of(row), 12)), sorted(map(str, row.items))))
    noisy = earlier.noisy or later.noisy
    return Differences(
        rows=tuple(rows),
        names=titles,
        coverage=round(100 * (1 - FAMILY_FAILURE)) if noisy else 100,
        unit=earlier.unit,
        standing=_release_status(earlier, later),
        notes=tuple(notes_of(earlier, later, titles, common, any(row.change == "unlisted" for row in rows))),
        warnings=tuple(common.warnings(row.items for row in rows)),
    )


Bounds: TypeAlias = tuple[float, float, float]


def _read_row(values: Any) -> Difference:
    """Return a difference from plain values; a `ValueError` for impossible values."""
    items = values["items"]
    # In Python `True` is an integer, but no item of a file is a truth value.
    are_numbers = all(isinstance(item, int) and not isinstance(item, bool) for item in items)
    if not isinstance(items, list) or not (are_numbers or all(isinstance(item, str) for item in items)):
        raise ValueError("items must be all whole numbers or all names, in lists")
    numbers = {name: values[name] for name in ("before", "after", "low", "high")}
    for name, number in numbers.items():
        lowest = 0 if name in ("before", "after") else -1
        if number is not None and (type(number) not in (int, float) or not lowest <= number <= 1):
            raise ValueError(f"{name!r} is {number!r:.40}, which no share is")
    if (numbers["low"] is None) != (numbers["high"] is None) or numbers["before"] is numbers["after"] is None:
        raise ValueError("a row has neither support, or one end of an interval")
    ends = {name: None if number is None else float(number) for name, number in numbers.items()}
    row = Difference(items=frozenset(items), **ends, change=parse_choice(values["change"], tuple(_ORDER)))
    if values["clear"] is not row.clear:
        raise ValueError(f"'clear' must be {str(row.clear).lower()} where the change is {row.change!r}")
    return row


def points(value: float, digits: int, to_whole: Callable[[float], int] | None = None) -> str:
    """Return a difference in percentage points; the end of an interval rounded outwards, by floor or ceil.

    Examples
    --------
    >>> points(-0.0207, 2), points(0.39751, 1, math.floor)
    ('−2.07', '+39.7')
    """
    if to_whole is not None:
        digits = end_digits(100 * value, digits, to_whole)
    scaled = round(100 * value, digits) if to_whole is None else outwards(100 * value, digits, to_whole)
    return f"{scaled:{'+' if scaled else ''}.{digits}f}".replace("-", "\u2212" if scaled else "")


def _interval_text(row: Difference) -> str:
    """Return the change of a support in points, an interval if noisy; "" for an unknown one."""
    if row.low is None or row.high is None or row.change == "same":
        return ""
    if row.low == row.high:
        return f" ({points(row.low, 2)} points)"
    return f" ({points(row.low, 2, math.floor)} to {points(row.high, 2, math.ceil)} points)"


def _itemset_text(items: frozenset[Item]) -> str:
    return ", ".join(printable(str(item)) for item in sorted(items, key=str))


def _patterns(source: Any) -> Patterns:
    """Return the patterns with counts of a result or of its file."""
    if isinstance(source, str | Path):
        from ._files import load_rows

        source = load_rows(source)
    patterns = source if isinstance(source, Patterns) else getattr(source, "patterns", None)
    if not isinstance(patterns, Patterns):
        raise MisuseError(
            f"Patterns are compared, or releases and outcomes that have some, or their files; {type(source).__name__} "
            "was given."
        )
    if not patterns.counted:
        raise MisuseError("These are patterns without counts: there is nothing to compare but which they are.")
    return patterns


def _name(source: Any, otherwise: str) -> str:
    return Path(source).stem if isinstance(source, str | Path) else otherwise


def _rows_by_itemset(patterns: Patterns, as_text: bool = False) -> dict[frozenset[Item], int]:
    """Return the row of each pattern by its itemset; with `as_text`, by the texts of its items."""
    sets: Iterable[frozenset[Item]] = patterns.itemsets.sets(patterns.vocabulary)
    if as_text:
        sets = (frozenset(map(str, items)) for items in sets)
    return {items: place for place, items in enumerate(sets)}


def _bounds(patterns: Patterns, stretch: float) -> list[Bounds]:
    """Return the support of each pattern with its lowest and highest possible values."""
    low, high = stretched_supports(patterns, stretch)
    return list(zip(patterns.supports.tolist(), low.tolist(), high.tolist(), strict=True))


def _row(items: frozenset[Item], before: Bounds | None, after: Bounds | None, *, comparable: bool) -> Difference:
    """Return the difference of an itemset, given its bounds in each result."""
    before_support, after_support = (None if bounds is None else bounds[0] for bounds in (before, after))
    # Incomparable supports keep their numbers, but get no interval, as no difference has a meaning.
    if not comparable:
        return Difference(items, before_support, after_support, None, None, "incomparable")
    if before is None or after is None:
        return Difference(items, before_support, after_support, None, None, "unlisted")
    # The extreme differences of two intervals: the later low end less the earlier high end, and the reverse.
    low, high = after[1] - before[2], after[2] - before[1]
    change: Change = "more" if low > 0 else "less" if high < 0 else "unclear" if low < high else "same"
    return Difference(items, before_support, after_support, low, high, change)


def _change_of(row: Difference) -> float:
    return (row.after or 0.0) - (row.before or 0.0)


def _release_status(before: Patterns, after: Patterns) -> Literal["private", "simulated", "exact"]:
    """Return the weakest status of two results."""
    provenances = [provenance_of(patterns) for patterns in (before, after)]
    if any(provenance.guarantee is None for provenance in provenances):
        return "exact"
    return "simulated" if any(provenance.simulated for provenance in provenances) else "private"
