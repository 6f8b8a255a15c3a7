"""The signed documents of a service, as a device reads them: a study, and its questions. Standard library only.

A device checks here everything that follows from the texts and from its memory, before it looks at its basket. Each
refusal is a `ValueError` with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from ._becoming import recode_basket
from ._ed25519 import is_signature
from ._limits import MOST_QUESTION
from ._loss import WORD, is_whole
from ._trust import Limit, check_within, parse_budget, parse_json

SeenRound: TypeAlias = tuple[int, int, int, str]  # round, start and stop of its device numbers, hash

MOST_QUESTIONS = 4096  # in one answer; larger: a service could keep a device busy with more signatures
MOST_STUDY = 8 * MOST_QUESTION  # bytes: the list of all items is longer than a question about it
# Levels of lists and objects. Chosen: documents have four, and Python's parser ends at about a thousand.
MOST_NESTED = 64
STUDY, QUESTION = b"discreet study 1\n", b"discreet question 1\n"  # the beginnings of signed messages

_HEX = re.compile("([0-9a-f]{2})*")
_NAME = re.compile("[a-z0-9][a-z0-9-]{0,62}")
UNSIGNED = "The {document} is not signed by the key of this study."
OTHER_FORMAT = "The {document} is not written as format 1 has it."


class StudyText(NamedTuple):
    """A checked study: its id, its text, its key, its name, its limits, and all fields of its text."""

    id: str
    text: str
    key: str
    name: str
    epsilon: Fraction
    delta: Fraction
    fields: Mapping[str, Any]

    @property
    def device_items(self) -> Sequence[str] | None:
        """The names of the items that a device may hold, in the order of their numbers; None without a list."""
        names: Sequence[str] | None = self.fields["held" if self.fields["format"] == 2 else "items"]
        return names

    def recode(self, basket: Iterable[int]) -> list[int]:
        """Return the basket that a device answers for: in a study with a hierarchy, recoded by its table."""
        return recode_basket(basket, self.fields["become"]) if self.fields["format"] == 2 else list(basket)


class QuestionText(NamedTuple):
    """A checked question: its round, the numbers asked, its end, its text with its hash, and the question itself.

    A device with a number from `start` to before `stop` is asked. `expires` is in seconds since 1970; None is never.
    """

    round: int
    start: int
    stop: int
    expires: int | None
    hash: str
    text: str
    question: Mapping[str, Any]


def check_name(name: str) -> str:
    """Return the name of a study, which is part of links, addresses and paths: other characters are refused."""
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise ValueError(
            f"The name of a study is small letters, digits and dashes, 63 at most; {name!r:.80} was given."
        )
    return name


def parse_study(
    answer: Any, name: str, *, key: str | None, max_epsilon: Limit, max_delta: Limit = 0, known: str | None = None
) -> StudyText:
    """Return the study in the answer of a service, or refuse it.

    Parameters
    ----------
    answer
        The answer, read from JSON.
    name
        The name of the expected study.
    key
        The key of its signature, as hexadecimal digits; None to trust the key in the answer, once.
    max_epsilon, max_delta
        The limits of the owner of the device.
    known
        The text of the study that was checked before, if any: it does not change.
    """
    text, signature, answer_key = (_read_field(answer, field, "study") for field in ("study", "signature", "key"))
    if key is not None and answer_key != key:
        raise ValueError("The study comes with another key than this device knows for it.")
    if known is not None and text != known:
        raise ValueError("The study says something else than it did when this device joined it.")
    # A study with a known text had its signature checked when the device joined.
    if known is None and not _is_signed(answer_key, STUDY, text, signature):
        raise ValueError(UNSIGNED.format(document="study"))
    fields = _parse_document(text, "study")
    epsilon, delta = parse_budget(fields, "epsilon"), parse_budget(fields, "delta", "0")
    fits = all(field in fields and is_valid(fields[field]) for field, is_valid in _FIELDS.items())
    fits = fits and (fields["format"] == 1 or _has_item_table(fields))
    if not fits or fields.get("name") != check_name(name) or fields.get("key") != answer_key:
        raise ValueError(OTHER_FORMAT.format(document="study"))
    check_within("study", epsilon, delta, max_epsilon, max_delta)
    return StudyText(sha256(text.encode()).hexdigest()[:32], text, answer_key, name, epsilon, delta, fields)


def parse_questions(answer: Any, study: StudyText, seen: Collection[SeenRound] = ()) -> tuple[str, list[QuestionText]]:
    """Return the state of a study and its questions, each signed and of this study, or refuse all questions.

    Two rounds with a device in common, or two questions of one round, are refused: a device would be asked twice.

    Parameters
    ----------
    answer
        The answer of the service, read from JSON.
    study
        The checked study.
    seen
        The rounds of earlier answers: a round that changed is refused.
    """
    state = _read_field(answer, "state", "answer")
    entries = answer.get("questions") if isinstance(answer, Mapping) else None
    if not isinstance(entries, list) or len(entries) > MOST_QUESTIONS:
        raise ValueError(OTHER_FORMAT.format(document="answer"))
    known_hashes = {digest for _, _, _, digest in seen}
    questions = [_parse_question(entry, study, known_hashes) for entry in entries]
    _check_rounds(seen, questions)
    return state, questions


def _parse_question(entry: Any, study: StudyText, known_hashes: set[str]) -> QuestionText:
    text, signature = (_read_field(entry, name, "question") for name in ("question", "signature"))
    digest = sha256(text.encode(errors="replace")).hexdigest()
    # The signature takes longest of all checks, and a text with a known hash had one.
    if digest not in known_hashes and not _is_signed(study.key, QUESTION, text, signature):
        raise ValueError(UNSIGNED.format(document="question"))
    fields = _parse_document(text, "question")
    numbers, expires, question = fields.get("who"), fields.get("expires"), fields.get("question")
    round_number: Any = fields.get("round")
    if fields.get("study") != study.id:
        raise ValueError("The question belongs to another study.")
    if (
        not isinstance(numbers, list)
        or len(numbers) != 2
        or not all(map(is_whole, numbers))
        or not 0 <= numbers[0] < numbers[1] <= WORD
        or not is_whole(round_number)
        or not 0 <= int(round_number) < WORD
        or "expires" not in fields
        or not (expires is None or is_whole(expires))
        or not isinstance(question, Mapping)
    ):
        raise ValueError(OTHER_FORMAT.format(document="question"))
    if parse_budget(question, "epsilon") > study.epsilon or parse_budget(question, "delta", "0") > study.delta:
        raise ValueError("The question asks for more than its study says.")
    if question.get("pairs", "folded") not in ("folded", study.fields["pairs"]):
        raise ValueError("The question is about other relations than its study says.")
    items = study.fields["items"]
    if (items is None) is not ("texts" in question):
        raise ValueError("The question is about texts, and its study is about a list of items; or the other way round.")
    if items is not None and any(item >= len(items) for item in _list_items(question)):
        raise ValueError("The question is about items that are not on the list of its study.")
    return QuestionText(round_number, numbers[0], numbers[1], expires, digest, text, question)


def _list_items(question: Mapping[str, Any]) -> Iterable[int]:
    """Yield the items that a question lists, or the last item of a question about all items below a number.

    Malformed entries are skipped: the question is refused before it is answered.
    """
    if is_whole(question.get("of")):
        yield question["of"] - 1
    for name in ("of", "order"):
        for entry in question[name] if isinstance(question.get(name), list) else ():
            yield from filter(is_whole, entry if isinstance(entry, list) else [entry])


def _check_rounds(known_rounds: Iterable[SeenRound], questions: list[QuestionText]) -> None:
    """Check that no known round changed, and that no two rounds have a device number in common."""
    rounds = {entry[0]: entry for entry in known_rounds}
    for question in questions:
        entry = (question.round, question.start, question.stop, question.hash)
        if rounds.setdefault(question.round, entry) != entry:
            raise ValueError("A round of the study asks something else than it did before.")
    # Sorted by their starts, intervals are disjoint if each ends before the next begins.
    intervals = sorted((start, stop) for _, start, stop, _ in rounds.values())
    if any(stop > start for (_, stop), (start, _) in pairwise(intervals)):
        raise ValueError("Two rounds of the study ask the same people.")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_text_list(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_count(value: Any) -> bool:
    return is_whole(value) and int(value) >= 1


# The required fields of a study beside its name, key and epsilon, each with its check.
_FIELDS: dict[str, Callable[[Any], bool]] = {
    "title": _is_text,
    "asks": _is_text,
    "protocol": _is_text,
    "settings": lambda value: isinstance(value, Mapping),
    "top": _is_count,
    "least": _is_count,
    "delta": _is_text,
    "items": lambda value: value is None or _is_text_list(value),
    "pairs": lambda value: value in ("none", "given", "after", "together"),
    "rounds": lambda value: value is None or _is_count(value),
    "who": lambda value: value in ("tokens", "anyone"),
}


def _has_item_table(fields: Mapping[str, Any]) -> bool:
    """Return whether a study of format 2 lists, for each item that a device may hold, its numbers on its list."""
    items, held_items, table = (fields.get(name) for name in ("items", "held", "become"))
    return (
        isinstance(items, list)
        and fields["pairs"] in ("none", "together")
        and isinstance(held_items, list)
        and _is_text_list(held_items)
        and isinstance(table, list)
        and len(table) == len(held_items)
        and all(isinstance(row, list) and _is_ascending(row, len(items)) for row in table)
    )


def _is_ascending(numbers: list[Any], end: int) -> bool:
    """Return whether a list has integers from 0 to before `end`, strictly ascending."""
    return all(map(is_whole, numbers)) and all(low < high for low, high in pairwise([-1, *numbers, end]))


def _read_field(answer: Any, name: str, document: str) -> str:
    value = answer.get(name) if isinstance(answer, Mapping) else None
    if not isinstance(value, str):
        raise ValueError(OTHER_FORMAT.format(document=document))
    return value


def _is_signed(key: str, purpose: bytes, text: str, signature: str) -> bool:
    if _HEX.fullmatch(key) is None or _HEX.fullmatch(signature) is None:
        return False
    return is_signature(bytes.fromhex(key), purpose + text.encode(errors="replace"), bytes.fromhex(signature))


def _parse_document(text: str, document: str) -> Mapping[str, Any]:
    try:
        fields = parse_json(text, most=MOST_STUDY if document == "study" else MOST_QUESTION, depth=MOST_NESTED)
        formats = (1, 2) if document == "study" else (1,)  # a study of format 2 has a table of items
        if not isinstance(fields, Mapping) or not is_whole(fields.get("format")) or fields["format"] not in formats:
            raise ValueError
    except ValueError:
        raise ValueError(OTHER_FORMAT.format(document=document)) from None
    return fields
