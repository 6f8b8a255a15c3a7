"""What a curator asks, as one frozen value: built once at the edge, checked, and unchanged to the record.

A `Question` holds public values alone, under the names that users type. It reads no data. Whether it fits a data set
is for `resolving`, which makes a `Case` of the two.
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
from ._fields import default_of, field_entries, parameter_text, question_fields, told_field

if TYPE_CHECKING:
    from ..baskets import Item
    from ..curator import Mechanism

# Less would need noise beyond what whole numbers of this machine hold, and would tell nothing.
SMALLEST_EPSILON = Fraction(1, 10**6)
# More patterns than this would take hours to choose, and none of them would stand out of the noise.
MOST_PATTERNS = 100_000
# A question file lists so many items at most; of a longer list it has the number and a digest.
MOST_LISTED = 1_000

_DIGEST = "sha256"
_ONE_OF = ("top", "min_support", "min_count")


def documented(question: type) -> type:
    """Return a class of questions whose docstring has what is said of its fields, and whose fields messages name."""
    for one, words in question_fields(question):
        add_option(one.name, words.option)
    section = f"Parameters\n    ----------\n{parameter_text(field_entries(question), '    ')}\n"
    question.__doc__ = (question.__doc__ or "").replace("FIELDS", section.strip())
    return question


@dataclass(frozen=True, kw_only=True)
class PrivacyQuestion:
    """What every question says of its price: all that `release`, `count`, `rank` and `release_relations` share."""

    epsilon: Any = told_field(
        build_message("The privacy budget, an exact number: 1, 0.5, 1/3."), group="privacy", metavar="NUMBER"
    )
    delta: Any = told_field(
        build_message(
            "The delta of (epsilon, delta), such as 1e-6. Losses then add up by zCDP, which buys less noise."
        ),
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
        build_message(
            "Go on although it looks like a slip. Slips are an epsilon over 20, and a delta over 0.001 or over one in "
            "the number of people; on the command line also a list of items that nobody holds any of."
        ),
        default=False,
        form="flag",
        group="",
    )

    def __post_init__(self) -> None:
        self._set(really=parse_switch("really", self.really))
        if self.epsilon is None:
            raise MisuseError.format("Say how much may be lost: {epsilon=1} is usual, less protects more.")
        budget = self.checked_budget(Budget.of(self.epsilon, self.delta))
        self._set(epsilon=budget.epsilon, delta=budget.delta, neighbours=Neighbours.typed(self.neighbours).value)

    def checked_budget(self, budget: Budget) -> Budget:
        """Return the budget, if it leaves anything to spend and is no slip."""
        return serious(budget, self.really)

    def spendable(self, budget: Budget) -> Budget:
        """Return the budget, if zCDP leaves anything of it to spend."""
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
        """Set fields to what their values mean: once, before anybody sees the question."""
        for name, value in values.items():
            object.__setattr__(self, name, value)


class OfQuestion:
    """A question over data, with the budget and the neighbour relation that the question states."""

    question: PrivacyQuestion

    @property
    def budget(self) -> Budget:
        """The budget that the answer may spend."""
        return self.question.budget

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation of the promise."""
        return self.question.relation


@dataclass(frozen=True, kw_only=True)
class BasketQuestion(PrivacyQuestion):
    """What every question about baskets says of what is public."""

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
        build_message("The number of people, where it is public; otherwise it is counted with noise."),
        form="whole",
        group="privacy",
        metavar="N",
    )

    def __post_init__(self) -> None:
        from ..baskets import declared_items

        super().__post_init__()
        given: Any = self.people
        if given is not None:
            if parse_positive("people", given) < given:
                raise MisuseError.format(
                    "{people} is at most {many:,}; {given} was given.", many=MAX_COUNT, given=given
                )
            self._set(people=int(given))
        self._set(items=declared_items(self.items))

    def checked_budget(self, budget: Budget) -> Budget:
        """Return the budget, if it leaves anything to spend and is no slip."""
        people: Any = self.people
        serious(budget, self.really, int(people) if is_whole(people) and people > 0 else None)
        if budget.epsilon < SMALLEST_EPSILON:
            raise MisuseError(f"An epsilon below 0.000001 leaves nothing but noise; {self.epsilon} was given.")
        return self.spendable(budget)


@documented
@dataclass(frozen=True, kw_only=True)
class Question(BasketQuestion):
    """What :func:`discreet.release` and :func:`discreet.count` are asked: public values, without the data.

    A question is checked when it is made, and never changes: `dataclasses.replace` makes another one of it. Values are
    kept as what they mean, numbers as exact fractions and lists of items in files as their lines.

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
        build_message(
            "How many patterns: the N that most people hold. Exactly one of {top}, {min_support} and {min_count} is "
            "given."
        ),
        form="whole",
        metavar="N",
        functions="release",
    )
    min_support: Any = told_field(
        build_message("Patterns that at least this fraction of people hold, such as 0.01."),
        metavar="FRACTION",
        functions="release",
    )
    min_count: int | None = told_field(
        build_message("Patterns that at least N people hold."), form="whole", metavar="N", functions="release"
    )
    itemsets: Any = told_field(
        build_message("Just these itemsets, each counted: they are public, as you write them."),
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
        build_message(
            "With {basket}: so many baskets of each person take part, drawn at random. Intervals are for counts in "
            "which the baskets of a person with more weigh as much as so many, and cover the draw. Without it a small "
            "share of the budget chooses how many."
        ),
        form="whole",
        group="privacy",
        metavar="N",
    )
    hierarchy: Any = told_field(
        build_message(
            "A table of which item stands below which: patterns are then across levels. It is public, and its items "
            "are the list of items where no other is given."
        ),
        form="file",
        metavar="FILE",
    )
    level: Any = told_field(
        build_message("With {hierarchy}: patterns of this level alone, such as category, or 1 for right above items."),
        metavar="NAME|N",
    )
    by: str | None = told_field(
        build_message("One release per value of this column, for the price of one. Everyone has one value."),
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
            self._check_one_of()
        self._set(
            top=None if self.top is None else int(self.top),
            min_count=None if self.min_count is None else parse_positive("min_count", self.min_count),
            min_support=None if self.min_support is None else parse_support(self.min_support),
            itemsets=None if self.itemsets is None else named_itemsets(self.itemsets),
            lengths=None if self.lengths is None else _lengths(*parse_lengths(self.lengths)),
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
            self._set(segments=_segments(self.segments))

    @property
    def min_length(self) -> int:
        """The fewest items of a pattern."""
        return 1 if self.lengths is None else self.lengths[0]

    @property
    def max_length(self) -> int | None:
        """The most items of a pattern; None where no bound was given."""
        return None if self.lengths is None else self.lengths[1]

    def changed(self, **values: Any) -> Question:
        """Return the question with other values; a way to say which patterns are wanted takes the place of another."""
        if any(values.get(name) is not None for name in (*_ONE_OF, "itemsets")):
            values = dict.fromkeys((*_ONE_OF, "itemsets")) | values
        return replace(self, **values)

    @cached_property
    def record(self) -> Mapping[str, Any]:
        """The question as a result and a ledger keep it: public values, long lists by their number.

        What a guarantee and a mechanism state stays out, as results have these beside it.
        """
        plain = self.to_dict()
        kept = ("top", "min_support", "min_count", "lengths", "contains", "excludes", "max_baskets")
        words = {name: plain[name] for name in kept if name in plain}
        if self.lengths is not None and self.lengths[0] != self.lengths[1]:
            words["lengths"] = list(self.lengths)
        if self.itemsets is not None:
            words["itemsets"] = len(self.itemsets)
        if self.hierarchy is not None:
            words |= self.hierarchy.recorded(self.level)
        return words

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain values, as a question file has them: what is as by default is left out.

        Examples
        --------
        >>> Question(min_support="0.01", epsilon=1, items=100).to_dict()
        {'min_support': '0.01', 'epsilon': '1', 'items': 100}
        """
        values = {
            one.name: value
            for one, _ in question_fields(Question)
            if (value := getattr(self, one.name)) != default_of(one) and value is not None
        }
        return {name: _plain(name, value) for name, value in values.items()}

    def to_toml(self) -> str:
        """Return the question as the text of a question file, which :meth:`from_file` reads."""
        plain = self.to_dict()
        lines = [f"{name} = {_toml(value)}" for name, value in plain.items() if not isinstance(value, dict)]
        for name, value in plain.items():
            if isinstance(value, dict):
                lines += _toml_table(name, value)
        return "\n".join(lines)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], place: str = "The question", **others: Any) -> Question:
        """Return the question of plain values; what `others` say goes before. A key that is no field is refused."""
        names = [one.name for one, _ in question_fields(cls)]
        for name in values:
            if name not in names:
                near = get_close_matches(str(name), names, 1)
                hint = f": did you mean {near[0]}?" if near else f"; it may have {', '.join(names)}."
                raise InputError(f"{place} has {name!r}, which is no field of a question{hint}")
        values, others = dict(values), {name: value for name, value in others.items() if value is not None}
        if others.get("items") is not None:
            from ..baskets import declared_items

            others["items"] = declared_items(others["items"])
        digest = values.get("items")
        if isinstance(digest, Mapping):
            values["items"] = others.get("items")
            _check_digest(digest, values["items"], place)
        if any(others.get(name) is not None for name in _ONE_OF):
            values = {name: value for name, value in values.items() if name not in _ONE_OF}
        if isinstance(hierarchy := values.get("hierarchy"), Mapping) and "parents" in hierarchy:
            from ..baskets import Hierarchy

            values["hierarchy"] = Hierarchy.from_dict(hierarchy)
        return cls(**values | others)

    @classmethod
    def from_file(cls, path: str | Path, **others: Any) -> Question:
        """Return the question of a file: TOML, or JSON with the suffix ``.json``.

        Parameters
        ----------
        path
            The file. Files that it names, of items or of a hierarchy, are looked for beside it.
        others
            Values that go before those of the file.
        """
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
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
                values[name] = path.parent / value
        return cls.from_dict(values, str(path), **others)

    def _check_one_of(self) -> None:
        given = [name for name in _ONE_OF if getattr(self, name) is not None]
        if len(given) != 1:
            raise MisuseError.format(
                "Say which patterns are wanted by exactly one of {top} (how many patterns), {min_support} (a "
                "fraction of people) or {min_count} (a number of people); {those} given.",
                those=build_message("{several} were", several=name_options(*given)) if given else "none of them was",
            )


def named_itemsets(itemsets: Any) -> tuple[tuple[Item, ...], ...]:
    """Return the itemsets; items that stand where itemsets should are not taken for either."""
    held = [] if isinstance(itemsets, str) or not isinstance(itemsets, Iterable) else list(itemsets)
    if isinstance(itemsets, str) or any(isinstance(one, str) or not isinstance(one, Iterable) for one in held):
        items = [itemsets] if isinstance(itemsets, str) else sorted(held, key=str)[:2]
        single = ", ".join(f"{{{item!r}}}" for item in items)
        together = f", and for those who hold them together [{{{', '.join(map(repr, items))}}}]" * (len(items) > 1)
        raise MisuseError.format(
            "{itemsets} is a list of sets of items; {given!r:.80} was given. For the people who hold each item "
            "write [{single}]{together}.",
            given=itemsets,
            single=single,
            together=together,
        )
    if not isinstance(itemsets, Iterable):
        raise MisuseError.format(
            "{itemsets} is a list of sets of items, as in [{{'tea', 'milk'}}]; {given!r:.80} was given.", given=itemsets
        )
    if not held:
        raise MisuseError("There is no itemset to count: give at least one.")
    wanted = tuple(tuple(parse_items(itemset, "an itemset")) for itemset in held)
    if not all(wanted):
        raise MisuseError.format("{itemsets} has an empty itemset: everyone holds it. Leave it out.")
    return wanted


def _lengths(least: int, most: int) -> tuple[int, int | None]:
    return least, None if most == MAX_LENGTH else most


def _segments(segments: Any) -> Any:
    """Return the list of segments, of a file where one is named; what they may be is checked with the data."""
    if isinstance(segments, Path):
        from ..baskets import from_file

        return tuple(from_file(segments, "segments"))
    return segments if isinstance(segments, str) or not isinstance(segments, Iterable) else tuple(segments)


def _digest(items: Iterable[Any]) -> str:
    """Return a digest of a list of items, whatever their order."""
    return sha256("\n".join(sorted(map(str, items))).encode()).hexdigest()


def _check_digest(digest: Mapping[str, Any], items: Any, place: str) -> None:
    """Refuse another list of items than the one that a question was written with."""
    if not isinstance(items, tuple):
        raise MisuseError.format(
            "{place} was asked about a list of {many} items, which is too long to be in it: give it by {items=}.",
            place=place,
            many=digest.get("count"),
        )
    if _digest(items) != digest.get(_DIGEST):
        raise MisuseError.format("The list of {items} is not the one of {place}: its digest differs.", place=place)


def _plain(name: str, value: Any) -> Any:
    """Return a value of a field as JSON and TOML have it."""
    if isinstance(value, Fraction):
        return shown(value)
    if name == "lengths":
        least, most = value
        return least if least == most else f"{least}-{most or ''}"
    if name == "items" and isinstance(value, tuple) and len(value) > MOST_LISTED:
        return {"count": len(value), _DIGEST: _digest(value)}
    if name == "mechanism" and not isinstance(value, str):
        return value.name
    if name == "hierarchy":
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): _plain("", one) for key, one in value.items()}
    if isinstance(value, tuple | list | set | frozenset):
        return [_plain("", one) for one in value]
    return int(value) if is_whole(value) else value


def _toml(value: Any) -> str:
    """Return a plain value as TOML writes it; its texts are those of JSON, but for one character."""
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml_table(name: str, table: Mapping[str, Any]) -> list[str]:
    """Return the lines of a table, tables in it after its own lines."""
    lines = ["", f"[{name}]"]
    lines += [f"{_toml(key)} = {_toml(value)}" for key, value in table.items() if not isinstance(value, dict)]
    for key, value in table.items():
        if isinstance(value, dict):
            lines += _toml_table(f"{name}.{_toml(key)}", value)
    return lines
