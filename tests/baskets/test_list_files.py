"""Files that list items or itemsets: one format, and nothing guessed where there are two readings."""

from __future__ import annotations

import pytest

import discreet
import running
from discreet import InputError, MisuseError
from discreet.baskets import Vocabulary, read_itemset_file, read_list_with_note, read_listed_items
from discreet.baskets._list_files import find_nearest_labels, read_labels

SHOP = Vocabulary(["milk", "milk, whole", "tea", "whole milk", "yogurt"])
EXPECTED_ITEMSETS = [["whole milk", "yogurt"], ["tea"]]


@pytest.fixture
def file(tmp_path):
    def write(text, name="wanted.txt"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("known_items", [None, SHOP], ids=["no list", "a list"])
@pytest.mark.parametrize(
    ("text", "name", "division"),
    [
        ("whole milk,yogurt\ntea\n", "wanted.txt", "commas"),
        ("whole milk, yogurt\n\n  tea", "wanted.csv", "commas"),
        ("whole milk;yogurt\ntea\n", "wanted.txt", "semicolons"),
        ("whole milk\tyogurt\ntea\n", "wanted.txt", "tabs"),
        ("tea\twhole milk\ntea\n", "wanted.tsv", "tabs"),
        ('"whole milk" yogurt\ntea\n', "wanted.txt", "blanks"),
        ('"whole milk" yogurt\ntea\n', "wanted.dat", "blanks"),
        ('"whole milk",yogurt\r\n"tea"\r\n', "wanted.txt", "commas"),
        ('["whole milk", "yogurt"]\n["tea"]\n', "wanted.txt", "JSON lists"),
        ('["whole milk", "yogurt"]\n["tea"]\n', "wanted.jsonl", "JSON lists"),
    ],
)
def test_itemsets(text, name, division, known_items, file):
    itemsets = read_itemset_file(file(text, name), known_items)
    expected = [["tea", "whole milk"], ["tea"]] if "tea\t" in text else EXPECTED_ITEMSETS
    assert (itemsets.itemsets, itemsets.separator) == (expected, division)


def test_numbers_and_single_names(file):
    assert read_itemset_file(file("7 12\n100\n")).itemsets == [["7", "12"], ["100"]]
    single = read_itemset_file(file("milk\ntea\n"))
    assert (single.itemsets, str(single)) == ([["milk"], ["tea"]], "2 itemsets, items between blanks")


def test_what_can_be_read_in_two_ways_is_refused(file):
    path = file("tea\nwhole milk\n")
    with pytest.raises(InputError) as raised:
        read_itemset_file(path)
    assert str(raised.value) == (
        f"{path}, itemset 2 can be read as 2 items ('whole', 'milk') or 1 item ('whole milk'). Nothing was spent. "
        "Write a comma between items, or each line as a JSON list, and names that have blanks or commas in double "
        "quotes."
    )
    # A public list of items decides, where it does.
    assert read_itemset_file(path, SHOP).itemsets == [["tea"], ["whole milk"]]
    assert read_itemset_file(path, Vocabulary(["milk", "tea", "whole"])).itemsets == [["tea"], ["whole", "milk"]]
    with pytest.raises(InputError, match="can be read as"):
        read_itemset_file(path, Vocabulary(["milk", "tea", "whole", "whole milk"]))
    with pytest.raises(InputError, match="can be read as"):
        read_itemset_file(file("a,b;c\n"))
    assert read_itemset_file(file("a,b;c\n"), Vocabulary(["a,b", "c"])).itemsets == [["a,b", "c"]]
    assert read_itemset_file(file("milk, whole\n"), SHOP).itemsets == [["milk, whole"]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[1, 2\n", "itemset 1: '[1, 2' cannot be read as a JSON list, such as"),
        ("[[1]]\n", "cannot be read as a JSON list"),
        ('"milk" "tea\n', "cannot be read as items between blanks"),
        ("milk,tea\n,\n", "itemset 2: ',' has no item in it."),
        ("\n\n", "is empty: --itemsets is a file with one itemset per line."),
    ],
)
def test_bad_itemsets(text, problem, file):
    with pytest.raises(InputError) as raised:
        read_itemset_file(file(text))
    assert problem in str(raised.value)


def test_items_one_per_line(file):
    text = 'milk, whole\n\n"tea"\n  whole milk \n"a ""b"""\n"a \\"c\\""\n'
    assert read_labels(file(text), "items") == ["milk, whole", "tea", "whole milk", 'a "b"', 'a "c"']
    for line, separator in (
        ("milk\t3", "tab"),
        ("milk,3", "comma"),
        ("milk;3", "semicolon"),
        ('["milk", "tea"]', "comma"),
    ):
        with pytest.raises(InputError, match=f"has a {separator}: it is a table, or has several items in one line"):
            read_labels(file(f"{line}\n{line}\n"), "items")


@pytest.mark.parametrize(
    ("text", "heading"),
    [("product\nmilk\n", "product"), ("Item ID\n3\n", "Item ID"), ("Nummer\n3\n4\n", "Nummer"), ("tea\nmilk\n", "")],
)
def test_a_heading_is_warned_of(text, heading, file):
    path = file(text)
    labels, note = read_list_with_note(path, "items")
    assert len(labels) == text.count("\n")
    if not heading:
        assert note == ""
        return
    assert note == (
        f"The first line of {path}, {heading!r}, reads like a heading, and is taken for one of the items: remove it, "
        "if it is none."
    )
    with pytest.warns(UserWarning, match="reads like a heading"):
        read_listed_items(path, "items")


def test_nearest_labels():
    assert find_nearest_labels("Yoghurt", SHOP) == ["yogurt"]
    assert find_nearest_labels("milk,yogurt", SHOP)[0] == "yogurt"
    assert set(find_nearest_labels("whole", SHOP)) == {"whole milk", "milk, whole"}
    assert find_nearest_labels("nails", SHOP) == []


class TestBeforeAnythingIsPaid:
    """Names with blanks were torn apart, counted as 0, and the ledger paid."""

    @pytest.fixture
    def run_count(self, file, tmp_path):
        rows = "".join(f"{person},whole milk\n{person},yogurt\n" for person in range(400))
        data = file(f"who,what\n{rows}", "sales.csv")
        discreet.Ledger.create(tmp_path / "budget.db", epsilon=10)
        items = file("whole milk\nyogurt\ntea\n", "items.txt")

        def run(*options):
            question = ("--person", "who", "--item", "what", "--epsilon", 1, "--ledger", tmp_path / "budget.db")
            completed = running.run("count", data, *question, *options, "--format", "csv", cwd=tmp_path)
            return completed, discreet.Ledger.open(tmp_path / "budget.db").state().spends

        return run, items

    def test_commas(self, run_count, file):
        run, items = run_count
        itemset_path = file("whole milk,yogurt\n")
        for options in ((), ("--items", items), ("--items", "public")):
            completed, _ = run("--itemsets", itemset_path, *options)
            assert completed.returncode == 0, completed.stderr
            assert f"{itemset_path}: 1 itemset, items between commas" in completed.stderr
            assert "whole milk" in completed.stdout
            assert "milk,yogurt" not in completed.stdout.replace("whole milk", "")

    def test_two_readings(self, run_count, file):
        run, items = run_count
        completed, spends = run("--itemsets", file("whole milk\n"))
        assert (completed.returncode, spends) == (1, 0)
        assert "can be read as 2 items" in completed.stderr
        assert run("--itemsets", file("whole milk\n"), "--items", items)[1] == 1

    def test_not_on_the_list(self, run_count, file):
        run, items = run_count
        for item_list in (items, "public"):
            completed, spends = run("--itemsets", file("whole milk,yoghurt\n"), "--items", item_list)
            assert (completed.returncode, spends) == (1, 0)
            assert "'yoghurt' is not " in completed.stderr
            assert "; nearest is 'yogurt'" in completed.stderr

    def test_headings(self, run_count, file):
        run, _ = run_count
        completed, _ = run(
            "--itemsets", file("yogurt\n"), "--items", file("product\nwhole milk\nyogurt\n", "items.csv")
        )
        assert completed.returncode == 0
        assert (
            "'product', reads like a heading, and is taken for one of the items: remove it, if it is"
            in completed.stderr
        )


def test_lists_from_python(file):
    """The same file means the same from Python."""
    baskets = discreet.read([{"whole milk", "yogurt"}] * 50)
    with pytest.warns(UserWarning, match="reads like a heading"):
        discreet.release(baskets, top=1, epsilon=1, items=file("item\nwhole milk\nyogurt\n"))
    with pytest.raises(MisuseError, match="nearest is 'yogurt'"):
        discreet.count(baskets, [{"yoghurt"}], epsilon=1, items="public")
