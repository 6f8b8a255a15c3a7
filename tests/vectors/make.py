"""Write the golden vectors of wire format 1: `python tests/vectors/make.py`.

They are frozen: a difference means that devices in the field and collectors would no longer understand each other, so
the format's number has to change with them. Each file has cases of one oracle. A good case is a question, a basket,
the random bytes the device uses (hexadecimal) and the report as text. A bad one is a
question with the words a device refuses it with.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from discreet.exact.relating import How
from discreet.local.asking import Ask, Who
from discreet.local.client import ANSWERS, client
from discreet.local.draws import Draws
from discreet.local.oracles.known import means, oracles
from discreet.local.oracles.olh import OLH
from discreet.local.pair_questions import Folded, HowManyRelations, Items, Projection, Relations, Valued, WhichRelations
from discreet.local.questions import Candidates, Cells, HowMany, Prefix, Question, Which
from discreet.local.stream import Stream, seed_of

HERE = Path(__file__).parent / "v1"
BASKETS = ([], [3], [1, 2], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [4, 99, 10**9], [40, 41])
WHO = Who(0, 1 << 32)


class Recorded:
    """Bytes of a stream, remembered."""

    def __init__(self, what: str) -> None:
        self.stream, self.bytes = Stream(seed_of(1, what), 0), b""

    def take(self, count: int) -> bytes:
        taken = self.stream.take(count)
        self.bytes += taken
        return taken


def questions(name: str) -> list[Ask]:
    some = Candidates(itemsets=((3,), (1, 2), (5, 6, 7), (4,), (8, 9)))
    asked = [
        (Which(Candidates(10)), 1, "1"),
        (Which(Candidates(70)), 3, "1/2"),
        (Which(some), 2, "2"),
        (HowMany.up_to(Candidates(10), 4), 1, "1"),
        (HowMany(some, (0, 1, 3)), 1, "4"),
        (Prefix(order=(4, 3, 2, 1), of=((4, 3), (3, 2), (2, 1)), length=2), 1, "1"),
    ]
    return [Ask.of("", WHO, question, name, Fraction(epsilon), pad=pad) for question, pad, epsilon in asked]


def good(name: str) -> list[dict[str, object]]:
    asks = questions(name)
    if name == "olh":
        sampled = OLH.sampled(Fraction(2), 10, pad=8, delta=Fraction(1, 100))
        asks.append(Ask(name="", who=WHO, question=Which(Candidates(10)), oracle=sampled))
    cases = []
    for number, ask in enumerate(asks):
        for basket in BASKETS:
            source = Recorded(f"{name} {number} {basket}")
            report = client(ask.form, basket, fail=0.01, take=source.take)
            cases.append(
                {
                    "question": ask.form,
                    "basket": basket,
                    "random": source.bytes.hex(),
                    "report": report.decode(),
                }
            )
    return cases


def numbers(name: str) -> list[dict[str, object]]:
    """Return cases of a mean oracle: no question asks for a number yet, so that the oracle is given by itself."""
    cases = []
    for epsilon in ("1/2", "1", "3"):
        for span in (8, 1024):
            oracle = means()[name].make(Fraction(epsilon), span)
            for value in (-span - 1, -span, 0, 3, span, 10**6):
                source = Recorded(f"{name} {epsilon} {span} {value}")
                report = ANSWERS[name](oracle.form, [value], Draws(source.take))
                text = json.dumps(report, separators=(",", ":"))
                cases.append(
                    {
                        "oracle": oracle.form,
                        "number": value,
                        "random": source.bytes.hex(),
                        "report": text,
                    }
                )
    return cases


def further() -> list[dict[str, object]]:
    """Return cases of questions that came after the first: cells, and relations as keys with values."""
    cells = Cells((4, 1, 2))
    together, own = (Relations(Items((1, 2, 4), how), ((1, 2), (2, 1), (4, 1))) for how in ("together", "given"))
    asked: list[tuple[Question, str, int]] = [
        (cells, "grr", 1),
        (cells, "subset", 1),
        (Valued(together), "grr", 2),
        (Valued(together, absent=True), "pckv-ue", 3),
        (Valued(own), "pckv-ue", 1),
        (Valued(own, absent=True), "grr", 2),
    ]
    cases = []
    for number, (question, name, pad) in enumerate(asked):
        ask = Ask.of("", WHO, question, name, Fraction(1), pad=pad)
        for basket in BASKETS:
            given = [(one, other) for one, other in ((1, 2), (2, 1), (4, 1)) if {one, other} <= set(basket)][:2]
            source = Recorded(f"further {number} {basket}")
            report = client(ask.form, basket, given=given, take=source.take)
            cases.append(
                {
                    "question": ask.form,
                    "basket": basket,
                    "given": [list(pair) for pair in given],
                    "after": [],
                    "random": source.bytes.hex(),
                    "report": report.decode(),
                }
            )
    return cases


def related() -> list[dict[str, object]]:
    """Return cases about relations one by one, and of one number of each person's."""
    asks, epsilon = [], Fraction(1)
    kinds: tuple[How, ...] = ("together", "given", "after")
    for how in kinds:
        items = Items((1, 2, 3, 4), how, ((1, 2), (3, 4)))
        of = Relations(items, ((1, 2), (2, 1), (3, 4), (1, 2, 3)))
        for name, pad in (("grr", 2), ("wheel", 3), ("olh", 1)):
            asks.append(Ask.of("", WHO, WhichRelations(of), name, epsilon, pad=pad))
            asks.append(Ask.of("", WHO, HowManyRelations(of, (0, 1, 3)), "subset" if pad == 2 else "oue", epsilon))
        weights = {"left": (3, -1, 2, 5, -4, 1), "right": (1, 2, -3, 1, 7, -2), "low": -30, "high": 41}
        asks += [Ask.mean("", WHO, Projection(items=items, **weights), name, epsilon) for name in means()]
    folded = Folded(items=10, left=(1, -2, 3, 1), right=(2, 1, 0, -1), low=-3, high=4)
    asks += [Ask.mean("", WHO, folded, name, epsilon) for name in means()]
    one = Folded(items=2, left=(1, 1), right=(0, 0), low=0, high=0)
    asks.append(Ask.mean("", WHO, one, "pm", epsilon))
    holders: list[tuple[list[int], list[list[int]]]] = [
        ([], []),
        ([1], [[1, 2]]),
        ([1, 2, 3], [[1, 2], [2, 3], [2, 1]]),
        ([1, 2, 3, 4, 9], [[1, 2], [2, 3], [3, 4], [4, 1], [9, 1], [2, 9]]),
    ]
    cases = []
    for number, ask in enumerate(asks):
        for basket, given in holders:
            after = [[second, first] for first, second in given if first in basket and second in basket]
            source = Recorded(f"related {number} {basket}")
            report = client(ask.form, basket, given=map(tuple, given), after=map(tuple, after), take=source.take)
            cases.append(
                {
                    "question": ask.form,
                    "basket": basket,
                    "given": given,
                    "after": after,
                    "random": source.bytes.hex(),
                    "report": report.decode(),
                }
            )
    return cases


def bad() -> list[dict[str, object]]:
    """Return questions that are refused, whatever the basket."""
    grr, wheel, privset = (questions(name)[1].form for name in ("grr", "wheel", "privset"))
    single = questions("grr")[3].form
    fair = {**questions("olh")[0].form["oracle"], "buckets": 4, "inside": str(1 << 63)}
    sampled = OLH.sampled(Fraction(2), 10, pad=8, delta=Fraction(1, 100))
    failing = Ask(name="", who=WHO, question=Which(Candidates(10)), oracle=sampled).form
    number = {
        **{key: grr[key] for key in ("format", "epsilon")},
        "ask": "projection",
        "of": [0, 1, 2],
        "pairs": "together",
        "left": [1, 2, 3],
        "right": [3, 2, 1],
        "low": 0,
        "high": 36,
        "oracle": means()["duchi"].make(Fraction(grr["epsilon"])).form,
    }
    cases: list[tuple[str, dict[str, object]]] = [
        ("another format", {**grr, "format": 2}),
        ("a question that is not known", {**grr, "ask": "why"}),
        ("no epsilon", {key: value for key, value in grr.items() if key != "epsilon"}),
        ("a smaller epsilon than the numbers have", {**grr, "epsilon": "1/4"}),
        ("an epsilon of nothing", {**grr, "epsilon": "0"}),
        ("one dummy for all of the padding", {**grr, "oracle": {**grr["oracle"], "dummies": 1, "size": 72}, "of": 72}),
        ("too few dummies of a set", {**privset, "oracle": {**privset["oracle"], "dummies": 1}}),
        ("too many buckets for a fair coin", {**questions("olh")[0].form, "oracle": fair}),
        ("arcs that cover the wheel", {**wheel, "oracle": {**wheel["oracle"], "arc": (1 << 32) // 3 + 1}}),
        ("a weight that is no probability", {**wheel, "oracle": {**wheel["oracle"], "inside": str(1 << 64)}}),
        ("a weight that is not whole", {**grr, "oracle": {**grr["oracle"], "inside": "0.5"}}),
        ("an oracle that is not known", {**grr, "oracle": {**grr["oracle"], "oracle": "best"}}),
        ("more candidates than the oracle has", {**grr, "of": 71}),
        ("no answer for the empty-handed", {**single, "ask": "which", "of": 5}),
        ("bins that do not begin at 0", {**single, "bins": [1, 2, 3, 4, 5]}),
        ("a candidate that is no item", {**grr, "of": [["a", 1]] * 70}),
        ("numbers of another oracle beside its own", {**grr, "oracle": {**grr["oracle"], "span": 10}}),
        ("one number asked for through an oracle of values", {**number, "oracle": {**grr["oracle"], "span": 10}}),
        ("values asked for through an oracle of one number", {**grr, "oracle": number["oracle"]}),
        ("a format that passes for 1", {**grr, "format": True}),
        ("an epsilon that is no number", {**grr, "epsilon": "1/0"}),
        ("more than a device can draw from", {**grr, "oracle": {**grr["oracle"], "pad": 1 << 33}}),
        ("an epsilon with an exponent", {**grr, "epsilon": "1e3000000"}),
        ("a weight of many digits", {**number, "left": [1 << 21, 2, 3]}),
        ("a range of many digits", {**number, "high": 1 << 54}),
        ("pairs of a kind that is not known", {**number, "pairs": "own"}),
        ("very many values that may meet", {**failing, "oracle": {**failing["oracle"], "share": 1 << 13}}),
        ("a delta the device does not give", failing),
        ("a delta that is hidden", {key: value for key, value in failing.items() if key != "delta"}),
    ]
    written = []
    for what, question in cases:
        try:
            client(question, [1])
        except ValueError as error:
            written.append({"what": what, "question": question, "refused": str(error)})
        else:
            raise AssertionError(f"not refused: {what}")
    return written


def files() -> dict[str, str]:
    """Return what each file holds."""
    cases = {name: good(name) for name in oracles() if name in ANSWERS}
    cases |= {name: numbers(name) for name in means()}
    cases["further"] = further()
    cases["related"] = related()
    cases["refused"] = bad()
    lines = {name: ",\n".join(json.dumps(case, separators=(",", ":")) for case in some) for name, some in cases.items()}
    return {f"{name}.json": f"[\n{text}\n]\n" for name, text in lines.items()}


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for name, text in files().items():
        (HERE / name).write_text(text)
