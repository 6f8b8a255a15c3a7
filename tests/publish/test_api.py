"""What a caller of the door may get wrong, told before anything is spent; and what the door tells on the way."""

# internals: this module compares keywords with the names of files that the command writes.
from __future__ import annotations

import inspect
import json
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.main import get_command

import discreet
from discreet import MisuseError
from discreet.baskets import ITEM_CHOICES
from discreet.cli import app
from discreet.cli._delivery import name_segments
from discreet.curator import settings_of
from discreet.publish import (
    Observer,
    Payer,
    Question,
    RankQuestion,
    Receipt,
    RelationQuestion,
    _keywords as keywords,
    answer,
    default_of,
    question_fields,
)
from discreet.publish._ranking import RankOptions
from discreet.publish._relations import RelationOptions
from discreet.registry import mechanism
from discreet.results._formats import listed_suffixes
from questions import cases

SHOP = [{"tea", "milk"}] * 60 + [{"tea", "milk", "bread"}] * 30 + [{"bread"}] * 20 + [set()] * 10
QUESTION = {"top": 2, "epsilon": 1, "items": "public"}


class Strange:
    """Something that no argument is, with a name that stays the same."""

    def __repr__(self):
        return "<strange>"


NAMES_MESSAGE = "by has a name or a number for each person, such as 'north' or 3, and so has a list of segments."
SEGMENTS = (
    "Say which there are: list them, segments=['north', 'south'], also those nobody is in; or declare with "
    "segments='public' that those found in the data are public knowledge."
)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (
            {"contains": [{"tea"}]},
            "contains is an item or several items, each a name or a number; [{'tea'}] was given.",
        ),
        (
            {"excludes": Strange()},
            "excludes is an item or several items, each a name or a number; <strange> was given.",
        ),
        (
            {"mechanism": None},
            "mechanism is one of the names that discreet.mechanisms() lists, such as 'auto'; None was given.",
        ),
        ({"people": "x"}, "people is 'x', but it must be a whole number, 1 or more."),
        ({"people": -5}, "people is -5, but it must be a whole number, 1 or more."),
        ({"people": 10**19}, "people is at most 4,611,686,018,427,387,904; 10000000000000000000 was given."),
        ({"progress": 3}, "progress is a function that takes a number from 0 to 1; 3 was given."),
        ({"same_data": "no"}, "same_data is True or False; 'no' was given."),
        ({"counts": "no"}, "counts is True or False; 'no' was given."),
        (
            {"contains": "tea\ud800"},
            "contains has a name that is not text (a lone surrogate): correct it first.",
        ),
        (
            {"by": "region"},
            "by is 'region', but the baskets were read with no segments beside them: read them with "
            "discreet.read(…, by='region'), or hand over a segment for each person as a list.",
        ),
        (
            {"segments": ["north"]},
            "release() makes one release of everybody. For one release per segment write release_by(baskets, by, "
            "segments=[…], …).",
        ),
        ({"epsilon": "1e-300"}, "epsilon is a number between 10^-60 and 10^60; 1e-300 was given."),
        ({"epsilon": "1e400"}, "epsilon is a number between 10^-60 and 10^60; 1e400 was given."),
        (
            {"mechanism": "threshold", "delta": "1e-6", "lengths": 9, "items": ["tea", "milk"]},
            "lengths asks for patterns of 9 items or more, but a pattern can have only 2 items: ask for less.",
        ),
        (
            {"items": 100_000, "lengths": (1, 3_000), "mechanism": "exponential"},
            "exponential chooses among all itemsets of the items, and of 1 to 3,000 items there are too many to draw "
            "from: ask for shorter patterns (lengths=), or another mechanism.",
        ),
        (
            {"items": 100_000, "lengths": 3_000},
            "exponential chooses among all itemsets of the items, and of 3,000 to 3,000 items there are too many to "
            "draw from: ask for shorter patterns (lengths=), or another mechanism.",
        ),
        (
            {"items": ["tea", "milk"], "contains": "tea", "top": 3},
            "top is 3, but 2 items have only 2 itemsets of 1 to 2 items with the given ones: ask for at most so many.",
        ),
        (
            {"items": ["tea"], "top": 3},
            "top is 3, but 1 item has only 1 itemset of 1 item: ask for at most so many.",
        ),
        (
            {"ledger": 3},
            "ledger is the path of a ledger, such as 'budget.db', or what Ledger.open returns; 3 was given.",
        ),
        (
            {"settings": ["selecting"]},
            "settings are values by name, such as {'selecting': '0.3'}; ['selecting'] was given.",
        ),
        ({"by": [{"north"}] * 120, "segments": "public"}, NAMES_MESSAGE),
        ({"by": [("a", "b")] * 120, "segments": "public"}, NAMES_MESSAGE),
        ({"by": ["a"] * 120, "segments": [("a", "b")]}, NAMES_MESSAGE),
        ({"by": ["a"] * 120, "segments": [["a"]]}, NAMES_MESSAGE),
        ({"by": ["a"] * 120, "segments": ["a", ""]}, NAMES_MESSAGE),
        ({"by": ["a"] * 120}, f"Segments that few people are in would give them away by their names. {SEGMENTS}"),
        ({"by": ["a"] * 120, "segments": "north"}, f"segments is a list; 'north' was given. {SEGMENTS}"),
        ({"by": ["a"] * 120, "segments": 3}, f"segments is a list; 3 was given. {SEGMENTS}"),
        ({"by": ["a"] * 120, "segments": []}, f"There is no segment. {SEGMENTS}"),
        (
            {"items": ["tea", "milk"], "contains": "bread"},
            "'bread' is not on the list of items that was given: add it there, or leave it out.",
        ),
        ({"contains": ["tea", "milk"], "lengths": 1}, "Patterns of at most 1 item cannot contain 2 items."),
        (
            {"mechanism": "count"},
            "count counts itemsets that are named, and finds none: use discreet.count, on the command line `discreet "
            "count FILE --itemsets WANTED`; or leave mechanism out.",
        ),
    ],
)
def test_what_a_question_may_not_be(question, message, tmp_path):
    ledger = discreet.Ledger.create(tmp_path / "budget.db", epsilon=8, delta="1e-3" if "delta" in question else 0)
    make = discreet.release_by if "by" in question else discreet.release
    with pytest.raises(MisuseError) as caught:
        make(SHOP, **(QUESTION | {"ledger": ledger} | question))
    assert str(caught.value) == message
    assert ledger.spends() == ()


def test_a_list_of_lists_is_no_list_of_items():
    with pytest.raises(MisuseError) as caught:
        discreet.release(SHOP, **(QUESTION | {"items": [["tea"]]}))
    assert str(caught.value) == f"items is a list of names or of numbers; ['tea'] is in it. {ITEM_CHOICES}"


def test_patterns_of_any_length_are_no_trouble_where_none_is_drawn():
    # The lengths are typed: they must not decide how long a release takes.
    for name, items in (("privbasis", None), ("threshold", None), ("auto", 10_000)):
        release = discreet.release(
            SHOP, top=2, lengths=(1, 3_000_000), epsilon=1, delta="1e-6", mechanism=name, items=items
        )
        assert release.guarantee.charges


def test_a_release_says_where_it_can_be_kept(tmp_path):
    with pytest.raises(MisuseError) as caught:
        discreet.release(SHOP, **QUESTION).save(tmp_path / "x.txt")
    assert str(caught.value) == (
        f"{tmp_path / 'x.txt'} ends in .txt, but results are kept in "
        f"{listed_suffixes('rows', 'page', 'picture')} files."
    )


@pytest.mark.parametrize(
    ("itemsets", "message"),
    [
        (
            "tea",
            "itemsets is a list of sets of items; 'tea' was given. For the people who hold each item write [{'tea'}].",
        ),
        (
            ["tea", "milk"],
            "itemsets is a list of sets of items; ['tea', 'milk'] was given. For the people who hold each item write "
            "[{'milk'}, {'tea'}], and for those who hold them together [{'milk', 'tea'}].",
        ),
        ({3}, "itemsets is a list of sets of items; {3} was given. For the people who hold each item write [{3}]."),
        (7, "itemsets is a list of sets of items, as in [{'tea', 'milk'}]; 7 was given."),
        (
            [[{"tea"}]],
            "an itemset is an item or several items, each a name or a number; [{'tea'}] was given.",
        ),
        ([], "There is no itemset to count: give at least one."),
        ([{}], "itemsets has an empty itemset: everyone holds it. Leave it out."),
    ],
    ids=["a name", "names", "a set of numbers", "a number", "too deep", "none", "an empty one"],
)
def test_what_is_counted_is_a_list_of_sets(itemsets, message):
    with pytest.raises(MisuseError) as caught:
        discreet.count(SHOP, itemsets, epsilon=1)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("source", "missing_choice"),
    [
        ("sales.csv", "sales.csv: which column is the person? A release protects people, and lines may repeat one. "),
        (
            pa.table({"customer": [1, 1], "items": [["tea"], ["milk"]]}),
            "The table: which column is the person? A release protects people, and rows with columns beside the items "
            "(customer) may repeat one. ",
        ),
    ],
    ids=["file", "table"],
)
def test_the_person_is_asked_for(source, missing_choice, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sales.csv").write_text("customer,product\n1,tea\n1,milk\n")
    for ask in (discreet.release, lambda data, **asked: discreet.count(data, [{"tea"}], epsilon=asked["epsilon"])):
        with pytest.raises(MisuseError) as caught:
            ask(source, **QUESTION | {"top": 1})
        assert str(caught.value) == (
            f'{missing_choice}Say who is who: person="customer", item="product", here or in discreet.read(…). '
            "Without person= every row is taken for the whole basket of one person; if that is so, hand over what "
            "discreet.read(…) returns."
        )
    options = {"format": "baskets"} if isinstance(source, str) else {}
    assert len(discreet.release(discreet.read(source, **options), **QUESTION | {"top": 1})) == 1


def test_a_ledger_takes_the_relation_as_it_is_typed(tmp_path):
    ledger = discreet.Ledger.create(tmp_path / "b.db", epsilon=1, neighbours="replace")
    assert ledger.state().neighbours.value == "replace"
    with pytest.raises(MisuseError) as caught:
        discreet.Ledger.create(tmp_path / "c.db", epsilon=1, neighbours="swap")
    assert str(caught.value) == "neighbours is 'add-remove' or 'replace'; 'swap' was given."


def test_numbers_of_numpy_can_be_saved(tmp_path):
    # A question that could not be written down would lose the result after it was paid for.
    segment_numbers = [np.int64(place % 2) for place in range(4)]
    data = [{1, 2}, {1}, {2}, {1, 2}]
    releases = discreet.release_by(
        data,
        segment_numbers,
        top=np.int64(1),
        epsilon=1,
        items="public",
        contains=np.int64(1),
        lengths=(np.int64(1), None),
        segments="public",
    )
    releases[0].save(tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["asked"]["segment"] == 0


def test_count_by_segment():
    segment_names = ["north"] * 90 + ["south"] * 30
    counts = discreet.count_by(SHOP, [{"tea"}, {"bread"}], segment_names, epsilon=50, really=True, segments="public")
    assert list(counts) == ["north", "south"]
    assert abs(counts["north"].patterns.counts[0] - 90) < 5
    assert abs(counts["south"].patterns.counts[0]) < 5


class TestStages:
    def stage_texts(self, data, **question):
        stages, shares = [], []
        jobs = cases(data, epsilon=1, items=["bread", "milk", "tea"], **question)
        answer(
            discreet.read(data) if data else data, jobs, observer=Observer(stage=stages.append, progress=shares.append)
        )
        return stages, shares

    def test_they_are_named_as_they_are_charged(self):
        stages, shares = self.stage_texts(SHOP, top=2, mechanism="exponential")
        assert stages == ["counting the people", "choosing the patterns", "counting the patterns"]
        assert shares == [0, 0.02, 0.51, 1]

    @pytest.mark.parametrize("count_mode", ["exponential", "laplace", "truncated-items"])
    def test_they_do_not_tell_who_is_there(self, count_mode):
        question = {"top": 2, "mechanism": count_mode, "lengths": 1}
        assert self.stage_texts(SHOP, **question) == self.stage_texts([{"tea"}], **question)

    def test_segments_follow_one_another(self):
        jobs = cases(SHOP, itemsets=[{"tea"}], epsilon=1, by=[0] * 60 + [1] * 60, segments=[0, 1])
        shares = []
        answer(discreet.read(SHOP), jobs, observer=Observer(progress=shares.append))
        assert shares == [0, 0.01, 0.5, 0.51, 1]


def test_the_receipt_comes_before_the_result(tmp_path):
    ledger = discreet.Ledger.create(tmp_path / "b.db", epsilon=3)
    jobs = cases(SHOP, **QUESTION, mechanism="exponential")
    receipts = []
    answer(discreet.read(SHOP), jobs, payer=Payer(ledger), observer=Observer(receipt=receipts.append))
    assert str(receipts[0]) == f"What was paid stays paid: spend 1 of {tmp_path / 'b.db'}, epsilon = 1."
    assert ledger.spends()[0].state == "released"
    assert str(Receipt()) == ""


def test_what_was_chosen_is_cited_with_its_settings():
    release = discreet.release(SHOP, **QUESTION, lengths=1)
    chosen_entry = mechanism(release.chosen_mechanism)
    assert release.citations == (chosen_entry.citation, mechanism("auto").citation)
    assert release.settings == settings_of(chosen_entry)
    assert discreet.count(SHOP, [{"tea"}], epsilon=1).citations == (mechanism("count").citation,)


def test_the_report_speaks_plainly():
    release = discreet.release(SHOP, **QUESTION, mechanism="exponential")
    page = release.report(title="The shop")
    assert "<title>The shop</title>" in page
    assert "<dt>gamma</dt>" not in page
    assert "<dt>eta</dt>" not in page


def test_name_segments_files():
    assert name_segments([""]) == {"": ""}
    assert name_segments(["north", 3]) == {"north": "north", 3: "3"}
    names = name_segments(["a/b", "a_b", "a-b", "A-B", "ﬁ", "fi", "x" * 300, "漢" * 100, "..", "", "a\0"])
    folded = {name.casefold() for name in names.values()}
    assert len(folded) == len(names)
    assert all(len(name.encode()) < 100 and "/" not in name and "\0" not in name for name in names.values())


def test_by_segment_takes_what_a_release_takes_and_nothing_else():
    """Above all none of what only simulations say: nothing unproven is run by it."""
    for make in (
        lambda **more: discreet.release_by(SHOP, [0] * 120, segments=[0], top=1, epsilon=1, items="public", **more),
        lambda **more: discreet.count_by(SHOP, [{"tea"}], [0] * 120, segments=[0], epsilon=1, **more),
    ):
        for name in ("trying", "stage", "nonsense"):
            with pytest.raises(TypeError, match=f"_by\\(\\) got an unexpected keyword argument '{name}'"):
                make(**{name: True})
    with pytest.raises(TypeError, match="unexpected keyword argument 'itemsets'"):
        discreet.release_by(SHOP, [0] * 120, segments=[0], epsilon=1, itemsets=[{"tea"}])


# What a function takes beside the fields of its question.
READING_AND_PAYING = {"person", "item", "basket", "ledger", "who", "same_data", "progress"}
QUESTION_FUNCTIONS = {
    discreet.release: (Question, "release", keywords.ReleaseOptions),
    discreet.release_by: (Question, "release release_by", keywords.ReleaseOptions),
    discreet.count: (Question, "count", keywords.CountOptions),
    discreet.count_by: (Question, "count count_by", keywords.CountOptions),
    discreet.preview: (Question, "release release_by", keywords.ReleaseOptions),
    discreet.release_relations: (RelationQuestion, "", RelationOptions),
    discreet.rank: (RankQuestion, "", RankOptions),
}


class TestKeywordsAreTheFieldsOfTheQuestion:
    """A field of a question is a keyword of its functions, with its default and its words; nothing else is."""

    @pytest.mark.parametrize("function", QUESTION_FUNCTIONS, ids=lambda function: function.__name__)
    def test_in_the_signature_and_for_type_checkers(self, function):
        question, name, options = QUESTION_FUNCTIONS[function]
        question_defaults = {field.name: default_of(field) for field, _ in question_fields(question, name)}
        parameters = inspect.signature(function).parameters
        keyword = {
            field.name: field.default
            for field in parameters.values()
            if field.name not in ("baskets", "question", "scores")
        }
        own_options = {field for field in ("by", "itemsets") if field in keyword}
        reading_and_paying = READING_AND_PAYING | {"time", "pair"}
        assert keyword.keys() - reading_and_paying - own_options == question_defaults.keys() - own_options
        assert all(keyword[field] == question_defaults[field] for field in question_defaults.keys() - own_options)
        assert options.__annotations__.keys() >= question_defaults.keys() - own_options - {"segments"}
        assert options.__annotations__.keys() <= keyword.keys()

    @pytest.mark.parametrize("function", QUESTION_FUNCTIONS, ids=lambda function: function.__name__)
    def test_choices_are_those_of_the_types(self, function):
        question, name, options = QUESTION_FUNCTIONS[function]
        parameters = inspect.signature(function).parameters
        for field, words in question_fields(question, name):
            if words.choices:
                kinds = str(
                    eval(parameters[field.name].annotation, vars(keywords) | vars(sys.modules[options.__module__]))
                )
                assert all(f"'{choice}'" in kinds for choice in words.choices), field.name

    @pytest.mark.parametrize("function", QUESTION_FUNCTIONS, ids=lambda function: function.__name__)
    def test_in_its_help(self, function):
        question, name, _ = QUESTION_FUNCTIONS[function]
        text = " ".join(inspect.getdoc(function).split())
        assert "FIELDS" not in text
        for field, words in question_fields(question, name):
            if field.name not in ("by", "itemsets", "segments"):
                assert f" {field.name} {' '.join(str(words.help).split())}" in text, field.name

    @pytest.mark.parametrize(
        ("command", "function"),
        [
            ("release", discreet.release_by),
            ("count", discreet.count_by),
            ("rank", discreet.rank),
            ("release-relations", discreet.release_relations),
        ],
    )
    def test_on_the_command_line(self, command, function):
        question, name, _ = QUESTION_FUNCTIONS[function]
        options = {field.name: field for field in get_command(app).commands[command].params}
        for field, words in question_fields(question, name):
            option = options[field.name]
            if field.name != "itemsets":
                assert option.help.replace("\\[", "[").startswith(words.help.typed.replace("\\[", "[")), field.name
                assert option.default is None

    def test_each_is_handed_on(self, monkeypatch):
        """What is typed reaches the question, or who reads and who pays."""
        seen_fields: dict[str, Any] = {}

        def record_question(question, baskets, call, segments=None):
            seen_fields.update(vars(question) | call.reading_options | vars(call.payer) | vars(call.observer))
            return {"": None}

        monkeypatch.setattr("discreet.publish._api.Question", lambda **fields: SimpleNamespace(by=None, **fields))
        monkeypatch.setattr("discreet.publish._keywords.Question", lambda **fields: SimpleNamespace(by=None, **fields))
        monkeypatch.setattr("discreet.publish._api.read_and_answer", record_question)
        for function, arguments in ((discreet.release, ()), (discreet.count, ([["tea"]],))):
            names = [
                parameter.name
                for parameter in inspect.signature(function).parameters.values()
                if parameter.kind is parameter.KEYWORD_ONLY
            ]
            values = {name: object() for name in names}
            seen_fields.clear()
            function(SHOP, *arguments, **values)
            assert seen_fields.items() >= values.items()

    @pytest.mark.parametrize("function", [discreet.release_by, discreet.preview])
    def test_other_words(self, function):
        with pytest.raises(TypeError, match=rf"^{function.__name__}\(\) got an unexpected keyword argument 'tpo'$"):
            function(SHOP, ["north"] * 120, tpo=3)
        with pytest.raises(MisuseError, match=r"^There is no minsup: the least support is min_support=0\.01 here"):
            function(SHOP, ["north"] * 120, minsup=3)
        with pytest.raises(TypeError, match="unexpected keyword argument 'conf'"):
            function(SHOP, ["north"] * 120, conf=3)
