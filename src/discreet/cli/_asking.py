"""The options of a question, built of the fields of its class: a command and a function share names and help.

`question_options` returns a group of options for a class of questions (see `_groups`). An option that is not on the
command line is None, so that a question file keeps its own value; the help shows the default of the field.
"""

from __future__ import annotations

from dataclasses import Field, fields, make_dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from ..errors import OPTIONS, MisuseError
from ..publish import FieldWords, PrivacyQuestion, Question, default_of, question_fields
from . import options
from ._parsing import parse_public_items, parse_settings, read_public_list

PRIVACY = "What may be lost, and who pays"
_PANELS = {"what": options.WHAT, "how": options.HOW, "privacy": PRIVACY, "": None}
# typer refuses a text that is not of the type, with the usage line, before discreet parses it.
_TYPES: dict[str, Any] = {
    "text": str,
    "whole": int,
    "texts": list[str],
    "pairs": list[str],
    "flag": bool,
    "switch": bool,
    "file": Path,
}
# Two ways to list segments: one by one on the command line, or in a file.
_SEGMENT = options.option(
    "One value of --by, for a public list of them. Can be given again.", options.HOW, metavar="VALUE"
)
_QUESTION_FILE = options.option(
    "A file with the question, as --print-question writes it. Options that are typed go before it.",
    None,
    "--question",
    metavar="FILE.toml",
)
_PRINT_QUESTION = options.option("Print the question as a file has it, and do nothing else.", None, "--print-question")


class QuestionOptions:
    """The options of a class of questions; None for an option that is not on the command line."""

    kind: ClassVar[type[PrivacyQuestion]]

    def values(self) -> dict[str, Any]:
        """Return the values of the options by the names of the fields, converted to the types of the fields."""
        values = {option.name: getattr(self, option.name) for option in fields(self)}  # type: ignore[arg-type]
        if "segment" in values:
            values["segments"] = _read_segments(values.pop("segment"), values["segments"])
        elif values.get("labels") is not None:
            labels = read_public_list(values["labels"], "labels")
            # A table has its labels as text, and so must the list, also where all labels of the file are integers.
            values["labels"] = list(map(str, labels)) if isinstance(labels, list) else labels
        # Two options have a form of their own on the command line; the class of the question checks all values.
        for name, parse in (("items", parse_public_items), ("settings", parse_settings)):
            if values.get(name) is not None:
                values[name] = parse(values[name])
        # An absent option must not replace the value of a question file.
        return {name: value for name, value in values.items() if value is not None}

    def question(self, **values: Any) -> Any:
        """Return the question of the options, checked; `values` are further fields."""
        return self.kind(**self.values() | values)

    def paths(self) -> list[Path | str | None]:
        """Return the paths of the files that the question is read from; None for an absent option."""
        # A result written over an input would lose the question that it answers.
        return [getattr(self, name, None) for name in ("items", "hierarchy", "segments", "labels", "question_file")]


class FileQuestionOptions(QuestionOptions):
    """The options of a question that may be kept in a file."""

    question_file: Path | None
    print_question: bool | None

    def values(self) -> dict[str, Any]:
        """Return the values of the options by the names of the fields, converted to the types of the fields."""
        values = super().values()
        return {name: values[name] for name in values if name not in ("question_file", "print_question")}

    def question(self, **values: Any) -> Question:
        """Return the question of the options, or of a file with the options replacing its values."""
        values = self.values() | values
        return Question(**values) if self.question_file is None else Question.from_file(self.question_file, **values)


def question_options(
    question: type[PrivacyQuestion], function: str = "", leave_out: tuple[str, ...] = (), in_file: bool = False
) -> Any:
    """Return a group (a dataclass) with an option for each field of a class of questions.

    Parameters
    ----------
    question
        The class of questions.
    function
        The name of a function, for its fields alone; empty for all fields.
    leave_out
        Names of fields that the command reads from elsewhere.
    in_file
        Whether a question file may hold the question.
    """
    members = [
        (field.name, _option_type(words), build_question_option(field, words))
        for field, words in question_fields(question, function)
        if field.name not in leave_out
    ]
    if in_file:
        # Beside --segments, which it is an alternative to: the help lists options in this order.
        position = [name for name, *_ in members].index("segments")
        members.insert(position, ("segment", list[str] | None, _SEGMENT))
        members += [("question_file", Path | None, _QUESTION_FILE), ("print_question", bool | None, _PRINT_QUESTION)]
    # The base class gives type checkers the attributes, as the fields are known at run time alone.
    bases = (FileQuestionOptions if in_file else QuestionOptions,)
    return make_dataclass(
        f"{question.__name__}Options", members, bases=bases, frozen=True, namespace={"kind": question}
    )


def pattern_option(name: str) -> Any:
    """Return the option for a field of a release question, for commands that mine exactly."""
    return next(build_question_option(*entry) for entry in question_fields(Question) if entry[0].name == name)


def build_question_option(field: Field[Any], words: FieldWords) -> Any:
    """Return the option for a field of a question; None stands for an absent option."""
    # A switch has two names, --scores and --no-scores; a flag has one.
    names = [words.option or OPTIONS.get(field.name, f"--{field.name.replace('_', '-')}")]
    if words.form == "switch" and not words.option:
        names = [f"{names[0]}/--no-{names[0].removeprefix('--')}"]
    default = default_of(field)
    default_text = {True: names[0].partition("/")[0].removeprefix("--"), False: "no"}.get(default, default)
    text = words.help.typed.replace("[", "\\[")  # rich would read [x] as markup
    help_text = f"{text}  \\[default: {default_text}]" if words.shows_default else text
    parser = options.parse_whole_number if words.form == "whole" else None
    return options.option(help_text, _PANELS[words.group], *names, metavar=words.metavar or None, parser=parser)


def _option_type(words: FieldWords) -> Any:
    return (Literal[words.choices] if words.choices else _TYPES[words.form]) | None


def _read_segments(texts: list[str] | None, source: str | None) -> Any:
    """Return the public list of segments: of texts on the command line, of a file, or the word `public`."""
    if source is None:
        from ..baskets import parse_items

        return parse_items(texts or []) or None
    if texts:
        raise MisuseError("Give the segments by --segment, one by one, or by --segments, in a file: not by both.")
    return read_public_list(source, "segments")
