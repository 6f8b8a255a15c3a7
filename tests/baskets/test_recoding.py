"""What is public is read the same way whatever the data: nobody, one person and three give the same labels."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import discreet
from discreet import Baskets
from discreet.baskets import recode_baskets, resolve_items
from discreet.cli import app
from discreet.planning import trial

NOBODY: list[set[object]] = []
# Data with nobody, with one person and with three; items as numbers, as names, and as names that read as numbers.
DATA = {
    "nobody": NOBODY,
    "one of numbers": [{7, 12}],
    "one of names": [{"tea", "7"}],
    "three of numbers": [{7, 12}, {12, 100, 3}, set()],
    "three of names": [{"tea", "7"}, {"007"}, {"100", "12", "3"}],
    "three with nothing": [set(), set(), set()],
}
LISTS = {
    "names": (["tea", "milk", "007"], "tea\nmilk\n007\n"),
    "numbers": ([7, 12, 100], "7\n12\n100\n"),
    "zeros": (["007", "12", "7"], "007\n12\n7\n"),
}


def labels(release) -> set[object]:
    return {item for pattern in release.patterns for item in pattern.items}


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("kind", LISTS)
def test_the_list_of_items_says_whether_they_are_numbers(data, kind, tmp_path):
    items_listed, text = LISTS[kind]
    (tmp_path / "items.txt").write_text(text)
    for items in (items_listed, tmp_path / "items.txt"):
        release = trial(DATA[data], seed=1, top=3, lengths=1, epsilon=1, items=items)
        assert labels(release) == set(items_listed)
        assert release.patterns.to_arrow().column_names == [
            "items",
            "count",
            "support",
            "low",
            "high",
            "support_low",
            "support_high",
        ]
        typed_release = trial(
            DATA[data], seed=1, top=2, lengths=2, epsilon=1, items=items, contains=str(items_listed[1])
        )
        assert all(items_listed[1] in pattern.items for pattern in typed_release.patterns)
        assert len(typed_release.patterns) == 2
    numbered = trial(DATA[data], seed=1, top=3, lengths=1, epsilon=1, items=3)
    assert labels(numbered) == {0, 1, 2}


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("kind", LISTS)
def test_so_do_the_itemsets_to_count(data, kind):
    items_listed, _ = LISTS[kind]
    counts = discreet.count(DATA[data], [items_listed[:2], items_listed[2:]], epsilon=10**5, really=True)
    assert [set(pattern.items) for pattern in counts.patterns] == [set(items_listed[:2]), set(items_listed[2:])]
    basket_labels = [{str(item) for item in basket} for basket in DATA[data]]
    truth = [
        sum({str(item) for item in itemset} <= basket for basket in basket_labels)
        for itemset in (items_listed[:2], items_listed[2:])
    ]
    assert counts.patterns.counts.tolist() == truth


@pytest.mark.parametrize("data", DATA)
def test_typed_items_are_no_error_where_items_are_found(data):
    for contains in (7, "7", "tea"):
        release = trial(DATA[data], seed=1, top=3, epsilon=1, delta="1e-6", contains=contains)
        assert release.patterns.to_arrow().column_names == [
            "items",
            "count",
            "support",
            "low",
            "high",
            "support_low",
            "support_high",
        ]
        assert all(str(contains) in map(str, pattern.items) for pattern in release.patterns)


@pytest.mark.parametrize("data", DATA)
def test_listed_segments_are_what_was_typed(data):
    for segments in (["1", "2"], [1, 2]):
        for values in ([1, 2, 1], ["1", "2", "1"]):
            segment_values = values[: len(DATA[data])]
            releases = discreet.release_by(
                DATA[data], segment_values, top=1, epsilon=10**5, really=True, items=3, segments=segments
            )
            assert list(releases) == segments
            assert [release.patterns.people for release in releases.values()] == [
                segment_values.count(values[0]),
                segment_values.count(values[1]),
            ]


@pytest.mark.parametrize("mechanism", ["truncated", "truncated-naive", "truncated-items", "threshold", "auto"])
def test_given_items_are_listed_over_a_threshold_only_where_they_are_over_it(mechanism):
    # Items that are found are names, whatever the data have.
    people = [{"0", "1", "2"}] * 300 + [{"0", "3"}] * 10
    public = {"delta": "1e-6"} if mechanism == "threshold" else {"items": list("0123")}
    for seed in range(3):
        for contains, is_listed in (("0", True), ("3", False)):
            question = {"contains": contains, "min_count": 50, "epsilon": 8, "mechanism": mechanism, **public}
            bare = trial(people, seed=seed, counts=False, **question)
            assert ({contains} in bare.patterns) == is_listed
            assert "counting the items every pattern has" in {charge.what for charge in bare.guarantee.charges}
            assert ({contains} in trial(people, seed=seed, **question).patterns) == is_listed
    # Of the top they are one whatever their count, so nothing is paid for it.
    if mechanism == "auto":
        top = trial(people, seed=1, counts=False, contains=3, top=2, epsilon=8, **public)
        assert {"3"} in top.patterns
        assert "counting the items every pattern has" not in {charge.what for charge in top.guarantee.charges}


def test_names_that_were_numbers_are_sorted_anew():
    baskets = discreet.read([{2, 10, 9}, {100, 3}])
    names = recode_baskets(baskets, discreet.Vocabulary(["10", "2", "3", "9", "milk"]))
    assert isinstance(names, Baskets)
    assert list(names) == [{"2", "10", "9"}, {"3"}]
    assert all((names.codes[a:b][1:] > names.codes[a:b][:-1]).all() for a, b in ((0, 3), (3, 4)))
    back = recode_baskets(names, discreet.Vocabulary([2, 3, 9, 10]))
    assert list(back) == [{2, 9, 10}, {3}]
    assert back.codes.tolist() == [0, 2, 3, 1]


TABLES = {
    "nobody": "",
    "one of numbers": "ann,7,1\n",
    "one of names": "ann,tea,north\n",
    "three": "ann,7,1\nann,12,1\nbob,tea,2\ncid,,1\n",
}


@pytest.fixture
def run(tmp_path):
    def run(data, command, *arguments):
        path = tmp_path / "sales.csv"
        path.write_text("who,what,where\n" + TABLES[data])
        table = [str(path), "--person", "who", "--item", "what", "--epsilon", "100000", "--really", "--format", "json"]
        completed = CliRunner().invoke(app, [command, *table, *map(str, arguments)])
        assert completed.exit_code == 0, completed.output
        return json.loads(completed.stdout)

    return run


def shape(result):
    return sorted(result["patterns"][0]), [pattern["items"] for pattern in result["patterns"]]


@pytest.mark.parametrize("data", TABLES)
@pytest.mark.parametrize(
    ("text", "itemsets"),
    [
        ("tea,milk\n007\n7\n", [["milk", "tea"], ["007"], ["7"]]),
        ("7 12\n100\n", [[7, 12], [100]]),
        ("7,12\ntea\n", [["12", "7"], ["tea"]]),
    ],
)
def test_counting_on_the_command_line(run, data, text, itemsets, tmp_path):
    (tmp_path / "wanted.txt").write_text(text)
    columns, itemsets_found = shape(run(data, "count", "--itemsets", tmp_path / "wanted.txt"))
    assert columns == ["count", "high", "items", "low", "support", "support_high", "support_low"]
    assert [sorted(itemset) for itemset in itemsets_found] == itemsets


@pytest.mark.parametrize("data", TABLES)
@pytest.mark.parametrize("kind", LISTS)
def test_releasing_on_the_command_line(run, data, kind, tmp_path):
    items_listed, text = LISTS[kind]
    (tmp_path / "items.txt").write_text(text)
    items = ["--items", tmp_path / "items.txt"]
    columns, itemsets_found = shape(run(data, "release", "--top", 3, "--lengths", 1, *items))
    assert columns == ["count", "high", "items", "low", "support", "support_high", "support_low"]
    assert {item for itemset in itemsets_found for item in itemset} == set(items_listed)
    _, itemsets_with_item = shape(
        run(data, "release", "--top", 2, "--lengths", 2, *items, "--contains", items_listed[1])
    )
    assert {item for itemset in itemsets_with_item for item in itemset} == set(items_listed)
    assert all(items_listed[1] in itemset for itemset in itemsets_with_item)


@pytest.mark.parametrize("data", TABLES)
@pytest.mark.parametrize(("segment_names", "expected_names"), [(["1", "2"], [1, 2]), (["1", "north"], ["1", "north"])])
def test_segments_on_the_command_line(run, data, segment_names, expected_names, tmp_path):
    (tmp_path / "items.txt").write_text("tea\n7\n")
    segment_options = [word for name in segment_names for word in ("--segment", name)]
    documents = run(data, "release", "--top", 1, "--items", tmp_path / "items.txt", "--by", "where", *segment_options)
    assert [document["asked"]["segment"] for document in documents.values()] == expected_names


def test_an_item_that_is_listed_twice_is_one():
    vocabulary, list_text = resolve_items(["tea", "milk", "tea"], discreet.read([{"tea"}]))
    assert list(vocabulary) == ["milk", "tea"]
    assert list_text == "which 2 items there are, as declared"


@pytest.mark.parametrize("item_count", [0, -1, 10_000_001])
def test_how_many_items_there_can_be(item_count):
    with pytest.raises(discreet.MisuseError, match="items is how many items there are, from 1 to 10,000,000"):
        resolve_items(item_count, discreet.read([{"tea"}]))
