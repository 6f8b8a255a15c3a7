"""Rooms speak the language of the field: the figures of each room stay within limits that only fall."""

from __future__ import annotations

import pytest

from plain_words import Figures, Tally, measure_rooms, read_limits, rooms

# Ratios of a small room move by a tenth with a single word; a limit is a place to look at, not a verdict.
SLACK = 0.3


@pytest.mark.parametrize("room", sorted(rooms()))
def test_a_room_speaks_as_plainly_as_before(room):
    figures, limit = measure_rooms()[room], read_limits().get(room, Figures(words=5, names=2, comments=5))
    message = f"{room} has {{}} {{}}, and {{}} were allowed: see Words in CONTRIBUTING.md."
    assert figures.words <= limit.words + SLACK, message.format(figures.words, "vague words in 1,000", limit.words)
    assert figures.names <= limit.names + SLACK, message.format(figures.names, "vague names in 100", limit.names)
    assert figures.comments >= limit.comments - SLACK, f"{room} has fewer comments than {limit.comments} in 100 lines."


def test_vague_words_and_names_are_counted():
    tally = Tally()
    tally.add_python('"""Say what is held by those."""\n\nheld = 1  # noqa: F841\nitem_count = 2  # of it\n')
    assert (tally.words, tally.vague_words) == (8, 3)
    assert (tally.names, tally.vague_names) == (2, 1)
    assert tally.comment_lines == 1


def test_code_and_tables_are_no_prose():
    tally = Tally()
    tally.add_prose("")
    assert tally.figures() == Figures(words=0, names=0, comments=0)
