"""Decisions of a device about a study and its questions: the golden vectors, and signatures beside a second library."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from random import Random

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from discreet.local.device import MOST_QUESTION, is_signature, parse_questions, parse_study
from discreet.local.device._documents import MOST_QUESTIONS
from discreet.local.device._ed25519 import _ORDER
from vectors import make_studies
from vectors.reading import FOLDER, cases


def test_the_script_writes_what_is_there():
    for name, text in make_studies.files().items():
        assert (FOLDER / name).read_text() == text


@pytest.mark.parametrize("case", cases("studies"), ids=lambda case: case["what"])
def test_devices_do_as_every_case_says(case):
    outcome = make_studies.decided(
        {key: value for key, value in case.items() if key not in ("id", "rounds", "refused")}
    )
    assert outcome == case
    if "id" in case:
        assert case["id"] == sha256(case["study"]["study"].encode()).hexdigest()[:32]


@pytest.mark.parametrize("case", cases("measured"), ids=lambda case: case["what"])
def test_it_is_the_bytes_of_the_signed_text_that_are_counted(case):
    (signed_question,) = case["questions"]["questions"]
    text = signed_question["question"] + " " * (case["bytes"] - len(signed_question["question"].encode()))
    answer = {"state": "open", "questions": [{**signed_question, "question": text}]}
    outcome = make_studies.decided({"study": case["study"], "name": case["name"], "questions": answer})
    assert {name: outcome.get(name) for name in ("rounds", "refused")} == {
        name: case.get(name) for name in ("rounds", "refused")
    }
    assert ("refused" in case) is (len(text.encode()) > MOST_QUESTION)


def test_devices_are_asked_and_enrol_as_every_case_says():
    """That the Python device does so, the script says, which writes what it did; here, that every outcome is tried."""
    outcomes = [{"round", "standing", "refused"} & set(case) for case in cases("asked")]
    assert {name for outcome in outcomes for name in outcome} == {"round", "standing", "refused"}
    assert {case.get("standing") for case in cases("asked")} == {None, "waiting", "not-asked"}
    for case in cases("asked"):
        questions = [json.loads(question["question"]) for question in case["questions"]["questions"]]
        hashes = [sha256(question["question"].encode()).hexdigest() for question in case["questions"]["questions"]]
        seen_rounds = [
            [question["round"], *question["who"], digest] for question, digest in zip(questions, hashes, strict=True)
        ]
        assert case["seen"] == seen_rounds
        if "round" in case:
            (start, stop), expires = next(
                (question["who"], question["expires"]) for question in questions if question["round"] == case["round"]
            )
            assert start <= case["number"] < stop
            assert expires is None or case["now"] < expires
    kinds = {name for case in cases("enrol") for name in ("token", "refused", "again") if name in case}
    assert kinds == {"token", "refused", "again"}


def test_the_page_has_every_field():
    """What a service signs is what the page names; that a study without one of them is refused, the vectors say."""
    page = (FOLDER.parents[2] / "docs" / "wire.md").read_text()
    section = page.partition("## A study and its questions")[2].partition("## Sending reports")[0]
    tables = section.split("| field | meaning |")[1:]
    field_names = [
        re.findall("`([a-z]+)`", " ".join(re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE))) for table in tables
    ]
    case = next(case for case in cases("studies") if case["what"] == "questions")
    texts = [case["study"]["study"], case["questions"]["questions"][0]["question"]]
    assert list(map(sorted, field_names)) == [sorted(json.loads(text)) for text in texts]
    refused = {case["what"] for case in cases("studies") if "refused" in case}
    assert {f"a study without {name}" for name in field_names[0]} <= refused


def test_what_was_seen_is_not_checked_again_but_compared(monkeypatch):
    case = next(case for case in cases("studies") if case["what"] == "questions")
    study = parse_study(case["study"], "breakfast", key=None, max_epsilon=1)
    _, first_rounds = parse_questions(case["questions"], study)
    seen_rounds = [
        (signed_round.round, signed_round.start, signed_round.stop, signed_round.hash) for signed_round in first_rounds
    ]
    monkeypatch.setattr("discreet.local.device._documents.is_signature", lambda *_: False)
    assert parse_questions(case["questions"], study, seen_rounds)[1] == first_rounds
    with pytest.raises(ValueError, match="is not signed"):
        parse_questions(case["questions"], study, seen_rounds[:1])


def test_too_many_questions_are_not_looked_at():
    case = next(case for case in cases("studies") if case["what"] == "questions")
    study = parse_study(case["study"], "breakfast", key=None, max_epsilon=1)
    with pytest.raises(ValueError, match="The answer is not written as format 1 has it"):
        parse_questions({"state": "open", "questions": [{}] * (MOST_QUESTIONS + 1)}, study)


class TestSignatures:
    @pytest.mark.parametrize("case", cases("signatures"), ids=lambda case: case["what"])
    def test_the_vectors(self, case):
        key, message, signature = (bytes.fromhex(case[name]) for name in ("key", "message", "signature"))
        assert is_signature(key, message, signature) is case["holds"]

    @pytest.mark.parametrize(
        "case",
        [case for case in cases("signatures") if "mixed order" in case.get("what", "")],
        ids=lambda case: case["what"],
    )
    def test_another_library_has_no_cofactor_either(self, case):
        key, message, signature = (bytes.fromhex(case[name]) for name in ("key", "message", "signature"))
        assert accepted(key, message, signature) is case["holds"]

    def test_good_and_changed_ones_beside_another_library(self):
        chance = Random(1)
        for size in (0, 1, 31, 200):
            private = Ed25519PrivateKey.from_private_bytes(chance.randbytes(32))
            key, message = private.public_key().public_bytes_raw(), chance.randbytes(size)
            signature = private.sign(message)
            assert is_signature(key, message, signature)
            for place in chance.sample(range(64), 4):
                broken = bytearray(signature)
                broken[place] ^= 1 << chance.randrange(8)
                assert is_signature(key, message, bytes(broken)) is accepted(key, message, bytes(broken))
            assert not is_signature(key, message + b"x", signature)

    def test_a_scale_beyond_the_order_is_refused(self):
        private = Ed25519PrivateKey.from_private_bytes(bytes(32))
        key, signature = private.public_key().public_bytes_raw(), private.sign(b"once")
        scale = int.from_bytes(signature[32:], "little") + _ORDER
        assert not is_signature(key, b"once", signature[:32] + scale.to_bytes(32, "little"))

    @pytest.mark.parametrize(
        "key", [b"", bytes(31), bytes(33), b"\xff" * 32, b"\x02" + bytes(31), b"\1" + bytes(30) + b"\x80"]
    )
    def test_what_is_no_key_signs_nothing(self, key):
        assert not is_signature(key, b"", bytes(64))


def accepted(key: bytes, message: bytes, signature: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except InvalidSignature:
        return False
    return True
