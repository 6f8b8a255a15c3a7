"""Resuming a conversation from stored estimates, as a collector does after a restart."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from discreet.local.study import Conversation, Estimate, RoundGenerator


def stored(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as JSON values."""
    values = {"ask": estimate.ask.text(), "people": estimate.people, "supports": estimate.supports.tolist()}
    return json.loads(json.dumps(values))


def replay(talk: RoundGenerator, estimates: Iterable[Mapping[str, Any]], **options: Any) -> Conversation:
    """Return a conversation that has heard all stored estimates, in any order."""
    unheard = {estimate["ask"]: estimate for estimate in estimates}
    conversation = Conversation(talk, **options)
    while unheard:
        if not any(ask.text() in unheard for ask in conversation.open_rounds):
            conversation.restore_rounds(sorted(unheard, key=lambda text: json.loads(text)["who"]))
        answered_rounds = [ask for ask in conversation.open_rounds if ask.text() in unheard]
        assert answered_rounds, f"not asked: {[json.loads(text)['name'] for text in unheard]}"
        for ask in answered_rounds:
            values = unheard.pop(ask.text())
            conversation.hear(Estimate(ask, values["people"], np.asarray(values["supports"], np.int64)))
    return conversation
