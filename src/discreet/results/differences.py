"""What changed between two results: two months, two segments, two releases of anything.

Where counts carry noise, a difference carries that of both: its interval reaches as far as the two intervals allow, so
it fails no more often than these fail together. What is on one list alone is told apart by whether it would have been
on the other, had it counted as much there. Nothing here looks at data: what two releases say may be compared for free.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..baskets.core import Item, Unit
from ..errors import InputError, MisuseError
from ..wording import number_of, printable
from .comparable import Common, notes_of
from .loading import read_bytes
from .patterns import Patterns
from .promise import outwards
from .untrusted import parse, translated

if TYPE_CHECKING:
    from os import PathLike

    import pyarrow as pa

    from .picture import Picture

FORM = "differences/1"

Change: TypeAlias = Literal["more", "less", "new", "gone", "unclear", "same", "incomparable"]

# In which order changes are told: those that noise does not explain come first.
_ORDER: dict[Change, int] = {"more": 0, "less": 0, "new": 1, "gone": 1, "unclear": 1, "same": 2, "incomparable": 3}
_SHOWN = 10  # rows at a prompt and in a notebook
_WORDS: dict[Change, str] = {"unclear": "within noise", "same": "the same", "incomparable": "not comparable"}


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
        two supports are of other things.
    change
        ``"more"`` and ``"less"`` where the interval lies on one side of 0, ``"unclear"`` where it does not, ``"same"``
        where it is 0; ``"new"`` and ``"gone"`` for what is listed in one of them alone; ``"incomparable"`` where the
        two supports are of other things, so that nothing is said.
    clear
        Whether noise does not explain the change: always for more and less; for what is new or gone, whether its lowest
        support lies over the highest that the last pattern of the other list may have.
    """

    items: frozenset[Item]
    before: float | None
    after: float | None
    low: float | None
    high: float | None
    change: Change
    clear: bool

    @property
    def words(self) -> str:
        """The change as a reader is told it."""
        if self.change in _WORDS:
            return _WORDS[self.change]
        return self.change if self.clear else f"{self.change}, by its place on the list alone"

    @property
    def difference(self) -> float | None:
        """How much the support moved; None where it is listed in one of them alone, or nothing can be compared."""
        there = self.before is not None and self.after is not None and self.change != "incomparable"
        return (self.after or 0.0) - (self.before or 0.0) if there else None


@dataclass(frozen=True, repr=False)
class Differences:
    """What :func:`discreet.diff` returns: a sequence of :class:`Difference`, what is clear and large first.

    Parameters
    ----------
    rows
        The differences.
    names
        What the two results are called.
    sure
        In how many of 100 cases an interval holds the true difference at least; 100 where both results are exact.
    unit
        What supports are shares of.
    standing
        ``"private"``, or ``"simulated"`` or ``"exact"`` where one of the two is.
    notes
        Sentences for the reader: what was promised of each, what the two give away together, and what to mind.
    warnings
        Sentences on why some patterns, or all of them, cannot be compared.
    """

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
        many = {change: sum(row.change == change and row.clear for row in self.rows) for change in _ORDER}
        told = ", ".join(f"{times:,} {change}" for change, times in many.items() if times) or "no change"
        apart = sum(row.change == "incomparable" for row in self.rows)
        if apart and apart == len(self):
            return f"{number_of(apart, 'pattern')}: none can be compared"
        beyond = " beyond noise" if self.noisy else ""
        rest = f", {apart:,} not comparable" if apart else ""
        return f"{number_of(len(self), 'pattern')}: {told}{beyond}{rest}"

    @property
    def headline(self) -> str:
        """How much changed, in one line."""
        # Names come last: after one that is written from right to left, numbers would change places.
        before, after = map(printable, self.names)
        return f"{self.tally}, from {before} to {after}"

    def _repr_html_(self) -> str:
        shown: str = import_module("discreet.report.compared").notebook_table(self, _SHOWN)
        return shown

    def __repr__(self) -> str:
        shown = self.rows[:_SHOWN]
        lines = [self.headline, *self.warnings, *(f"  {_listed(row.items)}: {self._told(row)}" for row in shown)]
        if len(self) > len(shown):
            lines.append(f"  … and {len(self) - len(shown):,} more")
        return "\n".join([*lines, *self.notes])

    def _told(self, row: Difference) -> str:
        before, after = (("–" if one is None else f"{one:.2%}") for one in (row.before, row.after))
        # The word keeps numbers in their order after an item that is written from right to left.
        return f"from {before} to {after}, {row.words}{_moved_by(row)}"

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table: `items`, `before`, `after`, `difference`, `low`, `high`, `change`, `clear`."""
        import pyarrow as pa

        return pa.table(
            {
                "items": pa.array([sorted(map(str, row.items)) for row in self.rows], pa.list_(pa.large_string())),
                **{
                    name: pa.array([getattr(row, name) for row in self.rows], pa.float64())
                    for name in ("before", "after", "difference", "low", "high")
                },
                "change": pa.array([row.change for row in self.rows], pa.large_string()),
                "clear": pa.array([row.clear for row in self.rows], pa.bool_()),
            }
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the table of :meth:`to_arrow` to whoever speaks Arrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "discreet": FORM,
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
        made: Picture = import_module("discreet.report.compared").slopes_of(self, rows)
        return made

    def report(self, *, title: str | None = None) -> str:
        """Return a page with what changed, as slopes and as a table, that needs nothing else."""
        page: str = import_module("discreet.report.compared").difference_page(self, title)
        return page

    def save(self, path: str | PathLike[str], *, title: str | None = None) -> None:
        """Write to a ``.csv``, ``.json`` or ``.parquet`` file, or to an ``.html`` page with a title."""
        from .files import is_page, written

        suffix = Path(path).suffix.lower()
        if not is_page(path) and suffix not in (".csv", ".json", ".parquet"):
            given = f"ends in {suffix}" if suffix else "has no suffix"
            raise MisuseError(f"{path} {given}, but differences are kept in .csv, .json, .parquet or .html files.")
        with written(path) as stream:
            stream.write(self.report(title=title).encode() if is_page(path) else self.as_bytes(suffix[1:]))

    def as_bytes(self, form: str) -> bytes:
        """Return the table as ``"csv"``, ``"json"`` or ``"parquet"``."""
        import pyarrow as pa

        if form == "json":
            return (json.dumps(self.to_dict(), indent=1) + "\n").encode()
        sink = pa.BufferOutputStream()
        table = self.to_arrow()
        if form == "parquet":
            from pyarrow import parquet

            parquet.write_table(table.replace_schema_metadata({"discreet": json.dumps({"discreet": FORM})}), sink)
        else:
            from pyarrow import csv

            texts = [json.dumps(items, ensure_ascii=False) for items in table["items"].to_pylist()]
            csv.write_csv(table.set_column(0, "items", pa.array(texts, pa.large_string())), sink)
        return bytes(sink.getvalue())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Differences:
        """Return differences that :meth:`save` or the command line wrote to a ``.json`` file."""
        place = Path(path)
        if place.suffix.lower() != ".json":
            raise MisuseError(f"{place} is no .json file: of differences, that one alone says what they are of.")
        return cls.from_dict(place, parse(place, read_bytes(place)))

    @classmethod
    def from_dict(cls, place: Path, told: Any) -> Differences:
        """Return differences from the plain values of a file, which anyone may have written."""
        if not isinstance(told, dict) or told.get("discreet") != FORM:
            raise InputError(f"{place} holds no differences: discreet.load() reads other results.")
        with translated(place, "differences"):
            before, after = map(str, told["names"])
            return cls(
                rows=tuple(map(_read_row, told["differences"])),
                names=(before, after),
                sure=_of(told["sure"], range(101)),
                unit=_of(told["unit"], ("people", "baskets")),
                standing=_of(told["standing"], ("private", "simulated", "exact")),
                notes=tuple(map(str, told["notes"])),
                warnings=tuple(map(str, told["warnings"])),
            )


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
        people may differ.

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
    one, other = _bounded(first, named), _bounded(second, named)
    common = Common.of(first, second, called)
    marks = (_mark(first, common.alike), _mark(second, common.alike))
    rows = [
        _row(items, one.get(items), other.get(items), marks, comparable=common.covers(items))
        for items in {**one, **other}
    ]
    rows.sort(
        key=lambda row: (not row.clear, _ORDER[row.change], -abs(round(_moved(row), 12)), sorted(map(str, row.items)))
    )
    return Differences(
        rows=tuple(rows),
        names=called,
        sure=100 - _fails(first) - _fails(second),
        unit=first.unit,
        standing=_standing(first, second),
        notes=tuple(notes_of(first, second, called, common.alike)),
        warnings=tuple(common.warnings(row.items for row in rows)),
    )


Bounds: TypeAlias = tuple[float, float, float]


def _of(value: Any, allowed: Collection[Any]) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | str) or value not in allowed:
        raise ValueError(f"{value!r:.40} is not what may stand there")
    return value


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
    if not isinstance(told["clear"], bool):
        raise ValueError("'clear' must be true or false")
    ends = {name: None if number is None else float(number) for name, number in numbers.items()}
    return Difference(items=frozenset(items), **ends, change=_of(told["change"], _ORDER), clear=told["clear"])


def points(value: float, digits: int, to_whole: Callable[[float], int] | None = None) -> str:
    """Return a difference in points of a percentage, the end of an interval rounded outwards: floor or ceil.

    Examples
    --------
    >>> points(-0.0207, 2), points(0.39751, 1, math.floor)
    ('−2.07', '+39.7')
    """
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
        from .files import load_rows

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


def _bounded(patterns: Patterns, named: bool = False) -> dict[frozenset[Item], Bounds]:
    """Return the support of each pattern with the lowest and the highest it may be."""
    supports = patterns.supports.tolist()
    ends = patterns.support_bounds
    low, high = (supports, supports) if ends is None else (end.tolist() for end in ends)
    if ends is None and patterns.about is not None:  # private, and nothing is said of the noise
        low, high = [0.0] * len(patterns), [1.0] * len(patterns)
    sets: Iterable[frozenset[Item]] = patterns.itemsets.sets(patterns.vocabulary)
    if named:
        sets = (frozenset(map(str, items)) for items in sets)
    return dict(zip(sets, zip(supports, low, high, strict=True), strict=True))


def _mark(patterns: Patterns, alike: bool) -> float:
    """Return the highest support that the last pattern of a list may have; 1 where lists are not of the same."""
    if not alike or not len(patterns):
        return 1.0
    place = int(patterns.counts.argmin())
    return _bounded(patterns[place : place + 1]).popitem()[1][2]


def _row(
    items: frozenset[Item],
    one: Bounds | None,
    other: Bounds | None,
    marks: tuple[float, float],
    *,
    comparable: bool,
) -> Difference:
    before, after = (None if bounds is None else bounds[0] for bounds in (one, other))
    if not comparable:
        return Difference(items, before, after, None, None, "incomparable", False)
    if one is None or other is None:
        held, mark = (other, marks[0]) if one is None else (one, marks[1])
        return Difference(
            items, before, after, None, None, "new" if one is None else "gone", held is not None and held[1] > mark
        )
    low, high = other[1] - one[2], other[2] - one[1]
    change: Change = "more" if low > 0 else "less" if high < 0 else "unclear" if low < high else "same"
    return Difference(items, before, after, low, high, change, change in ("more", "less"))


def _moved(row: Difference) -> float:
    return (row.after or 0.0) - (row.before or 0.0)


def _fails(patterns: Patterns) -> int:
    """Return in how many of 100 cases the interval of a support fails at most."""
    if patterns.low is None:
        return 0
    return 5 if patterns.people_within is None else 10


def _standing(first: Patterns, second: Patterns) -> Literal["private", "simulated", "exact"]:
    both = [patterns.about or {} for patterns in (first, second)]
    if any(not isinstance(about.get("guarantee"), Mapping) for about in both):
        return "exact"
    return "simulated" if any(about.get("simulated") for about in both) else "private"
