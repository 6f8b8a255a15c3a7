"""Write the golden vectors of wire format 1: `python tests/vectors/make.py`.

They are frozen: a difference means that devices in the field and collectors would no longer understand each other, so
the format's number has to change with them. A good case is a question, a basket, the random bytes the device uses
(hexadecimal) and the report as text. A bad one is a question with the words a device refuses it with. `docs/wire.md`
says how the files are read; `tests/vectors/reading.py` reads them.
"""

# internals: this module writes vectors at the limits of the wire format.
from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.exact import How
from discreet.local.device import (
    ANSWERS,
    MOST_CELLS,
    MOST_NUMBERS,
    MOST_QUESTION,
    MOST_REPORT,
    MOST_SYMBOLS,
    MOST_TEXT,
    OWN,
    WORD,
    Draws,
    client,
    count_space_points,
    draw_basket,
)
from discreet.local.device._answering import MOST_HELD, MOST_SYMBOLS_HELD
from discreet.local.device._choosing import MOST_BASKETS
from discreet.local.device._limits import (
    MOST_DIGITS,
    MOST_EPSILON,
    MOST_ITEM,
    MOST_MET,
    MOST_POINTS,
    MOST_RANGE,
    MOST_SHARE,
    MOST_SUBSET,
    MOST_WEIGHT,
)
from discreet.local.oracle_steps import means, oracles
from discreet.local.oracles import OLH
from discreet.local.study import (
    Ask,
    CandidateList,
    CandidateQuestion,
    CellQuestion,
    DeviceQuestion,
    FoldedProjection,
    KeyQuestion,
    PeopleGroup,
    PrefixQuestion,
    Projection,
    RelationItems,
    Relations,
    SeededWords,
    SizeQuestion,
    TextNumbers,
    seed_of,
)

sys.path.append(str(Path(__file__).parents[1]))  # as a script too it is a part of `vectors`

from vectors.reading import asked_in, held_in

Case = dict[str, Any]

VECTORS_FOLDER, DECLARED_FOLDER = Path(__file__).parent / "v1", Path(__file__).parent / "declared"
BASKETS = ([], [3], [1, 2], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [4, 99, 10**9], [40, 41])
ALL_PEOPLE = PeopleGroup(0, 1 << 32)


# Oracles that devices of every language answer for; and oracles with an answer beside them, for devices in Python.
LIVE = [name for name, kind in oracles().items() if kind.live and "answer" not in vars(kind)]
DECLARED = [name for name, kind in oracles().items() if kind.live and "answer" in vars(kind)]


class Recorded:
    """Given words, then the words of a stream, kept as bytes; every second word of the stream may be the largest."""

    def __init__(self, stream_name: str, words: Sequence[int] = (), *, every_other: bool = False) -> None:
        self.stream, self.bytes = SeededWords(seed_of(1, stream_name), 0), b""
        self.words, self.every_other = [word.to_bytes(4, "little") for word in words], every_other

    def take(self, count: int) -> bytes:
        chunk = self.words.pop(0) if self.words else self.stream.take(count)
        if self.every_other and len(self.bytes) % 8 == 0:
            chunk = b"\xff" * 4
        assert len(chunk) == count
        self.bytes += chunk
        return chunk


def make_case(
    form: Case,
    basket: Iterable[int],
    source: Recorded,
    given_pairs: Sequence[Sequence[int]] | None = None,
    after: Sequence[Sequence[int]] = (),
    **fields: Any,
) -> Case:
    """Return the case of a question, a basket and random bytes, with the report of the device."""
    held_pairs = (
        {}
        if given_pairs is None
        else {"given": [list(pair) for pair in given_pairs], "after": [list(pair) for pair in after]}
    )
    pairs = {name: [tuple(pair) for pair in entries] for name, entries in held_pairs.items()}
    basket = list(basket)
    limits = {
        "max_epsilon": MOST_EPSILON,
        **{name: fields[name] for name in ("max_epsilon", "max_delta") if name in fields},
    }
    if "texts" in fields:
        pairs["texts"] = fields["texts"]
    report = client(asked_in({"question": form, **fields}), basket, **limits, **pairs, take=source.take)
    case = {"question": form, **fields, "basket": basket, **held_pairs}
    return case | {"random": source.bytes.hex(), "report": report.decode()}


def questions(name: str) -> list[Ask]:
    candidates = CandidateList(itemsets=((3,), (1, 2), (5, 6, 7), (4,), (8, 9)))
    question_rows = [
        (CandidateQuestion(CandidateList(10)), 1, "1"),
        (CandidateQuestion(CandidateList(70)), 3, "1/2"),
        (CandidateQuestion(candidates), 2, "2"),
        (SizeQuestion.up_to(CandidateList(10), 4), 1, "1"),
        (SizeQuestion(candidates, (0, 1, 3)), 1, "4"),
        (PrefixQuestion(order=(4, 3, 2, 1), prefixes=((4, 3), (3, 2), (2, 1)), length=2), 1, "1"),
    ]
    return [
        Ask.of("", ALL_PEOPLE, question, name, Fraction(epsilon), pad=pad) for question, pad, epsilon in question_rows
    ]


def oracle_cases(name: str) -> list[Case]:
    asks = questions(name)
    if name == "olh":
        sampled = OLH.sampled(Fraction(2), 10, pad=8, delta=Fraction(1, 100))
        asks.append(Ask(name="", group=ALL_PEOPLE, question=CandidateQuestion(CandidateList(10)), oracle=sampled))
    return [
        make_case(
            ask.form,
            basket,
            Recorded(f"{name} {number} {basket}"),
            **({"max_delta": "0.01"} if ask.oracle.delta else {}),
        )
        for number, ask in enumerate(asks)
        for basket in BASKETS
    ]


SEEDS = (2, 4096, 1 << 31)


def numbered() -> list[Ask]:
    """Return questions with an oracle of published seeds."""
    asks = questions("olh")[:4] + questions("wheel")[:4]
    return [replace(ask, oracle=ask.frequencies.numbered(seeds)) for seeds in SEEDS for ask in asks]


def published() -> list[Case]:
    """Return cases with published seeds: the first, the last and any; and numbers of seeds that are none."""
    cases = [
        make_case(ask.form, basket, Recorded(f"published {number} {basket}"))
        for number, ask in enumerate(numbered())
        for basket in BASKETS
    ]
    for ask in numbered()[::4]:
        for word in (0, 1, ask.form["oracle"]["seeds"] - 1, ask.form["oracle"]["seeds"], WORD - 1):
            cases.append(make_case(ask.form, [3], Recorded(f"published word {word}", [word])))
    olh, wheel = questions("olh")[0].form, numbered()[4].form
    cases += [
        refused(f"{seeds} published seeds", {"question": _with_numbers(form, seeds=seeds)})
        for form in (olh, wheel)
        for seeds in (0, 1, 3, 4097, 3 << 30, WORD - 1, WORD, WORD + 1)
    ]
    bare = {key: value for key, value in wheel["oracle"].items() if key not in ("points", "seeds")}
    for name, extra_fields in (
        ("points without published seeds", {"points": wheel["oracle"]["points"]}),
        ("as many points as ever without published seeds", {"points": WORD, "inside": "8589934592"}),
        ("published seeds without points", {"seeds": 4096}),
        ("no points", {"seeds": 4096, "points": 0}),
        ("points that are all in arcs", {"seeds": 4096, "points": wheel["oracle"]["pad"]}),
        ("more points than the weight is for", {"seeds": 4096, "points": wheel["oracle"]["points"] + 1}),
        ("more points than there are hashes", {"seeds": 4096, "points": WORD + 1}),
    ):
        cases.append(refused(name, {"question": {**wheel, "oracle": {**bare, **extra_fields}}}))
    sampled = OLH.sampled(Fraction(2), 10, pad=8, delta=Fraction(1, 100))
    share = Ask(name="", group=ALL_PEOPLE, question=CandidateQuestion(CandidateList(10)), oracle=sampled).form
    cases.append(
        refused("published seeds and a share", {"question": _with_numbers(share, seeds=4096), "max_delta": "0.01"})
    )
    for name in ("grr", "subset"):
        cases.append(
            refused(f"published seeds of {name}", {"question": _with_numbers(questions(name)[0].form, seeds=4096)})
        )
    return cases


HELD_TEXTS = (
    [],
    ["a"],
    ["ab", "ba", "b"],
    ["aaaaaaa", "x", "", "a b", "a\n", "A"],
    ["ab", "abc", "abca", "bab", "c"],
    ["é😀", "日", "日日é", "a😀", "\ud83d"],
)


def spelt() -> list[Ask]:
    """Return questions about texts: from nothing on, from some beginnings on, and about whole ones."""
    first_texts, second_texts = TextNumbers(("",), "ab", 3, 6), TextNumbers(("a", "ba", "b\n", "c"), "cab", 2, 5)
    unicode_texts, whole_texts = (
        TextNumbers(("",), "aé日😀", 2, 3),
        TextNumbers.whole(("ab", "c", "abca", "日"), "abc日", 6),
    )
    listed_candidates = CandidateList(itemsets=((0,), (0, 1), (1, 2, 3)), texts=whole_texts)
    question_rows = [
        (CandidateQuestion(CandidateList(len(first_texts), texts=first_texts)), "grr", 1, "2"),
        (CandidateQuestion(CandidateList(len(second_texts), texts=second_texts)), "olh", 2, "1"),
        (CandidateQuestion(CandidateList(len(unicode_texts), texts=unicode_texts)), "wheel", 2, "1"),
        (CandidateQuestion(CandidateList(len(whole_texts), texts=whole_texts)), "privset", 2, "1"),
        (CandidateQuestion(listed_candidates), "grr", 2, "1"),
        (SizeQuestion.up_to(CandidateList(len(second_texts), texts=second_texts), 3), "grr", 1, "1"),
    ]
    return [
        Ask.of("", ALL_PEOPLE, question, name, Fraction(epsilon), pad=pad)
        for question, name, pad, epsilon in question_rows
    ]


def texts() -> list[Case]:
    """Return cases about texts, and questions that cannot number texts."""
    cases = [
        make_case(ask.form, [], Recorded(f"texts {number} {held_texts}"), texts=held_texts)
        for number, ask in enumerate(spelt())
        for held_texts in HELD_TEXTS
    ]
    form = spelt()[1].form
    # Beginnings of which one begins with another: a text is the item of each.
    loose = {**form["texts"], "begin": ["a", "ab", "abc\n", "b"]}
    cases += [
        make_case({**form, "texts": loose}, [], Recorded(f"begin {held_texts}"), texts=held_texts)
        for held_texts in HELD_TEXTS
    ]
    cases += [refused(flaw, {"question": question}) for flaw, question in [*misspelt(), *unfit()]]
    return [
        *cases,
        refused("items that a device does not hold", {"question": questions("grr")[0].form, "texts": ["a"]}),
    ]


def misspelt() -> list[tuple[str, Case]]:
    """Return malformed questions about texts, each with its flaw."""
    form = spelt()[1].form
    flaws = {
        "no alphabet": {"alphabet": ""},
        "a symbol twice": {"alphabet": "caba"},
        "an alphabet that is a list": {"alphabet": ["a", "b", "c"]},
        "an end in the alphabet": {"alphabet": "ca\nb"},
        "half of a character": {"alphabet": "cab\ud83d"},
        "nothing to begin with": {"begin": []},
        "a beginning twice": {"begin": ["a", "b", "a", "c"]},
        "a beginning that is a number": {"begin": ["a", "b", "c", 1]},
        "a beginning of other symbols": {"begin": ["a", "b", "c", "d"]},
        "an end inside a beginning": {"begin": ["a", "b", "c", "b\na"]},
        "a beginning that no text is as long as": {"begin": ["a", "b", "bca", "cccccc"]},
        "beginnings that are a text": {"begin": "abca"},
        "a step below none": {"step": -1},
        "a step that is text": {"step": "2"},
        "a step that is true": {"step": True},
        "texts without symbols": {"length": 0},
        "a field more": {"more": 1},
    }
    flawed_forms = [(flaw, {**form, "texts": {**form["texts"], **fields}}) for flaw, fields in flaws.items()]
    fewer = {name: value for name, value in form["texts"].items() if name != "step"}
    flawed_forms += [
        ("a field less", {**form, "texts": fewer}),
        ("texts that are a list", {**form, "texts": []}),
        ("texts and pairs", {**spelt()[4].form, "pairs": "together"}),
        (
            "texts of cells",
            {**Ask.of("", ALL_PEOPLE, CellQuestion((0, 1)), "grr", Fraction(1)).form, "texts": form["texts"]},
        ),
    ]
    return flawed_forms


def unfit() -> list[tuple[str, Case]]:
    """Return a sound question about texts, for devices that hold none."""
    return [("texts that a device does not hold", spelt()[1].form)]


def flawed() -> list[Case]:
    """Return the bad questions about texts for a device that holds texts: nothing else is wrong then."""
    return [refused(f"{flaw}, where texts are held", {"question": form, "texts": ["ab"]}) for flaw, form in misspelt()]


def most_held() -> list[Case]:
    """Return cases of devices that hold the largest data they answer for, and of devices that hold more."""
    text_numbers, bins, pairs = TextNumbers(("",), "ab😀", 1, 6), (0, 1, 2, 3), ((1, 2), (2, 3), (3, 4))
    relations_by_kind = {pair_kind: Relations(RelationItems((1, 2, 3, 4), pair_kind), pairs) for pair_kind in OWN}
    question_by_kind: dict[str, DeviceQuestion] = {
        "items": CellQuestion((1, 2, 3)),
        "texts": SizeQuestion(CandidateList(len(text_numbers), texts=text_numbers), bins),
        **{pair_kind: SizeQuestion(relations, bins) for pair_kind, relations in relations_by_kind.items()},
    }
    # So much epsilon that the answer is what is reported, and what was ignored shows.
    asks = {kind: Ask.of("", ALL_PEOPLE, question, "grr", Fraction(16)) for kind, question in question_by_kind.items()}
    double_count, single_count = (
        MOST_SYMBOLS_HELD // 3,
        MOST_SYMBOLS_HELD // 2,
    )  # as many texts of two symbols, and of one
    holdings: list[tuple[str, Ask, str, list[list[Any]]]] = [
        ("items", asks["items"], "basket", [[1, MOST_HELD - 2], [2, 1], [3, 1]]),
        ("items: one more", asks["items"], "basket", [[1, MOST_HELD - 1], [2, 1], [3, 1]]),
        ("items that nobody knows", asks["items"], "basket", [[99, MOST_HELD], [1, 1]]),
        ("pairs given", asks["given"], "given", [[[1, 2], MOST_HELD - 2], [[2, 3], 1], [[3, 4], 1]]),
        ("pairs given: one more", asks["given"], "given", [[[1, 2], MOST_HELD - 1], [[2, 3], 1], [[3, 4], 1]]),
        ("pairs in time", asks["after"], "after", [[[1, 2], MOST_HELD - 2], [[2, 3], 1], [[3, 4], 1]]),
        ("pairs in time: one more", asks["after"], "after", [[[1, 2], MOST_HELD - 1], [[2, 3], 1], [[3, 4], 1]]),
        ("texts", asks["texts"], "texts", [["aa", double_count - 1], ["bab", 1]]),
        ("texts: one symbol more", asks["texts"], "texts", [["aa", double_count], ["b", 1], ["", 1]]),
        ("texts: all after one too many", asks["texts"], "texts", [["aa", double_count - 1], ["baba", 1], ["b", 1]]),
        (
            "texts of no symbol, which have an end",
            asks["texts"],
            "texts",
            [["", MOST_SYMBOLS_HELD - 2], ["b", 1], ["a", 1]],
        ),
        ("texts of symbols of several bytes", asks["texts"], "texts", [["😀", single_count - 1], ["b", 1], ["a", 1]]),
        ("texts that are longer than asked for", asks["texts"], "texts", [["a" * 1023, 256], ["b", 1]]),
    ]
    cases = []
    for description, ask, kind, repeated in holdings:
        held_by_kind, source = held_in({"repeated": {kind: repeated}}), Recorded(f"most held {description}")
        basket = held_by_kind.pop("basket", [])
        report = client(ask.form, basket, max_epsilon=MOST_EPSILON, **held_by_kind, take=source.take)
        case = {"what": description, "question": ask.form, "repeated": {kind: repeated}}
        cases.append({**case, "random": source.bytes.hex(), "report": report.decode()})
    return cases


def spaced() -> list[Case]:
    """Return questions as text with space around and inside, which JSON allows, and with what is no space to it."""
    form = questions("grr")[0].form
    plain, loose = json.dumps(form, separators=(",", ":")), json.dumps(form, indent="\t").replace(":", " \r\n:")
    cases = []
    for description, text in (
        ("no space", plain),
        ("space after the end", f"{plain} \t\r\n "),
        ("space before the beginning", f"\n\r\t {plain}"),
        ("space between all that it has", f"  {loose}\n"),
    ):
        source = Recorded(f"spaced {description}")
        report = client(text.encode(), [3], max_epsilon=MOST_EPSILON, take=source.take)
        case = {"what": description, "text": text, "basket": [3]}
        cases.append({**case, "random": source.bytes.hex(), "report": report.decode()})
    for description, text in (
        ("a space that breaks no line", f"{plain}\u00a0"),
        ("a form feed", f"{plain}\f"),
        ("a vertical tab", f"\v{plain}"),
        ("a line separator", f"{plain}\u2028"),
        ("an end of transmission", f"{plain}\0"),
        ("a mark after the end", f"{plain}\ufeff"),
        ("a comma after the end", f"{plain},"),
    ):
        cases.append(refused(description, {"text": text}))
    return cases


def numbers(name: str) -> list[Case]:
    """Return cases of a mean oracle by itself: any number may be given to it, those beyond its range too."""
    cases = []
    for epsilon in ("1/2", "1", "3"):
        for span in (8, 1024):
            oracle = means()[name].make(Fraction(epsilon), span)
            for value in (-span - 1, -span, 0, 3, span, 10**6):
                source = Recorded(f"{name} {epsilon} {span} {value}")
                report = ANSWERS[name](oracle.form, [value], Draws(source.take))
                text = json.dumps(report, separators=(",", ":"))
                cases.append(
                    {
                        "oracle": oracle.form,
                        "number": value,
                        "random": source.bytes.hex(),
                        "report": text,
                    }
                )
    return cases


def further() -> list[Case]:
    """Return cases of questions that came after the first: cells, and relations as keys with values."""
    cells = CellQuestion((4, 1, 2))
    joint_relations, given_relations = (
        Relations(RelationItems((1, 2, 4), pair_kind), ((1, 2), (2, 1), (4, 1))) for pair_kind in ("together", "given")
    )
    question_rows: list[tuple[DeviceQuestion, str, int]] = [
        (cells, "grr", 1),
        (cells, "subset", 1),
        (KeyQuestion(joint_relations), "grr", 2),
        (KeyQuestion(joint_relations, absent=True), "privset", 3),
        (KeyQuestion(given_relations), "wheel", 1),
        (KeyQuestion(given_relations, absent=True), "grr", 2),
    ]
    cases = []
    for number, (question, name, pad) in enumerate(question_rows):
        ask = Ask.of("", ALL_PEOPLE, question, name, Fraction(1), pad=pad)
        for basket in BASKETS:
            given_pairs = [
                (antecedent, consequent)
                for antecedent, consequent in ((1, 2), (2, 1), (4, 1))
                if {antecedent, consequent} <= set(basket)
            ][:2]
            cases.append(make_case(ask.form, basket, Recorded(f"further {number} {basket}"), given_pairs))
    return cases


def related() -> list[Case]:
    """Return cases about relations one by one, and of one number of each person's."""
    asks, epsilon = [], Fraction(1)
    kinds: tuple[How, ...] = ("together", "given", "after")
    for pair_kind in kinds:
        items = RelationItems((1, 2, 3, 4), pair_kind, ((1, 2), (3, 4)))
        relations = Relations(items, ((1, 2), (2, 1), (3, 4), (1, 2, 3)))
        for name, pad in (("grr", 2), ("wheel", 3), ("olh", 1)):
            asks.append(Ask.of("", ALL_PEOPLE, CandidateQuestion(relations), name, epsilon, pad=pad))
            asks.append(
                Ask.of("", ALL_PEOPLE, SizeQuestion(relations, (0, 1, 3)), "subset" if pad == 2 else "olh", epsilon)
            )
        weights = {"left": (3, -1, 2, 5, -4, 1), "right": (1, 2, -3, 1, 7, -2), "low": -30, "high": 41}
        asks += [Ask.mean("", ALL_PEOPLE, Projection(items=items, **weights), name, epsilon) for name in means()]
    folded = FoldedProjection(items=10, left=(1, -2, 3, 1), right=(2, 1, 0, -1), low=-3, high=4)
    asks += [Ask.mean("", ALL_PEOPLE, folded, name, epsilon) for name in means()]
    smallest = FoldedProjection(items=2, left=(1, 1), right=(0, 0), low=0, high=0)
    asks.append(Ask.mean("", ALL_PEOPLE, smallest, "pm", epsilon))
    holders: list[tuple[list[int], list[list[int]]]] = [
        ([], []),
        ([1], [[1, 2]]),
        ([1, 2, 3], [[1, 2], [2, 3], [2, 1]]),
        ([1, 2, 3, 4, 9], [[1, 2], [2, 3], [3, 4], [4, 1], [9, 1], [2, 9]]),
    ]
    cases = []
    for number, ask in enumerate(asks):
        for basket, given_pairs in holders:
            after = [
                [consequent, antecedent]
                for antecedent, consequent in given_pairs
                if antecedent in basket and consequent in basket
            ]
            cases.append(make_case(ask.form, basket, Recorded(f"related {number} {basket}"), given_pairs, after))
    return cases


def choices() -> list[Case]:
    """Return which of several baskets answers: by number of baskets and cap, with words that are drawn again."""
    cases = []
    redrawn_word = WORD - 1  # not below the largest multiple of 3, 5 or 7
    for basket_count, max_baskets, words in (
        (0, 1, []), (1, 1, []), (2, 1, [0]), (2, 1, [redrawn_word]), (3, 1, [redrawn_word, 5]), (3, 1, [WORD - 2]),
        (3, 1, [4]), (0, 4, [2]), (1, 4, [0]), (1, 4, [3]), (2, 5, [redrawn_word, 1]), (2, 5, [redrawn_word - 1, 9]),
        (4, 4, [7]), (7, 4, [13]), (7, 4, [WORD - 4, 8]), (2, MOST_BASKETS, [MOST_BASKETS + 1]), (2, MOST_BASKETS, [2]),
    ):  # fmt: skip
        baskets, source = [[item, 10 + item] for item in range(basket_count)], Recorded("chosen", words)
        basket = draw_basket(baskets, max_baskets=max_baskets, take=source.take)
        cases.append({"baskets": baskets, "max_baskets": max_baskets, "random": source.bytes.hex(), "chosen": basket})
    texts, source = [["tea", "milk"], ["rice"]], Recorded("chosen", [1])
    text = draw_basket(texts, take=source.take)
    cases.append({"baskets": texts, "max_baskets": 1, "random": source.bytes.hex(), "chosen": text})
    strange: list[tuple[Any, int]] = [([[1], ["tea"]], 1), ([[1], [1.5]], 1), ([[1], [None]], 1)]
    strange += [([[1, "tea"]], 1), ([["tea"], [], [1]], 3)]
    for baskets, max_baskets in (([[1]], 0), ([[1]], MOST_BASKETS + 1), *strange):
        try:
            draw_basket(baskets, max_baskets=max_baskets)
        except ValueError as error:
            cases.append({"baskets": baskets, "max_baskets": max_baskets, "refused": str(error)})
    return cases


def edges() -> list[Case]:
    """Return cases on the edges of every random choice, and with numbers that some languages round.

    A word that is refused because it would favour small numbers, the last that is not; thresholds and weights, and the
    number before; items and buckets whose product with a 32-bit number has over 53 bits.
    """
    cases = []
    # below(n): words from 2^32 - 2^32 mod n on are drawn again.
    for pad in (3, 5, 6, 7, 10, 1000, 3 << 29, MOST_SYMBOLS - 10, MOST_SYMBOLS):
        last_word = WORD - WORD % pad - 1
        ask = (
            Ask.of("", ALL_PEOPLE, CandidateQuestion(CandidateList(10)), "olh", Fraction(1), pad=pad)
            if pad < 1 << 28
            else None
        )
        form = ask.form if ask else _with_numbers(questions("olh")[0].form, pad=pad)
        for words in (
            [last_word],
            [WORD - 1, last_word],
            [min(last_word + 1, WORD - 1), WORD - 1, last_word - 1, 0],
            [last_word, last_word, 0, 0],
        ):
            cases.append(make_case(form, [1, 4], Recorded(f"below {pad} {words}", words)))
    for name in ("grr", "subset", "privset", "wheel", "geometry"):
        for size, pad in ((10, 3), (6, 2), (37, 5)):
            form = Ask.of("", ALL_PEOPLE, CandidateQuestion(CandidateList(size)), name, Fraction(1), pad=pad).form
            for basket in ([], [1], range(size)):
                source = Recorded(f"every other {name} {size} {len(basket)}", every_other=True)
                cases.append(make_case(form, basket, source))
    # place(w, i, o) and chance(t): the last number inside, and the first outside.
    for size, pad in ((10, 1), (40, 1)):
        form = Ask.of("", ALL_PEOPLE, CandidateQuestion(CandidateList(size)), "grr", Fraction(2), pad=pad).form
        weight = int(form["oracle"]["inside"])
        for number in (0, weight - 1, weight, weight + 1, weight + size - 1, weight + size, (1 << 64) - 1):
            cases.append(make_case(form, [3], Recorded(f"place {size} {number}", [number % WORD, number // WORD])))
    form = Ask.of("", ALL_PEOPLE, CandidateQuestion(CandidateList(10)), "subset", Fraction(1)).form
    for word in (form["oracle"]["hit"] - 1, form["oracle"]["hit"], form["oracle"]["hit"] + 1):
        cases.append(make_case(form, [3], Recorded(f"chance {word}", [word])))
    form = Ask.of("", ALL_PEOPLE, CandidateQuestion(CandidateList(50)), "wheel", Fraction(1), pad=3).form
    for basket in ([], [3], [3, 4, 5, 6]):
        for seed in ([0, 0], [WORD - 1, WORD - 1], [WORD - 2, 7]):
            drawn_words = [*([WORD - 1, 0, 0, 0] if len(basket) > 3 else []), *seed, *[WORD - 1] * 2]
            cases.append(make_case(form, basket, Recorded(f"circle {basket} {seed}", drawn_words)))
    # Every leading coordinate of the own point, and of the one that is reported: with its first and last numbers.
    for size, epsilon in ((30, "1/2"), (30, "1"), (300, "2")):
        form = Ask.of("", ALL_PEOPLE, CandidateQuestion(CandidateList(size)), "geometry", Fraction(epsilon)).form
        field, coordinate_count, hit = (form["oracle"][name] for name in ("field", "coordinates", "hit"))
        for item in (0, 1, 2, field, field + 1, field + 2, size - 1):
            for word in (hit - 1, hit):
                bound = (
                    count_space_points(field, coordinate_count - 1) if word < hit else field ** (coordinate_count - 1)
                )
                for point_index in sorted({0, 1, field, field + 1, bound // 2, bound - 1}):
                    if point_index < bound:
                        stream_name = f"point {size} {epsilon} {item} {word} {point_index}"
                        cases.append(make_case(form, [item], Recorded(stream_name, [word, point_index])))
    # Items, places, buckets and points whose products are long.
    largest_item = (1 << 28) - 1
    for name, pad, epsilon in (
        ("olh", 2, "1"),
        ("olh", 1, "16"),
        ("olh", 1, "20"),
        ("wheel", 3, "1"),
        ("grr", 1, "20"),
        ("geometry", 2, "1"),
        ("geometry", 1, "6"),
        ("geometry", 1, "20"),
    ):
        form = Ask.of(
            "", ALL_PEOPLE, CandidateQuestion(CandidateList(largest_item)), name, Fraction(epsilon), pad=pad
        ).form
        for basket in (
            [],
            [largest_item - 1],
            [1 << 21, (1 << 27) + 12_345, largest_item - 1, largest_item, MOST_ITEM],
        ):
            cases.append(make_case(form, basket, Recorded(f"large {name} {epsilon} {basket}")))
    itemsets = CandidateQuestion(
        CandidateList(itemsets=((1 << 21,), (1 << 27, (1 << 28) + 1), (MOST_ITEM,), (5, MOST_ITEM)))
    )
    form = Ask.of("", ALL_PEOPLE, itemsets, "wheel", Fraction(1), pad=2).form
    cases.append(make_case(form, [5, 1 << 21, 1 << 27, (1 << 28) + 1, MOST_ITEM], Recorded("large itemsets")))
    # Sums of the largest weights, in the widest range and in a narrow one, and the ends of the grid.
    for name in means():
        for low, high in ((-MOST_RANGE, MOST_RANGE), (MOST_RANGE - 1, MOST_RANGE), (MOST_RANGE, MOST_RANGE), (-5, 4)):
            for pair_kind in ("together", "given"):
                items = RelationItems((1, 2, 3, 4), pair_kind, ((1, 2),))
                weights = {"left": (MOST_WEIGHT,) * 5, "right": (MOST_WEIGHT, -MOST_WEIGHT, MOST_WEIGHT - 1, 7, 0)}
                number = Projection(items=items, **weights, low=low, high=high)
                form = Ask.mean("", ALL_PEOPLE, number, name, Fraction(1)).form
                for basket, given_pairs in (
                    ([], []),
                    ([1, 3], [[1, 3]]),
                    ([1, 2, 3, 4], [[1, 2], [2, 1], [2, 3], [3, 3]]),
                ):
                    source = Recorded(f"range {name} {low} {pair_kind} {basket}")
                    cases.append(make_case(form, basket, source, given_pairs))
    # Subsets that meet several of the own values, of which one in as many is kept.
    form = _loose(
        _with_numbers(
            {**Ask.of("", ALL_PEOPLE, CandidateQuestion(CandidateList(20)), "privset", Fraction(1), pad=10).form},
            many=9,
        )
    )
    for basket in ([], [3], range(20)):
        for word in (0, WORD // 2 - 1, WORD // 2):
            drawn_words = [0] * 10 * (len(basket) > 10) + [word]
            cases.append(make_case(form, basket, Recorded(f"met {len(basket)} {word}", drawn_words)))
    # A pair that goes on from a bond that is not held, and pairs of items with themselves.
    items = RelationItems((1, 2, 3), "given", ((1, 2), (2, 3)))
    weights = {"left": (1, 2, 4, 8, 16), "right": (32, 64, 128, 256, 512), "low": -20_000, "high": 20_000}
    form = Ask.mean("", ALL_PEOPLE, Projection(items=items, **weights), "pm", Fraction(4)).form
    for given_pairs in ([[2, 3]], [[2, 3], [2, 1]], [[1, 2], [2, 3], [3, 1]], [[2, 2], [3, 3]]):
        for basket in ([], [2, 3]):
            cases.append(make_case(form, basket, Recorded(f"bonds {given_pairs} {basket}"), given_pairs))
    return cases


def _with_numbers(form: Case, **numbers: Any) -> Case:
    return {**form, "oracle": {**form["oracle"], **numbers}}


def limits() -> list[Case]:
    """Return a question at every limit, which is answered, and one beyond it, which is not."""
    item_question, wheel = (
        questions("olh")[0].form,
        Ask.of("", ALL_PEOPLE, CandidateQuestion(CandidateList(10)), "wheel", Fraction(1)).form,
    )
    numbers_case = {
        "question": _with_numbers({**item_question, "of": []}, size=MOST_NUMBERS),
        "lists": {"of": [0, MOST_NUMBERS]},
    }
    excess_numbers_case = {
        "question": _with_numbers({**item_question, "of": []}, size=MOST_NUMBERS + 1),
        "lists": {"of": [0, MOST_NUMBERS + 1]},
    }
    cells = Ask.of("", ALL_PEOPLE, CellQuestion(tuple(range(MOST_CELLS))), "olh", Fraction(1)).form
    sampled = OLH.sampled(Fraction(2), 10, pad=8, delta=Fraction(1, 100))
    share = Ask(name="", group=ALL_PEOPLE, question=CandidateQuestion(CandidateList(10)), oracle=sampled).form
    fewer = Ask.mean(
        "", ALL_PEOPLE, FoldedProjection(items=4, left=(1, 1), right=(1, 1), low=0, high=2), "duchi", Fraction(1)
    ).form
    subset = Ask.of("", ALL_PEOPLE, CandidateQuestion(CandidateList(MOST_SUBSET - 1)), "subset", Fraction(20)).form
    privset = Ask.of("", ALL_PEOPLE, CandidateQuestion(CandidateList(9)), "privset", Fraction(1), pad=3).form
    space = Ask.of("", ALL_PEOPLE, CandidateQuestion(CandidateList(9)), "geometry", Fraction(1)).form
    # 12 bytes around them, and 6 a symbol of five digits with its comma.
    longest = (MOST_REPORT - 12) // 6
    long_report_form = _loose(_with_numbers({**subset, "of": 20_000, "epsilon": "20"}, size=20_000, many=longest))
    # Of 30 symbols 10 are own ones.
    met = _loose({**privset, "of": 20}, size=20, pad=10, dummies=10, many=MOST_MET * 30 // 10)
    long_number = "1" * MOST_DIGITS
    tight, even = (
        _with_numbers(form, inside=str(WORD * WORD // form["oracle"]["buckets"] + 1)) for form in (item_question, share)
    )
    pairs: list[tuple[str, Case, Case]] = [
        ("numbers in lists", numbers_case, excess_numbers_case),
        (
            "bytes",
            {"question": item_question, "bytes": MOST_QUESTION},
            {"question": item_question, "bytes": MOST_QUESTION + 1},
        ),
        (
            "lists within each other",
            {"question": {**item_question, "of": [[0], [1], 2, 3, 4, 5, 6, 7, 8, 9]}},
            {"question": {**item_question, "of": [[[0]], [1], 2, 3, 4, 5, 6, 7, 8, 9]}},
        ),
        (
            "digits of epsilon",
            {"question": {**tight, "epsilon": f"{long_number}/{long_number}"}},
            {"question": {**tight, "epsilon": f"{long_number}1/{long_number}1"}},
        ),
        (
            "epsilon",
            {"question": {**item_question, "epsilon": str(MOST_EPSILON)}},
            {"question": {**item_question, "epsilon": f"{MOST_EPSILON}.1"}, "max_epsilon": "65"},
        ),
        (
            "what the owner allows",
            {"question": item_question, "max_epsilon": "1"},
            {"question": item_question, "max_epsilon": "0.999999999999999999999999"},
        ),
        ("an item", {"question": _with_item(wheel, MOST_ITEM)}, {"question": _with_item(wheel, MOST_ITEM + 1)}),
        (
            "candidates",
            {"question": _with_numbers({**wheel, "of": MOST_SYMBOLS}, size=MOST_SYMBOLS)},
            {"question": _with_numbers({**wheel, "of": MOST_SYMBOLS + 1}, size=MOST_SYMBOLS + 1)},
        ),
        (
            "candidates and dummies",
            {"question": _with_numbers({**item_question, "of": MOST_SYMBOLS - 1}, size=MOST_SYMBOLS - 1)},
            {"question": _with_numbers({**item_question, "of": MOST_SYMBOLS}, size=MOST_SYMBOLS)},
        ),
        (
            "padding",
            {"question": _with_numbers(item_question, pad=MOST_SYMBOLS)},
            {"question": _with_numbers(item_question, pad=MOST_SYMBOLS + 1)},
        ),
        (
            "cells",
            {"question": cells},
            {"question": _with_numbers({**cells, "of": list(range(MOST_CELLS + 1))}, size=2 << MOST_CELLS)},
        ),
        (
            "weights",
            {"question": {**fewer, "left": [1, MOST_WEIGHT]}},
            {"question": {**fewer, "left": [1, MOST_WEIGHT + 1]}},
        ),
        (
            "negative weights",
            {"question": {**fewer, "right": [-MOST_WEIGHT, 1]}},
            {"question": {**fewer, "right": [-MOST_WEIGHT - 1, 1]}},
        ),
        ("high", {"question": {**fewer, "high": MOST_RANGE}}, {"question": {**fewer, "high": MOST_RANGE + 1}}),
        ("low", {"question": {**fewer, "low": -MOST_RANGE}}, {"question": {**fewer, "low": -MOST_RANGE - 1}}),
        (
            "what may meet",
            {
                "question": _with_numbers(even, pad=MOST_SHARE, dummies=MOST_SHARE, share=MOST_SHARE),
                "max_delta": "0.01",
            },
            {
                "question": _with_numbers(even, pad=MOST_SHARE + 1, dummies=MOST_SHARE + 1, share=MOST_SHARE + 1),
                "max_delta": "0.01",
            },
        ),
        (
            "delta",
            {"question": share, "max_delta": share["delta"]},
            {"question": share, "max_delta": "0"},
        ),
        (
            "symbols of a subset",
            {"question": subset},
            {"question": _with_numbers({**subset, "of": MOST_SUBSET}, size=MOST_SUBSET)},
        ),
        (
            "points of a space",
            {"question": _with_numbers(_loose(space, field=MOST_POINTS - 1, coordinates=2), hit=4)},
            {"question": _with_numbers(_loose(space, field=MOST_POINTS, coordinates=2), hit=4)},
        ),
        (
            "coordinates of a space",
            {"question": _loose(space, field=2, coordinates=31)},
            {"question": _loose(space, field=2, coordinates=32)},
        ),
        (
            "own values that a subset meets",
            {"question": met},
            {"question": _with_numbers(met, many=MOST_MET * 30 // 10 + 1)},
        ),
        (
            "bytes of a report",
            {"question": long_report_form},
            {"question": _with_numbers(long_report_form, many=longest + 1)},
        ),
        ("symbols of a text", _texts(wheel, length=MOST_TEXT), _texts(wheel, length=MOST_TEXT + 1)),
        (
            "symbols of a beginning",
            _texts(wheel, begin=["aaa"], length=3),
            _texts(wheel, begin=["aaaa"], length=3),
        ),
        (
            "symbols of a whole text to begin with",
            _texts(wheel, begin=["é😀\n"], alphabet="aé😀", length=2),
            _texts(wheel, begin=["é😀a\n"], alphabet="aé😀", length=2),
        ),
        ("steps of a text", _texts(wheel, step=31), _texts(wheel, step=32)),
        (
            "numbers of texts",
            _texts(wheel, begin=["a", "b"], alphabet="ab ", step=15),
            _texts(wheel, begin=["a", "b", "c"], alphabet="abc", step=15),
        ),
    ]
    cases = []
    for description, accepted_case, refused_case in pairs:
        form, extra_fields = (
            accepted_case["question"],
            {name: value for name, value in accepted_case.items() if name != "question"},
        )
        try:
            case = make_case(form, [1], Recorded(f"limits {description}"), **extra_fields)
        except ValueError as error:
            raise AssertionError(f"refused: {description}") from error
        if description == "bytes of a report":
            # Any bytes will do: what it says would be as long as all other cases together.
            case = {**{name: case[name] for name in ("question", "basket")}, "most_bytes": MOST_REPORT}
        cases.append({"what": f"{description}: at the limit", **case})
        cases.append(refused(f"{description}: beyond it", refused_case))
    return cases


def _texts(form: Case, **fields: Any) -> Case:
    text_fields = {"begin": [""], "alphabet": "a", "step": 1, "length": 9, **fields}
    return {"question": {**form, "texts": text_fields}, "texts": ["a"]}


def _with_item(form: Case, item: int) -> Case:
    return {**form, "of": [*range(9), item]}


def _loose(form: Case, **numbers: Any) -> Case:
    """Return a question with given numbers, and a fair coin for whether the own values are met, at an epsilon of 20."""
    return _with_numbers({**form, "epsilon": "20"}, **numbers, hit=WORD // 2)


def refused(description: str, case: Case) -> Case:
    """Return the case with the words it is refused with."""
    limits = {
        "max_epsilon": MOST_EPSILON,
        **{name: case[name] for name in ("max_epsilon", "max_delta") if name in case},
    }
    try:
        client(asked_in(case), [1], texts=case.get("texts"), **limits)
    except ValueError as error:
        return {"what": description, **case, "refused": str(error)}
    raise AssertionError(f"not refused: {description}")


def bad_cases() -> list[Case]:
    """Return questions that are refused for every basket."""
    grr, wheel, privset = (questions(name)[1].form for name in ("grr", "wheel", "privset"))
    single = questions("grr")[3].form
    fair = {**questions("olh")[0].form["oracle"], "buckets": 4, "inside": str(1 << 63)}
    sampled = OLH.sampled(Fraction(2), 10, pad=8, delta=Fraction(1, 100))
    failing = Ask(name="", group=ALL_PEOPLE, question=CandidateQuestion(CandidateList(10)), oracle=sampled).form
    number = {
        **{key: grr[key] for key in ("format", "epsilon")},
        "ask": "projection",
        "of": [0, 1, 2],
        "pairs": "together",
        "left": [1, 2, 3],
        "right": [3, 2, 1],
        "low": 0,
        "high": 36,
        "oracle": means()["duchi"].make(Fraction(grr["epsilon"])).form,
    }
    prefix = questions("subset")[5].form
    space = questions("geometry")[0].form
    relations = Relations(RelationItems((1, 2, 4), "given"), ((1, 2), (2, 1), (4, 1)))
    valued = Ask.of("", ALL_PEOPLE, KeyQuestion(relations), "grr", Fraction(1), pad=2).form
    cases: list[tuple[str, Case]] = [
        ("another format", {**grr, "format": 2}),
        ("a question that is not known", {**grr, "ask": "why"}),
        ("no epsilon", {key: value for key, value in grr.items() if key != "epsilon"}),
        ("a smaller epsilon than the numbers have", {**grr, "epsilon": "1/4"}),
        ("an epsilon of nothing", {**grr, "epsilon": "0"}),
        ("one dummy for all of the padding", {**grr, "oracle": {**grr["oracle"], "dummies": 1, "size": 72}, "of": 72}),
        ("too few dummies of a set", {**privset, "oracle": {**privset["oracle"], "dummies": 1}}),
        ("too many buckets for a fair coin", {**questions("olh")[0].form, "oracle": fair}),
        ("arcs that cover the wheel", {**wheel, "oracle": {**wheel["oracle"], "arc": (1 << 32) // 3 + 1}}),
        ("a weight that is no probability", {**wheel, "oracle": {**wheel["oracle"], "inside": str(1 << 64)}}),
        ("a weight that is not whole", {**grr, "oracle": {**grr["oracle"], "inside": "0.5"}}),
        ("an oracle that is not known", {**grr, "oracle": {**grr["oracle"], "oracle": "best"}}),
        ("more candidates than the oracle has", {**grr, "of": 71}),
        ("no answer for the empty-handed", {**single, "ask": "which", "of": 5}),
        ("bins that do not begin at 0", {**single, "bins": [1, 2, 3, 4, 5]}),
        ("a candidate that is no item", {**grr, "of": [["a", 1]] * 70}),
        ("numbers of another oracle beside its own", {**grr, "oracle": {**grr["oracle"], "span": 10}}),
        ("one number asked for through an oracle of values", {**number, "oracle": {**grr["oracle"], "span": 10}}),
        ("values asked for through an oracle of one number", {**grr, "oracle": number["oracle"]}),
        ("a format that passes for 1", {**grr, "format": True}),
        ("an epsilon that is no number", {**grr, "epsilon": "1/0"}),
        ("more than a device can draw from", {**grr, "oracle": {**grr["oracle"], "pad": 1 << 33}}),
        ("an epsilon with an exponent", {**grr, "epsilon": "1e3000000"}),
        ("a weight of many digits", {**number, "left": [1 << 21, 2, 3]}),
        ("a range of many digits", {**number, "high": 1 << 54}),
        ("pairs of a kind that is not known", {**number, "pairs": "own"}),
        ("more weights than a side has items", {**number, "left": [1, 2, 3, 4]}),
        ("an oracle kept for comparison", {**grr, "oracle": {**grr["oracle"], "oracle": "oue"}}),
        ("more symbols than points", {**space, "oracle": {**space["oracle"], "coordinates": 2}}),
        ("a field of one number", {**space, "oracle": {**space["oracle"], "field": 1}}),
        ("points of one coordinate", {**space, "oracle": {**space["oracle"], "coordinates": 1}}),
        ("more coordinates than any space has", {**space, "oracle": {**space["oracle"], "coordinates": WORD}}),
        ("a point that meets too often", {**space, "oracle": {**space["oracle"], "hit": space["oracle"]["hit"] + 1}}),
        ("very many values that may meet", {**failing, "oracle": {**failing["oracle"], "share": 1 << 13}}),
        ("a delta the device does not give", failing),
        ("a delta that is hidden", {key: value for key, value in failing.items() if key != "delta"}),
        ("an order that is an empty text", {**prefix, "order": ""}),
        ("prefixes that are an empty object", {**prefix, "of": {}, "oracle": {**prefix["oracle"], "size": 1}}),
        ("entries of a projection that are an empty text", {**number, "of": "", "left": [], "right": []}),
        ("three items as a key with its value", {**valued, "of": [[1, 2], [2, 1, 4], [4, 1]]}),
    ]
    folded = {**number, "pairs": "folded", "of": MOST_SYMBOLS + 1}
    sides = {"left": [0, 46_341], "right": [0, 46_341]}
    plain = json.dumps(grr)
    texts = [
        ("a field that is there twice", plain.replace('"of": 70', '"of": 71, "of": 70')),
        ("a whole number with a point", plain.replace('"of": 70', '"of": 70.0')),
        ("a whole number with an exponent", plain.replace('"of": 70', '"of": 7e1')),
        ("a number that is none", plain.replace('"of": 70', '"of": NaN')),
        ("a whole number that not every language holds", plain.replace('"of": 70', f'"of": {MOST_RANGE + 1}')),
        ("one below all that every language holds", plain.replace('"of": 70', f'"of": {-MOST_RANGE - 1}')),
        ("a whole number of many digits", plain.replace('"of": 70', f'"of": {"7" * 400}')),
        ("something after the end", plain + "{}"),
        ("a mark before the beginning", "\ufeff" + plain),
        ("a list", f"[{plain}]"),
        ("nothing", ""),
        ("lists within lists", "[" * 2000),
    ]
    assert all(text != plain for _, text in texts)
    return (
        [refused("an epsilon its owner does not give", {"question": grr, "max_epsilon": "0.499999"})]
        + [refused(description, {"question": question}) for description, question in cases]
        + [refused("more items than may be folded", {"question": folded, "lists": sides})]
        + [refused(description, {"text": text}) for description, text in texts]
    )


def files() -> dict[str, str]:
    """Return the text of each file."""
    cases = {name: oracle_cases(name) for name in LIVE}
    cases |= {name: numbers(name) for name in means()}
    cases["further"] = further()
    cases["related"] = related()
    cases["edges"] = edges()
    cases["limits"] = limits()
    cases["published"] = published()
    cases["texts"] = texts()
    cases["refused"] = bad_cases()
    cases["chosen"] = choices()
    cases["flawed"] = flawed()
    cases["held"] = most_held()
    cases["spaced"] = spaced()
    return _render_files(cases)


def declared() -> dict[str, str]:
    """Return the text of each file about an oracle outside the format."""
    return _render_files({name: oracle_cases(name) for name in DECLARED})


def _render_files(cases: dict[str, list[Case]]) -> dict[str, str]:
    lines = {
        name: ",\n".join(json.dumps(case, separators=(",", ":")) for case in file_cases)
        for name, file_cases in cases.items()
    }
    return {f"{name}.json": f"[\n{text}\n]\n" for name, text in lines.items()}


if __name__ == "__main__":
    for folder, texts_by_file in ((VECTORS_FOLDER, files()), (DECLARED_FOLDER, declared())):
        for name, text in texts_by_file.items():
            folder.mkdir(exist_ok=True)
            (folder / name).write_text(text)
