"""What every oracle and every protocol has to do, for the tests of a package that brings one along.

That it keeps its promise is for the audit. Here is what makes it useful: reports that are read back, a simulation that
makes the reports that devices send, estimates that are right on average, rounds that devices answer and that ask nobody
twice. Each check raises an `AssertionError` that says what is wrong; randomness has a seed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..local import EVERY_ANSWER, EVERY_LOSS, Answered, Oracle, Protocol
from ..local.device import client
from ..local.study import Ask, Estimate, Learnt, SeededWords, Wanted, converse

_DEVIATIONS = 6  # by chance, an estimate is further off about twice in a thousand million


def check_oracle(kind: type[Oracle], *, epsilon: Any = 1, size: int = 4, pad: int = 2, seed: int = 1) -> None:
    """Check what an oracle has to do beside keeping its promise; raise an `AssertionError` where it does not.

    It is made for one question and 4,000 people, who hold from none to all of the candidates that are answered for:
    reports travel and are read back as they were, the simulation makes the reports of devices to the byte, and
    estimates differ from the truth by noise alone.

    Parameters
    ----------
    kind
        The class of the oracle.
    epsilon, size, pad
        The question.
    seed
        The same seed checks the same.

    Examples
    --------
    >>> from discreet.registry import oracles
    >>> check_oracle(oracles()["grr"].kind)
    """
    oracle, people = kind.make(Fraction(str(epsilon)), size, pad=pad), 4000
    # Every third person holds from the candidates in turn, the others from the first on: some are held by more.
    first = [person % size if person % 3 == 0 else 0 for person in range(people)]
    counts = [person % (min(pad, size) + 1) for person in range(people)]
    held = [sorted((one + place) % size for place in range(count)) for one, count in zip(first, counts, strict=True)]
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in held])]).astype(np.int64)
    values = np.array([value for one in held for value in one], np.int32)
    answered = Answered(offsets=offsets, held=values, people=np.arange(people))
    columns = oracle.reports(answered, seed)
    for person in range(min(people, 200)):
        report = oracle.randomise(held[person], SeededWords(seed, person).take)
        simulated = oracle.codec.make_report(columns, person)
        if report != simulated:
            raise AssertionError(
                f"{oracle.name}: the simulation makes the report {simulated}, and a device with the same randomness "
                f"{report}. Mend `reports`, or leave it out."
            )
    reports = (oracle.codec.make_report(columns, row) for row in range(people))
    texts = [json.dumps(report, separators=(",", ":")).encode() for report in reports]
    longest, stated = max(map(len, texts)), oracle.longest_report
    if longest > stated:
        raise AssertionError(
            f"{oracle.name}: a report has {longest:,} bytes, and its loss states at most {stated:,}. Declare `longest`."
        )
    read = oracle.codec.read(texts)
    if read.refused:
        raise AssertionError(f"{oracle.name}: its own reports are refused ({read.refused[0]}). Mend `fields`.")
    for name, column in columns.items():
        if not np.array_equal(read.columns[name], column):
            raise AssertionError(f"{oracle.name}: the column {name} is not read as it was written. Mend `fields`.")
    true = np.bincount(values, minlength=size) / people
    for source, supports in (
        ("its reports", oracle.supports(read.columns)),
        ("`sample_supports`", oracle.sample_supports(answered, seed, np.random.default_rng(seed))),
    ):
        error = np.abs(oracle.estimate(supports, people) - true)
        deviation = np.sqrt([float(oracle.variance(share, people)) for share in true])
        if (error > _DEVIATIONS * deviation).any():
            raise AssertionError(
                f"{oracle.name}: estimates from {source} are off by up to {float(error.max()):.3f}, and noise explains "
                f"{_DEVIATIONS * float(deviation.max()):.3f}. Mend `p_held`, `p_other` or `supports`."
            )


def check_protocol(
    protocol: Protocol, *, items: int = 20, top: int = 3, epsilon: Any = 2, supports: Sequence[float] | None = None
) -> Learnt:
    """Check what a protocol has to do beside finding much, and return what it learns where there is no noise.

    It hears what ten million people would say whose items have nothing to do with each other, without noise. Every
    round has to be one that devices answer, and what is learnt has to fit together. It may ask `Which` and `HowMany`.

    Parameters
    ----------
    protocol
        The protocol, with its settings.
    items, top, epsilon
        What is wanted.
    supports
        Which part of the people holds each item; falling ones, where nothing is given.

    Examples
    --------
    >>> from discreet.registry import protocols
    >>> check_protocol(protocols()["svim"].make()).itemsets[:3]
    ((0,), (1,), (2,))
    """
    wanted = Wanted(items=items, top=top, epsilon=Fraction(str(epsilon)))
    shares = np.array([0.5 * 0.8**item for item in range(items)] if supports is None else supports)
    asked: list[Ask] = []

    def hear(ask: Ask) -> Estimate:
        asked.append(ask)
        # The reports of people who hold each item by itself, so often that their noise is as good as none.
        people, oracle = 10_000_000, ask.frequencies
        true = _answers(ask.form, shares)
        expected = true * float(oracle.p_held) + (1 - true) * float(oracle.p_other)
        return Estimate(ask, people, np.rint(expected * people).astype(np.int64))

    protocol.check(wanted)
    learnt, _ = converse(protocol.talk(wanted), hear, reports=protocol.reports)
    for ask in asked:
        client(
            ask.form,
            [0],
            max_epsilon=wanted.epsilon,
            max_delta=ask.oracle.delta,
            answers=EVERY_ANSWER,
            losses=EVERY_LOSS,
        )
    lengths = len(learnt.itemsets), len(learnt.values), len(learnt.variance)
    if len(set(lengths)) > 1:
        raise AssertionError(
            f"{protocol.name} learnt {lengths[0]} itemsets, {lengths[1]} values and {lengths[2]} variances. Each "
            "itemset has one of each."
        )
    return learnt


def _answers(form: dict[str, Any], shares: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return which part of the people answers with each value of a question about items."""
    of = form["of"]
    lists = (
        [[item] for item in range(of)]
        if isinstance(of, int)
        else [one if isinstance(one, list) else [one] for one in of]
    )
    held = np.array([float(np.prod(shares[one])) for one in lists])
    if form["ask"] == "which":
        return held
    if form["ask"] == "how-many":
        law = np.ones(1)
        for share in held:
            law = np.convolve(law, [1 - share, share])
        bins = np.searchsorted(form["bins"], np.arange(len(law)), side="right") - 1
        return np.bincount(bins, law, minlength=len(form["bins"]))
    raise AssertionError(f"check_protocol answers which and how-many, and {form['ask']} was asked: try `simulate`.")
