"""Questions from somebody hostile: every one is refused, or answered within the limits, after bounded work."""

from __future__ import annotations

import copy
import json
from collections import Counter
from random import Random
from secrets import token_bytes
from typing import Any

import pytest

from discreet.local.device import MOST_REPORT, client
from faults.mutating import mutants
from vectors.reading import FOLDER, cases

# Values that no honest collector writes into a field.
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 53) - 1, 1 << 53, 1 << 64, -(1 << 63),
    10**400, 0.5, float("nan"), float("inf"), "", "0", "1", "-1", "1/0", "1/3", "1e9", "0." + "0" * 99 + "1", "9" * 100,
    "9" * 101, "18446744073709551616", "grr", "olh", "hm", "which", "prefix", "given", "after", "\x00", "١", [], {},
    [[]], [[[[]]]], [0], [0, 0], [[0, 1]], [1 << 40], ["0"], list(range(1000)), {"oracle": "grr"}, {"oracle": {}},
)  # fmt: skip
LONGEST = 400  # letters of a message
MOST_RANDOM = 1 << 24  # bytes: a device takes about a million words at most; whatever else goes on for ever, times out
BASKET = [0, 1, 2, 5, 9, 1000, 1 << 40]
PAIRS = [(0, 1), (1, 2), (5, 9), (2, 0)]


def answerable_questions() -> list[dict[str, Any]]:
    """Return every different question of the vectors that a device answers."""
    questions_by_text: dict[str, dict[str, Any]] = {}
    for path in sorted(FOLDER.glob("*.json")):
        for case in cases(path.stem):
            if "report" in case and "question" in case:
                text = json.dumps(case["question"])
                if len(text) < 20_000:
                    questions_by_text[text] = case["question"]
    return list(questions_by_text.values())


def changed(question: dict[str, Any], chance: Random) -> Any:
    """Return a question with a few fields changed, taken out, swapped or put in."""
    mutant: Any = copy.deepcopy(question)
    for _ in range(chance.choice((1, 1, 2, 3))):
        places = list(_places(mutant))
        if not places:
            return mutant
        container, key = chance.choice(places)
        kind = chance.randrange(4)
        if kind == 0:
            container[key] = copy.deepcopy(chance.choice(VALUES))
        elif kind == 1:
            del container[key]
        elif kind == 2:
            source, place = chance.choice(places)
            container[key] = copy.deepcopy(source[place])
        elif isinstance(container[key], int):
            container[key] += chance.choice((-1, 1, 1 << 20, -container[key]))
        else:
            container[key] = [container[key]]
    return mutant


def _places(value: Any) -> Any:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield value, key
            yield from _places(inner)


def answered(question: Any) -> str:
    """Put a question to a device; return the outcome."""
    taken_bytes = 0

    def take(count: int) -> bytes:
        nonlocal taken_bytes
        taken_bytes += count
        assert taken_bytes <= MOST_RANDOM, "a device that is kept busy"
        return token_bytes(count)

    try:
        report = client(question, BASKET, max_epsilon=64, max_delta="0.001", given=PAIRS, after=PAIRS, take=take)
    except ValueError as error:
        return "refused" if len(str(error)) < LONGEST else "refused at length"
    assert len(report) <= MOST_REPORT
    assert isinstance(json.loads(report), dict)
    return "answered"


def ask_all(questions: list[Any]) -> tuple[Counter[str], list[str]]:
    """Return the number of questions by outcome, and the messages of outcomes that are not allowed."""
    outcomes: Counter[str] = Counter()
    wrong: list[str] = []
    for question in questions:
        try:
            outcomes[answered(question)] += 1
        except Exception as error:
            wrong.append(f"{question!r:.600}: {error!r:.200}")
    return outcomes, wrong


@pytest.fixture(params=[300, pytest.param(20_000, marks=[pytest.mark.slow, pytest.mark.timeout(3600)])])
def mutant_count(request) -> int:
    number: int = request.param
    return number


def test_fields(mutant_count):
    chance, questions = Random(16), answerable_questions()
    assert len(questions) > 20
    outcomes, wrong = ask_all([changed(chance.choice(questions), chance) for _ in range(mutant_count)])
    assert wrong == []
    assert set(outcomes) == {"refused", "answered"}
    print(dict(outcomes))


def test_texts(mutant_count):
    chance, questions = Random(17), answerable_questions()
    forms = [
        form
        for number in range(mutant_count // 10)
        for form in mutants(json.dumps(chance.choice(questions)).encode(), number, 10)
    ]
    outcomes, wrong = ask_all(forms)
    assert wrong == []
    assert set(outcomes) <= {"refused", "answered"}
    print(dict(outcomes))


def test_fields_as_text(mutant_count):
    """What `json.dumps` writes of an odd value, not a number included, is no better for having been a text."""
    chance, questions = Random(18), answerable_questions()
    outcomes, wrong = ask_all([json.dumps(changed(chance.choice(questions), chance)) for _ in range(mutant_count)])
    assert wrong == []
    assert set(outcomes) <= {"refused", "answered"}
    print(dict(outcomes))
