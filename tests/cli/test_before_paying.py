"""What a curator is shown before anything is paid for, where it is shown, and what is refused unless it is meant."""

from __future__ import annotations

import json
import os

import pytest

import discreet
import running
from discreet import Ledger, MisuseError

NOTHING_HELD_MESSAGE = (
    "discreet: Nobody holds any item on the list: a release would spend the budget on noise. Nothing was spent. If it "
    "is really meant, say so with --really.\n"
)


@pytest.fixture
def shop(tmp_path):
    rows = [f"{person},{product}" for person in range(300) for product in ("tea", "milk", "bread")[: 1 + person % 3]]
    (tmp_path / "sales.csv").write_text("\n".join(["customer,product", *rows, "7,secret"]) + "\n")
    (tmp_path / "products.txt").write_text("tea\nmilk\nbread\njam\n")
    (tmp_path / "upper.txt").write_text("TEA\nMILK\nBREAD\nJAM\n")
    (tmp_path / "columns.txt").write_text('"1,tea"\n"2,milk"\n"3,bread"\n')
    Ledger.create(tmp_path / "budget.db", epsilon=2)
    return tmp_path


def release_command(*options, swapped=False):
    person, item = ("product", "customer") if swapped else ("customer", "product")
    return ["release", "sales.csv", "--person", person, "--item", item, "--top", "2", "--epsilon", "1",
            "--ledger", "budget.db", *options]  # fmt: skip


def run(folder, *arguments):
    completed = running.run(*arguments, cwd=folder)
    return completed.returncode, completed.stdout, completed.stderr


def at_terminal(folder, *arguments, **environment):
    """Run with standard error on a terminal: exit status, standard output, and what the terminal showed."""
    env = {name: value for name, value in os.environ.items() if name != "CI"} | {"TERM": "dumb", "COLUMNS": "200"}
    completed = running.run(*arguments, cwd=folder, env=env | environment, terminal=True)
    return completed.returncode, completed.stdout, completed.stderr


def spends(folder):
    return len(Ledger.open(folder / "budget.db").spends())


@pytest.mark.parametrize(
    ("item_list", "hint"),
    [
        ("upper.txt", "The case of letters differs: without that, some would match."),
        ("columns.txt", "Its lines have several columns: give a list with one item per line."),
    ],
)
def test_a_list_that_meets_nothing_burns_no_budget(shop, item_list, hint):
    assert run(shop, *release_command("--items", item_list)) == (1, "", NOTHING_HELD_MESSAGE)
    status, output, terminal_text = at_terminal(shop, *release_command("--items", item_list))
    assert (status, output, spends(shop)) == (1, "", 0)
    assert "Read 300 people and 4 items.\n" in terminal_text
    assert f"a release would spend the budget on noise. {hint}\n" in terminal_text
    quiet = {"CI": "true", "JPY_PARENT_PID": "7"}
    for name, value in quiet.items():
        assert "Read 300" not in at_terminal(shop, *release_command("--items", item_list), **{name: value})[2]
    status, output, err = run(shop, *release_command("--items", item_list, "--really"))
    assert (status, spends(shop)) == (0, 1)
    assert "Nobody holds" not in output + err


def test_swapped_columns_are_seen_before_paying(shop):
    status, _, terminal_text = at_terminal(shop, *release_command("--items", "products.txt", swapped=True))
    assert (status, spends(shop)) == (1, 0)
    assert "Read 4 people and 300 items.\nOf 4 items on the list, 0 occur.\n" in terminal_text
    assert "were the columns of person and item not taken for one another?" in terminal_text


def test_a_release_tells_the_terminal_alone(shop):
    status, output, terminal_text = at_terminal(shop, *release_command("--items", "products.txt"))
    assert status == 0
    # A slow machine shows a bar before it, which leaves an empty line behind.
    first_line, second, third = [
        line for line in terminal_text.splitlines() if line.startswith(("Read", "Of", "Expect"))
    ][:3]
    assert (first_line, second) == ("Read 300 people and 4 items.", "Of 4 items on the list, 3 occur.")
    assert third.startswith("Expect about 2 patterns, with counts off by ± ")
    assert third.endswith(" people or less for half of them.")
    assert "Read" not in output  # an estimate may well be "about 300 people"
    quiet = run(shop, *release_command("--items", "products.txt", "--format", "json"))
    assert quiet[0] == 0
    assert "Read" not in quiet[1] + quiet[2]
    assert "secret" not in output + quiet[1] + quiet[2]


def test_a_dry_run_shows_the_same_and_spends_nothing(shop):
    status, output, terminal_text = at_terminal(shop, *release_command("--items", "upper.txt", "--dry-run"))
    assert (status, spends(shop)) == (0, 0)
    assert "Of 4 items on the list, 0 occur." in terminal_text
    assert "counting the people" in output
    assert "occur" not in output
    assert "occur" not in "".join(map(str, run(shop, *release_command("--items", "upper.txt", "--dry-run"))))


def test_python_looks_when_it_is_asked_to_and_never_refuses_by_what_people_hold():
    baskets = [{"tea", "milk"}] * 60
    look = discreet.preview(baskets, top=2, epsilon=1, items=["TEA", "JAM"])
    assert (look.people, look.items, look.listed_items, look.matched_items) == (60, 2, 2, 0)
    assert str(look).endswith("Nothing was spent. For your eyes: not private.")
    assert len(discreet.release(baskets, top=2, epsilon=1, items=["TEA", "JAM"])) == 2
    assert len(discreet.release([], top=2, epsilon=1, items=["TEA", "JAM"])) == 2
    public = discreet.preview(baskets, top=2, epsilon=1, items="public")
    assert (public.listed_items, public.matched_items, public.hint) == (None, None, "")
    preview_text = discreet.preview(baskets, top=2, epsilon=1, delta="1e-6")
    assert (preview_text.listed_items, preview_text.matched_items) == (None, None)
    list_preview = discreet.preview(baskets, [{"tea"}, {"jam"}], epsilon=1)
    assert (list_preview.listed_items, list_preview.matched_items, list_preview.mechanism) == (
        2,
        1,
        "count",
    )
    bare = discreet.preview(baskets, top=1, epsilon=1, items="public", counts=False)
    assert bare.margin is None


def test_what_to_expect_is_about_what_comes():
    baskets = [{"tea", "milk"}] * 900 + [{"tea"}] * 300
    look = discreet.preview(baskets, top=3, epsilon=1, items="public", mechanism="exponential")
    patterns = discreet.release(baskets, top=3, epsilon=1, items="public", mechanism="exponential").patterns
    assert look.expected_patterns == len(patterns) == 3
    # The count of tea may be reconciled with the number of people; 900 of 1,200 are 18 margins below it.
    assert look.margin == pytest.approx(float((patterns.high - patterns.counts)[-1]), abs=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epsilon", "21"], "epsilon is at most 20: an epsilon of 21 lets"),
        (["--epsilon", "1", "--delta", "0.01"], "delta is at most 0.001: with a delta of 0.01"),
        (["--epsilon", "1", "--delta", "0.0009", "--people", "300"], None),
        (["--epsilon", "1", "--delta", "0.0009", "--people", "3000"], "delta is at most one over the number of people"),
        (["--epsilon", "1_0"], "epsilon is a number such as 1, 0.5 or 1/3; 1_0 was given."),
    ],
)
def test_absurd_promises_on_the_command_line(shop, arguments, message):
    words = [
        "release",
        "sales.csv",
        "--person",
        "customer",
        "--item",
        "product",
        "--top",
        "2",
        "--items",
        "products.txt",
    ]
    status, _, err = run(shop, *words, *arguments)
    assert (status, message is None or message in err) == (0 if message is None else 1, True), err
    if message is not None and "1_0" not in message:
        assert "say so with --really" in err
        assert run(shop, *words, *arguments, "--really")[0] == 0


def test_segments_are_public_by_declaration_alone(shop):
    rows = [f"{person},tea,{'hiv-clinic' if person == 7 else 'north'}" for person in range(90)]
    (shop / "by.csv").write_text("\n".join(["customer,product,where", *rows]) + "\n")
    (shop / "where.txt").write_text("north\nsouth\n")
    words = ["release", "by.csv", "--person", "customer", "--item", "product", "--by", "where", "--top", "1",
             "--epsilon", "1", "--items", "products.txt", "--ledger", "budget.db", "-o", "out.json"]  # fmt: skip
    status, output, err = run(shop, *words)
    assert (status, output, spends(shop)) == (1, "", 0)
    assert "Segments that few people are in would give them away by their names." in err
    assert "hiv-clinic" not in err
    for options in (["--segment", "north", "--segment", "south"], ["--segments", "where.txt"]):
        assert run(shop, *words, *options)[0] == 0
        assert sorted(path.name for path in shop.glob("out-*")) == ["out-north.json", "out-south.json"]
    ledger_text = json.dumps([spend.to_dict() for spend in Ledger.open(shop / "budget.db").spends()])
    assert "hiv-clinic" not in ledger_text
    assert run(shop, *words, "--segments", "public")[0] == 1  # the budget is spent
    assert run(shop, *words[:-4], "--segments", "public", "--format", "json")[0] == 0
    assert "not by both" in run(shop, *words, "--segments", "public", "--segment", "north")[2]


def test_labels_of_a_ranking_are_public_by_declaration_alone():
    scores = {"north": 50, "hiv-clinic": 1}
    with pytest.raises(MisuseError, match=r"A ranking needs sensitivity\."):
        discreet.rank(scores, top=1, epsilon=1, labels="public")
    with pytest.raises(MisuseError, match="A label that few people have to do with would give them away"):
        discreet.rank(scores, top=1, epsilon=1, sensitivity=1)
    ranking = discreet.rank(scores, top=2, epsilon=1, sensitivity=3, monotone=True, labels=["north", "south"])
    assert set(ranking.labels) == {"north", "south"}
    assert ranking.guarantee.assumed == (
        "one person changes no score by more than 3, and one person more never lowers a score, or never raises one",
    )
    assert "It rests on what was declared: one person changes no score by more than 3" in ranking.guarantee.in_words()


def test_a_reworded_text_leaks_no_item(monkeypatch):
    # What is shown of a question must decide nothing: items that no pattern has stay out of every result.
    from discreet.publish import Question

    monkeypatch.setattr(Question, "record", {"items": "otherwise"})
    baskets = [{"tea", "milk"}] * 500 + [{"secret"}]
    for mechanism in ("auto", "threshold"):
        release = discreet.release(baskets, top=3, epsilon=1, delta="1e-6", mechanism=mechanism)
        assert "secret" not in release.patterns.vocabulary


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mine", "sales.csv", "--top", "1_0"], "'1_0' is not a whole number."),
        (["mine", "sales.csv", "--top", "٣"], "'٣' is not a whole number."),
        (["rules", "sales.csv", "--min-count", "3", "--min-confidence", "0_1"], "'0_1' is not a number."),
        (["ledger", "create", "b.db", "--epsilon", "50"], "epsilon is at most 20"),
    ],
)
def test_numbers_are_digits_and_ledgers_are_serious(shop, arguments, message):
    status, _, err = run(shop, *arguments)
    assert status in (1, 2)
    assert message in " ".join(err.replace("│", " ").split())


def test_a_ledger_may_be_made_for_a_promise_that_is_really_meant(shop):
    assert run(shop, "ledger", "create", "b.db", "--epsilon", "50", "--really")[0] == 0


def test_segments_that_meet_nobody_burn_no_budget(shop):
    rows = [f"{person},tea,{'north' if person % 2 else 'south'}" for person in range(90)]
    (shop / "by.csv").write_text("\n".join(["customer,product,where", *rows]) + "\n")
    words = ["release", "by.csv", "--person", "customer", "--item", "product", "--by", "where", "--top", "1",
             "--epsilon", "1", "--items", "products.txt", "--ledger", "budget.db"]  # fmt: skip
    status, _, err = run(shop, *words, "--segment", "North", "--segment", "South")
    assert (status, spends(shop)) == (1, 0)
    assert err.startswith("discreet: Nobody is in any segment on the list: a release would spend the budget on noise.")
    _, _, terminal_text = at_terminal(shop, *words, "--segment", "north", "--segment", "South", "--dry-run")
    assert "45 of them are in none of the segments that are listed, and are left out." in terminal_text


def test_labels_that_meet_nothing_burn_no_budget(shop):
    (shop / "scores.csv").write_text("page,visitors\nhome,50\nshop,20\n")
    (shop / "upper.txt").write_text("HOME\nSHOP\n")
    words = ["rank", "scores.csv", "--label", "page", "--score", "visitors", "--top", "1", "--epsilon", "1",
             "--sensitivity", "1", "--ledger", "budget.db", "--labels", "upper.txt"]  # fmt: skip
    status, _, err = run(shop, *words)
    assert (status, spends(shop)) == (1, 0)
    assert "No label on the list has a score" in err
    assert run(shop, *words, "--really")[0] == 0


def test_a_ranking_of_nothing_and_labels_as_numbers_or_text():
    ranking = discreet.rank({}, top=1, epsilon=1, sensitivity=1, labels=["a", "b"])
    assert set(ranking.labels) <= {"a", "b"}
    number_ranking = discreet.rank({1: 0, 2: 9000}, top=1, epsilon=1, sensitivity=1, labels=["1", "2"])
    assert number_ranking.labels == ("2",)  # wrong with a probability below e^-2000


@pytest.mark.parametrize(
    ("item_list", "hint"),
    [
        (["tea ", "milk "], "There are spaces around names: without them, some would match."),
        (["TEA"], "The case of letters differs: without that, some would match."),
        (["1;tea"], "Its lines have several columns: give a list with one item per line."),
    ],
)
def test_hints(item_list, hint):
    assert discreet.preview([{"tea", "milk"}] * 9, top=1, epsilon=1, items=item_list).hint.endswith(hint)


def test_a_preview_takes_what_a_release_takes(shop):
    look = discreet.preview(shop / "sales.csv", person="customer", item="product", top=2, epsilon=1, items="public",
                            ledger=shop / "budget.db", who="me")  # fmt: skip
    assert (look.people, spends(shop)) == (300, 0)
    assert discreet.preview([{"a"}], top=1, epsilon=1, items=["a"]).margin >= 1
