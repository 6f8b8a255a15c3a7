from __future__ import annotations

import re
from io import BytesIO, StringIO, TextIOWrapper

import numpy as np
import pytest
from rich.console import Console

from discreet import mine, release
from discreet.results import DROWNED, table
from naive.rules import count_patterns, make_patterns

NAMES = make_patterns(
    {
        frozenset({"tea"}): 1200,
        frozenset({"milk, cold"}): 900,
        frozenset({"[red]x[/red]", "tea"}): 700,
        frozenset({"a\x1b[31mb", "<b>"}): 50,
    },
    2000,
)


def test_patterns_as_text():
    assert repr(NAMES) == (
        "4 patterns of 2,000 people\n"
        "items               count   support\n"
        "───────────────────────────────────\n"
        "tea                 1,200    0.6000\n"
        '"milk, cold"          900    0.4500\n'
        "[red]x[/red], tea     700    0.3500\n"
        "<b>, a\\x1b[31mb        50    0.0250"
    )


def test_rules_as_text():
    rules = make_patterns(count_patterns([{"tea", "milk"}, {"tea", "milk"}, {"tea"}, set()]), 4).rules(0.6)
    assert repr(rules) == (
        "2 rules of 4 people\n"
        "rule         count   support   confidence   lift   adj. p\n"
        "─────────────────────────────────────────────────────────\n"
        "milk → tea       2    0.5000       1.0000   1.33      0.5\n"
        "tea → milk       2    0.5000       0.6667   1.33      0.5"
    )


def test_what_was_left_out_is_said():
    rules = make_patterns({frozenset({1, 2}): 3}, 9).rules()
    assert repr(rules) == "0 rules of 9 people; 2 left out, because a side is not among the patterns"


def test_empty_and_one():
    assert repr(make_patterns({}, 1)) == "0 patterns of 1 person"
    assert repr(make_patterns({frozenset(): 1}, 1)).splitlines()[0] == "1 pattern of 1 person"
    assert "(no item)" in repr(make_patterns({frozenset(): 1}, 1))


def test_bounds_are_shown():
    private = make_patterns({frozenset({7}): 1500}, 4000, low=np.array([1432.4]), high=np.array([1567.6]))
    assert repr(private).splitlines()[1:] == [
        "items   count   support     low    high",
        "───────────────────────────────────────",
        "7       1,500    0.3750   1,432   1,568",
    ]


def test_what_is_mostly_noise_says_so_first():
    counts = {frozenset({1}): 40, frozenset({2}): 30, frozenset({3}): 20}
    for low, is_mostly_noise in ((np.array([9.0, 0, 0]), True), (np.array([9.0, 1, 0]), False)):
        private = make_patterns(counts, 4000, low=low, high=np.full(3, 90.0))
        number = 2 if is_mostly_noise else 3
        assert repr(private).startswith(
            f"3 patterns of 4,000 people; {int(is_mostly_noise) + 1} may be held by nobody, from number {number} on\n"
        )
        assert (DROWNED in " ".join(repr(private).split())) is (DROWNED in private._repr_html_()) is is_mostly_noise
    assert DROWNED not in repr(make_patterns(counts, 4000))


@pytest.mark.parametrize("show", [repr, lambda result: result._repr_html_()])
def test_many_patterns_and_long_ones_stay_small(show):
    long_itemset = frozenset(f"an item with quite a long name {place}" for place in range(500))
    counts = {frozenset({f"item {place}"}): place for place in range(3000)} | {long_itemset: 5000}
    text = show(make_patterns(counts, 5000))
    assert len(text) < 3000
    assert "… and 2,991 more" in text


def test_the_environment_does_not_colour_the_text(monkeypatch):
    plain = repr(NAMES)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "20")
    test_patterns_as_text()
    assert repr(NAMES) == plain


def test_rich_prints_the_same_table():
    from rich.console import Console

    stream = StringIO()
    Console(file=stream, width=100, color_system=None).print(NAMES)
    assert [line.rstrip() for line in stream.getvalue().splitlines()] == repr(NAMES).splitlines()


def test_html():
    html = NAMES[2:]._repr_html_()
    right, left_cell = '<td style="text-align: right">', '<td style="text-align: left">'
    assert html == (
        "<div><p><strong>2 patterns of 2,000 people</strong></p><table><thead><tr>"
        "<th>items</th><th>count</th><th>support</th></tr></thead><tbody>"
        f"<tr>{left_cell}[red]x[/red], tea</td>{right}700</td>{right}0.3500</td></tr>"
        f"<tr>{left_cell}&lt;b&gt;, a\\x1b[31mb</td>{right}50</td>{right}0.0250</td></tr>"
        "</tbody></table></div>"
    )


def test_names_give_way_on_a_narrow_terminal_and_numbers_do_not():
    people = [{"the longest name of all", "another name that is long", "tea"}] * 1234 + [{"tea"}] * 4321
    rules = mine(people, min_support=0.1).rules(min_confidence=0.1)
    stream = StringIO()
    Console(file=stream, width=72, color_system=None, legacy_windows=False).print(table(rules))
    lines = [line.rstrip() for line in stream.getvalue().splitlines()]
    assert lines[1].split() == ["rule", "count", "support", "confidence", "lift", "adj.", "p"]
    assert all(re.search(r"… +1,234 +0\.2221 +[\d.]+ +[\d.]+ +[\d.e<-]+$", line) for line in lines[3:13])
    assert max(map(len, lines)) == 72


@pytest.mark.parametrize("width", [30, 40, 50, 60, 70, 80, 90, 100, 120])
def test_no_number_is_cut_however_narrow_it_is(width):
    people = [{"the longest name of all", "another name that is long", "tea"}] * 12_345 + [{"tea"}] * 43_210
    rules = release(people, top=6, epsilon=5, items="public").rules(0)
    stream = StringIO()
    Console(file=stream, width=width, color_system=None, legacy_windows=False).print(table(rules, 3))
    lines = [line.rstrip() for line in stream.getvalue().splitlines()]
    rule_row = next(place for place, line in enumerate(lines) if line.startswith("rule"))
    names = re.split(r"  +", lines[rule_row])
    for line in lines[rule_row + 2 : rule_row + 5]:
        assert not re.search(r"\d…|…\d", line)
        assert len(re.findall(r"  +[<\d][\d.,e<-]*(?= |$)", line)) == len(names) - 1
    left_out = " ".join(lines).partition("Not shown for want of room: ")[2].partition(".  ")[0]
    assert ("support" in names) != ("support" in left_out)
    assert names[-1] == "confidence" or width > 50
    assert max(map(len, lines)) <= width


def printed_text(result, width, encoding="utf-8"):
    stream = TextIOWrapper(BytesIO(), encoding=encoding, errors="replace")
    Console(file=stream, width=width, color_system=None).print(table(result, 3, bars=True))
    stream.seek(0)
    return stream.read()


def test_a_terminal_gets_small_bars_where_there_is_room():
    patterns = mine([{"tea", "milk"}] * 3 + [{"tea"}], min_count=1)
    lines = printed_text(patterns, 80).splitlines()
    assert lines[3].split() == ["tea", "4", "1.0000", "██████████"]
    assert lines[4].split() == ["milk", "3", "0.7500", "███████▌"]
    assert "████" not in printed_text(patterns, 30)
    assert "##########" in printed_text(patterns, 80, "ascii")
    rules = patterns.rules(0)
    assert "███████▌" in printed_text(rules, 80)


def test_noise_draws_no_bar_below_nothing():
    patterns = make_patterns({frozenset("a"): -5, frozenset("b"): 0}, 10)
    assert "█" not in printed_text(patterns, 80)
    assert "█" not in printed_text(make_patterns({frozenset("a"): 0}, 10, counted=False), 80)
