# internals: this module draws as many picks as the kernel has room for.
import itertools
import lzma
import os

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet
from discreet.baskets import _generate as generate, groceries, groceries_catalogue, groceries_rows, quest
from discreet.errors import InputError, MisuseError
from discreet.kernels import fill_baskets
from discreet.kernels._generate import MAX_PICKS
from discreet_lab.data.generators import QUEST_PRESETS, latent_groups
from naive.generate import fill_baskets as naive_fill_baskets


def check_rows(baskets):
    """Rows are sorted and unique, and every code is in the vocabulary."""
    ends = np.zeros(len(baskets.codes), dtype=bool)
    ends[baskets.offsets[1:-1][baskets.offsets[1:-1] < len(baskets.codes)]] = True
    assert np.all((np.diff(baskets.codes) > 0) | ends[1:])
    assert baskets.offsets[0] == 0
    assert baskets.offsets[-1] == len(baskets.codes)
    assert len(baskets.codes) == 0 or 0 <= baskets.codes.min() <= baskets.codes.max() < baskets.items


@given(
    seed=st.integers(0, 2**32),
    targets=st.lists(st.integers(0, 12), min_size=1, max_size=30),
    patterns=st.lists(st.lists(st.integers(0, 14), min_size=1, max_size=7, unique=True), min_size=1, max_size=8),
    data=st.data(),
)
def test_kernel_equals_its_twin(seed, targets, patterns, data):
    levels = data.draw(st.lists(st.floats(0, 1), min_size=len(patterns), max_size=len(patterns)), label="corruption")
    cumulative = np.arange(1, len(patterns) + 1) / len(patterns)
    offsets = np.cumsum([0] + [len(pattern) for pattern in patterns])
    codes = np.empty(sum(targets) + 7 * len(targets), dtype=np.int32)
    ends = fill_baskets(
        np.random.default_rng(seed),
        np.array(targets, dtype=np.int64),
        offsets,
        np.concatenate(patterns).astype(np.int32),
        cumulative,
        np.array(levels),
        np.full(15, -1, dtype=np.int64),
        codes,
    )
    rows = [codes[start:end].tolist() for start, end in itertools.pairwise(ends)]
    twin = naive_fill_baskets(np.random.default_rng(seed), targets, patterns, cumulative.tolist(), levels, MAX_PICKS)
    assert rows == twin


def test_quest_is_made_of_seed_and_arguments(monkeypatch):
    arguments = {"people": 3_000, "items": 200, "mean_size": 6, "mean_pattern": 3, "patterns": 50}
    # Small blocks, so that threads have something to share.
    monkeypatch.setattr(generate, "_BLOCK", 500)
    monkeypatch.setenv("DISCREET_THREADS", "1")
    generated = quest(**arguments, seed=3)
    monkeypatch.setenv("DISCREET_THREADS", "4")
    assert quest(**arguments, seed=3) == generated
    assert quest(**arguments, seed=4) != generated
    check_rows(generated)
    assert generated.people == 3_000
    assert list(generated.vocabulary) == list(range(200))
    assert generated.sizes.min() >= 1


@pytest.mark.statistical
def test_quest_sizes_have_the_mean_asked_for():
    # Baskets of 1 + Poisson(7) have a standard deviation of about 2.9, so the mean of 20,000 lies within
    # 0.1 of its own with five standard errors to spare: false alarms below 1e-5. The half-fit rule itself
    # shifts the mean by up to 3 %, hence the wider bound.
    baskets = quest(20_000, 500, mean_size=8, mean_pattern=3, seed=1)
    assert 7.7 < baskets.sizes.mean() < 8.3


def test_quest_patterns_are_bought_together():
    correlated = quest(5_000, 300, mean_size=6, mean_pattern=4, patterns=20, corruption=0.1, seed=1)
    independent = quest(5_000, 300, mean_size=6, mean_pattern=1, patterns=2_000, seed=1)
    assert highest_lift(correlated) > 10
    assert highest_lift(independent) < 5


def highest_lift(baskets):
    """The lift of the best pair among those that at least 2 % of the people hold."""
    holdings = np.zeros((baskets.people, baskets.items), dtype=np.float32)
    holdings[np.repeat(np.arange(baskets.people), baskets.sizes), baskets.codes] = 1
    pairs = holdings.T @ holdings
    counts = np.maximum(baskets.item_counts, 1)
    lift = pairs * baskets.people / np.outer(counts, counts)
    lift[(pairs < 0.02 * baskets.people) | np.eye(baskets.items, dtype=bool)] = 0
    return lift.max()


def test_quest_corruption_of_one_still_ends():
    baskets = quest(20, 50, mean_size=4, mean_pattern=2, patterns=1, corruption=1.0, correlation=0, seed=5)
    assert baskets.people == 20


def real_t10i4():
    from discreet_lab.data.datasets import path

    try:
        place = path("T10I4D100K")
    except InputError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
    with lzma.open(place, "rt") if place.suffix == ".xz" else place.open() as lines:
        return [np.array(line.split(), dtype=np.int64) for line in lines]


@pytest.mark.statistical
def test_quest_resembles_the_file_everyone_uses():
    # The seed is fixed. The tolerances were set after looking at ten other seeds, which all keep them; ranks before 20
    # and from 600 on are left out because they vary more (one of the ten was 21 % low at rank 600).
    generated = quest(**QUEST_PRESETS["T10I4D100K"], seed=1)
    rows = real_t10i4()
    sizes = np.array([len(row) for row in rows])
    counts = np.sort(np.bincount(np.concatenate(rows)))[::-1]
    made_counts = np.sort(generated.item_counts)[::-1]
    assert generated.people == len(rows)
    assert abs(generated.sizes.mean() - sizes.mean()) < 0.2
    assert abs(generated.sizes.var() - sizes.var()) < 1
    assert generated.sizes.min() == sizes.min() == 1
    assert abs(generated.sizes.max() - sizes.max()) <= 5
    assert abs((made_counts > 0).sum() - (counts > 0).sum()) < 50
    for rank in (20, 50, 100, 200, 300, 400, 500):
        assert 0.8 < made_counts[rank] / counts[rank] < 1.25, f"count of the item at rank {rank}"
    pattern_sizes, true_sizes = (
        discreet.mine(generated, min_support=0.001).sizes,
        discreet.mine(rows, min_support=0.001).sizes,
    )
    for size in (1, 2, 3, 4):
        assert 0.85 < (pattern_sizes == size).sum() / (true_sizes == size).sum() < 1.2, (
            f"patterns of {size} items at 0.1 %"
        )


@pytest.mark.statistical
def test_quest_presets_have_the_papers_sizes():
    # Fixed seed; six seeds gave means of 39.6 to 39.8 and 924 to 947 items in use.
    generated = quest(**QUEST_PRESETS["T40I10D100K"] | {"people": 20_000}, seed=2)
    assert abs(generated.sizes.mean() - 39.6) < 0.6
    assert abs((generated.item_counts > 0).sum() - 942) < 40
    generated = quest(**QUEST_PRESETS["svsm"] | {"people": 50_000}, seed=2)
    assert abs(generated.sizes.mean() - 5) < 0.1
    assert (QUEST_PRESETS["svsm"]["people"], QUEST_PRESETS["svsm"]["items"]) == (1_800_000, 1_000)
    # Six seeds gave 4,357 to 4,398 items in use with so few people; 4,411 are printed.
    generated = quest(**QUEST_PRESETS["fp-tree"] | {"people": 100_000}, seed=2)
    assert abs((generated.item_counts > 0).sum() - 4_380) < 40
    assert (QUEST_PRESETS["fp-tree"]["people"], QUEST_PRESETS["fp-tree"]["items"]) == (969_223, 5_000)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"people": 0}, "people is 0; it must be a whole number, 1 or more."),
        ({"patterns": 1.5}, "patterns is 1.5; it must be a whole number, 1 or more."),
        (
            {"mean_size": 30},
            "mean_size is 30; it must be between 1 and a fifth of the items (20): "
            "give more items or a smaller mean_size.",
        ),
        (
            {"mean_pattern": 0.5},
            "mean_pattern is 0.5; it must be between 1 and a fifth of the items (20): "
            "give more items or a smaller mean_pattern.",
        ),
        ({"correlation": 2}, "correlation is 2; it must be between 0 and 1."),
        ({"corruption": float("nan")}, "corruption is nan; it must be between 0 and 1."),
        ({"seed": -1}, "seed is -1; it must be a whole number, 0 or more: try seed=0."),
        ({"seed": None}, "seed is None; it must be a whole number, 0 or more: try seed=0."),
    ],
)
def test_quest_misuse(change, message):
    with pytest.raises(MisuseError) as caught:
        quest(**{"people": 10, "items": 100, "mean_size": 5, "mean_pattern": 2} | change)
    assert str(caught.value) == message


def test_latent_groups_hold_their_favourites_together():
    baskets = latent_groups(4_000, 60, groups=5, liked=6, liking=0.8, mean_background=1, seed=2)
    check_rows(baskets)
    assert baskets.people == 4_000
    assert baskets.items == 60
    # 30 favourites of 60 items: five cliques of six, each held by about a fifth of the people.
    assert highest_lift(baskets) > 2.5
    assert highest_lift(latent_groups(4_000, 60, groups=1, liked=60, liking=0.1, mean_background=0, seed=2)) == 0


def test_latent_groups_edges():
    separate_groups = latent_groups(50, 10, groups=1, liked=10, liking=1, mean_background=0)
    assert np.array_equal(separate_groups.sizes, np.full(50, 10))
    nothing = latent_groups(50, 10, groups=2, liking=0, mean_background=0)
    assert nothing.people == 50
    assert len(nothing.codes) == 0
    many_groups = latent_groups(2_000, 40, groups=4, memberships=3, liked=4, liking=1, mean_background=0, seed=1)
    assert set(np.unique(many_groups.sizes)) <= set(range(4, 13))
    assert (
        many_groups.sizes.mean() > latent_groups(2_000, 40, groups=4, liked=4, liking=1, mean_background=0).sizes.mean()
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": 0}, "groups is 0; it must be a whole number, 1 or more."),
        ({"liked": 11}, "liked is 11, but there are 10 items: give liked=10 or fewer."),
        ({"liking": -0.1}, "liking is -0.1; it must be between 0 and 1."),
        ({"mean_background": -1}, "mean_background is -1; it must be 0 or a positive number."),
    ],
)
def test_latent_groups_misuse(change, message):
    with pytest.raises(MisuseError) as caught:
        latent_groups(**{"people": 10, "items": 10, "groups": 2} | change)
    assert str(caught.value) == message


def test_catalogue_is_one_list_of_different_names():
    catalogue = groceries_catalogue()
    assert len(set(catalogue)) == len(catalogue)
    assert 150 <= len(catalogue) <= 200
    assert list(catalogue) == sorted(catalogue)
    liked = {product for habit in generate.read_shop()["habits"] for product in habit["products"]}
    assert liked <= set(catalogue)


def test_groceries_are_plausible():
    baskets = groceries(10_000, seed=1)
    check_rows(baskets)
    assert tuple(baskets.vocabulary) == groceries_catalogue()
    assert 5.5 < baskets.sizes.mean() < 6.5
    assert 0 < (baskets.sizes == 0).mean() < 0.06
    counts = dict(zip(groceries_catalogue(), baskets.item_counts.tolist(), strict=True))
    assert max(counts, key=counts.__getitem__) == "whole milk"
    basket_list = list(baskets)
    filters = [basket for basket in basket_list if "coffee filters" in basket]
    assert sum("ground coffee" in basket for basket in filters) / len(filters) > 0.6
    assert counts["ground coffee"] / 10_000 < 0.25
    assert groceries(10_000, seed=1) == baskets
    assert groceries(10_000, seed=2) != baskets


def test_products_nobody_holds_stay_in_the_vocabulary():
    baskets = groceries(5, seed=1)
    assert baskets.items == len(groceries_catalogue())
    assert (baskets.item_counts == 0).any()


def test_rows_are_the_same_groceries():
    baskets = groceries(300, seed=4)
    rows = groceries_rows(300, seed=4)
    assert rows.column_names == ["customer", "product", "time"]
    times = rows["time"].to_numpy()
    assert np.all(times[1:] >= times[:-1])
    people = rows["customer"].to_numpy()
    basket_sets = [set() for _ in range(300)]
    for person, item in zip(people.tolist(), rows["product"].to_pylist(), strict=True):
        basket_sets[person - 1].add(item)
    assert [frozenset(basket) for basket in basket_sets] == list(baskets)
    assert rows.num_rows == len(baskets.codes)
    assert max(len(set(times[people == person])) for person in range(1, 301)) <= 3
