"""Trying to break the claim of an oracle or a protocol: what one report tells about the basket behind it.

Neighbours are any two baskets of one person, so nobody else matters. *Exact*: the law of the report is enumerated for
small questions over all baskets, empty and over-long ones too. *Statistical*: the device runs many times on the two
baskets that were told apart best. *Coupled*, for protocols: everything around the report, which must not depend on
baskets: who is asked what, that they are asked once, and that all of them answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from itertools import islice
from math import comb, inf
from time import perf_counter
from typing import Any, TypeAlias

from ..errors import InputError, MisuseError
from ..local import EVERY_ANSWER, EVERY_LOSS, MeanOracle, Oracle
from ..local.device import Draws, check, exp_lower_bound
from ..local.study import Ask, SeededWords, seed_of
from ._holdings import Holding, shown
from ._local_laws import ChoicePath, ReportLoss, largest, law, subsets
from ._statistical import Event, Features, bound, events, promise
from ._verdict import Attempt

AnyOracle: TypeAlias = Oracle | MeanOracle
Form: TypeAlias = Mapping[str, Any]
# What runs on a device, as it is there when it is called. (The room offers the function under the module's name.)
DEVICE = import_module("..local.device._client", __package__)
CHOOSING = import_module("..local.device._choosing", __package__)
NAME = "discreet.local.client"
# How many candidates, a padding, and whether everyone holds exactly one.
_SMALL = ((2, 1, True), (4, 1, True), (3, 1, False), (4, 2, False), (3, 3, False))
_ALL = 6  # of so many candidates, all baskets are tried
_MANY = 10**8  # people, of whom very many is asked
_SPAN = 16  # means are audited on a short grid, and on the usual one
_MOST = 16  # baskets whose laws are compared for a question of a protocol
_NUMBERS = 5  # and numbers
_WAYS = 4000  # in which a device answers a question that is enumerated
_LEFT_OUT = Fraction(1, 10**6)  # with more than this left out of a law, its enumeration is not called exact
_LONGEST = 60  # letters of a report that a verdict shows


@dataclass(frozen=True)
class DeviceCase:
    """One question that a device is asked, and the baskets it is tried on.

    Parameters
    ----------
    question
        The question in words.
    oracle
        What its report is made with.
    baskets
        The values that baskets answer with, by the words for the basket.
    epsilon
        The claim.
    form
        The question as it travels. Where no device would answer it, or it is empty, what answers is the oracle alone.
    people
        What the people have who answer with these values, by the same words.
    """

    question: str
    oracle: AnyOracle
    baskets: Mapping[str, tuple[int, ...]]
    epsilon: Fraction
    form: Form = field(default_factory=dict)
    people: Mapping[str, Holding] = field(default_factory=dict)

    @cached_property
    def refused(self) -> str:
        """Why no device answers the question; nothing where they do, or where there is none."""
        try:
            if self.form:
                check(self.form, self.epsilon, losses=EVERY_LOSS)
        except ValueError as refusal:
            return str(refusal)
        return ""

    def device(self, basket: str) -> Callable[[Draws], Any]:
        """Return what a device with this basket does."""
        if self.form and not self.refused:
            return lambda draws: reported(self.form, self.people[basket], self.epsilon, draws)
        answer, form, values = EVERY_ANSWER[self.oracle.name], self.oracle.form, list(self.baskets[basket])
        return lambda draws: answer(form, values, draws)

    def loss(self) -> ReportLoss:
        """Return the largest loss between any two of the baskets, enumerated."""
        return largest({basket: law(self.device(basket)) for basket in self.baskets})

    def told(self, report: Any, lean: tuple[str, str]) -> Features:
        """Return what a report shows, as numbers by name: its own, and which candidates it speaks for."""
        if report is None or "stops" in report:
            return {"no report": 1.0}
        found: Features = {f"the {name}": float(value) for name, value in report.items() if type(value) is int}
        try:
            self.oracle.codec.read([report])
        except InputError:  # the basket made it one that nobody else can send
            return found | {"a report that is none": 1.0}
        if isinstance(self.oracle, MeanOracle):
            return found | {"the worth": float(self.oracle.worth(self.oracle.codec.make_columns([report]))[0])}
        supports = self.oracle.supports(self.oracle.codec.make_columns([report]))
        one, other = (sum(int(supports[value]) for value in self.baskets[basket]) for basket in lean)
        found["how many more values of one basket it speaks for"] = float(one - other)
        return found | {f"whether it speaks for {value}": float(count) for value, count in enumerate(supports)}


class _With(dict[str, Callable[..., Any]]):
    """How devices answer, but for where their random choices come from: those are given."""

    def __init__(self, draws: Draws) -> None:
        super().__init__()
        self._draws = draws

    def __missing__(self, name: str) -> Callable[..., Any]:
        return lambda oracle, values, _: EVERY_ANSWER[name](oracle, values, self._draws)


def reported(form: Form, person: Holding, epsilon: Fraction, draws: Draws) -> Any:
    """Return what a device sends, with the random choices it is given; a device that stops tells that, and why."""
    try:
        baskets = (person.items, *person.others)
        sent = DEVICE.client(
            form,
            baskets[CHOOSING.draw_position(len(baskets), 1, draws)],
            max_epsilon=epsilon,
            texts=person.texts if "texts" in form else None,
            given=person.given,
            after=person.after,
            answers=_With(draws),
            losses=EVERY_LOSS,
        )
    except (ChoicePath, MisuseError):
        raise
    except Exception as error:
        return {"stops": f"{type(error).__name__}: {error}"}
    return json.loads(sent) if sent else None


def known(oracle: AnyOracle) -> None:
    """Refuse an oracle whose devices cannot be followed."""
    if oracle.name not in EVERY_ANSWER:
        raise MisuseError(
            f"What a device of {oracle.name} does is not known: declare answer and loss in the class "
            f"{type(oracle).__name__}."
        )


def build_cases(oracle: AnyOracle | type[AnyOracle], epsilon: Fraction) -> list[DeviceCase]:
    """Return small questions for an oracle, or the one question that an oracle was made for."""
    if isinstance(oracle, type):
        made: list[AnyOracle] = []
        if issubclass(oracle, MeanOracle):
            made += [oracle.make(epsilon, span) for span in (_SPAN, 1 << 10)]
        else:
            for size, pad, single in _SMALL:
                try:
                    made.append(oracle.make(epsilon, size, pad=pad, single=single))
                except MisuseError:
                    continue  # it is not for so many, or has no room for the padding
            # As very many people are asked, where that is another way.
            made += [many for one in made if (many := one.expecting(_MANY)) is not one][:2]
        if not made:
            raise MisuseError(f"{oracle.name} refused every question of the audit.")
        cases = [case for one in made for case in build_cases(one, epsilon)]
        # Once more, of people with several baskets, each of whose devices draws one.
        of_sets = (one for one in cases if not (one.refused or one.oracle.single or isinstance(one.oracle, MeanOracle)))
        return [*cases, *map(_of_several, islice(of_sets, 1))]
    known(oracle)
    if oracle.epsilon != epsilon:
        claimed = int(oracle.epsilon) if oracle.epsilon.denominator == 1 else str(oracle.epsilon)
        raise MisuseError.format(
            "This {name} claims {epsilon=claimed}: audit it with that.", name=oracle.name, claimed=claimed
        )
    if isinstance(oracle, MeanOracle):
        span = oracle.span
        numbers = sorted({-2 * span, -span, 1 - span, -1, 0, 1, span // 2, span})
        baskets = {f"the number {number}": (number,) for number in numbers}
        people = {name: Holding((place * len(numbers),)) for place, name in enumerate(baskets)}
        question = f"a mean of numbers up to {span:,} by {oracle.name}"
        # Whoever asks gives a range, to which a device clips; the oracle does so too, whatever it is handed.
        return [
            DeviceCase(question, oracle, baskets, epsilon, _weighing(oracle, numbers), people),
            DeviceCase(f"{question}, handed over as they are", oracle, baskets, epsilon),
        ]
    if getattr(oracle, "delta", 0):
        raise MisuseError(f"This {oracle.name} has a delta, and the audit of oracles is for pure epsilon.")
    values = range(oracle.size)
    sets: list[tuple[int, ...]] = [(value,) for value in values]
    if not oracle.single:
        # Of very many candidates, all baskets cannot be tried.
        long = [tuple(values[: oracle.pad]), tuple(values[-oracle.pad :]), tuple(values)]
        sets = subsets(values) if oracle.size <= _ALL else [(), *sets[:_MOST], *long]
    how = "exactly one" if oracle.single else f"padded to {oracle.pad}"
    seeds = getattr(oracle, "seeds", None)
    drawn = "" if seeds is None else f", {seeds:,} published seeds"
    question = f"which of {oracle.size} candidates by {oracle.name}, {how}{drawn}"
    asked = {"ask": "which", "of": oracle.size}
    if oracle.single:  # how many of one item fewer everyone holds: none, one, two …
        asked = {"ask": "how-many", "of": oracle.size - 1, "bins": list(values)}
    people = {shown(one): Holding(tuple(range(one[0])) if oracle.single else one) for one in sets}
    return [DeviceCase(question, oracle, {shown(one): one for one in sets}, epsilon, _written(oracle, asked), people)]


def _of_several(case: DeviceCase) -> DeviceCase:
    """Return the same question to people with several baskets, equal ones and empty ones among them; and with one."""
    sets = list(case.baskets.values())
    halves = sets[: len(sets) // 2], sets[len(sets) // 2 :]
    people: list[tuple[tuple[int, ...], ...]] = [(one,) for one in (sets[0], sets[1], sets[-1])]
    people += [(sets[0], sets[-1]), (sets[1], sets[1], sets[2]), *map(tuple, halves)]
    held = {" or ".join(map(shown, baskets)): baskets for baskets in people}
    values = {name: tuple(sorted(set().union(*baskets))) for name, baskets in held.items()}
    holding = {name: Holding(baskets[0], others=baskets[1:]) for name, baskets in held.items()}
    return replace(case, question=f"{case.question}, for one of several baskets", baskets=values, people=holding)


def _written(oracle: AnyOracle, asked: Mapping[str, Any]) -> Form:
    return {"format": 1, **asked, "epsilon": str(oracle.epsilon), "oracle": oracle.form}


def _weighing(oracle: MeanOracle, numbers: Sequence[int]) -> Form:
    """Return the question about one of these numbers: the item that stands first in a row weighs what the row does."""
    side, span = len(numbers), oracle.span
    right = [1] + [0] * (side - 1)
    ends = {"left": list(numbers), "right": right, "low": -span, "high": span}
    return _written(oracle, {"ask": "projection", "pairs": "folded", "of": side * side, **ends})


def case_of(ask: Ask, people: Sequence[Holding], epsilon: Fraction) -> DeviceCase:
    """Return the question of a round, with the values that these people answer it with, each once.

    Of an oracle whose reports are of very many kinds, it is the question about the few candidates that it says lose as
    much: all but two of them the first ones, and the last two.
    """
    form, oracle = ask.form, getattr(ask.oracle, "alike", ask.oracle)
    known(oracle)
    if oracle.size < ask.oracle.size:  # two values for each key
        keys = oracle.size // 2
        form = {**form, "of": [*form["of"][: keys - 1], form["of"][-1]], "oracle": oracle.form}
    found: dict[tuple[int, ...], Holding] = {}
    for person in people:
        values = person.values(form)
        if values or not oracle.single:
            found.setdefault(tuple(values), person)
    kept = spread(list(found)) if isinstance(oracle, MeanOracle) else hard(list(found), oracle.pad)
    question = f"the round {ask.name!r}: {oracle.size} values by {oracle.name}, padded to {oracle.pad}"
    baskets = {found[values].shown(form): values for values in kept}
    return DeviceCase(
        question, oracle, baskets, epsilon, form, {name: found[values] for name, values in baskets.items()}
    )


def countable(oracle: AnyOracle) -> bool:
    """Return whether a device answers in so few ways that each can be followed, whatever it holds."""
    if isinstance(oracle, MeanOracle):
        return True
    form = getattr(oracle, "alike", oracle).form
    size, pad = form["size"], form["pad"]
    sampled = comb(max(size, pad), pad) if form["oracle"] in ("privset", "wheel") else max(size, pad)
    kinds = comb(size + form["dummies"], form["many"]) if "many" in form else 1 << size if "lie" in form else size
    return sampled * kinds <= _WAYS


def hard(sets: list[tuple[int, ...]], pad: int) -> list[tuple[int, ...]]:
    """Return the sets that are told apart best: the empty and single ones, those as long as the padding, the longest.

    Of those as long as the padding, the first and the last ones have least in common.
    """
    ordered = sorted(set(sets), key=lambda one: (len(one), one))
    most = len(ordered[-1])
    few = [one for one in ordered if len(one) in (0, most)]
    single = [one for one in ordered if len(one) == 1 and one not in few]
    few += single if len(single) <= _MOST // 2 else single[: _MOST // 4] + single[-_MOST // 4 :]
    full = [one for one in ordered if len(one) == min(pad, most) and one not in few]
    room = max(2, _MOST - len(few))
    return few + (full if len(full) <= room else full[: room // 2] + full[-(room // 2) :])


def spread(numbers: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return the least and the largest of the numbers, which are told apart best, and some between them."""
    ordered = sorted(numbers)
    last = len(ordered) - 1
    return [ordered[place] for place in sorted({last * step // (_NUMBERS - 1) for step in range(_NUMBERS)})]


def exact(cases: Sequence[DeviceCase]) -> tuple[Attempt, list[ReportLoss]]:
    """Enumerate the law of every case's report, and return the largest loss; also that of each case."""
    begun = perf_counter()
    if not cases:
        return Attempt(means="exact", stands=None, loss=0.0, tried="nothing: no question was put"), []
    losses = [case.loss() for case in cases]
    over = [inf if case.refused else _share(loss, case) for loss, case in zip(losses, cases, strict=True)]
    worst = max(range(len(cases)), key=lambda place: over[place])
    loss, case = losses[worst], cases[worst]
    kept = loss.ratio is not None and loss.ratio <= exp_lower_bound(case.epsilon)
    stands = kept and not case.refused
    report = loss.report if len(loss.report) <= _LONGEST else f"{loss.report[:_LONGEST]} …"
    why = (
        f"Only one of them makes the report {report}."
        if loss.ratio is None
        else f"The report {report} is {float(loss.ratio):.4g} times likelier for one of them."
    )
    why = f"No device answers it: {case.refused}" if kept else why
    left = max(loss.left for loss in losses)
    partly = f"; up to {float(left):.2g} of what a device may do was left out" if left > _LEFT_OUT else ""
    attempt = Attempt(
        means="partial" if partly else "exact",
        stands=stands,
        loss=loss.epsilon,
        tried=f"{len(cases)} questions, {sum(len(case.baskets) for case in cases)} baskets{partly}",
        engine=NAME,
        pairs=sum(comb(len(case.baskets), 2) for case in cases),
        paths=("devices that are asked a question",),
        pair=_pair(loss.one, loss.other),
        question=case.question,
        why="" if stands else why,
        seconds=perf_counter() - begun,
    )
    return attempt, losses


def _share(loss: ReportLoss, case: DeviceCase) -> float:
    return inf if loss.ratio is None else loss.epsilon / float(case.epsilon)


def _pair(one: str, other: str) -> str:
    return f"one person who holds {one}, or {other} instead" if one != other else ""


def statistical(cases: Sequence[DeviceCase], losses: Sequence[ReportLoss], runs: int, seed: int) -> Attempt:
    """Run the device of each case some times on the two baskets that differ most, the most promising one again."""
    begun = perf_counter()
    tried = [(case, (loss.one, loss.other)) for case, loss in zip(cases, losses, strict=True) if loss.one != loss.other]
    each, half = max(1, runs // 2 // max(1, len(tried))), max(1, runs - runs // 2)
    best: tuple[float, int, Event, bool] | None = None
    for place, (case, pair) in enumerate(tried):
        results = [_results(case, basket, pair, each, seed, "choosing") for basket in pair]
        for event in events(results):
            for swapped in (False, True):
                one, other = (event.among(side) for side in (reversed(results) if swapped else results))
                score = promise(one, other, each, 0.0)
                if best is None or score > best[0]:
                    best = score, place, event, swapped
    if best is None:
        return Attempt(means="statistical", stands=None, loss=0.0, tried="nothing: no two baskets answer differently")
    _, place, event, swapped = best
    case, pair = tried[place]
    sides = [
        event.among(_results(case, basket, pair, half, seed, "measuring"))
        for basket in (reversed(pair) if swapped else pair)
    ]
    loss = bound(sides[0], sides[1], half, 0)
    stands = loss <= float(case.epsilon)
    why = (
        f"In {sides[0]:,} of {half:,} reports of one and in {sides[1]:,} of the other, {event}: with 99 % confidence "
        f"the loss is at least {loss:.4g}."
    )
    return Attempt(
        means="statistical",
        stands=stands,
        loss=loss,
        tried=f"{len(tried)} pairs of baskets, {2 * (each * len(tried) + half):,} reports, seed {seed}",
        engine=NAME,
        pairs=len(tried),
        paths=("devices that are asked a question",),
        pair=_pair(*pair),
        question=case.question,
        why="" if stands else why,
        seconds=perf_counter() - begun,
    )


def _results(case: DeviceCase, basket: str, pair: tuple[str, str], many: int, seed: int, what: str) -> list[Features]:
    stream, device = seed_of(seed, f"{case.question} {basket} {what}"), case.device(basket)
    return [case.told(device(Draws(SeededWords(stream, run).take)), pair) for run in range(many)]
