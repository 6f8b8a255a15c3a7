"""Devices in TypeScript and in Python in one study of the real service: each counted once, whichever goes on for it."""

from __future__ import annotations

import json

import pytest

from clients import node
from collector.serving import plan_of, served
from discreet.local.device import Participant, over_http
from vectors.make_studies import PLAN, SIGNER, make_question, study_document
from vectors.reading import cases


@pytest.fixture
def study(tmp_path):
    """A service with an open study and rounds that are closed by hand; its operator's token, and tokens for devices."""
    node.require_client()
    with served(tmp_path / "service") as service:
        operator = service.operator()
        status, answer = service.ask("/v1/studies", json.loads(plan_of().to_json()), token=operator)
        assert status == 200, answer
        _, tokens_answer = service.ask("/v1/studies/study/tokens", {"many": 40}, token=operator)
        yield service, operator, tokens_answer["tokens"]


def test_a_whole_study_with_devices_of_both_kinds(study, tmp_path):
    service, operator, tokens = study
    waiting, counted_reports = dict(enumerate(tokens)), 0

    def take_part_in_python(number: int, token: str) -> str:
        device = Participant(
            service.address, "study", folder=tmp_path / str(number), max_epsilon=4, token=token, pause=0
        )
        return device.take_part([number % 6])

    with node.speaking("devices.mjs") as ask:

        def take_part_in_typescript(number: int, token: str) -> str:
            place = str(tmp_path / str(number))
            request = {"address": service.address, "study": "study", "folder": place, "basket": [number % 6]}
            return str(ask({**request, "token": token}))

        while waiting:
            outcomes = {
                number: (take_part_in_typescript if number % 2 else take_part_in_python)(number, token)
                for number, token in waiting.items()
            }
            assert set(outcomes.values()) <= {"counted", "waiting", "not-asked"}
            counted_reports += sum(outcome == "counted" for outcome in outcomes.values())
            waiting = {number: waiting[number] for number, outcome in outcomes.items() if outcome == "waiting"}
            service.ask("/v1/studies/study/close", {}, token=operator)
        # Whichever device goes on with a record knows that it has answered.
        request = {"address": service.address, "study": "study", "folder": str(tmp_path / "0"), "basket": []}
        assert ask({**request, "token": tokens[0]}) in ("already-counted", "not-asked")
    _, progress = service.ask("/v1/studies/study/rounds")
    assert (progress["state"], progress["people"]) == ("released", counted_reports)
    assert counted_reports >= 30  # few devices have a number that no round asks


@pytest.mark.parametrize("first_language", ["typescript", "python"])
def test_the_other_sends_what_one_wrote_down(study, tmp_path, first_language):
    """A device killed between writing and sending, and a device of the second language that goes on: equal bytes."""
    service, _, tokens = study
    sent_bodies: list[bytes] = []

    def send(method: str, address: str, body: bytes | None) -> tuple[int, bytes]:
        if address.endswith("/reports"):
            assert body is not None
            sent_bodies.append(body)
            if first_language == "python":
                raise OSError("killed before it sent")
        return over_http(method, address, body)

    request = {"address": service.address, "study": "study", "basket": [1], "token": tokens[0]}
    with node.speaking("devices.mjs") as ask:
        for number in range(40):  # until one is asked in the first round
            folder = tmp_path / str(number)
            limits = {"max_epsilon": 4, "pause": 0}
            device = Participant(service.address, "study", folder=folder, token=tokens[0], send=send, **limits)
            request |= {"folder": str(folder), "crash": first_language == "typescript"}
            outcome = ask(request) if first_language == "typescript" else _take_part(device)
            if outcome == "waiting":
                continue
            assert "killed before it sent" in outcome
            stored_study = json.loads((folder / "study.json").read_text())
            assert list(stored_study) == ["number", "study", "key", "seen", "token", "asked", "report"]
            assert (device.take_part([5]) if first_language == "typescript" else ask(request)) == "counted"
            assert json.loads((folder / "study.json").read_text())["report"] == stored_study["report"]
            assert [json.loads(body)["report"] for body in sent_bodies] == [
                json.loads(stored_study["report"])["report"]
            ]
            break
        else:
            raise AssertionError("nobody was asked")


def _take_part(device: Participant) -> str:
    try:
        return device.take_part([1])
    except OSError as error:
        return str(error)


ANSWERED = {case["what"]: [case["status"], case["body"]] for case in cases("answers")}
ANSWERS_BY_CASE = {
    "counted": ["counted"],
    "counted before": ["counted before"],
    "refused": ["token-spent", "counted"],
    "a proxy and then the service": ["a proxy that knows nothing", "counted"],
    "a token that is not known, and another": ["token-unknown", "token-unknown", "counted"],
    "waiting": [],
    "too much in all": ["counted"],
}


@pytest.mark.parametrize("case_name", list(ANSWERS_BY_CASE))
def test_both_write_and_send_the_same_bytes(tmp_path, case_name):
    """Equal answers and random bytes give equal words, bodies and files of both, call by call."""
    node.require_client()
    document = study_document(PLAN, SIGNER)
    entries = [
        make_question(0 if ANSWERS_BY_CASE[case_name] else 1, 1 << 32 if ANSWERS_BY_CASE[case_name] else 2, 0),
        *([make_question(2, 9, 1)] if not ANSWERS_BY_CASE[case_name] else []),
    ]
    answers = {
        "": [200, json.dumps({"study": document.text, "signature": document.signature, "key": SIGNER.key})],
        "/questions": [200, json.dumps({"state": "open", "questions": entries})],
        "/enrol": [200, json.dumps({"token": "ee" * 16})],
    }
    max_total_epsilon = "1/2" if case_name == "too much in all" else None
    with node.speaking("records.mjs") as ask:
        for number, answer in enumerate(ANSWERS_BY_CASE[case_name] or ["counted"]):
            token = None if case_name == "counted" else f"{number // 2 + 10:x}" * 32
            answers["/reports"] = ANSWERED[answer]
            random = bytes(range(7 * number, 7 * number + 64)).hex() if ANSWERS_BY_CASE[case_name] else "ff" * 64
            case = {
                "basket": [number % 3],
                "answers": answers,
                "random": random,
                "token": token,
                "most": max_total_epsilon,
            }
            typescript_outcome = ask({**case, "folder": str(tmp_path / "there")})
            assert _answered(tmp_path / "here", **case) == typescript_outcome
            assert _files(tmp_path / "here") == _files(tmp_path / "there")
    assert ("_spent.json" in _files(tmp_path / "here")) == (case_name not in ("waiting", "too much in all"))


def _answered(folder, *, basket, answers, random, token, most):
    remaining_bytes, bodies = bytes.fromhex(random), []

    def take(byte_count: int) -> bytes:
        nonlocal remaining_bytes
        chunk, remaining_bytes = remaining_bytes[:byte_count], remaining_bytes[byte_count:]
        return chunk

    def send(method: str, address: str, body: bytes | None) -> tuple[int, bytes]:
        path = address.partition("/breakfast")[2]
        if path == "/reports":
            bodies.append((body or b"").decode())
        status, answer_text = answers[path]
        return status, answer_text.encode()

    device = Participant(
        "http://service", "breakfast", folder=folder, max_epsilon=1, max_total_epsilon=most, token=token, pause=0,
        send=send, now=lambda: 0.0, take=take,
    )  # fmt: skip
    try:
        outcome: str = device.take_part(basket)
    except (ValueError, OSError) as error:
        outcome = str(error)
    return {"told": outcome, "bodies": bodies, "left": len(remaining_bytes)}


def _files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".json"}
