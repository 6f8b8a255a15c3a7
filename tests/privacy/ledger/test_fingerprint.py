from __future__ import annotations

import dataclasses
import functools
import itertools
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet
import strategies
from discreet import Baskets, Vocabulary
from discreet.baskets import groceries, starts
from discreet.privacy.ledger import HashedRows, _fingerprint as fingerprint
from discreet.privacy.ledger._fingerprint import SKETCH

KEY = bytes(range(32))

rows_of_numbers = strategies.baskets(10, 12, 4)


def baskets_of(rows) -> Baskets:
    """Make baskets by hand, empty ones and none at all included."""
    labels = sorted({item for row in rows for item in row})
    code_of = {label: code for code, label in enumerate(labels)}
    codes = [sorted(code_of[item] for item in row) for row in rows]
    flat = np.array([code for row in codes for code in row], np.int32)
    return Baskets(starts([len(row) for row in codes]), flat, Vocabulary(labels))


def numbered(start: int, end: int) -> Baskets:
    """One basket a number: all of them different."""
    return baskets_of([{number} for number in range(start, end)])


def mixed(value: int) -> int:
    """Scatter a word over all words, in plain Python."""
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB % 2**64
    return value ^ (value >> 31)


def naive(rows, key: bytes) -> list[int]:
    """The hashes of rows in plain Python, with large whole numbers."""

    def word(purpose, text=b""):
        return int.from_bytes(blake2b(text, digest_size=8, key=key, person=purpose).digest(), "little")

    return [mixed((word(b"row") + sum(word(b"label", str(item).encode()) for item in row)) % 2**64) for row in rows]


def likeness(recorded_rows, current_rows, key: bytes = KEY) -> str:
    return HashedRows.hash_baskets(current_rows, key).likeness(
        HashedRows.hash_baskets(recorded_rows, key).fingerprint()
    )


@given(rows_of_numbers, st.binary(min_size=32, max_size=32), st.integers(1, 5))
def test_as_plain_python_has_it(rows, key, block):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(fingerprint, "_BLOCK", block)
        hashed_rows = HashedRows.hash_baskets(baskets_of(rows), key)
    hashes = naive(rows, key)
    assert hashed_rows.smallest.tolist() == sorted(set(hashes))
    assert hashed_rows.distinct == len(set(hashes))
    sums = [sum(mixed((word + place) % 2**64) for word in hashes) % 2**64 for place in (1, 2, 3, 4)]
    text = np.array([*sums, len(hashes)], "<u8").tobytes()
    assert hashed_rows.digest == b"\x02" + blake2b(text, digest_size=32, key=key, person=b"sums").digest()


@given(rows_of_numbers.flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(rows))))
def test_neither_order_nor_codes_nor_how_numbers_were_read_matter(pair):
    rows, shuffled = pair
    fingerprint = HashedRows.hash_baskets(baskets_of(rows), KEY).fingerprint()
    assert HashedRows.hash_baskets(baskets_of(shuffled), KEY).fingerprint() == fingerprint
    assert (
        HashedRows.hash_baskets(baskets_of([{str(item) for item in row} for row in shuffled]), KEY).fingerprint()
        == fingerprint
    )
    plain = baskets_of(rows)
    labels = [-3, *plain.vocabulary, 99]  # labels that nobody holds shift the codes
    shifted = Baskets(plain.offsets, (plain.codes + 1).astype(np.int32), Vocabulary(labels))
    assert HashedRows.hash_baskets(shifted, KEY).fingerprint() == fingerprint


def test_names_of_many_letters_and_another_key():
    baskets = discreet.read([["tea", "milk"], ["żółw", "tea"], ["milk" * 100]])
    first_print, second_print = (HashedRows.hash_baskets(baskets, key).fingerprint() for key in (KEY, bytes(32)))
    assert first_print.distinct == second_print.distinct == 3
    assert first_print.digest != second_print.digest
    assert not set(np.frombuffer(first_print.sketch, "<u8")) & set(np.frombuffer(second_print.sketch, "<u8"))


def test_a_row_more_or_less_is_seen_even_if_it_is_a_repeat():
    rows = [{1}, {1}, {1, 2}]
    assert likeness(baskets_of(rows), baskets_of(rows)) == "same"
    assert likeness(baskets_of(rows), baskets_of([*rows, {1}])) == "changed"
    assert likeness(baskets_of(rows), baskets_of(rows[1:])) == "changed"
    assert likeness(baskets_of(rows), baskets_of([*rows, set()])) == "changed"


@pytest.mark.parametrize(
    ("recorded_rows", "current_rows", "expected"),
    [
        ([], [], "same"),
        ([], [{1}], "changed"),
        ([{1}], [], "changed"),
        ([set()], [set()], "same"),
        ([set()], [{1}], "other"),
        ([{1}], [{2}], "other"),
        ([{1}], [{1}, {2}], "changed"),
        ([{1}, {2}], [{2}], "changed"),
        ([{1}, {2}], [{2}, {3}], "changed"),
        ([{1}, {2}, {3}], [{3}, {4}, {5}], "other"),
        ([{1}, {2}, {3}], [{3}, {4}], "changed"),
        ([{1, 2}], [{1}, {2}], "other"),
    ],
)
def test_few_rows_are_compared_exactly(recorded_rows, current_rows, expected):
    assert likeness(baskets_of(recorded_rows), baskets_of(current_rows)) == expected


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("last_known", "start", "end", "expected"),
    [
        # Over 30 keys each. The share among a sample of 256 has a deviation of 0.03 at most, so a wrong answer is 5
        # deviations away: one alarm in 10^5 runs of all these.
        (5_000, 0, 20_000, "changed"),  # grew fourfold
        (5_000, 1_750, 6_750, "changed"),  # 65 % of both
        (5_000, 3_250, 8_250, "other"),  # 35 % of both
        (5_000, 3_250, 80_000, "other"),  # 35 % of the known ones in far more others
        # Of 1,000 rows about 51 are in the sample: a deviation of 0.07 at most, and 85 % or 15 % are 7 of them away.
        (5_000, 4_150, 5_150, "changed"),
        (5_000, 4_850, 5_850, "other"),
    ],
)
def test_many_rows_are_compared_by_a_sample(last_known, start, end, expected):
    recorded_baskets, current_baskets = numbered(0, last_known), numbered(start, end)
    for seed in range(8):
        assert likeness(recorded_baskets, current_baskets, blake2b(bytes([seed]), digest_size=32).digest()) == expected


def test_a_sketch_holds_no_more_than_it_should():
    full = HashedRows.hash_baskets(numbered(0, 1_000), KEY)
    assert full.fingerprint().distinct == 1_000
    assert full.fingerprint().sketch == full.smallest[:SKETCH].astype("<u8").tobytes()
    small_rows = HashedRows.hash_baskets(numbered(0, 10), KEY)
    assert len(small_rows.fingerprint().sketch) == 80


def test_realistic_baskets_grow_and_stay_themselves():
    everyone = groceries(4_000, seed=3)
    half = discreet.read([everyone[person] for person in range(0, len(everyone), 2)])
    assert likeness(half, everyone) == "changed"
    assert likeness(everyone, half) == "changed"
    assert likeness(everyone, groceries(4_000, seed=3)) == "same"


def test_nothing_of_it_is_printed():
    rows = HashedRows.hash_baskets(numbered(0, 3), KEY)
    assert (repr(rows), repr(rows.fingerprint())) == ("Rows(…)", "Fingerprint(…)")


@given(rows_of_numbers, st.integers(0, 12), st.integers(0, 12))
def test_people_may_be_looked_at_in_any_grouping(rows, first_cut, second_cut):
    baskets = baskets_of(rows)
    cuts = sorted({0, min(first_cut, len(rows)), min(second_cut, len(rows)), len(rows)})
    parts = [baskets.rows(np.arange(start, end)) for start, end in itertools.pairwise(cuts)]

    class SeparateBaskets(Baskets):
        def reduce(self, part, merge):
            return functools.reduce(merge, [part(part_rows) for part_rows in parts or [self]])

    separate_baskets = SeparateBaskets(baskets.offsets, baskets.codes, baskets.vocabulary)
    assert (
        HashedRows.hash_baskets(separate_baskets, KEY).fingerprint()
        == HashedRows.hash_baskets(baskets, KEY).fingerprint()
    )


def test_more_rows_than_are_looked_at(monkeypatch):
    exact = {row_count: HashedRows.hash_baskets(numbered(0, row_count), KEY) for row_count in (2_000, 8_000)}
    monkeypatch.setattr(fingerprint, "MAX_HASHES", 512)
    large_rows = HashedRows.hash_baskets(numbered(0, 8_000), KEY)
    assert len(large_rows.smallest) == 512
    # A share of 1 / sqrt(512) is one deviation: this key is within four of them.
    assert abs(large_rows.distinct - 8_000) < 4 * 8_000 / 512**0.5
    assert large_rows.likeness(exact[8_000].fingerprint()) == "same"
    assert large_rows.likeness(exact[2_000].fingerprint()) == "changed"  # grew
    assert large_rows.likeness(HashedRows.hash_baskets(numbered(9_000, 9_500), KEY).fingerprint()) == "other"


@pytest.mark.parametrize("row_count", [0, 3, 300])
def test_a_digest_of_the_first_form_is_known_by_its_sample(row_count):
    hashed_rows = HashedRows.hash_baskets(numbered(0, row_count), KEY)
    before = dataclasses.replace(hashed_rows.fingerprint(), digest=bytes(32))
    assert hashed_rows.likeness(before) == "same"
    assert HashedRows.hash_baskets(numbered(0, row_count + 1), KEY).likeness(before) == "changed"
