"""How fast the device's side is in plain Python: reports per second, each with its check of the question.

python -m benchmarks.devices
"""

from __future__ import annotations

import time
from fractions import Fraction

from discreet.local.device import client
from discreet.local.oracle_steps import oracles
from discreet.local.study import Ask, CandidateList, CandidateQuestion, PeopleGroup

ITEMS = 42_000
BASKET = [3, 17, 512, 9_000, 21_000, 41_999]


def speed(question: dict[str, object], seconds: float = 1.0) -> float:
    """Return the number of reports per second that one device makes."""
    client(question, BASKET, max_epsilon=1)  # the bound of the question's loss is computed once
    report_count, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        client(question, BASKET, max_epsilon=1)
        report_count += 1
    return report_count / (time.perf_counter() - begun)


def main() -> None:
    """Print a line an oracle."""
    print(f"{'oracle':10} {'candidates':>10} {'bits per report':>14} {'reports per second':>17}")
    for name, kind in oracles().items():
        if not kind.live:
            continue  # kept for comparison: no device answers for it
        items = 2_000 if name in ("subset", "privset") else ITEMS  # their reports grow with the list
        oracle = kind.make(Fraction(1), items, pad=5)
        ask = Ask(name="", group=PeopleGroup(0, 1), question=CandidateQuestion(CandidateList(items)), oracle=oracle)
        print(f"{name:10} {items:10,} {oracle.bits:14,.0f} {speed(ask.form):17,.0f}")


if __name__ == "__main__":
    main()
