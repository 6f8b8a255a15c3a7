"""Where all readers meet: rows of labels get codes, and rows of codes become `Baskets`.

A reader hands its labels to a `Collector` block by block and gets back `Rows`; `finish` turns these into sorted
sets, merges repeats, and caps. Codes are given in the order of the labels, and only to labels that occur, so the
same baskets come out equal whichever way they came in.
"""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, MisuseError, name_options
from ..kernels import close_gaps, in_threads, keep_some, mark_held_codes, mark_present, sort_rows, threads, translate
from ..wording import number_of
from ._allowance import Allowance
from ._arrow import as_arrow, as_numpy
from ._core import Baskets, Codes, Offsets, Pairs, Segments, Sequences, Vocabulary

if TYPE_CHECKING:
    import pyarrow as pa

Labels: TypeAlias = Literal["numbers", "names"] | None

LARGEST = np.iinfo(np.int64).max
SMALL = np.iinfo(np.int32).max
# Up to this label (or the number of labels read, if more) a table from label to code costs less than sorting.
_TABLE = 1 << 24
# The bytes of a row's size while it is read and of its place in the end; and how many times their bytes names take
# while they are looked up and put in order.
_A_ROW, _COPIES = 12, 6
_NUMBER = r"^(0|[1-9][0-9]*)$"

log = logging.getLogger("discreet")


@dataclass(frozen=True, kw_only=True)
class Rows:
    """What a reader found: codes by row, in the order given and with repeats, and the given pairs.

    `moments` say which of them were at the same time, as in `Sequences`.
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
    """Gathers the labels of rows, block by block, in little more memory than their codes take, which is bounded.

    Numbers are kept as they are until the end. Names get a provisional code in the order they turn up.
    """

    def __init__(self, name: str, allowed: Allowance) -> None:
        self._name = name
        self._allowed = allowed
        self._held = 0
        self._sizes: list[Codes] = []
        self._blocks: list[NDArray[Any]] = []
        self._names: pa.Array | None = None
        self._numbers = False

    def add_numbers(self, sizes: NDArray[Any], values: NDArray[Any]) -> None:
        """Add rows of whole numbers; `sizes` says how many belong to each row."""
        self._add_sizes(sizes)
        if len(values):
            self._numbers = True
            small = values.dtype == np.int32 or (values.min() >= 0 and values.max() <= SMALL)
            self._add_block(values.astype(np.int32 if small else np.int64, copy=False))

    def _add_sizes(self, sizes: NDArray[Any]) -> None:
        self._sizes.append(sizes.astype(np.int32, copy=False))
        self._hold(_A_ROW * len(sizes))

    def _add_block(self, block: NDArray[Any]) -> None:
        self._blocks.append(block)
        self._hold(block.nbytes)

    def _hold(self, more: int) -> None:
        self._held += more
        self._allowed.check(self._name, self._held)

    def add_names(self, sizes: NDArray[Any], names: pa.Array) -> None:
        """Add rows of names, given end to end as an Arrow array of text without nulls."""
        import pyarrow as pa
        import pyarrow.compute as pc

        self._add_sizes(sizes)
        if not len(names):
            return
        if not pa.types.is_dictionary(names.type):
            names = names.dictionary_encode()
        codes = as_numpy(names.indices).astype(np.int32, copy=False)
        names = names.dictionary.cast(pa.large_string())
        if self._names is None:
            self._names = names
            self._hold(_COPIES * names.nbytes)
            self._add_block(codes)
            return
        known = len(self._names)
        found = pc.index_in(names, value_set=self._names)
        new = found.is_null()
        fresh = names.filter(new)
        table = as_numpy(found.fill_null(0)).astype(np.int32)
        table[as_numpy(new.cast(pa.uint8())) == 1] = np.arange(known, known + len(fresh), dtype=np.int32)
        if len(fresh):
            self._hold(_COPIES * fresh.nbytes)
            self._names = pa.concat_arrays([self._names, fresh])
        provisional = np.empty(len(codes), np.int32)
        translate(codes, table, provisional)
        self._add_block(provisional)

    def finish(self, labels: Labels) -> Rows:
        """Give every label its code and return the rows."""
        if self._numbers and self._names is not None:
            raise mixture(self._name)
        offsets = _offsets(self._sizes)
        if self._names is None:
            codes, vocabulary = self._code_numbers(labels)
        else:
            vocabulary, table = sort_labels(self._names, labels, self._name)
            codes = self._gather(table)
        return Rows(offsets=offsets, codes=codes, vocabulary=vocabulary)

    def _gather(self, table: Codes) -> Codes:
        """Translate the blocks into one array, letting go of each when it is done."""
        codes = np.empty(sum(map(len, self._blocks)), np.int32)
        place = 0
        self._blocks.reverse()
        while self._blocks:
            block = self._blocks.pop()
            translate(block, table, codes[place : place + len(block)])
            place += len(block)
        return codes

    def _code_numbers(self, labels: Labels) -> tuple[Codes, Vocabulary]:
        highest = max((int(block.max()) for block in self._blocks), default=-1)
        lowest = min((int(block.min()) for block in self._blocks), default=0)
        total = sum(map(len, self._blocks))
        if lowest < 0 or highest >= max(_TABLE, total):
            return self._code_sparse_numbers(labels)
        present = np.zeros(highest + 1, np.bool_)
        for block in self._blocks:
            mark_present(block, present)
        found = np.flatnonzero(present)
        vocabulary, order = sort_labels(as_arrow(found), labels, self._name)
        table = np.zeros(highest + 1, np.int32)
        table[found] = order
        del present, found
        return self._gather(table), vocabulary

    def _code_sparse_numbers(self, labels: Labels) -> tuple[Codes, Vocabulary]:
        found = np.unique(np.concatenate([np.unique(block).astype(np.int64) for block in self._blocks]))
        for place, block in enumerate(self._blocks):  # one by one, so that each is let go of
            self._blocks[place] = np.searchsorted(found, block).astype(np.int32)
        vocabulary, table = sort_labels(as_arrow(found), labels, self._name)
        return self._gather(table), vocabulary


def mixture(name: str) -> InputError:
    """Return the error for items of both kinds."""
    return InputError.format(
        '{name}: the items are a mixture of numbers and names; {labels="names"} reads all as names.', name=name
    )


def shown(value: object) -> str:
    """Return a value as a message shows it: a long one is cut."""
    try:
        text = repr(value)
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= 42 else f"{text[:41]}…{text[0] if text[0] == text[-1] else ''}"


def check_cap(max_items: Any, seed: Any) -> None:
    """See that the options of :func:`cap` are whole numbers, before anything is read."""
    for name, value, least in (("max_items", max_items, 1), ("seed", seed, 0)):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if value is not None and not (whole and value >= least):
            raise MisuseError.format(
                "{option} is {given}; it must be a whole number, {fewest} or more.",
                option=name_options(name),
                given=shown(value),
                fewest=least,
            )
    if seed is not None and max_items is None:
        raise MisuseError.format(
            "{seed=} is for the choice that {max_items} makes; give {max_items} too, or leave {seed=} out."
        )


def sort_labels(found: pa.Array, labels: Labels, name: str) -> tuple[Vocabulary, Codes]:
    """Return the vocabulary of the labels found, and the code of each of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_integer(found.type):
        found = found.cast(pa.large_string()) if labels == "names" else found.cast(pa.int64())
    elif labels == "numbers":
        numbers, _ = parse_labels(found)
        if numbers is None:
            raise InputError.format(
                '{name}: an item is not a whole number that fits 64 bits; {labels="names"} reads items as names.',
                name=name,
            )
        found = numbers
    if not len(found):
        return Vocabulary([]), np.empty(0, np.int32)
    if pa.types.is_integer(found.type):
        values, places = np.unique(as_numpy(found), return_inverse=True)
        return Vocabulary(as_arrow(values)), places.astype(np.int32, copy=False)
    found = found.cast(pa.large_string())
    order = as_numpy(pc.sort_indices(found))
    codes = np.empty(len(order), np.int32)
    codes[order] = np.arange(len(order), dtype=np.int32)
    return Vocabulary(found.take(as_arrow(order))), codes


def parse_labels(names: pa.Array, *, plain: bool = False) -> tuple[pa.Array | None, str | None]:
    """Return names as 64-bit numbers, or None and the first that is none (`plain`: a leading zero is none)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    pattern = _NUMBER if plain else r"^[0-9]+$"
    bad = pc.invert(pc.match_substring_regex(names, pattern))
    if not pc.any(bad).as_py():
        try:
            return names.cast(pa.int64()), None
        except pa.ArrowInvalid:
            digits = pc.utf8_ltrim(names, "0")
            lengths = pc.utf8_length(digits)
            largest = pc.and_(pc.equal(lengths, 19), pc.greater(digits, str(LARGEST)))
            bad = pc.or_(pc.greater(lengths, 19), largest)
    return None, names.filter(bad)[0].as_py()


def _offsets(sizes: list[Codes]) -> Offsets:
    offsets = np.zeros(sum(map(len, sizes)) + 1, np.int64)
    place = 1
    for block in sizes:
        end = place + len(block)
        np.cumsum(block, out=offsets[place:end])
        offsets[place:end] += offsets[place - 1]
        place = end
    return offsets


def canonical_pairs(people: int, rows: Offsets, first: Codes, second: Codes) -> tuple[Pairs, int]:
    """Sort pairs by row, merge repeats, and return them with the number of repeats."""
    order = np.lexsort((second, first, rows))
    rows, first, second = rows[order], first[order], second[order]
    new = np.ones(len(rows), np.bool_)
    new[1:] = (np.diff(rows) != 0) | (np.diff(first) != 0) | (np.diff(second) != 0)
    offsets = np.zeros(people + 1, np.int64)
    np.cumsum(np.bincount(rows[new], minlength=people), out=offsets[1:])
    return Pairs(offsets, first[new], second[new]), len(rows) - int(new.sum())


def finish(
    rows: Rows, *, name: str, ordered: bool = False, max_items: int | None = None, seed: int | None = None
) -> Baskets:
    """Turn rows into baskets. The arrays of `rows` are used up."""
    offsets, codes = rows.offsets, rows.codes
    sequences = None
    if ordered:
        sequences = Sequences(offsets.copy(), codes.copy(), rows.moments)
    total = len(codes)
    sizes = np.empty(len(offsets) - 1, np.int32)
    pieces = _split(offsets)
    in_threads(lambda piece: sort_rows(offsets, codes, piece[0], piece[1], sizes), pieces)
    if int(sizes.sum(dtype=np.int64)) < total:
        close_gaps(offsets, codes, sizes)
        codes = _shorten(codes, int(offsets[-1]))
    # With given pairs an item is named once per pair, which is no repeat; the pairs themselves may be repeated.
    merged = total - len(codes) if rows.pairs is None else rows.repeated_pairs
    if merged:
        what = "an item in a basket" if rows.pairs is None else "a pair of a person"
        log.info("%s: merged %s of %s.", name, number_of(merged, "repeat"), what)
    baskets = Baskets(offsets, codes, rows.vocabulary, sequences, rows.pairs, merged, rows.segments, rows.owners)
    return baskets if max_items is None else cap(baskets, max_items, seed)


def cap(baskets: Baskets, max_items: int, seed: int | None) -> Baskets:
    """Keep a uniform random choice of at most `max_items` items of each basket, and of what goes with them.

    What a basket keeps is a function of its labels and of the seed or a secret, of nothing else: not of its place, nor
    of who else there is. So one more person is one more basket also after capping, as a release needs it; and equal
    baskets are capped alike.
    """
    if not len(baskets) or int(baskets.sizes.max()) <= max_items:
        return baskets
    secret = secrets.token_bytes(8) if seed is None else np.random.default_rng(seed).bytes(8)
    offsets, codes = keep_some(
        baskets.offsets, baskets.codes, max_items, int.from_bytes(secret), baskets.vocabulary.identities
    )
    sequences, pairs = baskets.sequences, baskets.pairs
    if sequences is not None:
        kept = _held(sequences.offsets, sequences.codes, offsets, codes)
        moments = None if sequences.moments is None else sequences.moments[kept]
        sequences = Sequences(_recount(sequences.offsets, kept), sequences.codes[kept], moments)
    if pairs is not None:
        kept = _held(pairs.offsets, pairs.first, offsets, codes)
        kept &= _held(pairs.offsets, pairs.second, offsets, codes)
        pairs = Pairs(_recount(pairs.offsets, kept), pairs.first[kept], pairs.second[kept])
    return Baskets(
        offsets, codes, baskets.vocabulary, sequences, pairs, baskets.merged, baskets.segments, baskets.owners
    )


def _split(offsets: Offsets) -> list[tuple[int, int]]:
    """Cut the rows into pieces of about as many codes each, enough to keep all threads busy."""
    rows = len(offsets) - 1
    count = min(rows, 4 * threads()) if offsets[-1] > 10_000 else 1
    cuts = np.searchsorted(offsets[:-1], offsets[-1] * np.arange(1, count) // count)
    edges = [0, *cuts.tolist(), rows]
    return list(pairwise(edges))


def _shorten(codes: Codes, size: int) -> Codes:
    """Give back the memory behind the first `size` codes, without a copy where the array is our own."""
    if codes.base is None and codes.flags.owndata:
        codes.resize(size, refcheck=False)
        return codes
    return codes[:size].copy()


def _held(offsets: Offsets, codes: Codes, basket_offsets: Offsets, basket_codes: Codes) -> NDArray[np.bool_]:
    kept = np.empty(len(codes), np.bool_)
    mark_held_codes(offsets, codes, basket_offsets, basket_codes, kept)
    return kept


def _recount(offsets: Offsets, kept: NDArray[np.bool_]) -> Offsets:
    before = np.zeros(len(kept) + 1, np.int64)
    np.cumsum(kept, out=before[1:])
    return before[offsets]
