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
    becomes,
    parse_questions,
    parse_study,
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
from discreet.local.study import Ask, CandidateList, SeededWords, Which, Who, seed_of

sys.path.append(str(Path(__file__).parents[1]))  # as a script too it is a part of `vectors`

from vectors.make import LIVE

Case = dict[str, Any]
HERE = Path(__file__).parent / "v1"
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
    """Return what baskets become."""
    table = [[0, 4, 6], [1, 4, 6], [], [3], [2, 5]]
    baskets = [[], [0], [1, 0], [2], [3, 3, 0], [0, 1, 2, 3, 4], [-1, 5, 4], [7]]
    return [{"basket": one, "table": table, "becomes": becomes(one, table)} for one in baskets]


def packed_oracles() -> list[Any]:
    """Return an oracle of each kind of the format, and those whose words are the largest."""
    later = [oracles()["geometry"]]  # bytes go by the place in this list, so that what came later stands last
    live = [oracles()[name] for name in LIVE if oracles()[name] not in later]
    made: list[Any] = [kind.make(Fraction(1), 10, pad=2) for kind in live]
    made += [kind.make(Fraction(3), 2, single=True) for kind in live if not kind.sets]
    made += [kind.make(epsilon) for kind in means().values() for epsilon in (Fraction(1, 2), Fraction(4))]
    made += [kind.make(Fraction(1), 10, pad=2).numbered(seeds) for kind in (OLH, Wheel) for seeds in (4096, 1 << 31)]
    return made + [kind.make(epsilon, 10, pad=2) for kind in later for epsilon in (Fraction(1), Fraction(3))]


def bad_words(oracle: Any) -> Iterator[list[int]]:
    """Yield words that are no report of an oracle."""
    last, wide = (1 << 32) - 1, oracle.codec.width
    if getattr(oracle, "seeds", None) is not None:
        yield from ([oracle.seeds, 0], [last, 0], [1, oracle.places])
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
        yield [*range(wide - 1), oracle.symbols_in_all]
        if wide > 1:
            yield [1, 0, *range(2, wide)]
            yield [0, 0, *range(2, wide)]
    if oracle.name in ("grr", "duchi", "pm", "geometry"):
        bounds = {"grr": lambda: oracle.symbols_in_all, "duchi": lambda: 2}
        yield [bounds.get(oracle.name, lambda: oracle.points)()]
        yield [last]


def packed() -> list[Case]:
    """Return reports and their words, and words that are no reports."""
    found: list[Case] = []
    for number, oracle in enumerate(packed_oracles()):
        for basket in range(4):
            stream = SeededWords(seed_of(2, f"packed {number} {basket}"), 0)
            one = 3 * basket - 4 if isinstance(oracle, tuple(means().values())) else [basket % oracle.size]
            report = oracle.randomise(one, stream.take)
            words = oracle.codec.pack(oracle.codec.make_columns([report]))[0].tolist()
            found.append({"oracle": oracle.form, "report": _compact(report), "words": words})
        found += [{"oracle": oracle.form, "words": words, "refused": True} for words in bad_words(oracle)]
    return found


def batches() -> list[Case]:
    """Return batches and what is in them."""
    found = []
    for wide, many in ((1, 0), (1, 1), (3, 2)):
        rows = [
            {
                "token": bytes([7 * at + 1] * 16).hex(),
                "key": bytes([9 * at + 2] * 16).hex(),
                "words": [(at + 1) * (1 << 28) + place for place in range(wide)],
            }
            for at in range(many)
        ]
        tokens, keys = ([bytes.fromhex(row[name]) for row in rows] for name in ("token", "key"))
        words = np.array([row["words"] for row in rows], np.uint32).reshape(many, wide)
        batch = ReportBatch.build(bytes(range(16)), 3, tokens, keys, words)
        text = {"study": bytes(range(16)).hex(), "round": 3, "words": wide, "reports": rows}
        found.append({**text, "batch": batch.encode().hex()})
    last = found[-1]["batch"]
    broken = {
        "another magic": f"00{last[2:]}",
        "another format": f"{last[:8]}02{last[10:]}",
        "a byte too few": last[:-2],
        "a byte too many": f"{last}00",
        "no header": last[:40],
        "no words": found[0]["batch"][:56] + "00000000" + found[0]["batch"][64:],
        "more than there are": f"{last[:64]}ffffffff{last[72:]}",
    }
    return found + [{"what": what, "batch": text, "refused": True} for what, text in broken.items()]


def asked(start: int, stop: int, number: int, *, epsilon: str = "1", expires: int | None = None) -> Case:
    """Return a signed question to some of the people."""
    ask = Ask.of("which", Who(start, stop), Which(CandidateList(3)), "grr", Fraction(epsilon))
    made = question_document(ask, study_id(study_document(PLAN, SIGNER).text), number, expires, SIGNER)
    return {"question": made.text, "signature": made.signature}


def signed(purpose: bytes, told: Case, signer: Signer = SIGNER) -> tuple[str, str]:
    """Return any text with its signature."""
    text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    return text, signer.sign(purpose + text.encode())


def studies() -> list[Case]:
    """Return what a service answers, and what a device makes of it."""
    made, half = study_document(PLAN, SIGNER), 1 << 31
    good = {"study": made.text, "signature": made.signature, "key": SIGNER.key}
    other = Signer(bytes(32))
    foreign, words = study_document(PLAN, other), json.loads(made.text)

    def changed(**fields: Any) -> Case:
        text, signature = signed(STUDY, {**words, **fields})
        return {**good, "study": text, "signature": signature}

    def changed_question(**fields: Any) -> Case:
        text, signature = signed(QUESTION, {**json.loads(asked(0, half, 0)["question"]), **fields})
        return {"question": text, "signature": signature}

    def about(**fields: Any) -> Case:
        question = {**json.loads(asked(0, half, 0)["question"])["question"], **fields}
        return {"questions": {"state": "open", "questions": [changed_question(question=question)]}}

    def without(name: str) -> Case:
        text, signature = signed(STUDY, {one: value for one, value in words.items() if one != name})
        return {"study": {**good, "study": text, "signature": signature}}

    def nested(depth: int) -> Any:
        return [nested(depth - 1)] if depth else 0

    def related(how: str, pairs: str) -> Case:
        """Return a study about relations of one kind, with a question about those of another."""
        study = changed(pairs=how)
        question = {**json.loads(asked(0, half, 0)["question"]), "study": study_id(study["study"])}
        text, signature = signed(QUESTION, {**question, "question": {**question["question"], "pairs": pairs}})
        shown = {"state": "open", "questions": [{"question": text, "signature": signature}]}
        return {"study": study, "questions": shown}

    def unlisted(items: Any, **fields: Any) -> Case:
        """Return a study with this list or none, and a question about texts or not."""
        study = changed(items=items)
        question = {**json.loads(asked(0, half, 0)["question"]), "study": study_id(study["study"])}
        text, signature = signed(QUESTION, {**question, "question": {**question["question"], **fields}})
        return {
            "study": study,
            "questions": {"state": "open", "questions": [{"question": text, "signature": signature}]},
        }

    def leveled(**fields: Any) -> Case:
        """Return a study that says what items become, with a question about all items that they become."""
        study = changed(**{"format": 2, "held": ["bread", "butter"], "become": [[0], [1, 2]], **fields})
        question = {**json.loads(asked(0, half, 0)["question"]), "study": study_id(study["study"])}
        text, signature = signed(QUESTION, question)
        return {
            "study": study,
            "questions": {"state": "open", "questions": [{"question": text, "signature": signature}]},
        }

    spelt = {"begin": [""], "alphabet": "ab", "step": 1, "length": 4}
    first, second = asked(0, half, 0), asked(half, 1 << 32, 1, expires=1_800_000_000)
    seen = [0, 0, half, "00" * 32]
    cases: dict[str, Case] = {
        "a study": {},
        "a study whose key is known": {"key": SIGNER.key},
        "another key than is known": {"key": other.key},
        "signed by another key": {"study": {**good, "signature": foreign.signature}},
        "a signature of something else": {"study": {**good, "signature": SIGNER.sign(b"else")}},
        "a letter changed": {"study": {**good, "study": made.text.replace("adept", "Adept")}},
        "signed as a question": {"study": {**good, "signature": signed(QUESTION, words)[1]}},
        "no signature": {"study": {"study": made.text, "key": SIGNER.key}},
        "a signature that is no hex": {"study": {**good, "signature": "zz" * 64}},
        "over what the owner allows": {"max_epsilon": "1/2"},
        "a delta": {"study": changed(delta="0.001")},
        "a delta that the owner allows": {"study": changed(delta="0.001"), "max_delta": "0.001"},
        "another format": {"study": changed(format=2)},
        "another name": {"name": "lunch"},
        "a key inside that is another": {"study": changed(key=other.key)},
        "items that are numbers": {"study": changed(items=[1, 2, 3])},
        "pairs that there are not": {"study": changed(pairs="near")},
        "an exponent": {"study": changed(epsilon="1e0")},
        "questions": {"questions": {"state": "open", "questions": [first, second]}},
        "no question": {"questions": {"state": "waiting", "questions": []}},
        "rounds that overlap": {"questions": {"state": "open", "questions": [first, asked(half - 1, half + 9, 1)]}},
        "one round twice": {"questions": {"state": "open", "questions": [first, asked(half, half + 9, 0)]}},
        "the same question twice": {"questions": {"state": "open", "questions": [first, first]}},
        "a round that was another": {"questions": {"state": "open", "questions": [first]}, "seen": [seen]},
        "an overlap with an earlier round": {
            "questions": {"state": "open", "questions": [second]},
            "seen": [[0, half - 9, half + 9, "00" * 32]],
        },
        "beside an earlier round": {"questions": {"state": "open", "questions": [second]}, "seen": [seen]},
        "a question signed as a study": {
            "questions": {"state": "open", "questions": [{**first, "signature": signed(STUDY, words)[1]}]}
        },
        "a question of another study": {
            "questions": {"state": "open", "questions": [changed_question(study="00" * 16)]}
        },
        "a question over its study": {"questions": {"state": "open", "questions": [asked(0, half, 0, epsilon="2")]}},
        "who the wrong way round": {"questions": {"state": "open", "questions": [changed_question(who=[9, 3])]}},
        "who beyond": {"questions": {"state": "open", "questions": [changed_question(who=[0, (1 << 32) + 1])]}},
        "a round below 0": {"questions": {"state": "open", "questions": [changed_question(round=-1)]}},
        "no state": {"questions": {"questions": []}},
        **{f"a study without {name}": without(name) for name in words},
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
            "questions": {"state": "open", "questions": [without_expires(asked(0, half, 0))]}
        },
        "all items of the list": about(of=3),
        "more items than the list has": about(of=4),
        "the last item of the list": about(of=[[0, 2], 2]),
        "an item beyond the list": about(of=[0, 3]),
        "an item beyond the list, in an itemset": about(of=[[0, 1], [1, 3]]),
        "an order beyond the list": about(ask="prefix", of=[[0]], order=[0, 1, 3], length=1),
        "relations of a study that has none": about(of=[[0, 1]], pairs="after"),
        "items together of a study without relations": about(of=[[0, 1]], pairs="together"),
        "relations that are nothing": about(of=[[0, 1]], pairs=None),
        "a square of items": about(ask="projection", of=3, pairs="folded"),
        "the relations of a study": related("after", "after"),
        "other relations than those of a study": related("after", "given"),
        "a study without a list": {"study": changed(items=None)},
        "texts of a study without a list": unlisted(None, texts=spelt),
        "items of a study without a list": unlisted(None),
        "texts of a study with a list": unlisted(["bread", "butter", "tea"], texts=spelt),
        **{f"a hierarchy: {what}": leveled(**fields) for what, fields in LEVELED.items()},
    }
    return [decided({"what": what, "name": "breakfast", "study": good, **case}) for what, case in cases.items()]


def without_expires(shown: Case) -> Case:
    """Return a question without the field that says until when it is asked."""
    told = json.loads(shown["question"])
    text, signature = signed(QUESTION, {name: value for name, value in told.items() if name != "expires"})
    return {"question": text, "signature": signature}


def answers() -> list[Case]:
    """Return what may come back for a report: what a service says, and what others do who answer in its place."""
    found = [("counted", 200, '{"outcome":"counted"}'), ("counted before", 200, '{"outcome":"already-counted"}')]
    for reason in Reason:
        told = {
            "type": f"urn:discreet:{reason}",
            "title": reason.problem_title,
            "status": reason.status,
            "reason": reason,
        }
        found.append((str(reason), reason.status, _compact(told)))
    spent = _compact({"type": "urn:discreet:token-spent", "title": "The token was spent", "reason": "token-spent"})
    found += [
        ("a network that wants a login", 403, "<html>please log in</html>"),
        ("a network that wants a login, and says that all is well", 200, "<html>please log in</html>"),
        ("a proxy that knows nothing", 404, "nginx"),
        ("nothing", 409, ""),
        ("a reason without its type", 409, '{"reason":"token-spent"}'),
        ("a type of somebody else", 409, '{"type":"about:blank","reason":"token-spent"}'),
        ("a type of another reason", 409, '{"type":"urn:discreet:busy","reason":"token-spent"}'),
        ("a reason that is a list", 409, '{"type":"urn:discreet:token-spent","reason":["token-spent"]}'),
        ("half a document", 409, spent[:-1]),
        ("a document in a list", 409, f"[{spent}]"),
        ("a refusal that says that all is well", 200, spent),
        ("a reason that there is not yet", 409, '{"type":"urn:discreet:tired","title":"Tired","reason":"tired"}'),
        ("an outcome that there is not", 200, '{"outcome":"lost"}'),
        ("an outcome with an error", 500, '{"outcome":"counted"}'),
        ("elsewhere", 302, ""),
        ("elsewhere, with a refusal", 307, spent),
        ("a service that is down", 502, "<html>Bad Gateway</html>"),
    ]
    cases = [{"what": what, "status": status, "body": body} for what, status, body in found]
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
    found: list[Case] = []
    for number, (secret, message) in enumerate(RFC_8032.items(), start=1):
        signer = Signer(bytes.fromhex(secret))
        what = f"test {number} of RFC 8032"
        signature = signer.sign(bytes.fromhex(message))
        found.append({"what": what, "key": signer.key, "message": message, "signature": signature, "holds": True})
    one = {**found[2], "holds": False}
    first, scale = one["signature"][:64], int.from_bytes(bytes.fromhex(one["signature"][64:]), "little")

    def text(number: int) -> str:
        return number.to_bytes(32, "little").hex()

    broken = {
        "another message": {"message": "af83"},
        "another key": {"key": found[0]["key"]},
        "a bit of the point": {"signature": f"{int(first[0], 16) ^ 1:x}" + one["signature"][1:]},
        "a bit of the scale": {"signature": first + text(scale ^ 1)},
        "a scale over the order": {"signature": first + text(scale + ORDER)},
        "the order as a scale": {"signature": first + text(ORDER)},
        "a byte too few": {"signature": one["signature"][:-2]},
        "a byte too many": {"signature": one["signature"] + "00"},
        "no signature": {"signature": ""},
        "a short key": {"key": one["key"][:-2]},
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
    found += [{**one, "what": what, **changed} for what, changed in broken.items()]
    return [*found, *small_first(), *mixed_orders()]


def small_first() -> list[Case]:
    """Return a signature whose first point is nothing: it holds by the equation, and no honest signer makes it."""
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
    small = (root, EIGHTH, 1, root * EIGHTH % FIELD)

    def times(number: int, point: Point) -> Point:
        return combined(number, point, 0, point)

    def written(point: Point) -> bytes:
        x, y = (side * pow(point[2], -1, FIELD) % FIELD for side in point[:2])
        return (y | (x & 1) << 255).to_bytes(32, "little")

    def signature(key: Point, first: Point, fits: Callable[[int], bool]) -> Case:
        for number in range(1000):
            message, both = bytes([number % 256, number // 256]), written(first) + written(key)
            challenge = int.from_bytes(sha512(both + message).digest(), "little")
            if fits(challenge):
                last = (nonce + challenge % ORDER * scale) % ORDER
                text = written(first).hex() + last.to_bytes(32, "little").hex()
                return {"key": written(key).hex(), "message": message.hex(), "signature": text}
        raise AssertionError

    key, first = times(scale, BASE), times(nonce, BASE)
    mixed_key, mixed_first = added(key, small), added(first, small)
    cases: list[tuple[str, bool, Case]] = [
        ("a first point of mixed order", False, signature(key, mixed_first, lambda _: True)),
        ("a key of mixed order", False, signature(mixed_key, first, lambda k: bool(k % 8 and k % ORDER % 8))),
        (
            "a key and a first point of mixed order that cancel each other",
            True,
            signature(mixed_key, mixed_first, lambda k: k % 8 == k % ORDER % 8 == 7),
        ),
        (
            "a key of mixed order that cancels when k is reduced by the order",
            True,
            signature(mixed_key, first, lambda k: bool(k % 8) and k % ORDER % 8 == 0),
        ),
        (
            "a key of mixed order that cancels when k is not reduced by the order",
            False,
            signature(mixed_key, first, lambda k: k % 8 == 0 and bool(k % ORDER % 8)),
        ),
    ]
    return [{"what": what, **case, "holds": holds} for what, holds, case in cases]


def taken_part(
    answers: dict[str, tuple[int, str]], number: int, *, now: int = 0, token: str | None = "ab" * 16
) -> tuple[Case, dict[str, Any]]:
    """Return what a device of this number does when a service answers so, and what it then has in its record."""
    sent: list[bytes] = []

    def send(method: str, address: str, body: bytes | None) -> tuple[int, bytes]:
        path = address.partition("/v1/studies/breakfast")[2]
        if path == "/reports":
            sent.append(body or b"")
            return 200, b'{"outcome":"counted"}'
        status, text = answers[path]
        return status, text.encode()

    drawn = iter([number.to_bytes(4, "little")])
    with TemporaryDirectory() as folder:
        device = Participant(
            "http://service", "breakfast", folder=folder, max_epsilon=1, token=token, pause=0, send=send,
            now=lambda: now, take=lambda many: next(drawn, bytes(many)),
        )  # fmt: skip
        try:
            standing: Case = {"standing": device.take_part([1])}
        except ValueError as error:
            standing = {"refused": str(error)}
        except OSError:
            standing = {"again": True}
        record = device.memory.read()
    if sent:
        standing = {"round": json.loads(sent[0])["round"], "token": json.loads(sent[0])["token"]}
    return standing, record


def asking() -> list[Case]:
    """Return which of the questions a device answers, by its number, the clock and what it has seen."""
    made, half = study_document(PLAN, SIGNER), 1 << 31
    study = {"study": made.text, "signature": made.signature, "key": SIGNER.key}
    first, second = asked(0, half, 0), asked(half, 1 << 32, 1, expires=1_800_000_000)
    both, end = {"state": "open", "questions": [first, second]}, 1_800_000_000
    cases: list[tuple[str, Case, int, int]] = [
        ("the first number", both, 0, 0),
        ("the last number before the end of a round", both, half - 1, 0),
        ("the first number of the next round", both, half, 0),
        ("the last number of all", both, WORD - 1, 0),
        ("the second before a question expires", both, half, end - 1),
        ("the second in which a question expires", both, half, end),
        ("the question of others has expired", both, 0, end),
        ("a question that never expires", both, 0, 2**40),
        ("nobody of this number is asked yet", {"state": "open", "questions": [second]}, 0, 0),
        ("between rounds", {"state": "waiting", "questions": []}, 0, 0),
        ("the study is over", {"state": "released", "questions": []}, 0, 0),
        ("the study is over, and its reports are deleted", {"state": "scrubbed", "questions": []}, 0, 0),
        ("a state that there is not yet", {"state": "resting", "questions": []}, 0, 0),
        ("an open question of a study that is over", {"state": "released", "questions": [first]}, 0, 0),
        ("a question to others that is refused", {"state": "open", "questions": [first, unanswered()]}, 0, 0),
        ("a question to this device that is refused", {"state": "open", "questions": [first, unanswered()]}, half, 0),
    ]
    found = []
    for what, questions, number, now in cases:
        answers = {"": (200, json.dumps(study)), "/questions": (200, json.dumps(questions))}
        told, record = taken_part(answers, number, now=now)
        case = {"what": what, "study": study, "questions": questions, "number": number, "now": now}
        told.pop("token", None)
        found.append({**case, **told, "seen": record.get("seen", [])})
    return found


def unanswered() -> Case:
    """Return a question to the second half that a service may sign, and that no device answers: it hides its loss."""
    told = json.loads(asked(1 << 31, 1 << 32, 1)["question"])
    oracle = {**told["question"]["oracle"], "inside": str((1 << 64) - 1)}
    text, signature = signed(QUESTION, {**told, "question": {**told["question"], "oracle": oracle}})
    return {"question": text, "signature": signature}


def enrolled() -> list[Case]:
    """Return what may come back for a request to enrol, and what a device makes of it."""
    made = study_document(PLAN, SIGNER)
    study = {"study": made.text, "signature": made.signature, "key": SIGNER.key}
    questions = {"state": "open", "questions": [asked(0, WORD, 0)]}
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
        told = {
            "type": f"urn:discreet:{reason}",
            "title": reason.problem_title,
            "status": reason.status,
            "reason": reason,
        }
        answers.append((str(reason), reason.status, _compact(told)))
    found = []
    for what, status, body in answers:
        all_answers = {
            "": (200, json.dumps(study)),
            "/questions": (200, json.dumps(questions)),
            "/enrol": (status, body),
        }
        told, _ = taken_part(all_answers, 0, token=None)
        told.pop("round", None)
        found.append({"what": what, "status": status, "body": body, **told})
    return found


def measured() -> list[Case]:
    """Return signed questions of as many bytes as may be, and of one more; what is written stands before spaces."""
    made = study_document(PLAN, SIGNER)
    study = {"study": made.text, "signature": made.signature, "key": SIGNER.key}
    told = json.loads(asked(0, WORD, 0)["question"])
    cases = []
    for what, more in (("", {}), (" with letters of two bytes", {"more": "é" * 9})):
        for beyond in (0, 1):
            text = json.dumps({**told, **more}, ensure_ascii=False, separators=(",", ":"))
            bytes_of_text = MOST_QUESTION + beyond
            padded = text + " " * (bytes_of_text - len(text.encode()))
            shown = {"question": padded, "signature": SIGNER.sign(QUESTION + padded.encode())}
            answer = {"state": "open", "questions": [shown]}
            case = {
                "what": f"{'one byte more than' if beyond else 'as many bytes as'} may be{what}",
                "name": "breakfast",
            }
            outcome = decided({**case, "study": study, "questions": answer})
            cases.append({**outcome, "questions": {"state": "open", "questions": [{**shown, "question": text}]}})
            cases[-1]["bytes"] = bytes_of_text
    return cases


def decided(case: Case) -> Case:
    """Return a case with what a device makes of it."""
    limits = {"max_epsilon": case.get("max_epsilon", "1"), "max_delta": case.get("max_delta", "0")}
    try:
        study = parse_study(case["study"], case["name"], key=case.get("key"), **limits)
        if "questions" not in case:
            return {**case, "id": study.id}
        _, found = parse_questions(case["questions"], study, [tuple(one) for one in case.get("seen", [])])
        return {**case, "id": study.id, "rounds": [[one.round, one.start, one.stop, one.expires] for one in found]}
    except ValueError as error:
        return {**case, "refused": str(error)}


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def files() -> dict[str, str]:
    """Return what each file holds."""
    cases = {"packed": packed(), "batches": batches(), "studies": studies(), "answers": answers()}
    cases["signatures"] = signatures()
    cases["becoming"] = levels()
    cases |= {"asked": asking(), "enrol": enrolled(), "measured": measured()}
    lines = {name: ",\n".join(map(_compact, some)) for name, some in cases.items()}
    return {f"{name}.json": f"[\n{text}\n]\n" for name, text in lines.items()}


if __name__ == "__main__":
    for name, text in files().items():
        (HERE / name).write_text(text)
