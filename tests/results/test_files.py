from __future__ import annotations

import csv
import errno
import json
import os
import stat
import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

import discreet
from discreet.atomic_write import open_replacement
from discreet.errors import DiscreetError, InputError
from discreet.results import holds_result, load
from discreet.results._files import save
from naive.rules import count_patterns, make_patterns

formats = pytest.mark.parametrize("form", ["csv", "json", "parquet"])

name = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
number = st.integers(-(2**63), 2**63 - 1)
AWKWARD = ["", " ", "1", "a,b", 'say "x"', "{b}", "[c]", "d\ne", "f\r\ng", "\\", "naïve ☕", "null", "\x00", "; "]


def counts_of(item):
    return st.dictionaries(st.frozensets(item, max_size=4), st.integers(0, 10**12), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@formats
@given(counts=st.one_of(counts_of(name), counts_of(number), counts_of(st.sampled_from(AWKWARD))), bounds=st.booleans())
@example(counts={frozenset(AWKWARD): 3, frozenset(): 4}, bounds=False)
@example(counts={frozenset({1, 2, -(2**63), 2**63 - 1}): 3}, bounds=True)
def test_patterns_come_back(folder, form, counts, bounds):
    interval = np.arange(len(counts)) / 3 - 1
    patterns = make_patterns(counts, 10**12, **({"low": interval, "high": interval + 2} if bounds else {}))
    path = folder / f"patterns.{form}"
    patterns.save(path)
    back = load(path)
    assert back == patterns
    assert list(back) == list(patterns)
    assert back.vocabulary.numeric == patterns.vocabulary.numeric or not len(patterns.codes)


@formats
@given(
    baskets=st.one_of(
        st.lists(st.frozensets(st.sampled_from(AWKWARD), max_size=4), min_size=1, max_size=8),
        st.lists(st.frozensets(st.integers(0, 9), max_size=4), min_size=1, max_size=8),
    )
)
def test_rules_come_back(folder, form, baskets):
    rules = make_patterns(count_patterns(baskets), len(baskets)).rules(0.4)
    path = folder / f"rules.{form}"
    save(rules, path)
    back = load(path)
    # A CSV file without rows has no place for the number of people.
    assert back == rules or (form == "csv" and not len(rules) and len(back) == back.people == 0)
    assert list(back) == list(rules)


@formats
def test_nothing_comes_back_as_nothing(tmp_path, form):
    for result in (make_patterns({}, 12), make_patterns({}, 12).rules()):
        path = tmp_path / f"empty.{form}"
        result.save(path)
        back = load(path)
        assert type(back) is type(result)
        assert (len(back), back.people) == (0, 0 if form == "csv" else 12)


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_omitted_comes_back(tmp_path, form):
    rules = make_patterns({frozenset({1, 2}): 3}, 9).rules()
    rules.save(tmp_path / f"rules.{form}")
    assert load(tmp_path / f"rules.{form}").omitted == rules.omitted == 2


def test_more_rows_than_one_piece(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.results._writing._STRIDE", 3)
    patterns = make_patterns(count_patterns([set("abc")]), 1)
    for form in ("csv", "json"):
        patterns.save(tmp_path / f"patterns.{form}")
        assert load(tmp_path / f"patterns.{form}") == patterns


def small_patterns():
    return make_patterns({frozenset({"tea"}): 5, frozenset({"tea", "milk, cold"}): 4}, 8)


def test_csv_as_other_programs_see_it(tmp_path):
    small_patterns().save(tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_text(encoding="utf-8")
    assert text == (
        "items,count,support,people\n"
        '"tea",5,0.625,8\n'
        '"milk, cold; tea",4,0.5,8\n'
    )  # fmt: skip
    rows = list(csv.DictReader(text.splitlines()))
    assert rows[1]["items"].split("; ") == ["milk, cold", "tea"]


def test_json_is_one_object(tmp_path):
    small_patterns().save(tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {
        "discreet": "patterns/1",
        "people": 8,
        "guarantee": None,
        "simulated": False,
        "patterns": [
            {"items": ["tea"], "count": 5, "support": 0.625},
            {"items": ["milk, cold", "tea"], "count": 4, "support": 0.5},
        ],
    }


def test_json_has_no_infinity(tmp_path):
    rules = make_patterns(count_patterns([{1, 2}, {1, 2}, {2}]), 3).rules(1)
    assert np.isinf(rules.measure("conviction")).all()
    rules.save(tmp_path / "a.json")

    def refuse(constant):
        raise AssertionError(constant)

    document = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"), parse_constant=refuse)
    assert [rule["conviction"] for rule in document["rules"]] == [None]


def test_parquet_as_other_programs_see_it(tmp_path):
    import pyarrow.parquet as pq

    small_patterns().save(tmp_path / "a.parquet")
    table = pq.read_table(tmp_path / "a.parquet")
    assert table.to_pylist() == small_patterns().to_arrow().to_pylist()
    assert json.loads(table.schema.metadata[b"discreet"]) == {
        "discreet": "patterns/1",
        "people": 8,
        "guarantee": None,
        "simulated": False,
    }


@formats
def test_results_are_told_from_data(tmp_path, form):
    path = tmp_path / f"a.{form}"
    assert not holds_result(path)
    for result in (small_patterns(), small_patterns().rules(0), make_patterns({}, 3)):
        result.save(path)
        assert holds_result(path)
    path.write_text("items,count\ntea,2\n")
    assert not holds_result(path)
    path.rename(tmp_path / "a.dat")
    assert not holds_result(tmp_path / "a.dat")


def file_names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_load_is_public():
    assert discreet.load is load


def test_the_earlier_file_stays_until_the_new_one_is_complete(tmp_path):
    path = tmp_path / "out.csv"
    path.write_bytes(b"earlier")

    def interrupted(error):
        with open_replacement(path) as stream:
            stream.write(b"half")
            stream.flush()
            assert path.read_bytes() == b"earlier"
            assert len(file_names(tmp_path)) == 2
            raise error

    for error in (KeyboardInterrupt, RuntimeError, SystemExit):
        with pytest.raises(error):
            interrupted(error)
        assert path.read_bytes() == b"earlier"
        assert file_names(tmp_path) == ["out.csv"]
    with open_replacement(path) as stream:
        stream.write(b"whole")
    assert path.read_bytes() == b"whole"
    assert file_names(tmp_path) == ["out.csv"]


def test_an_error_while_saving_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("stop")

    monkeypatch.setattr("discreet.results._writing.cell_tables", fail)
    with pytest.raises(RuntimeError):
        small_patterns().save(tmp_path / "a.csv")
    assert file_names(tmp_path) == []


def test_permissions_are_the_users(tmp_path):
    before = os.umask(0o027)
    try:
        with open_replacement(tmp_path / "fresh.csv"):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "fresh.csv").stat().st_mode) == 0o640
    (tmp_path / "fresh.csv").chmod(0o604)
    with open_replacement(tmp_path / "fresh.csv") as stream:
        stream.write(b"again")
    assert stat.S_IMODE((tmp_path / "fresh.csv").stat().st_mode) == 0o604


def test_a_link_goes_on_pointing_to_the_file(tmp_path):
    (tmp_path / "real.csv").write_bytes(b"earlier")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    with open_replacement(tmp_path / "link.csv") as stream:
        stream.write(b"later")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_bytes() == b"later"


def test_a_pipe_is_written_directly(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    received = []
    reader = threading.Thread(target=lambda: received.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    with open_replacement(tmp_path / "pipe") as stream:
        stream.write(b"through")
    reader.join()
    assert received == [b"through"]


def test_a_full_disk_is_said_plainly(tmp_path):
    with pytest.raises(DiscreetError) as raised, open_replacement(tmp_path / "a.csv"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert str(raised.value) == (f"Cannot write {tmp_path / 'a.csv'}: No space left on device. Nothing was changed.")
    assert file_names(tmp_path) == []


@pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
@pytest.mark.parametrize("private", [False, True])
def test_what_makes_a_relation_is_kept(tmp_path, suffix, private):
    trips = discreet.read([["pram", "toys"]] * 60 + [["toys", "pram"]] * 5, ordered=True)
    relations = discreet.relations(trips)
    if private:
        relations = discreet.release_relations(trips, top=1, epsilon=10, items="public").relations
    assert relations.how == "after"
    relations.save(tmp_path / f"relations.{suffix}")
    loaded = discreet.load(tmp_path / f"relations.{suffix}")
    assert (loaded.how, loaded.kind) == ("after", "relations")
    assert loaded == relations
    assert loaded != replace(relations, how="together")
    assert loaded[:1].how == loaded.sort("lift").how == "after"


def test_what_makes_a_relation_is_known_of_earlier_files_or_refused(tmp_path):
    place = tmp_path / "relations.json"
    discreet.relations([{"tea", "milk"}] * 3).save(place)
    text = place.read_text()
    assert '"how": "together"' in text
    place.write_text(text.replace('"how": "together"', '"asked": {"how": "given"}'))
    assert discreet.load(place).how == "given"
    place.write_text(text.replace('"how": "together"', '"omitted": 0'))
    assert discreet.load(place).how is None
    place.write_text(text.replace('"how": "together"', '"how": "somehow"'))
    with pytest.raises(InputError, match="a relation is 'given', 'after' or 'together', and not 'somehow'"):
        discreet.load(place)
