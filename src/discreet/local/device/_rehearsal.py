"""The time of the longest answer to a question on this device. Standard library only.

The moment of sending must not depend on the data of the device. It is therefore chosen beforehand, and later than the
end of any answer. The speed of a device is unknown, so the device answers the question once for the largest data that
it answers for, made of items of the question, and discards that report. The measured time depends on the question
and on the device, and not on its data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, cycle, islice, pairwise
from time import monotonic
from typing import Any

from ._answering import END, MOST_HELD, MOST_SYMBOLS_HELD, OWN
from ._client import client
from ._documents import StudyText

# The factor from the time of the rehearsal to the moment of sending. Larger: people wait longer. Smaller: a device that
# is busier than during the rehearsal misses the moment, and the late report reveals a multiple of the wait.
MARGIN = 4


def rehearse(question: Mapping[str, Any], study: StudyText, limits: Mapping[str, Any]) -> float:
    """Return the seconds that the answer takes for the largest data of a device."""
    start = monotonic()
    if study.fields["format"] == 2:
        table = study.fields["become"]
        study.recode(sorted(range(len(table)), key=lambda item: len(table[item]), reverse=True)[:MOST_HELD])
    for data in build_largest_data(question):
        client(question, **data, **limits)
    return monotonic() - start


def build_largest_data(question: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the largest data of a device: the items of the question first, then further numbers up to the limit."""
    if "texts" in question:
        # Many short texts, and a small number of long ones: which takes longer depends on the question.
        for symbols in (1, question["texts"]["length"]):
            yield {"basket": (), "texts": list(_build_texts(question["texts"], symbols))}
        return
    entries = chain.from_iterable(question[name] for name in ("of", "order") if isinstance(question.get(name), list))
    chains = [entry if isinstance(entry, list) else [entry] for entry in entries]
    items: Iterable[int] = chain(chain.from_iterable(chains), range(MOST_HELD))
    basket = list(islice(items, MOST_HELD))
    if (kind := question.get("pairs")) not in OWN:  # then a device answers without its pairs
        yield {"basket": basket}
        return
    pairs = list(islice(chain(chain.from_iterable(map(pairwise, chains)), pairwise(range(MOST_HELD + 1))), MOST_HELD))
    yield {"basket": basket, kind: pairs}


def _build_texts(coding: Mapping[str, Any], length: int) -> Iterator[str]:
    """Yield texts of about `length` symbols with beginnings of the question, up to the limit of a device."""
    symbols_left = MOST_SYMBOLS_HELD
    for begin in cycle(coding["begin"]):
        stem = begin.removesuffix(END)
        text = stem + coding["alphabet"][0] * max(length - len(stem), 1 - len(stem))
        symbols_left -= len(text) + 1
        if symbols_left < 0:
            return
        yield text
