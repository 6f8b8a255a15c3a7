"""Slow twins of `discreet.kernels._rows`: plain Python, one idea a line."""

from __future__ import annotations

import csv

LARGEST = 2**63 - 1


def lines(text: str) -> list[str]:
    """Split at line feeds; the text after the last line feed is a line only if it is not empty."""
    parts = text.split("\n")
    return [part.removesuffix("\r") for part in (parts if parts[-1] else parts[:-1])]


def numbers(text: str, limit: int, plain: bool) -> list[list[int]] | None:
    """Return the numbers of each line, or None if there is anything else."""
    rows = []
    for line in lines(text):
        row = line.replace("\t", " ").split(" ")
        for token in filter(None, row):
            if set(token) - set("0123456789") or int(token) > limit or (plain and str(int(token)) != token):
                return None
        rows.append([int(token) for token in row if token])
    return rows


def fields(text: str, delimiter: str) -> list[list[str]]:
    """Return the fields of each line, without blanks around them; an empty field is none."""
    rows = []
    for line in lines(text):
        if delimiter == " ":
            row = line.replace("\t", " ").split(" ")
        else:
            row = next(csv.reader([line], delimiter=delimiter, quoting=csv.QUOTE_NONE), [])
        rows.append([field.strip(" \t") for field in row if field.strip(" \t")])
    return rows


def quoted_fields(line: str) -> list[str]:
    """Return the comma-separated fields of one line, quotes resolved."""
    return [field for field in next(csv.reader([line], strict=True), []) if field]


def sort_rows(rows: list[list[int]]) -> list[list[int]]:
    """Return each row as a sorted set."""
    return [sorted(set(row)) for row in rows]
