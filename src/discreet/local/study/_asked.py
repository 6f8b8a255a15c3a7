"""A round as it was asked, from its text alone: for whoever has its reports, and not the protocol that asked it.

The oracle is made anew from the numbers that travelled, and has to say the same about itself. What the question was
about stays as it is written: nobody can be asked it anew, and reports are added up without it.
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
from ..oracle_steps import means, oracles
from ._conversation import Ask, Who
from ._pair_questions import NumberQuestion, Valued
from ._questions import BinnedCount, CellOfBlock, DeviceQuestion, HeldValues, PersonNumbers, Prefix, Which

_AROUND = ("format", "epsilon", "delta", "oracle")  # what an `Ask` puts around a question
_ALL = Who(0, 1 << 32)
_KINDS: dict[str, type[DeviceQuestion]] = {
    one.ask: one for one in (Which, BinnedCount, Prefix, CellOfBlock, Valued, NumberQuestion)
}


@dataclass(frozen=True, eq=False)
class AskedQuestion(DeviceQuestion):
    """A question that was asked, as it is written."""

    ask: ClassVar[str] = ""
    single: ClassVar[bool] = False
    written: Mapping[str, Any]

    @property
    def values(self) -> int:
        """As many as its oracle has candidates."""
        return int(self.written["oracle"].get("size", 1))

    def form(self) -> dict[str, Any]:
        """Return the question as it travelled, without its oracle."""
        return {name: value for name, value in self.written.items() if name not in _AROUND}

    def answers(self, baskets: Baskets, people: PersonNumbers) -> HeldValues:
        """Refuse: it was answered before."""
        raise MisuseError("A question that is read from its text is not asked anew.")


@dataclass(frozen=True, eq=False)
class AskedForOne(AskedQuestion):
    """A question that was asked, to which everybody answers with one value."""

    single: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class AskedNumber(AskedForOne):
    """A question that was asked for a number."""

    number: ClassVar[bool] = True


def asked(text: str | bytes | Mapping[str, Any]) -> Ask:
    """Return a round from its text: as `Ask.text` writes it, or the question alone, as it travels to devices.

    Examples
    --------
    >>> from discreet.local.study._questions import CandidateList, Which
    >>> ask = Ask.of("which item", Who(0, 2**31), Which(CandidateList(30)), "olh", Fraction(1))
    >>> asked(ask.text()).text() == ask.text(), asked(ask.form).oracle == ask.oracle
    (True, True)
    """
    try:
        told = json.loads(text) if isinstance(text, str | bytes) else text
        name, who = (told["name"], Who(*told["who"])) if "question" in told else ("", _ALL)
        question = told.get("question", told)
        kind, oracle = _kind(question), _oracle(question)
        made = Ask(name=name, who=who, question=kind(question), oracle=oracle)
        right = made.form == question
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            "This is no question of a round: give the JSON that `discreet study reports` writes beside the reports, or "
            "the question as devices were asked it."
        ) from None
    if not right:
        raise _other(str(question["oracle"].get("oracle")))
    return made


def _kind(question: Mapping[str, Any]) -> type[AskedQuestion]:
    """Return how a question is answered, by what it asks."""
    found = _KINDS[question["ask"]]
    return AskedNumber if found.number else AskedForOne if found.single else AskedQuestion


def _oracle(question: Mapping[str, Any]) -> Oracle | MeanOracle:
    form, epsilon = question["oracle"], Fraction(question["epsilon"])
    name = form["oracle"]
    made: Oracle | MeanOracle
    if name in means():
        made = means()[name].make(epsilon, form["span"])
    elif name in oracles():
        made = oracles()[name].make(epsilon, form["size"], pad=form["pad"], single=_kind(question).single)
    else:
        raise InputError(f"There is no oracle {name!r:.40} here; there are {', '.join([*oracles(), *means()])}.")
    made = made.as_asked(form)
    if made.form != form:
        raise _other(name)
    return made


def _other(name: str) -> InputError:
    return InputError(
        f"The question has other numbers than {name} makes here: add its reports up with the version of discreet that "
        "it was asked with."
    )
