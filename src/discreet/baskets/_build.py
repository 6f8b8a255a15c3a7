"""The steps that all readers share: labels become codes, and rows of codes become `Baskets`.

A reader adds its labels block by block to a `Collector`, which builds `Rows`; `build_baskets` sorts the rows, merges
repeats and caps. Codes follow the order of the labels, and only labels that occur have a code: so equal data are
read as equal baskets from any source.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..checks import is_whole
from ..errors import InputError, MisuseError, name_options
from ..heavy import pa, pc
from ..kernels import close_gaps, in_threads, keep_some, mark_held_codes, mark_present, sort_rows, threads, translate
from ..wording import number_of
from ._arrow import as_arrow, as_numpy
from ._core import Baskets, Codes, Offsets, Pairs, Segments, Sequences, Vocabulary, starts
from ._streams import MemoryLimit

Labels: TypeAlias = Literal["numbers", "names"] | None

MAX_INT64 = np.iinfo(np.int64).max
MAX_INT32 = np.iinfo(np.int32).max
# Up to this label, or up to the number of labels if that is larger, labels are coded by a lookup table: 64 MiB at most.
# Above, they are sorted, which needs less memory for sparse labels but more time.
_MAX_TABLE_LABEL = 1 << 24
_ROW_BYTES = 12  # a size of 32 bits while a row is read, and an offset of 64 bits at the end
_NAME_COPIES = 6  # an upper bound of the copies of all names while they are looked up and sorted
_PLAIN_NUMBER = r"^(0|[1-9][0-9]*)$"

log = logging.getLogger("discreet")


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The rows of a reader: item codes in the order of the source, with repeats, and the parts of `Baskets`.

    `moments` is as in `Sequences`; `repeated_pairs` is the number of merged repeats of pairs.
    """

    offsets: Offsets
    codes: Codes
    vocabulary: Vocabulary
    moments: Codes | None = None
    pairs: Pairs | None = None
    repeated_pairs: int = 0
    segments: Segments | None = None
    owners: Offsets | None = None


class Collector:
    """Collects the labels of rows, block by block, within a limit of memory.

    Numbers stay as they are until the end. Names are stored as provisional codes, in the order of their occurrence.
    """

    def __init__(self, name: str, memory_limit: MemoryLimit) -> None:
        self._name = name
        self._memory_limit = memory_limit
        self._collected_bytes = 0
        self._sizes: list[Codes] = []
        self._blocks: list[NDArray[Any]] = []
        self._names: pa.Array | None = None
        self._has_numbers = False

    def add_numbers(self, sizes: NDArray[Any], values: NDArray[Any]) -> None:
        """Add rows of whole numbers; `sizes` is the number of values of each row."""
        self._add_sizes(sizes)
        if len(values):
            self._has_numbers = True
            fits_int32 = values.dtype == np.int32 or (values.min() >= 0 and values.max() <= MAX_INT32)
            self._add_block(values.astype(np.int32 if fits_int32 else np.int64, copy=False))

    def _add_sizes(self, sizes: NDArray[Any]) -> None:
        self._sizes.append(sizes.astype(np.int32, copy=False))
        self._count_bytes(_ROW_BYTES * len(sizes))

    def _add_block(self, block: NDArray[Any]) -> None:
        self._blocks.append(block)
        self._count_bytes(block.nbytes)

    def _count_bytes(self, new_bytes: int) -> None:
        self._collected_bytes += new_bytes
        self._memory_limit.check(self._name, self._collected_bytes)

    def add_names(self, sizes: NDArray[Any], names: pa.Array) -> None:
        """Add rows of names, which lie end to end in an Arrow array of text without nulls."""
        self._add_sizes(sizes)
        if not len(names):
            return
        # The steps below run once per different name of the block, not once per basket.
        if not pa.types.is_dictionary(names.type):
            names = names.dictionary_encode()
        codes = as_numpy(names.indices).astype(np.int32, copy=False)
        names = names.dictionary.cast(pa.large_string())
        if self._names is None:
            self._names = names
            self._count_bytes(_NAME_COPIES * names.nbytes)
            self._add_block(codes)
            return
        old_count = len(self._names)
        old_codes = pc.index_in(names, value_set=self._names)
        # A name that is new gets the next provisional code.
        is_new = old_codes.is_null()
        new_names = names.filter(is_new)
        table = as_numpy(old_codes.fill_null(0)).astype(np.int32)
        table[as_numpy(is_new.cast(pa.uint8())) == 1] = np.arange(old_count, old_count + len(new_names), dtype=np.int32)
        if len(new_names):
            self._count_bytes(_NAME_COPIES * new_names.nbytes)
            self._names = pa.concat_arrays([self._names, new_names])
        self._add_block(recode(codes, table))

    def build_rows(self, labels: Labels) -> Rows:
        """Return the collected rows, with a code for every label."""
        if self._has_numbers and self._names is not None:
            raise mixed_items_error(self._name)
        offsets = _offsets(self._sizes)
        if self._names is None:
            codes, vocabulary = self._code_numbers(labels)
        else:
            vocabulary, table = sort_labels(self._names, labels, self._name)
            codes = self._translate_blocks(table)
        return Rows(offsets=offsets, codes=codes, vocabulary=vocabulary)

    def _translate_blocks(self, table: Codes) -> Codes:
        """Return `table[label]` of all blocks as one array; each block is freed once it is translated."""
        codes = np.empty(sum(map(len, self._blocks)), np.int32)
        start = 0
        self._blocks.reverse()
        while self._blocks:
            block = self._blocks.pop()
            translate(block, table, codes[start : start + len(block)])
            start += len(block)
        return codes

    def _code_numbers(self, labels: Labels) -> tuple[Codes, Vocabulary]:
        highest = max((int(block.max()) for block in self._blocks), default=-1)
        lowest = min((int(block.min()) for block in self._blocks), default=0)
        total = sum(map(len, self._blocks))
        if lowest < 0 or highest >= max(_MAX_TABLE_LABEL, total):
            return self._code_sparse_numbers(labels)
        # One flag per possible label; its position among the flags is its code.
        present = np.zeros(highest + 1, np.bool_)
        for block in self._blocks:
            mark_present(block, present)
        numbers = np.flatnonzero(present)
        vocabulary, codes = sort_labels(as_arrow(numbers), labels, self._name)
        table = np.zeros(highest + 1, np.int32)
        table[numbers] = codes
        del present, numbers  # they would double the memory of the next step
        return self._translate_blocks(table), vocabulary

    def _code_sparse_numbers(self, labels: Labels) -> tuple[Codes, Vocabulary]:
        numbers = np.unique(np.concatenate([np.unique(block).astype(np.int64) for block in self._blocks]))
        for number, block in enumerate(self._blocks):  # block by block, so that memory is freed on the way
            self._blocks[number] = np.searchsorted(numbers, block).astype(np.int32)
        vocabulary, table = sort_labels(as_arrow(numbers), labels, self._name)
        return self._translate_blocks(table), vocabulary


def mixed_items_error(name: str) -> InputError:
    """Return the error for items that are numbers and names."""
    return InputError.format(
        '{name}: the items are a mixture of numbers and names; {labels="names"} reads all as names.', name=name
    )


def shorten_value(value: object) -> str:
    """Return the text of a value for a message, at most 42 letters long."""
    try:
        text = repr(value)
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= 42 else f"{text[:41]}…{text[0] if text[0] == text[-1] else ''}"


def check_item_cap(max_items: Any, seed: Any) -> None:
    """Check that the options of :func:`cap_items` are whole numbers, before data are read."""
    for name, value, lowest in (("max_items", max_items, 1), ("seed", seed, 0)):
        if value is not None and not (is_whole(value) and value >= lowest):
            raise MisuseError.format(
                "{option} is {given}; it must be a whole number, {fewest} or more.",
                option=name_options(name),
                given=shorten_value(value),
                fewest=lowest,
            )
    if seed is not None and max_items is None:
        raise MisuseError.format(
            "{seed=} is for the choice that {max_items} makes; give {max_items} too, or leave {seed=} out."
        )


def sort_labels(labels: pa.Array, label_type: Labels, name: str) -> tuple[Vocabulary, Codes]:
    """Return the vocabulary of different labels, and the code of each label.

    Parameters
    ----------
    labels
        Different labels, in any order: whole numbers or text.
    label_type
        The type that the vocabulary shall have; None keeps the type of `labels`.
    name
        The name of the source, for messages.
    """
    # Three cases: numbers that stay numbers or become names, names that become numbers, and names.
    if pa.types.is_integer(labels.type):
        labels = labels.cast(pa.large_string() if label_type == "names" else pa.int64())
    elif label_type == "numbers":
        labels, _ = parse_labels(labels)
        if labels is None:
            raise InputError.format(
                '{name}: an item is not a whole number that fits 64 bits; {labels="names"} reads items as names.',
                name=name,
            )
    if not len(labels):
        return Vocabulary([]), np.empty(0, np.int32)
    if pa.types.is_integer(labels.type):
        # Text may write one number in two ways, as 7 and 07: both have one code.
        values, positions = np.unique(as_numpy(labels), return_inverse=True)
        return Vocabulary(as_arrow(values)), positions.astype(np.int32, copy=False)
    labels = labels.cast(pa.large_string())
    # `order` lists positions by rank; its inverse is the code of each label.
    order = as_numpy(pc.sort_indices(labels))
    codes = np.empty(len(order), np.int32)
    codes[order] = np.arange(len(order), dtype=np.int32)
    return Vocabulary(labels.take(as_arrow(order))), codes


def recode(codes: Codes, table: Codes) -> Codes:
    """Return ``table[codes]``, translated by all cores."""
    new_codes = np.empty(len(codes), np.int32)
    translate(codes, table, new_codes)
    return new_codes


def join_rows(name: str, parts: Sequence[Rows], memory_limit: MemoryLimit) -> Rows:
    """Return the rows of several files, one after another, under one vocabulary of numbers or of names."""
    memory_limit.check(name, sum(rows.codes.nbytes + rows.offsets.nbytes for rows in parts))
    vocabularies = [rows.vocabulary for rows in parts if len(rows.vocabulary)]
    if len({vocabulary.numeric for vocabulary in vocabularies}) > 1:
        raise mixed_items_error(name)
    labels = pa.concat_arrays([vocabulary.labels for vocabulary in vocabularies] or [pa.array([], pa.int64())])
    different = labels.dictionary_encode()
    vocabulary, codes = sort_labels(different.dictionary, None, name)
    table = codes[as_numpy(different.indices)]
    first_labels = starts([len(rows.vocabulary) for rows in parts])
    tables = [table[start:end] for start, end in pairwise(first_labels)]
    pairs = None
    if any(rows.pairs is not None for rows in parts):
        # Labels keep their order, so pairs stay sorted within each row.
        empty = Pairs(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))
        all_pairs = [rows.pairs or replace(empty, offsets=np.zeros(len(rows.offsets), np.int64)) for rows in parts]
        pairs = Pairs(
            _join_offsets([part.offsets for part in all_pairs]),
            np.concatenate([recode(part.first, table) for part, table in zip(all_pairs, tables, strict=True)]),
            np.concatenate([recode(part.second, table) for part, table in zip(all_pairs, tables, strict=True)]),
        )
    return Rows(
        offsets=_join_offsets([rows.offsets for rows in parts]),
        codes=np.concatenate([recode(rows.codes, table) for rows, table in zip(parts, tables, strict=True)]),
        vocabulary=vocabulary,
        pairs=pairs,
        repeated_pairs=sum(rows.repeated_pairs for rows in parts),
    )


def _join_offsets(parts: Sequence[Offsets]) -> Offsets:
    return starts(np.concatenate([np.diff(offsets) for offsets in parts]))


def parse_labels(names: pa.Array, *, plain: bool = False) -> tuple[pa.Array | None, str | None]:
    """Return names as 64-bit numbers, or None and the first name that is no number.

    With `plain`, a name with a leading zero is no number: the number would lose the zero.
    """
    pattern = _PLAIN_NUMBER if plain else r"^[0-9]+$"
    is_unfit = pc.invert(pc.match_substring_regex(names, pattern))
    if not pc.any(is_unfit).as_py():
        try:
            return names.cast(pa.int64()), None
        except pa.ArrowInvalid:
            # Arrow does not say which value overflows: it is longer than 19 digits, or larger with 19 digits.
            digits = pc.utf8_ltrim(names, "0")
            lengths = pc.utf8_length(digits)
            is_above = pc.and_(pc.equal(lengths, 19), pc.greater(digits, str(MAX_INT64)))
            is_unfit = pc.or_(pc.greater(lengths, 19), is_above)
    return None, names.filter(is_unfit)[0].as_py()


def _offsets(sizes: list[Codes]) -> Offsets:
    """Return the offsets of rows with blocks of sizes, without a copy of all sizes."""
    # Sizes are summed block by block: a concatenation would need their memory twice.
    offsets = np.zeros(sum(map(len, sizes)) + 1, np.int64)
    start = 1
    for block in sizes:
        end = start + len(block)
        np.cumsum(block, out=offsets[start:end])
        offsets[start:end] += offsets[start - 1]
        start = end
    return offsets


def sort_pairs(people: int, rows: Offsets, first_items: Codes, second_items: Codes) -> tuple[Pairs, int]:
    """Return the pairs of each row, sorted and without repeats, and the number of repeats."""
    order = np.lexsort((second_items, first_items, rows))
    rows, first_items, second_items = rows[order], first_items[order], second_items[order]
    is_new = np.ones(len(rows), np.bool_)
    is_new[1:] = (np.diff(rows) != 0) | (np.diff(first_items) != 0) | (np.diff(second_items) != 0)
    offsets = starts(np.bincount(rows[is_new], minlength=people))
    return Pairs(offsets, first_items[is_new], second_items[is_new]), len(rows) - int(is_new.sum())


def build_baskets(
    rows: Rows, *, name: str, ordered: bool = False, max_items: int | None = None, seed: int | None = None
) -> Baskets:
    """Return the baskets of rows, whose arrays are overwritten."""
    offsets, codes = rows.offsets, rows.codes
    sequences = Sequences(offsets.copy(), codes.copy(), rows.moments) if ordered else None
    # The kernel sorts each row in place and writes its number of different codes.
    total = len(codes)
    sizes = np.empty(len(offsets) - 1, np.int32)
    in_threads(lambda piece: sort_rows(offsets, codes, piece[0], piece[1], sizes), _split_rows(offsets))
    # Rows without any repeat lie end to end already.
    if int(sizes.sum(dtype=np.int64)) < total:
        close_gaps(offsets, codes, sizes)
        codes = _shorten(codes, int(offsets[-1]))
    # An item occurs once in each of its pairs, which is no repeat. The pairs may be repeated.
    merged = total - len(codes) if rows.pairs is None else rows.repeated_pairs
    if merged:
        repeated = "an item in a basket" if rows.pairs is None else "a pair of a person"
        log.info("%s: merged %s of %s.", name, number_of(merged, "repeat"), repeated)
    baskets = Baskets(offsets, codes, rows.vocabulary, sequences, rows.pairs, merged, rows.segments, rows.owners)
    return baskets if max_items is None else cap_items(baskets, max_items, seed)


def cap_items(baskets: Baskets, max_items: int, seed: int | None) -> Baskets:
    """Return baskets of at most `max_items` items each, drawn uniformly, with the order and pairs of the drawn items.

    Privacy: the draw depends on the labels of the basket, and on the seed or a secret. It depends neither on the
    position of the basket nor on other people. So data that differ in one person still differ in one person.
    """
    # No basket is too large, so no draw is needed.
    if not len(baskets) or int(baskets.sizes.max()) <= max_items:
        return baskets
    # The seed is for tests and examples; a release draws a secret, which no one can guess.
    secret = secrets.token_bytes(8) if seed is None else np.random.default_rng(seed).bytes(8)
    # Identities, not codes: a code depends on the items of all people.
    offsets, codes = keep_some(
        baskets.offsets, baskets.codes, max_items, int.from_bytes(secret), baskets.vocabulary.identities
    )
    sequences, pairs = baskets.sequences, baskets.pairs
    if sequences is not None:
        is_kept = _mark_kept(sequences.offsets, sequences.codes, offsets, codes)
        moments = None if sequences.moments is None else sequences.moments[is_kept]
        sequences = Sequences(starts(is_kept)[sequences.offsets], sequences.codes[is_kept], moments)
    if pairs is not None:
        is_kept = _mark_kept(pairs.offsets, pairs.first, offsets, codes)
        is_kept &= _mark_kept(pairs.offsets, pairs.second, offsets, codes)
        pairs = Pairs(starts(is_kept)[pairs.offsets], pairs.first[is_kept], pairs.second[is_kept])
    return replace(baskets, offsets=offsets, codes=codes, sequences=sequences, pairs=pairs)


def _split_rows(offsets: Offsets) -> list[tuple[int, int]]:
    """Return ranges of rows with about equal numbers of codes, four per thread if the work is worth a thread."""
    rows = len(offsets) - 1
    count = min(rows, 4 * threads()) if offsets[-1] > 10_000 else 1
    cuts = np.searchsorted(offsets[:-1], offsets[-1] * np.arange(1, count) // count)
    return list(pairwise([0, *cuts.tolist(), rows]))


def _shorten(codes: Codes, size: int) -> Codes:
    """Return the first `size` codes and free the memory behind them, without a copy if the array owns its memory."""
    # A realloc gives memory back to the system; a copy would need both arrays at once.
    if codes.base is None and codes.flags.owndata:
        codes.resize(size, refcheck=False)
        return codes
    return codes[:size].copy()


def _mark_kept(offsets: Offsets, codes: Codes, basket_offsets: Offsets, basket_codes: Codes) -> NDArray[np.bool_]:
    """Return whether each code is in the basket of its row."""
    is_kept = np.empty(len(codes), np.bool_)
    mark_held_codes(offsets, codes, basket_offsets, basket_codes, is_kept)
    return is_kept
