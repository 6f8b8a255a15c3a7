"""What a protocol costs: seconds of devices and of the collector, bytes of reports and of questions (003, Table 2).

Reports are made by the compiled code of the simulator, one core's time: times tell protocols apart on one machine, and
nothing about a telephone. Bytes are those of the wire.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from time import process_time
from typing import Any

import numpy as np

from discreet.baskets import Baskets
from discreet.exact import checked_how
from discreet.local import Answered
from discreet.local.device import WORD
from discreet.local.study import Ask, Estimate, NumberQuestion, SimulatedPeople, Wanted, converse, seed_of
from discreet.registry import protocol

from ..run.experiment import Line

_TIMES = 5
_MILLION = 1e6


def costs(baskets: Baskets, line: Line, asked: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Return what one run of a protocol costs, with every report made.

    Parameters
    ----------
    baskets
        The data.
    line
        Which protocol, with which settings.
    asked
        ``top`` and ``epsilon``.
    seed
        Of the reports.

    Returns
    -------
    dict
        ``device_items``, ``device_matrix`` and ``device_relations``, microseconds that a person of each group computes,
        where there is such a group; ``collector``, microseconds per person on the other side; ``report`` and
        ``question``, bytes of the largest.
    """
    # The same thing several times: what is more than the least was compiled, or waited for.
    runs = [_run(baskets, line, asked, seed) for _ in range(_TIMES)]
    return {name: min(run[name] for run in runs) for name in runs[0]}


def _run(baskets: Baskets, line: Line, asked: Mapping[str, Any], seed: int) -> dict[str, float]:
    plan: Any = protocol(line.name, line.settings)
    wanted = Wanted(items=baskets.items, top=asked["top"], epsilon=Fraction(asked["epsilon"]))
    plan.check(wanted)
    if hasattr(plan, "how"):
        checked_how(plan.how, baskets)
    numbers = SimulatedPeople(baskets=baskets, seed=seed, speed="person").numbers()
    took: dict[str, float] = {}
    many: dict[str, int] = {}
    report = question = 0.0
    devices = 0.0

    def hear(ask: Ask) -> Estimate:
        nonlocal report, question, devices
        people = np.flatnonzero((numbers >= ask.who.start) & (numbers < ask.who.stop))
        begun = process_time()
        offsets, held = ask.question.answers(baskets, people)
        answered = Answered(offsets=offsets, held=held, people=people)
        columns = ask.oracle.reports(answered, seed_of(seed, f"{ask.name}:{ask.who.start}"))
        spent = process_time() - begun
        devices += spent
        group = _group(ask, plan)
        took[group], many[group] = took.get(group, 0.0) + spent, many.get(group, 0) + len(people)
        aggregate = ask.oracle.adder.start()
        ask.oracle.adder.add(aggregate, columns)
        counts = ask.oracle.adder.decode(aggregate)
        measured = process_time()
        if len(people):
            written = ask.oracle.codec.make_report(columns, 0)
            report = max(report, float(len(json.dumps(written, separators=(",", ":")))))
        question = max(question, float(len(json.dumps(ask.form, separators=(",", ":")))))
        devices += process_time() - measured  # to write bytes only to count them is nobody's work
        return Estimate(ask, len(people), counts)

    begun = process_time()
    converse(plan.talk(wanted), hear, reports=plan.reports, people=len(baskets))
    collector = process_time() - begun - devices
    found = {f"device_{group}": _MILLION * took[group] / max(1, many[group]) for group in took}
    return found | {"collector": _MILLION * collector / len(baskets), "report": report, "question": question}


def _group(ask: Ask, plan: Any) -> str:
    """Return what those who answer are asked about: items, the matrix, or relations one by one."""
    if isinstance(ask.question, NumberQuestion):
        return "matrix"
    return "items" if ask.who.start < float(plan.shares[0]) * WORD else "relations"
