import itertools

import numpy as np
import pytest

from discreet.baskets import Baskets, Pairs, Sequences, Vocabulary, _core as module, quest, resample
from discreet.errors import MisuseError


def ragged(rows):
    offsets = np.cumsum([0] + [len(row) for row in rows]).astype(np.int64)
    return offsets, np.array([code for row in rows for code in row], dtype=np.int32)


def rich_baskets():
    """Four people, one of them empty, with order and pairs; each row tells who it is."""
    sequences = ragged([[0, 1, 0], [], [2], [3, 2, 3, 3]])
    offsets, first_items = ragged([[0], [], [], [2, 3]])
    second = np.array([1, 3, 2], dtype=np.int32)
    return Baskets(
        *ragged([[0, 1], [], [2], [2, 3]]),
        Vocabulary(["a", "b", "c", "d"]),
        Sequences(*sequences),
        Pairs(offsets, first_items, second),
    )


def rows_of(offsets, *columns):
    return [
        tuple(tuple(column[start:end].tolist()) for column in columns) for start, end in itertools.pairwise(offsets)
    ]


def everything(baskets):
    return list(
        zip(
            rows_of(baskets.offsets, baskets.codes),
            rows_of(baskets.sequences.offsets, baskets.sequences.codes),
            rows_of(baskets.pairs.offsets, baskets.pairs.first, baskets.pairs.second),
            strict=True,
        )
    )


@pytest.mark.parametrize("people", [0, 1, 4, 1_000])
def test_whole_people_are_drawn(people, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 7)
    original = rich_baskets()
    drawn_baskets = resample(original, people, seed=3)
    assert drawn_baskets.people == people
    assert drawn_baskets.vocabulary == original.vocabulary
    assert set(everything(drawn_baskets)) <= set(everything(original))


def test_a_seed_draws_the_same_people_whatever_the_block(monkeypatch):
    original = quest(500, 50, mean_size=4, mean_pattern=2, seed=1)
    drawn_baskets = resample(original, 2_000, seed=5)
    assert resample(original, 2_000, seed=6) != drawn_baskets
    monkeypatch.setattr(module, "_BLOCK", 99)
    assert resample(original, 2_000, seed=5) == drawn_baskets


@pytest.mark.statistical
def test_people_are_drawn_uniformly():
    # 40,000 draws of 4 people: chi-square with 3 degrees of freedom exceeds 27.9 with probability 4e-6.
    drawn_counts = everything(resample(rich_baskets(), 40_000, seed=9))
    counts = np.array([drawn_counts.count(person) for person in everything(rich_baskets())])
    assert counts.sum() == 40_000
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 27.9


def test_misuse():
    with pytest.raises(MisuseError) as caught:
        resample(rich_baskets(), -1)
    assert str(caught.value) == "people is -1; it must be a whole number, 0 or more."
    nobody = Baskets(*ragged([]), Vocabulary(["a"]))
    assert resample(nobody, 0).people == 0
    with pytest.raises(MisuseError) as caught:
        resample(nobody, 1_000)
    assert str(caught.value) == "There is nobody to draw 1,000 people from: give baskets of at least one person."


def test_all_baskets_of_a_person_come_along():
    """Person 0 has items 0 and 1 in two baskets, person 1 item 2 in one, person 2 nothing and item 3."""
    original = Baskets(
        *ragged([[0], [1], [2], [], [3]]), Vocabulary(["a", "b", "c", "d"]), owners=np.array([0, 2, 3, 5])
    )
    drawn_baskets = resample(original, 3_000, seed=4)
    assert drawn_baskets.people == 3_000
    people = {
        tuple(tuple(sorted(drawn_baskets[row])) for row in range(start, end))
        for start, end in itertools.pairwise(drawn_baskets.owners)
    }
    assert people == {(("a",), ("b",)), (("c",),), ((), ("d",))}
    assert resample(original, 0, seed=4).people == 0
