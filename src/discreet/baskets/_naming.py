"""Names for codes: data that hold codes are shown by what these are called. Always public, as a list of items is.

Two codes are two items, whatever they are called: where they share a name, each is shown as ``Emma (1996) [838]``.
Which names are shared is settled by the list of names alone, never by the data; so the same code is always shown the
same. Only who says so takes codes of one name for one item.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from ..checks import is_whole
from ..errors import InputError, MisuseError
from ._build import Rows
from ._core import Codes, Item, Pairs, Vocabulary

SameNames: TypeAlias = Literal["apart", "merge"]

SHAPE = "Names are a table whose first two columns are a code and what it is called; its first line names the columns."


@dataclass(frozen=True, eq=False)
class Names:
    """What codes are called.

    Parameters
    ----------
    given
        The name of each code.
    merged
        Whether codes of one name are one item.
    """

    given: Mapping[str, str]
    merged: bool = False

    @classmethod
    def read(cls, source: Any, same_names: Any = "apart") -> Names:
        """Return names as they are given: a file, a data frame, a dictionary from codes to names, or pairs."""
        from ._hierarchy_tables import table_rows

        if same_names not in ("apart", "merge"):
            raise MisuseError.format(
                "{same_names} is 'apart' (codes of one name are different items) or 'merge' (they are one item); "
                "{given!r} was given.",
                given=same_names,
            )
        if isinstance(source, Names):
            return source
        if isinstance(source, Mapping) and all(isinstance(name, str) for name in source.values()):
            return cls.of(source.items(), same_names == "merge")
        _, rows = table_rows(source, "names")
        return cls.of(rows, same_names == "merge")

    @classmethod
    def of(cls, rows: Iterable[Iterable[Any]], merged: bool = False) -> Names:
        """Return the names of a table, a code and its name first in each row."""
        given: dict[str, str] = {}
        for row in rows:
            cells = list(row)[:2]
            if len(cells) < 2:
                raise InputError(f"The names have a row with one column. {SHAPE}")
            code, name = _text(cells[0]), _text(cells[1])
            if not code:
                raise InputError(f"The names have a row without a code. {SHAPE}")
            if given.setdefault(code, name or code) != (name or code):
                raise InputError(f"The code {code!r} is called {given[code]!r} and {name!r}: leave one out.")
        if not given:
            raise InputError(f"The names have no rows. {SHAPE}")
        names = cls(given, merged)
        shown = names.shown
        if not merged and len(set(shown.values())) < len(shown):
            seen: dict[str, str] = {}
            twice = next(code for code, label in shown.items() if seen.setdefault(label, code) != code)
            raise InputError(
                f"The codes {seen[shown[twice]]!r} and {twice!r} would both be shown as {shown[twice]!r}: change the "
                "name of one."
            )
        return names

    def __len__(self) -> int:
        return len(self.given)

    def __repr__(self) -> str:
        return f"Names({len(self):,} codes)"

    @cached_property
    def codes(self) -> dict[str, list[str]]:
        """The codes of each name."""
        codes: dict[str, list[str]] = {}
        for code, name in self.given.items():
            codes.setdefault(name, []).append(code)
        return codes

    @cached_property
    def shown(self) -> dict[str, str]:
        """The label of each code: its name, with the code where the name is shared or is itself a code."""
        return {code: self._label(code, name) for code, name in self.given.items()}

    def _label(self, code: str, name: str) -> str:
        shared = len(self.codes[name]) > 1 and not self.merged
        is_code = name in self.given and name != code
        return f"{name} [{code}]" if shared or is_code else name

    @cached_property
    def _labels(self) -> frozenset[str]:
        return frozenset(self.shown.values())

    def resolve(self, item: Item) -> Item:
        """Return an item as it is shown, given by its code or by its label; what is neither stays as it is.

        A name that several items share is an error that says how each is shown.
        """
        text = str(item)
        if text in self._labels:
            return text
        if text in self.shown:
            return self.shown[text]
        labels = [self.shown[code] for code in self.codes.get(text, [])]
        if labels:
            raise MisuseError(
                f"{text!r} is the name of {len(labels)} items: say which one, {' or '.join(map(repr, labels[:4]))}."
            )
        return text

    def resolved(self, items: Iterable[Item]) -> list[Item]:
        """Return items as they are shown."""
        return [self.resolve(item) for item in items]

    def fact(self) -> str:
        """Return what is public about names, for the guarantee."""
        return f"what {len(self):,} codes are called, as declared"

    def vocabulary(self, codes: Vocabulary) -> tuple[Vocabulary, Codes]:
        """Return the labels of codes in their order, and the place among them of each code."""
        labels = []
        for code in map(str, codes):
            label = self.shown.get(code, code)
            # What is not on the list of names is shown by its code: that must not be the name of another item.
            if code not in self.shown and code in self._labels:
                # Which item that is would say that somebody in the data holds it.
                raise InputError(
                    "An item of the data is not on the list of names, and its code is the name of another item: give "
                    "every item a name."
                )
            labels.append(label)
        ordered = sorted(set(labels))
        place = {label: number for number, label in enumerate(ordered)}
        import pyarrow as pa

        table = np.array([place[label] for label in labels], np.int32)
        return Vocabulary(pa.array(ordered, pa.large_string()), self), table

    def origins(self, labels: Iterable[str]) -> list[str]:
        """Return the code behind each label, by which a ledger knows the data; of merged codes, their name."""
        return [self._codes_of_labels.get(label, label) for label in labels]

    @cached_property
    def _codes_of_labels(self) -> dict[str, str]:
        """The code of each label that stands for one alone."""
        return {
            label: code
            for code, label in self.shown.items()
            if not (self.merged and len(self.codes[self.given[code]]) > 1)
        }


def named_rows(rows: Rows, names: Names) -> Rows:
    """Return rows whose items are shown by their names, in the order of these."""
    vocabulary, table = names.vocabulary(rows.vocabulary)
    codes = table[rows.codes] if len(rows.codes) else rows.codes
    return replace(rows, codes=codes, vocabulary=vocabulary, pairs=_named_pairs(rows.pairs, table))


def _named_pairs(pairs: Pairs | None, table: Codes) -> Pairs | None:
    """Return pairs under new codes, sorted and unique within each row."""
    if pairs is None or not len(pairs.first):
        return pairs
    owner = np.repeat(np.arange(len(pairs.offsets) - 1), np.diff(pairs.offsets))
    every = np.unique(np.stack([owner, table[pairs.first], table[pairs.second]], axis=1), axis=0)
    offsets = np.searchsorted(every[:, 0], np.arange(len(pairs.offsets))).astype(np.int64)
    first, second = (np.ascontiguousarray(every[:, column], np.int32) for column in (1, 2))
    return Pairs(offsets, first, second)


def _text(value: Any) -> str:
    """Return a code or a name as text; nothing for a value that is missing."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool) or not (isinstance(value, str) or is_whole(value)):
        raise InputError(f"The names hold {type(value).__name__}, where codes and names are text or whole numbers.")
    return str(value).strip()
