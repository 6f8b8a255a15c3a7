import lzma
import os

import numpy as np
import pytest

from discreet.baskets import applets, cascades, groceries, quest, viewings
from discreet.errors import InputError, MisuseError
from discreet_lab.data import datasets
from discreet_lab.data.datasets import DATA_SETS, INFERRED, load, names, path, verify
from discreet_lab.data.generators import QUEST_PRESETS


def need(name):
    """Skip where a data set is not at hand; in CI it must be."""
    try:
        return path(name)
    except InputError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


def test_names_are_those_in_files_and_those_made():
    assert set(DATA_SETS) < set(names())
    assert {f"quest-{name}" for name in QUEST_PRESETS} < set(names())
    assert set(INFERRED) < set(names())
    assert len(set(names())) == len(names())


def test_parts_say_so_in_their_names():
    parts = {name for name, data_set in DATA_SETS.items() if data_set.part_of}
    assert parts == {"kosarak_100k", "BMS-POS_275k", "accidents_reduced"}


@pytest.mark.parametrize("name", sorted(DATA_SETS))
def test_files_are_what_the_table_says(name):
    need(name)
    verify(name)
    baskets = load(name)
    assert (baskets.people, int((baskets.item_counts > 0).sum())) == (
        DATA_SETS[name].people,
        DATA_SETS[name].items,
    )


@pytest.mark.parametrize(
    ("name", "largest", "mean"), [("BMS-WebView-1", 267, 2.5), ("BMS-WebView-2", 161, 4.6), ("BMS-POS_275k", 164, 6.6)]
)
def test_sizes_of_baskets(name, largest, mean):
    """Table 1 of 002, which has 5.0 for BMS-WebView-2, and 6.5 for the whole of BMS-POS."""
    need(name)
    sizes = np.diff(load(name).offsets)
    assert sizes.max() == largest
    assert round(float(sizes.mean()), 1) == mean


@pytest.mark.parametrize("name", ["OnlineRetail_events", "msnbc_seq", "ml-latest-small"])
def test_order_is_kept(name):
    need(name)
    assert load(name).sequences is not None


def test_items_keep_their_names():
    need("groceries")
    baskets = load("groceries")
    assert baskets[0] == {"citrus fruit", "semi-finished bread", "margarine", "ready soups"}


def test_a_file_is_resampled():
    need("chess")
    assert load("chess", people=5_000, seed=1).people == 5_000
    assert load("chess", people=50, seed=1) == load("chess", people=50, seed=1)
    assert load("chess", people=50, seed=1) != load("chess", people=50, seed=2)


def test_made_ones_are_made_as_large_as_asked_for():
    assert load("made-up-groceries", people=50, seed=3) == groceries(50, seed=3)
    settings = QUEST_PRESETS["T10I4D100K"] | {"people": 500}
    assert load("quest-T10I4D100K", people=500, seed=3) == quest(**settings, seed=3)
    assert load("latent-groups", people=200).people == 200
    assert load("made-up-groceries").people == 10_000


@pytest.mark.parametrize(
    ("name", "make"),
    [("made-up-applets", applets), ("made-up-cascades", cascades), ("made-up-viewings", viewings)],
)
def test_stand_ins_for_relations_are_made(name, make):
    assert load(name, people=50, seed=3) == make(50, seed=3)


def test_inferred_ones_say_so_and_are_drawn_from_another():
    need("OnlineRetail_words")
    assert all(name.startswith("inferred-") for name in INFERRED)
    whole_data, star = load("inferred-Retail"), load("inferred-Retail-star")
    assert (whole_data.people, whole_data.items, star.people, star.items) == (300_000, 2_603, 300_000, 2_595)
    assert whole_data == load("OnlineRetail_words", people=300_000)
    top = set(np.argsort(-whole_data.item_counts, kind="stable")[:8].tolist())
    gone = {whole_data.vocabulary.label(code) for code in top}
    assert not gone & set(star.vocabulary)
    assert all(star[person] == whole_data[person] - gone for person in range(200))
    assert int(star.item_counts.sum()) == int(whole_data.item_counts.sum() - whole_data.item_counts[sorted(top)].sum())
    assert load("inferred-Retail-star", people=40).people == 40


def test_an_inferred_one_has_no_file():
    with pytest.raises(MisuseError) as caught:
        path("inferred-Retail")
    assert str(caught.value) == (
        "The data set 'inferred-Retail' has no file: it is drawn from another. Use load('inferred-Retail')."
    )


def test_the_directory_named_comes_first(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_DATA", str(tmp_path))
    (tmp_path / "chess.dat").write_text("1 2\n\n2 3\n")
    assert path("chess") == tmp_path / "chess.dat"
    with pytest.raises(InputError) as caught:
        verify("chess")
    assert str(caught.value) == (
        f"{tmp_path / 'chess.dat'} is not the data set 'chess': its text has the SHA-256 "
        "c641f5f215e8e9e4fbeba2f96ad83e139c82e25d31a5696d6b383282f1987152, not "
        "341d0ff8676e053dd3b417d61f84c732736154f987ce56975a099b07460957f5. Get the file again."
    )


def test_a_missing_file_says_what_to_do(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "nowhere").mkdir()
    monkeypatch.setenv("DISCREET_DATA", str(tmp_path / "nowhere"))
    monkeypatch.chdir(tmp_path / "here")
    # The installed checkout may have its own data beside it, which this test must not find.
    monkeypatch.setattr(
        datasets, "__file__", str(tmp_path / "here" / "lab" / "src" / "discreet_lab" / "data" / "datasets.py")
    )
    with pytest.raises(InputError) as caught:
        load("kosarak_100k")
    assert str(caught.value) == (
        "The file kosarak_100k.dat.xz of the data set 'kosarak_100k' is not here. Looked in:\n"
        f"  {tmp_path / 'nowhere'}\n"
        f"  {tmp_path / 'shared' / 'data'}\n"
        "It comes from: clicks of a Hungarian news portal, F. Bodon; the FIMI repository "
        "(terms: none stated). "
        "It is part of kosarak: the first 100,000 of 990,002 people.\n"
        "Get it there, put it into a directory, compressed with xz or not, and set DISCREET_DATA to its path."
    )


def test_the_directory_named_must_be_there(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InputError) as caught:
        path("chess")
    assert str(caught.value) == (
        f"DISCREET_DATA is {tmp_path / 'nowhere'}, which is not a directory; set it to one, or unset it."
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DISCREET_DATA", "~/mine")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "chess.dat").write_text("1\n")
    assert path("chess") == tmp_path / "mine" / "chess.dat"


def test_a_file_cut_short_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_DATA", str(tmp_path))
    (tmp_path / "chess.dat.xz").write_bytes(lzma.compress(b"1 2\n" * 1000)[:-9])
    with pytest.raises(InputError) as caught:
        verify("chess")
    assert str(caught.value) == (
        f"{tmp_path / 'chess.dat.xz'} is damaged or cut short: its xz data cannot be unpacked; get the file again."
    )


def test_beside_the_current_directory(tmp_path, monkeypatch):
    monkeypatch.delenv("DISCREET_DATA", raising=False)
    monkeypatch.setattr(datasets, "__file__", str(tmp_path / "a" / "b" / "c" / "d" / "e" / "f" / "datasets.py"))
    (tmp_path / "here").mkdir()
    (tmp_path / "shared" / "data").mkdir(parents=True)
    (tmp_path / "shared" / "data" / "chess.dat.xz").write_bytes(b"")
    monkeypatch.chdir(tmp_path / "here")
    assert path("chess") == tmp_path / "shared" / "data" / "chess.dat.xz"


def test_misuse():
    with pytest.raises(MisuseError) as caught:
        load("kosarak")
    assert str(caught.value) == f"There is no data set 'kosarak'. There are: {', '.join(names())}."
    with pytest.raises(MisuseError) as caught:
        path("made-up-groceries")
    assert str(caught.value) == (
        "The data set 'made-up-groceries' has no file: it is made. Use load('made-up-groceries')."
    )
