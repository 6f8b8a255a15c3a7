from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet
from discreet.baskets import Hierarchy, groceries
from discreet.errors import LimitError
from discreet.privacy import Budget, Charge, Guarantee, Neighbours
from discreet.report import contents_of, page
from discreet.report._frame import read_static
from discreet.report.colours import NIGHT
from discreet.results import NOTHING, Provenance
from naive.rules import make_patterns
from report.contents import COUNTS, bounded, tell

EVIL = "</style></title><script>alert(1)</script>\"' onload=x \x00\x1b\u202e<!-- & --> مرحبا 🍎 " + "y" * 5000
VOID = {"meta"}
KNOWN_TAGS = {
    "html", "head", "meta", "title", "style", "body", "header", "main", "footer", "nav", "section", "h1", "h2", "h3",
    "p", "ul", "li", "a", "dl", "dt", "dd", "div", "strong", "bdi", "table", "caption", "thead", "tbody", "tr", "th",
    "td", "figure", "figcaption", "svg", "desc", "g", "line", "rect", "text", "circle", "polygon", "script", "code",
    "details", "summary", "span",
}  # fmt: skip


class ParsedPage(HTMLParser):
    """What a browser would see; complains about tags that are not closed."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.words, self.ids = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for key, value in attrs if key == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if not {"style", "script"} & {*self.open}:
            self.words.append(text)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.words).replace("\u202f", " "))


def sound(text):
    """Hold a page to everything that holds for all pages, and return what is seen of it."""
    parsed = ParsedPage(text)
    assert {tag for tag, _ in parsed.tags} <= KNOWN_TAGS
    for tag, attributes in parsed.tags:
        assert not {key for key in attributes if key.startswith("on") or key in ("style", "src", "srcset", "action")}
        assert tag != "a" or attributes["href"][1:] in parsed.ids
        assert tag != "th" or attributes["scope"] in ("col", "row")
        assert tag != "svg" or "aria-labelledby" in attributes or attributes.get("aria-hidden") or "y" in attributes
        assert tag != "script" or not attributes
        for place in attributes.get("aria-labelledby", "").split():
            assert place in parsed.ids
    assert len(parsed.ids) == len(set(parsed.ids))
    levels = [int(tag[1]) for tag, _ in parsed.tags if tag in ("h1", "h2", "h3")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    assert not set(text) & {chr(code) for code in (*range(10), 11, 12, *range(14, 32), 0x202E)}
    return parsed


def test_a_page_says_everything():
    parsed = sound(page(tell()))
    for part in (
        "What 100 people hold together 5 patterns were found. The largest count is that of tea : about 80 of 100",
        "Made on 2026-11-20 with discreet 0.1, mechanism exponential.",
        "Central differential privacy, add or remove one person, epsilon = 1.",
        "Patterns the 5 most frequent Items 3, declared public",
        "Mechanism: exponential. Picks the most frequent patterns one by one.",
        "Taken for public knowledge, and not protected: the list of items.",
        "choosing 5 patterns 0.25 25.0 %",
        "noise on 5 counts 0.75 75.0 %",
        "The count of tea is given as 80, with an interval from 70 to 90.",
        "Typical margin ± 10",
        "2 of 2 rules with one item on the right",
        "Left out: 2 rules that cannot be measured",
        "milk → tea 55 91.7 % 64.2 % 100.0 % 1.15",
        "People, with noise 100",
        "A note.",
        "Its settings: selecting = 1/2.",
        "The typical margin is ± 10 people: half of the patterns have this margin or a smaller one. It means that",
        "Bhaskar et al. 2010. Someone else. discreet, version 0.1: frequent patterns",
        "Held together most often: milk, tea, by about 55 of 100 people (from 45 to 65).",
        "Items Count from to Support from to tea 80 70 90 80.0 % 70.0 % 90.0 % milk 60 50 70 60.0 % 50.0 % 70.0 %",
    ):
        assert part in parsed.text.replace(" ,", ","), part
    assert "SIMULATED" not in parsed.text
    # Its adjusted p-value is 1: chance explains it.
    assert "The surest rule" not in parsed.text


def test_it_opens_with_what_was_found():
    headings = re.findall(r'<h2 id="\w+">(.*?)</h2>', page(tell()))
    assert headings[:2] == ["Patterns", "Intervals of the counts"]
    assert headings.index("Rules") < headings.index("Privacy guarantee") < headings.index("Question")


def test_the_headline():
    exact = sound(page(tell(patterns=make_patterns(COUNTS, 100)))).text
    assert "5 patterns were found. The largest count is that of tea : 80 of 100 people." in exact
    listed_text = sound(page(tell(patterns=make_patterns(dict.fromkeys(COUNTS, 0), 100, counted=False)))).text
    assert "5 patterns were found, without counts." in listed_text
    noisy = replace(bounded(COUNTS, 100), people_within=(90, 110))
    assert "about 80 of about 100 people. Made" in sound(page(tell(patterns=noisy))).text
    assert "it lies between 90 and 110, in 95 of 100 cases." in sound(page(tell(patterns=noisy))).text
    nothing = sound(page(tell(patterns=bounded(COUNTS, 100, 90)))).text
    assert "5 patterns were found; 5 may be held by nobody. Most of this cannot be told from noise." in nothing


def test_what_is_shown_of_an_interval_covers_it():
    # Numbers have four digits at most, and ends are rounded outwards to those.
    counts = {frozenset("a"): 123_456, frozenset("b"): 1_234, frozenset("ab"): 1_000}
    text = sound(page(tell(patterns=bounded(counts, 999_999, 10)))).text
    assert "a 123,456 123,446 123,466 12.35 % 12.34 % 12.35 %" in text
    assert "b 1,234 1,224 1,244 0.12 % 0.12 % 0.13 %" in text


def test_the_policy_lets_in_this_style_and_this_script_and_nothing_else():
    for simulated in (False, True):
        text = page(tell(simulated=simulated))
        hashes = []
        for tag in ("style", "script"):
            (inline_code,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
            hashes.append(base64.b64encode(hashlib.sha256(inline_code.encode()).digest()).decode())
            assert "url(" not in inline_code
            assert "@import" not in inline_code
        policy = dict(ParsedPage(text).tags[3][1])["content"]
        assert policy == (
            f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; base-uri 'none'; "
            "form-action 'none'"
        )


def test_the_script_sends_and_keeps_nothing():
    for word in ("fetch", "XMLHttp", "WebSocket", "sendBeacon", "Storage", "cookie", "innerHTML", "eval(", "import"):
        assert word not in read_static("page.js")


def test_every_colour_has_its_partner_by_night():
    text = page(tell(patterns=bounded({**COUNTS, frozenset({"a", "b"}): 2}, 100)))
    colours = set(re.findall(r'(?:fill|stroke)="(#\w+)"', text))
    assert colours <= set(NIGHT)
    for colour in colours:
        assert f'[fill="{colour}"] {{ fill: {NIGHT[colour]} }}' in text


def test_an_exact_result_says_that_it_is_not_private():
    contents = contents_of(make_patterns(COUNTS, 100), "A shop")
    text = page(contents)
    parsed = sound(text)
    assert "<title>EXACT: A shop" in text
    assert "EXACT: not private" in parsed.text
    assert "Nothing is promised: these numbers are the truth about the people in the data." in parsed.text
    assert "Exact, and not private." in parsed.text
    for word in ("epsilon", "noise", "released"):
        assert word not in parsed.text.lower()


def test_exact_rules_have_a_page():
    rules = make_patterns(COUNTS, 100).rules(0, consequents="one").sort("lift")
    parsed = sound(page(contents_of(rules)))
    assert "3 rules were found. The surest rule: of those who hold" in parsed.text
    assert "EXACT: not private" in parsed.text
    assert "matrix-title" in parsed.ids
    relations = sound(page(contents_of(replace(rules, kind="relations"))))
    assert "3 relations were found. The surest relation: " in relations.text
    assert ", with a confidence of 91.7 %." in relations.text
    assert "hold" not in relations.text.partition("Relations The confidence")[0].partition("were found")[2]
    nothing = sound(page(contents_of(rules[:0])))
    assert "No rule was found." in nothing.text


@pytest.mark.parametrize(
    ("relation_kind", "right_side", "made_of"),
    [
        ("after", "have what is on the right after it, later in time.", "the second item comes after the first, in"),
        ("together", "hold what is on the right too.", "both items are in the basket"),
        ("given", "have what is on the right with it, as a pair that the data name.", "as the data say"),
    ],
)
def test_a_page_says_what_makes_a_relation(relation_kind, right_side, made_of):
    rules = make_patterns(COUNTS, 100).rules(0, consequents="one").sort("lift")
    text = sound(page(contents_of(replace(rules, kind="relations", how=relation_kind)))).text
    assert f"of those who have what is on the left {right_side}" in text
    assert f"A relation {made_of}" in text
    right_words = right_side.partition("right ")[2]
    surest = rf"The surest relation: of those who have [a-z ,]+, 91.7 % {right_side.split()[0]} [a-z ]+{right_words}"
    assert re.search(surest, text)
    assert ("on the right too" in text) == (relation_kind == "together")


def test_why_intervals_differ_is_said_where_they_do():
    assert "Why is one interval wide" not in sound(page(tell())).text
    wide_patterns = bounded(COUNTS, 100)
    margins = np.array([10.0, 10, 10, 10, 30])
    unequal = replace(wide_patterns, low=wide_patterns.counts - margins, high=wide_patterns.counts + margins)
    text = sound(page(tell(patterns=unequal))).text
    explanation = text.partition("Why is one interval wide and the next narrow? ")[2].partition(
        "Intervals of the counts"
    )[0]
    assert explanation.startswith(
        "They go from ± 10 for tea to ± 30 for jam , milk , tea . A narrow interval is no weaker promise: one promise "
    )


def why_intervals_differ(patterns):
    text = sound(page(tell(patterns=patterns))).text
    return text.partition("next narrow? ")[2].partition(" A narrow interval is no weaker promise")[0]


def test_which_intervals_are_wide_is_read_off_the_result():
    wide_patterns = bounded(COUNTS, 100)

    def with_margins(*margins, added_margin=0, **changes):
        margin = np.array(margins, float)
        return replace(
            wide_patterns,
            low=wide_patterns.counts - margin,
            high=wide_patterns.counts + margin + added_margin,
            **changes,
        )

    counts = wide_patterns.counts.tolist()
    by_size = why_intervals_differ(with_margins(*(10 * size for size in wide_patterns.sizes.tolist())))
    assert by_size.endswith(
        "The more items a pattern has, the wider is its interval here: ± 10 with 1 item; ± 20 with 2 items; ± 30 with "
        "3 items."
    )
    by_count = why_intervals_differ(with_margins(*(count / 5 for count in counts)))
    assert by_count.endswith("The larger a count, the wider is its interval here.")
    by_count = why_intervals_differ(with_margins(*(100 / count for count in counts)))
    assert "narrower" in by_count
    assert "may" not in by_size + by_count
    lopsided = why_intervals_differ(with_margins(9, 9, 9, 9, 9, added_margin=np.array([0, 30, 0, 0, 0])))
    assert "1 of the 5 reaches further to one side than to the other: read the ends of these." in lopsided
    rounds = [{"name": "first", "people": 400}, {"name": "second", "people": 90}]
    answered = why_intervals_differ(
        with_margins(10, 20, 10, 20, 10, provenance=Provenance.from_dict({"rounds": rounds}))
    )
    assert "Rounds asked from 90 to 400 people, and fewer answers make a wider interval." in answered
    assert "Rounds asked" not in lopsided


def test_counts_have_four_digits_unless_noise_has_left_more():
    counts = {frozenset("a"): 123_456, frozenset("b"): 1_234}
    text = sound(page(tell(patterns=bounded(counts, 999_999, 3_000)))).text
    assert "a 123,500 120,400 126,500 12.35 %" in text
    assert "Counts are shown in four digits" in text
    assert 'data-v="123456" title="123,456"' in page(tell(patterns=bounded(counts, 999_999, 3_000)))


def test_a_simulation_cannot_be_mistaken():
    text = page(tell(simulated=True))
    parsed = sound(text)
    assert "<title>SIMULATED: What 100 people" in text
    assert parsed.text.count("SIMULATED: not a private release") == 1
    assert "SIMULATED. A release made in the same way would promise what follows." in parsed.text
    assert 'h2::after { content: " (simulated)"' in text
    assert '@top-center { content: "SIMULATED: not a private release"' in text


def test_everything_from_outside_is_escaped():
    names = {frozenset({EVIL}): 9, frozenset({EVIL, "b"}): 8, frozenset({"b"}): 7}
    promise = Guarantee.of(Budget.of(1), [Charge.pure(EVIL, Fraction(1))], public=(EVIL,), assumed=(EVIL,))
    contents = tell(
        patterns=bounded(names, 20), title=EVIL, question={EVIL: EVIL}, mechanism=EVIL, summary=EVIL, citations=[EVIL],
        settings={EVIL: EVIL}, facts={EVIL: EVIL}, notes=[EVIL], date=EVIL, version=EVIL, guarantee=promise,
    )  # fmt: skip
    text = page(contents)
    parsed = sound(text)
    assert [tag for tag, _ in parsed.tags].count("script") == 1
    assert text.count("<style>") == text.count("</style>") == 1
    assert "alert(1)</script>" in parsed.text
    assert "\\x00\\x1b\\u202e" in parsed.text
    assert "y" * 4001 not in text


label = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(["<script>", '"', "&", "\x00", EVIL]),
)


@given(
    st.dictionaries(st.frozensets(label, max_size=4), st.integers(-30, 500), max_size=12),
    st.integers(0, 600),
    st.booleans(),
)
def test_any_patterns_make_a_sound_page(counts, people, bounds):
    patterns = bounded(counts, people, 40.5) if bounds else make_patterns(counts, people)
    text = page(tell(patterns=patterns))
    sound(text)
    assert text == page(tell(patterns=patterns))


def test_no_pattern():
    parsed = sound(page(tell(patterns=bounded({}, 0))))
    assert f"No pattern was released. {NOTHING}" in parsed.text
    assert not {"all", "rules", "together"} & set(parsed.ids)


def test_one_pattern_and_no_people():
    patterns = make_patterns({frozenset({"tea"}): 3}, 0, low=np.array([-20.5]), high=np.array([26.5]))
    parsed = sound(page(tell(patterns=patterns)))
    assert "Items Count from to tea 3 0 27 This" in parsed.text
    assert "how many people hold all its items" in parsed.text
    assert not {"rules", "together"} & set(parsed.ids)


def test_only_single_items():
    parsed = sound(page(tell(patterns=bounded({frozenset({item}): 5 for item in "abc"}, 9))))
    assert not {"rules", "together"} & set(parsed.ids)


def test_patterns_only():
    patterns = make_patterns(dict.fromkeys(COUNTS, 0), 100, counted=False)
    parsed = sound(page(tell(patterns=patterns)))
    assert "5 patterns, listed below . This release names patterns only" in parsed.text
    assert "Items jam milk tea milk , tea jam , milk , tea This page" in parsed.text
    assert "rules" not in parsed.ids
    assert "lift" not in parsed.text.lower()


def test_exact_patterns_have_no_interval():
    parsed = sound(page(tell(patterns=make_patterns(COUNTS, 100))))
    assert "interval" not in parsed.text.lower()
    assert "the largest confidence first" in parsed.text


def test_bounds_that_are_not_known():
    unknown = np.full(5, np.nan)
    parsed = sound(page(tell(patterns=replace(bounded(COUNTS, 100), low=unknown, high=unknown))))
    assert "tea 80 – – 80.0 %" in parsed.text
    assert "Typical margin" not in parsed.text


def test_rules_are_ordered_by_what_is_sure():
    counts = {frozenset("a"): 4, frozenset("ab"): 4, frozenset("b"): 500, frozenset("c"): 400, frozenset("cb"): 360}
    parsed = sound(page(tell(patterns=bounded(counts, 1000, 3)), max_rules=1))
    assert "1 of 4 rules" in parsed.text
    # a → b has the larger confidence, 4 of 4, but nearly all of it may be noise.
    assert "c → b 360 90.0 %" in parsed.text


def test_rules_and_bars_can_be_left_out(monkeypatch):
    parsed = sound(page(tell(), max_rules=0, max_bars=0))
    assert "rules" not in parsed.ids
    assert "bars-0-title" not in parsed.ids
    assert "The first 2 of 5 patterns." in sound(page(tell(), max_bars=2)).text

    def refuse(*_, **__):
        raise LimitError("too many")

    monkeypatch.setattr("discreet.results._patterns.Patterns.rules", refuse)
    assert "These patterns give too many rules to choose from." in sound(page(tell())).text


def test_many_patterns_are_listed_up_to_a_limit(monkeypatch):
    monkeypatch.setattr("discreet.report._page._ROWS", 3)
    parsed = sound(page(tell()))
    assert "2 more patterns not listed here; the saved table has them." in parsed.text


def test_what_was_spent():
    budget = Budget.of("1.2", "1e-6")
    half, quarter = budget.rho / 2, budget.rho / 4
    gaussian = Guarantee.of(budget, [Charge.gaussian("cells", half), *[Charge.gaussian("picks", quarter)] * 2])
    parsed = sound(page(tell(guarantee=gaussian)))
    step_row = re.search(r"Step Rho Share cells (\S+) 50\.0 % picks \(2 times\) (\S+) 50\.0 %", parsed.text)
    assert step_row is not None
    assert step_row[1] == step_row[2]
    assert Fraction(step_row[1]) >= half  # rounded up
    guarantee = Guarantee.of(
        Budget.of("1/3", "0.001"),
        [Charge.pure("finding items", Fraction(1, 3), Fraction(1, 1000))],
        discovery_delta=Fraction(1, 1000),
    )
    parsed = sound(page(tell(guarantee=guarantee)))
    assert "Step Epsilon Share finding items, with a delta of 0.001 0.3334 100.0 %" in parsed.text
    assert "Nothing was spent" in sound(page(tell(guarantee=Guarantee.of(Budget.of(1), [])))).text


@pytest.mark.parametrize(
    ("reports", "message"),
    [
        (1, "Each person answers one round at most, so what the rounds lose does not add up: the loss of a person is"),
        (2, "A person answers up to 2 rounds, and loses what these lose together: the loss of a person is at most 4"),
        (0, "However many rounds a person answers, the loss of a person is at most 4 in all."),
    ],
)
def test_what_rounds_on_devices_lose_is_not_added_up(reports, message):
    asks = [Charge.pure(f"round {number}", Fraction(4)) for number in range(8)]
    local = Guarantee(
        model="local", neighbours=Neighbours.REPLACE, epsilon=Fraction(4), delta=Fraction(0), charges=tuple(asks)
    )
    parsed = sound(
        page(tell(guarantee=local, reports=reports, people_by_round={f"round {place}": 100 for place in range(8)}))
    )
    assert message in parsed.text
    assert "steps add up" not in parsed.text
    assert "100.0 % round" not in parsed.text
    assert "Round People asked Epsilon round 0 100 4 round 1 100 4" in parsed.text


def test_the_page_of_a_simulation_says_whom_its_rounds_asked():
    outcome = discreet.simulate(groceries(2_000, seed=7), "adept", top=5, epsilon=4, seed=7)
    text = sound(outcome.report()).text
    assert "Each person answers one round at most" in text
    assert f"Round People asked Epsilon {outcome.rounds[0].name} {outcome.rounds[0].people} 4" in text


def test_what_was_not_spent():
    guarantee = Guarantee.of(Budget.of(1), [Charge.pure("counting the people", Fraction(1, 4))])
    parsed = sound(page(tell(guarantee=guarantee)))
    assert "counting the people 0.25 25.0 % nothing: it was not needed 0.75 75.0 %" in parsed.text


def test_a_promise_by_zcdp_has_its_whole_curve():
    parsed = sound(
        page(tell(guarantee=Guarantee.of(Budget.of(1, "1e-6"), [Charge.gaussian("cells", Fraction(1, 50))])))
    )
    assert "Delta Epsilon 0.001 0.596 1e-05 0.884 1e-06 1 1e-07 1.11 1e-09 1.29 1e-12 1.53" in parsed.text
    assert "at other deltas" not in parsed.text.split("Delta Epsilon")[0].split("The privacy loss of each step")[0]


def test_little_to_tell():
    parsed = sound(page(tell(question={}, summary="", settings={}, citations=[], facts={}, notes=[], date="")))
    assert not {"asked", "notes"} & set(parsed.ids)
    assert "Made with discreet 0.1" in parsed.text


def test_what_is_on_one_level_is_not_folded():
    """Names of levels are text from outside: they are escaped, and a page without levels is as it was."""
    baskets = [{"milk", "bread"}, {"milk"}, {"bread", "tea"}]
    rows = [("milk", "<b>dairy"), ("bread", "bakery"), ("tea", "drinks")]
    hierarchy = Hierarchy.from_rows(["product", "<i>category"], rows)
    across = discreet.mine(baskets, min_count=1, hierarchy=hierarchy).report()
    assert across.count("<details") > 3
    assert "<i>" not in across
    assert "<b>dairy" not in across
    level_report = discreet.mine(baskets, min_count=1, hierarchy=hierarchy, level=1).report()
    assert "<details" not in level_report
    assert "<details" not in discreet.mine(baskets, min_count=1).report()


def test_bars_and_tables_have_the_same_patterns_on_a_level():
    # A product without a category stands for itself among categories too.
    hierarchy = Hierarchy.from_rows(["product", "category"], [("milk", "dairy"), ("bread", "")])
    baskets = [{"milk", "bread", "tea"}] * 30 + [{"tea"}] * 5
    text = sound(discreet.mine(baskets, min_count=1, hierarchy=hierarchy).report()).text
    bars, _, listed_text = text.rpartition("Items that occur together")
    for level in ("Category", "Product"):
        pattern_counts = [re.findall(rf"{level} (\d+) pattern", part) for part in (bars, listed_text)]
        assert pattern_counts[0] == pattern_counts[1] != []
    assert text.count("By the lowest level on which all items of a pattern are.") == 2


def test_shares_of_baskets_carry_the_noise_of_the_number_of_baskets():
    contents = tell(patterns=replace(bounded(COUNTS, 100), people_within=(90, 110), unit="baskets"))
    text = sound(page(contents)).text
    assert "which carries the noise of the number of baskets too" in text
    assert "in the true number all of them together weigh as much as those that may" in text
    assert "together weigh as much" not in sound(page(tell(patterns=bounded(COUNTS, 100)))).text
    assert "of people too" not in text
