"""A round from its text alone: for readers of reports without the protocol of the round.

The oracle is made anew from the numbers of the text, and must describe itself by equal numbers. The question stays as
it is written: reports are added up without it, and no device is asked it again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from ...baskets import Baskets
from ...errors import InputError, MisuseError
from .. import MeanOracle, Oracle
from ..device import WORD
from ..oracle_steps import means, oracles
from ._conversation import Ask, PeopleGroup
from ._pair_questions import KeyQuestion, NumberQuestion
from ._questions import (
    CandidateQuestion,
    CellQuestion,
    DeviceQuestion,
    HeldValues,
    PersonNumbers,
    PrefixQuestion,
    SizeQuestion,
)

_ASK_FIELDS = ("format", "epsilon", "delta", "oracle")  # the fields that an `Ask` adds to its question
_KINDS: dict[str, type[DeviceQuestion]] = {
    kind.ask: kind
    for kind in (CandidateQuestion, SizeQuestion, PrefixQuestion, CellQuestion, KeyQuestion, NumberQuestion)
}


@dataclass(frozen=True, eq=False)
class WrittenQuestion(DeviceQuestion):
    """A question as it is written, with several values per answer."""

    ask: ClassVar[str] = ""
    single: ClassVar[bool] = False
    written: Mapping[str, Any]

    @property
    def values(self) -> int:
        """The number of candidates of its oracle."""
        return int(self.written["oracle"].get("size", 1))

    def form(self) -> dict[str, Any]:
        """Return the question's JSON form, without its oracle."""
        return {name: value for name, value in self.written.items() if name not in _ASK_FIELDS}

    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Raise an error: the question was answered before."""
        raise MisuseError("A question that is read from its text is not asked anew.")


@dataclass(frozen=True, eq=False)
class WrittenChoice(WrittenQuestion):
    """A question as it is written, with one value per answer."""

    single: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class WrittenNumber(WrittenChoice):
    """A question for a number, as it is written."""

    number: ClassVar[bool] = True


def parse_round(text: str | bytes | Mapping[str, Any]) -> Ask:
    """Return a round from its text, as `Ask.text` writes it, or from the question alone, as devices read it.

    Examples
    --------
    >>> from discreet.local.study._questions import CandidateList, CandidateQuestion
    >>> ask = Ask.of("which item", PeopleGroup(0, 2**31), CandidateQuestion(CandidateList(30)), "olh", Fraction(1))
    >>> parse_round(ask.text()).text() == ask.text(), parse_round(ask.form).oracle == ask.oracle
    (True, True)
    """
    try:
        form = json.loads(text) if isinstance(text, str | bytes) else text
        name, group = (form["name"], PeopleGroup(*form["who"])) if "question" in form else ("", PeopleGroup(0, WORD))
        question = form.get("question", form)
        kind = _written_kind(question)
        ask = Ask(name=name, group=group, question=kind(question), oracle=_parse_oracle(question, kind.single))
        is_equal = ask.form == question
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            "This is no question of a round: give the JSON that `discreet study reports` writes beside the reports, or "
            "the question as devices were asked it."
        ) from None
    if not is_equal:
        raise _other_numbers(str(question["oracle"].get("oracle")))
    return ask


def _written_kind(question: Mapping[str, Any]) -> type[WrittenQuestion]:
    kind = _KINDS[question["ask"]]
    return WrittenNumber if kind.number else WrittenChoice if kind.single else WrittenQuestion


def _parse_oracle(question: Mapping[str, Any], single: bool) -> Oracle | MeanOracle:
    form, epsilon = question["oracle"], Fraction(question["epsilon"])
    name = form["oracle"]
    oracle: Oracle | MeanOracle
    if name in means():
        oracle = means()[name].make(epsilon, form["span"])
    elif name in oracles():
        oracle = oracles()[name].make(epsilon, form["size"], pad=form["pad"], single=single)
    else:
        raise InputError(f"There is no oracle {name!r:.40} here; there are {', '.join([*oracles(), *means()])}.")
    oracle = oracle.as_asked(form)
    if oracle.form != form:
        raise _other_numbers(name)
    return oracle


def _other_numbers(name: str) -> InputError:
    return InputError(
        f"The question has other numbers than {name} makes here: add its reports up with the version of discreet that "
        "it was asked with."
    )
