"""Everything discreet raises on purpose, in one tree, and how its messages name options.

    DiscreetError
    ├── InputError      what was read is not what it should be (a file, a table, a column)
    │   └── NobodyError   there is nobody in the data; a release takes them as they are
    ├── MisuseError     the call or command itself is wrong (an option, a range)
    ├── LimitError      going on would take more memory or time than was allowed
    ├── ClusterError    Spark cannot be reached, or could not do what it was asked
    ├── CardError       a graphics card cannot do what it was asked; the cores then do it
    └── BudgetError     a ledger has less left than was asked for

A message says what was given, what is allowed and what to type instead. The command line ends with status 1 on any
of them; status 2 is kept for a command line that cannot be parsed. A private value never enters a message.

What to type differs: ``min_count=5`` in Python is ``--min-count 5`` on the command line. `build_message` writes a
message for both, with options as fields; values are inserted after that, so that no file name is taken for an option.
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

# The parameters of the Python API that the command line has as options, and what they are called there.
_SHARED = [
    "among", "anchor", "antecedent", "assume_malicious", "basket", "baskets_each", "by", "consequent", "contains",
    "counts", "crowd", "delimiter", "delta", "device", "encoding", "engine", "epsilon", "excludes", "exponent",
    "frequencies", "hierarchy", "how", "item", "items", "itemsets", "kind", "labels", "least", "ledger", "lengths",
    "level", "limit", "max_baskets", "max_items", "mechanism", "memory", "min_confidence", "min_count", "min_lift",
    "min_support", "monotone", "most", "names", "neighbours", "nulls", "ordered", "pair", "people", "person",
    "protocol", "query", "really", "redundant", "runs", "same_data", "same_names", "score", "screen", "seed",
    "segments", "sensitivity", "side", "significance", "sizes", "speed", "time", "top", "who",
]  # fmt: skip
OPTIONS = {name: "--" + name.replace("_", "-") for name in _SHARED} | {
    "format": "--input-format",
    "settings": "--set",
}

_FORMS = Formatter()
_WORD = re.compile(r"[\w.,:/@%+-]+")


@dataclass(frozen=True)
class Message:
    """What is told, in the words of Python and as it is typed on the command line; built by `build_message`.

    `options` has the parameters that it names, so that none is told to whoever has no such parameter.
    """

    python: str
    typed: str
    options: frozenset[str] = field(default=frozenset(), compare=False)

    def __str__(self) -> str:
        return self.python


def build_message(text: str, /, **values: object) -> Message:
    """Return a message in both languages: a field that is not among the values is an option.

    ``{min_count}`` is min_count or --min-count, ``{lengths=}`` is lengths= or --lengths, ``{labels="names"}`` is
    labels="names" or --labels names, and ``{limit=more}`` is limit= or --limit with the value `more`. A value that is
    a message or an error of ours speaks both languages too; any other is inserted as it is, and never looked into.
    """
    for name in values.keys() & OPTIONS.keys():
        raise TypeError(f"A value of a message is not called {name}, which is an option.")
    parts: list[Message] = []
    for literal, inserted, form, conversion in _FORMS.parse(text):
        parts.append(Message(literal, literal))
        if inserted is None:
            continue
        name, equals, given = inserted.partition("=")
        if equals or name not in values:
            parts.append(_option(name, equals, given, form or "", values))
        else:
            parts.append(_value(values[name], form or "", conversion))
    return Message(
        "".join(part.python for part in parts),
        "".join(part.typed for part in parts),
        frozenset().union(*(part.options for part in parts)),
    )


def name_options(*names: str, equals: str = "") -> Message:
    """Return the names of options (or what else was named) one after another, for a message about some of several."""
    words = [name + equals for name in names]
    options = [OPTIONS.get(name, name + equals) for name in names]
    return Message(" and ".join(words), " and ".join(options), frozenset(names) & OPTIONS.keys())


def add_option(name: str, option: str = "") -> None:
    """Let messages name an option that a room below declares: an option of a question is declared by its field."""
    OPTIONS.setdefault(name, option or "--" + name.replace("_", "-"))


def render_option(name: str, value: object, written: str = "") -> Message:
    """Return an option with a value that Python writes as `written`: top=5 or --top 5."""
    python = f"{name}={written or repr(value)}"
    if name not in OPTIONS:
        return Message(python, python)
    if value is False:
        return Message(python, OPTIONS[name].replace("--", "--no-", 1), frozenset({name}))
    if value is True:
        words = []
    elif name == "lengths" and isinstance(value, tuple):
        words = [f"{value[0]}-{value[1] or ''}"]
    elif isinstance(value, str | tuple | list):
        words = [quote_word(each) for each in ([value] if isinstance(value, str) else value)]
    else:
        words = [written or repr(value)]
    return Message(python, " ".join([OPTIONS[name], *words]), frozenset({name}))


def _value(value: object, form: str, conversion: str | None) -> Message:
    if isinstance(value, DiscreetError):
        value = value.message
    if isinstance(value, Message):
        return value
    shown = format(_FORMS.convert_field(value, conversion), form)
    return Message(shown, shown)


def _option(name: str, equals: str, given: str, form: str, values: dict[str, object]) -> Message:
    if name not in OPTIONS:
        raise KeyError(f"{name} is neither a value of this message nor an option.")
    if not given:
        return name_options(name, equals=equals)
    if given.isidentifier() and given in values:
        return render_option(name, values[given], format(values[given], form) if form else "")
    return render_option(name, ast.literal_eval(given), given)


def quote_word(text: object) -> str:
    """Return a text as one word of a shell; in double quotes where that reads better and means the same."""
    text = str(text)
    if _WORD.fullmatch(text):
        return text
    return shlex.quote(text) if re.search(r'["$`\\!]', text) else f'"{text}"'


class DiscreetError(Exception):
    """The base of all errors raised on purpose.

    `message` has the text in both languages; `str()` of an error is the Python text. The constructor takes a text
    literally; `format` takes one with fields.
    """

    def __init__(self, message: str | Message = "") -> None:
        super().__init__(str(message))
        self.message = message if isinstance(message, Message) else Message(message, message)

    @classmethod
    def format(cls, text: str, /, **values: object) -> Self:
        """Return an error with the message that :func:`build_message` builds of a text with fields."""
        return cls(build_message(text, **values))


class InputError(DiscreetError):
    """Data cannot be read as baskets: says where, and what to do about it."""


class NobodyError(InputError):
    """The data have no rows at all. Exact mining refuses them; a release may not, as that would tell."""


class MisuseError(DiscreetError, ValueError):
    """An argument is out of range or contradicts another one."""


class LimitError(DiscreetError):
    """A result would be larger than the limit that was set."""


class ClusterError(DiscreetError):
    """Spark cannot be reached, or lacks what it needs, or could not do what it was asked: says what to do about it."""


class CardError(DiscreetError):
    """A graphics card cannot do what it was asked. Whoever asked does it on the cores, and says so once."""


class BudgetError(DiscreetError):
    """A ledger has less left than was asked for; nothing was spent.

    `requested`, `spent`, `remaining` and `difference` are exact fractions of what `unit` names: epsilon, rho in a
    ledger kept by zCDP, or delta.
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
