"""The whole way: what a person changes in a file that is read changes nothing in what is saved but charged values."""

# internals: this module plants decisions that depend on unpaid data in resolving and running.
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from discreet.auditing import _whole as auditing
from discreet.auditing._whole import READERS, SEGMENTS, SUFFIXES, _cases, whole
from discreet.baskets import Vocabulary
from discreet.curator.mechanisms.count import Count
from discreet.curator.mechanisms.exponential import Exponential
from discreet.exact import LocalEngine
from discreet.privacy import Budget, Neighbours
from discreet.publish import Release, _resolving as resolving, _run as run
from discreet.registry import mechanisms

ADD_REMOVE, REPLACED = Neighbours.ADD_REMOVE, Neighbours.REPLACE
UNIT_BUDGET, LOOSE = Budget.of(1), Budget.of(1, "1/1000")


def check_whole(name):
    # Without a list of items where it takes a delta, which no other question covers.
    loose = mechanisms()[name].kind.delta is not False
    attempt = whole(mechanisms()[name].make(), LOOSE if loose else UNIT_BUDGET, ADD_REMOVE, 1)
    assert attempt.stands, (attempt.why, attempt.question, attempt.pair)
    assert 0.1 < attempt.loss <= 1
    return attempt


@pytest.mark.parametrize(("place", "name"), [*enumerate(mechanisms())])
def test_every_mechanism_stands(place, name, monkeypatch):
    """On every third pair of files; the next mechanism begins with the next pair, so that all are had."""
    monkeypatch.setattr(auditing, "_cases", lambda *given: list(_cases(*given))[place % 3 :: 3])
    assert check_whole(name).pairs >= 3


@pytest.mark.slow  # about 15 seconds for all of them
@pytest.mark.parametrize("name", mechanisms())
def test_every_mechanism_stands_on_every_pair(name):
    assert check_whole(name).stands


def test_one_person_in_place_of_another():
    attempt = whole(Count(), UNIT_BUDGET, REPLACED, 1)
    assert attempt.stands, attempt.why
    assert 0.1 < attempt.loss <= 1


def test_it_says_what_was_run():
    attempt = whole(Count(), UNIT_BUDGET, ADD_REMOVE, 1)
    assert (attempt.means, attempt.engine) == ("whole", LocalEngine.__name__)
    read_files, saved = (f"read from .{name}" for name in READERS), (f"saved as .{name}" for name in SUFFIXES)
    assert set(attempt.paths) == {*read_files, "all people", "by segment", *saved}
    assert attempt.pairs == len(list(_cases(Count(), UNIT_BUDGET, ADD_REMOVE)))
    assert attempt.tried.startswith(f"{attempt.pairs} pairs of files, ")
    cases = list(_cases(Exponential(), LOOSE, ADD_REMOVE))
    assert {case.reader for case in cases} == set(READERS)
    assert {case.segment for case in cases if case.by} > {SEGMENTS[1]}
    assert {case.has_list for case in cases} == {True, False}


def broken(mechanism=None, budget=UNIT_BUDGET, neighbours=ADD_REMOVE) -> str:
    attempt = whole(mechanism or Exponential(), budget, neighbours, 1)
    assert not attempt.stands
    return attempt.why


class TestPlanted:
    """What came out past the meter, in code that every release runs."""

    def test_an_item_that_one_person_holds_goes_along(self, monkeypatch):
        # X5: where items are found, the others of the data must not be in the vocabulary of the result.
        monkeypatch.setattr(run, "_drop_unused_items", lambda patterns: patterns)
        assert broken(budget=LOOSE).startswith("The two results differ in their items: ")

    def test_the_list_of_items_is_what_the_data_have(self, monkeypatch):
        # X5: the public list is widened by what occurs.
        right = resolving.resolve_items

        def widened(items, baskets):
            vocabulary, list_text = right(items, baskets)
            if vocabulary is None:
                return vocabulary, list_text
            extra_items = [item for item in baskets.vocabulary if item not in set(vocabulary)]
            return Vocabulary(sorted([*vocabulary, *extra_items], key=str)), list_text

        monkeypatch.setattr(resolving, "resolve_items", widened)
        assert broken()

    def test_segments_are_those_of_the_data(self, monkeypatch):
        right = resolving._resolve_segment_list
        monkeypatch.setattr(resolving, "_resolve_segment_list", lambda segments, values: right(sorted(values), values))
        message = (
            "There are releases of ['north', 'south'] for the one, and of ['hiv-clinic', 'north', 'south'] for the "
        )
        assert broken().startswith(message)

    @pytest.mark.parametrize("suffix", SUFFIXES)
    def test_a_file_says_how_many_were_read(self, monkeypatch, suffix):
        right, person_counts = Release.save, []

        def save_with_size(self, path, **options):
            right(self, path, **options)
            if path.suffix == f".{suffix}":
                with path.open("ab") as stream:
                    stream.write(b" " * (person_counts[-1] % 7))

        init_engine = LocalEngine.__init__

        def count_people(self, baskets):
            person_counts.append(len(baskets))
            init_engine(self, baskets)

        monkeypatch.setattr(LocalEngine, "__init__", count_people)
        monkeypatch.setattr(Release, "save", save_with_size)
        assert broken(Count()).startswith(f"The two results differ in their bytes of release.{suffix}: ")

    def test_a_reader_whose_labels_follow_one_person(self, monkeypatch):
        # A name among numbers makes a reader take all items for names. Right: compared as text with those of the list.
        right = resolving.recode_baskets

        def strict(baskets, vocabulary):
            if baskets.vocabulary.numeric != vocabulary.numeric:
                baskets = replace(baskets, offsets=baskets.offsets * 0, codes=baskets.codes[:0])
            return right(baskets, vocabulary)

        monkeypatch.setattr(resolving, "recode_baskets", strict)
        assert "one person moves the answer by " in broken(Count())


@pytest.mark.parametrize("name", ["{path}.extra", "{path}.{people}"])
def test_a_file_that_only_one_of_two_gets(name, monkeypatch):
    people = []
    answer, save = LocalEngine.__init__, Release.save

    def note_people(self, baskets):
        people[:] = [len(baskets)] if len(people) > 8 else [*people, len(baskets)]
        answer(self, baskets)

    def saved(self, path, **options):
        save(self, path, **options)
        if "people" in name or max(people) > 68:
            Path(name.format(path=path, people=max(people))).write_text("")

    monkeypatch.setattr(LocalEngine, "__init__", note_people)
    monkeypatch.setattr(Release, "save", saved)
    attempt = whole(Exponential(), UNIT_BUDGET, ADD_REMOVE, 1)
    assert not attempt.stands
    assert attempt.why.startswith("Only one of the two results has ")
