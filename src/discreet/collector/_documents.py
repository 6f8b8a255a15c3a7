"""The signed texts of a study: the study itself, and each question. What is signed is the text, byte for byte.

`docs/wire.md` has the fields. A text is made once and stored; nothing is ever written anew from its parts, so that what
a device has seen stays what it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ..local.device import QUESTION, STUDY
from ..local.study import Ask
from ._signing import Signer
from ._study_file import StudyPlan


@dataclass(frozen=True, kw_only=True)
class SignedText:
    """A text with its signature, as hexadecimal digits."""

    text: str
    signature: str

    @classmethod
    def of(cls, purpose: bytes, text: str, signer: Signer) -> SignedText:
        """Return a text signed for one purpose."""
        return cls(text=text, signature=signer.sign(purpose + text.encode()))


def study_id(text: str) -> str:
    """Return the id of a study: 32 hexadecimal digits of the hash of its text."""
    return sha256(text.encode()).hexdigest()[:32]


def study_document(plan: StudyPlan, signer: Signer) -> SignedText:
    """Return the study as it is published."""
    told = {
        "format": 1 if plan.hierarchy is None else 2,
        "name": plan.name,
        "title": plan.title,
        "asks": plan.asks,
        "protocol": plan.protocol,
        "settings": {name: _plain(value) for name, value in plan.settings.items()},
        "top": plan.top,
        "least": plan.least,
        "epsilon": plan.epsilon,
        "delta": plan.delta,
        "items": None if plan.led.unlisted else list(plan.asked),
        "pairs": plan.pairs,
        "rounds": None,
        "who": plan.who,
        "key": signer.key,
    }
    if plan.hierarchy is not None:
        told |= {"held": list(plan.items), "become": [codes.tolist() for codes in plan.become]}
    return SignedText.of(STUDY, _written(told), signer)


def question_document(ask: Ask, study: str, number: int, expires: int | None, signer: Signer) -> SignedText:
    """Return a question as it is published, for the study of that id."""
    told = {
        "format": 1,
        "study": study,
        "round": number,
        "who": [ask.who.start, ask.who.stop],
        "expires": expires,
        "question": ask.form,
    }
    return SignedText.of(QUESTION, _written(told), signer)


def _plain(value: Any) -> Any:
    """Return a setting without broken numbers: devices read whole ones only, and these as text."""
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return repr(value) if isinstance(value, float) else value


def _written(told: Mapping[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))
