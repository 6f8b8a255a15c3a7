"""Names for the codes in data. A table of names is always public, as a list of items is.

Two codes are two items: if they share a name, their labels have the code too, as ``Emma (1996) [838]``. Labels depend
on the table of names and never on the data, so a code has one label in every release. With
``same_names="merge"``, codes of one name are one item.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from ..errors import InputError, MisuseError
from ..heavy import pa
from ._build import Rows, sort_pairs
from ._core import Codes, Item, Vocabulary
from ._list_files import NAMES_SHAPE, find_clash, read_label, read_table_rows

SameNames: TypeAlias = Literal["apart", "merge"]


@dataclass(frozen=True, eq=False)
class Names:
    """A table of codes and their names.

    Parameters
    ----------
    name_by_code
        The name of each code.
    merged
        Whether codes with equal names are one item.
    """

    name_by_code: Mapping[str, str]
    merged: bool = False

    @classmethod
    def read(cls, source: Any, same_names: Any = "apart") -> Names:
        """Return the names of a file, a data frame, a dictionary from codes to names, or a list of pairs."""
        if same_names not in ("apart", "merge"):
            raise MisuseError.format(
                "{same_names} is 'apart' (codes of one name are different items) or 'merge' (they are one item); "
                "{given!r} was given.",
                given=same_names,
            )
        if isinstance(source, Names):
            return source
        if isinstance(source, Mapping) and all(isinstance(name, str) for name in source.values()):
            return cls.from_rows(source.items(), same_names == "merge")
        _, rows = read_table_rows(source, "names")
        return cls.from_rows(rows, same_names == "merge")

    @classmethod
    def from_rows(cls, rows: Iterable[Iterable[Any]], merged: bool = False) -> Names:
        """Return the names of a table: the first two cells of each row are a code and its name."""
        name_by_code: dict[str, str] = {}
        for row in rows:
            cells = list(row)[:2]
            if len(cells) < 2:
                raise InputError(f"The names have a row with one column. {NAMES_SHAPE}")
            code, name = (read_label(cell, "names").strip() for cell in cells)
            if not code:
                raise InputError(f"The names have a row without a code. {NAMES_SHAPE}")
            if name_by_code.setdefault(code, name or code) != (name or code):
                raise InputError(f"The code {code!r} is called {name_by_code[code]!r} and {name!r}: leave one out.")
        if not name_by_code:
            raise InputError(f"The names have no rows. {NAMES_SHAPE}")
        names = cls(name_by_code, merged)
        if not merged and (clash := find_clash(names.labels)):
            first, second = clash
            raise InputError(
                f"The codes {first!r} and {second!r} would both be shown as {names.labels[first]!r}: change the "
                "name of one."
            )
        return names

    def __len__(self) -> int:
        return len(self.name_by_code)

    def __repr__(self) -> str:
        return f"Names({len(self):,} codes)"

    @cached_property
    def codes(self) -> dict[str, list[str]]:
        """The codes of each name, in the order of the table."""
        codes: dict[str, list[str]] = {}
        for code, name in self.name_by_code.items():
            codes.setdefault(name, []).append(code)
        return codes

    @cached_property
    def labels(self) -> dict[str, str]:
        """The label of each code: its name, followed by the code if the name is ambiguous or is itself a code."""
        return {code: self._label(code, name) for code, name in self.name_by_code.items()}

    def _label(self, code: str, name: str) -> str:
        is_ambiguous = len(self.codes[name]) > 1 and not self.merged
        # A name that is the code of a second item would be taken for it.
        is_code = name in self.name_by_code and name != code
        return f"{name} [{code}]" if is_ambiguous or is_code else name

    @cached_property
    def _label_set(self) -> frozenset[str]:
        return frozenset(self.labels.values())

    def resolve(self, item: Item) -> Item:
        """Return the label of an item, which is a code, a label or a name; an unknown item stays unchanged.

        A name of several items is an error that lists their labels.
        """
        text = str(item)
        # Labels come first: each stands for one item, while a name may stand for several.
        if text in self._label_set:
            return text
        if text in self.labels:
            return self.labels[text]
        # The first item of a name would be a guess, so the error lists the items.
        labels = [self.labels[code] for code in self.codes.get(text, [])]
        if labels:
            raise MisuseError(
                f"{text!r} is the name of {len(labels)} items: say which one, {' or '.join(map(repr, labels[:4]))}."
            )
        return text

    def resolved(self, items: Iterable[Item]) -> list[Item]:
        """Return the labels of items, as :meth:`resolve` does."""
        return [self.resolve(item) for item in items]

    def fact(self) -> str:
        """Return the public fact that a guarantee names for this table."""
        return f"what {len(self):,} codes are called, as declared"

    def vocabulary(self, codes: Vocabulary) -> tuple[Vocabulary, Codes]:
        """Return the sorted vocabulary of the labels of codes, and the new code of each old code."""
        labels = []
        for code in map(str, codes):
            label = self.labels.get(code, code)
            # A code without a name is its own label, which must not be the label of a second item.
            if code not in self.labels and code in self._label_set:
                # The message names no item: it would reveal that a person holds it.
                raise InputError(
                    "An item of the data is not on the list of names, and its code is the name of another item: give "
                    "every item a name."
                )
            labels.append(label)
        # Merged codes have equal labels, and get one code here.
        vocabulary, table = np.unique(np.array(labels, object), return_inverse=True)
        return Vocabulary(pa.array(vocabulary.tolist(), pa.large_string()), self), table.astype(np.int32)

    def origins(self, labels: Iterable[str]) -> list[str]:
        """Return the code of each label, which identifies the data in a ledger; for merged codes, their name."""
        return [self._codes_of_labels.get(label, label) for label in labels]

    @cached_property
    def _codes_of_labels(self) -> dict[str, str]:
        """The code of each label that has exactly one code."""
        return {
            label: code
            for code, label in self.labels.items()
            if not (self.merged and len(self.codes[self.name_by_code[code]]) > 1)
        }


def named_rows(rows: Rows, names: Names) -> Rows:
    """Return rows with codes replaced by the codes of their names."""
    vocabulary, table = names.vocabulary(rows.vocabulary)
    codes = table[rows.codes] if len(rows.codes) else rows.codes
    pairs = rows.pairs
    if pairs is not None and len(pairs.first):
        people = len(pairs.offsets) - 1
        person_of = np.repeat(np.arange(people), np.diff(pairs.offsets))
        pairs, _ = sort_pairs(people, person_of, table[pairs.first], table[pairs.second])
    return replace(rows, codes=codes, vocabulary=vocabulary, pairs=pairs)
