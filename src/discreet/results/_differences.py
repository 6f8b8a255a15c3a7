"""What changed between two results: two months, two segments, two releases of anything.

Where counts carry noise, a difference carries the noise of both. All intervals of one comparison hold at once in 95 of
100 cases: with many patterns compared one by one, some would seem to have changed by noise alone. A pattern that one
list alone has is called unlisted in the other: a list does not tell how many people hold what it leaves out. Nothing
here looks at data: what two releases say may be compared for free.
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
from ._plain_values import one_of, read_fields
from ._promise import end_digits, outwards
from ._provenance import Provenance
from ._result import Result, draw_with
from ._simultaneous import FAMILY_FAILURE, interval_count_of, stretch_of, stretched_supports

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Group

    from ._picture import Picture

Change: TypeAlias = Literal["more", "less", "unclear", "same", "unlisted", "incomparable"]

# In which order changes are shown: those that noise does not explain come first.
_ORDER: dict[Change, int] = {"more": 0, "less": 0, "unclear": 1, "same": 2, "unlisted": 3, "incomparable": 4}
_WORDS: dict[Change, str] = {
    "unclear": "within noise",
    "same": "the same",
    "unlisted": "not listed there",
    "incomparable": "not comparable",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One itemset, its support before and after, and how far that may have moved.

    Parameters
    ----------
    items
        The itemset.
    before, after
        Its support in each result; None where it is not listed there.
    low, high
        An interval for the true difference of the supports; None where it is not listed in one of them, or where the
        two supports are of other things. In 95 of 100 comparisons all intervals hold at once.
    change
        ``"more"`` and ``"less"`` where the interval lies on one side of 0, ``"unclear"`` where it does not, ``"same"``
        where it is 0; ``"unlisted"`` for a pattern that is listed in one of them alone, which says nothing of how many
        people hold it in the other; ``"incomparable"`` where the two supports are of other things.
    """

    items: frozenset[Item]
    before: float | None
    after: float | None
    low: float | None
    high: float | None
    change: Change

    @property
    def clear(self) -> bool:
        """Whether noise does not explain the change: it is more, or less."""
        return self.change in ("more", "less")

    @property
    def words(self) -> str:
        """The change as a reader is told it."""
        return _WORDS.get(self.change, self.change)

    @property
    def difference(self) -> float | None:
        """How much the support moved; None where it is listed in one of them alone, or nothing can be compared."""
        there = self.before is not None and self.after is not None and self.change != "incomparable"
        return (self.after or 0.0) - (self.before or 0.0) if there else None


@dataclass(frozen=True, repr=False)
class Differences(Result):
    """What :func:`discreet.diff` returns: a sequence of :class:`Difference`, what is clear and large first.

    Parameters
    ----------
    rows
        The differences.
    names
        What the two results are called.
    sure
        In how many of 100 cases all intervals hold the true differences at least; 100 where both results are exact.
    unit
        What supports are shares of.
    standing
        ``"private"``, or ``"simulated"`` or ``"exact"`` where one of the two is.
    notes
        Sentences for the reader: what was promised of each, what the two give away together, and what to mind.
    warnings
        Sentences on why some patterns, or all of them, cannot be compared.
    """

    FORM: ClassVar[str] = "differences/1"
    NOUN: ClassVar[str] = "differences"
    PAGE: ClassVar[str] = "difference_page"
    SHOWN_ROWS: ClassVar[int] = 10

    rows: tuple[Difference, ...]
    names: tuple[str, str]
    sure: int
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
        """The changes that noise does not explain."""
        return tuple(row for row in self.rows if row.clear)

    @property
    def noisy(self) -> bool:
        """Whether a difference may be noise: not where both results are exact."""
        return any(row.low != row.high for row in self.rows) or self.sure < 100

    @property
    def tally(self) -> str:
        """How much changed, without the names of the two."""
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
        """How much changed, in one line."""
        # Names come last: after one that is written from right to left, numbers would change places.
        before, after = map(printable, self.names)
        return f"{self.tally}, from {before} to {after}"

    @property
    def provenance(self) -> Provenance:
        """Whether one of the two was simulated, and what has to be known of them."""
        return Provenance(simulated=self.standing == "simulated", notes=self.notes)

    def _html(self, rows: int | None) -> str:
        shown: str = draw_with("difference_rows", self, len(self) if rows is None else rows)
        return shown

    def _text(self, rows: int | None) -> str:
        shown = self.rows[:rows]
        lines = [self.headline, *self.warnings, *(f"  {_listed(row.items)}: {self._told(row)}" for row in shown)]
        if len(self) > len(shown):
            lines.append(f"  … and {len(self) - len(shown):,} more")
        return "\n".join([*lines, *self.notes])

    def _rich(self, rows: int | None) -> Group:
        from rich.console import Group
        from rich.text import Text

        # In a group, as a console joins texts that stand alone, and forgets that they are not to be wrapped.
        return Group(Text(self._text(rows), no_wrap=True, overflow="ignore"))

    def _told(self, row: Difference) -> str:
        before, after = (("–" if one is None else f"{one:.2%}") for one in (row.before, row.after))
        # The word keeps numbers in their order after an item that is written from right to left.
        return f"from {before} to {after}, {row.words}{_moved_by(row)}"

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table: `items`, `before`, `after`, `difference`, `low`, `high`, `change`, `clear`."""
        import pyarrow as pa

        names = ("before", "after", "difference", "low", "high", "change", "clear")
        kinds = dict.fromkeys(names, pa.float64()) | {"change": pa.large_string(), "clear": pa.bool_()}
        rows = [
            {"items": sorted(map(str, row.items))} | {name: getattr(row, name) for name in names} for row in self.rows
        ]
        return pa.Table.from_pylist(rows, pa.schema({"items": pa.list_(pa.large_string())} | kinds))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "discreet": self.FORM,
            "names": list(self.names),
            "sure": self.sure,
            "unit": self.unit,
            "standing": self.standing,
            "notes": list(self.notes),
            "warnings": list(self.warnings),
            "differences": [
                row | {"items": sorted(one.items, key=str)}
                for row, one in zip(self.to_arrow().to_pylist(), self.rows, strict=True)
            ],
        }

    def plot(self, rows: int = 12) -> Picture:
        """Return a picture of the largest changes as slopes, from one result to the other.

        Parameters
        ----------
        rows
            How many patterns, of those that come first and are on both lists.
        """
        made: Picture = draw_with("difference_picture", self, rows)
        return made

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Self:
        rows = tuple(map(_read_row, values["differences"]))
        return read_fields(cls, values, rows=rows, sure=one_of(values["sure"], range(101)))


def diff(before: Any, after: Any, *, names: tuple[str, str] | None = None) -> Differences:
    """Say what changed between two results: two months, two segments, two releases.

    Privacy: costs nothing, as only what was released is looked at. For a person who is in both data sets, what the two
    give away adds up, and the notes say to what.

    Parameters
    ----------
    before, after
        Results with counts: files that `save` or the command line wrote, or patterns, releases and outcomes.
    names
        What to call the two; by default the names of the files, or *before* and *after*.

    Returns
    -------
    Differences
        One row for each pattern of either, what is clear and large first. Supports are compared, so that the numbers of
        people may differ. In 5 of 100 comparisons at most, any change that is called clear is none.

    Examples
    --------
    >>> import discreet
    >>> march = discreet.mine([{"tea"}] * 30 + [{"milk"}] * 70, min_count=1)
    >>> april = discreet.mine([{"tea"}] * 60 + [{"milk"}] * 60, min_count=1)
    >>> [(sorted(row.items), row.change, round(row.difference, 2)) for row in discreet.diff(march, april)]
    [(['milk'], 'less', -0.2), (['tea'], 'more', 0.2)]
    """
    first, second = _patterns(before), _patterns(after)
    if first.unit != second.unit:
        raise MisuseError(f"One result counts {first.unit}, the other {second.unit}: they cannot be compared.")
    called = (_name(before, "before"), _name(after, "after")) if names is None else (str(names[0]), str(names[1]))
    # Beside categories, products that are numbers have names: those of the two lists are compared.
    named = first.vocabulary.numeric != second.vocabulary.numeric
    one, other = _places(first, named), _places(second, named)
    common = Common.of(first, second, called)
    compared_count = sum(common.covers(items) for items in one.keys() & other.keys())
    stretch = stretch_of(sum(interval_count_of(patterns, compared_count) for patterns in (first, second)))
    bounds = _bounds(first, stretch), _bounds(second, stretch)
    rows = [
        _row(
            items,
            bounds[0][one[items]] if items in one else None,
            bounds[1][other[items]] if items in other else None,
            comparable=common.covers(items),
        )
        for items in {**one, **other}
    ]
    rows.sort(key=lambda row: (_ORDER[row.change], -abs(round(_moved(row), 12)), sorted(map(str, row.items))))
    noisy = first.noisy or second.noisy
    return Differences(
        rows=tuple(rows),
        names=called,
        sure=round(100 * (1 - FAMILY_FAILURE)) if noisy else 100,
        unit=first.unit,
        standing=_standing(first, second),
        notes=tuple(notes_of(first, second, called, common, any(row.change == "unlisted" for row in rows))),
        warnings=tuple(common.warnings(row.items for row in rows)),
    )


Bounds: TypeAlias = tuple[float, float, float]


def _read_row(told: Any) -> Difference:
    items = told["items"]
    whole = all(isinstance(item, int) and not isinstance(item, bool) for item in items)
    if not isinstance(items, list) or not (whole or all(isinstance(item, str) for item in items)):
        raise ValueError("items must be all whole numbers or all names, in lists")
    numbers = {name: told[name] for name in ("before", "after", "low", "high")}
    for name, number in numbers.items():
        least = 0 if name in ("before", "after") else -1
        if number is not None and (type(number) not in (int, float) or not least <= number <= 1):
            raise ValueError(f"{name!r} is {number!r:.40}, which no share is")
    if (numbers["low"] is None) != (numbers["high"] is None) or numbers["before"] is numbers["after"] is None:
        raise ValueError("a row has neither support, or one end of an interval")
    ends = {name: None if number is None else float(number) for name, number in numbers.items()}
    row = Difference(items=frozenset(items), **ends, change=one_of(told["change"], tuple(_ORDER)))
    if told["clear"] is not row.clear:
        raise ValueError(f"'clear' must be {str(row.clear).lower()} where the change is {row.change!r}")
    return row


def points(value: float, digits: int, to_whole: Callable[[float], int] | None = None) -> str:
    """Return a difference in points of a percentage, the end of an interval rounded outwards: floor or ceil.

    Examples
    --------
    >>> points(-0.0207, 2), points(0.39751, 1, math.floor)
    ('−2.07', '+39.7')
    """
    if to_whole is not None:
        digits = end_digits(100 * value, digits, to_whole)
    scaled = round(100 * value, digits) if to_whole is None else outwards(100 * value, digits, to_whole)
    return f"{scaled:{'+' if scaled else ''}.{digits}f}".replace("-", "\u2212" if scaled else "")


def _moved_by(row: Difference) -> str:
    """Return by how many points a support moved, where both are known: an interval where there is noise."""
    if row.low is None or row.high is None or row.change == "same":
        return ""
    if row.low == row.high:
        return f" ({points(row.low, 2)} points)"
    return f" ({points(row.low, 2, math.floor)} to {points(row.high, 2, math.ceil)} points)"


def _listed(items: frozenset[Item]) -> str:
    return ", ".join(printable(str(item)) for item in sorted(items, key=str))


def _patterns(source: Any) -> Patterns:
    if isinstance(source, str | Path):
        from ._files import load_rows

        source = load_rows(source)
    found = source if isinstance(source, Patterns) else getattr(source, "patterns", None)
    if not isinstance(found, Patterns):
        raise MisuseError(
            f"Patterns are compared, or releases and outcomes that have some, or their files; {type(source).__name__} "
            "was given."
        )
    if not found.counted:
        raise MisuseError("These are patterns without counts: there is nothing to compare but which they are.")
    return found


def _name(source: Any, otherwise: str) -> str:
    return Path(source).stem if isinstance(source, str | Path) else otherwise


def _places(patterns: Patterns, named: bool = False) -> dict[frozenset[Item], int]:
    """Return the place of each pattern on its list; with `named`, by the texts of its items."""
    sets: Iterable[frozenset[Item]] = patterns.itemsets.sets(patterns.vocabulary)
    if named:
        sets = (frozenset(map(str, items)) for items in sets)
    return {items: place for place, items in enumerate(sets)}


def _bounds(patterns: Patterns, stretch: float) -> list[Bounds]:
    """Return the support of each pattern with the lowest and the highest it may be, as places on the list go."""
    low, high = stretched_supports(patterns, stretch)
    return list(zip(patterns.supports.tolist(), low.tolist(), high.tolist(), strict=True))


def _row(items: frozenset[Item], one: Bounds | None, other: Bounds | None, *, comparable: bool) -> Difference:
    before, after = (None if bounds is None else bounds[0] for bounds in (one, other))
    if not comparable:
        return Difference(items, before, after, None, None, "incomparable")
    if one is None or other is None:
        return Difference(items, before, after, None, None, "unlisted")
    low, high = other[1] - one[2], other[2] - one[1]
    change: Change = "more" if low > 0 else "less" if high < 0 else "unclear" if low < high else "same"
    return Difference(items, before, after, low, high, change)


def _moved(row: Difference) -> float:
    return (row.after or 0.0) - (row.before or 0.0)


def _standing(first: Patterns, second: Patterns) -> Literal["private", "simulated", "exact"]:
    both = [provenance_of(patterns) for patterns in (first, second)]
    if any(provenance.guarantee is None for provenance in both):
        return "exact"
    return "simulated" if any(provenance.simulated for provenance in both) else "private"
