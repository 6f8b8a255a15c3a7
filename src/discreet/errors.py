"""The errors of discreet, in one tree, and messages that name options for Python and for the command line.

    DiscreetError
    ├── InputError      a file, a table or a column is not readable as data
    │   └── EmptyDataError   the data have no rows; a release accepts them
    ├── MisuseError     an argument or option is out of range, or contradicts a second one
    ├── LimitError      the work would exceed a limit of memory, time or results
    ├── ClusterError    Spark is not reachable, or failed
    ├── CardError       a graphics card failed; the caller then uses the cores
    └── BudgetError     a ledger has less budget than the request

A message has the value, the allowed values and the text to type instead. The command line ends with status 1 on any
error of the tree; status 2 is for a command line that cannot be parsed. A private value never enters a message.

Python and the command line differ in that text: ``min_count=5`` is ``--min-count 5``. `build_message` builds the
message for both from a template with options as fields. Values are inserted after that, so that no file name is taken
for an option.
"""

from __future__ import annotations

import ast
import re
import shlex
from dataclasses import dataclass, field
from string import Formatter
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from fractions import Fraction

# The keywords of the Python API that are options of the command line, and the names of the options.
_SHARED_NAMES = [
    "among", "anchor", "antecedent", "assume_malicious", "basket", "baskets_each", "by", "consequent", "contains",
    "counts", "crowd", "delimiter", "delta", "device", "encoding", "engine", "epsilon", "excludes", "exponent",
    "frequencies", "hierarchy", "how", "item", "items", "itemsets", "kind", "labels", "least", "ledger", "lengths",
    "level", "limit", "max_baskets", "max_items", "mechanism", "memory", "min_confidence", "min_count", "min_lift",
    "min_support", "monotone", "most", "names", "neighbours", "nulls", "ordered", "pair", "people", "person",
    "protocol", "query", "really", "redundant", "runs", "same_data", "same_names", "score", "screen", "seed",
    "segments", "sensitivity", "side", "significance", "sizes", "speed", "time", "top", "who",
]  # fmt: skip
OPTIONS = {name: "--" + name.replace("_", "-") for name in _SHARED_NAMES} | {
    "format": "--input-format",
    "settings": "--set",
}

# Parses a template as str.format does, but inserts nothing: braces in a value are never parsed.
_FORMATTER = Formatter()
# Letters that no shell treats specially.
_PLAIN_WORD = re.compile(r"[\w.,:/@%+-]+")


@dataclass(frozen=True)
class Message:
    """A text for a user, with its options as Python and as the command line write them; built by `build_message`.

    `options` has the keywords in the text: a function that lacks a keyword of the set does not show the message.
    """

    python: str
    typed: str
    # Not compared: two messages with one text are equal.
    options: frozenset[str] = field(default=frozenset(), compare=False)

    def __str__(self) -> str:
        return self.python


def build_message(text: str, /, **values: object) -> Message:
    """Return the message of a template with fields, for Python and for the command line.

    A field is the name of a value, or an option: ``{min_count}`` is min_count or --min-count, ``{lengths=}`` is
    lengths= or --lengths, ``{labels="names"}`` is labels="names" or --labels names, and ``{limit=more}`` is limit= or
    --limit with the value `more`.

    Parameters
    ----------
    text
        The template, a literal: text of a user in it would be parsed for fields.
    values
        The values by name. A message, or an error of discreet, is inserted in both forms; any other value as text,
        which is not parsed.
    """
    # A field of the name would stand for both the value and the option.
    # Raised while developing: a test calls every message.
    for name in values.keys() & OPTIONS.keys():
        raise TypeError(f"A value of a message is not called {name}, which is an option.")
    parts: list[Message] = []
    for literal, field_name, form, conversion in _FORMATTER.parse(text):
        parts.append(Message(literal, literal))
        if field_name is None:
            continue
        name, equals, value = field_name.partition("=")
        if equals or name not in values:
            parts.append(_render_option_field(name, equals, value, form or "", values))
        else:
            parts.append(_render_value(values[name], form or "", conversion))
    return Message(
        "".join(part.python for part in parts),
        "".join(part.typed for part in parts),
        frozenset().union(*(part.options for part in parts)),
    )


def name_options(*names: str, equals: str = "") -> Message:
    """Return the names of options, with "and" between them; a name that is no option is inserted unchanged."""
    words = [name + equals for name in names]
    options = [OPTIONS.get(name, name + equals) for name in names]
    return Message(" and ".join(words), " and ".join(options), frozenset(names) & OPTIONS.keys())


def add_option(name: str, option: str = "") -> None:
    """Register a keyword and its option, which a different room declares, like the field of a question."""
    OPTIONS.setdefault(name, option or "--" + name.replace("_", "-"))


def render_option(name: str, value: object, literal: str = "") -> Message:
    """Return an option with a value, like top=5 or --top 5; `literal` is the value in Python, by default its repr."""
    python = f"{name}={literal or repr(value)}"
    if name not in OPTIONS:  # a keyword of Python alone
        return Message(python, python)
    # A switch that is off has a name of its own on the command line.
    if value is False:
        return Message(python, OPTIONS[name].replace("--", "--no-", 1), frozenset({name}))
    if value is True:
        words = []
    elif name == "lengths" and isinstance(value, tuple):
        words = [f"{value[0]}-{value[1] or ''}"]
    elif isinstance(value, str | tuple | list):
        words = [quote_word(part) for part in ([value] if isinstance(value, str) else value)]
    else:
        words = [literal or repr(value)]
    return Message(python, " ".join([OPTIONS[name], *words]), frozenset({name}))


def _render_value(value: object, form: str, conversion: str | None) -> Message:
    if isinstance(value, DiscreetError):
        value = value.message
    if isinstance(value, Message):
        return value
    # In the form of str.format, like {value!r:.60}, which cuts a long value.
    text = format(_FORMATTER.convert_field(value, conversion), form)
    return Message(text, text)


def _render_option_field(name: str, equals: str, value: str, form: str, values: dict[str, object]) -> Message:
    if name not in OPTIONS:
        raise KeyError(f"{name} is neither a value of this message nor an option.")
    if not value:
        return name_options(name, equals=equals)
    if value.isidentifier() and value in values:
        return render_option(name, values[value], format(values[value], form) if form else "")
    return render_option(name, ast.literal_eval(value), value)


def quote_word(text: object) -> str:
    """Return a text as one word of a shell, in double quotes unless the shell would expand a letter in them."""
    text = str(text)
    # Double quotes read better than the single quotes of shlex; shells expand "$", "`" and backslashes in them.
    if _PLAIN_WORD.fullmatch(text):
        return text
    return shlex.quote(text) if re.search(r'["$`\\!]', text) else f'"{text}"'


class DiscreetError(Exception):
    """The base of the errors of discreet.

    `message` has the text in both languages; `str()` of an error is the Python text. The constructor takes a text
    literally; `format` takes one with fields.
    """

    def __init__(self, message: str | Message = "") -> None:
        # The Python text for tracebacks and logs; the command line reads `message`.
        super().__init__(str(message))
        self.message = message if isinstance(message, Message) else Message(message, message)

    @classmethod
    def format(cls, text: str, /, **values: object) -> Self:
        """Return an error with the message that :func:`build_message` builds of a template and values."""
        return cls(build_message(text, **values))


class InputError(DiscreetError):
    """Data cannot be read as baskets; the message has the place, and a remedy."""


class EmptyDataError(InputError):
    """The data have no rows. Exact mining refuses them; a release does not, as a refusal would reveal private data."""


class MisuseError(DiscreetError, ValueError):
    """An argument is out of range or contradicts a second argument."""


class LimitError(DiscreetError):
    """A result would be larger than its limit."""


class ClusterError(DiscreetError):
    """Spark is not reachable, lacks a package or failed; the message has a remedy."""


class CardError(DiscreetError):
    """A graphics card failed. The caller uses the cores instead, and logs that once."""


class BudgetError(DiscreetError):
    """A ledger has less budget than the request; nothing was spent.

    `requested`, `spent`, `remaining` and `difference` are exact fractions in the unit `unit`: epsilon, rho in a ledger
    that accounts by zCDP, or delta.
    """

    def __init__(
        self,
        message: str | Message,
        requested: Fraction,
        spent: Fraction,
        remaining: Fraction,
        unit: Literal["epsilon", "rho", "delta"] = "epsilon",
    ) -> None:
        super().__init__(message)
        self.requested = requested
        self.spent = spent
        self.remaining = remaining
        self.difference = requested - remaining
        self.unit = unit

    def __reduce__(self) -> tuple[Any, ...]:
        # An exception that cannot be unpickled takes a pool of processes down with it.
        return type(self), (self.message, self.requested, self.spent, self.remaining, self.unit)
