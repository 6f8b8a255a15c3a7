"""The collector's half of a round: from the bytes of reports to an estimate.

Reports come in any order and from any sender. Each is read by itself: an invalid report is refused with its reason and
does not affect other reports. Reports are read in blocks and added up to a few whole numbers, so that memory does not
grow with the round.
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
from ._screening import Alarm, screen_reports

_BLOCK = 1 << 15  # reports per block: larger takes more memory, smaller more calls


@dataclass(frozen=True, kw_only=True, eq=False)
class Collected:
    """A round's estimate, and the reports that do not count.

    Parameters
    ----------
    estimate
        The sum of the reports that count.
    refused
        The invalid reports: the position of each among all reports, and the reason.
    left_out
        The positions of valid reports that screening left out, among all reports.
    alarms
        The alarms of screening.
    """

    estimate: Estimate
    refused: tuple[Refused, ...]
    left_out: tuple[int, ...] = ()
    alarms: tuple[Alarm, ...] = ()


def collect(ask: Ask, sent: Iterable[bytes | dict[str, Any]], *, screen: bool = False) -> Collected:
    """Read the reports of a round, and return their estimate.

    Parameters
    ----------
    ask
        The round.
    sent
        The reports, each as the bytes that a device sent.
    screen
        Whether to leave out reports that honest devices hardly ever send. Valid reports are then kept in memory, as
        arrays, until the end of the round. :func:`discreet.local.study._screening.screen_reports` reads them again from
        storage instead.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from discreet.local import client
    >>> from discreet.local.study._conversation import Ask, PeopleGroup
    >>> from discreet.local.study._questions import CandidateList, CandidateQuestion
    >>> ask = Ask.of("which item", PeopleGroup(0, 2**32), CandidateQuestion(CandidateList(3)), "grr", Fraction(20))
    >>> sent = [client(ask.form, [2], max_epsilon=20) for _ in range(50)] + [b"nonsense"]
    >>> collected = collect(ask, sent)
    >>> collected.estimate.people, collected.estimate.values.round(2).tolist()
    (50, [-0.0, -0.0, 1.0])
    >>> collected.refused
    (Refused(place=50, reason='it is not JSON'),)
    """
    people, aggregate = 0, ask.oracle.adder.start()
    refused: list[Refused] = []
    batches: list[Batch] = []
    positions: list[NDArray[np.int64]] = []
    reports, read_count = iter(sent), 0
    while block := list(islice(reports, _BLOCK)):
        batch = ask.oracle.codec.read_reports(block)
        people += len(batch)
        ask.oracle.adder.add(aggregate, batch.columns)
        refused += [replace(report, place=report.place + read_count) for report in batch.refused]
        if screen:
            batches.append(batch)
            positions.append(batch.positions + read_count)
        read_count += len(block)
    if batches and isinstance(ask.oracle, Oracle):
        screened = screen_reports(ask.oracle, lambda: [batch.columns for batch in batches])
        left_out = screened.places(batch.columns for batch in batches)
        return Collected(
            estimate=Estimate(ask, screened.people, screened.supports),
            refused=tuple(refused),
            left_out=tuple(np.concatenate(positions)[left_out].tolist()),
            alarms=screened.alarms,
        )
    return Collected(estimate=Estimate(ask, people, ask.oracle.adder.decode(aggregate)), refused=tuple(refused))
