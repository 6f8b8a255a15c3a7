"""The fields of a question, each with its own words: keywords, options, question files and help are made of them.

A question is a dataclass, and `told_field` makes each of its fields. What is said there is said once: the docstrings of
functions, the options of commands and their help, and the keys of question files are all read from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from textwrap import wrap
from typing import Any, Literal, TypeAlias

from ..errors import Message

# How a value is typed on a command line: as text, a whole number, several texts, an option that switches on, one that
# switches on or off, or the path of a file.
Form: TypeAlias = Literal["text", "whole", "texts", "flag", "switch", "file", "pairs"]
# Under which heading the help of a command lists an option.
Group: TypeAlias = Literal["what", "how", "privacy", ""]

_ORDER: tuple[Group, ...] = ("what", "privacy", "how", "")
_KEY = "told"  # of the metadata of a field
_WIDTH = 108  # of a line of a docstring


@dataclass(frozen=True, kw_only=True)
class FieldWords:
    """What is said of a field of a question.

    Parameters
    ----------
    help
        What the field means, in the words of Python and of the command line.
    form, group, metavar
        How a command takes the value, under which heading, and what stands for the value in the help.
    choices, option
        The texts that may be typed, where these are few; the name of the option, where it is not that of the field.
    functions
        The names of the functions that take the field; empty for all of its question.
    shows_default
        Whether the help of a command shows the default.
    """

    help: Message
    form: Form = "text"
    group: Group = "what"
    metavar: str = ""
    choices: tuple[str, ...] = ()
    option: str = ""
    functions: frozenset[str] = frozenset()
    shows_default: bool = False


def told_field(text: Message, *, default: Any = None, functions: str = "", **words: Any) -> Any:
    """Return a field of a question with what is said of it; `functions` are names with spaces between them."""
    return field(
        default=default, metadata={_KEY: FieldWords(help=text, functions=frozenset(functions.split()), **words)}
    )


def question_fields(question: type, function: str = "") -> Iterator[tuple[Field[Any], FieldWords]]:
    """Yield the fields of a question that functions take, group by group, with what is said of each.

    `function` is the name of a function, or several with spaces between them; empty for all fields.
    """
    names = frozenset(function.split())
    told_of = [(one, one.metadata[_KEY]) for one in fields(question) if _KEY in one.metadata]
    for one, words in sorted(told_of, key=lambda pair: _ORDER.index(pair[1].group)):
        if not names or not words.functions or names & words.functions:
            yield one, words


def default_of(one: Field[Any]) -> Any:
    """Return the default of a field; None where it has none."""
    return None if one.default is MISSING else one.default


def parameter_text(entries: Mapping[str, str], indent: str) -> str:
    """Return the entries of a "Parameters" section: each name, and below it its words."""
    lines = []
    for name, text in entries.items():
        lines.append(f"{indent}{name}")
        lines += wrap(text, _WIDTH, initial_indent=f"{indent}    ", subsequent_indent=f"{indent}    ")
    return "\n".join(lines)


def field_entries(question: type, function: str = "") -> dict[str, str]:
    """Return what the documentation says of each field that a function takes, by the name of the field."""
    return {one.name: str(words.help) for one, words in question_fields(question, function)}
