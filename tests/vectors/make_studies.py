"""Write the golden vectors of studies: `python tests/vectors/make_studies.py`. As frozen as those of `make.py`.

`packed` has reports as words, `batches` the bytes that many of them travel in, and `studies` the signed texts of a
study and its questions, good ones and bad ones. `answers` has what may come back for a report, and what then becomes of
it; `becoming` has what baskets become in a study with a hierarchy. `signatures` has those of RFC 8032, and what is
refused although some library takes it. `asked` has which question a device answers, `enrol` what may come back for a
request to take part, and `measured` questions as long as may be. `docs/wire.md` says how the files are read.
"""

# internals: this module forges signatures out of points of the curve.
from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from hashlib import sha512
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from discreet.collector import (
    Reason,
    ReportBatch,
    Signer,
    StudyPlan,
    question_document,
    study_document,
    study_id,
)
from discreet.local.device import (
    MOST_QUESTION,
    QUESTION,
    STUDY,
    WORD,
    Participant,
    parse_questions,
    parse_study,
    recode_basket,
)
from discreet.local.device._ed25519 import (
    _BASE as BASE,
    _CURVE as CURVE,
    _EIGHTH as EIGHTH,
    _ORDER as ORDER,
    Point,
    _add as added,
    _add_multiples as combined,
)
from discreet.local.device._sending import parse_fate
from discreet.local.oracle_steps import means, oracles
from discreet.local.oracles import OLH, Wheel
from discreet.local.study import Ask, CandidateList, CandidateQuestion, PeopleGroup, SeededWords, seed_of

sys.path.append(str(Path(__file__).parents[1]))  # as a script too it is a part of `vectors`

from vectors.make import LIVE

Case = dict[str, Any]
VECTORS_FOLDER = Path(__file__).parent / "v1"
SIGNER = Signer(bytes(range(32)))
PLAN = StudyPlan(
    name="breakfast",
    title="What goes together at breakfast – Frühstück",
    asks="Which of these did you have this week?",
    protocol="adept",
    top=3,
    epsilon="1",
    items=("bread", "butter", "käse"),
)


# Studies with a hierarchy, which are in format 2: what is said otherwise in each.
LEVELED: dict[str, Case] = {
    "a study": {},
    "what becomes nothing": {"become": [[], [1, 2]]},
    "nothing is held": {"held": [], "become": []},
    "relations together": {"pairs": "together"},
    "in format 1 these fields say nothing": {"format": 1, "held": 5},
    "a format that there is not": {"format": 3},
    "nothing held is named": {"held": None},
    "names that are numbers": {"held": [1, 2]},
    "nothing is said of what items become": {"become": None},
    "one too few": {"become": [[0]]},
    "no list of items": {"items": None},
    "relations of a device": {"pairs": "given"},
    "an item that is none": {"become": [[0], 1]},
    "beyond the list": {"become": [[0], [1, 3]]},
    "below the list": {"become": [[-1], [1, 2]]},
    "the wrong way round": {"become": [[0], [2, 1]]},
    "twice": {"become": [[0], [1, 1]]},
    "a name in the place of a number": {"become": [["0"], [1, 2]]},
    "true in the place of a number": {"become": [[0], [True, 2]]},
}


def levels() -> list[Case]:
    """Return baskets with the baskets that they become."""
    table = [[0, 4, 6], [1, 4, 6], [], [3], [2, 5]]
    baskets = [[], [0], [1, 0], [2], [3, 3, 0], [0, 1, 2, 3, 4], [-1, 5, 4], [7]]
    return [{"basket": basket, "table": table, "becomes": recode_basket(basket, table)} for basket in baskets]


def packed_oracles() -> list[Any]:
    """Return an oracle of each kind of the format, and the oracles with the largest words."""
    later = [oracles()["geometry"]]  # bytes go by the place in this list, so that what came later stands last
    live = [oracles()[name] for name in LIVE if oracles()[name] not in later]
    oracle_list: list[Any] = [kind.make(Fraction(1), 10, pad=2) for kind in live]
    oracle_list += [kind.make(Fraction(3), 2, single=True) for kind in live if not kind.sets]
    oracle_list += [kind.make(epsilon) for kind in means().values() for epsilon in (Fraction(1, 2), Fraction(4))]
    oracle_list += [
        kind.make(Fraction(1), 10, pad=2).numbered(seeds) for kind in (OLH, Wheel) for seeds in (4096, 1 << 31)
    ]
    return oracle_list + [kind.make(epsilon, 10, pad=2) for kind in later for epsilon in (Fraction(1), Fraction(3))]


def bad_words(oracle: Any) -> Iterator[list[int]]:
    """Yield words that are no report of an oracle."""
    last_word, word_count = (1 << 32) - 1, oracle.codec.width
    if getattr(oracle, "seeds", None) is not None:
        yield from ([oracle.seeds, 0], [last_word, 0], [1, oracle.places])
        return
    if oracle.name in ("olh", "wheel"):
        yield [2, 5, 0]  # an even seed
    if oracle.name == "olh":
        yield [3, 5, oracle.buckets]
    if oracle.name == "hm":
        yield from ([2, 0], [0, 2], [1, oracle.pm.points])
        if not oracle.choose:
            yield [1, 0]
    if oracle.name in ("subset", "privset"):
        yield [*range(word_count - 1), oracle.symbols_in_all]
        if word_count > 1:
            yield [1, 0, *range(2, word_count)]
            yield [0, 0, *range(2, word_count)]
    if oracle.name in ("grr", "duchi", "pm", "geometry"):
        bounds = {"grr": lambda: oracle.symbols_in_all, "duchi": lambda: 2}
        yield [bounds.get(oracle.name, lambda: oracle.points)()]
        yield [last_word]


def packed_cases() -> list[Case]:
    """Return reports and their words, and words that are no reports."""
    cases: list[Case] = []
    for number, oracle in enumerate(packed_oracles()):
        for basket in range(4):
            stream = SeededWords(seed_of(2, f"packed {number} {basket}"), 0)
            held_values = 3 * basket - 4 if isinstance(oracle, tuple(means().values())) else [basket % oracle.size]
            report = oracle.randomise(held_values, stream.take)
            words = oracle.codec.pack(oracle.codec.make_columns([report]))[0].tolist()
            cases.append({"oracle": oracle.form, "report": _compact(report), "words": words})
        cases += [{"oracle": oracle.form, "words": words, "refused": True} for words in bad_words(oracle)]
    return cases


def batches() -> list[Case]:
    """Return batches and their contents."""
    cases = []
    for word_count, row_count in ((1, 0), (1, 1), (3, 2)):
        rows = [
            {
                "token": bytes([7 * number + 1] * 16).hex(),
                "key": bytes([9 * number + 2] * 16).hex(),
                "words": [(number + 1) * (1 << 28) + place for place in range(word_count)],
            }
            for number in range(row_count)
        ]
        tokens, keys = ([bytes.fromhex(row[name]) for row in rows] for name in ("token", "key"))
        words = np.array([row["words"] for row in rows], np.uint32).reshape(row_count, word_count)
        batch = ReportBatch.build(bytes(range(16)), 3, tokens, keys, words)
        text = {"study": bytes(range(16)).hex(), "round": 3, "words": word_count, "reports": rows}
        cases.append({**text, "batch": batch.encode().hex()})
    last_batch = cases[-1]["batch"]
    broken = {
        "another magic": f"00{last_batch[2:]}",
        "another format": f"{last_batch[:8]}02{last_batch[10:]}",
        "a byte too few": last_batch[:-2],
        "a byte too many": f"{last_batch}00",
        "no header": last_batch[:40],
        "no words": cases[0]["batch"][:56] + "00000000" + cases[0]["batch"][64:],
        "more than there are": f"{last_batch[:64]}ffffffff{last_batch[72:]}",
    }
    return cases + [{"what": description, "batch": text, "refused": True} for description, text in broken.items()]


def make_question(start: int, stop: int, number: int, *, epsilon: str = "1", expires: int | None = None) -> Case:
    """Return a signed question to some of the people."""
    ask = Ask.of("which", PeopleGroup(start, stop), CandidateQuestion(CandidateList(3)), "grr", Fraction(epsilon))
    document = question_document(ask, study_id(study_document(PLAN, SIGNER).text), number, expires, SIGNER)
    return {"question": document.text, "signature": document.signature}


def signed(purpose: bytes, document: Case, signer: Signer = SIGNER) -> tuple[str, str]:
    """Return any text with its signature."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text, signer.sign(purpose + text.encode())


def studies() -> list[Case]:
    """Return answers of a service, each with the decision of a device."""
    document, half = study_document(PLAN, SIGNER), 1 << 31
    study_form = {"study": document.text, "signature": document.signature, "key": SIGNER.key}
    other_signer = Signer(bytes(32))
    foreign, words = study_document(PLAN, other_signer), json.loads(document.text)

    def changed(**fields: Any) -> Case:
        text, signature = signed(STUDY, {**words, **fields})
        return {**study_form, "study": text, "signature": signature}

    def changed_question(**fields: Any) -> Case:
        text, signature = signed(QUESTION, {**json.loads(make_question(0, half, 0)["question"]), **fields})
        return {"question": text, "signature": signature}

    def questions_with(**fields: Any) -> Case:
        question = {**json.loads(make_question(0, half, 0)["question"])["question"], **fields}
        return {"questions": {"state": "open", "questions": [changed_question(question=question)]}}

    def study_without(name: str) -> Case:
        text, signature = signed(STUDY, {field: value for field, value in words.items() if field != name})
        return {"study": {**study_form, "study": text, "signature": signature}}

    def nested(depth: int) -> Any:
        return [nested(depth - 1)] if depth else 0

    def related(pair_kind: str, pairs: str) -> Case:
        """Return a study about relations of one kind, with a question about relations of a second kind."""
        study = changed(pairs=pair_kind)
        question = {**json.loads(make_question(0, half, 0)["question"]), "study": study_id(study["study"])}
        text, signature = signed(QUESTION, {**question, "question": {**question["question"], "pairs": pairs}})
        answer = {"state": "open", "questions": [{"question": text, "signature": signature}]}
        return {"study": study, "questions": answer}

    def unlisted(items: Any, **fields: Any) -> Case:
        """Return a study with this list or none, and a question about texts or not."""
        study = changed(items=items)
        question = {**json.loads(make_question(0, half, 0)["question"]), "study": study_id(study["study"])}
        text, signature = signed(QUESTION, {**question, "question": {**question["question"], **fields}})
        return {
            "study": study,
            "questions": {"state": "open", "questions": [{"question": text, "signature": signature}]},
        }

    def leveled(**fields: Any) -> Case:
        """Return a study that maps items, with a question about all items that they are mapped to."""
        study = changed(**{"format": 2, "held": ["bread", "butter"], "become": [[0], [1, 2]], **fields})
        question = {**json.loads(make_question(0, half, 0)["question"]), "study": study_id(study["study"])}
        text, signature = signed(QUESTION, question)
        return {
            "study": study,
            "questions": {"state": "open", "questions": [{"question": text, "signature": signature}]},
        }

    spelt = {"begin": [""], "alphabet": "ab", "step": 1, "length": 4}
    first_question, second_question = make_question(0, half, 0), make_question(half, 1 << 32, 1, expires=1_800_000_000)
    seen_round = [0, 0, half, "00" * 32]
    cases: dict[str, Case] = {
        "a study": {},
        "a study whose key is known": {"key": SIGNER.key},
        "another key than is known": {"key": other_signer.key},
        "signed by another key": {"study": {**study_form, "signature": foreign.signature}},
        "a signature of something else": {"study": {**study_form, "signature": SIGNER.sign(b"else")}},
        "a letter changed": {"study": {**study_form, "study": document.text.replace("adept", "Adept")}},
        "signed as a question": {"study": {**study_form, "signature": signed(QUESTION, words)[1]}},
        "no signature": {"study": {"study": document.text, "key": SIGNER.key}},
        "a signature that is no hex": {"study": {**study_form, "signature": "zz" * 64}},
        "over what the owner allows": {"max_epsilon": "1/2"},
        "a delta": {"study": changed(delta="0.001")},
        "a delta that the owner allows": {"study": changed(delta="0.001"), "max_delta": "0.001"},
        "another format": {"study": changed(format=2)},
        "another name": {"name": "lunch"},
        "a key inside that is another": {"study": changed(key=other_signer.key)},
        "items that are numbers": {"study": changed(items=[1, 2, 3])},
        "pairs that there are not": {"study": changed(pairs="near")},
        "an exponent": {"study": changed(epsilon="1e0")},
        "questions": {"questions": {"state": "open", "questions": [first_question, second_question]}},
        "no question": {"questions": {"state": "waiting", "questions": []}},
        "rounds that overlap": {
            "questions": {"state": "open", "questions": [first_question, make_question(half - 1, half + 9, 1)]}
        },
        "one round twice": {
            "questions": {"state": "open", "questions": [first_question, make_question(half, half + 9, 0)]}
        },
        "the same question twice": {"questions": {"state": "open", "questions": [first_question, first_question]}},
        "a round that was another": {
            "questions": {"state": "open", "questions": [first_question]},
            "seen": [seen_round],
        },
        "an overlap with an earlier round": {
            "questions": {"state": "open", "questions": [second_question]},
            "seen": [[0, half - 9, half + 9, "00" * 32]],
        },
        "beside an earlier round": {
            "questions": {"state": "open", "questions": [second_question]},
            "seen": [seen_round],
        },
        "a question signed as a study": {
            "questions": {"state": "open", "questions": [{**first_question, "signature": signed(STUDY, words)[1]}]}
        },
        "a question of another study": {
            "questions": {"state": "open", "questions": [changed_question(study="00" * 16)]}
        },
        "a question over its study": {
            "questions": {"state": "open", "questions": [make_question(0, half, 0, epsilon="2")]}
        },
        "who the wrong way round": {"questions": {"state": "open", "questions": [changed_question(who=[9, 3])]}},
        "who beyond": {"questions": {"state": "open", "questions": [changed_question(who=[0, (1 << 32) + 1])]}},
        "a round below 0": {"questions": {"state": "open", "questions": [changed_question(round=-1)]}},
        "no state": {"questions": {"questions": []}},
        **{f"a study without {name}": study_without(name) for name in words},
        "settings that are a list": {"study": changed(settings=[])},
        "a title that is a number": {"study": changed(title=1)},
        "nothing that is wanted": {"study": changed(top=0)},
        "patterns of nothing": {"study": changed(least=0)},
        "rounds that are counted": {"study": changed(rounds=3)},
        "no rounds": {"study": changed(rounds=0)},
        "rounds that are text": {"study": changed(rounds="3")},
        "somebody else who may take part": {"study": changed(who="friends")},
        "a delta that is a number": {"study": changed(delta=0)},
        "a field that the format does not name": {"study": changed(more="x")},
        "lists within each other": {"study": changed(settings={"more": nested(62)})},
        "lists within each other, one more": {"study": changed(settings={"more": nested(63)})},
        "a question with lists within each other": {
            "questions": {"state": "open", "questions": [changed_question(more=nested(63))]}
        },
        "a question with lists within each other, one more": {
            "questions": {"state": "open", "questions": [changed_question(more=nested(64))]}
        },
        "a question without expires": {
            "questions": {"state": "open", "questions": [without_expires(make_question(0, half, 0))]}
        },
        "all items of the list": questions_with(of=3),
        "more items than the list has": questions_with(of=4),
        "the last item of the list": questions_with(of=[[0, 2], 2]),
        "an item beyond the list": questions_with(of=[0, 3]),
        "an item beyond the list, in an itemset": questions_with(of=[[0, 1], [1, 3]]),
        "an order beyond the list": questions_with(ask="prefix", of=[[0]], order=[0, 1, 3], length=1),
        "relations of a study that has none": questions_with(of=[[0, 1]], pairs="after"),
        "items together of a study without relations": questions_with(of=[[0, 1]], pairs="together"),
        "relations that are nothing": questions_with(of=[[0, 1]], pairs=None),
        "a square of items": questions_with(ask="projection", of=3, pairs="folded"),
        "the relations of a study": related("after", "after"),
        "other relations than those of a study": related("after", "given"),
        "a study without a list": {"study": changed(items=None)},
        "texts of a study without a list": unlisted(None, texts=spelt),
        "items of a study without a list": unlisted(None),
        "texts of a study with a list": unlisted(["bread", "butter", "tea"], texts=spelt),
        **{f"a hierarchy: {description}": leveled(**fields) for description, fields in LEVELED.items()},
    }
    return [
        decided({"what": description, "name": "breakfast", "study": study_form, **case})
        for description, case in cases.items()
    ]


def without_expires(entry: Case) -> Case:
    """Return a question without the field that says until when it is asked."""
    question = json.loads(entry["question"])
    text, signature = signed(QUESTION, {name: value for name, value in question.items() if name != "expires"})
    return {"question": text, "signature": signature}


def answers() -> list[Case]:
    """Return what may come back for a report: what a service says, and what others do who answer in its place."""
    answer_rows = [("counted", 200, '{"outcome":"counted"}'), ("counted before", 200, '{"outcome":"already-counted"}')]
    for reason in Reason:
        problem = {
            "type": f"urn:discreet:{reason}",
            "title": reason.problem_title,
            "status": reason.status,
            "reason": reason,
        }
        answer_rows.append((str(reason), reason.status, _compact(problem)))
    spent_token_problem = _compact(
        {"type": "urn:discreet:token-spent", "title": "The token was spent", "reason": "token-spent"}
    )
    answer_rows += [
        ("a network that wants a login", 403, "<html>please log in</html>"),
        ("a network that wants a login, and says that all is well", 200, "<html>please log in</html>"),
        ("a proxy that knows nothing", 404, "nginx"),
        ("nothing", 409, ""),
        ("a reason without its type", 409, '{"reason":"token-spent"}'),
        ("a type of somebody else", 409, '{"type":"about:blank","reason":"token-spent"}'),
        ("a type of another reason", 409, '{"type":"urn:discreet:busy","reason":"token-spent"}'),
        ("a reason that is a list", 409, '{"type":"urn:discreet:token-spent","reason":["token-spent"]}'),
        ("half a document", 409, spent_token_problem[:-1]),
        ("a document in a list", 409, f"[{spent_token_problem}]"),
        ("a refusal that says that all is well", 200, spent_token_problem),
        ("a reason that there is not yet", 409, '{"type":"urn:discreet:tired","title":"Tired","reason":"tired"}'),
        ("an outcome that there is not", 200, '{"outcome":"lost"}'),
        ("an outcome with an error", 500, '{"outcome":"counted"}'),
        ("elsewhere", 302, ""),
        ("elsewhere, with a refusal", 307, spent_token_problem),
        ("a service that is down", 502, "<html>Bad Gateway</html>"),
    ]
    cases = [{"what": description, "status": status, "body": body} for description, status, body in answer_rows]
    return [{**case, "fate": parse_fate(case["status"], case["body"].encode())[0]} for case in cases]


# The secret keys and messages of the tests of RFC 8032, section 7.1, without the long one.
RFC_8032 = {
    "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60": "",
    "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb": "72",
    "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7": "af82",
    "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42": sha512(b"abc").hexdigest(),
}
FIELD = 2**255 - 19


def signatures() -> list[Case]:
    """Return signatures that hold, and ones that do not; the words of each say why."""
    cases: list[Case] = []
    for number, (secret, message) in enumerate(RFC_8032.items(), start=1):
        signer = Signer(bytes.fromhex(secret))
        description = f"test {number} of RFC 8032"
        signature = signer.sign(bytes.fromhex(message))
        cases.append(
            {"what": description, "key": signer.key, "message": message, "signature": signature, "holds": True}
        )
    base_case = {**cases[2], "holds": False}
    point_text, scale = (
        base_case["signature"][:64],
        int.from_bytes(bytes.fromhex(base_case["signature"][64:]), "little"),
    )

    def text(number: int) -> str:
        return number.to_bytes(32, "little").hex()

    broken = {
        "another message": {"message": "af83"},
        "another key": {"key": cases[0]["key"]},
        "a bit of the point": {"signature": f"{int(point_text[0], 16) ^ 1:x}" + base_case["signature"][1:]},
        "a bit of the scale": {"signature": point_text + text(scale ^ 1)},
        "a scale over the order": {"signature": point_text + text(scale + ORDER)},
        "the order as a scale": {"signature": point_text + text(ORDER)},
        "a byte too few": {"signature": base_case["signature"][:-2]},
        "a byte too many": {"signature": base_case["signature"] + "00"},
        "no signature": {"signature": ""},
        "a short key": {"key": base_case["key"][:-2]},
        "a key that is no point": {"key": text(2)},
        "a first point that is none": {"signature": text(2) + text(scale)},
        "a key not below the field": {"key": text(FIELD + 3), "signature": text(3) + text(0)},
        "a first point not below the field": {"signature": text(FIELD + 3) + text(scale)},
        # The scale 0 and the first point of nothing hold under a key of small order, for every message.
        "a key of order one": {"key": text(1), "signature": text(1) + text(0)},
        "a key of order one, with a sign": {"key": text(1 + 2**255), "signature": text(1) + text(0)},
        "a key of order one, not below the field": {"key": text(FIELD + 1), "signature": text(1) + text(0)},
        "a key of order two": {"key": text(FIELD - 1), "signature": text(1) + text(0)},
        "a key of order four": {"key": text(0), "signature": text(1) + text(0)},
        "a key of order eight": {"key": text(EIGHTH), "signature": text(1) + text(0)},
        "a key of order eight, mirrored": {"key": text(FIELD - EIGHTH), "signature": text(1) + text(0)},
    }
    cases += [{**base_case, "what": description, **changed} for description, changed in broken.items()]
    return [*cases, *small_first(), *mixed_orders()]


def small_first() -> list[Case]:
    """Return a signature with a neutral first point: it holds by the equation, and no honest signer makes it."""
    secret = sha512(bytes(32)).digest()[:32]
    scale = (int.from_bytes(secret, "little") & ((1 << 254) - 8)) | 1 << 254
    key, nothing = bytes.fromhex(Signer(bytes(32)).key), (1).to_bytes(32, "little")
    challenge = int.from_bytes(sha512(nothing + key).digest(), "little") % ORDER
    signature = nothing + (challenge * scale % ORDER).to_bytes(32, "little")
    return [
        {
            "what": "a first point of order one",
            "key": key.hex(),
            "message": "",
            "signature": signature.hex(),
            "holds": False,
        }
    ]


def mixed_orders() -> list[Case]:
    """Return signatures on which the equations of RFC 8032, with and without the cofactor, say different things.

    A point that is the sum of an honest one and of one of order eight is of no small order, and written in the one
    right way. Eight times it, the equation holds for each of these signatures. Without the cofactor it holds for those
    alone in which the parts of order eight cancel each other; for the last of them, once k was reduced by the order.
    """
    scale, nonce = 2**251 + 12_345, 2**250 + 67_890
    # The x of the point of order eight whose y is EIGHTH: x^2 = (y^2 - 1) / (d y^2 + 1).
    square = (EIGHTH**2 - 1) * pow(CURVE * EIGHTH**2 + 1, -1, FIELD) % FIELD
    root = pow(square, (FIELD + 3) // 8, FIELD)
    root = root if root * root % FIELD == square else root * pow(2, (FIELD - 1) // 4, FIELD) % FIELD
    small_point = (root, EIGHTH, 1, root * EIGHTH % FIELD)

    def times(number: int, point: Point) -> Point:
        return combined(number, point, 0, point)

    def encode_point(point: Point) -> bytes:
        x, y = (side * pow(point[2], -1, FIELD) % FIELD for side in point[:2])
        return (y | (x & 1) << 255).to_bytes(32, "little")

    def signature(key: Point, first_point: Point, fits: Callable[[int], bool]) -> Case:
        for number in range(1000):
            message, encoded_points = (
                bytes([number % 256, number // 256]),
                encode_point(first_point) + encode_point(key),
            )
            challenge = int.from_bytes(sha512(encoded_points + message).digest(), "little")
            if fits(challenge):
                response = (nonce + challenge % ORDER * scale) % ORDER
                text = encode_point(first_point).hex() + response.to_bytes(32, "little").hex()
                return {"key": encode_point(key).hex(), "message": message.hex(), "signature": text}
        raise AssertionError

    key, first_point = times(scale, BASE), times(nonce, BASE)
    mixed_key, mixed_first = added(key, small_point), added(first_point, small_point)
    cases: list[tuple[str, bool, Case]] = [
        ("a first point of mixed order", False, signature(key, mixed_first, lambda _: True)),
        ("a key of mixed order", False, signature(mixed_key, first_point, lambda k: bool(k % 8 and k % ORDER % 8))),
        (
            "a key and a first point of mixed order that cancel each other",
            True,
            signature(mixed_key, mixed_first, lambda k: k % 8 == k % ORDER % 8 == 7),
        ),
        (
            "a key of mixed order that cancels when k is reduced by the order",
            True,
            signature(mixed_key, first_point, lambda k: bool(k % 8) and k % ORDER % 8 == 0),
        ),
        (
            "a key of mixed order that cancels when k is not reduced by the order",
            False,
            signature(mixed_key, first_point, lambda k: k % 8 == 0 and bool(k % ORDER % 8)),
        ),
    ]
    return [{"what": description, **case, "holds": holds} for description, holds, case in cases]


def taken_part(
    answers: dict[str, tuple[int, str]], number: int, *, clock_seconds: int = 0, token: str | None = "ab" * 16
) -> tuple[Case, dict[str, Any]]:
    """Return the outcome and the record of a device with this number for given answers of a service."""
    sent_bodies: list[bytes] = []

    def send(method: str, address: str, body: bytes | None) -> tuple[int, bytes]:
        path = address.partition("/v1/studies/breakfast")[2]
        if path == "/reports":
            sent_bodies.append(body or b"")
            return 200, b'{"outcome":"counted"}'
        status, text = answers[path]
        return status, text.encode()

    drawn_words = iter([number.to_bytes(4, "little")])
    with TemporaryDirectory() as folder:
        device = Participant(
            "http://service", "breakfast", folder=folder, max_epsilon=1, token=token, pause=0, send=send,
            now=lambda: clock_seconds, take=lambda byte_count: next(drawn_words, bytes(byte_count)),
        )  # fmt: skip
        try:
            outcome: Case = {"standing": device.take_part([1])}
        except ValueError as error:
            outcome = {"refused": str(error)}
        except OSError:
            outcome = {"again": True}
        record = device.memory.read()
    if sent_bodies:
        outcome = {"round": json.loads(sent_bodies[0])["round"], "token": json.loads(sent_bodies[0])["token"]}
    return outcome, record


def asking_cases() -> list[Case]:
    """Return the question that a device answers, by its number, the clock and the rounds it has seen."""
    document, half = study_document(PLAN, SIGNER), 1 << 31
    study = {"study": document.text, "signature": document.signature, "key": SIGNER.key}
    first_question, second_question = make_question(0, half, 0), make_question(half, 1 << 32, 1, expires=1_800_000_000)
    both_questions, end = {"state": "open", "questions": [first_question, second_question]}, 1_800_000_000
    cases: list[tuple[str, Case, int, int]] = [
        ("the first number", both_questions, 0, 0),
        ("the last number before the end of a round", both_questions, half - 1, 0),
        ("the first number of the next round", both_questions, half, 0),
        ("the last number of all", both_questions, WORD - 1, 0),
        ("the second before a question expires", both_questions, half, end - 1),
        ("the second in which a question expires", both_questions, half, end),
        ("the question of others has expired", both_questions, 0, end),
        ("a question that never expires", both_questions, 0, 2**40),
        ("nobody of this number is asked yet", {"state": "open", "questions": [second_question]}, 0, 0),
        ("between rounds", {"state": "waiting", "questions": []}, 0, 0),
        ("the study is over", {"state": "released", "questions": []}, 0, 0),
        ("the study is over, and its reports are deleted", {"state": "scrubbed", "questions": []}, 0, 0),
        ("a state that there is not yet", {"state": "resting", "questions": []}, 0, 0),
        ("an open question of a study that is over", {"state": "released", "questions": [first_question]}, 0, 0),
        ("a question to others that is refused", {"state": "open", "questions": [first_question, unanswered()]}, 0, 0),
        (
            "a question to this device that is refused",
            {"state": "open", "questions": [first_question, unanswered()]},
            half,
            0,
        ),
    ]
    completed_cases = []
    for description, questions, number, clock_seconds in cases:
        answers = {"": (200, json.dumps(study)), "/questions": (200, json.dumps(questions))}
        outcome, record = taken_part(answers, number, clock_seconds=clock_seconds)
        case = {"what": description, "study": study, "questions": questions, "number": number, "now": clock_seconds}
        outcome.pop("token", None)
        completed_cases.append({**case, **outcome, "seen": record.get("seen", [])})
    return completed_cases


def unanswered() -> Case:
    """Return a question to the second half that a service may sign, and that no device answers: it hides its loss."""
    question = json.loads(make_question(1 << 31, 1 << 32, 1)["question"])
    oracle = {**question["question"]["oracle"], "inside": str((1 << 64) - 1)}
    text, signature = signed(QUESTION, {**question, "question": {**question["question"], "oracle": oracle}})
    return {"question": text, "signature": signature}


def enrolled() -> list[Case]:
    """Return answers to a request to enrol, each with the outcome of a device."""
    document = study_document(PLAN, SIGNER)
    study = {"study": document.text, "signature": document.signature, "key": SIGNER.key}
    questions = {"state": "open", "questions": [make_question(0, WORD, 0)]}
    answers: list[tuple[str, int, str]] = [
        ("a token", 200, _compact({"token": "0123456789abcdef" * 2})),
        ("a token and more", 200, _compact({"more": [1], "token": "ee" * 16})),
        ("no token", 200, "{}"),
        ("a token that is a number", 200, _compact({"token": 7})),
        ("a token that is null", 200, _compact({"token": None})),
        ("a digit too few", 200, _compact({"token": "e" * 31})),
        ("a digit too many", 200, _compact({"token": "e" * 33})),
        ("large digits", 200, _compact({"token": "EE" * 16})),
        ("a line feed after it", 200, _compact({"token": "ee" * 16 + "\n"})),
        ("a token with another status", 201, _compact({"token": "ee" * 16})),
        ("a list", 200, _compact(["ee" * 16])),
        ("a network that wants a login", 200, "<html>please log in</html>"),
        ("a network that wants a login, and says so", 403, "<html>please log in</html>"),
        ("a reason without its type", 403, '{"reason":"not-for-anyone"}'),
    ]
    for reason in (Reason.NOT_FOR_ANYONE, Reason.ROUND_CLOSED, Reason.UNKNOWN_STUDY, Reason.TOO_MANY, Reason.BUSY):
        problem = {
            "type": f"urn:discreet:{reason}",
            "title": reason.problem_title,
            "status": reason.status,
            "reason": reason,
        }
        answers.append((str(reason), reason.status, _compact(problem)))
    cases = []
    for description, status, body in answers:
        all_answers = {
            "": (200, json.dumps(study)),
            "/questions": (200, json.dumps(questions)),
            "/enrol": (status, body),
        }
        outcome, _ = taken_part(all_answers, 0, token=None)
        outcome.pop("round", None)
        cases.append({"what": description, "status": status, "body": body, **outcome})
    return cases


def sized_cases() -> list[Case]:
    """Return signed questions of as many bytes as may be, and of one more; what is written stands before spaces."""
    document = study_document(PLAN, SIGNER)
    study = {"study": document.text, "signature": document.signature, "key": SIGNER.key}
    question = json.loads(make_question(0, WORD, 0)["question"])
    cases = []
    for suffix, extra_fields in (("", {}), (" with letters of two bytes", {"more": "é" * 9})):
        for extra_bytes in (0, 1):
            text = json.dumps({**question, **extra_fields}, ensure_ascii=False, separators=(",", ":"))
            bytes_of_text = MOST_QUESTION + extra_bytes
            padded_text = text + " " * (bytes_of_text - len(text.encode()))
            entry = {"question": padded_text, "signature": SIGNER.sign(QUESTION + padded_text.encode())}
            answer = {"state": "open", "questions": [entry]}
            case = {
                "what": f"{'one byte more than' if extra_bytes else 'as many bytes as'} may be{suffix}",
                "name": "breakfast",
            }
            outcome = decided({**case, "study": study, "questions": answer})
            cases.append({**outcome, "questions": {"state": "open", "questions": [{**entry, "question": text}]}})
            cases[-1]["bytes"] = bytes_of_text
    return cases


def decided(case: Case) -> Case:
    """Return a case with the decision of a device."""
    limits = {"max_epsilon": case.get("max_epsilon", "1"), "max_delta": case.get("max_delta", "0")}
    try:
        study = parse_study(case["study"], case["name"], key=case.get("key"), **limits)
        if "questions" not in case:
            return {**case, "id": study.id}
        _, rounds = parse_questions(case["questions"], study, [tuple(entry) for entry in case.get("seen", [])])
        return {
            **case,
            "id": study.id,
            "rounds": [
                [signed_round.round, signed_round.start, signed_round.stop, signed_round.expires]
                for signed_round in rounds
            ],
        }
    except ValueError as error:
        return {**case, "refused": str(error)}


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def files() -> dict[str, str]:
    """Return the text of each file."""
    cases = {"packed": packed_cases(), "batches": batches(), "studies": studies(), "answers": answers()}
    cases["signatures"] = signatures()
    cases["becoming"] = levels()
    cases |= {"asked": asking_cases(), "enrol": enrolled(), "measured": sized_cases()}
    lines = {name: ",\n".join(map(_compact, file_cases)) for name, file_cases in cases.items()}
    return {f"{name}.json": f"[\n{text}\n]\n" for name, text in lines.items()}


if __name__ == "__main__":
    for name, text in files().items():
        (VECTORS_FOLDER / name).write_text(text)
