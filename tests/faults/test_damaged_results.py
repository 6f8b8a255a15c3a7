"""Results that were damaged, or written by somebody else: refused in one way, or read as what they are.

Each mutation is drawn from a fixed seed. What is read back must hold up in use: it is shown, saved and
turned into rules.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.errors import InputError
from discreet.privacy import Budget, Guarantee
from discreet.results import Patterns, Provenance, holds_result, load
from running import plain

SLOWEST = 5.0  # seconds that one file may take, of a few kilobytes
NUMBERS = [
    "-1", "0", "1e999999999", "1e400", "NaN", "Infinity", "-Infinity", "true", "null", "18446744073709551616",
    "9223372036854775808", "0.5", '"x"', "[]", "{}", "9" * 5000, '"1e999999999"', '"1/0"', "[" * 3000,
]  # fmt: skip


def _results() -> dict[str, Any]:
    baskets = discreet.read([{"tea", "milk"}, {"tea", "milk", "bread"}, {"tea"}, {"bread", "milk"}] * 5)
    patterns = discreet.mine(baskets, min_count=3)
    promise = Guarantee.of(Budget.of(1), [], public=["the items"]).to_dict()
    metadata = {"guarantee": promise, "simulated": False, "mechanism": "peeling", "settings": {"share": 0.5}}
    low, high = patterns.counts - 2.5, patterns.counts + 2.5
    private = replace(patterns, low=low, high=high, provenance=Provenance.from_dict(metadata), people_within=(17, 23))
    return {
        "patterns": patterns,
        "rules": patterns.rules(min_confidence=0.1),
        "private": private,
        "private rules": private.rules(min_confidence=0.0),
    }


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return _results()


def _mutated(content: bytes, draw: random.Random, form: str) -> bytes:
    """Return the content with one to three of: bits turned, cut, a part moved or doubled, a number swapped."""
    for _ in range(draw.choice([1, 1, 2, 3])):
        way = draw.randrange(6 if form != "parquet" else 5)
        place = draw.randrange(max(1, len(content)))
        if way == 0 and content:
            content = content[:place] + bytes([content[place] ^ 1 << draw.randrange(8)]) + content[place + 1 :]
        elif way == 1:
            content = content[:place]
        elif way == 2:
            source_place = draw.randrange(max(1, len(content)))
            size = draw.choice([1, 4, 16, 64])
            content = content[:place] + content[source_place : source_place + size] + content[place + size :]
        elif way == 3:
            content = content[:place] + content[place + draw.choice([1, 2, 8, 40]) :]
        elif way == 4:
            size = draw.choice([1, 2, 4, 8])
            content = content[:place] + draw.choice([b"\xff", b"\x00", b"\x7f", b"["]) * size + content[place + size :]
        else:
            numbers_in_text = list(re.finditer(rb'"?-?\d+(\.\d+)?"?|true|false|null', content))
            if numbers_in_text:
                number_match = draw.choice(numbers_in_text)
                content = (
                    content[: number_match.start()] + draw.choice(NUMBERS).encode() + content[number_match.end() :]
                )
    return content


def _use_result(result: Any, folder: Path) -> None:
    """Show, list, save and load a result, and make rules of it, as people do."""
    repr(result)
    list(result)
    result._repr_html_()
    result.to_arrow()
    for form in ("csv", "json", "parquet"):
        result.save(folder / f"again.{form}")
    assert load(folder / "again.parquet") == result
    if isinstance(result, Patterns):
        result.rules(min_confidence=0.0)


def _can_read(content: bytes, path: Path) -> bool:
    """Read a damaged file, and say whether it could be read; anything but an `InputError` is a failure."""
    path.write_bytes(content)
    begun = time.process_time()  # of this process alone: others may have the machine
    holds_result(path)
    try:
        result = load(path)
    except InputError as error:
        assert str(path) in str(error)  # noqa: PT017
        assert len(str(error)) < 1000  # noqa: PT017
        return False
    finally:
        assert time.process_time() - begun < SLOWEST
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        _use_result(result, path.parent)
    return True


def _fuzz(results: dict[str, Any], folder: Path, form: str, rounds: int, seed: int) -> tuple[int, list[str]]:
    """Return the number of damaged files that were read, and messages of files that were neither read nor refused."""
    read_count, wrong = 0, []
    for kind, result in results.items():
        path = folder / f"a.{form}"
        result.save(path)
        sound_content = path.read_bytes()
        draw = random.Random(f"{seed} {form} {kind}")
        for number in range(rounds):
            content = _mutated(sound_content, draw, form)
            try:
                read_count += _can_read(content, path)
            except Exception as error:
                wrong.append(f"{form} of {kind}, mutation {number}: {type(error).__name__}: {error}")
    return read_count, wrong


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_damaged_files(results: dict[str, Any], tmp_path: Path, form: str) -> None:
    rounds = 15 if form == "parquet" else 40
    read_count, wrong = _fuzz(results, tmp_path, form, rounds, seed=1)
    assert wrong == []
    assert read_count < rounds * len(results)


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_many_damaged_files(results: dict[str, Any], tmp_path: Path, form: str) -> None:
    read_count, wrong = _fuzz(results, tmp_path, form, rounds=5_000, seed=2)
    assert wrong == []
    assert read_count < 5_000 * len(results)


FIELDS: list[tuple[str, str]] = [
    *(("people", value) for value in ("true", "-1", "18446744073709551616", "1.5", '"20"', "null", "1e999")),
    *(("people_low", value) for value in ("true", "-1", "5", "18446744073709551616", '"1"')),
    *(("simulated", value) for value in ("1", '"no"', "[]", "null")),
    *(("counted", value) for value in ("0", "null", '"yes"', "[]")),
    *(("omitted", value) for value in ("true", "-1", "[1]", "18446744073709551616", '"1"')),
    *(("guarantee", value) for value in ("[]", '"none"', "5", "true")),
    *(
        ("guarantee", f'{{"epsilon": "{epsilon}"}}')
        for epsilon in ("1e999999999", "9e99999999", "-1", "1/0", "nan", "x")
    ),
    *(("guarantee", f'{{"epsilon": {epsilon}}}') for epsilon in ("1e999999999", "true", "[]", "9" * 4400)),
    ("guarantee", '{"model": 5}'),
    ("settings", "[" * 60 + "]" * 60),
    ("settings", "[" * 100_000 + "]" * 100_000),
    ("settings", "1" + "0" * 200),
    ("settings", "NaN"),
    ("settings", "1e999"),
]


@pytest.mark.parametrize("form", ["json", "parquet", "csv"])
@pytest.mark.parametrize(("field", "value"), FIELDS)
def test_fields(tmp_path: Path, form: str, field: str, value: str) -> None:
    kind = "rules" if field == "omitted" else "patterns"
    metadata = {"discreet": f'"{kind}/1"', "people": "20", "guarantee": "null", "simulated": "true", field: value}
    text = ", ".join(f'"{name}": {value_text}' for name, value_text in metadata.items())
    row = {"items": ["tea"], "count": 3}
    if kind == "rules":
        row = {"antecedent": ["tea"], "consequent": ["milk"], "count": 3, "antecedent_count": 4, "consequent_count": 5}
    path = tmp_path / f"a.{form}"
    if form == "json":
        path.write_text(f'{{{text}, "{kind}": [{json.dumps(row)}]}}')
    elif form == "parquet":
        table = pa.table({name: [cell] for name, cell in row.items()})
        pq.write_table(table.replace_schema_metadata({"discreet": f"{{{text}}}"}), path)
    else:
        cells = [json.dumps(cell) if isinstance(cell, list) else cell for cell in row.values()] + [20, "{" + text + "}"]
        quoted = ['"' + str(cell).replace('"', '""') + '"' for cell in cells]
        path.write_text(",".join([*row, "people", "about"]) + "\n" + ",".join(quoted) + "\n")
    with pytest.raises(InputError, match=re.escape(str(path))):
        load(path)


@pytest.mark.parametrize("count", ["-1", "21", "9223372036854775808", "true", "1.5", "null", '"3"', "1e30", "[]"])
def test_counts(tmp_path: Path, count: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(f'{{"discreet": "patterns/1", "people": 20, "patterns": [{{"items": ["tea"], "count": {count}}}]}}')
    with pytest.raises(InputError):
        load(path)


@pytest.mark.parametrize("lost", [("low",), ("high",), ("low", "high")])
def test_half_an_interval(results: dict[str, Any], tmp_path: Path, lost: tuple[str, ...]) -> None:
    """One that was read without an end had another when it was written again."""
    for kind in ("private", "private rules"):
        path = tmp_path / "a.json"
        results[kind].save(path)
        text = path.read_text()
        for end in lost:
            text = text.replace(f'"{end}"', '"x"').replace(f'"confidence_{end}"', '"y"')
        path.write_text(text)
        if kind == "private" and len(lost) == 2:
            assert load(path).low is None  # patterns have no other ends
            continue
        with pytest.raises(InputError, match="one end of its intervals and not the other"):
            load(path)


def test_intervals(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for low, high in (("5", "1"), ("true", "9"), ('"1"', "9"), ("[]", "9"), ("18446744073709551617", "1")):
        row = f'{{"items": ["tea"], "count": 3, "low": {low}, "high": {high}}}'
        path.write_text(f'{{"discreet": "patterns/1", "people": 20, "simulated": true, "patterns": [{row}]}}')
        with pytest.raises(InputError):
            load(path)


def test_the_command_line_does_not_hang(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    row = '{"items": ["tea"], "count": 3}'
    guarantee = '{"model": "central", "neighbours": "add-remove", "epsilon": "1e999999999", "delta": "0"}'
    path.write_text(f'{{"discreet": "patterns/1", "people": 20, "guarantee": {guarantee}, "patterns": [{row}]}}')
    completed = subprocess.run(
        [sys.executable, "-m", "discreet", "rules", str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=plain(),
    )
    assert completed.returncode == 1
    assert "'epsilon' of its guarantee" in completed.stderr
    assert "Traceback" not in completed.stderr


def _forged(items: pa.Array, path: Path) -> Path:
    """Write patterns in few bytes. Without Arrow's schema beside them, names by their numbers are read as text."""
    table = pa.table({"items": items, "count": pa.array([1] * len(items), pa.int64())})
    with pq.ParquetWriter(path, table.schema, compression="zstd", store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"discreet": '{"discreet": "patterns/1", "people": 9}'})
    return path


def test_a_list_without_an_end(tmp_path: Path) -> None:
    items = pa.ListArray.from_arrays([0, 2_000_000], np.ones(2_000_000, np.int64))
    with pytest.raises(InputError, match=r"is damaged: .* bytes do not hold what it says that it holds"):
        load(_forged(items, tmp_path / "a.parquet"))


def test_a_long_name_in_many_rows(tmp_path: Path) -> None:
    """A few bytes that would be a gigabyte as text, and are held once."""
    rows = 50_000
    names = pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), ["x" * 20_000])
    path = _forged(pa.ListArray.from_arrays(np.arange(rows + 1), names), tmp_path / "a[1].parquet")
    before = pa.total_allocated_bytes()
    result = load(path)
    assert len(result) == rows
    assert pa.total_allocated_bytes() - before < 1 << 24
    assert pa.default_memory_pool().max_memory() < 1 << 29


def test_names_that_a_file_numbers_twice(tmp_path: Path) -> None:
    names = pa.DictionaryArray.from_arrays([0, 1, 2, 3, 1], ["tea", "milk", "milk", "tea", "never"])
    path = _forged(pa.ListArray.from_arrays([0, 2, 4, 5], names), tmp_path / "a.parquet")
    table = pq.read_table(path, read_dictionary=["items.list.element"])
    assert pa.types.is_dictionary(table["items"].type.value_type)
    assert [set(pattern.items) for pattern in load(path)] == [{"tea", "milk"}, {"tea", "milk"}, {"milk"}]


def test_a_table_that_says_it_is_huge(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    metadata = {"discreet": '{"discreet": "patterns/1", "people": 9}'}
    # Equal rows take next to nothing, and a gigabyte as soon as they are read.
    table = pa.table({"items": [["tea"]], "count": [1]}).take(pa.array([0] * 3_000_000, pa.int32()))
    pages: dict[str, Any] = {"data_page_size": 1 << 28, "max_rows_per_page": 1 << 30}
    pq.write_table(table.replace_schema_metadata(metadata), path, compression="zstd", **pages)
    with pytest.raises(InputError, match="is damaged"):
        load(path)
