"""Audits of single reports: the information that a device's report gives about the basket behind it.

Neighbours are any two baskets of one person; no further person is involved. *Exact*: the law of the report is
enumerated for small questions over all baskets, empty and over-long ones too. *Statistical*: the device runs many times
on the two baskets with the largest loss. The conversation around the reports of a protocol is audited by `local_talk`.
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
from typing import Any, TypeAlias

from ..errors import InputError, MisuseError
from ..local import EVERY_ANSWER, EVERY_LOSS, MeanOracle, Oracle
from ..local.device import Draws, check, exp_lower_bound
from ..local.study import Ask, SeededWords, seed_of
from ._attack import Attack
from ._holdings import Holding, render_basket
from ._local_laws import ChoicePath, ReportLoss, largest, law, subsets
from ._statistical import Features, find_distinction
from ._verdict import Attempt

AnyOracle: TypeAlias = Oracle | MeanOracle
Form: TypeAlias = Mapping[str, Any]
# The modules, so that a replaced function counts. (The room offers the function under the module's name.)
DEVICE = import_module("..local.device._client", __package__)
CHOOSING = import_module("..local.device._choosing", __package__)
DEVICE_NAME = "discreet.local.client"
_ASKED_DEVICES = ("devices that are asked a question",)
# (candidates, padding, whether each person holds exactly one): each kind of question, small enough to enumerate.
_SMALL_QUESTIONS = ((2, 1, True), (4, 1, True), (3, 1, False), (4, 2, False), (3, 3, False))
_MAX_ENUMERATED = 6  # candidates with all 64 baskets; of more candidates, selected baskets
_VERY_MANY_PEOPLE = 10**8  # people: some oracles change their encoding at this scale
_SHORT_SPAN = 16  # means are audited on a short grid, and on the usual one
_MAX_BASKETS = 16  # baskets with compared laws, for a question of a protocol
_MAX_NUMBERS = 5  # and numbers
_MAX_WAYS = 4000  # of a device to answer an enumerated question; more: a longer audit
_LEFT_OUT = Fraction(1, 10**6)  # with more than this left out of a law, its enumeration is not called exact
_MAX_LETTERS = 60  # letters of a report that a verdict shows


@dataclass(frozen=True)
class DeviceCase:
    """One question to a device, and the baskets that it is audited on.

    Parameters
    ----------
    question
        The question in words.
    oracle
        The oracle that randomises the report.
    baskets
        The values with which a basket answers, by the words for the basket.
    epsilon
        The claim.
    form
        The question in its wire format. If it is empty, or devices refuse it, the oracle answers alone.
    people
        The holding of the person with a basket, by the words for the basket.
    """

    question: str
    oracle: AnyOracle
    baskets: Mapping[str, tuple[int, ...]]
    epsilon: Fraction
    form: Form = field(default_factory=dict)
    people: Mapping[str, Holding] = field(default_factory=dict)

    @cached_property
    def refused(self) -> str:
        """The reason why devices refuse the question; "" if they answer, or if the form is empty."""
        try:
            if self.form:
                check(self.form, self.epsilon, losses=EVERY_LOSS)
        except ValueError as refusal:
            return str(refusal)
        return ""

    def device(self, basket: str) -> Callable[[Draws], Any]:
        """Return the device of a person with a basket, as a function of its random choices."""
        if self.form and not self.refused:
            return lambda draws: reported(self.form, self.people[basket], self.epsilon, draws)
        answer, form, values = EVERY_ANSWER[self.oracle.name], self.oracle.form, list(self.baskets[basket])
        return lambda draws: answer(form, values, draws)

    def loss(self) -> ReportLoss:
        """Return the largest loss between any two of the baskets, enumerated."""
        return largest({basket: law(self.device(basket)) for basket in self.baskets})

    def list_features(self, report: Any, basket_pair: tuple[str, str]) -> Features:
        """Return the features of a report, as numbers by name: its fields, and the candidates that it supports."""
        if report is None or "stops" in report:
            return {"no report": 1.0}
        features: Features = {f"the {name}": float(value) for name, value in report.items() if type(value) is int}
        try:
            self.oracle.codec.read_reports([report])
        except InputError:  # a report outside the format reveals its basket
            return features | {"a report that is none": 1.0}
        if isinstance(self.oracle, MeanOracle):
            return features | {"the worth": float(self.oracle.worth(self.oracle.codec.make_columns([report]))[0])}
        supports = self.oracle.supports(self.oracle.codec.make_columns([report]))
        first_count, second_count = (
            sum(int(supports[value]) for value in self.baskets[basket]) for basket in basket_pair
        )
        features["how many more values of one basket it speaks for"] = float(first_count - second_count)
        return features | {f"whether it speaks for {value}": float(count) for value, count in enumerate(supports)}


class _AnswersByDraws(dict[str, Callable[..., Any]]):
    """The answers of all oracles, with the random choices replaced by prepared draws."""

    def __init__(self, draws: Draws) -> None:
        super().__init__()
        self._draws = draws

    def __missing__(self, name: str) -> Callable[..., Any]:
        return lambda oracle, values, _: EVERY_ANSWER[name](oracle, values, self._draws)


def reported(form: Form, person: Holding, epsilon: Fraction, draws: Draws) -> Any:
    """Return the report of a device with prepared draws; a device that stops reports its error."""
    try:
        baskets = (person.items, *person.others)
        report_text = DEVICE.client(
            form,
            baskets[CHOOSING.draw_position(len(baskets), 1, draws)],
            max_epsilon=epsilon,
            texts=person.texts if "texts" in form else None,
            given=person.given,
            after=person.after,
            answers=_AnswersByDraws(draws),
            losses=EVERY_LOSS,
        )
    except (ChoicePath, MisuseError):
        raise
    except Exception as error:
        return {"stops": f"{type(error).__name__}: {error}"}
    return json.loads(report_text) if report_text else None


def check_followable(oracle: AnyOracle) -> None:
    """Check that the code of an oracle's devices is available."""
    if oracle.name not in EVERY_ANSWER:
        raise MisuseError(
            f"What a device of {oracle.name} does is not known: declare answer and loss in the class "
            f"{type(oracle).__name__}."
        )


def build_cases(oracle: AnyOracle | type[AnyOracle], epsilon: Fraction) -> list[DeviceCase]:
    """Return small questions for a class of oracles, or the one question of an oracle."""
    if isinstance(oracle, type):
        oracles: list[AnyOracle] = []
        if issubclass(oracle, MeanOracle):
            oracles += [oracle.make(epsilon, span) for span in (_SHORT_SPAN, 1 << 10)]
        else:
            for size, pad, single in _SMALL_QUESTIONS:
                try:
                    oracles.append(oracle.make(epsilon, size, pad=pad, single=single))
                except MisuseError:
                    continue  # an oracle may not support this size or padding
            # The encoding for very many people, if the oracle has a second one.
            oracles += [
                scaled_oracle for entry in oracles if (scaled_oracle := entry.expecting(_VERY_MANY_PEOPLE)) is not entry
            ][:2]
        if not oracles:
            raise MisuseError(f"{oracle.name} refused every question of the audit.")
        cases = [case for entry in oracles for case in build_cases(entry, epsilon)]
        # The same question to people with several baskets: the device draws one.
        of_sets = (
            entry
            for entry in cases
            if not (entry.refused or entry.oracle.single or isinstance(entry.oracle, MeanOracle))
        )
        return [*cases, *map(_of_several, islice(of_sets, 1))]
    check_followable(oracle)
    if oracle.epsilon != epsilon:
        claimed = int(oracle.epsilon) if oracle.epsilon.denominator == 1 else str(oracle.epsilon)
        raise MisuseError.format(
            "This {name} claims {epsilon=claimed}: audit it with that.", name=oracle.name, claimed=claimed
        )
    if isinstance(oracle, MeanOracle):
        span = oracle.span
        # Ends, the middle, and numbers beyond the range: clipping must bound the loss.
        numbers = sorted({-2 * span, -span, 1 - span, -1, 0, 1, span // 2, span})
        baskets = {f"the number {number}": (number,) for number in numbers}
        people = {name: Holding((place * len(numbers),)) for place, name in enumerate(baskets)}
        question = f"a mean of numbers up to {span:,} by {oracle.name}"
        # A question states a range, to which a device clips. The oracle must clip unclipped numbers too.
        return [
            DeviceCase(question, oracle, baskets, epsilon, _weighing(oracle, numbers), people),
            DeviceCase(f"{question}, handed over as they are", oracle, baskets, epsilon),
        ]
    if getattr(oracle, "delta", 0):
        raise MisuseError(f"This {oracle.name} has a delta, and the audit of oracles is for pure epsilon.")
    values = range(oracle.size)
    sets: list[tuple[int, ...]] = [(value,) for value in values]
    if not oracle.single:
        # The baskets of many candidates are too many to enumerate.
        long_sets = [tuple(values[: oracle.pad]), tuple(values[-oracle.pad :]), tuple(values)]
        sets = subsets(values) if oracle.size <= _MAX_ENUMERATED else [(), *sets[:_MAX_BASKETS], *long_sets]
    padding_text = "exactly one" if oracle.single else f"padded to {oracle.pad}"
    seeds = getattr(oracle, "seeds", None)
    seeds_text = "" if seeds is None else f", {seeds:,} published seeds"
    question = f"which of {oracle.size} candidates by {oracle.name}, {padding_text}{seeds_text}"
    question_form = {"ask": "which", "of": oracle.size}
    if oracle.single:  # the number of held items out of one item fewer: 0, 1, 2 …
        question_form = {"ask": "how-many", "of": oracle.size - 1, "bins": list(values)}
    people = {render_basket(entry): Holding(tuple(range(entry[0])) if oracle.single else entry) for entry in sets}
    return [
        DeviceCase(
            question,
            oracle,
            {render_basket(entry): entry for entry in sets},
            epsilon,
            _write_form(oracle, question_form),
            people,
        )
    ]


def _of_several(case: DeviceCase) -> DeviceCase:
    """Return a question to people with one basket and with several: equal ones and empty ones among them."""
    sets = list(case.baskets.values())
    # Large and small mixtures of baskets: a mixture loses no more than its worst basket.
    halves = sets[: len(sets) // 2], sets[len(sets) // 2 :]
    people: list[tuple[tuple[int, ...], ...]] = [(basket,) for basket in (sets[0], sets[1], sets[-1])]
    people += [(sets[0], sets[-1]), (sets[1], sets[1], sets[2]), *map(tuple, halves)]
    baskets_by_name = {" or ".join(map(render_basket, baskets)): baskets for baskets in people}
    values = {name: tuple(sorted(set().union(*baskets))) for name, baskets in baskets_by_name.items()}
    people_by_name = {name: Holding(baskets[0], others=baskets[1:]) for name, baskets in baskets_by_name.items()}
    return replace(case, question=f"{case.question}, for one of several baskets", baskets=values, people=people_by_name)


def _write_form(oracle: AnyOracle, question_form: Mapping[str, Any]) -> Form:
    return {"format": 1, **question_form, "epsilon": str(oracle.epsilon), "oracle": oracle.form}


def _weighing(oracle: MeanOracle, numbers: Sequence[int]) -> Form:
    """Return the question about one of several numbers: the first item of a row has the weight of the row."""
    side, span = len(numbers), oracle.span
    right = [1] + [0] * (side - 1)
    ends = {"left": list(numbers), "right": right, "low": -span, "high": span}
    return _write_form(oracle, {"ask": "projection", "pairs": "folded", "of": side * side, **ends})


def case_of(ask: Ask, people: Sequence[Holding], epsilon: Fraction) -> DeviceCase:
    """Return the question of a round, with the different values with which a list of people answers it.

    An oracle with very many kinds of reports names a smaller oracle of equal loss (`alike`): its candidates are the
    first ones and the last.
    """
    form, oracle = ask.form, getattr(ask.oracle, "alike", ask.oracle)
    check_followable(oracle)
    if oracle.size < ask.oracle.size:  # two values for each key
        keys = oracle.size // 2
        form = {**form, "of": [*form["of"][: keys - 1], form["of"][-1]], "oracle": oracle.form}
    person_by_values: dict[tuple[int, ...], Holding] = {}
    for person in people:
        values = person.values(form)
        if values or not oracle.single:
            person_by_values.setdefault(tuple(values), person)
    kept_values = (
        spread(list(person_by_values)) if isinstance(oracle, MeanOracle) else hard(list(person_by_values), oracle.pad)
    )
    question = f"the round {ask.name!r}: {oracle.size} values by {oracle.name}, padded to {oracle.pad}"
    baskets = {person_by_values[values].render(form): values for values in kept_values}
    return DeviceCase(
        question, oracle, baskets, epsilon, form, {name: person_by_values[values] for name, values in baskets.items()}
    )


def countable(oracle: AnyOracle) -> bool:
    """Return whether the ways of a device to answer are few enough to follow each, for any basket."""
    if isinstance(oracle, MeanOracle):
        return True
    form = getattr(oracle, "alike", oracle).form
    size, pad = form["size"], form["pad"]
    sampled = comb(max(size, pad), pad) if form["oracle"] in ("privset", "wheel") else max(size, pad)
    kinds = comb(size + form["dummies"], form["many"]) if "many" in form else 1 << size if "lie" in form else size
    return sampled * kinds <= _MAX_WAYS


def hard(sets: list[tuple[int, ...]], pad: int) -> list[tuple[int, ...]]:
    """Return the sets with the largest expected loss: empty and single sets, sets of the padding's size, the largest.

    Of the sets of the padding's size, the first and the last have least in common.
    """
    ordered = sorted(set(sets), key=lambda item_set: (len(item_set), item_set))
    max_size = len(ordered[-1])
    selected_sets = [item_set for item_set in ordered if len(item_set) in (0, max_size)]
    single = [item_set for item_set in ordered if len(item_set) == 1 and item_set not in selected_sets]
    selected_sets += (
        single if len(single) <= _MAX_BASKETS // 2 else single[: _MAX_BASKETS // 4] + single[-_MAX_BASKETS // 4 :]
    )
    full = [item_set for item_set in ordered if len(item_set) == min(pad, max_size) and item_set not in selected_sets]
    room = max(2, _MAX_BASKETS - len(selected_sets))
    return selected_sets + (full if len(full) <= room else full[: room // 2] + full[-(room // 2) :])


def spread(numbers: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return the smallest and the largest of the numbers, and some between them, evenly spread."""
    ordered = sorted(numbers)
    last_place = len(ordered) - 1
    return [
        ordered[place] for place in sorted({last_place * step // (_MAX_NUMBERS - 1) for step in range(_MAX_NUMBERS)})
    ]


def exact(cases: Sequence[DeviceCase]) -> tuple[Attempt, list[ReportLoss]]:
    """Return the attempt that enumerates the law of every report, and the largest loss of each case."""
    attack = Attack("exact", engine=DEVICE_NAME, paths=_ASKED_DEVICES)
    if not cases:
        return attack.attempt("", nothing="nothing: no question was put"), []
    losses = [case.loss() for case in cases]
    loss_shares = [inf if case.refused else _loss_share(loss, case) for loss, case in zip(losses, cases, strict=True)]
    worst_place = max(range(len(cases)), key=lambda place: loss_shares[place])
    loss, case = losses[worst_place], cases[worst_place]
    attack.add(_pair(loss.basket, loss.other_basket), case.question, loss.epsilon)
    attack.pairs = sum(comb(len(case.baskets), 2) for case in cases)
    report = loss.report if len(loss.report) <= _MAX_LETTERS else f"{loss.report[:_MAX_LETTERS]} …"
    if loss.ratio is None:
        attack.breach = f"Only one of them makes the report {report}."
    elif loss.ratio > exp_lower_bound(case.epsilon):
        attack.breach = f"The report {report} is {float(loss.ratio):.4g} times likelier for one of them."
    elif case.refused:
        attack.breach = f"No device answers it: {case.refused}"
    left_out = max(loss.left_out for loss in losses)
    partial_text = f"; up to {float(left_out):.2g} of what a device may do was left out" if left_out > _LEFT_OUT else ""
    if partial_text:
        attack.means = "partial"
    basket_count = sum(len(case.baskets) for case in cases)
    return attack.attempt(f"{len(cases)} questions, {basket_count} baskets{partial_text}"), losses


def _loss_share(loss: ReportLoss, case: DeviceCase) -> float:
    return inf if loss.ratio is None else loss.epsilon / float(case.epsilon)


def _pair(basket: str, other_basket: str) -> str:
    return f"one person who holds {basket}, or {other_basket} instead" if basket != other_basket else ""


def statistical(cases: Sequence[DeviceCase], losses: Sequence[ReportLoss], runs: int, seed: int) -> Attempt:
    """Return the attempt that runs devices on the two baskets of each case with the largest loss."""
    attack = Attack("statistical", engine=DEVICE_NAME, paths=_ASKED_DEVICES)
    trials = [
        (case, (loss.basket, loss.other_basket))
        for case, loss in zip(cases, losses, strict=True)
        if loss.basket != loss.other_basket
    ]

    def draw(place: int, side: int, count: int, is_measuring: bool) -> list[Features]:
        case, pair = trials[place]
        return _results(case, pair[side], pair, count, seed, "measuring" if is_measuring else "choosing")

    distinction = find_distinction(draw, len(trials), runs, 0)
    if distinction is None:
        return attack.attempt("", nothing="nothing: no two baskets answer differently")
    for place, (case, pair) in enumerate(trials):
        attack.add(_pair(*pair), case.question, distinction.loss if place == distinction.place else -inf)
    if distinction.loss > float(trials[distinction.place][0].epsilon):
        attack.breach = distinction.describe("reports")
    return attack.attempt(f"{len(trials)} pairs of baskets, {distinction.run_count:,} reports, seed {seed}")


def _results(
    case: DeviceCase, basket: str, pair: tuple[str, str], run_count: int, seed: int, stream_name: str
) -> list[Features]:
    stream, device = seed_of(seed, f"{case.question} {basket} {stream_name}"), case.device(basket)
    return [case.list_features(device(Draws(SeededWords(stream, run).take)), pair) for run in range(run_count)]
