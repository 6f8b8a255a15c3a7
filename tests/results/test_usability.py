"""Mistakes people make with results, and the whole of what they are told."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from discreet.atomic_write import open_replacement
from discreet.errors import InputError, MisuseError
from discreet.results import load
from discreet.results._formats import listed_suffixes
from naive.rules import count_patterns, make_patterns

PATTERNS = make_patterns(count_patterns([{"tea", "milk"}, {"tea"}]), 2)
NUMBERS = make_patterns(count_patterns([{1, 2}, {1}]), 2)
RULES = PATTERNS.rules()
RELATIONS = replace(RULES, kind="relations", p=None, p_adjusted=None)
MEASURES = "support, confidence, lift, leverage, conviction, cosine, jaccard, kulczynski, certainty, zhang"
MINIMUMS = ", ".join(f"min_{name}" for name in MEASURES.split(", "))

MISTAKES = {
    "a percentage": (
        lambda: PATTERNS.rules(50),
        "min_confidence is 50, but it must lie between 0 and 1. For 50 % type min_confidence=0.5.",
    ),
    "a negative confidence": (
        lambda: PATTERNS.rules(-0.5),
        "min_confidence is -0.5, but it must lie between 0 and 1.",
    ),
    "no number": (
        lambda: PATTERNS.rules(float("nan")),
        "min_confidence is nan, but it must lie between 0 and 1.",
    ),
    "a text": (lambda: PATTERNS.rules("0.5"), "min_confidence is '0.5', but it must lie between 0 and 1."),
    "lift no number": (
        lambda: PATTERNS.rules(min_lift=float("nan")),
        "min_lift is nan, but it must be a number.",
    ),
    "consequents": (
        lambda: PATTERNS.rules(consequents="two"),
        "consequents is 'two', but it must be 'any' or 'one'.",
    ),
    "limit": (lambda: PATTERNS.rules(limit=0), "limit is 0, but it must be a whole number, 1 or more."),
    "unknown measure": (
        lambda: RULES.measure("zhangs_metric"),
        f"'zhangs_metric' is not a measure of rules; there are {MEASURES}.",
    ),
    "sorting by unknown": (
        lambda: RULES.sort("lifts"),
        f"Rules are not sorted by 'lifts': there are count, {MEASURES}, p, p_adjusted.",
    ),
    "unknown condition": (
        lambda: RULES.where(lift=2),
        f"where() has no condition 'lift'; there are antecedent, consequent, lengths, "
        f"min_count, significance, redundant, level, {MINIMUMS}.",
    ),
    "unknown minimum": (
        lambda: RULES.where(min_gain=2),
        f"where() has no condition 'min_gain'; there are antecedent, consequent, lengths, "
        f"min_count, significance, redundant, level, {MINIMUMS}.",
    ),
    "significance in percent": (
        lambda: RULES.where(significance=5),
        "significance is 5, but it must lie between 0 and 1. For 5 % type significance=0.05.",
    ),
    "redundant no switch": (
        lambda: PATTERNS.rules(redundant="no"),
        "redundant is True or False; 'no' was given.",
    ),
    "significance of relations": (
        lambda: RELATIONS.where(significance=0.05),
        "where(significance=...) needs p-values, which these relations do not have: relations are not tested.",
    ),
    "sorting relations by p": (
        lambda: RELATIONS.sort("p"),
        'sort("p") needs p-values, which these relations do not have: relations are not tested.',
    ),
    "redundant relations": (
        lambda: RELATIONS.where(redundant=False),
        "redundant=False is for rules: no relation is more general than another.",
    ),
    "minimum no number": (lambda: RULES.where(min_lift="2"), "min_lift is '2', but it must be a number."),
    "top nothing": (lambda: PATTERNS.top(0), "top is 0, but it must be a whole number, 1 or more."),
    "top of rules": (lambda: RULES.top(1.5), "top is 1.5, but it must be a whole number, 1 or more."),
    "order": (lambda: PATTERNS.sort("items"), "Patterns are sorted by 'count' or 'size', not by 'items'."),
    "support in percent": (
        lambda: PATTERNS.where(min_support=5),
        "min_support is 5, but it must lie between 0 and 1. For 5 % type min_support=0.05.",
    ),
    "lengths the wrong way": (
        lambda: PATTERNS.where(lengths=(3, 2)),
        "lengths is how many items a pattern has: a number such as 3, or the least and the most, such as "
        "(2, 4) or (2, None), from 1 on; (3, 2) was given.",
    ),
    "unknown item": (lambda: PATTERNS.where(contains="coffee"), "'coffee' is not an item of this data."),
    "name for a number": (
        lambda: NUMBERS.where(contains="1"),
        "'1' is not an item of this data: its items are numbers, not names.",
    ),
    "a text for an itemset": (
        lambda: PATTERNS.count_of("tea"),
        "An itemset is a set of items, not one text: type {'tea'}.",
    ),
    "a number for a name": (
        lambda: PATTERNS.count_of({1}),
        "1 is not an item of this data: its items are names, not numbers; put it in quotes.",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_a_mistake_is_told(mistake):
    act, message = MISTAKES[mistake]
    with pytest.raises(MisuseError) as raised:
        act()
    assert str(raised.value) == message


@pytest.mark.parametrize(("package", "result"), [("pandas", PATTERNS), ("polars", RULES)])
def test_a_missing_package(monkeypatch, package, result):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(MisuseError) as raised:
        getattr(result, f"to_{package}")()
    assert str(raised.value) == (
        f"to_{package}() needs {package}, which is not installed: pip install {package}, or use to_arrow()."
    )


def test_places_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    for path, message in {
        tmp_path
        / "a.doc": f"{{}} ends in .doc, but results are kept in {listed_suffixes('rows', 'page', 'picture')} files.",
        tmp_path
        / "a": f"{{}} has no suffix, but results are kept in {listed_suffixes('rows', 'page', 'picture')} files.",
        tmp_path / "no" / "a.csv": (
            f"Cannot write {{}}: there is no directory {tmp_path / 'no'}; make it first, or write elsewhere."
        ),
        tmp_path / "file" / "a.csv": f"Cannot write {{}}: {tmp_path / 'file'} is a file, not a directory.",
    }.items():
        with pytest.raises(MisuseError) as raised:
            PATTERNS.save(path)
        assert str(raised.value) == message.format(path)
    with pytest.raises(MisuseError) as raised, open_replacement(tmp_path):
        pass
    assert str(raised.value) == f"Cannot write {tmp_path}: it is a directory; add a file name."
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_no_permission(tmp_path, monkeypatch):
    # Raised by hand, because a test that runs as root may write anywhere.
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.open", refuse)
    with pytest.raises(MisuseError) as raised:
        PATTERNS.save(tmp_path / "a.csv")
    assert str(raised.value) == (
        f"Cannot write {tmp_path / 'a.csv'}: no permission to make files in {tmp_path}; write elsewhere."
    )


HEAD = '{"discreet": "patterns/1", "people": 4, "patterns": '
LISTS = "{}: items must be all whole numbers or all names, in lists."
BAD_FILES = {
    "a.csv": {
        "": "{} cannot be read as CSV: Empty CSV file.",
        "person,item\n1,tea\n": (
            "{} has no column 'items'; it has person, item. Patterns have items, count, support, people; to read "
            "baskets use discreet.read(). Tables of other results have their rows alone: all of it is in a .json file."
        ),
        'items,count,people\n[1],3,9\n"tea, milk",2,9\n': LISTS,
        'items,count,people\n"[1],[2]",3,9\n': (
            "{}, line 2: '[1],[2]' is not an itemset; write its items between semicolons, such as milk; tea or 3; 17, "
            "and names that have some in double quotes."
        ),
        "items,count,people\n[1],3,9\n[2],3,8\n": (
            "{}: the column 'people' must be the same in all rows, but has 2 values."
        ),
        "items,count,people\n[1],,9\n[2],4,9\n": "{}: 'count' must hold whole numbers.",
    },
    "a.json": {
        "": "{} cannot be read as JSON: Expecting value: line 1 column 1 (char 0).",
        "[]": (
            "{} holds no patterns or rules of this version of discreet (it does not say 'discreet'; known are "
            "'patterns/1', 'rules/1' and 'relations/1'). To read baskets use discreet.read()."
        ),
        '{"discreet": "patterns/9"}': (
            "{} holds no patterns or rules of this version of discreet (its form is 'patterns/9'; known are "
            "'patterns/1', 'rules/1' and 'relations/1'). To read baskets use discreet.read()."
        ),
        HEAD + '"all"}': "{}: 'patterns' must be a list of objects.",
        HEAD + '[{"items": [1], "count": 2}, {"items": [1]}]}': "{}: number 2 of the patterns has no 'count'.",
        HEAD + '[{"items": [1], "count": 2.5}]}': "{}: 'count' must hold whole numbers.",
        HEAD + '[{"items": [1], "count": "2"}]}': "{}: 'count' must hold numbers.",
        HEAD + '[{"items": [1], "count": 2, "low": [1]}]}': "{}: 'low' must hold numbers.",
        HEAD + '[{"items": [1], "count": 99999999999999999999}]}': "{}: 'count' must hold numbers.",
        HEAD + '[{"items": [1, 1], "count": 2}]}': "{}: an itemset holds 1 twice.",
        HEAD + '[{"items": [1, "1"], "count": 2}]}': LISTS,
        HEAD + '[{"items": [true], "count": 2}]}': LISTS,
        HEAD + '[{"items": [1.5], "count": 2}]}': LISTS,
        HEAD + '[{"items": [null], "count": 2}]}': LISTS,
        HEAD + '[{"items": [9999999999999999999], "count": 2}]}': LISTS,
        HEAD + '[{"items": ["\\ud800"], "count": 2}]}': LISTS,
        HEAD + '[{"items": "tea", "count": 2}]}': LISTS,
        HEAD.replace("4", "-4") + "[]}": "{}: 'people' is -4, but it must be a whole number from 0 to 2^53.",
    },
    "a.parquet": {"junk": "{} cannot be read as Parquet: "},
}


@pytest.mark.parametrize(("name", "content"), [(name, text) for name in BAD_FILES for text in BAD_FILES[name]])
def test_files_that_hold_no_result(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as raised:
        load(path)
    expected = BAD_FILES[name][content].replace("{}", str(path))
    if name == "a.parquet":
        assert str(raised.value).startswith(expected)
    else:
        assert str(raised.value) == expected


def test_rules_whose_sides_are_of_two_kinds(tmp_path):
    counts = '"count": 1, "antecedent_count": 1, "consequent_count": 1'
    text = f'{{"discreet": "rules/1", "people": 4, "rules": [{{"antecedent": [1], "consequent": ["a"], {counts}}}]}}'
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError) as raised:
        load(tmp_path / "a.json")
    assert str(raised.value) == LISTS.format(tmp_path / "a.json")


def test_parquet_of_someone_else(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"items": [[1]], "count": [2]}), tmp_path / "a.parquet")
    with pytest.raises(InputError) as raised:
        load(tmp_path / "a.parquet")
    assert str(raised.value).startswith(f"{tmp_path / 'a.parquet'} holds no patterns or rules")
    metadata = {"discreet": json.dumps({"discreet": "patterns/1", "people": 4})}
    pq.write_table(pa.table({"items": ["tea"], "count": [2]}).replace_schema_metadata(metadata), tmp_path / "a.parquet")
    with pytest.raises(InputError) as raised:
        load(tmp_path / "a.parquet")
    assert str(raised.value) == LISTS.format(tmp_path / "a.parquet")
    pq.write_table(pa.table({"items": [["tea"]]}).replace_schema_metadata(metadata), tmp_path / "a.parquet")
    with pytest.raises(InputError) as raised:
        load(tmp_path / "a.parquet")
    assert str(raised.value) == f"{tmp_path / 'a.parquet'} has no column 'count'; it has items."


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(InputError) as raised:
        load(tmp_path / "a.csv")
    assert str(raised.value) == f"There is no file {tmp_path / 'a.csv'}."
    (tmp_path / "b.csv").mkdir()
    with pytest.raises(InputError) as raised:
        load(tmp_path / "b.csv")
    assert str(raised.value) == f"{tmp_path / 'b.csv'} cannot be read: Is a directory."
