"""Checks of what Spark reads, beside what this machine makes of the same table: `suite.py` runs them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyspark
from comparing import COLUMNS, SECRET, error_text

import discreet
from discreet.baskets import is_spark_frame


def _application(session: Any) -> str:
    return str(session.sparkContext.applicationId)


def compare_baskets(local_baskets: Any, spread_baskets: Any) -> None:
    """Compare baskets here with those in the cluster."""
    assert (len(local_baskets), list(local_baskets.vocabulary)) == (
        len(spread_baskets),
        list(spread_baskets.vocabulary),
    )
    assert np.array_equal(local_baskets.item_counts, spread_baskets.item_counts)


def test_people_are_told_apart_by_what_their_ids_are(session: Any) -> None:
    # An hour that clocks in New York show twice; text in an order that does not tell A from a; numbers with a null.
    hours = [datetime(2024, 11, 3, hour, 30, tzinfo=UTC) for hour in (5, 6)]
    table = pa.table({"who": hours, "what": ["a", "a"], "text": ["A", "a"], "number": [7.0, float("nan")]})
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        frame = session.createDataFrame(table)
        assert len(discreet.read(frame, **COLUMNS)) == len(discreet.read(table, **COLUMNS)) == 2
        zoneless = frame.selectExpr("cast(number as string) as what", "timestamp_ntz'2024-11-03 01:30:00' as who")
        assert len(discreet.read(zoneless, **COLUMNS)) == 1
    finally:
        session.conf.unset("spark.sql.session.timeZone")
    collated = session.createDataFrame(table).selectExpr("text collate UTF8_LCASE as who", "text collate UTF8_LCASE w")
    assert len(discreet.read(collated, person="who", item="w")) == 2
    compare_baskets(discreet.read(table, person="text", item="text"), discreet.read(collated, person="who", item="w"))
    columns = {"person": "number", "item": "what", "nulls": "drop"}
    compare_baskets(discreet.read(table, **columns), discreet.read(session.createDataFrame(table), **columns))
    for numbers in ([0.5, 1.0], [2.0**53, 1.0]):
        blurred = pa.table({"who": numbers, "what": ["a", "b"]})
        message = error_text(lambda table=blurred: discreet.read(session.createDataFrame(table), **COLUMNS))
        assert message == error_text(lambda table=blurred: discreet.read(table, **COLUMNS))
        assert "floating point, and not a whole number below" in message


def test_json_records_of_several_kinds(session: Any) -> None:
    plain = '{"who":1,"what":"a"}\n'
    records = [
        plain + '{"who":"1","what":"b"}\n',
        plain + '{"who":true,"what":"b"}\n',
        '{"who":true,"what":"b"}\n',
        plain + '{"who":{"a":1},"what":"b"}\n',
        plain + '{"who":2,"what":3}\n',
        plain + '{"who":2,"what":["b"]}\n',
        plain + '{"who":2,"what":1.5}\n',
        '{"who":1.5,"what":"b"}\n',
        '{"who":1,"what":["a",1]}\n',
        '{"who":1,"what":["a"]}\n{"who":2,"what":[1]}\n',
        '{"who":1,"what":["a"]}\n{"who":2,"what":[true]}\n',
    ]
    with TemporaryDirectory() as folder:
        path = Path(folder, "sales.json")

        def read_records(**options: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
            columns = COLUMNS | options
            return lambda: discreet.read(path, **columns), lambda: discreet.read(str(path), engine="spark", **columns)

        for record in records:
            path.write_text(record)
            read_here, read_there = read_records()
            assert error_text(read_here) == error_text(read_there), record
        for record in (
            plain + '{"who":2,"what":null}\n{"who":12345678901234567890,"what":"b"}\n',
            '{"who":"u","what":["a","b"]}\n{"who":"v","what":[]}\n{"who":"v","what":null}\n',
            '{"who":1.0,"what":7}\n{"who":2,"what":8}\n',
        ):
            path.write_text(record)
            read_here, read_there = read_records()
            compare_baskets(read_here(), read_there())
        path.write_text(records[4])
        read_here, read_there = read_records(labels="names")
        compare_baskets(read_here(), read_there())
        path.write_text(plain + f"{{{SECRET}\n")
        read_here, read_there = read_records()
        assert "some lines are no JSON records; Spark reads one record per line" in error_text(read_there)


def test_lines_of_csv_that_are_broken(session: Any) -> None:
    with TemporaryDirectory() as folder:
        first_file, second = Path(folder, "1.csv"), Path(folder, "2.csv")
        first_file.write_text(f"who,what,price\n1,a,2\n2,{SECRET}\n3,{SECRET},4,5\n")
        message = error_text(lambda: discreet.read(str(first_file), engine="spark", **COLUMNS))
        assert "2 lines have more or fewer fields than the heading, or quotes that do not end: correct them" in message
        assert SECRET not in message
        logs = list(Path(pyspark.__file__).parent.glob(f"work/{_application(session)}/*/stderr"))
        assert logs
        assert not any(SECRET in path.read_text() for path in logs)
        # Columns in another order would be taken for those of the first file.
        first_file.write_text("who,what\n1,a\n2,b\n")
        second.write_text("what,who\nc,3\n")
        message = error_text(lambda: discreet.read(f"{folder}/*.csv", engine="spark", **COLUMNS))
        assert "names files of different headings" in message
        second.write_text("\ufeffwho,what\r\n3,c\r\n")
        baskets = discreet.read(f"{folder}/*.csv", engine="spark", **COLUMNS)
        assert (len(baskets), list(baskets.vocabulary)) == (3, ["a", "b", "c"])


def test_what_spark_finds_wrong_with_a_frame_is_told_in_a_sentence(session: Any) -> None:
    frame = session.createDataFrame(pa.table({"who": [1, 2], "what": [SECRET, SECRET]}))
    # Names that Spark would not tell apart, or would take for SQL.
    for names in (("who", "Who"), ("who", "w.h.a.t"), ("who", "`what`")):
        renamed = frame.toDF(*names)
        assert len(discreet.read(renamed, person=names[0], item=names[1])) == 2
    assert "has 2 columns 'who' (person=); rename all but one" in error_text(
        lambda: discreet.read(frame.toDF("who", "who"), **COLUMNS)
    )
    # What cannot be computed, and what is analysed only when it is asked for.
    failing = frame.selectExpr("who", "cast(what as int) as what")
    message = error_text(lambda: discreet.read(failing, **COLUMNS))
    assert message.startswith("Spark ")
    assert SECRET not in message
    with TemporaryDirectory() as folder:
        path = Path(folder, "sales.json")
        path.write_text('{"who":1,"Who":2,"what":"a"}\n')
        message = error_text(lambda: discreet.read(str(path), engine="spark", **COLUMNS))
        assert "columns whose names differ only in case" in message, message
    # Objects of Spark answer yes to most names that they are asked for: none is a sparse matrix, or a frame of polars.
    assert is_spark_frame(frame)
    for source, message in (
        (frame.groupBy("who"), "Cannot read"),
        (session, "Cannot read"),
        (frame.who, "means nothing"),
    ):
        assert not is_spark_frame(source)
        assert message in error_text(lambda source=source: discreet.read(source, **COLUMNS)), source


CHECKS: dict[str, tuple[Callable[[Any], None], tuple[str, ...]]] = {
    check.__name__: (check, kinds)
    for check, kinds in [
        (test_people_are_told_apart_by_what_their_ids_are, ("cluster", "connect")),
        (test_json_records_of_several_kinds, ("cluster",)),
        (test_lines_of_csv_that_are_broken, ("cluster",)),
        (test_what_spark_finds_wrong_with_a_frame_is_told_in_a_sentence, ("cluster", "connect")),
    ]
}
