"""The fields of a question, each with its help text: the source of keywords, options, question files and help.

A question is a dataclass, and `told_field` makes each of its fields. The metadata of a field is read by the docstrings
of functions, by the command line and by question files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from textwrap import wrap
from typing import Any, Literal, TypeAlias

from ..errors import Message, build_message

# The form of a value on a command line: a text, a whole number, a repeatable text, an option that switches on, one that
# switches on or off, a path, or repeatable NAME=VALUE pairs.
Form: TypeAlias = Literal["text", "whole", "texts", "flag", "switch", "file", "pairs"]
# The heading under which the help of a command lists an option.
Group: TypeAlias = Literal["what", "how", "privacy", ""]

_GROUP_ORDER: tuple[Group, ...] = ("what", "privacy", "how", "")
_KEY = "told"  # of the metadata of a field
_DOCSTRING_WIDTH = 108  # of a line, with its indent


@dataclass(frozen=True, kw_only=True)
class FieldWords:
    """The help of a field of a question.

    Parameters
    ----------
    help
        The meaning of the field, in a wording for Python and one for the command line.
    form, group, metavar
        The form of the value on a command line, the heading of the option, and the placeholder of its value.
    choices, option
        The allowed texts, where the field has a short list; the name of the option, where it differs from the field's.
    functions
        The names of the functions that take the field; empty for all functions of its question.
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


def told_field(text: str | Message, *, default: Any = None, functions: str = "", **words: Any) -> Any:
    """Return a dataclass field with its help, a template of a message; `functions` are names with spaces between."""
    text = build_message(text) if isinstance(text, str) else text
    # In the metadata, which dataclasses keep and ignore: the field stays an ordinary field.
    entry = FieldWords(help=text, functions=frozenset(functions.split()), **words)
    return field(default=default, metadata={_KEY: entry})


def question_fields(question: type, function: str = "") -> Iterator[tuple[Field[Any], FieldWords]]:
    """Yield the fields of a question that a function takes, with their help, group by group.

    `function` is the name of a function, or several names with spaces between them; empty for all fields.
    """
    names = frozenset(function.split())
    pairs = [(entry, entry.metadata[_KEY]) for entry in fields(question) if _KEY in entry.metadata]
    for question_field, words in sorted(pairs, key=lambda pair: _GROUP_ORDER.index(pair[1].group)):
        # A field without functions belongs to all functions of its question.
        if not names or not words.functions or names & words.functions:
            yield question_field, words


def default_of(question_field: Field[Any]) -> Any:
    """Return the default of a field; None for a field without default."""
    return None if question_field.default is MISSING else question_field.default


def render_parameters(entries: Mapping[str, str], indent: str) -> str:
    """Return the entries of a "Parameters" section: each name, and below it its text."""
    lines = []
    for name, text in entries.items():
        lines.append(f"{indent}{name}")
        lines += wrap(text, _DOCSTRING_WIDTH, initial_indent=f"{indent}    ", subsequent_indent=f"{indent}    ")
    return "\n".join(lines)


def field_texts(question: type) -> dict[str, str]:
    """Return the help text of each field of a question, by the name of the field."""
    return {question_field.name: str(words.help) for question_field, words in question_fields(question)}
