"""What an operator writes to open a study: `study.toml`, read and checked before anybody is asked.

Every field that is off is told with its line, what is allowed and what to type. What is read is a `StudyPlan`: public
values only, in a form that travels to a service elsewhere and is kept with the study.
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
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, get_args

import numpy as np

from ..baskets import Hierarchy, as_items, becoming
from ..checks import is_whole
from ..errors import DiscreetError, InputError, MisuseError
from ..local.study import Wanted, check_levels
from ..registry import protocol as protocol_of, protocols

if TYPE_CHECKING:
    from ..baskets import Codes, Item, ItemTable, Lineage, Vocabulary
    from ..local import Protocol

Closing: TypeAlias = Literal["quota", "deadline", "hand"]
Scrubbing: TypeAlias = Literal["release", "hand"]
TakingPart: TypeAlias = Literal["tokens", "anyone"]

MOST_ITEMS = 1_000_000
MOST_LETTERS = 1000  # of the name of an item or level: far beyond any product or page; each is a row of a result
_ITEM_NAME = f"one line of text of up to {MOST_LETTERS:,} letters"
MOST_PEOPLE = 1_000_000_000
MOST_HOURS = 10_000
STUDY_NAME = re.compile("[a-z0-9][a-z0-9-]{0,62}")
_NUMBER = re.compile("[0-9]{1,30}([./][0-9]{1,30})?")  # as devices read it
_FIELDS = (
    "name", "title", "asks", "protocol", "top", "least", "epsilon", "delta", "items", "hierarchy", "level", "who",
    "scrub", "screen", "rounds", "settings",
)  # fmt: skip
_ROUNDS = ("close", "people", "hours", "minimum")
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
    """A study as it was asked for: public values, and nothing that changes while it runs.

    Parameters
    ----------
    name, title, asks
        Its place on a service, what it is called, and what is asked in words that a participant understands.
    protocol, settings
        The protocol by name, and its settings.
    top, least
        How many patterns are wanted, and of how many items at least.
    epsilon, delta
        What one report may give away, and the probability with which that may fail, as they were written.
    items
        The public list of what devices may hold, in the order of its numbers; empty where the protocol finds out what
        there is.
    hierarchy, level
        What stands above what, which is public too: devices answer for what their items are across levels, or on one.
    who
        Who may take part: holders of a token, or anyone.
    close, people, hours
        How a round closes: at its share of so many people, so many hours after it opened, or by hand.
    minimum
        With fewer reports a round closes only where an operator insists; None for what is predicted to say anything.
    scrub
        Whether raw reports go when a round is released, or when an operator says so.
    screen
        Whether reports that no honest device is likely to have sent are left out.
    simulated
        Whether it is tried over baskets that are known, as its result says then; no file says so.
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
        for name, flaw in _FLAWS.items():
            told = flaw(getattr(self, name))
            if told and (name, self.items) != ("items", ()):
                raise MisuseError(f"{name} {told}")
        if self.close == "quota" and self.people is None:
            raise MisuseError('The field people is missing: with close = "quota", say people = 20000.')
        if self.close == "deadline" and self.hours is None:
            raise MisuseError('The field hours is missing: with close = "deadline", say hours = 24.')
        if self.led.unlisted is bool(self.items):
            raise MisuseError("items " + (_FOUND.format(self.protocol) if self.items else _items(self.items)))
        self._check_levels()
        self.led.check(self.wanted)
        if not self.led.live or self.led.reports != 1:
            raise MisuseError(
                f"protocol {self.protocol!r} is simulated only: no device answers for it. `discreet mechanisms --kind "
                "protocol` says which a study can run."
            )

    @cached_property
    def led(self) -> Protocol:
        """The protocol that leads the study."""
        made: Protocol = protocol_of(self.protocol, self.settings)
        return made

    def _check_levels(self) -> None:
        if self.hierarchy is None:
            if self.level is not None:
                raise MisuseError("Without a hierarchy there is no level: name the file of one, or leave level out.")
            return
        check_levels(self.led, self.level)
        if self.pairs in ("given", "after"):
            raise MisuseError("A study of relations that devices have of their own takes no hierarchy: leave it out.")
        if not self.asked:
            raise MisuseError(f"Level {self.level!r} lies below all items of the list: nothing would be asked about.")

    @cached_property
    def wanted(self) -> Wanted:
        """What is wanted of the protocol."""
        epsilon = Fraction(self.epsilon)
        return Wanted(items=len(self.asked), top=self.top, epsilon=epsilon, least=self.least, lineage=self._levels[2])

    @cached_property
    def held(self) -> Vocabulary:
        """What devices may hold."""
        from ..baskets import Vocabulary

        return Vocabulary(as_items(list(self.items)))

    @property
    def vocabulary(self) -> Vocabulary:
        """The items that are asked about, as results name them."""
        return self._levels[1]

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The items that are asked about, in the order of their numbers."""
        return tuple(map(str, self.vocabulary))

    @property
    def become(self) -> list[Codes]:
        """Which of the items that are asked about each item becomes that a device may hold, in rising order."""
        table = self._levels[0]
        return [] if table is None else [np.sort(one) for one in np.split(table.codes, table.offsets[1:-1])]

    @cached_property
    def _levels(self) -> tuple[ItemTable | None, Vocabulary, Lineage | None]:
        return (None, self.held, None) if self.hierarchy is None else becoming(self.hierarchy, self.level, self.held)

    @property
    def pairs(self) -> str:
        """What makes a relation, where the protocol is about relations."""
        return str(getattr(self.led, "how", "none"))

    def to_json(self) -> str:
        """Return the plan as text, from which :meth:`from_json` makes the same."""
        levels = None if self.hierarchy is None else self.hierarchy.to_dict()
        fields = {**asdict(self), "hierarchy": levels}
        if self.minimum is None:
            del fields["minimum"]  # as studies were stored before there was one
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the plan of a text; anything but what :meth:`to_json` writes is refused."""
        try:
            fields = read_json(text)
            items, levels = fields["items"], fields.get("hierarchy")
            listed = tuple(items) if isinstance(items, list) else items
            return cls(
                **{**fields, "items": listed, "hierarchy": None if levels is None else Hierarchy.from_dict(levels)}
            )
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            if isinstance(error, DiscreetError):
                raise
            raise MisuseError("This is no plan of a study: send what `discreet study open` sends.") from None


def read_json(text: str | bytes) -> Any:
    """Return the value of a JSON text in UTF-8, in which no field comes twice; anything else is a `ValueError`."""
    if isinstance(text, bytes):
        text = text.decode()  # `json` would guess UTF-16 and UTF-32 from the first bytes

    return json.loads(text, object_pairs_hook=_fields_once, parse_constant=_refused_constant)


def _fields_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("An object has a field twice.")
    return fields


def _refused_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON.")


def line_flaw(value: Any, most_letters: int, example: str) -> str:
    """Return what is off about a value that shall be one line of text, or nothing.

    A line has no control characters: they would forge other lines in lists, and PostgreSQL keeps no zero byte.
    """
    if isinstance(value, str) and value.strip() and len(value) <= most_letters and value.isprintable():
        return ""
    return f"is one line of text of up to {most_letters} letters, such as {example}."


def _line(most_letters: int, example: str) -> Callable[[Any], str]:
    return lambda value: line_flaw(value, most_letters, example)


def _whole(least: int, most: int, example: str) -> Callable[[Any], str]:
    def flaw(value: Any) -> str:
        if is_whole(value) and least <= value <= most:
            return ""
        return f"is a whole number from {least:,} to {most:,}, such as {example}; {value!r:.40} was given."

    return flaw


def _one_of(kind: Any) -> Callable[[Any], str]:
    words = " or ".join(f'"{word}"' for word in get_args(kind))
    return lambda value: "" if value in get_args(kind) else f"is {words}; {value!r:.40} was given."


def _fraction(allowed: str, good: Callable[[Fraction], bool]) -> Callable[[Any], str]:
    def flaw(value: Any) -> str:
        try:
            if isinstance(value, str) and _NUMBER.fullmatch(value) and good(Fraction(value)):
                return ""
        except ZeroDivisionError:
            pass
        return f"is {allowed}, in quotes; {value!r:.40} was given."

    return flaw


def _items(value: Any) -> str:
    if not isinstance(value, tuple) or not 1 <= len(value) <= MOST_ITEMS:
        return f"is a list of 1 to {MOST_ITEMS:,} names, or the name of a file with one per line."
    strange = next((one for one in value if line_flaw(one, MOST_LETTERS, "")), None)
    if strange is not None:
        return f"has {strange!r:.40}, which is no name of an item: a name is {_ITEM_NAME}, in quotes."
    spaced = next((one for one in value if one != one.strip()), None)
    if spaced is not None:
        return f"has {spaced!r:.40}, with a space before or after it: write {spaced.strip()!r:.40}."
    twice = len(value) - len(set(value))
    if twice:
        seen: set[str] = set()
        first = next(one for one in value if one in seen or seen.add(one))  # type: ignore[func-returns-value]
        return f"has {first!r:.40} twice: write each item once."
    return ""


_FOUND = "is left out with the protocol {}, which finds out what the items are."


def _unlisted(protocol: Any) -> bool:
    """Return whether a protocol of that name has no list of items."""
    return isinstance(protocol, str) and protocol in protocols() and bool(protocols()[protocol].kind.unlisted)


def _hierarchy(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, Hierarchy):
        return f"is the name of a file with a table, an item and what stands above it; {value!r:.40} was given."
    names = chain(value.heights, value.parents, value.parents.values(), value.names)
    strange = next((one for one in names if line_flaw(str(one), MOST_LETTERS, "")), None)
    return "" if strange is None else f"has {strange!r:.40}, which is no name: a name is {_ITEM_NAME}."


def _hours(value: Any) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is None or (number and 0 < value <= MOST_HOURS):
        return ""
    return f"is a number over 0 and up to {MOST_HOURS:,}, such as 24; {value!r:.40} was given."


_FLAWS: dict[str, Callable[[Any], str]] = {
    "name": lambda value: (
        ""
        if isinstance(value, str) and STUDY_NAME.fullmatch(value)
        else f'is up to 63 small letters, digits and dashes, such as "breakfast"; {value!r:.70} was given.'
    ),
    "title": _line(200, '"What goes together at breakfast"'),
    "asks": _line(2000, '"Which of these did you have this week?"'),
    "protocol": _line(60, '"adept"'),
    "top": _whole(1, 100_000, "20"),
    "least": _whole(1, 2, "1"),
    "epsilon": _fraction('a number from 0.001 to 20 such as "1" or "0.5"', lambda one: Fraction(1, 1000) <= one <= 20),
    "delta": _fraction('a number from 0 to below 1 such as "0"', lambda one: 0 <= one < 1),
    "items": _items,
    "hierarchy": _hierarchy,
    "level": lambda value: (
        ""
        if value is None or isinstance(value, str) or is_whole(value)
        else f"is a level of the hierarchy, by name or number; {value!r:.40} was given."
    ),
    "who": _one_of(TakingPart),
    "scrub": _one_of(Scrubbing),
    "screen": lambda value: "" if isinstance(value, bool) else f"is true or false; {value!r:.40} was given.",
    "simulated": lambda value: "" if isinstance(value, bool) else f"is true or false; {value!r:.40} was given.",
    "close": _one_of(Closing),
    "people": lambda value: "" if value is None else _whole(1, MOST_PEOPLE, "20000")(value),
    "hours": _hours,
    "minimum": lambda value: "" if value is None else _whole(0, MOST_PEOPLE, "500")(value),
    "settings": lambda value: "" if isinstance(value, Mapping) else "is a table: [settings], and name = value below.",
}


def read_study(path: Path | str) -> StudyPlan:
    """Read a study from its file; an `InputError` says in which line something is off, and what to type.

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
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not written as TOML is: {error}.") from None
    return _Reading(path, text, found).plan()


class _Reading:
    """One file being read: its values, and the lines that they stand in."""

    def __init__(self, path: Path, text: str, found: Mapping[str, Any]) -> None:
        self.path, self.found, self.lines = path, found, _lines(text)
        self.last = max(1, len(text.splitlines()))

    def plan(self) -> StudyPlan:
        self._only(self.found, _FIELDS, "")
        rounds, settings = (self._table(name) for name in ("rounds", "settings"))
        self._only(rounds, _ROUNDS, "rounds.")
        given: dict[str, Any] = {
            name: value for name, value in self.found.items() if name not in ("rounds", "settings")
        }
        needed = ["name", "title", "asks", "protocol", "top", "epsilon", "items"]
        if isinstance(given.get("hierarchy"), str):
            given["hierarchy"] = self._hierarchy(given["hierarchy"])
        if "items" not in given and ("hierarchy" in given or _unlisted(given.get("protocol"))):
            needed.remove("items")
        for name in needed:
            if name not in given:
                # Asked with nothing, a check says what is allowed.
                allowed = _FLAWS[name](None).removesuffix("; None was given.").rstrip(".")
                raise self._off("", f"{name} is missing. It {allowed}.")
        for name in ("epsilon", "delta"):
            if is_whole(given.get(name)):
                given[name] = str(given[name])  # a whole number has one meaning, with quotes or without
        if "items" in given:
            given["items"] = self._items(given["items"])
        elif isinstance(given.get("hierarchy"), Hierarchy):
            # What has nothing below it: a person holds things, and not what they are called together.
            found = given["hierarchy"]
            given["items"] = _ordered(as_items([label for label, height in found.heights.items() if not height]))
        given |= rounds
        for name, value in given.items():
            told = _FLAWS[name](value)
            if told:
                raise self._off(f"rounds.{name}" if name in _ROUNDS else name, f"{name} {told}")
        if "hours" in rounds and given.get("close") != "deadline":
            raise self._off(
                "rounds.hours", 'hours goes with close = "deadline" only: leave it out, or close rounds that way.'
            )
        try:
            return StudyPlan(**given, settings=settings)
        except DiscreetError as error:
            raise self._off(self._named(str(error)), str(error)) from None

    def _table(self, name: str) -> dict[str, Any]:
        table = self.found.get(name, {})
        if not isinstance(table, dict):
            raise self._off(name, f"{name} is a table: write [{name}] in a line of its own, and its fields below.")
        return table

    def _only(self, found: Mapping[str, Any], known: tuple[str, ...], within: str) -> None:
        from difflib import get_close_matches

        for name in found:
            if name not in known:
                near = get_close_matches(name, known, 1)
                meant = f" Did you mean {near[0]}?" if near else ""
                where = f"[{within.rstrip('.')}] has" if within else "A study has"
                raise self._off(within + name, f"{where} no field {name!r:.40}; there are {', '.join(known)}.{meant}")

    def _hierarchy(self, name: str) -> Hierarchy:
        try:
            return Hierarchy.read(self.path.parent / name)
        except DiscreetError as error:
            raise self._off("hierarchy", str(error)) from None

    def _items(self, given: Any) -> tuple[str, ...]:
        from ..baskets import from_file

        if isinstance(given, str):
            try:
                labels = from_file(self.path.parent / given, "items")
            except InputError as error:
                told = str(error).partition(" For the items found")[0]
                raise self._off("items", f"{told} items is a list, or the name of a file with one per line.") from None
        elif isinstance(given, list):
            plain = [str(one) if is_whole(one) else one for one in given]
            told = _items(tuple(plain))
            if told:
                raise self._off("items", f"items {told}")
            labels = as_items(plain)
        else:
            raise self._off("items", f"items {_items(given)}")
        return _ordered(labels)

    def _named(self, message: str) -> str:
        """Return the field that a message is about, as far as it names one that is there."""
        words = re.findall(r"[a-z_]+", message)
        for word in words:
            for name in (f"settings.{word}", f"rounds.{word}", word):
                if name in self.lines:
                    return name
        return "protocol" if "protocol" in self.lines else ""

    def _off(self, name: str, message: str) -> InputError:
        line = self.lines.get(name) or self.lines.get(name.partition(".")[0]) or self.last
        return InputError(f"{self.path}, line {line}: {message}")


def _ordered(labels: list[Item]) -> tuple[str, ...]:
    return tuple(map(str, sorted(labels, key=lambda label: (isinstance(label, str), label))))


def _lines(text: str) -> dict[str, int]:
    """Return the line of each field, with its table before it."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = header[1] + "."
            found.setdefault(header[1], number)
        elif key := _KEY.match(line):
            found.setdefault(table + key[1].strip("\"'"), number)
    return found
