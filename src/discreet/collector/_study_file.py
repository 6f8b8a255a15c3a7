"""The study file: `study.toml`, which an operator writes to open a study, checked before any device is asked.

A wrong field is reported with its line, the allowed values and the text to type. The file is read into a `StudyPlan`:
public values only, in a form that travels to other services and is stored with the study.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self, TypeAlias, get_args

import numpy as np

from ..baskets import Hierarchy, map_items, parse_items
from ..checks import is_whole
from ..errors import DiscreetError, InputError, MisuseError
from ..local.study import StudyGoal, check_levels
from ..registry import protocol as protocol_of, protocols

if TYPE_CHECKING:
    from ..baskets import Codes, Item, ItemTable, Vocabulary
    from ..local import Protocol

Closing: TypeAlias = Literal["quota", "deadline", "hand"]
Scrubbing: TypeAlias = Literal["release", "hand"]
TakingPart: TypeAlias = Literal["tokens", "anyone"]

# Devices download the whole list of items. Larger: more bytes for each device; smaller: large shops do not fit.
MAX_ITEMS = 1_000_000
MAX_NAME_LETTERS = 1000  # of an item or level: far beyond any product or page; each name is a row of a result
_ITEM_NAME = f"one line of text of up to {MAX_NAME_LETTERS:,} letters"
MAX_PEOPLE = 1_000_000_000  # counts stay far below the 63 bits of a database's integers
MAX_HOURS = 10_000  # over a year
STUDY_NAME = re.compile("[a-z0-9][a-z0-9-]{0,62}")
# Exact decimals and fractions, as devices parse them: a float could promise less privacy than its digits.
_NUMBER = re.compile("[0-9]{1,30}([./][0-9]{1,30})?")
_FIELDS = (
    "name", "title", "asks", "protocol", "top", "least", "epsilon", "delta", "items", "hierarchy", "level", "who",
    "scrub", "screen", "rounds", "settings",
)  # fmt: skip
_ROUND_FIELDS = ("close", "people", "hours", "minimum")
_NEEDED_FIELDS = ("name", "title", "asks", "protocol", "top", "epsilon", "items")
# tomllib returns values without their lines. Two patterns find tables and keys again, for messages.
_HEADER = re.compile(r"\s*\[\[?\s*([A-Za-z0-9_.\"'-]+)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"\s*([A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')\s*=")

TEMPLATE = """\
# A study for discreet. `discreet study check {path}` says whether it can be opened.

name = "breakfast"                       # small letters, digits and dashes: the study's place on the service
title = "What goes together at breakfast"
asks = "Which of these did you have for breakfast this week?"    # in words that a participant understands

protocol = "adept"                       # one of `discreet mechanisms --kind protocol` that a study can run
top = 20                                 # how many patterns are wanted
epsilon = "1"                            # what one person's one report may give away; less protects more

# The public list of items: a list, or the name of a file with one per line. It cannot change once the study is open.
items = ["bread", "butter", "cheese", "coffee", "eggs", "honey", "jam", "juice", "milk", "muesli", "tea", "yoghurt"]
# hierarchy = "products.csv"             # a public table: an item, and what stands above it; devices add that
# level = "category"                     # with a hierarchy: ask about one of its levels alone

who = "tokens"                           # who may take part: whoever holds a token of yours; or "anyone"
scrub = "release"                        # raw reports are deleted when a round is released; or "hand"
screen = true                            # leave out reports that no honest device is likely to have sent

[rounds]
close = "quota"                          # a round closes at its share of so many people; or "deadline", or "hand"
people = 20000
# hours = 24                             # with "deadline": so long after it opened
# minimum = 500                          # with fewer reports a round closes only if you insist; by default predicted

[settings]                               # settings of the protocol, by name
"""


@dataclass(frozen=True, kw_only=True)
class StudyPlan:
    """The plan of a study: public values, which do not change while the study runs.

    Parameters
    ----------
    name, title, asks
        The name of the study in addresses, its title, and its question in words that a participant understands.
    protocol, settings
        The name of the protocol, and its settings.
    top, least
        The number of wanted patterns, and the minimum number of items of a pattern.
    epsilon, delta
        The privacy loss of one report, and the probability that the bound fails, as text of exact numbers.
    items
        The public list of items that devices may hold, in the order of their codes; empty where the protocol discovers
        the items.
    hierarchy, level
        The public table of parents: devices answer with the ancestors of their items, on all levels or on one.
    who
        The participants: holders of a token, or the public.
    close, people, hours
        The closing of a round: at its share of `people` reports, `hours` after it opened, or by hand.
    minimum
        The number of reports below which a round closes only if an operator insists; None for a predicted number.
    scrub
        Whether raw reports are deleted when a round is released, or by hand.
    screen
        Whether to leave out reports that an honest device is unlikely to send.
    simulated
        Whether the study runs over known baskets; its result then says so. No file has this field.
    """

    name: str
    title: str
    asks: str
    protocol: str
    top: int
    epsilon: str
    items: tuple[str, ...] = ()
    hierarchy: Hierarchy | None = None
    level: str | int | None = None
    least: int = 1
    delta: str = "0"
    settings: Mapping[str, Any] = field(default_factory=dict)
    who: TakingPart = "tokens"
    close: Closing = "hand"
    people: int | None = None
    hours: float | None = None
    minimum: int | None = None
    scrub: Scrubbing = "release"
    screen: bool = True
    simulated: bool = False

    def __post_init__(self) -> None:
        for name, find_flaw in _FLAW_FINDERS.items():
            # An empty list of items passes here: below, the protocol decides whether the study needs a list.
            flaw = find_flaw(getattr(self, name))
            if flaw and (name, self.items) != ("items", ()):
                raise MisuseError(f"{name} {flaw}")
        if self.close == "quota" and self.people is None:
            raise MisuseError('The field people is missing: with close = "quota", say people = 20000.')
        if self.close == "deadline" and self.hours is None:
            raise MisuseError('The field hours is missing: with close = "deadline", say hours = 24.')
        protocol = self.protocol_instance
        if protocol.unlisted is bool(self.items):
            raise MisuseError(
                f"items is left out with the protocol {self.protocol}, which finds out what the items are."
                if self.items
                else f"items {_find_items_flaw(self.items)}"
            )
        self._check_levels()
        protocol.check(self.goal)
        if not protocol.live or protocol.reports != 1:
            raise MisuseError(
                f"protocol {self.protocol!r} is simulated only: no device answers for it. `discreet mechanisms --kind "
                "protocol` says which a study can run."
            )

    @cached_property
    def protocol_instance(self) -> Protocol:
        """The protocol with its settings."""
        instance: Protocol = protocol_of(self.protocol, self.settings)
        return instance

    def _check_levels(self) -> None:
        if self.hierarchy is None:
            if self.level is not None:
                raise MisuseError("Without a hierarchy there is no level: name the file of one, or leave level out.")
            return
        check_levels(self.protocol_instance, self.level)
        if self.pairs in ("given", "after"):
            raise MisuseError("A study of relations that devices have of their own takes no hierarchy: leave it out.")
        if not self.asked_items:
            raise MisuseError(f"Level {self.level!r} lies below all items of the list: nothing would be asked about.")

    @cached_property
    def goal(self) -> StudyGoal:
        """The goal of the protocol: the number of patterns, their length, and epsilon."""
        return StudyGoal(
            items=len(self.asked_items),
            top=self.top,
            epsilon=Fraction(self.epsilon),
            least=self.least,
            lineage=None if self._item_table is None else self._item_table.lineage,
        )

    @cached_property
    def held_vocabulary(self) -> Vocabulary:
        """The items that devices may hold."""
        from ..baskets import Vocabulary

        return Vocabulary(parse_items(list(self.items)))

    @property
    def vocabulary(self) -> Vocabulary:
        """The items of the questions, as results name them."""
        return self.held_vocabulary if self._item_table is None else self._item_table.vocabulary

    @cached_property
    def asked_items(self) -> tuple[str, ...]:
        """The names of the items of the questions, in the order of their codes."""
        return tuple(map(str, self.vocabulary))

    @property
    def asked_codes(self) -> list[Codes]:
        """The codes in the questions of each item that a device may hold, ascending; empty without a hierarchy."""
        table = self._item_table
        return [] if table is None else [np.sort(codes) for codes in np.split(table.codes, table.offsets[1:-1])]

    @cached_property
    def _item_table(self) -> ItemTable | None:
        return None if self.hierarchy is None else map_items(self.hierarchy, self.level, self.held_vocabulary)

    @property
    def pairs(self) -> str:
        """The kind of relation that the protocol searches, or "none"."""
        return str(getattr(self.protocol_instance, "how", "none"))

    def to_json(self) -> str:
        """Return the plan as JSON, from which :meth:`from_json` builds an equal plan."""
        fields = {**asdict(self), "hierarchy": None if self.hierarchy is None else self.hierarchy.to_dict()}
        if self.minimum is None:
            del fields["minimum"]  # studies that were stored before this field existed lack the key
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the plan of a JSON text; refuse all but the output of :meth:`to_json`."""
        try:
            fields = parse_json(text)
            items, levels = fields["items"], fields.get("hierarchy")
            # JSON has no tuples; a text would become a tuple of its letters, so the check sees it unchanged.
            fields["items"] = tuple(items) if isinstance(items, list) else items
            fields["hierarchy"] = None if levels is None else Hierarchy.from_dict(levels)
            return cls(**fields)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            if isinstance(error, DiscreetError):
                raise
            raise MisuseError("This is no plan of a study: send what `discreet study open` sends.") from None


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text in UTF-8. A repeated field, or NaN, raises a `ValueError`."""
    if isinstance(text, bytes):
        text = text.decode()  # `json` would guess UTF-16 and UTF-32 from the first bytes
    return json.loads(text, object_pairs_hook=_unique_fields, parse_constant=_refuse_constant)


def _unique_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # With a repeated field, two parsers may read two different plans.
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("An object has a field twice.")
    return fields


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON.")


def find_line_flaw(value: Any, max_letters: int, example: str) -> str:
    """Return the flaw of a value that must be one line of text, as the end of a message, or "".

    A line has no control characters: they would forge other lines in lists, and PostgreSQL stores no zero byte.
    """
    if isinstance(value, str) and value.strip() and len(value) <= max_letters and value.isprintable():
        return ""
    return f"is one line of text of up to {max_letters} letters, such as {example}."


def _line(max_letters: int, example: str) -> Callable[[Any], str]:
    return lambda value: find_line_flaw(value, max_letters, example)


def _unless(is_good: Callable[[Any], bool], allowed_values: str, letters: int = 40) -> Callable[[Any], str]:
    """Return a function that returns "" for a good value, and the allowed values with the wrong one otherwise."""
    return lambda value: "" if is_good(value) else f"{allowed_values}; {value!r:.{letters}} was given."


def _whole_number(low: int, high: int, example: str, *, optional: bool = False) -> Callable[[Any], str]:
    allowed_values = f"is a whole number from {low:,} to {high:,}, such as {example}"
    return _unless(
        lambda value: (optional and value is None) or (is_whole(value) and low <= value <= high), allowed_values
    )


def _choice(kind: Any) -> Callable[[Any], str]:
    return _unless(lambda value: value in get_args(kind), "is " + " or ".join(f'"{word}"' for word in get_args(kind)))


def _fraction(allowed_values: str, is_in_range: Callable[[Fraction], bool]) -> Callable[[Any], str]:
    def is_good(value: Any) -> bool:
        try:
            return isinstance(value, str) and bool(_NUMBER.fullmatch(value)) and is_in_range(Fraction(value))
        except ZeroDivisionError:
            return False

    return _unless(is_good, f"is {allowed_values}, in quotes")


def _find_items_flaw(value: Any) -> str:
    if not isinstance(value, tuple) or not 1 <= len(value) <= MAX_ITEMS:
        return f"is a list of 1 to {MAX_ITEMS:,} names, or the name of a file with one per line."
    seen_names: set[str] = set()
    for name in value:
        if find_line_flaw(name, MAX_NAME_LETTERS, ""):
            return f"has {name!r:.40}, which is no name of an item: a name is {_ITEM_NAME}, in quotes."
    for name in value:
        if name != name.strip():
            return f"has {name!r:.40}, with a space before or after it: write {name.strip()!r:.40}."
    for name in value:
        if name in seen_names:
            return f"has {name!r:.40} twice: write each item once."
        seen_names.add(name)
    return ""


def _is_unlisted(protocol: Any) -> bool:
    """Return whether a protocol of that name has no list of items."""
    return isinstance(protocol, str) and protocol in protocols() and bool(protocols()[protocol].kind.unlisted)


def _find_hierarchy_flaw(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, Hierarchy):
        return f"is the name of a file with a table, an item and what stands above it; {value!r:.40} was given."
    for name in chain(value.heights, value.parents, value.parents.values(), value.names):
        if find_line_flaw(str(name), MAX_NAME_LETTERS, ""):
            return f"has {name!r:.40}, which is no name: a name is {_ITEM_NAME}."
    return ""


def _is_duration(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value is None or (is_number and 0 < value <= MAX_HOURS)


_find_switch_flaw = _unless(lambda value: isinstance(value, bool), "is true or false")
# A function per field that returns the flaw of a value as the end of a message, or "". Plans from files, Python and the
# network all pass the checks.
_FLAW_FINDERS: dict[str, Callable[[Any], str]] = {
    "name": _unless(
        lambda value: isinstance(value, str) and STUDY_NAME.fullmatch(value) is not None,
        'is up to 63 small letters, digits and dashes, such as "breakfast"',
        letters=70,
    ),
    "title": _line(200, '"What goes together at breakfast"'),
    "asks": _line(2000, '"Which of these did you have this week?"'),
    "protocol": _line(60, '"adept"'),
    "top": _whole_number(1, 100_000, "20"),
    "least": _whole_number(1, 2, "1"),
    "epsilon": _fraction(
        'a number from 0.001 to 20 such as "1" or "0.5"', lambda epsilon: 1 <= 1000 * epsilon <= 20_000
    ),
    "delta": _fraction('a number from 0 to below 1 such as "0"', lambda delta: 0 <= delta < 1),
    "items": _find_items_flaw,
    "hierarchy": _find_hierarchy_flaw,
    "level": _unless(
        lambda value: value is None or isinstance(value, str) or is_whole(value),
        "is a level of the hierarchy, by name or number",
    ),
    "who": _choice(TakingPart),
    "scrub": _choice(Scrubbing),
    "screen": _find_switch_flaw,
    "simulated": _find_switch_flaw,
    "close": _choice(Closing),
    "people": _whole_number(1, MAX_PEOPLE, "20000", optional=True),
    "hours": _unless(_is_duration, f"is a number over 0 and up to {MAX_HOURS:,}, such as 24"),
    "minimum": _whole_number(0, MAX_PEOPLE, "500", optional=True),
    "settings": lambda value: "" if isinstance(value, Mapping) else "is a table: [settings], and name = value below.",
}


def read_study(path: Path | str) -> StudyPlan:
    """Return the plan of a study file; an `InputError` names the line of a flaw, and the text to type.

    Examples
    --------
    >>> from pathlib import Path
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "study.toml"
    ...     _ = file.write_text(TEMPLATE.format(path=file))
    ...     plan = read_study(file)
    >>> plan.name, plan.top, len(plan.items), plan.close
    ('breakfast', 20, 12, 'quota')
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"There is no file {path}: `discreet study new {path}` writes one to begin with.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    try:
        fields = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not written as TOML is: {error}.") from None
    return _StudyReader(path, text, fields).read_plan()


class _StudyReader:
    """A reader of one study file: its fields, and their lines for messages."""

    def __init__(self, path: Path, text: str, fields: dict[str, Any]) -> None:
        self.path, self.fields, self.lines = path, fields, _find_lines(text)
        self.line_count = max(1, len(text.splitlines()))

    def read_plan(self) -> StudyPlan:
        # Unknown names first: a misspelt name explains a missing field better than its absence.
        self._check_names(self.fields, _FIELDS, "")
        rounds, settings = (self._read_table(name) for name in ("rounds", "settings"))
        self._check_names(rounds, _ROUND_FIELDS, "rounds.")
        fields = {name: value for name, value in self.fields.items() if name not in ("rounds", "settings")}
        if isinstance(fields.get("hierarchy"), str):
            fields["hierarchy"] = self._read_hierarchy(fields["hierarchy"])
        needs_items = "hierarchy" not in fields and not _is_unlisted(fields.get("protocol"))
        for name in _NEEDED_FIELDS:
            if name not in fields and (name != "items" or needs_items):
                # The flaw of None names the allowed values.
                allowed_values = _FLAW_FINDERS[name](None).removesuffix("; None was given.").rstrip(".")
                self._refuse("", f"{name} is missing. It {allowed_values}.")
        for name in ("epsilon", "delta"):
            if is_whole(fields.get(name)):
                fields[name] = str(fields[name])  # an integer is exact without quotes as well
        if "items" in fields:
            fields["items"] = self._read_items(fields["items"])
        elif isinstance(fields.get("hierarchy"), Hierarchy):
            # People hold the items without children; names of parents stand for groups of items.
            heights = fields["hierarchy"].heights
            fields["items"] = _sort_names(parse_items([name for name, height in heights.items() if not height]))
        fields |= rounds
        for name, value in fields.items():
            if flaw := _FLAW_FINDERS[name](value):
                self._refuse(f"rounds.{name}" if name in _ROUND_FIELDS else name, f"{name} {flaw}")
        if "hours" in rounds and fields.get("close") != "deadline":
            self._refuse(
                "rounds.hours", 'hours goes with close = "deadline" only: leave it out, or close rounds that way.'
            )
        try:
            return StudyPlan(**fields, settings=settings)
        except DiscreetError as error:
            self._refuse(self._find_field(str(error)), str(error))

    def _read_table(self, name: str) -> dict[str, Any]:
        table = self.fields.get(name, {})
        if not isinstance(table, dict):
            self._refuse(name, f"{name} is a table: write [{name}] in a line of its own, and its fields below.")
        return table

    def _check_names(self, fields: Mapping[str, Any], known_names: tuple[str, ...], prefix: str) -> None:
        from difflib import get_close_matches

        for name in fields:
            if name not in known_names:
                similar = get_close_matches(name, known_names, 1)
                hint = f" Did you mean {similar[0]}?" if similar else ""
                table = f"[{prefix.rstrip('.')}] has" if prefix else "A study has"
                self._refuse(prefix + name, f"{table} no field {name!r:.40}; there are {', '.join(known_names)}.{hint}")

    def _read_hierarchy(self, name: str) -> Hierarchy:
        try:
            return Hierarchy.read(self.path.parent / name)
        except DiscreetError as error:
            self._refuse("hierarchy", str(error))

    def _read_items(self, value: Any) -> tuple[str, ...]:
        from ..baskets import read_listed_items

        if isinstance(value, str):
            try:
                return _sort_names(read_listed_items(self.path.parent / value, "items"))
            except InputError as error:
                message = str(error).partition(" For the items found")[0]
                self._refuse("items", f"{message} items is a list, or the name of a file with one per line.")
        names = [str(name) if is_whole(name) else name for name in value] if isinstance(value, list) else value
        if flaw := _find_items_flaw(tuple(names) if isinstance(names, list) else names):
            self._refuse("items", f"items {flaw}")
        return _sort_names(parse_items(names))

    def _find_field(self, message: str) -> str:
        """Return the field that a message is about: the first name in it that the file has."""
        # Messages of protocols name their settings in the spelling of the file.
        for word in re.findall(r"[a-z_]+", message):
            for name in (f"settings.{word}", f"rounds.{word}", word):
                if name in self.lines:
                    return name
        return "protocol" if "protocol" in self.lines else ""

    def _refuse(self, name: str, message: str) -> NoReturn:
        line = self.lines.get(name) or self.lines.get(name.partition(".")[0]) or self.line_count
        raise InputError(f"{self.path}, line {line}: {message}") from None


def _sort_names(items: list[Item]) -> tuple[str, ...]:
    """Return the names of items: numbers in their order first, then texts."""
    return tuple(map(str, sorted(items, key=lambda item: (isinstance(item, str), item))))


def _find_lines(text: str) -> dict[str, int]:
    """Return the line of each field of a TOML text, by table and name."""
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = header[1] + "."
            lines.setdefault(header[1], number)
        elif key := _KEY.match(line):
            lines.setdefault(table + key[1].strip("\"'"), number)
    return lines
