"""Measure false alarms of screening in honest rounds: of every oracle, over epsilons and crowds.

    python -m benchmarks.screening                  print the table
    python -m benchmarks.screening --write FILE     put the table into FILE, between its two marks

Reports are made from seeds, so that rounds are reproducible. Oracles that have tables of published seeds are asked with
published and with fresh seeds. It takes about five minutes of two cores.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .evidence import table
from .mining import print_or_write

MARKS = ("<!-- honest rounds: begin -->", "<!-- honest rounds: end -->")
EPSILONS = ("1/10", "1/2", "1", "2", "3", "4", "6", "8")
# People, items, padding and rounds: tables need 16 people for each of 1,024 seeds.
FEW_PEOPLE_CASES = ((4_000, 60, 3, 6), (4_000, 300, 1, 6))
MANY_PEOPLE_CASES = (
    (40_000, 60, 3, 12),
    (40_000, 60, 5, 12),
    (40_000, 300, 3, 12),
    (300_000, 300, 5, 3),
    (40_000, 3_000, 1, 3),
)
CROWDS = ("alike", "nothing", "skewed", "together", "everything")


class Case(NamedTuple):
    """One question that honest people answer."""

    oracle: Any
    people: int
    items: int
    pad: int
    rounds: int


def answers(crowd: str, people: int, items: int, pad: int, seed: int, *, single: bool = False) -> Any:
    """Return the items of the people of a crowd."""
    from discreet.local import SimulatedAnswers

    generator = np.random.default_rng(seed)
    if crowd == "nothing" and not single:
        return SimulatedAnswers(
            offsets=np.zeros(people + 1, np.int64), values=np.zeros(0, np.int32), people=np.arange(people)
        )
    if crowd == "alike" or (crowd == "nothing" and single):
        baskets = [np.arange(pad)]
    elif crowd == "everything" and not single:
        baskets = [np.arange(min(items, 10 * pad))]
    elif crowd == "together":
        baskets = [np.arange(start, start + pad) for start in range(0, min(items, 40 * pad) - pad + 1, pad)]
    else:
        law = 1 / np.arange(1, items + 1)
        sizes = np.full(500, pad) if single else generator.integers(0, pad + 1, 500)
        baskets = [np.sort(generator.choice(items, size, replace=False, p=law / law.sum())) for size in sizes]
    chosen_baskets = generator.integers(0, len(baskets), people)
    lengths = np.array([len(basket) for basket in baskets])[chosen_baskets]
    held_items = (
        np.concatenate([baskets[basket_number] for basket_number in chosen_baskets.tolist()])
        if lengths.any()
        else np.zeros(0)
    )
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    return SimulatedAnswers(offsets=offsets, values=held_items.astype(np.int32), people=np.arange(people))


def cases(name: str, epsilon: str) -> Iterator[Case]:
    """Yield all questions that one oracle can answer at one epsilon."""
    from discreet.errors import MisuseError
    from discreet.local.oracle_steps import oracles

    kind, case_sizes = (
        oracles()[name],
        FEW_PEOPLE_CASES + (MANY_PEOPLE_CASES if name in ("olh", "blh", "wheel") else ()),
    )
    for people, items, pad, rounds in case_sizes:
        try:
            oracle = kind.make(Fraction(epsilon), items, pad=pad)
        except MisuseError:
            continue  # too long a report
        yield Case(oracle.expecting(people), people, items, pad, rounds)


def alarms(case: Case, crowd: str, first_seed: int = 0) -> Counter[str]:
    """Return the numbers of honest rounds: all, with an alarm, with a report left out, with a lowered support."""
    from discreet.local.study import screen_reports

    alarm_counts = Counter[str]()
    answered = answers(crowd, case.people, case.items, case.pad, 5)
    for seed in range(first_seed, first_seed + case.rounds):
        columns = case.oracle.reports(answered, seed)
        alarm_list = screen_reports(case.oracle, lambda columns=columns: [columns])
        alarm_counts["rounds"] += 1
        alarm_counts["accused"] += bool(alarm_list.alarms)
        alarm_counts["lost"] += alarm_list.left_out > 0
        alarm_counts["lowered"] += any(alarm.lowered for alarm in alarm_list.alarms)
        alarm_counts.update({alarm.sign for alarm in alarm_list.alarms})
    return alarm_counts


def tables() -> Iterator[str]:
    """Yield the table."""
    from discreet.local.oracle_steps import oracles

    rows, total = [], Counter[str]()
    for name in oracles():
        for published in (False, True):
            alarm_counts = Counter[str]()
            for epsilon in EPSILONS:
                for case in cases(name, epsilon):
                    if (getattr(case.oracle, "seeds", None) is not None) != published:
                        continue
                    for crowd in CROWDS:
                        case_alarms = alarms(case, crowd)
                        if case_alarms["accused"]:
                            sys.stderr.write(
                                f"{name} {epsilon} {case.people} {case.items} {case.pad} {crowd} {case_alarms}\n"
                            )
                        alarm_counts += case_alarms
            if alarm_counts["rounds"]:
                signs = ", ".join(
                    f"{sign}: {count}" for sign, count in sorted(alarm_counts.items()) if sign not in COUNT_NAMES
                )
                counts = [f"{alarm_counts[count_name]:,}" for count_name in COUNT_NAMES]
                rows.append([f"`{name}`", "published" if published else "fresh", *counts, signs or "none"])
                sys.stderr.write(" ".join(rows[-1]) + "\n")
            total += alarm_counts
    rate = f"{10_000 * total['accused'] / total['rounds']:.1f} in 10,000"
    rows.append(["all", "", *[f"{total[count_name]:,}" for count_name in COUNT_NAMES], rate])
    yield from table(["oracle", "seeds", "rounds", "with an alarm", "reports lost", "supports lowered", "signs"], rows)


COUNT_NAMES = ("rounds", "accused", "lost", "lowered")

if __name__ == "__main__":
    print_or_write(tables, MARKS)
