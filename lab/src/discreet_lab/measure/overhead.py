"""The cost of a protocol: seconds of devices and of the collector, bytes of reports and of questions (003, Table 2).

The compiled code of the simulator makes the reports, on one core: times compare protocols on one machine, and say
nothing about a telephone. Bytes are counted in the wire format.
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
from discreet.local import SimulatedAnswers
from discreet.local.device import WORD
from discreet.local.study import Ask, Estimate, NumberQuestion, SimulatedPeople, StudyGoal, converse, seed_of
from discreet.registry import protocol

from ..run.experiment import Line

_TIMES = 5  # the runs of which the shortest counts: compilation and waiting affect the first
_MICROSECONDS = 1e6


def measure_costs(baskets: Baskets, line: Line, asked: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Return the costs of one run of a protocol, with every report made.

    Parameters
    ----------
    baskets
        The data.
    line
        The protocol with its settings.
    asked
        The options ``top`` and ``epsilon``.
    seed
        The seed of the reports.

    Returns
    -------
    dict
        ``device_items``, ``device_matrix`` and ``device_relations``, microseconds per person of each group that exists;
        ``collector``, microseconds per person; ``report`` and ``question``, bytes of the largest.
    """
    # Equal work each time: anything over the shortest time was compilation or waiting.
    runs = [_run_once(baskets, line, asked, seed) for _ in range(_TIMES)]
    return {name: min(run[name] for run in runs) for name in runs[0]}


def _run_once(baskets: Baskets, line: Line, options: Mapping[str, Any], seed: int) -> dict[str, float]:
    plan: Any = protocol(line.name, line.settings)
    wanted_patterns = StudyGoal(items=baskets.items, top=options["top"], epsilon=Fraction(options["epsilon"]))
    plan.check(wanted_patterns)
    if hasattr(plan, "how"):
        checked_how(plan.how, baskets)
    numbers = SimulatedPeople(baskets=baskets, seed=seed, speed="person").numbers()
    seconds_of_group: dict[str, float] = {}
    people_of_group: dict[str, int] = {}
    report = question = 0.0
    devices = 0.0

    def hear(ask: Ask) -> Estimate:
        nonlocal report, question, devices
        people = np.flatnonzero((numbers >= ask.group.start) & (numbers < ask.group.stop))
        begun = process_time()
        offsets, values = ask.question.answers(baskets, people)
        answered = SimulatedAnswers(offsets=offsets, values=values, people=people)
        columns = ask.oracle.reports(answered, seed_of(seed, f"{ask.name}:{ask.group.start}"))
        elapsed = process_time() - begun
        devices += elapsed
        group = _name_group(ask, plan)
        seconds_of_group[group], people_of_group[group] = (
            seconds_of_group.get(group, 0.0) + elapsed,
            people_of_group.get(group, 0) + len(people),
        )
        aggregate = ask.oracle.adder.start()
        ask.oracle.adder.add(aggregate, columns)
        counts = ask.oracle.adder.decode(aggregate)
        counting_start = process_time()
        if len(people):
            first_report = ask.oracle.codec.make_report(columns, 0)
            report = max(report, float(len(json.dumps(first_report, separators=(",", ":")))))
        question = max(question, float(len(json.dumps(ask.form, separators=(",", ":")))))
        devices += process_time() - counting_start  # bytes are written here only to count them
        return Estimate(ask, len(people), counts)

    begun = process_time()
    converse(plan.ask_rounds(wanted_patterns), hear, reports=plan.reports, people=len(baskets))
    collector = process_time() - begun - devices
    device_costs = {
        f"device_{group}": _MICROSECONDS * seconds_of_group[group] / max(1, people_of_group[group])
        for group in seconds_of_group
    }
    return device_costs | {
        "collector": _MICROSECONDS * collector / len(baskets),
        "report": report,
        "question": question,
    }


def _name_group(ask: Ask, plan: Any) -> str:
    """Return the group of a round: people asked about items, the matrix, or relations."""
    if isinstance(ask.question, NumberQuestion):
        return "matrix"
    return "items" if ask.group.start < float(plan.shares[0]) * WORD else "relations"
