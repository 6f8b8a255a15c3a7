"""Results that are private: what travels with them, noisy counts, and no counts at all."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from discreet.errors import InputError, MisuseError
from discreet.privacy import Budget, Charge, Guarantee, Neighbours
from discreet.results import load, measure_bounds, promise_lines, rules
from discreet.results._measures import MEASURES, measure
from discreet.results._patterns import Pattern
from naive.rules import make_patterns

formats = pytest.mark.parametrize("form", ["csv", "json", "parquet"])

PROMISE = Guarantee.of(Budget.of(1), [Charge.pure("counts", Fraction(1))], public=("the list of items",))
ABOUT_RELEASE = {
    "guarantee": PROMISE.to_dict(),
    "simulated": False,
    "mechanism": "laplace",
    "asked": {"top": 3},
    "settings": {"rate": 0.5},
    "facts": {"people": 11},
    "notes": ["Ünïcode, \"quotes\" and 'others'."],
    "when": "2026-11-20",
}
CHANGED = "its columns say something else than the column 'about': it was changed by hand."
COUNTS = {frozenset({"tea"}): 8, frozenset({"milk"}): 6, frozenset({"tea", "milk"}): 5}


def private(**changes):
    bounds = {"low": np.array([6.0, 4.0, 3.0]), "high": np.array([10.0, 8.0, 7.0]), "about": ABOUT_RELEASE}
    return make_patterns(COUNTS, 11, **(bounds | changes))


def bare(description=ABOUT_RELEASE):
    return make_patterns(dict.fromkeys(COUNTS, 0), 11, about=description, counted=False)


def test_about_travels_with_patterns_and_rules():
    result = private()
    for part in (result[1:], result[::-1], result.where(contains="tea"), result.sort("size"), result.top(1)):
        assert part.provenance is result.provenance
    for part in (result.rules(0), result.rules(0)[:1], result.rules(0).where(min_lift=1), result.rules(0).top(1)):
        assert part.provenance is result.provenance
    assert result == private()
    assert result != private(about=None)
    assert result != private(about=ABOUT_RELEASE | {"simulated": True})
    assert result.rules(0) != private(about=None).rules(0)


@formats
def test_private_results_come_back(tmp_path, form):
    path = tmp_path / f"a.{form}"
    for result in (
        private(),
        private(people_within=(9, 13)),
        private().rules(0.1),
        private(people_within=(9, 13)).rules(0.1),
        private().rules(0.1)[:0],
        bare(),
        private()[:0],
        bare()[:0],
        private(about={"simulated": True}),
        private(about={"guarantee": None, "simulated": True})[:0],
    ):
        result.save(path)
        back = load(path)
        assert back == result
        assert list(back) == list(result)


@formats
def test_a_seeded_run_and_a_release_are_never_the_same_bytes(tmp_path, form):
    for name, result in (("real", private()), ("tried", private(about=ABOUT_RELEASE | {"simulated": True}))):
        result.save(tmp_path / f"{name}.{form}")
        result[:0].save(tmp_path / f"{name}-empty.{form}")
        result.rules(0.1).save(tmp_path / f"{name}-rules.{form}")
    for part in ("", "-empty", "-rules"):
        assert (tmp_path / f"real{part}.{form}").read_bytes() != (tmp_path / f"tried{part}.{form}").read_bytes()


def test_a_table_in_text_repeats_its_promise_in_every_row(tmp_path):
    path = tmp_path / "a.csv"
    private(about=ABOUT_RELEASE | {"simulated": True}).save(path)
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 3
    for row in rows:
        promise = {name: row[name] for name in ("model", "neighbours", "epsilon", "delta", "simulated", "people")}
        assert promise == {
            "model": "central", "neighbours": "add-remove", "epsilon": "1", "delta": "0", "simulated": "true",
            "people": "11",
        }  # fmt: skip
    assert [bool(row["about"]) for row in rows] == [True, False, False]
    # Whoever removes the first row, or sorts the table, does not remove the promise.
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[0], *lines[2:]]), encoding="utf-8")
    back = load(path)
    assert promise_lines(back) == [str(PROMISE), "SIMULATED: not a private release"]
    path.write_text("\n".join([lines[0], *lines[:0:-1]]), encoding="utf-8")
    assert load(path).about == ABOUT_RELEASE | {"simulated": True}


@pytest.mark.parametrize(
    ("original_text", "changed_text", "message"),
    [
        (',"2","0",', ',"1","0",', "the column 'epsilon' must be the same in all rows, but has 2 values."),
        ('"simulated"": true', '"simulated"": false', CHANGED),
        ('""epsilon"": ""2""', '""epsilon"": ""9""', CHANGED),
        ('""people"": 192', '""people"": 193', CHANGED),
        ('"{""discreet', '"[""discreet', "the column 'about' does not hold what discreet wrote there."),
        ("patterns/1", "rules/1", "the column 'about' speaks of rules, and the table has patterns."),
    ],
)
def test_a_promise_that_was_changed_by_hand_is_refused(tmp_path, original_text, changed_text, message):
    """In a file of an earlier version, which has all of it in the column `about`."""
    path = tmp_path / "a.csv"
    text = (Path(__file__).parent / "earlier" / "patterns.csv").read_text(encoding="utf-8")
    assert original_text in text
    path.write_text(text.replace(original_text, changed_text, 1), encoding="utf-8")
    with pytest.raises(InputError) as raised:
        load(path)
    assert str(raised.value) == f"{path}: {message}"


def test_what_a_private_file_says(tmp_path):
    private().save(tmp_path / "a.json")
    document = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert document == {"discreet": "patterns/1", "people": 11, "noise_from": None} | ABOUT_RELEASE | {
        "patterns": document["patterns"]
    }
    assert document["patterns"][0] == {
        "items": ["tea"], "count": 8, "support": 8 / 11, "low": 6, "high": 10, "support_low": 6 / 11,
        "support_high": 10 / 11,
    }  # fmt: skip
    private().rules(0.7).save(tmp_path / "b.json")
    (rule,) = json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))["rules"]
    assert (rule["confidence_low"], rule["confidence"], rule["confidence_high"]) == (3 / 8, 5 / 6, 1)
    bare().save(tmp_path / "c.json")
    document = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    assert document["counted"] is False
    assert document["patterns"][0] == {"items": ["milk"], "count": None, "support": None}
    bare().save(tmp_path / "c.csv")
    head, first_row = (tmp_path / "c.csv").read_text(encoding="utf-8").splitlines()[:2]
    assert head == "items,count,support,people,model,neighbours,epsilon,delta,simulated,about"
    assert first_row.startswith('"milk",,,11,"central","add-remove","1","0",false,"c.csv.about.json sha256:')


def test_patterns_without_counts_show_none():
    result = bare()
    assert list(result)[:1] == [Pattern(frozenset({"milk"}), None, None)]
    assert result.count_of({"tea"}) is None
    assert {"tea", "milk"} in result
    assert {"jam"} not in result
    assert np.isnan(result.supports).all()
    assert result.to_arrow().select(["count", "support"]).to_pylist() == [{"count": None, "support": None}] * 3
    assert result.to_pandas()[["count", "support"]].isna().all(axis=None)
    assert result[1:].counted is result.where(lengths=1).counted is result.sort("size").counted is False
    assert result != make_patterns(dict.fromkeys(COUNTS, 0), 11, about=ABOUT_RELEASE)
    assert repr(result).splitlines()[2:] == [
        "items       count   support",
        "───────────────────────────",
        "milk            –         –",
        "tea             –         –",
        "milk, tea       –         –",
    ]


@pytest.mark.parametrize(
    ("call", "act"),
    {
        "rules()": lambda: bare().rules(),
        "where(min_count=...)": lambda: bare().where(min_count=1),
        "where(min_support=...)": lambda: bare().where(min_support=0.1),
        'sort("count")': lambda: bare().sort(),
        "top()": lambda: bare().top(1),
        "to_dict()": lambda: bare().to_dict(),
    }.items(),
)
def test_what_needs_counts_says_so(call, act):
    with pytest.raises(MisuseError) as raised:
        act()
    assert str(raised.value) == (
        f"{call} needs counts, and these are patterns only: release them with counts. The itemsets are "
        "{pattern.items for pattern in patterns}."
    )


@pytest.mark.parametrize(
    "leak",
    [
        lambda: make_patterns(COUNTS, 11, counted=False),
        lambda: make_patterns({frozenset({1}): 0}, 11, low=np.array([1.0]), counted=False),
        lambda: make_patterns({frozenset({1}): 0}, 11, high=np.array([1.0]), counted=False),
    ],
)
def test_patterns_only_cannot_carry_counts(leak):
    with pytest.raises(MisuseError) as raised:
        leak()
    assert str(raised.value) == "Patterns without counts have zeros for counts, and neither low nor high."


def test_rules_have_an_interval_for_the_confidence():
    first_rule, second = private().rules(0)
    assert (first_rule.antecedent, first_rule.low, first_rule.high) == (frozenset({"milk"}), 3 / 8, 1)
    assert (second.antecedent, second.low, second.high) == (frozenset({"tea"}), 3 / 10, 1)
    tight = private(low=np.array([7.0, 5.5, 4.0]), high=np.array([9.0, 6.5, 5.0])).rules(0)
    assert tight.low.tolist() == [4 / 6.5, 4 / 9]
    assert tight.high.tolist() == [5 / 5.5, 5 / 7]
    assert tight.sort("confidence_low", descending=False) == tight[::-1]
    assert tight[1:].high.tolist() == tight.where(antecedent="tea").high.tolist() == [5 / 7]
    assert tight.to_arrow().column_names[-12:] == list(tight.to_pandas().columns[-12:]) == [
        "confidence_low", "confidence_high", "support_low", "support_high", "lift_low", "lift_high", "antecedent_low",
        "antecedent_high", "consequent_low", "consequent_high", "count_low", "count_high",
    ]  # fmt: skip
    exact = make_patterns(COUNTS, 11).rules(0)
    assert (exact.low, exact.high, exact[0].low, exact.about) == (None, None, None, None)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ([np.nan] * 3, [np.nan] * 3, (0, 1)),
        ([-5, -5, -5], [0, 0, 0], (0, 1)),
        ([-5, -5, 2], [-1, -1, 3], (0, 1)),
        ([4, 4, -9], [8, 8, -1], (0, 0)),
        ([-np.inf] * 3, [np.inf] * 3, (0, 1)),
        ([1e-320] * 3, [9, 9, 9], (0, 1)),
        ([4, 4, 9], [5, 5, 12], (1, 1)),
        ([4, 4, np.nan], [8, 8, 2], (0, 0.5)),
    ],
)
def test_intervals_at_the_edge(low, high, expected):
    found_rules = private(low=np.array(low, float), high=np.array(high, float)).rules(0)
    assert len(found_rules) == 2
    for rule in found_rules:
        assert (rule.low, rule.high) == pytest.approx(expected)


noisy_counts = st.dictionaries(
    st.frozensets(st.sampled_from("abcd"), min_size=1, max_size=4), st.integers(-20, 40), min_size=1, max_size=15
)
# What each measure can be at all, with counts that could be true.
RANGES = {
    "confidence": (0, 1), "conviction": (0, np.inf), "cosine": (0, 1), "jaccard": (0, 1), "kulczynski": (0, 1),
    "certainty": (-np.inf, 1), "zhang": (-1, 1),
}  # fmt: skip


@given(noisy_counts, st.integers(0, 40), st.sampled_from([0.0, 0.5, 1.0]))
@example({frozenset("a"): 3, frozenset("b"): 2, frozenset("ab"): 9}, 4, 0.5)
@example({frozenset("a"): 9, frozenset("b"): 9, frozenset("ab"): 0}, 4, 0.0)
@example({frozenset("a"): 0, frozenset("b"): -3, frozenset("ab"): 9}, 0, 0.0)
def test_rules_of_noisy_counts(counts, people, min_confidence):
    order = sorted(counts, key=lambda itemset: (-counts[itemset], len(itemset), sorted(itemset)))
    low, high = (np.array([counts[itemset] + shift for itemset in order], float) for shift in (-5, 5))
    found_rules = rules(make_patterns(counts, people, low=low, high=high), min_confidence)
    expected = {
        (left_side, union - left_side)
        for union in counts
        for left_side in counts
        if left_side < union and union - left_side in counts and counts[left_side] > 0
        and counts[union - left_side] > 0
        and counts[union] / counts[left_side] >= min_confidence
    }  # fmt: skip
    assert {(rule.antecedent, rule.consequent) for rule in found_rules} == expected
    for rule in found_rules:
        assert rule.confidence == min(1, counts[rule.antecedent | rule.consequent] / counts[rule.antecedent])
        assert 0 <= rule.low <= rule.confidence <= rule.high <= 1
    keys = [(-rule.confidence, -rule.count) for rule in found_rules]
    assert keys == sorted(keys)
    for name in MEASURES:
        column = found_rules.measure(name)
        smallest, largest = RANGES.get(name, (-np.inf, np.inf))
        assert not np.isnan(column).any()
        assert ((column >= smallest - 1e-12) & (column <= largest + 1e-12)).all(), name


@given(st.lists(st.integers(1, 20), min_size=4, max_size=4), st.lists(st.integers(0, 3), min_size=4, max_size=4))
@example([4, 5, 6, 7], [3, 0, 0, 0])
@example([4, 5, 6, 7], [0, 2, 2, 2])
def test_a_measure_lies_within_what_intervals_of_its_counts_allow(parts, slack):
    both_count, antecedent_only, consequent_only, neither_count = parts
    counts = (
        both_count + antecedent_only + consequent_only + neither_count,
        both_count + antecedent_only,
        both_count + consequent_only,
        both_count,
    )
    (people, *sides) = ((count - margin, count + margin) for count, margin in zip(counts, slack, strict=True))
    ends = [tuple(np.array([end], float) for end in side) for side in sides]
    for name in MEASURES:
        low, high = measure_bounds(name, people, *ends)
        true_value = measure(name, counts[0], *(np.array([count]) for count in counts[1:]))
        assert low[0] - 1e-9 <= true_value[0] <= high[0] + 1e-9, name


def test_exact_rules_are_not_touched():
    # Counts that could not be true, said to be exact: nothing is cut.
    assert make_patterns(COUNTS | {frozenset({"tea", "milk"}): 9}, 11).rules(0)[0].confidence == 1.5


@pytest.mark.parametrize(
    "promise",
    [
        PROMISE,
        Guarantee.of(Budget.of("1/3"), [Charge.pure("a", Fraction(1, 3))], neighbours=Neighbours.REPLACE),
        Guarantee.of(Budget.of("0.35"), [Charge.pure("a", Fraction("0.35"))], model="local"),
        Guarantee.of(Budget.of(1, "1e-6"), [Charge.gaussian("a", Fraction(1, 50))]),
    ],
)
def test_the_promise_reads_as_the_guarantee_says_it(promise):
    assert promise_lines(private(about={"guarantee": promise.to_dict()})) == [str(promise)]


def test_promises_under_the_headline():
    headline = "central differential privacy, add or remove one person, epsilon = 1"
    assert repr(private()).splitlines()[:2] == ["3 patterns of 11 people", headline]
    assert repr(private()[:0]).splitlines() == ["0 patterns of 11 people", headline]
    simulated = private(about=ABOUT_RELEASE | {"simulated": True})
    assert repr(simulated).splitlines()[1:3] == [headline, "SIMULATED: not a private release"]
    assert f"</strong><br>{headline}<br>SIMULATED: not a private release</p>" in simulated._repr_html_()
    assert repr(simulated.rules(0.7)) == (
        "1 rule of 11 people\n"
        f"{headline}\n"
        "SIMULATED: not a private release\n"
        "rule         count   support   confidence      low     high   lift   from     to   adj. p\n"
        "─────────────────────────────────────────────────────────────────────────────────────────\n"
        "milk → tea       5    0.4545       0.8333   0.3750   1.0000   1.15   0.41   3.21        1"
    )


@pytest.mark.parametrize(
    ("description", "lines"),
    [
        ({}, []),
        ({"guarantee": None}, []),
        ({"guarantee": {"model": "\x1b[31m", "neighbours": "<b>", "epsilon": "2"}},
         ["\\x1b[31m differential privacy, <b>, epsilon = 2"]),
    ],
)  # fmt: skip
def test_a_promise_from_a_strange_file_is_shown_not_obeyed(description, lines):
    assert promise_lines(private(about=description)) == lines
    assert "<b>" not in private(about=description)._repr_html_()
