"""What a service signs, as a device reads it: a study, and its questions. Standard library only.

Everything is checked here that can be told from the texts and from what the device remembers, before it looks at its
basket. Each refusal is a `ValueError` that says why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from ._becoming import becomes
from ._ed25519 import verified
from ._limits import MOST_QUESTION
from ._loss import WORD, whole
from ._trust import Limit, number_of, parsed, within

Seen: TypeAlias = tuple[int, int, int, str]  # a round, whom it asks, and the hash of its question

MOST_QUESTIONS = 4096  # that are asked at once
MOST_STUDY = 8 * MOST_QUESTION  # bytes: a list of items is longer than what is asked about it
MOST_NESTED = 64  # lists and objects within each other, around a question and in a study
STUDY, QUESTION = b"discreet study 1\n", b"discreet question 1\n"

_HEX = re.compile("([0-9a-f]{2})*")
_NAME = re.compile("[a-z0-9][a-z0-9-]{0,62}")
UNSIGNED = "The {what} is not signed by the key of this study."
OTHER_FORMAT = "The {what} is not written as format 1 has it."


class StudyText(NamedTuple):
    """A study that was checked: its id, what it is called and asks, its items and limits, and its key."""

    id: str
    text: str
    key: str
    name: str
    epsilon: Fraction
    delta: Fraction
    told: Mapping[str, Any]

    @property
    def held(self) -> Sequence[str] | None:
        """The names of what a device may hold, in the order of its numbers; None where there is no list."""
        named: Sequence[str] | None = self.told["held" if self.told["format"] == 2 else "items"]
        return named

    def becomes(self, basket: Iterable[int]) -> list[int]:
        """Return what a device answers for that holds this: in a study with a hierarchy, also what stands above it."""
        return becomes(basket, self.told["become"]) if self.told["format"] == 2 else list(basket)


class QuestionText(NamedTuple):
    """A question that was checked: its round, whom it asks, until when, its text with its hash, and what is asked."""

    round: int
    start: int
    stop: int
    expires: int | None
    hash: str
    text: str
    question: Mapping[str, Any]


def checked_name(name: str) -> str:
    """Return the name of a study. It comes in links, and is part of an address and of a path: nothing else passes."""
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise ValueError(
            f"The name of a study is small letters, digits and dashes, 63 at most; {name!r:.80} was given."
        )
    return name


def study_of(
    answer: Any, name: str, *, key: str | None, max_epsilon: Limit, max_delta: Limit = 0, known: str | None = None
) -> StudyText:
    """Return a study from the answer of a service, or refuse it.

    Parameters
    ----------
    answer
        What came, read from JSON.
    name
        The study that was asked for.
    key
        The key it has to be signed with, as hexadecimal digits; None to take that which comes with it, once.
    max_epsilon, max_delta
        What the owner of the device allows.
    known
        The text of the study that was checked before, if any: it does not change.
    """
    text, signature, given = (_field(answer, one, "study") for one in ("study", "signature", "key"))
    if key is not None and given != key:
        raise ValueError("The study comes with another key than this device knows for it.")
    if known is not None and text != known:
        raise ValueError("The study says something else than it did when this device joined it.")
    if known is None and not _signed(given, STUDY, text, signature):
        raise ValueError(UNSIGNED.format(what="study"))
    told = _read(text, "study")
    epsilon, delta = number_of(told, "epsilon"), number_of(told, "delta", "0")
    fits = all(name in told and fit(told[name]) for name, fit in _FIELDS.items())
    fits = fits and (told["format"] == 1 or _tells_levels(told))
    if not fits or told.get("name") != checked_name(name) or told.get("key") != given:
        raise ValueError(OTHER_FORMAT.format(what="study"))
    within("study", epsilon, delta, max_epsilon, max_delta)
    return StudyText(sha256(text.encode()).hexdigest()[:32], text, given, name, epsilon, delta, told)


def questions_of(answer: Any, study: StudyText, seen: Collection[Seen] = ()) -> tuple[str, list[QuestionText]]:
    """Return the state of a study and its questions, each signed and of this study, or refuse them all.

    Rounds that have a number of devices in common, or two questions under one round, are refused: somebody would be
    asked twice. So are those that do not fit to what was `seen`: round, who and hash of each question before.
    """
    state = _field(answer, "state", "answer")
    listed = answer.get("questions") if isinstance(answer, Mapping) else None
    if not isinstance(listed, list) or len(listed) > MOST_QUESTIONS:
        raise ValueError(OTHER_FORMAT.format(what="answer"))
    known = {one[3] for one in seen}
    asked = [_question(one, study, known) for one in listed]
    _apart(seen, asked)
    return state, asked


def _question(one: Any, study: StudyText, known: set[str]) -> QuestionText:
    text, signature = (_field(one, name, "question") for name in ("question", "signature"))
    digest = sha256(text.encode(errors="replace")).hexdigest()
    # A text that was checked before need not be checked again, which takes longest of all.
    if digest not in known and not _signed(study.key, QUESTION, text, signature):
        raise ValueError(UNSIGNED.format(what="question"))
    told = _read(text, "question")
    who, expires = told.get("who"), told.get("expires")
    number: Any = told.get("round")
    if told.get("study") != study.id:
        raise ValueError("The question belongs to another study.")
    if (
        not isinstance(who, list)
        or len(who) != 2
        or not all(map(whole, who))
        or not 0 <= who[0] < who[1] <= WORD
        or not whole(number)
        or not 0 <= int(number) < WORD
        or "expires" not in told
        or not (expires is None or whole(expires))
        or not isinstance(told.get("question"), Mapping)
    ):
        raise ValueError(OTHER_FORMAT.format(what="question"))
    asked = told["question"]
    if number_of(asked, "epsilon") > study.epsilon or number_of(asked, "delta", "0") > study.delta:
        raise ValueError("The question asks for more than its study says.")
    if asked.get("pairs", "folded") not in ("folded", study.told["pairs"]):
        raise ValueError("The question is about other relations than its study says.")
    listed = study.told["items"]
    if (listed is None) is not ("texts" in asked):
        raise ValueError("The question is about texts, and its study is about a list of items; or the other way round.")
    if listed is not None and any(one >= len(listed) for one in _named(asked)):
        raise ValueError("The question is about items that are not on the list of its study.")
    return QuestionText(number, who[0], who[1], expires, digest, text, asked)


def _named(asked: Mapping[str, Any]) -> Iterable[int]:
    """Yield the items that a question names, and the last where it is about all below a number.

    Of what is not written as a question is, nothing is looked at: it is refused before it is answered.
    """
    if whole(asked.get("of")):
        yield asked["of"] - 1
    for name in ("of", "order"):
        for one in asked[name] if isinstance(asked.get(name), list) else ():
            yield from filter(whole, one if isinstance(one, list) else [one])


def _apart(seen: Iterable[Seen], asked: list[QuestionText]) -> None:
    known: dict[int, Seen] = {one[0]: one for one in seen}
    for one in asked:
        mine = (one.round, one.start, one.stop, one.hash)
        if known.setdefault(one.round, mine) != mine:
            raise ValueError("A round of the study asks something else than it did before.")
    intervals = sorted((start, stop) for _, start, stop, _ in known.values())
    if any(stop > start for (_, stop), (start, _) in pairwise(intervals)):
        raise ValueError("Two rounds of the study ask the same people.")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return whole(value) and int(value) >= 1


# What a study says beside its name, its key and what is checked as a number: each field has to be there.
_FIELDS: dict[str, Callable[[Any], bool]] = {
    "title": _is_text,
    "asks": _is_text,
    "protocol": _is_text,
    "settings": lambda value: isinstance(value, Mapping),
    "top": _is_count,
    "least": _is_count,
    "delta": _is_text,
    "items": lambda value: value is None or (isinstance(value, list) and all(map(_is_text, value))),
    "pairs": lambda value: value in ("none", "given", "after", "together"),
    "rounds": lambda value: value is None or _is_count(value),
    "who": lambda value: value in ("tokens", "anyone"),
}


def _tells_levels(told: Mapping[str, Any]) -> bool:
    """Return whether a study says of everything that a device may hold which items of its list it becomes."""
    items, held, become = (told.get(name) for name in ("items", "held", "become"))
    return (
        isinstance(items, list)
        and told["pairs"] in ("none", "together")
        and isinstance(held, list)
        and all(map(_is_text, held))
        and isinstance(become, list)
        and len(become) == len(held)
        and all(isinstance(one, list) and _rises(one, len(items)) for one in become)
    )


def _rises(numbers: list[Any], end: int) -> bool:
    """Return whether these are whole numbers from 0 to before the end, each larger than the one before."""
    if not all(map(whole, numbers)):
        return False
    return all(one < other for one, other in pairwise([-1, *numbers, end]))


def _field(answer: Any, name: str, what: str) -> str:
    value = answer.get(name) if isinstance(answer, Mapping) else None
    if not isinstance(value, str):
        raise ValueError(OTHER_FORMAT.format(what=what))
    return value


def _signed(key: str, purpose: bytes, text: str, signature: str) -> bool:
    if _HEX.fullmatch(key) is None or _HEX.fullmatch(signature) is None:
        return False
    return verified(bytes.fromhex(key), purpose + text.encode(errors="replace"), bytes.fromhex(signature))


def _read(text: str, what: str) -> Mapping[str, Any]:
    try:
        told = parsed(text, most=MOST_STUDY if what == "study" else MOST_QUESTION, depth=MOST_NESTED)
        spoken = (1, 2) if what == "study" else (1,)  # a study in format 2 says what items become
        if not isinstance(told, Mapping) or not whole(told.get("format")) or told["format"] not in spoken:
            raise ValueError
    except ValueError:
        raise ValueError(OTHER_FORMAT.format(what=what)) from None
    return told
