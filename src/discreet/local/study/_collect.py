"""From the bytes that devices sent to an estimate: the collector's half of a round.

Reports come in any order and from anybody. Each is read by itself, so a bad one is refused with its reason and costs no
other. What the good ones add up to is a few whole numbers, so that a round of any size fits into memory: reports are
read in blocks, and what was added up is all that stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import Oracle
from ..oracle_steps import Batch, Refused
from ._conversation import Ask, Estimate
from ._screening import Alarm, screened

_BLOCK = 1 << 15  # reports that are read at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class Collected:
    """What a round's reports say, and which of them are not counted.

    Parameters
    ----------
    estimate
        What the good reports add up to.
    refused
        Those that are none: the place of each among those that were sent, and why.
    left_out
        Good ones that screening left out: the place of each among those that were sent.
    alarms
        What screening saw.
    """

    estimate: Estimate
    refused: tuple[Refused, ...]
    left_out: tuple[int, ...] = ()
    alarms: tuple[Alarm, ...] = ()


def collect(ask: Ask, sent: Iterable[bytes | dict[str, Any]], *, screen: bool = False) -> Collected:
    """Read what devices sent in answer to a round, and return what it adds up to.

    Parameters
    ----------
    ask
        The round that was answered.
    sent
        The reports, each as the bytes that a device sent.
    screen
        Whether reports that no honest device is likely to have sent are left out. Good reports are then kept, as
        arrays, until the round is added up. :func:`discreet.local.study._screening.screened` does the same over blocks
        that are read again from where they lie.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from discreet.local import client
    >>> from discreet.local.study._conversation import Ask, Who
    >>> from discreet.local.study._questions import CandidateList, Which
    >>> ask = Ask.of("which item", Who(0, 2**32), Which(CandidateList(3)), "grr", Fraction(20))
    >>> sent = [client(ask.form, [2], max_epsilon=20) for _ in range(50)] + [b"nonsense"]
    >>> collected = collect(ask, sent)
    >>> collected.estimate.people, collected.estimate.values.round(2).tolist()
    (50, [-0.0, -0.0, 1.0])
    >>> collected.refused
    (Refused(place=50, reason='it is not JSON'),)
    """
    people, aggregate = 0, ask.oracle.adder.start()
    refused: list[Refused] = []
    kept: list[Batch] = []
    places: list[NDArray[np.int64]] = []
    waiting, seen = iter(sent), 0
    while reports := list(islice(waiting, _BLOCK)):
        batch = ask.oracle.codec.read(reports)
        people += len(batch)
        ask.oracle.adder.add(aggregate, batch.columns)
        refused += [replace(one, place=one.place + seen) for one in batch.refused]
        if screen:
            kept.append(batch)
            places.append(batch.kept + seen)
        seen += len(reports)
    if kept and isinstance(ask.oracle, Oracle):
        looked = screened(ask.oracle, lambda: [batch.columns for batch in kept])
        return Collected(
            estimate=Estimate(ask, looked.people, looked.supports),
            refused=tuple(refused),
            left_out=tuple(np.concatenate(places)[looked.places(batch.columns for batch in kept)].tolist()),
            alarms=looked.alarms,
        )
    return Collected(estimate=Estimate(ask, people, ask.oracle.adder.decode(aggregate)), refused=tuple(refused))
