"""Hierarchies as people have them, what they make of baskets, and what is wrong with some."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from pyarrow import feather, parquet

import discreet
from discreet import InputError, MisuseError
from discreet.baskets import Hierarchy, generalised, resample
from naive import lineage as naive
from strategies import baskets as some_baskets, forests

SHAPE = (
    "A hierarchy is a table of two columns, an item and what stands right above it; or of more, an item and what "
    "stands above it level by level. Its first line has the names of the columns."
)
COLUMNS = ["product", "category", "department"]
ROWS = [
    ("milk", "dairy", "food"),
    ("cheese", "dairy", "food"),
    ("bread", "bakery", "food"),
    ("tea", "hot drinks", "drinks"),
    ("salt", None, "food"),
]
TEXT = "product,category,department\nmilk,dairy,food\ncheese,dairy,food\nbread,bakery,food\n"
TEXT += 'tea,"hot drinks",drinks\nsalt,,food\n\n'
PAIRS = {"milk": "dairy", "cheese": "dairy", "bread": "bakery", "tea": "hot drinks", "salt": "food"}
PAIRS |= {"dairy": "food", "bakery": "food", "hot drinks": "drinks"}


def columns() -> dict[str, list[str | None]]:
    return {name: [row[place] for row in ROWS] for place, name in enumerate(COLUMNS)}


def alike(first_hierarchy: Hierarchy, second_hierarchy: Hierarchy) -> bool:
    return dict(first_hierarchy.parents) == dict(second_hierarchy.parents) and set(first_hierarchy.heights) == set(
        second_hierarchy.heights
    )


WHOLE_HIERARCHY = Hierarchy.from_rows(COLUMNS, ROWS)


class TestReading:
    def test_all_forms_say_the_same(self, tmp_path):
        (tmp_path / "a.csv").write_text(TEXT)
        (tmp_path / "a.tsv").write_text(TEXT.replace(",", "\t"))
        (tmp_path / "semicolons.csv").write_text(TEXT.replace(",", ";"))
        (tmp_path / "marked.csv").write_text(TEXT, encoding="utf-8-sig")
        (tmp_path / "a.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
        table = pa.table(columns())
        parquet.write_table(table, tmp_path / "a.parquet")
        feather.write_feather(table, tmp_path / "a.feather")
        sources = [tmp_path / name for name in ["a.csv", "a.tsv", "semicolons.csv", "marked.csv", "a.csv.gz"]]
        sources += [tmp_path / "a.parquet", tmp_path / "a.feather", str(tmp_path / "a.csv")]
        for source in [*sources, table, pd.DataFrame(columns()), columns(), WHOLE_HIERARCHY]:
            hierarchy = Hierarchy.read(source)
            assert alike(hierarchy, WHOLE_HIERARCHY), source
            assert hierarchy.levels == tuple(COLUMNS)
            assert hierarchy.heights == WHOLE_HIERARCHY.heights
        for source in [ROWS, PAIRS, list(PAIRS.items())]:
            assert alike(Hierarchy.read(source), WHOLE_HIERARCHY)

    def test_levels_of_pairs_are_how_many_lie_below(self):
        hierarchy = Hierarchy.read(PAIRS)
        assert {label: hierarchy.heights[label] for label in ("salt", "milk", "dairy", "food", "drinks")} == {
            "salt": 0,
            "milk": 0,
            "dairy": 1,
            "food": 2,
            "drinks": 2,
        }
        assert hierarchy.height == 2
        assert hierarchy.level_name(1) == "level 1"

    def test_blanks_are_of_the_label_but_in_text(self, tmp_path):
        """Items of a list keep theirs; those of a text file have none, and nor has its hierarchy."""
        (pattern,) = discreet.mine([["milk "], ["milk "]], top=1, hierarchy={"milk ": "dairy"}, level=1)
        assert (pattern.items, pattern.count) == (frozenset({"dairy"}), 2)
        (tmp_path / "h.csv").write_text("product, category\n milk , dairy\n , \n")
        assert Hierarchy.read(tmp_path / "h.csv").parents == {"milk": "dairy"}

    def test_values_that_frames_and_arrays_have(self):
        assert Hierarchy.read({1: np.int64(100), 2: 100}).parents == {"1": "100", "2": "100"}
        assert Hierarchy.read({"milk": "dairy", "dairy": None, "salt": float("nan")}).parents == {"milk": "dairy"}

    def test_columns_name_levels_that_are_empty_too(self):
        hierarchy = Hierarchy.from_rows(("product", "category", "department"), [("milk", "dairy", None)])
        assert (hierarchy.names, hierarchy.height, hierarchy.level("category")) == (
            ("product", "category", "department"),
            2,
            1,
        )
        assert Hierarchy.from_dict(hierarchy.to_dict()) == hierarchy

    def test_as_many_levels_as_may_be_can_be_saved(self, tmp_path):
        chain = {f"{place}": f"{place + 1}" for place in range(63)}
        discreet.mine([["0"]] * 3, top=2, hierarchy=chain).save(tmp_path / "deep.json")
        assert discreet.load(tmp_path / "deep.json").hierarchy == Hierarchy.read(chain)

    def test_looking_up(self):
        assert WHOLE_HIERARCHY.above("milk") == ["dairy", "food"]
        assert WHOLE_HIERARCHY.above("salt") == ["food"]
        assert WHOLE_HIERARCHY.above("soap") == []
        assert [WHOLE_HIERARCHY.at("milk", level) for level in range(3)] == ["milk", "dairy", "food"]
        # Nothing stands above salt on the level between.
        assert [WHOLE_HIERARCHY.at("salt", level) for level in range(3)] == ["salt", "salt", "food"]
        assert [WHOLE_HIERARCHY.at("dairy", level) for level in range(3)] == [None, "dairy", "food"]
        assert WHOLE_HIERARCHY.at("soap", 2) == "soap"
        assert (
            WHOLE_HIERARCHY.level("category")
            == WHOLE_HIERARCHY.level("1")
            == WHOLE_HIERARCHY.level(1)
            == WHOLE_HIERARCHY.level(np.int64(1))
            == 1
        )
        assert repr(WHOLE_HIERARCHY) == "Hierarchy(10 items on 3 levels: product, category, department)"

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ("nowhere.csv", "There is no file nowhere.csv with a hierarchy."),
            ({"a": "a"}, "In the hierarchy 'a' stands above itself: correct that row."),
            ([("a", "b"), ("b", "c"), ("c", "a")], "In the hierarchy 'c' stands above itself: correct that row."),
            (
                [("a", "b"), ("a", "c")],
                "In the hierarchy 'a' stands below 'b' and below 'c'. An item has one item right above it: leave one "
                "out, or tell the two apart by their names.",
            ),
            ([("a",)], f"This has 1 columns. {SHAPE}"),
            ([], f"This has 0 columns. {SHAPE}"),
            (pa.table({"item": pa.array([], pa.string()), "parent": pa.array([], pa.string())}),
             f"The hierarchy has no rows. {SHAPE}"),
            ([("", "b")], "The hierarchy has a row without an item: the first column is never empty."),
            (
                [("a", "b", "c"), ("b", "x", "y")],
                "In the hierarchy 'b' stands under 'column 1' and under 'column 2': an item is on one level. Tell the "
                "two apart by their names.",
            ),
            (
                pa.table({"milk": ["cheese"], "dairy": ["dairy"]}),
                f"The first line of the hierarchy names a column 'dairy', and 'dairy' stands above items too: it looks "
                f"like a row. {SHAPE}",
            ),
            (
                pa.table({"item": [1.5], "parent": ["dairy"]}),
                "The hierarchy holds float, where items are names or whole numbers: convert it to text.",
            ),
            (
                {f"{place}": f"{place + 1}" for place in range(140)},
                "A hierarchy has at most 64 levels; '0' has more above it.",
            ),
            (
                {f"{place}": f"{place + 1}" for place in range(64)},
                "A hierarchy has at most 64 levels; this has 65.",
            ),
            (
                {"milk": {"dairy"}},
                "The hierarchy holds set, where items are names or whole numbers: convert it to text.",
            ),
            (
                pa.table({"item": ["milk"], "mixed": ["dairy"]}),
                "A level cannot be called 'mixed': that stands for patterns on no one level.",
            ),
        ],
    )  # fmt: skip
    def test_mistakes(self, source, message):
        with pytest.raises(InputError) as caught:
            Hierarchy.read(source)
        assert str(caught.value) == message

    @pytest.mark.parametrize("source", [5, b"a,b", None, [("a", "b"), 5]])
    def test_what_is_no_table(self, source):
        with pytest.raises(MisuseError, match=r"hierarchy is a file, a data frame, a dictionary"):
            Hierarchy.read(source)

    def test_files_that_are_none(self, tmp_path):
        (tmp_path / "a.json").write_text("{}")
        with pytest.raises(InputError, match=r"no table that a hierarchy is read from"):
            Hierarchy.read(tmp_path / "a.json")
        (tmp_path / "empty.csv").write_text("")
        with pytest.raises(InputError, match=r"The hierarchy in .*empty.csv is empty"):
            Hierarchy.read(tmp_path / "empty.csv")
        (tmp_path / "nameless").write_text(TEXT)
        with pytest.raises(InputError, match=r"no table that a hierarchy is read from"):
            Hierarchy.read(tmp_path / "nameless")
        (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing")
        with pytest.raises(InputError, match="cannot be read"):
            Hierarchy.read(tmp_path / "broken.parquet")
        (tmp_path / "latin.csv").write_text(TEXT.replace("dairy", "crème"), encoding="latin-1")
        with pytest.raises(InputError, match="is not UTF-8 text: save it so, or give a data frame"):
            Hierarchy.read(tmp_path / "latin.csv")

    @pytest.mark.parametrize("level", ["aisle", 3, -1, 1.5, True, "²"])
    def test_levels_that_are_none(self, level):
        with pytest.raises(MisuseError, match=r"0 to 2 \(product, category, department\)"):
            WHOLE_HIERARCHY.level(level)


class TestGeneralised:
    BASKETS = discreet.read([["milk", "tea"], ["salt"], [], ["soap", "cheese"], ["dairy"]])

    def test_across_levels(self):
        wide_baskets = generalised(self.BASKETS, ROWS)
        assert [set(basket) for basket in wide_baskets] == [
            {"milk", "dairy", "food", "tea", "hot drinks", "drinks"},
            {"salt", "food"},
            set(),
            {"soap", "cheese", "dairy", "food"},
            {"dairy", "food"},
        ]
        parents = wide_baskets.lineage.parents
        label = wide_baskets.vocabulary.label
        above = {label(code): label(int(parent)) for code, parent in enumerate(parents) if parent >= 0}
        assert above == {name: PAIRS[name] for name in ["milk", "cheese", "tea", "salt", "dairy", "hot drinks"]}

    @pytest.mark.parametrize(
        ("level", "expected"),
        [
            (0, [{"milk", "tea"}, {"salt"}, set(), {"soap", "cheese"}, set()]),
            (1, [{"dairy", "hot drinks"}, {"salt"}, set(), {"soap", "dairy"}, {"dairy"}]),
            (2, [{"food", "drinks"}, {"food"}, set(), {"soap", "food"}, {"food"}]),
        ],
    )
    def test_on_a_level(self, level, expected):
        wide_baskets = generalised(self.BASKETS, ROWS, level)
        assert [set(basket) for basket in wide_baskets] == expected
        assert wide_baskets.lineage is None

    @given(forests(7, min_count=1), some_baskets(7, max_count=6))
    def test_against_walking_up(self, parents, people):
        people = [frozenset(item % len(parents) for item in basket) for basket in people]
        above = {item: parent for item, parent in enumerate(parents) if parent >= 0}
        baskets = discreet.read([sorted(basket) for basket in people], labels="numbers") if people else None
        if baskets is None or not above or not baskets.items:
            return
        wide_baskets = generalised(baskets, above)
        assert [set(basket) for basket in wide_baskets] == [naive.widened(parents, basket) for basket in people]

    def test_people_with_several_baskets_keep_them(self):
        table = pa.table({"who": [1, 1, 2], "bill": [1, 2, 1], "what": ["milk", "cheese", "tea"]})
        wide_baskets = generalised(discreet.read(table, person="who", basket="bill", item="what"), ROWS, 1)
        assert wide_baskets.owners.tolist() == [0, 2, 3]
        assert [set(basket) for basket in wide_baskets] == [{"dairy"}, {"dairy"}, {"hot drinks"}]

    def test_numbers_stay_numbers(self):
        wide_baskets = generalised(discreet.read([[1, 2], [3]]), {1: 10, 2: 10})
        assert [set(basket) for basket in wide_baskets] == [{1, 2, 10}, {3}]
        named_baskets = generalised(discreet.read([[1, 2], [3]]), {1: "even", 2: "even"})
        assert [set(basket) for basket in named_baskets] == [{"1", "2", "even"}, {"3"}]

    def test_misuse(self):
        with pytest.raises(MisuseError, match="level is a level of a hierarchy: give hierarchy= too"):
            generalised(self.BASKETS, None, 1)
        table = pa.table({"who": [1, 1], "what": ["milk", "tea"], "at": [1, 2]})
        ordered = discreet.read(table, person="who", item="what", time="at")
        with pytest.raises(MisuseError, match="read the baskets without their order"):
            generalised(ordered, ROWS)


def test_capped_baskets_and_samples_keep_their_forest():
    baskets = generalised(discreet.read([{"milk", "salt"}, {"milk"}, {"salt"}] * 3), {"milk": "dairy", "dairy": "food"})
    assert baskets.lineage is not None
    for derived in (discreet.read(baskets, max_items=2, seed=1), resample(baskets, 5, seed=1)):
        assert (derived.lineage, derived.hierarchy) == (baskets.lineage, baskets.hierarchy)
