"""What text is, found at its beginning: encodings, delimiters, and tables that must not be taken for baskets."""

from __future__ import annotations

import gzip
import logging
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import InputError, MisuseError

COLUMNS: dict[str, Any] = {"person": "customer", "item": "product"}
TABLE = 'customer,product,price\n7,crème,"1,5"\n7,tea,2\n3,tea,2\n'
SETS = [["tea"], ["crème", "tea"]]
ENCODINGS = {
    "utf-8": None,
    "utf-8-sig": None,
    "utf-16": None,
    "utf-32": None,
    "utf-16-le": "utf-16-le",
    "latin-1": "latin-1",
    "windows-1252": "windows-1252",
}


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def sets(baskets: discreet.Baskets) -> list[list[Any]]:
    return [sorted(basket, key=str) for basket in baskets]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_table_in_any_encoding_and_with_any_delimiter(encoding: str, delimiter: str) -> None:
    text = TABLE.replace('"1,5"', "1.5" if delimiter == "," else "1,5").replace("1,5", "COMMA")
    text = text.replace(",", delimiter).replace("COMMA", "1,5").replace("\n", "\r\n")
    Path("sales.csv").write_bytes(text.encode(encoding))
    read_options: dict[str, Any] = {"encoding": ENCODINGS[encoding]}
    assert sets(discreet.read("sales.csv", **COLUMNS, **read_options)) == SETS
    assert sets(discreet.read("sales.csv", **COLUMNS, **read_options, delimiter=delimiter)) == SETS


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_lines_and_records_in_any_encoding(encoding: str) -> None:
    read_options: dict[str, Any] = {"encoding": ENCODINGS[encoding]}
    for name, text in {
        "a.dat": "crème tea\n\ntea\n",
        "a.csv": "crème,tea\n\ntea\n",
        "a.jsonl": '["crème", "tea"]\n[]\n["tea"]\n',
    }.items():
        Path(name).write_bytes(text.encode(encoding))
        assert sets(discreet.read(name, **read_options)) == [["crème", "tea"], [], ["tea"]], name
    Path("b.jsonl").write_bytes('{"customer": 1, "product": "crème"}\n'.encode(encoding))
    assert sets(discreet.read("b.jsonl", **COLUMNS, **read_options)) == [["crème"]]


def test_what_was_found_is_told(caplog: pytest.LogCaptureFixture) -> None:
    Path("sales.csv").write_bytes("customer;product\n1;tea\n".encode("utf-16"))
    with caplog.at_level(logging.INFO, "discreet"):
        discreet.read("sales.csv", **COLUMNS)
    assert caplog.messages == [
        "sales.csv: it is utf-16 text, by its byte order mark.",
        "sales.csv: semicolons stand between its fields.",
    ]


def test_delimiters_of_baskets() -> None:
    for text, items in {
        "tea;milk\nbread\nrice;tea;oil\n": ["bread", "milk", "oil", "rice", "tea"],
        "tea; green,milk\nbread; white\n": ["bread; white", "milk", "tea; green"],  # a comma is one
        "tea\nbread; white,milk\nrice\n": ["bread; white", "milk", "rice", "tea"],  # now and then is not usual
    }.items():
        Path("a.csv").write_text(text)
        assert sorted(discreet.read("a.csv").vocabulary) == items
        baskets = discreet.read("a.csv", delimiter="|", labels="names", format="baskets")
        assert sorted(baskets.vocabulary) == sorted(text.splitlines())
    Path("a.csv").write_text("a;b|c\nd;e|f;g\n")
    with pytest.raises(MisuseError) as caught:
        discreet.read("a.csv")
    assert str(caught.value) == (
        "a.csv: it is not clear whether semicolons or vertical bars stand between items; say it, as in delimiter=';'."
    )


LOOKS = (
    "{} looks like a table: its first lines have {} each. Say which column holds the person and which the item, as in "
    '{}person="customer" and item="product"; or format="{}", if every line is a basket.'
)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.csv", "customer,product\n1,tea\n1,milk\n", "2 fields"),
        ("a.csv", "1,17\n1,23\n2,17\n", "2 fields"),
        ("a.csv", "customer;product\n1;tea\n", "2 fields"),
        ("a.csv", 'customer,note\n1,"two\nlines"\n\n', "2 fields"),
        ("a.tsv", "customer\tproduct\tprice\n1\ttea\t2,5\n", "3 fields"),
        ("a.csv", "items,first,second\n1,tea\n3,tea,milk,rice\n", "a number and then names, but for the first,"),
    ],
)
def test_a_table_is_not_taken_for_baskets(name: str, text: str, reason: str) -> None:
    Path(name).write_text(text)
    for ask in (discreet.read, lambda source: discreet.mine(source, top=1)):
        with pytest.raises(MisuseError) as caught:
            ask(name)
        assert str(caught.value) == LOOKS.format(name, reason, "", "baskets")
        assert caught.value.message.typed.endswith(
            "as in --person customer and --item product; or --input-format baskets, if every line is a basket."
        )
    if "\nlines" not in text:
        assert discreet.read(name, format="baskets").people == len(text.splitlines())


def test_a_table_under_a_name_for_text() -> None:
    Path("a.txt").write_text("customer,product\n1,tea\n1,milk\n")
    with pytest.raises(MisuseError) as caught:
        discreet.read("a.txt")
    assert str(caught.value) == LOOKS.format("a.txt", "as many commas", 'format="csv" and ', "fimi")
    assert discreet.read("a.txt", format="fimi").items == 3
    assert sets(discreet.read("a.txt", format="csv", **COLUMNS)) == [["milk", "tea"]]


def test_plain_baskets_need_no_word() -> None:
    for text in ("citrus fruit,bread,soup\ntea,yogurt\nmilk\n", "1,2\n\n3,4\n", "tea,milk\ntea\n", "1\n2,3\n"):
        Path("a.csv").write_text(text)
        assert discreet.read("a.csv").people == len(text.splitlines())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"delimiter": "::"},
            "delimiter is '::'; it is one character, such as ',' or ';' or '|', or 'tab'; where blanks stand between "
            'items, give format="fimi".',
        ),
        (
            {"encoding": "klingon"},
            "encoding is 'klingon', which is not known; write it as utf-8, utf-16, windows-1252 or latin-1.",
        ),
        (
            {"encoding": "hex"},
            "encoding is 'hex', which is not known; write it as utf-8, utf-16, windows-1252 or latin-1.",
        ),
    ],
)
def test_what_is_no_delimiter_or_encoding(options: dict[str, Any], message: str) -> None:
    with pytest.raises(MisuseError) as caught:
        discreet.read("a.csv", **options)
    assert str(caught.value) == message


def test_an_encoding_against_the_mark() -> None:
    Path("a.csv").write_bytes("a,b\n".encode("utf-8-sig"))
    with pytest.raises(InputError) as caught:
        discreet.read("a.csv", encoding="latin-1")
    assert str(caught.value) == (
        "a.csv begins with the mark of utf-8 text, so encoding='iso8859-1' is wrong; leave it out."
    )
    Path("a.csv").write_bytes(b"a,\x81\n")
    with pytest.raises(InputError) as caught:
        discreet.read("a.csv", encoding="windows-1252")
    assert str(caught.value) == ("a.csv is not cp1252 text; give another encoding=, such as windows-1252 or utf-8.")


def test_options_for_text_are_for_text() -> None:
    for source in ([{"tea"}], "sqlite:///a.db"):
        with pytest.raises(MisuseError, match='so delimiter=";" means nothing here'):
            discreet.read(source, delimiter=";", **({"query": "SELECT 1"} if isinstance(source, str) else {}))


@pytest.mark.parametrize(
    "text", ["customer;product;price\n1;tea;1,50\n1;milk;2,00\n2;tea;1,50\n", "id;a\n1;x,y\n2;x\n"]
)
def test_commas_within_the_fields_of_a_table_make_no_baskets_of_it(text: str) -> None:
    Path("german.csv").write_text(text)
    with pytest.raises(MisuseError, match="looks like a table"):
        discreet.read("german.csv")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("customer,product\n", "has a single line, which may be the heading of a table without rows"),
        ("customer,product\n\n", "has a single line"),
        ("product\ntea\nmilk\n", "has one field on each line, so nothing in it says what is held together"),
        ('items\n"tea,milk"\n"tea"\n', "has one field on each line"),
        ("tea\n\nmilk\n", "has one field on each line"),
        ("tea\n", "has one field on each line"),
    ],
)
def test_less_than_a_table_is_asked_about(tmp_path, text, reason):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(MisuseError, match=reason) as refused:
        discreet.read(path)
    assert 'format="baskets"' in str(refused.value)
    assert "--input-format baskets" in refused.value.message.typed
    assert len(discreet.read(path, format="baskets")) >= 1
    (tmp_path / "a.txt").write_text(text.replace(",", " "))
    assert len(discreet.read(tmp_path / "a.txt")) >= 1  # blanks between items: nobody keeps tables like that


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("is_packed", [False, True])
def test_wide_text_without_a_mark(tmp_path, encoding, is_packed):
    data = "customer,product\n1,tea\n2,caf\u00e9\n".encode(encoding)
    path = tmp_path / ("a.csv.gz" if is_packed else "a.csv")
    path.write_bytes(gzip.compress(data) if is_packed else data)
    for options in ({}, {"person": "customer", "item": "product"}):
        with pytest.raises(InputError) as refused:
            discreet.read(path, **options)
        assert str(refused.value) == (
            f"{path} looks like {encoding} text without a byte order mark: say so, as in encoding='{encoding}'."
        )
    assert len(discreet.read(path, person="customer", item="product", encoding=encoding)) == 2
