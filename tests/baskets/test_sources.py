"""What a source is, its type tells: nothing that answers to every name is taken for something else."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pytest

import discreet
from discreet.baskets import is_spark_frame
from discreet.baskets._frames import has_attribute, open_frame
from discreet.errors import MisuseError


class Agreeable:
    """Answers to every name, as a frame of Spark Connect does: each might be a column."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_: self


def test_an_answer_to_every_name_says_nothing() -> None:
    source = Agreeable()
    assert hasattr(source, "tocsr")
    assert not has_attribute(source, "tocsr")
    assert open_frame(source, []) is None
    with pytest.raises(MisuseError, match="Cannot read baskets from Agreeable: give a path"):
        discreet.read(source)


def test_a_frame_of_spark_connect_goes_to_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = type("DataFrame", (Agreeable,), {"__module__": "pyspark.sql.connect.dataframe"})
    derived = type("Wrapped", (frame,), {"__module__": "elsewhere"})
    questions = []

    def read_frame(source: Any, *_: Any) -> discreet.Baskets:
        questions.append(type(source))
        return discreet.read([{"tea"}])

    monkeypatch.setattr("discreet.spark._reading.read_frame", read_frame)
    for kind in (frame, derived):
        assert discreet.read(kind(), person="person", item="item").people == 1
    assert questions == [frame, derived]
    assert not is_spark_frame(type("Frame", (Agreeable,), {"__module__": "pyspark.sqlframe"})())


def test_baskets_in_a_notebook() -> None:
    rows = [[7, "<b>tea", "a"], [7, "milk", "a"], [7, "milk", "a"], [3, None, "z"]]
    table = [dict(zip(("who", "what", "<i>where"), row, strict=True)) for row in rows]
    html = discreet.read(pa.Table.from_pylist(table), person="who", item="what", by="<i>where")._repr_html_()
    for name, value in {
        "people": "2",
        "items": "2",
        "items per basket, mean": "1.00",
        "median": "1",
        "largest": "2",
        "empty baskets": "1",
        "repeats merged": "1",
        "segments (&lt;i&gt;where)": "2",
    }.items():
        assert f">{name}</th>" in html
        assert f">{value}</td>" in html
    assert "tea" not in html
    assert "color" not in html  # so it is read on a dark page too
    assert "not private" in html


def test_several_baskets_of_a_person_in_a_notebook() -> None:
    table = pa.table({"who": [7, 7, 7], "what": ["tea", "milk", "tea"], "receipt": [1, 1, 2]})
    html = discreet.read(table, person="who", item="what", basket="receipt")._repr_html_()
    for name, value in {"people": "1", "baskets": "2", "items per basket, mean": "1.50"}.items():
        assert f">{name}</th>" in html
        assert f">{value}</td>" in html


def test_the_view_has_order_and_pairs() -> None:
    rows = {"who": [1, 1, 1, 2], "which": [1, 2, 2, 1], "what": ["a", "b", "c", "a"]}
    html = discreet.read(pa.table(rows), person="who", basket="which", item="what")._repr_html_()
    for row in ("people 2", "baskets 3", "items per basket, mean 1.33"):
        name, value = row.rsplit(" ", 1)
        assert re.search(rf"{name}</th><td[^>]*>{value}</td>", html)
    assert "2 events" in discreet.read([["tea", "milk"]], ordered=True)._repr_html_()
