"""The fields of a report: read, written, packed and refused, each by itself; and the two ways to come by seeds."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.local.oracle_steps import BitsField, Codec, RowField, SeedField, SubsetField, WholeField, oracles

ROOM = Path(__file__).parents[3] / "src" / "discreet" / "local"
FIELDS = [
    (WholeField("value", 7), [0, 6], [7, -1, True, "1", None, 1.0]),
    (SeedField(), [[1, 0], [2**32 - 1, 2**32 - 1]], [[2, 0], [1], [1, 2**32], [1, True], (1, 0), 5]),
    (RowField("row", 3, 4), [[3, 0, 3], [0, 0, 0]], [[0, 1], [0, 1, 4], [0, -1, 1], [0, True, 1], "012"]),
    (SubsetField("values", 3, 4), [[0, 1, 3], [1, 2, 3]], [[0, 0, 1], [2, 1, 3], [1, 2, 4], [-1, 1, 2], [0, 1]]),
    (BitsField("bits", 10), ["ff03", "0000"], ["ff04", "FF03", "ff", 3, "ff0 "]),
]


@pytest.mark.parametrize(
    ("field", "good_values", "bad_values"), FIELDS, ids=lambda parameter: getattr(parameter, "name", None)
)
def test_a_field_reads_what_it_writes_and_refuses_the_rest(field, good_values, bad_values):
    codec = Codec(oracle="grr", longest=256, fields=(field,))
    assert [codec.find_flaw({field.name: value}) for value in good_values] == ["", ""]
    assert all(codec.find_flaw({field.name: value}) for value in bad_values)
    assert codec.find_flaw({field.name: good_values[0], "more": 1})
    assert codec.find_flaw({})
    assert codec.find_flaw([])
    columns = codec.make_columns([{field.name: value} for value in good_values])
    assert [codec.make_report(columns, row) for row in (0, 1)] == [{field.name: value} for value in good_values]


@pytest.mark.parametrize(
    ("field", "good_values", "bad_values"), FIELDS[:4], ids=lambda parameter: getattr(parameter, "name", None)
)
def test_a_field_is_packed_into_words_and_knows_bad_ones(field, good_values, bad_values):
    codec = Codec(oracle="grr", longest=256, fields=(field, WholeField("last", 5)))
    columns = codec.make_columns([{field.name: value, "last": 4} for value in good_values])
    words = codec.pack(columns)
    assert words.shape == (2, codec.width)
    assert codec.find_good_rows(words).all()
    unpacked_columns = codec.unpack(words)
    for name, column in columns.items():
        assert np.array_equal(column, unpacked_columns[name])
        assert column.dtype == unpacked_columns[name].dtype
    value_lists = [
        value if isinstance(value, list) else [value] for value in bad_values if isinstance(value, list | int)
    ]
    rows = [row for row in value_lists if len(row) == codec.width - 1 and all(type(value) is int for value in row)]
    rows = np.array([[*row, 4] for row in rows if min(row) >= 0 and max(row) < 2**32], np.uint32)
    assert len(rows)
    assert not codec.find_good_rows(rows).any()


@pytest.mark.parametrize("name", ["olh", "blh", "wheel"])
def test_seeds_are_fresh_or_published(name):
    fresh = oracles()[name].make(Fraction(1), 10)
    published = fresh.numbered(1024)
    assert [field.name for field in fresh.fields] == [field.name for field in published.fields]
    assert (fresh.seed_numbers, published.seed_numbers) == ({}, {"seeds": 1024})
    assert published.numbered(None) == fresh


def test_few_places_ask_which_seeds_an_oracle_has():
    files = [*(ROOM / "oracles").glob("*.py"), *(ROOM / "oracle_steps").glob("*.py"), ROOM / "_oracle.py"]
    checks_of_seeds = [
        (file.name, line) for file in files for line in file.read_text().splitlines() if "self.seeds is" in line
    ]
    # The common part of oracles that hash, and the kernels and the windows of each such oracle.
    assert {name for name, _ in checks_of_seeds} == {"_seeding.py", "olh.py", "wheel.py"}
    assert len(checks_of_seeds) <= 14
