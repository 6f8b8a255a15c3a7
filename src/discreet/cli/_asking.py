"""The options of a question: made of its fields, so that a command has them under the names and words of Python.

`question_options` returns a group of options for a class of questions (see `groups`). What was not typed is None, so
that a question file keeps its own values; the help shows what a field is by default.
"""

from __future__ import annotations

from dataclasses import Field, fields, make_dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import typer

from ..errors import OPTIONS, MisuseError
from ..publish import FieldWords, PrivacyQuestion, Question, default_of, question_fields
from . import options
from ._parsing import items_of, public_list, settings_of, typed

PRIVACY = "What may be lost, and who pays"
_PANELS = {"what": options.WHAT, "how": options.HOW, "privacy": PRIVACY, "": None}
_TYPES: dict[str, Any] = {
    "text": str,
    "whole": int,
    "texts": list[str],
    "pairs": list[str],
    "flag": bool,
    "switch": bool,
    "file": Path,
}


class QuestionOptions:
    """The options of a class of questions, as they were typed; None for what was not."""

    kind: ClassVar[type[PrivacyQuestion]]

    def values(self) -> dict[str, Any]:
        """Return what was typed as a question takes it, by the names of its fields."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]
        if "segment" in values:
            values["segments"] = _segment_list(values.pop("segment"), values["segments"])
        elif values.get("labels") is not None:
            values["labels"] = _label_list(values["labels"])
        for name, read in (("items", items_of), ("settings", settings_of)):
            if values.get(name) is not None:
                values[name] = read(values[name])
        return {name: value for name, value in values.items() if value is not None}

    def question(self, **others: Any) -> Any:
        """Return the question that was typed, checked, with values that commands know from elsewhere."""
        return self.kind(**self.values() | others)

    def files(self) -> list[Path | str | None]:
        """Return the files that the question is read from."""
        return [getattr(self, name, None) for name in ("items", "hierarchy", "segments", "labels", "question_file")]


class FileQuestionOptions(QuestionOptions):
    """The options of a question that may be kept in a file."""

    question_file: Path | None
    print_question: bool | None

    def values(self) -> dict[str, Any]:
        """Return what was typed as a question takes it, by the names of its fields."""
        return {name: one for name, one in super().values().items() if name not in ("question_file", "print_question")}

    def question(self, **others: Any) -> Question:
        """Return the question that was typed, or that of a file with what was typed in place of its own values."""
        values = self.values() | others
        return Question(**values) if self.question_file is None else Question.from_file(self.question_file, **values)


def question_options(
    question: type[PrivacyQuestion], function: str = "", leave_out: tuple[str, ...] = (), in_file: bool = False
) -> Any:
    """Return a group with an option for each field of a question that a function takes.

    Parameters
    ----------
    question, function
        The class of questions, and the name of the function whose fields are wanted; empty for all fields.
    leave_out
        Fields that the command takes in another way.
    in_file
        Whether the question may be kept in a file too.
    """
    members: list[tuple[str, Any, None]] = [
        (one.name, _option(one, words), None)
        for one, words in question_fields(question, function)
        if one.name not in leave_out
    ]
    if in_file:
        by = next(place for place, option in enumerate(members) if option[0] == "segments")
        members.insert(by, ("segment", options.Segments, None))
        members += [("question_file", options.QuestionFile, None), ("print_question", options.PrintQuestion, None)]
    bases = (FileQuestionOptions if in_file else QuestionOptions,)
    return make_dataclass(
        f"{question.__name__}Options", members, bases=bases, frozen=True, namespace={"kind": question}
    )


def _option(one: Field[Any], words: FieldWords) -> Any:
    """Return the type of the option for a field, as typer takes it."""
    kind = Literal[words.choices] if words.choices else _TYPES[words.form]
    names = [words.option or OPTIONS.get(one.name, f"--{one.name.replace('_', '-')}")]
    if words.form == "switch" and not words.option:
        names = [f"{names[0]}/--no-{names[0].removeprefix('--')}"]
    default = default_of(one)
    shown = {True: names[0].partition("/")[0].removeprefix("--"), False: "no"}.get(default, default)
    text = words.help.typed.replace("[", "\\[")
    more: dict[str, Any] = {"parser": options.parse_whole_number} if words.form == "whole" else {}
    return Annotated[
        kind | None,
        typer.Option(
            *names,
            help=f"{text}  \\[default: {shown}]" if words.shows_default else text,
            metavar=words.metavar or None,
            rich_help_panel=_PANELS[words.group],
            show_default=False,
            **more,
        ),
    ]


def _segment_list(typed_ones: list[str] | None, source: str | None) -> Any:
    """Return the public list of segments: typed one by one, from a file, or by declaration."""
    if source is None:
        return typed(typed_ones) or None
    if typed_ones:
        raise MisuseError("Give the segments by --segment, one by one, or by --segments, in a file: not by both.")
    return public_list(source, "segments")


def _label_list(source: str) -> list[str] | str:
    """Return the public list of labels, as the table has them: as text."""
    listed = public_list(source, "labels")
    return list(map(str, listed)) if isinstance(listed, list) else listed
