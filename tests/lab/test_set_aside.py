"""The sets aside are the same for everyone: fixed by their names, and known by their digests."""

from __future__ import annotations

import os

import pytest

from discreet.errors import InputError, MisuseError
from discreet_lab.data.datasets import DATA_SETS, load, names, origin, path
from discreet_lab.data.set_aside import DIGESTS, DRAWN, compute_digest, draw_half, generators


def test_all_of_them_are_known_by_name_and_say_what_they_are():
    assert [*DIGESTS] == [*DRAWN, *generators()]
    assert set(DIGESTS) < set(names())
    assert all(name.startswith("aside-") for name in DIGESTS)
    assert {description.of for description in DRAWN.values()} < set(DATA_SETS)
    assert len({origin(name) for name in DIGESTS}) == len(DIGESTS)


@pytest.mark.parametrize("name", sorted(DIGESTS))
def test_they_are_what_they_were_when_they_were_set_aside(name):
    """Takes up to five seconds for the largest files, which have to be unpacked and read."""
    if name in DRAWN:
        try:
            path(DRAWN[name].of)
        except InputError as error:
            if os.environ.get("CI"):
                raise
            pytest.skip(str(error))
    assert compute_digest(load(name)) == DIGESTS[name]


def test_another_seed_or_size_is_another_set():
    assert compute_digest(load("aside-bulk-alike", seed=1)) != DIGESTS["aside-bulk-alike"]
    assert load("aside-bulk-alike", people=1_500).people == 1_500


def test_a_half_is_drawn_without_replacement():
    baskets = load("made-up-groceries", people=1_001)
    half_baskets = draw_half(baskets, 3)
    assert (half_baskets.people, half_baskets.items) == (500, baskets.items)
    counts = baskets.item_counts - half_baskets.item_counts
    assert (counts >= 0).all()
    assert half_baskets == draw_half(baskets, 3)
    assert half_baskets != draw_half(baskets, 4)


def test_one_that_is_drawn_has_no_file():
    with pytest.raises(MisuseError) as caught:
        path("aside-till")
    assert (
        str(caught.value) == "The data set 'aside-till' has no file: it is drawn from another. Use load('aside-till')."
    )
