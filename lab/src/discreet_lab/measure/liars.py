"""People who lie: reports made to lift chosen itemsets as far as the wire format allows, or to seem to hold a lot.

A collector cannot tell who sends a report. What a share of liars can do is measured here: over known baskets, some of
the people send crafted reports in the place of their own. All of it is simulated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.baskets import Baskets, starts
from discreet.errors import MisuseError
from discreet.local import Answered, Oracle, Protocol, ReportColumns
from discreet.local.oracle_steps import hashes, published_pairs
from discreet.local.study import (
    Ask,
    CandidateList,
    Estimate,
    HowMany,
    LiarBounds,
    PrefixQuestion,
    SimulatedPeople,
    Wanted,
    Which,
    build_patterns,
    converse,
    screen_reports,
    seed_of,
    tail_margin,
)
from discreet.results import Patterns

Attack: TypeAlias = Literal["crafted", "one target", "sizes"]
ATTACKS: tuple[Attack, ...] = ("crafted", "one target", "sizes")
_TRIED = 1 << 20  # seeds that are looked through for those that put the most targets together
_AFTER = 20  # targets that seeds are chosen by
_SHARED = 10  # targets that reports of one value are shared out among
_BLOCK = 1 << 15  # people whose reports are made at a time
_WORD = 1 << 32


@dataclass(frozen=True, kw_only=True)
class Liars:
    """Some of the people, and what they want.

    Parameters
    ----------
    share
        Which part of the people lies.
    targets
        The itemsets that are to come out as frequent.
    attack
        ``"crafted"``: every report about values names as many of the targets as the wire format allows; sizes are told
        as they are. ``"one target"``: the protocol is kept to, with a basket that holds one target and nothing else.
        ``"sizes"``: a report about how many are held names the largest sizes, everything else is told as it is.
    seed
        Draws who they are.
    """

    share: float
    targets: tuple[tuple[int, ...], ...]
    attack: Attack
    seed: int

    def among(self, people: int) -> NDArray[np.bool_]:
        """Return who of the people lies."""
        chosen = np.zeros(people, bool)
        many = round(self.share * people)
        chosen[np.random.default_rng([self.seed, 1]).permutation(people)[:many]] = True
        return chosen

    def baskets(self, baskets: Baskets) -> Baskets:
        """Return the baskets as they are told: those of liars hold one target each where that is the attack."""
        if self.attack != "one target":
            return baskets
        lying = self.among(len(baskets))
        targets = [np.array(one, np.int32) for one in self.targets]
        rows, turn = [], 0
        for person, lies in enumerate(lying.tolist()):
            if lies:
                rows.append(targets[turn % len(targets)])
                turn += 1
            else:
                rows.append(baskets.codes[baskets.offsets[person] : baskets.offsets[person + 1]])
        return Baskets(
            offsets=starts([len(row) for row in rows]), codes=np.concatenate(rows), vocabulary=baskets.vocabulary
        )

    def wanted(self, ask: Ask) -> list[int]:
        """Return the values of a round that a lie is about, those that help the most first; none where it is honest."""
        question = ask.question
        if isinstance(question, HowMany):
            return list(range(question.values))[::-1] if self.attack == "sizes" else []
        if self.attack != "crafted":
            return []
        if isinstance(question, Which) and isinstance(question.of, CandidateList):
            of = [set(question.of[place]) for place in range(len(question.of))]
        elif isinstance(question, PrefixQuestion):
            of = [set(path) for path in question.of]
        else:
            return []
        whole = [set(one) for one in self.targets]
        if isinstance(question, Which):
            helps = [max((len(one) for one in whole if values <= one), default=0) for values in of]
        else:
            helps = [max(len(one & values) for one in whole) for values in of]
        order = sorted(range(len(of)), key=lambda place: -helps[place])
        return [place for place in order if helps[place]]


def crafted(
    oracle: Oracle, wanted: list[int], many: int, generator: np.random.Generator, people: int = 0
) -> ReportColumns:
    """Return so many reports, of all that so many people send, that each name as many wanted values as one can.

    Of published seeds each is named as often as screening lets pass, those first that put the most together.
    """
    if getattr(oracle, "seeds", None) is not None:
        return _numbered(oracle, wanted, many, people)
    makers: dict[str, Callable[..., ReportColumns]] = {
        "grr": _one_value,
        "subset": _subsets,
        "privset": _subsets,
        "olh": _hashed,
        "blh": _hashed,
        "wheel": _points,
        "geometry": _meeting,
        "oue": _bits,
        "sue": _bits,
    }
    if oracle.name not in makers:
        raise MisuseError(f"No crafted reports are known for {oracle.name}; there are {', '.join(makers)}.")
    return makers[oracle.name](oracle, wanted, many, generator)


def _one_value(oracle: Any, wanted: list[int], many: int, generator: np.random.Generator) -> ReportColumns:
    return {"value": generator.choice(np.array(wanted[:_SHARED]), many).astype(np.int64)}


def _subsets(oracle: Any, wanted: list[int], many: int, generator: np.random.Generator) -> ReportColumns:
    values = np.empty((many, oracle.many), np.int32)
    first = np.array(wanted[: oracle.many])
    rest = np.setdiff1d(np.arange(oracle.symbols_in_all), first)
    for row in range(many):
        filled = generator.choice(rest, oracle.many - len(first), replace=False)
        values[row] = np.sort(np.concatenate((first, filled)))
    return {"values": values}


def _bits(oracle: Any, wanted: list[int], many: int, generator: np.random.Generator) -> ReportColumns:
    named = generator.random((many, oracle.size)) < float(oracle.p_other)
    named[:, wanted] = True
    room = (oracle.size + 31) // 32 * 32
    bits = np.zeros((many, room), bool)
    bits[:, : oracle.size] = named
    return {"bits": np.packbits(bits, axis=1, bitorder="little").view("<u4").astype(np.uint32)}


def _seeds(wanted: list[int], generator: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return seeds, and what each makes of the wanted values."""
    firsts = generator.integers(0, _WORD, _TRIED, dtype=np.uint32) | np.uint32(1)
    seconds = generator.integers(0, _WORD, _TRIED, dtype=np.uint32)
    return firsts, seconds, hashes(firsts, seconds, np.array(wanted[:_AFTER]))


def _best_buckets(oracle: Any, hashes: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the bucket with the most values of each seed, and the seeds, those with the most in it first."""
    buckets = (hashes.astype(np.uint64) * np.uint64(oracle.places)) >> np.uint64(32)
    best, most = np.zeros(len(hashes), np.int64), np.zeros(len(hashes), np.int64)
    for bucket in range(oracle.places):
        here = (buckets == bucket).sum(1)
        best[here > most] = bucket
        most = np.maximum(most, here)
    return best, np.argsort(-most, kind="stable")


def _hashed(oracle: Any, wanted: list[int], many: int, generator: np.random.Generator) -> ReportColumns:
    firsts, seconds, hashes = _seeds(wanted, generator)
    best, order = _best_buckets(oracle, hashes)
    chosen = order[:many]
    return {"first": firsts[chosen], "second": seconds[chosen], "value": best[chosen]}


def _numbered(oracle: Any, wanted: list[int], many: int, people: int) -> ReportColumns:
    numbers = np.arange(oracle.seeds, dtype=np.uint32)
    best, order = _best_buckets(oracle, hashes(*published_pairs(numbers), np.array(wanted[:_AFTER])))
    usual = people / oracle.seeds
    # What honest reports add to that stays below too.
    each = max(1, int(tail_margin(usual, oracle.seeds) - 2 * sqrt(usual)))
    chosen = np.resize(np.repeat(order, each), many)
    return {"seed": numbers[chosen], oracle.place: best[chosen]}


def _points(oracle: Any, wanted: list[int], many: int, generator: np.random.Generator) -> ReportColumns:
    firsts, seconds, hashes = _seeds(wanted, generator)
    best, most = np.zeros(_TRIED, np.uint32), np.zeros(_TRIED, np.int64)
    for at in range(hashes.shape[1]):
        # A point lies in the arcs that begin at it or less than an arc before it: the last of them is the point.
        here = ((hashes[:, at, None] - hashes) < np.uint32(oracle.arc)).sum(1)
        best[here > most] = hashes[here > most, at]
        most = np.maximum(most, here)
    chosen = np.argsort(-most, kind="stable")[:many]
    return {"first": firsts[chosen], "second": seconds[chosen], "point": best[chosen]}


def _meeting(oracle: Any, wanted: list[int], many: int, generator: np.random.Generator) -> ReportColumns:
    every = np.arange(oracle.points) if oracle.points <= _TRIED else generator.integers(0, oracle.points, _TRIED)
    most = oracle.named({"point": every}, np.array(wanted[:_AFTER])).sum(1)
    # Each of the best as often as a few others, so that no point stands out.
    best = every[np.argsort(-most, kind="stable")][: max(1, many // _SHARED)]
    return {"point": np.resize(best, many)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Attacked:
    """What a conversation with liars ended with.

    Parameters
    ----------
    patterns
        The top patterns, over the people as they are.
    lifted
        How many of the targets are among them.
    left_out, honest_left_out
        How many reports screening left out in all rounds, and the most in one round that were honest.
    alarms
        In how many rounds something was seen.
    """

    patterns: Patterns
    lifted: int
    left_out: int
    honest_left_out: int
    alarms: int


def attacked(
    baskets: Baskets,
    plan: Protocol,
    wanted: Wanted,
    liars: Liars,
    *,
    seed: int,
    screen: bool,
    malicious: Fraction = Fraction(0),
) -> Attacked:
    """Run a protocol over people some of whom lie, report by report; intervals allow for the part `malicious`."""
    told, lying = liars.baskets(baskets), liars.among(len(baskets))
    numbers = SimulatedPeople(baskets=told, seed=seed, speed="person").numbers()
    generator = np.random.default_rng([seed, 7])
    out = lost = alarms = 0

    def hear(ask: Ask) -> Estimate:
        nonlocal out, lost, alarms
        asked = np.flatnonzero((numbers >= ask.who.start) & (numbers < ask.who.stop))
        about = liars.wanted(ask)
        lie = lying[asked] if about else np.zeros(len(asked), bool)
        honest, oracle, words = asked[~lie], ask.frequencies, seed_of(seed, f"{ask.name}:{ask.who.start}")
        blocks = []
        for people in np.array_split(honest, max(1, -(-len(honest) // _BLOCK))):
            offsets, held = ask.question.answers(told, people)
            blocks.append(oracle.reports(Answered(offsets=offsets, held=held, people=people), words))
        if lie.any():
            blocks.append(crafted(oracle, about, int(lie.sum()), generator, len(asked)))
        if not screen:
            aggregate = oracle.adder.start()
            for columns in blocks:
                oracle.adder.add(aggregate, columns)
            return Estimate(ask, len(asked), oracle.adder.decode(aggregate))
        seen = screen_reports(oracle, lambda: blocks)
        out, alarms = out + seen.left_out, alarms + bool(seen.alarms)
        lost = max(lost, int((seen.places(blocks) < len(honest)).sum()))
        return Estimate(ask, seen.people, seen.supports)

    learnt, heard = converse(plan.talk(wanted), hear, reports=plan.reports, people=len(baskets))
    bounds = LiarBounds(heard, malicious) if malicious else None
    found = build_patterns(learnt, baskets.vocabulary, len(baskets), bounds).where(lengths=(wanted.least, None))[
        : wanted.top
    ]
    sets = {tuple(sorted(found.codes[a:b].tolist())) for a, b in zip(found.offsets, found.offsets[1:], strict=False)}
    lifted = sum(tuple(sorted(one)) in sets for one in liars.targets)
    return Attacked(patterns=found, lifted=lifted, left_out=out, honest_left_out=lost, alarms=alarms)


def targets(baskets: Baskets, many: int = 10, first: int = 200) -> tuple[tuple[int, ...], ...]:
    """Return pairs of items that are far from frequent: from a rank on, or the last there are."""
    order = np.argsort(-baskets.item_counts, kind="stable")
    chosen = order[min(first, len(order) - 2 * many) :][: 2 * many].tolist()
    return tuple(tuple(sorted(chosen[at : at + 2])) for at in range(0, 2 * many, 2))
