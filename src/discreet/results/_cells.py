"""Itemsets as one cell of a spreadsheet, ``milk; tea``, and parsed back.

Names stand between semicolons. An ambiguous name stands in double quotes, as JSON writes it: a name with a semicolon, a
quote, a backslash or a control character, with blanks at its ends, with digits alone (the name "3" beside the number
3), or with the first character of a formula. Every spreadsheet takes a cell that begins with a quote for text, so no
formula is evaluated, and no escape has to be removed again.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from ..baskets import as_arrow

if TYPE_CHECKING:
    import pyarrow as pa

    from ..baskets import Vocabulary
    from ._itemsets import Itemsets

SEPARATOR = "; "
# The first characters of a formula in a spreadsheet (OWASP, "CSV Injection"); ledgers use this list too.
FORMULA_MARKS = "=+-@＝＋－＠"

# A number as it is written without quotes, and a name that needs none.
_NUMBER = re.compile(r"-?[0-9]+")
_PLAIN = re.compile(
    rf'[^\s;"\\\[{{\x00-\x1f\x7f{re.escape(FORMULA_MARKS)}]([^;"\\\x00-\x1f\x7f]*[^\s;"\\\x00-\x1f\x7f])?'
)
# One decoder for all cells: `json.loads` refuses text after the first value, and a cell has several names.
_DECODER = json.JSONDecoder()


def cell_text(label: int | str) -> str:
    """Return one item as it stands in a cell: an ambiguous name in double quotes."""
    if isinstance(label, int):
        return str(label)
    # A name of digits alone would be read back as a number, and an invisible character would be lost in a
    # spreadsheet.
    plain = _PLAIN.fullmatch(label) and not _NUMBER.fullmatch(label) and label.isprintable()
    return label if plain else json.dumps(label, ensure_ascii=False)


def guarded_text(text: str) -> str:
    """Return a text as it stands in a cell: in double quotes if a spreadsheet would take it for a formula."""
    return json.dumps(text, ensure_ascii=False) if text[:1] in (*FORMULA_MARKS, '"') or not text.isprintable() else text


def itemset_cells(itemsets: Itemsets, vocabulary: Vocabulary) -> pa.Array:
    """Return each itemset as the text of one cell."""
    import pyarrow as pa
    import pyarrow.compute as pc

    # Each name is rendered once, however many itemsets it occurs in: a table has far fewer names than places.
    used_codes, places = np.unique(itemsets.codes, return_inverse=True)
    texts = pa.array([cell_text(label) for label in vocabulary.take(used_codes).to_pylist()], pa.large_string())
    lists = pa.LargeListArray.from_arrays(as_arrow(itemsets.offsets), texts.take(as_arrow(places)))
    cells = pc.binary_join(lists, pa.scalar(SEPARATOR, pa.large_string()))
    # A blank cell would be null: the empty set is written as in JSON, and as earlier versions wrote it.
    return pc.if_else(pa.array(itemsets.sizes > 0), cells, pa.scalar("[]", pa.large_string()))


def parse_cell(cell: str) -> list[Any]:
    """Return the items of a cell; a `ValueError` for any other text."""
    # Most cells have no quote, and splitting is many times as fast as scanning letter by letter.
    if '"' not in cell:
        words = [word.strip() for word in cell.split(";")]
        if not all(words):
            raise ValueError
        return [int(word) if _NUMBER.fullmatch(word) else word for word in words]
    items: list[Any] = []
    # Letter by letter where quotes occur: a semicolon inside of quotes does not end a name.
    place = 0
    while True:
        place += len(cell) - place - len(cell[place:].lstrip(" "))
        if cell.startswith('"', place):
            item, place = _DECODER.raw_decode(cell, place)
            items.append(item)
        else:
            end = cell.find(";", place)
            word = cell[place : end if end >= 0 else len(cell)].strip()
            if not word:
                raise ValueError
            items.append(int(word) if _NUMBER.fullmatch(word) else word)
            place = end if end >= 0 else len(cell)
        remainder = cell[place:].lstrip(" ")
        if not remainder:
            return items
        if not remainder.startswith(";"):
            raise ValueError
        place = len(cell) - len(remainder) + 1
