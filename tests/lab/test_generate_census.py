from collections import Counter

import pytest

import discreet
from discreet.errors import MisuseError
from discreet_lab.data.generators import ATTRIBUTES, census


def test_everyone_has_one_value_of_each_attribute():
    baskets = census(300, seed=2)
    for basket in baskets:
        assert sorted(label.partition("=")[0] for label in basket) == sorted(ATTRIBUTES)
        assert all(value in ATTRIBUTES[name] for name, value in (label.split("=") for label in basket))
    assert all((row[1:] > row[:-1]).all() for row in baskets.codes.reshape(300, 6))


def test_a_seed_decides_everything():
    assert census(200, seed=4) == census(200, seed=4)
    assert census(200, seed=4) != census(200, seed=5)


def test_there_are_about_as_many_frequent_patterns_as_agrawal_and_haritsa_count():
    """Recalled, not read again: 19, 102, 203, 165, 64 and 10 patterns of one to six items at 2 %."""
    counts = discreet.mine(census(), min_support="0.02").to_dict()
    sizes = Counter(map(len, counts))
    theirs = {1: 19, 2: 102, 3: 203, 4: 165, 5: 64, 6: 10}
    assert sizes.keys() == theirs.keys()
    assert all(abs(sizes[size] - pattern_count) <= 0.15 * pattern_count for size, pattern_count in theirs.items())


def test_misuse():
    with pytest.raises(MisuseError, match="people"):
        census(0)
