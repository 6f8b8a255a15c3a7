"""Names for codes: two films of one name stay two items, wherever they are shown."""

from __future__ import annotations

import pytest

import discreet
import running
from discreet import InputError, MisuseError
from discreet.baskets._naming import Names

FILMS = {"838": "Emma (1996)", "26887": "Emma (1996)", "1": "Toy Story", "51662": "300", "300": "Quiz Show"}
# Everyone in the first half has seen one Emma, everyone in the second half the other.
FILM_BASKETS = [{838, 1}] * 60 + [{26887, 1}] * 60 + [{51662, 300}] * 30
GENRES = {"838": "Comedy", "26887": "Drama", "1": "Children", "51662": "Action", "300": "Drama"}


def counts(patterns):
    return {"+".join(sorted(map(str, pattern.items))): pattern.count for pattern in patterns}


def test_codes_of_one_name_stay_apart():
    baskets = discreet.read(FILM_BASKETS, names=FILMS)
    assert list(baskets.vocabulary) == [
        "300 [51662]", "Emma (1996) [26887]", "Emma (1996) [838]", "Quiz Show", "Toy Story",
    ]  # fmt: skip
    found_counts = counts(discreet.mine(baskets, min_count=1, lengths=2))
    assert found_counts == {
        "Emma (1996) [838]+Toy Story": 60, "Emma (1996) [26887]+Toy Story": 60, "300 [51662]+Quiz Show": 30,
    }  # fmt: skip
    merged_baskets = discreet.read(FILM_BASKETS, names=FILMS, same_names="merge")
    assert counts(discreet.mine(merged_baskets, min_count=1, lengths=2))["Emma (1996)+Toy Story"] == 120
    # Whether the other code is in the data changes no label: that would tell.
    assert list(discreet.read(FILM_BASKETS[:60], names=FILMS).vocabulary) == ["Emma (1996) [838]", "Toy Story"]


def test_one_person_who_holds_both():
    baskets_with_both = [{838, 26887}] * 3
    assert discreet.read(baskets_with_both, names=FILMS).sizes.tolist() == [2, 2, 2]
    assert discreet.read(baskets_with_both, names=FILMS, same_names="merge").sizes.tolist() == [1, 1, 1]


def test_items_are_named_by_code_or_label():
    baskets = discreet.read(FILM_BASKETS, names=FILMS)
    for item in (838, "838", "Emma (1996) [838]"):
        assert counts(discreet.mine(baskets, min_count=1, contains=item, lengths=1)) == {"Emma (1996) [838]": 60}
        patterns = discreet.count(baskets, [[item]], epsilon=40, really=True).patterns
        assert [set(pattern.items) for pattern in patterns] == [{"Emma (1996) [838]"}]
        assert abs(patterns[0].count - 60) < 10
    assert counts(discreet.mine(baskets, itemsets=[[300], ["300 [51662]"]])) == {"Quiz Show": 30, "300 [51662]": 30}
    for refused in (
        lambda: discreet.mine(baskets, min_count=1, contains="Emma (1996)"),
        lambda: discreet.count(baskets, [["Emma (1996)"]], epsilon=1),
        lambda: discreet.release(baskets, top=1, epsilon=1, items=["Emma (1996)", "Toy Story"]),
    ):
        with pytest.raises(MisuseError) as raised:
            refused()
        assert str(raised.value) == (
            "'Emma (1996)' is the name of 2 items: say which one, 'Emma (1996) [838]' or 'Emma (1996) [26887]'."
        )


def test_a_hierarchy_may_be_of_codes():
    baskets = discreet.read(FILM_BASKETS, names=FILMS)
    found_counts = counts(discreet.mine(baskets, min_count=1, hierarchy=GENRES, level=1, lengths=1))
    assert found_counts == {"Children": 120, "Comedy": 60, "Drama": 90, "Action": 30}
    release = discreet.release(baskets, top=4, lengths=1, epsilon=90, really=True, hierarchy=GENRES, level=1)
    assert set(counts(release.patterns)) == {"Children", "Comedy", "Drama", "Action"}
    across = discreet.mine(baskets, min_count=1, hierarchy=GENRES)
    assert not any({"Emma (1996) [838]", "Comedy"} <= pattern.items for pattern in across)
    with pytest.raises(MisuseError, match="is the name of 2 items"):
        discreet.mine(baskets, min_count=1, hierarchy={"Emma (1996)": "Comedy"})


def test_devices_answer_for_named_items():
    baskets = discreet.read(FILM_BASKETS * 9, names=FILMS)
    patterns = discreet.simulate(baskets, top=3, epsilon=9, seed=1, hierarchy=GENRES, level=1).patterns
    assert set().union(*(pattern.items for pattern in patterns)) <= set(GENRES.values())
    plain = discreet.simulate(baskets, top=3, epsilon=9, seed=1).patterns
    assert set().union(*(pattern.items for pattern in plain)) <= set(baskets.vocabulary)


def test_releases_round_trips_and_pages(tmp_path):
    baskets = discreet.read(FILM_BASKETS, names=FILMS)
    release = discreet.release(baskets, top=8, epsilon=90, really=True, items=[838, 26887, 1, 51662, 300])
    assert "what 5 codes are called, as declared" in release.guarantee.public
    for form in ("csv", "json", "parquet"):
        release.save(tmp_path / f"r.{form}")
        assert discreet.load(tmp_path / f"r.{form}") == release.patterns
    page = release.report()
    for label in ("Emma (1996) [838]", "Emma (1996) [26887]"):
        assert label in page
        assert label in str(release.patterns)


def test_a_ledger_knows_data_by_their_codes(tmp_path):
    ledger = discreet.Ledger.create(tmp_path / "b.db", epsilon=10)
    question = {"top": 1, "epsilon": 1, "items": "public", "ledger": ledger}
    discreet.release(discreet.read(FILM_BASKETS), **question)
    discreet.release(discreet.read(FILM_BASKETS, names=FILMS), **question)
    assert [spend.changed for spend in ledger.spends()] == [False, False]


def test_order_and_pairs_are_kept():
    ordered = discreet.read([[838, 26887, 1]] * 9, names=FILMS, ordered=True)
    relations = discreet.relations(ordered, how="after", top=9)
    assert ["Emma (1996) [838]", "Emma (1996) [26887]"] in [
        [*rule.antecedent, *rule.consequent] for rule in relations
    ]  # fmt: skip
    rows = [{"who": person, "one": 838, "other": 1} for person in range(3)]
    pairs = discreet.read(rows, person="who", pair=("one", "other"), names=FILMS).pairs
    assert (pairs.first.tolist(), pairs.second.tolist()) == ([0, 0, 0], [1, 1, 1])


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "The names have no rows."),
        ([("1", "a"), ("1", "b")], "The code '1' is called 'a' and 'b': leave one out."),
        ([("", "a")], "The names have a row without a code."),
        ([("1", "a"), ("2", "a"), ("3", "a [1]")], "would both be shown as 'a [1]'"),
        ([("1",)], "The names have a row with one column."),
        ([(1.5, "a")], "The names hold float, where codes and names are text or whole numbers."),
    ],
)
def test_names_that_are_refused(names, message):
    with pytest.raises(InputError) as raised:
        Names.read(names)
    assert message in str(raised.value)


def test_options_that_are_refused():
    with pytest.raises(MisuseError, match="same_names says which items names stand for: give names= too"):
        discreet.read(FILM_BASKETS, same_names="merge")
    with pytest.raises(MisuseError, match="same_names is 'apart'"):
        discreet.read(FILM_BASKETS, names=FILMS, same_names="both")
    with pytest.raises(MisuseError, match="Baskets pass through as they are: give names= where they are read"):
        discreet.read(discreet.read(FILM_BASKETS), names=FILMS)
    with pytest.raises(InputError, match=r"There is no file none\.csv with names"):
        discreet.read(FILM_BASKETS, names="none.csv")
    with pytest.raises(
        InputError, match="An item of the data is not on the list of names, and its code is the name of another"
    ):
        discreet.read([{"Toy Story"}], names=FILMS)


def test_on_the_command_line(tmp_path):
    (tmp_path / "movies.csv").write_text(
        "movieId,title,genres\n" + "".join(f"{code},{name},{GENRES[code]}\n" for code, name in FILMS.items())
    )
    (tmp_path / "genres.csv").write_text("movieId,genre\n" + "".join(f"{c},{g}\n" for c, g in GENRES.items()))
    (tmp_path / "seen.dat").write_text("".join(" ".join(map(str, sorted(basket))) + "\n" for basket in FILM_BASKETS))
    (tmp_path / "wanted.txt").write_text("838,1\nEmma (1996) [26887]\n")

    def run(*command):
        completed = running.run(*command, "seen.dat", "--names", "movies.csv", "--format", "csv", cwd=tmp_path)
        assert completed.returncode == 0, completed.stderr
        return completed.stdout

    assert "Emma (1996) [838]; Toy Story" in run("mine", "--min-count", 1)
    assert "Emma (1996); Toy Story" in run("mine", "--min-count", 1, "--same-names", "merge")
    assert "Comedy" in run("mine", "--top", 3, "--hierarchy", "genres.csv", "--level", "genre")
    count_output = run("count", "--itemsets", "wanted.txt", "--epsilon", 1)
    assert "Emma (1996) [838]; Toy Story" in count_output
    released = run("release", "--top", 2, "--epsilon", 1, "--items", "public", "--report", "page.html")
    assert "Toy Story" in released
    assert (tmp_path / "page.html").is_file()
