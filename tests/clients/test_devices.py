"""Devices in TypeScript and in Python in one study of the real service: each counted once, whichever goes on for it."""

from __future__ import annotations

import json

import pytest

from clients import node
from collector.serving import plan_of, served
from discreet.local.device import Participant, over_http
from vectors.make_studies import PLAN, SIGNER, asked, study_document
from vectors.reading import cases


@pytest.fixture
def study(tmp_path):
    """A service with an open study, whose rounds are closed by hand; its operator's token, and tokens for devices."""
    node.needed()
    with served(tmp_path / "service") as service:
        operator = service.operator()
        status, told = service.ask("/v1/studies", json.loads(plan_of().to_json()), token=operator)
        assert status == 200, told
        _, made = service.ask("/v1/studies/study/tokens", {"many": 40}, token=operator)
        yield service, operator, made["tokens"]


def test_a_whole_study_with_devices_of_both_kinds(study, tmp_path):
    service, operator, tokens = study
    waiting, counted = dict(enumerate(tokens)), 0

    def here(number: int, token: str) -> str:
        device = Participant(
            service.address, "study", folder=tmp_path / str(number), max_epsilon=4, token=token, pause=0
        )
        return device.take_part([number % 6])

    with node.speaking("devices.mjs") as ask:

        def there(number: int, token: str) -> str:
            place = str(tmp_path / str(number))
            asked = {"address": service.address, "study": "study", "folder": place, "basket": [number % 6]}
            return str(ask({**asked, "token": token}))

        while waiting:
            told = {number: (there if number % 2 else here)(number, token) for number, token in waiting.items()}
            assert set(told.values()) <= {"counted", "waiting", "not-asked"}
            counted += sum(one == "counted" for one in told.values())
            waiting = {number: waiting[number] for number, one in told.items() if one == "waiting"}
            service.ask("/v1/studies/study/close", {}, token=operator)
        # Whichever device goes on with a record knows that it has answered.
        asked = {"address": service.address, "study": "study", "folder": str(tmp_path / "0"), "basket": []}
        assert ask({**asked, "token": tokens[0]}) in ("already-counted", "not-asked")
    _, progress = service.ask("/v1/studies/study/rounds")
    assert (progress["state"], progress["people"]) == ("released", counted)
    assert counted >= 30  # those whose number no round asked are few


@pytest.mark.parametrize("first", ["typescript", "python"])
def test_the_other_sends_what_one_wrote_down(study, tmp_path, first):
    """A device killed between writing and sending, and one of the other language that goes on: the same bytes."""
    service, _, tokens = study
    sent: list[bytes] = []

    def send(method: str, address: str, body: bytes | None) -> tuple[int, bytes]:
        if address.endswith("/reports"):
            assert body is not None
            sent.append(body)
            if first == "python":
                raise OSError("killed before it sent")
        return over_http(method, address, body)

    asked = {"address": service.address, "study": "study", "basket": [1], "token": tokens[0]}
    with node.speaking("devices.mjs") as ask:
        for number in range(40):  # until one is asked in the first round
            folder = tmp_path / str(number)
            limits = {"max_epsilon": 4, "pause": 0}
            device = Participant(service.address, "study", folder=folder, token=tokens[0], send=send, **limits)
            asked |= {"folder": str(folder), "crash": first == "typescript"}
            told = ask(asked) if first == "typescript" else _tried(device)
            if told == "waiting":
                continue
            assert "killed before it sent" in told
            known = json.loads((folder / "study.json").read_text())
            assert list(known) == ["number", "study", "key", "seen", "token", "asked", "report"]
            assert (device.take_part([5]) if first == "typescript" else ask(asked)) == "counted"
            assert json.loads((folder / "study.json").read_text())["report"] == known["report"]
            assert [json.loads(body)["report"] for body in sent] == [json.loads(known["report"])["report"]]
            break
        else:
            raise AssertionError("nobody was asked")


def _tried(device: Participant) -> str:
    try:
        return device.take_part([1])
    except OSError as error:
        return str(error)


ANSWERED = {case["what"]: [case["status"], case["body"]] for case in cases("answers")}
HOW = {
    "counted": ["counted"],
    "counted before": ["counted before"],
    "refused": ["token-spent", "counted"],
    "a proxy and then the service": ["a proxy that knows nothing", "counted"],
    "a token that is not known, and another": ["token-unknown", "token-unknown", "counted"],
    "waiting": [],
    "too much in all": ["counted"],
}


@pytest.mark.parametrize("what", list(HOW))
def test_both_write_and_send_the_same_bytes(tmp_path, what):
    """The same answers and random bytes: the same words, bodies and files of both, call by call."""
    node.needed()
    made = study_document(PLAN, SIGNER)
    shown = [asked(0 if HOW[what] else 1, 1 << 32 if HOW[what] else 2, 0), *([asked(2, 9, 1)] if not HOW[what] else [])]
    answers = {
        "": [200, json.dumps({"study": made.text, "signature": made.signature, "key": SIGNER.key})],
        "/questions": [200, json.dumps({"state": "open", "questions": shown})],
        "/enrol": [200, json.dumps({"token": "ee" * 16})],
    }
    most = "1/2" if what == "too much in all" else None
    with node.speaking("records.mjs") as ask:
        for number, answer in enumerate(HOW[what] or ["counted"]):
            token = None if what == "counted" else f"{number // 2 + 10:x}" * 32
            answers["/reports"] = ANSWERED[answer]
            random = bytes(range(7 * number, 7 * number + 64)).hex() if HOW[what] else "ff" * 64
            case = {"basket": [number % 3], "answers": answers, "random": random, "token": token, "most": most}
            there = ask({**case, "folder": str(tmp_path / "there")})
            assert _answered(tmp_path / "here", **case) == there
            assert _files(tmp_path / "here") == _files(tmp_path / "there")
    assert ("_spent.json" in _files(tmp_path / "here")) == (what not in ("waiting", "too much in all"))


def _answered(folder, *, basket, answers, random, token, most):
    left, bodies = bytes.fromhex(random), []

    def take(many: int) -> bytes:
        nonlocal left
        taken, left = left[:many], left[many:]
        return taken

    def send(method: str, address: str, body: bytes | None) -> tuple[int, bytes]:
        path = address.partition("/breakfast")[2]
        if path == "/reports":
            bodies.append((body or b"").decode())
        status, told = answers[path]
        return status, told.encode()

    device = Participant(
        "http://service", "breakfast", folder=folder, max_epsilon=1, max_total_epsilon=most, token=token, pause=0,
        send=send, now=lambda: 0.0, take=take,
    )  # fmt: skip
    try:
        told: str = device.take_part(basket)
    except (ValueError, OSError) as error:
        told = str(error)
    return {"told": told, "bodies": bodies, "left": len(left)}


def _files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".json"}
