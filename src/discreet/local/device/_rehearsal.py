"""How long the longest answer to a question takes on this device. Standard library only.

The moment at which a report is sent must not depend on what is held, so it is chosen beforehand, and later than any
answer could be. How fast a device is nobody can say for it. So it answers the question once for as much as a device
may hold, all of it what the question names, and throws that report away. The time depends on the question and on the
device, and on nothing that is held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, cycle, islice, pairwise
from time import monotonic
from typing import Any

from ._answering import END, MOST_HELD, MOST_SYMBOLS_HELD, OWN
from ._client import client
from ._documents import StudyText

MARGIN = 4
"""How many times as long as the rehearsal took passes before a report is sent: a device may be busier by then."""


def rehearse(question: Mapping[str, Any], study: StudyText, limits: Mapping[str, Any]) -> float:
    """Return the seconds that the answer takes for as much as a device may hold."""
    begun = monotonic()
    if study.told["format"] == 2:
        table = study.told["become"]
        study.becomes(sorted(range(len(table)), key=lambda held: len(table[held]), reverse=True)[:MOST_HELD])
    for own in fullest(question):
        client(question, **own, **limits)
    return monotonic() - begun


def fullest(question: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the largest that may be held: what the question names first, and then numbers that it may not know."""
    if "texts" in question:
        # Many short texts, and few long ones: which takes longer depends on the question.
        for symbols in (1, question["texts"]["length"]):
            yield {"basket": (), "texts": list(_texts(question["texts"], symbols))}
        return
    listed = chain.from_iterable(question[name] for name in ("of", "order") if isinstance(question.get(name), list))
    entries = [one if isinstance(one, list) else [one] for one in listed]
    items: Iterable[int] = chain(chain.from_iterable(entries), range(MOST_HELD))
    basket = list(islice(items, MOST_HELD))
    if (kind := question.get("pairs")) not in OWN:  # a participant answers without pairs, whichever it holds
        yield {"basket": basket}
        return
    pairs = list(islice(chain(chain.from_iterable(map(pairwise, entries)), pairwise(range(MOST_HELD + 1))), MOST_HELD))
    yield {"basket": basket, kind: pairs}


def _texts(told: Mapping[str, Any], symbols: int) -> Iterator[str]:
    """Yield texts of about so many symbols that begin as the question says, as many as a device answers for."""
    symbols_left = MOST_SYMBOLS_HELD
    for begin in cycle(told["begin"]):
        start = begin.removesuffix(END)
        text = start + told["alphabet"][0] * max(symbols - len(start), 1 - len(start))
        symbols_left -= len(text) + 1
        if symbols_left < 0:
            return
        yield text
