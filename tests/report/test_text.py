from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from discreet.report import clean, number_of
from discreet.report._text import (
    count_columns,
    count_text,
    decimals,
    item_text,
    itemset,
    loss_text,
    percent,
    percent_digits,
    plain_itemset,
    step_of,
    text_width,
)


@pytest.mark.parametrize(
    ("label", "clean_text"),
    [
        (17, "17"),
        ("tea", "tea"),
        ("a\x00\x1b[31m\n", "a\\x00\\x1b[31m\\n"),
        ("‮evil", "\\u202eevil"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👨‍👩‍👧", "👨‍👩‍👧"),
        ("x" * 1000, "x" * 119 + "…"),
        ("漢" * 100, "漢" * 59 + "…"),
        ("e\u0301" * 100, "e\u0301" * 100),
    ],
)
def test_clean(label, clean_text):
    assert clean(label) == clean_text


@given(st.text(max_size=60), st.integers(2, 40))
def test_what_is_cleaned_is_harmless_and_fits(text, max_length):
    clean_text = clean(text, max_length)
    assert count_columns(clean_text) <= max_length
    assert all(letter.isprintable() or letter in "\u200c\u200d" for letter in clean_text)


def test_a_name_of_marks_alone_is_cut_too():
    assert len(clean("\u0301" * 10_000)) <= 4 * 120 + 1


def test_names_that_could_be_misread_are_quoted():
    assert [item_text(label) for label in ("a, b", "", "  ", "a b", 3)] == ['"a, b"', '""', '"  "', "a b", "3"]


def test_itemsets():
    assert plain_itemset(["tea", "milk"]) == "\u2068tea\u2069, \u2068milk\u2069"
    assert plain_itemset([]) == itemset([]) == "(no item)"
    assert itemset(["<b>", "a&b"]) == "<bdi>&lt;b&gt;</bdi>, <bdi>a&amp;b</bdi>"
    assert count_columns(plain_itemset(["x" * 500, "y" * 500, "tea"], 60)) <= 70


def test_numbers_have_four_digits_at_most():
    # In percent: decimals where there is room, none where there is not.
    assert [percent(value, 4) for value in (0.00012345, 0.012345, 0.12345, 1.0, 12.345)] == [
        "0.0123\u202f%", "1.234\u202f%", "12.35\u202f%", "100.0\u202f%", "1,234\u202f%",
    ]  # fmt: skip
    assert [decimals(value, 2) for value in (0.0, 99.994, 99.996, 1234.5, math.inf)] == [2, 2, 1, 0, 2]


def test_a_loss_is_never_rounded_down():
    for value in (Fraction(1, 3), Fraction(123456, 100_000), Fraction(2, 3), Fraction(10**9 + 1, 10**9)):
        assert Fraction(loss_text(value)) >= value


def test_numbers():
    assert [count_text(value) for value in (1234567.4, 9999.6, -3, -0.2, math.nan, math.inf)] == [
        "1,235,000", "10,000", "−3", "0", "–", "∞",
    ]  # fmt: skip
    assert [percent(value) for value in (0.575, -0.012, 1.5, math.nan)] == [
        "57.5\u202f%", "−1.2\u202f%", "150.0\u202f%", "–",
    ]  # fmt: skip
    columns = [0.5, 0.1], [0.5, 0.011], [0.5, 0.0012], [0.0, math.nan], [1e-9]
    assert [percent_digits(values) for values in columns] == [
        1, 1, 2, 1, 4,
    ]  # fmt: skip
    assert [loss_text(value) for value in (Fraction(1, 2), Fraction(1, 3), Fraction(10**12 + 1, 10**12))] == [
        "0.5", "0.3334", "1.001",
    ]  # fmt: skip
    assert [number_of(1, "rule"), number_of(1200, "rule"), number_of(2, "person", "people")] == [
        "1 rule", "1,200 rules", "2 people",
    ]  # fmt: skip


@given(st.integers(-(10**9), 10**9), st.one_of(st.just(math.inf), st.floats(0, 1e6)))
def test_no_digit_is_lost_that_noise_has_left(value, margin):
    step = step_of(value, margin)
    assert abs(round(value / step) * step - value) <= max(0.1 * margin, 0) if step > 1 else True
    if math.isinf(margin):
        assert len(count_text(value).strip("−").replace(",", "").rstrip("0")) <= 4


def test_a_wide_letter_takes_more_room_than_a_narrow_one():
    assert text_width("iii") < text_width("aaa") < text_width("WWW") < text_width("漢漢漢")
    assert text_width("") == text_width("\u0301") == 0
