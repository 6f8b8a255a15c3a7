"""A question as a value: what it keeps, as what files have it, and how it is asked again."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from dataclasses import FrozenInstanceError, fields, replace
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

import discreet
from discreet import InputError, MisuseError
from discreet.publish import Question, question_fields
from discreet.publish._question import MOST_LISTED
from questions import case
from running import run

SHOP = [{"tea", "milk"}] * 600 + [{"bread"}] * 300
ITEMS = ["bread", "milk", "tea"]
NAMES = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=8)


class TestValue:
    def test_keeps_what_values_mean(self):
        question = Question(
            min_support=0.07,
            epsilon="0.5",
            delta=1e-6,
            lengths=(2, None),
            contains="tea",
            items=iter(ITEMS),
            people=900,
        )
        assert (question.min_support, question.epsilon, question.delta) == (
            Fraction(7, 100),
            Fraction(1, 2),
            Fraction(1, 10**6),
        )
        assert (question.min_length, question.max_length, question.contains) == (2, None, ("tea",))
        assert question.items == tuple(ITEMS)

    def test_never_changes(self):
        question = Question(top=3, epsilon=1)
        with pytest.raises(FrozenInstanceError):
            question.top = 4
        assert question == Question(top=3, epsilon="1")
        assert question.changed(min_count=7) == Question(min_count=7, epsilon=1)
        assert question.changed(epsilon=2) == replace(question, epsilon=2)

    def test_travels_unchanged(self):
        question = Question(top=2, epsilon=1, items=ITEMS, excludes=["bread"])
        assert case(SHOP, top=2, epsilon=1, items=ITEMS, excludes=["bread"]).question == question

    def test_lengths_as_text(self):
        for text, pair in (("3", (3, 3)), ("2-4", (2, 4)), ("2-", (2, None)), (" 2 - 4 ", (2, 4))):
            assert Question(top=3, epsilon=1, lengths=text).lengths == pair
        for text in ("4-2", "0", "-3", "two", "2-x", ""):
            with pytest.raises(MisuseError, match="lengths is how many items"):
                Question(top=3, epsilon=1, lengths=text)

    def test_budget_is_needed(self):
        with pytest.raises(MisuseError) as refused:
            Question(top=3)
        assert refused.value.message.typed == "Say how much may be lost: --epsilon 1 is usual, less protects more."

    def test_every_field_says_what_it_is(self):
        assert {field.name for field in fields(Question)} == {field.name for field, _ in question_fields(Question)}
        for field, words in question_fields(Question):
            assert words.help.python.endswith("."), field.name
            assert words.help.typed.endswith("."), field.name
            assert f"    {field.name}\n" in Question.__doc__


QUESTIONS = st.builds(
    lambda wanted, lengths, items, contains, excludes, delta, more: Question(
        **wanted, **more, lengths=lengths, items=items, contains=contains, excludes=excludes, epsilon=1, delta=delta
    ),
    st.sampled_from([{"top": 20}, {"min_support": "1/3"}, {"min_count": 5}, {"itemsets": [["tea"], ["a b", "c\x7f"]]}]),
    st.sampled_from([None, 2, (1, 3), (2, None)]),
    st.one_of(st.none(), st.just("public"), st.integers(1, 99), st.lists(NAMES, min_size=1, max_size=4)),
    st.lists(NAMES, max_size=2),
    st.lists(st.integers(0, 9), max_size=2),
    st.sampled_from([0, "1e-6", "0.0001"]),
    st.sampled_from(
        [
            {},
            {"settings": {"selecting": "0.3"}, "mechanism": "exponential"},
            {"neighbours": "replace", "counts": False},
            {"hierarchy": {"tea": "drinks", "ale": "drinks"}, "level": 1},
            {"by": "region", "segments": ["north", "süd 🌲"]},
            {"by": "region", "segments": "public", "max_baskets": 4},
        ]
    ),
)


class TestFile:
    @given(QUESTIONS)
    def test_comes_back_from_toml_and_json(self, question):
        assert Question.from_dict(tomllib.loads(question.to_toml(), parse_float=str)) == question
        assert Question.from_dict(json.loads(json.dumps(question.to_dict()))) == question

    @pytest.mark.parametrize("name", ["monthly.toml", "monthly.json"])
    def test_is_read(self, tmp_path, name):
        question = Question(top=2, epsilon="0.5", items=ITEMS, excludes=["bread"])
        path = tmp_path / name
        path.write_text(json.dumps(question.to_dict()) if name.endswith("json") else question.to_toml())
        assert Question.from_file(path) == question
        assert Question.from_file(path, min_count=9, epsilon=2) == question.changed(min_count=9, epsilon=2)

    def test_names_files_beside_it(self, tmp_path):
        (tmp_path / "items.txt").write_text("bread\nmilk\ntea\n")
        (tmp_path / "levels.csv").write_text("item,above\ntea,drinks\nmilk,drinks\n")
        (tmp_path / "q.toml").write_text('top = 2\nepsilon = 0.5\nitems = "items.txt"\nhierarchy = "levels.csv"\n')
        question = Question.from_file(tmp_path / "q.toml")
        assert question.items == tuple(ITEMS)
        assert question.hierarchy.parents == {"tea": "drinks", "milk": "drinks"}
        assert question.epsilon == Fraction(1, 2)

    def test_has_long_lists_by_their_digest(self, tmp_path):
        items = [f"item {place}" for place in range(MOST_LISTED + 1)]
        question, path = Question(top=2, epsilon=1, items=items), tmp_path / "q.toml"
        path.write_text(question.to_toml())
        assert path.stat().st_size < 300
        assert Question.from_file(path, items=reversed(items)).items == tuple(reversed(items))
        with pytest.raises(
            MisuseError, match=r"a list of 1001 items, which is too long to be in it: give it by items="
        ):
            Question.from_file(path)
        with pytest.raises(MisuseError, match="its digest differs"):
            Question.from_file(path, items=[*items[1:], "another"])

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("top = 3\nepsilom = 1\n", r"'epsilom', which is no field of a question: did you mean epsilon\?$"),
            ("top = 3\nxyz = 1\n", "which is no field of a question; it may have top, "),
            ("top = \n", "is not written as a question is: "),
            ("\udcff", "cannot be read as a question: "),
            ("", "Say how much may be lost"),
            ("epsilon = 1\n", "exactly one of top"),
        ],
    )
    def test_says_what_is_wrong(self, tmp_path, text, message):
        path = tmp_path / "q.toml"
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        with pytest.raises((InputError, MisuseError), match=message):
            Question.from_file(path)
        with pytest.raises(InputError, match="There is no file"):
            Question.from_file(tmp_path / "absent.toml")
        (tmp_path / "q.json").write_text("[1]")
        with pytest.raises(InputError, match="an object of fields"):
            Question.from_file(tmp_path / "q.json")


class TestAsked:
    def test_by_release(self):
        question = Question(top=2, epsilon=5, items=ITEMS)
        release = discreet.release(SHOP, question)
        assert (len(release.patterns), release.question) == (2, {"top": 2, "items": 3})
        assert discreet.release(SHOP, question, min_count=100, epsilon=1).question == {"min_count": 100, "items": 3}
        assert discreet.preview(SHOP, question=question).listed_items == 3

    def test_for_itemsets(self):
        release = discreet.release(SHOP, Question(itemsets=[["tea"], ["milk", "tea"]], epsilon=5))
        assert (release.mechanism, release.question, len(release.patterns)) == ("count", {"itemsets": 2, "items": 2}, 2)

    def test_for_segments(self):
        regions = ["north"] * 600 + ["south"] * 300
        table = {
            "region": [region for region, basket in zip(regions, SHOP, strict=True) for _ in basket],
            "person": [str(place) for place, basket in enumerate(SHOP) for _ in basket],
            "item": [item for basket in SHOP for item in sorted(basket)],
        }
        question = Question(top=1, epsilon=5, items=ITEMS, by="region", segments=["north", "south"])
        releases = discreet.release_by(table, question=question, person="person", item="item")
        assert {name: release.question["segment"] for name, release in releases.items()} == {
            "north": "north",
            "south": "south",
        }
        with pytest.raises(MisuseError, match=r"one release per segment: ask it by release_by\(\)"):
            discreet.release(table, question, person="person", item="item")
        with pytest.raises(MisuseError, match="by is the name of a column in a question"):
            Question(top=1, epsilon=1, by=regions)

    def test_on_the_command_line(self, tmp_path):
        (tmp_path / "shop.jsonl").write_text("".join(f"{json.dumps(sorted(basket))}\n" for basket in SHOP))
        arguments = [
            "--top",
            "2",
            "--epsilon",
            "5",
            "--excludes",
            "bread",
            "--items",
            "items.txt",
            "--set",
            "selecting=0.3",
        ]
        (tmp_path / "items.txt").write_text("bread\nmilk\ntea\n")
        printed = run("release", *arguments, "--mechanism", "exponential", "--print-question", cwd=tmp_path, check=True)
        (tmp_path / "monthly.toml").write_text(printed.stdout)
        assert Question.from_file(tmp_path / "monthly.toml") == Question(
            top=2, epsilon=5, excludes=["bread"], items=ITEMS, mechanism="exponential", settings={"selecting": "0.3"}
        )
        repeated_arguments = ["--question", "monthly.toml", "--lengths", "1", "-o", "made.json"]
        run("release", "shop.jsonl", *repeated_arguments, cwd=tmp_path, check=True)
        question = discreet.load(tmp_path / "made.json").provenance.question
        assert question == {"top": 2, "excludes": ["bread"], "lengths": 1, "items": 3}
        wrong = run("release", "shop.jsonl", "--question", "items.txt", cwd=tmp_path)
        assert (wrong.returncode, "items.txt is not written as a question is" in wrong.stderr) == (1, True)

    def test_itemsets_on_the_command_line(self, tmp_path):
        (tmp_path / "shop.jsonl").write_text("".join(f"{json.dumps(sorted(basket))}\n" for basket in SHOP))
        (tmp_path / "wanted.txt").write_text("tea\nmilk, tea\n")
        arguments = ["--itemsets", "wanted.txt", "--epsilon", "5", "--print-question"]
        printed = run("count", "shop.jsonl", *arguments, cwd=tmp_path, check=True)
        (tmp_path / "q.toml").write_text(printed.stdout)
        for command in ("count", "release"):
            run(command, "shop.jsonl", "--question", "q.toml", "-o", f"{command}.json", cwd=tmp_path, check=True)
            assert len(discreet.load(tmp_path / f"{command}.json")) == 2


def test_questions_load_without_numpy():
    """The command line makes its options of the fields of questions, and has to start at once."""
    code = "import sys, discreet.publish._other_questions; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
