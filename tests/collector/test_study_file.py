"""`study.toml`: a flaw is reported with its line, the allowed values and the text to type."""

from __future__ import annotations

import json

import pytest

from discreet.collector import TEMPLATE, StudyPlan, read_study
from discreet.errors import InputError, MisuseError

STUDY_TEXT = """\
name = "breakfast"
title = "Breakfast"
asks = "What did you have?"
protocol = "svsm"
top = 5
epsilon = "1/2"
items = ["tea", "bread", "milk", "jam"]

[rounds]
close = "quota"
people = 1000

[settings]
candidates = 3
"""


def read_text(folder, text=STUDY_TEXT):
    (folder / "study.toml").write_text(text)
    return read_study(folder / "study.toml")


def error_of(folder, old_text, new_text):
    assert old_text in STUDY_TEXT
    with pytest.raises(InputError) as error:
        read_text(folder, STUDY_TEXT.replace(old_text, new_text))
    return str(error.value).replace(str(folder / "study.toml"), "study.toml").replace(str(folder), "")


def test_a_study_is_read(tmp_path):
    plan = read_text(tmp_path)
    assert plan.items == ("bread", "jam", "milk", "tea")
    assert (plan.people, plan.close, plan.who, plan.scrub, plan.pairs) == (1000, "quota", "tokens", "release", "none")
    assert plan.protocol_instance.name == "svsm"
    assert (plan.goal.items, plan.goal.top) == (4, 5)
    assert StudyPlan.from_json(plan.to_json()) == plan


def test_the_template_is_a_study(tmp_path):
    assert read_text(tmp_path, TEMPLATE.format(path="study.toml")).name == "breakfast"


def test_items_may_be_in_a_file_and_may_be_numbers(tmp_path):
    (tmp_path / "items.txt").write_text("10\n9\n\n100\n")
    plan = read_text(tmp_path, STUDY_TEXT.replace('["tea", "bread", "milk", "jam"]', '"items.txt"'))
    assert plan.items == ("9", "10", "100")
    assert list(plan.vocabulary) == [9, 10, 100]
    assert (
        read_text(tmp_path, STUDY_TEXT.replace('["tea", "bread", "milk", "jam"]', "[9, 100, 10]")).items == plan.items
    )


def test_a_protocol_that_finds_the_items_has_no_list(tmp_path):
    unlisted = STUDY_TEXT.replace('"svsm"', '"prefixes"')
    plan = read_text(tmp_path, unlisted.replace('items = ["tea", "bread", "milk", "jam"]\n', ""))
    assert (plan.items, plan.goal.items) == ((), 0)
    assert StudyPlan.from_json(plan.to_json()) == plan
    with pytest.raises(
        InputError, match="items is left out with the protocol prefixes, which finds out what the items"
    ):
        read_text(tmp_path, unlisted)
    with pytest.raises(InputError, match="items is missing"):
        read_text(tmp_path, STUDY_TEXT.replace('items = ["tea", "bread", "milk", "jam"]\n', ""))


TABLE = "product,category,department\nmilk,dairy,food\njam,spreads,food\ntea,drinks,\nwater,drinks,\n"


def test_a_hierarchy_says_what_is_held_and_asked_about(tmp_path):
    (tmp_path / "products.csv").write_text(TABLE)
    item_line = 'items = ["tea", "bread", "milk", "jam"]\n'
    across = read_text(tmp_path, STUDY_TEXT.replace(item_line, 'hierarchy = "products.csv"\n'))
    assert across.items == ("jam", "milk", "tea", "water")
    assert across.asked_items == ("dairy", "drinks", "food", "jam", "milk", "spreads", "tea", "water")
    assert [[across.asked_items[code] for code in codes] for codes in across.asked_codes] == [
        ["food", "jam", "spreads"], ["dairy", "food", "milk"], ["drinks", "tea"], ["drinks", "water"],
    ]  # fmt: skip
    assert across.goal.items == 8
    assert across.goal.lineage is not None
    leveled_plan = read_text(
        tmp_path, STUDY_TEXT.replace(item_line, item_line + 'hierarchy = "products.csv"\nlevel = "category"\n')
    )
    assert (leveled_plan.items, leveled_plan.asked_items) == (
        ("bread", "jam", "milk", "tea"),
        ("bread", "dairy", "drinks", "spreads"),
    )
    assert leveled_plan.goal.lineage is None
    for plan in (across, leveled_plan):
        parsed_plan = StudyPlan.from_json(plan.to_json())
        assert parsed_plan == plan
        assert parsed_plan.asked_items == plan.asked_items
    assert read_text(tmp_path).asked_codes == []


@pytest.mark.parametrize(
    ("new_text", "line", "message"),
    [
        ('level = "category"', 8, "Without a hierarchy there is no level: name the file of one"),
        ('hierarchy = "none.csv"', 8, "There is no file"),
        ('hierarchy = "products.csv"\nlevel = "aisle"', 9, "level is one of the levels of the hierarchy, 0 to 2"),
        ('hierarchy = "products.csv"\nlevel = 1.5', 9, "level is a level of the hierarchy, by name or number"),
        ("hierarchy = 5", 8, "hierarchy is the name of a file with a table"),
        ('hierarchy = "study.toml"', 8, "study.toml"),
    ],
)
def test_a_hierarchy_that_is_off_is_told_with_its_line(tmp_path, new_text, line, message):
    (tmp_path / "products.csv").write_text(TABLE)
    item_line = 'items = ["tea", "bread", "milk", "jam"]'
    error_text = error_of(tmp_path, item_line, f"{item_line}\n{new_text}")
    assert error_text.startswith(f"study.toml, line {line}: ")
    assert message in error_text


@pytest.mark.parametrize("name", ["two\nlines", "nothing\0", "\x1b[2J", "x" * 1001])
def test_a_name_is_one_short_line_wherever_it_comes_from(name):
    """Hierarchies were taken as they came, and names of any length."""
    fields = {"name": "a", "title": "A", "asks": "A?", "protocol": "svim", "top": 1, "epsilon": "1"}
    table = {"levels": ["0", "1"], "heights": {"milk": 0, "dairy": 1}, "parents": {"milk": "dairy"}}
    for changes in (
        {"items": ["milk", name]},
        {"items": ["milk"], "hierarchy": {**table, "heights": {**table["heights"], name: 1}}},
        {"items": ["milk"], "hierarchy": {**table, "levels": ["0", name]}},
        {"items": ["milk"], "title": name},
        {"items": ["milk"], "asks": 2 * name},
    ):
        with pytest.raises(MisuseError, match="one line of text of up to"):
            StudyPlan.from_json(json.dumps({**fields, **changes}))
    StudyPlan.from_json(json.dumps({**fields, "items": ["milk"], "hierarchy": table}))


def test_a_protocol_that_would_relate_levels_is_refused(tmp_path):
    (tmp_path / "products.csv").write_text(TABLE)
    with pytest.raises(InputError, match="ask for one level"):
        read_text(
            tmp_path, STUDY_TEXT.replace('"svsm"', '"pairs"\nhierarchy = "products.csv"').replace("candidates = 3", "")
        )


def test_an_epsilon_may_be_a_whole_number(tmp_path):
    assert read_text(tmp_path, STUDY_TEXT.replace('"1/2"', "1")).epsilon == "1"


def test_relations_say_what_makes_a_pair(tmp_path):
    text = STUDY_TEXT.replace('"svsm"', '"pairs"').replace("candidates = 3", 'how = "after"\nitems = 3\nsupport = 6')
    assert read_text(tmp_path, text).pairs == "after"


EPSILON = 'epsilon is a number from 0.001 to 20 such as "1" or "0.5", in quotes;'
TITLE = 'is one line of text of up to 200 letters, such as "What goes together at breakfast".'
LIST = '["tea", "bread", "milk", "jam"]'
FLAWS = [
    ('name = "breakfast"', 'name = "Lunch"', 1,
     "name is up to 63 small letters, digits and dashes, such as \"breakfast\"; 'Lunch' was given."),
    ('title = "Breakfast"', "title = 7", 2, f"title {TITLE}"),
    ('title = "Breakfast"\n', "", 13, f"title is missing. It {TITLE}"),
    ("top = 5", 'top = "5"', 5, "top is a whole number from 1 to 100,000, such as 20; '5' was given."),
    ("top = 5", "tops = 5", 5,
     "A study has no field 'tops'; there are name, title, asks, protocol, top, least, epsilon, delta, items, "
     "hierarchy, level, who, scrub, screen, rounds, settings. Did you mean top?"),
    ('"1/2"', "0.5", 6, f"{EPSILON} 0.5 was given."),
    ('"1/2"', '"0"', 6, f"{EPSILON} '0' was given."),
    ('"1/2"', '"0.0001"', 6, f"{EPSILON} '0.0001' was given."),
    ('name = "breakfast"\n', "", 13,
     'name is missing. It is up to 63 small letters, digits and dashes, such as "breakfast".'),
    ("[rounds]", "[[rounds]]", 9,
     "rounds is a table: write [rounds] in a line of its own, and its fields below."),
    ('"milk"', '" milk"', 7, "items has ' milk', with a space before or after it: write 'milk'."),
    ("people = 1000", "people = 1000\nhours = 24", 12,
     'hours goes with close = "deadline" only: leave it out, or close rounds that way.'),
    ('"1/2"', '"1e9"', 6, f"{EPSILON} '1e9' was given."),
    ('"1/2"', '"1/0"', 6, f"{EPSILON} '1/0' was given."),
    ('"1/2"', '"1"\ndelta = "2"', 7, "delta is a number from 0 to below 1 such as \"0\", in quotes; '2' was given."),
    ('"milk"', '"tea"', 7, "items has 'tea' twice: write each item once."),
    ('"milk"', "[1]", 7,
     "items has [1], which is no name of an item: a name is one line of text of up to 1,000 letters, in quotes."),
    (LIST, "[]", 7, "items is a list of 1 to 1,000,000 names, or the name of a file with one per line."),
    (LIST, "7", 7, "items is a list of 1 to 1,000,000 names, or the name of a file with one per line."),
    (LIST, '"none.txt"', 7,
     "There is no file /none.txt with a list of items. items is a list, or the name of a file with one per line."),
    ('"quota"', '"never"', 10, "close is \"quota\" or \"deadline\" or \"hand\"; 'never' was given."),
    ("people = 1000", "", 10, 'The field people is missing: with close = "quota", say people = 20000.'),
    ('"quota"', '"deadline"', 10, 'The field hours is missing: with close = "deadline", say hours = 24.'),
    ("people = 1000", "people = 1000\nhours = -1", 12,
     "hours is a number over 0 and up to 10,000, such as 24; -1 was given."),
    ("people = 1000", "peoples = 1000", 11,
     "[rounds] has no field 'peoples'; there are close, people, hours, minimum. Did you mean people?"),
    ("top = 5", 'top = 5\nwho = "me"', 6, "who is \"tokens\" or \"anyone\"; 'me' was given."),
    ("[settings]\ncandidates = 3", "settings = 3", 13,
     "[rounds] has no field 'settings'; there are close, people, hours, minimum."),
]  # fmt: skip


@pytest.mark.parametrize(("old_text", "new_text", "line", "message"), FLAWS)
def test_what_is_off_is_told_with_its_line(tmp_path, old_text, new_text, line, message):
    assert error_of(tmp_path, old_text, new_text) == f"study.toml, line {line}: {message}"


@pytest.mark.parametrize(
    ("old_text", "new_text", "line"),
    [("candidates = 3", "candidate = 3", 14), ("candidates = 3", 'candidates = "few"', 14), ('"svsm"', '"swsm"', 4)],
)
def test_what_the_protocol_refuses_has_its_line_too(tmp_path, old_text, new_text, line):
    assert error_of(tmp_path, old_text, new_text).startswith(f"study.toml, line {line}: ")


def test_what_is_simulated_only_cannot_be_a_study(tmp_path):
    with pytest.raises(InputError) as error:
        read_text(tmp_path, STUDY_TEXT.replace('"svsm"', '"ldpminer"').replace("candidates = 3", ""))
    assert "line 4: protocol 'ldpminer' is simulated only: no device answers for it." in str(error.value)


def test_what_is_no_toml_and_what_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"study.toml is not written as TOML is: .*line 1"):
        read_text(tmp_path, "name = \n")
    with pytest.raises(InputError, match=r"There is no file .*: `discreet study new"):
        read_study(tmp_path / "other.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(InputError, match="is not UTF-8 text"):
        read_study(tmp_path / "bytes.toml")


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", '{"items": 3}', '{"items": ["a"], "strange": 1}', "\xff", "[" * 200_000]
)
def test_what_travels_is_looked_at_too(text):
    with pytest.raises(MisuseError):
        StudyPlan.from_json(text)


def test_a_plan_from_elsewhere_is_checked_like_a_file(tmp_path):
    plan = json.loads(read_text(tmp_path).to_json())
    for change in (
        {"epsilon": "64"},
        {"items": ["a", "a"]},
        {"items": "abcd"},
        {"name": "../x"},
        {"settings": 7},
        {"who": "me"},
    ):
        with pytest.raises(MisuseError):
            StudyPlan.from_json(json.dumps({**plan, **change}))
