"""Checks of the usefulness of oracles and protocols, for the tests of a package that adds one.

Whether it keeps its promise is checked by the audit. Here: reports survive encoding, the simulation makes the reports
of devices, estimates are unbiased, devices accept the rounds, and no person is asked twice. Each check raises an
`AssertionError` with the fault; randomness has a seed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..local import EVERY_ANSWER, EVERY_LOSS, Oracle, Protocol, SimulatedAnswers
from ..local.device import client
from ..local.study import Ask, Estimate, ProtocolResult, SeededWords, StudyGoal, converse

_MAX_DEVIATIONS = 6  # by chance, an estimate is further off about twice in a thousand million


def check_oracle(kind: type[Oracle], *, epsilon: Any = 1, size: int = 4, pad: int = 2, seed: int = 1) -> None:
    """Check the usefulness of an oracle; raise an `AssertionError` with the fault.

    The oracle is made for one question and 4,000 people with baskets of all sizes. Reports must survive encoding, the
    simulation must make the reports of devices to the byte, and estimates must differ from the truth by noise alone.

    Parameters
    ----------
    kind
        The class of the oracle.
    epsilon, size, pad
        The question: the budget, the number of candidates, and the padding.
    seed
        Makes the check repeatable.

    Examples
    --------
    >>> from discreet.registry import oracles
    >>> check_oracle(oracles()["grr"].kind)
    """
    oracle, people = kind.make(Fraction(str(epsilon)), size, pad=pad), 4000
    # Every third person starts at the next candidate, all further people at the first: supports differ.
    first_items = [person % size if person % 3 == 0 else 0 for person in range(people)]
    counts = [person % (min(pad, size) + 1) for person in range(people)]
    held_items = [
        sorted((row + place) % size for place in range(count)) for row, count in zip(first_items, counts, strict=True)
    ]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in held_items])]).astype(np.int64)
    values = np.array([value for row in held_items for value in row], np.int32)
    answered = SimulatedAnswers(offsets=offsets, values=values, people=np.arange(people))
    columns = oracle.reports(answered, seed)
    for person in range(min(people, 200)):
        report = oracle.randomise(held_items[person], SeededWords(seed, person).take)
        simulated = oracle.codec.make_report(columns, person)
        if report != simulated:
            raise AssertionError(
                f"{oracle.name}: the simulation makes the report {simulated}, and a device with the same randomness "
                f"{report}. Mend `reports`, or leave it out."
            )
    reports = (oracle.codec.make_report(columns, row) for row in range(people))
    texts = [json.dumps(report, separators=(",", ":")).encode() for report in reports]
    longest_bytes, stated_bytes = max(map(len, texts)), oracle.longest_report
    if longest_bytes > stated_bytes:
        raise AssertionError(
            f"{oracle.name}: a report has {longest_bytes:,} bytes, and its loss states at most {stated_bytes:,}. "
            "Declare `longest`."
        )
    decoded = oracle.codec.read_reports(texts)
    if decoded.refused:
        raise AssertionError(f"{oracle.name}: its own reports are refused ({decoded.refused[0]}). Mend `fields`.")
    for name, column in columns.items():
        if not np.array_equal(decoded.columns[name], column):
            raise AssertionError(f"{oracle.name}: the column {name} is not read as it was written. Mend `fields`.")
    true_shares = np.bincount(values, minlength=size) / people
    for source, supports in (
        ("its reports", oracle.supports(decoded.columns)),
        ("`sample_supports`", oracle.sample_supports(answered, seed, np.random.default_rng(seed))),
    ):
        error = np.abs(oracle.estimate(supports, people) - true_shares)
        deviation = np.sqrt([float(oracle.variance(share, people)) for share in true_shares])
        if (error > _MAX_DEVIATIONS * deviation).any():
            raise AssertionError(
                f"{oracle.name}: estimates from {source} are off by up to {float(error.max()):.3f}, and noise explains "
                f"{_MAX_DEVIATIONS * float(deviation.max()):.3f}. Mend `p_held`, `p_other` or `supports`."
            )


def check_protocol(
    protocol: Protocol, *, items: int = 20, top: int = 3, epsilon: Any = 2, supports: Sequence[float] | None = None
) -> ProtocolResult:
    """Check the rounds of a protocol, and return its result without noise.

    It gets the exact answers of ten million people with independent items. Devices must accept every round, and
    the parts of the result must fit together. The protocol may ask `CandidateQuestion` and `SizeQuestion`.

    Parameters
    ----------
    protocol
        The protocol, with its settings.
    items, top, epsilon
        The number of items, the number of patterns, and the budget.
    supports
        The fraction of the people with each item; falling fractions by default.

    Examples
    --------
    >>> from discreet.registry import protocols
    >>> check_protocol(protocols()["svim"].make()).itemsets[:3]
    ((0,), (1,), (2,))
    """
    request = StudyGoal(items=items, top=top, epsilon=Fraction(str(epsilon)))
    shares = np.array([0.5 * 0.8**item for item in range(items)] if supports is None else supports)
    asks: list[Ask] = []

    def answer_ask(ask: Ask) -> Estimate:
        asks.append(ask)
        # Independent items, and a number of people that makes the noise negligible.
        people, oracle = 10_000_000, ask.frequencies
        true_shares = _compute_answer_shares(ask.form, shares)
        expected = true_shares * float(oracle.p_held) + (1 - true_shares) * float(oracle.p_other)
        return Estimate(ask, people, np.rint(expected * people).astype(np.int64))

    protocol.check(request)
    learned, _ = converse(protocol.ask_rounds(request), answer_ask, reports=protocol.reports)
    for ask in asks:
        client(
            ask.form,
            [0],
            max_epsilon=request.epsilon,
            max_delta=ask.oracle.delta,
            answers=EVERY_ANSWER,
            losses=EVERY_LOSS,
        )
    lengths = len(learned.itemsets), len(learned.values), len(learned.variance)
    if len(set(lengths)) > 1:
        raise AssertionError(
            f"{protocol.name} learnt {lengths[0]} itemsets, {lengths[1]} values and {lengths[2]} variances. Each "
            "itemset has one of each."
        )
    return learned


def _compute_answer_shares(form: dict[str, Any], shares: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the share of the people for each value of a question about items."""
    candidates = form["of"]
    itemsets = (
        [[item] for item in range(candidates)]
        if isinstance(candidates, int)
        else [itemset if isinstance(itemset, list) else [itemset] for itemset in candidates]
    )
    holder_shares = np.array([float(np.prod(shares[itemset])) for itemset in itemsets])
    if form["ask"] == "which":
        return holder_shares
    if form["ask"] == "how-many":
        law = np.ones(1)
        for share in holder_shares:
            law = np.convolve(law, [1 - share, share])
        bins = np.searchsorted(form["bins"], np.arange(len(law)), side="right") - 1
        return np.bincount(bins, law, minlength=len(form["bins"]))
    raise AssertionError(f"check_protocol answers which and how-many, and {form['ask']} was asked: try `simulate`.")
