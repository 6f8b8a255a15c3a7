"""The question of a curator as one frozen value: built once at the edge, checked, and unchanged to the record.

A `Question` holds public values alone, under the names that users type. It reads no data: `resolving` checks a question
against a data set and builds a `Case` of both.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..checks import (
    MAX_COUNT,
    MAX_LENGTH,
    is_whole,
    parse_items,
    parse_lengths,
    parse_positive,
    parse_support,
    parse_switch,
)
from ..errors import InputError, Message, MisuseError, add_option, build_message, name_options
from ..privacy import Budget, Neighbours, Relation, serious, shown
from ._fields import default_of, field_texts, question_fields, render_parameters, told_field

if TYPE_CHECKING:
    from ..baskets import Item
    from ..curator import Mechanism

# A smaller epsilon needs noise beyond whole numbers of 64 bits, and the result would be noise alone.
SMALLEST_EPSILON = Fraction(1, 10**6)
# Selection takes a time in proportion to the patterns: more than this would take hours. At usual budgets the noise
# exceeds every count long before.
MOST_PATTERNS = 100_000
# Larger: longer question files. Of a longer list of items a file has the length and a digest.
MOST_LISTED = 1_000

_DIGEST = "sha256"
_SELECTORS = ("top", "min_support", "min_count")  # a question has exactly one, or itemsets


def documented(question: type) -> type:
    """Return a class of questions, with the help of its fields in its docstring and its fields known to messages."""
    for question_field, words in question_fields(question):
        add_option(question_field.name, words.option)
    section = f"Parameters\n    ----------\n{render_parameters(field_texts(question), '    ')}\n"
    question.__doc__ = (question.__doc__ or "").replace("FIELDS", section.strip())
    return question


@dataclass(frozen=True, kw_only=True)
class PrivacyQuestion:
    """The price and the promise of a question: fields of `release`, `count`, `rank` and `release_relations` alike."""

    epsilon: Any = told_field("The privacy budget, an exact number: 1, 0.5, 1/3.", group="privacy", metavar="NUMBER")
    delta: Any = told_field(
        "The delta of (epsilon, delta), such as 1e-6. Losses then add up by zCDP, which buys less noise.",
        default=0,
        group="privacy",
        metavar="NUMBER",
        shows_default=True,
    )
    neighbours: Relation | Neighbours = told_field(
        build_message(
            "Neighbouring data sets differ by adding or removing one person, {add}, or by replacing one, {replace}: "
            "then the number of people is public, and most noise is twice as large.",
            add=Message("``'add-remove'``", "add-remove"),
            replace=Message("``'replace'``", "replace"),
        ),
        default="add-remove",
        choices=tuple(Neighbours),
        group="privacy",
        shows_default=True,
    )
    really: bool = told_field(
        "Go on although it looks like a slip. Slips are an epsilon over 20, and a delta over 0.001 or over one in "
        "the number of people; on the command line also a list of items that nobody holds any of.",
        default=False,
        form="flag",
        group="",
    )

    def __post_init__(self) -> None:
        self._set(really=parse_switch("really", self.really))
        if self.epsilon is None:
            raise MisuseError.format("Say how much may be lost: {epsilon=1} is usual, less protects more.")
        budget = self.checked_budget(Budget.of(self.epsilon, self.delta))
        self._set(epsilon=budget.epsilon, delta=budget.delta, neighbours=Neighbours.parse_typed(self.neighbours).value)

    def checked_budget(self, budget: Budget) -> Budget:
        """Return the budget; a budget that leaves nothing to spend, or that looks like a slip, is an error."""
        return serious(budget, self.really)

    def spendable(self, budget: Budget) -> Budget:
        """Return the budget; one without any rho to spend under zCDP is an error."""
        # Conversion to zCDP rounds against the user of the budget, and may leave nothing of a small one.
        if not budget.pure and budget.rho == 0:
            raise MisuseError(
                f"With a delta of {self.delta}, an epsilon of {self.epsilon} leaves nothing to spend: raise either."
            )
        return budget

    @property
    def budget(self) -> Budget:
        """The budget that the answer may spend."""
        return Budget(epsilon=self.epsilon, delta=self.delta)

    @property
    def relation(self) -> Neighbours:
        """The neighbour relation of the promise."""
        return Neighbours(self.neighbours)

    def _set(self, **values: Any) -> None:
        """Replace typed values by their meaning. Only constructors may call it: a question never changes after."""
        for name, value in values.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, kw_only=True)
class BasketQuestion(PrivacyQuestion):
    """The public facts of a question about baskets."""

    items: Any = told_field(
        build_message(
            "The public list of items: a file with one per line, {listed}a number N for 0 to N - 1, or {public} for "
            "those found in the data. Without it they are found privately, which needs {delta}.",
            listed=Message("a list, ", ""),
            public=Message("``'public'``", "'public'"),
        ),
        group="privacy",
        metavar="FILE|N|public",
    )
    people: int | None = told_field(
        "The number of people, where it is public; otherwise it is counted with noise.",
        form="whole",
        group="privacy",
        metavar="N",
    )

    def __post_init__(self) -> None:
        from ..baskets import check_declared_items

        super().__post_init__()
        people: Any = self.people
        if people is not None:
            # `parse_positive` cuts to the largest whole number of the machine, which is no number of people.
            if parse_positive("people", people) < people:
                raise MisuseError.format(
                    "{people} is at most {many:,}; {given} was given.", many=MAX_COUNT, given=people
                )
            self._set(people=int(people))
        self._set(items=check_declared_items(self.items))

    @property
    def items_are_public(self) -> bool:
        """Whether the items found in the data are declared public."""
        return isinstance(self.items, str) and self.items == "public"

    def checked_budget(self, budget: Budget) -> Budget:
        """Return the budget; a budget that leaves nothing to spend, or that looks like a slip, is an error."""
        people: Any = self.people
        # A declared number of people; under replacing, the number of the data is checked in `_resolving`.
        serious(budget, self.really, int(people) if is_whole(people) and people > 0 else None)
        if budget.epsilon < SMALLEST_EPSILON:
            raise MisuseError(f"An epsilon below 0.000001 leaves nothing but noise; {self.epsilon} was given.")
        return self.spendable(budget)


@documented
@dataclass(frozen=True, kw_only=True)
class Question(BasketQuestion):
    """The question of :func:`discreet.release` and :func:`discreet.count`: public values, without the data.

    A question is checked when it is made, and never changes: `dataclasses.replace` makes a changed copy. Numbers are
    kept as exact fractions, and a file of items as its lines.

    FIELDS

    Examples
    --------
    >>> question = Question(top=20, epsilon="0.5", items=["bread", "milk", "tea"])
    >>> question.epsilon
    Fraction(1, 2)
    >>> print(question.to_toml())
    top = 20
    epsilon = "0.5"
    items = ["bread", "milk", "tea"]
    """

    top: int | None = told_field(
        "How many patterns: the N that most people hold. Exactly one of {top}, {min_support} and {min_count} is given.",
        form="whole",
        metavar="N",
        functions="release",
    )
    min_support: Any = told_field(
        "Patterns that at least this fraction of people hold, such as 0.01.",
        metavar="FRACTION",
        functions="release",
    )
    min_count: int | None = told_field(
        "Patterns that at least N people hold.", form="whole", metavar="N", functions="release"
    )
    itemsets: Any = told_field(
        "Just these itemsets, each counted: they are public, as you write them.",
        form="file",
        metavar="FILE",
        functions="-",
    )
    lengths: Any = told_field(
        build_message(
            "How many items a pattern has: {forms} for two and more.",
            forms=Message("3, (2, 4), or (2, None)", "3, 2-4, or 2-"),
        ),
        metavar="N|N-M",
        functions="release",
    )
    contains: Any = told_field(
        build_message(
            "{which} every pattern must have.{again}",
            which=Message("Items", "An item"),
            again=Message("", " Can be given again."),
        ),
        default=(),
        form="texts",
        metavar="ITEM",
        functions="release",
    )
    excludes: Any = told_field(
        build_message(
            "{which} no pattern may have.{again}",
            which=Message("Items", "An item"),
            again=Message("", " Can be given again."),
        ),
        default=(),
        form="texts",
        metavar="ITEM",
        functions="release",
    )
    mechanism: str | Mechanism = told_field(
        build_message("One of {those}.", those=Message(":func:`discreet.mechanisms`", "`discreet mechanisms`")),
        default="auto",
        group="how",
        metavar="NAME",
        functions="release",
        shows_default=True,
    )
    settings: Mapping[str, Any] | None = told_field(
        build_message(
            "{those}",
            those=Message("The settings of the mechanism by name.", "A setting of the mechanism. Can be given again."),
        ),
        form="pairs",
        group="how",
        metavar="NAME=VALUE",
        option="--set",
        functions="release",
    )
    counts: bool = told_field(
        build_message(
            "Publish counts too, or spend all that is left on finding the patterns{false}.",
            false=Message(" (False)", ""),
        ),
        default=True,
        form="switch",
        group="how",
        functions="release",
        shows_default=True,
    )
    max_baskets: int | None = told_field(
        "With {basket}: so many baskets of each person take part, drawn at random. Intervals are for counts in "
        "which the baskets of a person with more weigh as much as so many, and cover the draw. Without it a small "
        "share of the budget chooses how many.",
        form="whole",
        group="privacy",
        metavar="N",
    )
    hierarchy: Any = told_field(
        "A table of which item stands below which: patterns are then across levels. It is public, and its items "
        "are the list of items where no other is given.",
        form="file",
        metavar="FILE",
    )
    level: Any = told_field(
        "With {hierarchy}: patterns of this level alone, such as category, or 1 for right above items.",
        metavar="NAME|N",
    )
    by: str | None = told_field(
        "One release per value of this column, for the price of one. Everyone has one value.",
        group="how",
        metavar="COLUMN",
        functions="release_by count_by",
    )
    segments: Any = told_field(
        build_message(
            "The public list of the values of {by}: {file}, or {public} for those in the data.",
            file=Message("a list", "a file with one per line"),
            public=Message("``'public'``", "'public'"),
        ),
        group="how",
        metavar="FILE|public",
        functions="release_by count_by",
    )

    def __post_init__(self) -> None:
        from ..baskets import Hierarchy

        super().__post_init__()
        if self.top is not None and parse_positive("top", self.top) > MOST_PATTERNS:
            raise MisuseError.format(
                "{top} is at most {many:,} in a release; {given} was given.", many=MOST_PATTERNS, given=self.top
            )
        if self.itemsets is None:
            self._check_selectors()
        self._set(
            top=None if self.top is None else int(self.top),
            min_count=None if self.min_count is None else parse_positive("min_count", self.min_count),
            min_support=None if self.min_support is None else parse_support(self.min_support),
            itemsets=None if self.itemsets is None else parse_itemsets(self.itemsets),
            lengths=None if self.lengths is None else _parse_lengths(self.lengths),
            contains=tuple(parse_items(self.contains, "contains")),
            excludes=tuple(parse_items(self.excludes, "excludes")),
            counts=parse_switch("counts", self.counts),
            hierarchy=None if self.hierarchy is None else Hierarchy.read(self.hierarchy),
            settings=dict(self.settings) if isinstance(self.settings, Mapping) else self.settings,
        )
        if self.by is not None and not isinstance(self.by, str):
            raise MisuseError.format(
                "{by} is the name of a column in a question; {given!r:.80} was given.", given=self.by
            )
        if self.segments is not None:
            self._set(segments=_read_segments(self.segments))

    @property
    def min_length(self) -> int:
        """The smallest number of items in a pattern."""
        return 1 if self.lengths is None else self.lengths[0]

    @property
    def max_length(self) -> int | None:
        """The largest number of items in a pattern; None without a bound."""
        return None if self.lengths is None else self.lengths[1]

    def changed(self, **values: Any) -> Question:
        """Return a copy with changed fields. A new selector (`top`, …) replaces the old selector."""
        # Two selectors would contradict, and a copy means the new one.
        if any(values.get(name) is not None for name in (*_SELECTORS, "itemsets")):
            values = dict.fromkeys((*_SELECTORS, "itemsets")) | values
        return replace(self, **values)

    @cached_property
    def record(self) -> Mapping[str, Any]:
        """The question in the form that a result and a ledger store: public values, and the length of a long list.

        The fields of the guarantee and of the mechanism are left out: a result states them separately.
        """
        # The plain values of question files, so that files and records write a value alike.
        plain = self.to_dict()
        names = (*_SELECTORS, "lengths", "contains", "excludes", "max_baskets")
        record = {name: plain[name] for name in names if name in plain}
        if self.lengths is not None and self.lengths[0] != self.lengths[1]:
            record["lengths"] = list(self.lengths)
        if self.itemsets is not None:
            record["itemsets"] = len(self.itemsets)
        if self.hierarchy is not None:
            record |= self.hierarchy.recorded(self.level)
        return record

    def to_dict(self) -> dict[str, Any]:
        """Return the question as the plain values of a question file, without fields that have their default.

        Examples
        --------
        >>> Question(min_support="0.01", epsilon=1, items=100).to_dict()
        {'min_support': '0.01', 'epsilon': '1', 'items': 100}
        """
        values = {
            question_field.name: value
            for question_field, _ in question_fields(Question)
            if (value := getattr(self, question_field.name)) != default_of(question_field) and value is not None
        }
        return {name: _to_plain(name, value) for name, value in values.items()}

    def to_toml(self) -> str:
        """Return the question as the text of a question file, which :meth:`from_file` reads."""
        return "\n".join(_toml_lines(self.to_dict()))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], place: str = "The question", **overrides: Any) -> Question:
        """Return the question of plain values.

        Parameters
        ----------
        values
            The fields by name. A key that is no field is an error.
        place
            The origin of the values, for error messages.
        overrides
            Fields that replace the fields in `values`; None replaces nothing.
        """
        from ..baskets import Hierarchy, check_declared_items

        names = [question_field.name for question_field, _ in question_fields(cls)]
        for name in values:
            if name not in names:
                matches = get_close_matches(str(name), names, 1)
                hint = f": did you mean {matches[0]}?" if matches else f"; it may have {', '.join(names)}."
                raise InputError(f"{place} has {name!r}, which is no field of a question{hint}")
        # None stands for an absent keyword, as on the command line.
        values, overrides = dict(values), {name: value for name, value in overrides.items() if value is not None}
        if "items" in overrides:
            overrides["items"] = check_declared_items(overrides["items"])
        # A long list is stored as its digest; the list itself comes from the caller.
        if isinstance(digest := values.get("items"), Mapping):
            values["items"] = overrides.get("items")
            _check_digest(digest, values["items"], place)
        if not overrides.keys().isdisjoint(_SELECTORS):
            values = {name: value for name, value in values.items() if name not in _SELECTORS}
        if isinstance(hierarchy := values.get("hierarchy"), Mapping) and "parents" in hierarchy:
            values["hierarchy"] = Hierarchy.from_dict(hierarchy)
        return cls(**values | overrides)

    @classmethod
    def from_file(cls, path: str | Path, **overrides: Any) -> Question:
        """Return the question of a file: TOML, or JSON with the suffix ``.json``.

        Parameters
        ----------
        path
            The file. Paths in it, of items, segments or a hierarchy, are relative to its directory.
        overrides
            Fields that replace the fields in the file.
        """
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
            # Floats of TOML are kept as text: 0.1 in binary is not a tenth.
            values = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text, parse_float=str)
        except FileNotFoundError:
            raise InputError(f"There is no file {path}: a question is a file with lines such as top = 20.") from None
        except (OSError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"{path} cannot be read as a question: {getattr(error, 'strerror', error)}.") from None
        except ValueError as error:
            raise InputError(f"{path} is not written as a question is: {error}.") from None
        if not isinstance(values, dict):
            raise InputError(f"{path} is not written as a question is: it has to be an object of fields.")
        for name in ("items", "hierarchy", "segments"):
            if isinstance(value := values.get(name), str) and value != "public":
                # Relative to the file, so that a folder with a question can be moved.
                values[name] = path.parent / value
        return cls.from_dict(values, str(path), **overrides)

    def _check_selectors(self) -> None:
        selectors = [name for name in _SELECTORS if getattr(self, name) is not None]
        if len(selectors) != 1:
            raise MisuseError.format(
                "Say which patterns are wanted by exactly one of {top} (how many patterns), {min_support} (a "
                "fraction of people) or {min_count} (a number of people); {those} given.",
                those=build_message("{several} were", several=name_options(*selectors))
                if selectors
                else "none of them was",
            )


def parse_itemsets(itemsets: Any) -> tuple[tuple[Item, ...], ...]:
    """Return the itemsets of a list of sets; a list of bare items is ambiguous, and an error."""
    if not isinstance(itemsets, str) and not isinstance(itemsets, Iterable):
        raise MisuseError.format(
            "{itemsets} is a list of sets of items, as in [{{'tea', 'milk'}}]; {given!r:.80} was given.",
            given=itemsets,
        )
    rows = [itemsets] if isinstance(itemsets, str) else list(itemsets)
    if any(isinstance(row, str) or not isinstance(row, Iterable) for row in rows):
        items = sorted(rows, key=str)[:2]
        single = ", ".join(f"{{{item!r}}}" for item in items)
        joint_text = f", and for those who hold them together [{{{', '.join(map(repr, items))}}}]" * (len(items) > 1)
        raise MisuseError.format(
            "{itemsets} is a list of sets of items; {given!r:.80} was given. For the people who hold each item "
            "write [{single}]{together}.",
            given=itemsets,
            single=single,
            together=joint_text,
        )
    if not rows:
        raise MisuseError("There is no itemset to count: give at least one.")
    parsed = tuple(tuple(parse_items(row, "an itemset")) for row in rows)
    # A count of all people is the number of people, which has its own step and price.
    if not all(parsed):
        raise MisuseError.format("{itemsets} has an empty itemset: everyone holds it. Leave it out.")
    return parsed


def _parse_lengths(lengths: Any) -> tuple[int, int | None]:
    """Return the smallest and the largest number of items; None for no upper bound."""
    min_length, max_length = parse_lengths(lengths)
    return min_length, None if max_length == MAX_LENGTH else max_length


def _read_segments(segments: Any) -> Any:
    """Return the list of segments, read from a file if a path is given; the values are checked with the data."""
    if isinstance(segments, Path):
        from ..baskets import read_listed_items

        return tuple(read_listed_items(segments, "segments"))
    return segments if isinstance(segments, str) or not isinstance(segments, Iterable) else tuple(segments)


def _hash_items(items: Iterable[Any]) -> str:
    """Return a SHA-256 digest of a list of items that does not depend on their order."""
    # Sorted, as a list of items has no order.
    return sha256("\n".join(sorted(map(str, items))).encode()).hexdigest()


def _check_digest(digest: Mapping[str, Any], items: Any, place: str) -> None:
    """Check that a list of items is the list that the question was written with."""
    if not isinstance(items, tuple):
        raise MisuseError.format(
            "{place} was asked about a list of {many} items, which is too long to be in it: give it by {items=}.",
            place=place,
            many=digest.get("count"),
        )
    if _hash_items(items) != digest.get(_DIGEST):
        raise MisuseError.format("The list of {items} is not the one of {place}: its digest differs.", place=place)


def _to_plain(name: str, value: Any) -> Any:
    """Return the value of a field as JSON and TOML can write it; `name` is "" for a value inside a container."""
    if isinstance(value, Fraction):
        return shown(value)
    if name == "lengths":
        min_length, max_length = value
        return min_length if min_length == max_length else f"{min_length}-{max_length or ''}"
    if name == "items" and isinstance(value, tuple) and len(value) > MOST_LISTED:
        return {"count": len(value), _DIGEST: _hash_items(value)}
    if name == "mechanism" and not isinstance(value, str):
        return value.name
    if name == "hierarchy":
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): _to_plain("", entry) for key, entry in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [_to_plain("", entry) for entry in value]
    return int(value) if is_whole(value) else value


def _toml_text(value: Any) -> str:
    """Return the TOML text of a plain value: its JSON text, except for DEL, which TOML allows only escaped."""
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_text, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml_lines(table: Mapping[str, Any], path: str = "") -> list[str]:
    """Return the lines of a table: its values first, as TOML demands, then the tables in it."""
    lines = ["", f"[{path}]"] if path else []
    key_texts = {key: _toml_text(key) if path else key for key in table}  # top-level keys are names of fields
    lines += [f"{key_texts[key]} = {_toml_text(value)}" for key, value in table.items() if not isinstance(value, dict)]
    for key, value in table.items():
        if isinstance(value, dict):
            lines += _toml_lines(value, f"{path}.{key_texts[key]}" if path else key_texts[key])
    return lines
