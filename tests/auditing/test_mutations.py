"""Every erratum that breaks a promise, planted in the code that ships: the audit catches it, or a test does, by name.

Each line of the table says which erratum, what of the production code is changed, how, and who catches it with what
words. Those that cannot be planted are named below with the reason: a protocol sees no data, and time is not protected.
"""

# internals: this module plants the bugs of the errata in the modules that could have them.
from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from math import ceil, exp, log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.auditing import audit
from discreet.auditing._coupled import coupled
from discreet.auditing._exact import exact
from discreet.auditing._whole import whole
from discreet.curator.mechanisms import truncated
from discreet.curator.mechanisms.exponential import Exponential
from discreet.curator.mechanisms.truncated import Truncated
from discreet.curator.steps import ItemsetChoice, SizeHistogram, ThresholdLevels, _threshold_levels as threshold_levels
from discreet.curator.steps._threshold_levels import LONGEST_STEP
from discreet.exact import Kth, Largest, LocalEngine, _engine as engine, _search as search
from discreet.local.device import WEIGHT_SCALE, WORD, _answering as answering
from discreet.local.oracles import OLH
from discreet.local.oracles.grr import GRR
from discreet.local.oracles.privset import PrivSet
from discreet.local.study import Partition, PeopleGroup, SimulatedPeople
from discreet.privacy import Budget, Meter, Neighbours, _meter as meters, unsealed
from discreet.privacy.sampling import _samplers as samplers
from discreet.publish import Case, _resolving as resolving, _run as making

ADD_REMOVE, REPLACED = Neighbours.ADD_REMOVE, Neighbours.REPLACE
UNIT_BUDGET, LOOSE = Budget.of(1), Budget.of(1, "1/1000")
DEVICE = import_module("discreet.local.device._client")
ROOT = Path(__file__).parents[2]
Patch = pytest.MonkeyPatch
Plant = Callable[[Patch], None]


def by_audit(audited: Any, means: str = "", **options: Any) -> Callable[[], str]:
    """Return what breaks the claim: the attempt of these means, or the worst one."""

    def find_break() -> str:
        verdict = audit(audited, runs=20, **options)
        attempts = [
            attempt for attempt in verdict.attempts if not attempt.stands and attempt.means in (means or attempt.means)
        ]
        return attempts[0].why if attempts else ""

    return find_break


def by_coupling(mechanism: Any, neighbours: Neighbours = ADD_REMOVE, budget: Budget = UNIT_BUDGET) -> Callable[[], str]:
    return lambda: coupled(mechanism, budget, neighbours, 1).why


def by_test(path: str, name: str, *arguments: Any) -> Callable[[], str]:
    """Return what a test of the suite says when it is run by hand."""

    def find_failure() -> str:
        spec = spec_from_file_location(f"caught_by_{name}", ROOT / path)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        try:
            getattr(module, name)(*arguments)
        except AssertionError:
            return f"{path}::{name}"
        return ""

    return find_failure


def wrong_relation(patch: Patch) -> None:
    right = meters.moves
    patch.setattr(meters, "moves", lambda query, neighbours, baskets=1: right(query, ADD_REMOVE, baskets))


def silent(patch: Patch) -> None:
    right = DEVICE.client

    def client(form, basket, **options):
        pairs = options["after"] if form.get("pairs") == "after" else options["given"]
        return right(form, basket, **options) if answering.find_values(form, basket, pairs) else b""

    patch.setattr(DEVICE, "client", client)


def no_size_of_zero(patch: Patch) -> None:
    right = DEVICE.client

    def client(form, basket, **options):
        pairs = options["after"] if form.get("pairs") == "after" else options["given"]
        dropped = form["ask"] == "how-many" and answering.find_values(form, basket, pairs) == [0]
        return None if dropped else right(form, basket, **options)

    patch.setattr(DEVICE, "client", client)


def groups_by_basket(patch: Patch) -> None:
    right = SimulatedPeople.numbers
    patch.setattr(SimulatedPeople, "numbers", lambda self: np.sort(right(self)) ^ self.baskets.sizes.astype(np.uint32))


def asked_again(patch: Patch) -> None:
    patch.setattr(Partition, "next", lambda self, share: PeopleGroup(0, int(share * WORD)))


def everything_goes_along(patch: Patch) -> None:
    patch.setattr(making, "_drop_unused_items", lambda patterns: patterns)


def items_that_occur(patch: Patch) -> None:
    right = resolving.resolve_items

    def narrowed(items, baskets):
        vocabulary, list_text = right(items, baskets)
        names = set(map(str, baskets.vocabulary.take(np.flatnonzero(baskets.item_counts)).to_pylist()))
        occurring_places = [place for place, item in enumerate(vocabulary) if str(item) in names]
        return type(vocabulary)(vocabulary.take(np.array(occurring_places, np.int64))), list_text

    patch.setattr(resolving, "resolve_items", narrowed)


def one_dummy(patch: Patch) -> None:
    patch.setattr(GRR, "dummies", property(lambda self: 0 if self.single else 1))


def one_dummy_in_sets(patch: Patch) -> None:
    right = DEVICE.ANSWERS["privset"]

    def answer(oracle, values, draws):
        return right({**oracle, "pad": max(1, min(oracle["pad"], len(values)))}, values, draws)

    patch.setitem(DEVICE.ANSWERS, "privset", answer)


def fair_coin(patch: Patch) -> None:
    def make(cls, epsilon, size, *, pad=1, single=False):
        buckets = ceil(exp(epsilon) + 1)
        return cls(epsilon=epsilon, size=size, pad=pad, single=single, buckets=buckets, inside=WEIGHT_SCALE // 2)

    patch.setattr(OLH, "make", classmethod(make))


def delta_unsaid(patch: Patch) -> None:
    patch.setattr(OLH, "delta", Fraction(0))


def last_count_repeated(patch: Patch) -> None:
    right = LocalEngine._largest_by_size

    def repeated(self, floor, rank):
        largest, otherwise = right(self, floor, rank)
        larger_counts = [count for count in largest[1:] if count > otherwise]
        return largest, larger_counts[-1] if larger_counts else otherwise

    patch.setattr(LocalEngine, "_largest_by_size", repeated)


def too_few_comparisons(patch: Patch) -> None:
    def printed(asked_engine, count, meter, share, min_length, max_length):
        step_share, longest_length = share / max(1, ceil(log2(max_length - min_length + 1))), min_length
        while min_length <= max_length:  # the middle is left out on both sides
            middle = (min_length + max_length) // 2
            if meter.count(LONGEST_STEP, asked_engine, Largest(middle, 1), step_share).values[0] >= count:
                longest_length, min_length = middle, middle + 1
            else:
                max_length = middle - 1
        return longest_length

    patch.setattr(threshold_levels, "estimate_longest_length", printed)


def watch_data(patch: Patch) -> list[Any]:
    """Let what is planted in the mechanisms of cut baskets see the data, which none of them does."""
    engines: list[Any] = []
    right = ThresholdLevels.run

    def run(self, engine, problem, meter):
        engines[:] = [unsealed(engine)]
        return right(self, engine, problem, meter)

    patch.setattr(ThresholdLevels, "run", run)
    return engines


def longest_basket(patch: Patch) -> None:
    engines = watch_data(patch)
    patch.setattr(
        SizeHistogram, "covering_length", lambda self, share: max(1, int(engines[0].baskets.sizes.max(initial=1)))
    )


def raw_people(patch: Patch) -> None:
    right = Case.problem
    patch.setattr(Case, "problem", lambda self, item_count, people: right(self, item_count, max(1, len(self.baskets))))


def tuned_cut(patch: Patch) -> None:
    engines = watch_data(patch)
    patch.setattr(truncated, "choose_cut_length", lambda *given: max(1, int(np.median([1, *engines[0].baskets.sizes]))))


def shared_weights(patch: Patch) -> None:
    right = LocalEngine._truncate

    def truncate_together(self, truncation):
        rows = right(self, truncation)
        weights, row_codes = np.zeros(self.items), []
        for low, high in zip(self._rows.offsets[:-1], self._rows.offsets[1:], strict=True):
            row = self._rows.codes[low:high]
            row = row[np.argsort(-weights[row], kind="stable")[: truncation.longest]]
            weights[row] += 1  # seen by all later baskets
            row_codes.append(np.sort(row))
        offsets = np.concatenate(([0], np.cumsum([len(row) for row in row_codes]))).astype(np.int64)
        codes = np.concatenate([*row_codes, np.empty(0, np.int32)]).astype(np.int32)
        return type(rows)(offsets=offsets, codes=codes, is_allowed=rows.is_allowed, prefix=rows.prefix)

    patch.setattr(LocalEngine, "_truncate", truncate_together)


def unclipped(patch: Patch) -> None:
    def on_grid(form, total):
        low, high, span = form["low"], form["high"], form["oracle"]["span"]
        return 0 if low == high else int((4 * span * (total - low) + high - low) // (2 * (high - low)) - span)

    patch.setattr(answering, "_clip_to_grid", on_grid)
    patch.setattr(DEVICE, "_clip", lambda oracle, values: values[0])


def unclipped_by_the_oracle(patch: Patch) -> None:
    patch.setattr(DEVICE, "_clip", lambda oracle, values: values[0])


def close_is_good_enough(patch: Patch) -> None:
    patch.setattr(samplers, "_MARGIN", 0.0)


def doubled_exponent(patch: Patch) -> None:
    right = Meter.rate

    def rate(self, picks, share, way, **scores):
        return (2 if self.neighbours is REPLACED else 1) * right(self, picks, share, way, **scores)

    patch.setattr(Meter, "rate", rate)


def kth_released(patch: Patch) -> None:
    right = ItemsetChoice.run

    def run(self, engine, problem, meter):
        result = right(self, engine, problem, meter)
        kth = int(unsealed(engine.answer(Kth(problem.top, problem.min_length, problem.max_length)))[0])
        return replace(result, facts={**result.facts, "kth": kth})

    patch.setattr(ItemsetChoice, "run", run)


def smallest_mined(patch: Patch) -> None:
    right = search.count_of_rank

    def mined(rows, rank, min_length, max_length, work):
        if count := right(rows, rank, min_length, max_length, work):
            return count
        counts = search.search(
            rows, search.SearchBounds(count=1, min_length=min_length, max_length=max_length, limit=10**6)
        )[2]
        return int(counts.min(initial=rows.people)) if len(counts) else 0

    patch.setattr(engine, "count_of_rank", mined)


@dataclass(frozen=True)
class Mutation:
    """An erratum, what of the production code is changed, how, and who catches it with which words."""

    erratum: str
    place: str
    plant: Plant
    caught: Callable[[], str]
    words: str


OCCURRING = Exponential()
NUMBERS = {"items": 3, "rounds": 2, "fresh": 2}
MUTATIONS = [
    Mutation(
        "X1", "privacy._meter.moves", wrong_relation, by_coupling(Truncated(), REPLACED), "the noise that was added can"
    ),
    Mutation(
        "X2",
        "curator.steps._truncation.SizeHistogram.covering_length",
        longest_basket,
        by_coupling(Truncated()),
        "different queries",
    ),
    Mutation(
        "X3", "local.device._client.client", silent, by_audit("svim"), "sends nothing: silence tells what it holds"
    ),
    Mutation(
        "X4",
        "local.study._simulate.SimulatedPeople.numbers",
        groups_by_basket,
        by_audit("svim"),
        "so does who is asked",
    ),
    Mutation(
        "X5",
        "publish._run",
        everything_goes_along,
        lambda: whole(OCCURRING, LOOSE, ADD_REMOVE, 1).why,
        "in their items",
    ),
    Mutation(
        "X5",
        "publish._resolving.resolve_items",
        items_that_occur,
        by_coupling(OCCURRING),
        "chooses from|differ in|has ended",
    ),
    Mutation("A3", "local.oracles.grr.GRR.dummies", one_dummy, by_audit("grr"), "times likelier for one of them"),
    Mutation(
        "A3", "local.device._client.ANSWERS", one_dummy_in_sets, by_audit(PrivSet), "likelier for one|Only one of them"
    ),
    Mutation("A4", "local.oracles.olh.OLH.make", fair_coin, by_audit("olh"), "is 3 times likelier for one of them"),
    Mutation("A7", "local.device._client.client", silent, by_audit("svsm"), "sends nothing: silence tells"),
    Mutation("A7", "local.device._client.client", no_size_of_zero, by_audit("svsm"), "sends nothing: silence tells"),
    Mutation(
        "A14",
        "local.oracles.olh.OLH.delta",
        delta_unsaid,
        lambda: audit(OLH.sampled(Fraction(1), 9, pad=4, delta=Fraction(1, 100)), runs=20).worst.why,
        "times likelier|No device answers it",
    ),
    Mutation(
        "C1", "exact._engine.LocalEngine", last_count_repeated, by_coupling(Truncated()), "one person moves the answer"
    ),
    Mutation(
        "C2",
        "curator.steps._threshold_levels.estimate_longest_length",
        too_few_comparisons,
        by_test(
            "tests/curator/mechanisms/test_truncated.py",
            "test_the_longest_pattern_takes_as_many_comparisons_as_it_is_paid_for",
            32,
        ),
        "as_many_comparisons",
    ),
    Mutation(
        "C3",
        "curator.steps._truncation.SizeHistogram.covering_length",
        longest_basket,
        by_coupling(Truncated()),
        "different queries",
    ),
    Mutation("C4", "publish._case.Case.problem", raw_people, by_coupling(Truncated()), "differ"),
    Mutation(
        "C5",
        "curator.mechanisms.truncated.choose_cut_length",
        tuned_cut,
        by_coupling(Truncated()),
        "the two runs ask different queries",
    ),
    Mutation(
        "C6", "exact._engine.LocalEngine._truncate", shared_weights, by_coupling(Truncated(smart=False)), "one person"
    ),
    Mutation(
        "D5",
        "local.device.answering, local.device.client",
        unclipped,
        by_audit("relations", settings=NUMBERS),
        "likelier|Only one|sends|stops",
    ),
    Mutation("D5", "local.device._client._clip", unclipped_by_the_oracle, by_audit("duchi"), "likelier for"),
    Mutation(
        "D5", "local.device._client._clip", unclipped_by_the_oracle, by_audit("pm"), "likelier for|Only one of them"
    ),
    Mutation("D12", "local.study._conversation.Partition.next", asked_again, by_audit("svsm"), "ask the same people"),
    Mutation(
        "E7",
        "privacy.sampling._samplers._MARGIN",
        close_is_good_enough,
        by_test(
            "tests/privacy/sampling/test_samplers.py", "test_numbers_at_the_edge_are_looked_at_closely", Fraction(1, 3)
        ),
        "test_numbers_at_the_edge",
    ),
    Mutation(
        "E8", "privacy._meter.Meter.rate", doubled_exponent, by_coupling(OCCURRING, REPLACED), "can reveal 1, and 0.5"
    ),
    Mutation(
        "E9",
        "curator.steps._itemset_choice.ItemsetChoice.run",
        kth_released,
        by_coupling(OCCURRING),
        "differ in their facts",
    ),
    Mutation("E11", "exact._engine.count_of_rank", smallest_mined, by_coupling(OCCURRING), "one person moves a score"),
    Mutation(
        "E11",
        "exact._engine.count_of_rank",
        smallest_mined,
        lambda: exact(OCCURRING, UNIT_BUDGET, ADD_REMOVE).why,
        "differ by a factor of exp",
    ),
]

# Marked as breaking a promise, and nothing of ours to plant it in.
ELSEWHERE = {
    "A16": "a protocol sees no data, so no padding can be taken from them: the published form is the lab's alone",
    "B10": "a protocol sees no data, so no weight can be tuned on them",
    "C15": "the truth is known to comparisons of the lab alone, and time is not protected",
}


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: f"{mutation.erratum} in {mutation.place}")
def test_it_is_caught(mutation, monkeypatch):
    mutation.plant(monkeypatch)
    reason = mutation.caught()
    assert re.search(mutation.words, reason), reason or "not caught"


def test_every_erratum_that_breaks_a_promise_is_planted_or_cannot_be():
    text = (ROOT / "docs" / "errata.md").read_text()
    private = {
        letter
        for letters in re.findall(r"^- \*\*([^*]+)\*\*, \*privacy\*", text, re.MULTILINE)
        for letter in letters.split(", ")
    }
    planted = {mutation.erratum for mutation in MUTATIONS}
    assert private <= planted | ELSEWHERE.keys()
    assert not planted & ELSEWHERE.keys()


def test_a_test_that_is_run_by_hand_says_nothing_about_the_code_as_it_is():
    # That the audit says nothing about it is what `tests/auditing/test_registry.py` is for.
    for mutation in MUTATIONS:
        if mutation.erratum in ("C2", "E7"):
            assert mutation.caught() == ""
