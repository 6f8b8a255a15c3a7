"""A device in a study: what it remembers, what it refuses, and that it sends the same bytes whatever happens."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.local.device.participant import Participant
from vectors.make_studies import PLAN, SIGNER, Signer, asked, study_document

HALF = 1 << 31


class FakeService:
    """Answers like a service, counts tokens, and may break off at a stated request."""

    def __init__(self, *questions, state="open"):
        made = study_document(PLAN, SIGNER)
        self.study = {"study": made.text, "signature": made.signature, "key": SIGNER.key}
        self.questions, self.state = list(questions), state
        self.bodies, self.breaks, self.seen = [], None, []

    def __call__(self, method, address, body):
        path = address.partition("/v1/studies/breakfast")[2]
        self.seen.append(path)
        if self.breaks == path:
            raise OSError("broken off")
        if path == "":
            return 200, json.dumps(self.study).encode()
        if path == "/questions":
            return 200, json.dumps({"state": self.state, "questions": self.questions}).encode()
        if path == "/enrol":
            return 200, json.dumps({"token": "ee" * 16}).encode()
        self.bodies.append(body)
        if self.breaks == "answer":
            raise OSError("the answer is lost")
        again = body in self.bodies[:-1]
        return 200, json.dumps({"outcome": "already-counted" if again else "counted"}).encode()


def device(tmp_path, service, number=5, **options):
    drawn = iter([number.to_bytes(4, "little")])
    rest = b"\x01\x02\x03\x04" * 64
    return Participant(
        "http://service", "breakfast", folder=tmp_path / "device",
        **{"max_epsilon": 1, "send": service, "now": lambda: 100.0,
           "take": lambda many: next(drawn, rest)[:many], **options},
    )  # fmt: skip


def test_it_answers_once(tmp_path):
    service = FakeService(asked(0, HALF, 0))
    one = device(tmp_path, service, token="aa" * 16)
    assert one.take_part([1]) == "counted"
    assert one.take_part([2]) == "already-counted"
    assert len(service.bodies) == 1
    body = json.loads(service.bodies[0])
    assert (body["round"], body["token"], len(body["key"])) == (0, "aa" * 16, 32)
    # Another question of the same study finds nothing to say.
    service.questions = [asked(0, HALF, 1)]
    assert device(tmp_path, service).take_part([2]) == "already-counted"
    assert len(service.bodies) == 1


def test_it_waits_for_its_round(tmp_path):
    service = FakeService(asked(HALF, 1 << 32, 0))
    assert device(tmp_path, service).take_part([1]) == "waiting"
    service.questions, service.state = [], "waiting"
    assert device(tmp_path, service, number=9).take_part([1]) == "waiting"
    service.questions = [asked(0, HALF, 1)]
    assert device(tmp_path, service).take_part([1]) == "counted"
    service.state, service.questions = "released", []
    assert device(tmp_path / "other", service).take_part([1]) == "not-asked"


def test_its_number_is_drawn_before_anything_is_read(tmp_path):
    service = FakeService()
    service.breaks = ""
    with pytest.raises(OSError, match="broken off"):
        device(tmp_path, service, number=77).take_part([1])
    known = json.loads((tmp_path / "device" / "breakfast.json").read_text())
    assert known == {"number": 77}


def test_a_report_is_stored_before_it_is_sent_and_sent_again_as_it_is(tmp_path):
    service = FakeService(asked(0, HALF, 0))
    for broken in ("/reports", "answer", "answer"):
        service.breaks = broken
        with pytest.raises(OSError, match=r"broken off|is lost"):
            device(tmp_path, service).take_part([1])
    service.breaks = None
    service.questions = []
    assert device(tmp_path, service).take_part([2]) == "already-counted"
    assert len(service.bodies) == 3
    assert len(set(service.bodies)) == 1


def test_a_crash_between_storing_and_sending_changes_no_byte(tmp_path):
    """The process is ended right after its report was stored."""
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path\n"
        "sys.path.insert(0, sys.argv[3])\n"
        "from test_participant import FakeService, asked, HALF, Participant\n"
        "service = FakeService(asked(0, HALF, 0))\n"
        "def send(method, address, body):\n"
        "    if address.endswith('/reports'): os._exit(9)\n"
        "    return service(method, address, body)\n"
        "Participant('http://service', 'breakfast', folder=sys.argv[1], max_epsilon=1, token='aa' * 16, send=send,"
        " take=lambda many: bytes(many)).take_part([1])\n"
    )
    here = Path(__file__).parent
    folder = tmp_path / "device"
    done = subprocess.run([sys.executable, "-c", code, str(folder), str(here.parents[1]), str(here)], check=False)
    assert done.returncode == 9
    stored = json.loads((folder / "breakfast.json").read_text())["report"]
    service = FakeService(asked(0, HALF, 0))
    assert device(tmp_path, service).take_part([2]) == "counted"
    assert service.bodies == [stored.encode()]


def test_it_refuses_before_it_looks_at_its_basket(tmp_path):
    def never():
        raise AssertionError("the basket was looked at")
        yield

    service = FakeService(asked(0, HALF, 0), asked(HALF - 1, 1 << 32, 1))
    one = device(tmp_path, service)
    with pytest.raises(ValueError, match="Two rounds of the study ask the same people"):
        one.take_part(never())
    service.questions = [asked(0, HALF, 0, expires=100)]
    with pytest.raises(ValueError, match="The question has expired"):
        one.take_part(never())
    service.questions = [asked(0, HALF, 0, epsilon="1/2")]
    with pytest.raises(ValueError, match="asks something else than it did before"):
        one.take_part(never())
    with pytest.raises(ValueError, match=r"The study asks for epsilon 1, and this device gives at most 0\.5"):
        device(tmp_path / "b", service, max_epsilon="0.5").take_part(never())
    assert service.bodies == []


def test_a_study_or_a_key_that_changes_is_refused(tmp_path):
    service = FakeService()
    assert device(tmp_path, service).take_part([1]) == "waiting"
    good = service.study
    text = good["study"].replace("this week", "this year")
    service.study = {**good, "study": text, "signature": SIGNER.sign(b"discreet study 1\n" + text.encode())}
    with pytest.raises(ValueError, match="says something else than it did when this device joined it"):
        device(tmp_path, service).take_part([1])
    other = Signer(bytes(32))
    made = study_document(PLAN, other)
    service.study = {"study": made.text, "signature": made.signature, "key": other.key}
    with pytest.raises(ValueError, match="another key than this device knows"):
        device(tmp_path, service).take_part([1])
    with pytest.raises(ValueError, match="under another key than it was given now"):
        device(tmp_path, service, key=other.key).take_part([1])
    with pytest.raises(ValueError, match="another key than this device knows"):
        device(tmp_path / "b", service, key=SIGNER.key).take_part([1])


def test_without_a_token_it_asks_for_one_and_keeps_it(tmp_path):
    service = FakeService(asked(0, HALF, 0))
    assert device(tmp_path, service).take_part([1]) == "counted"
    assert json.loads(service.bodies[0])["token"] == "ee" * 16
    assert service.seen.count("/enrol") == 1


class Enrolling:
    """A service that gives no token, at first."""

    def __init__(self, *answers):
        self.answers, self.inner = list(answers), FakeService(asked(0, HALF, 0))

    def __call__(self, method, address, body):
        if address.endswith("/enrol") and self.answers:
            return self.answers.pop(0)
        return self.inner(method, address, body)


@pytest.mark.parametrize(
    ("answer", "error", "why"),
    [
        ((403, b'{"title": "The study is for those with a token"}'), ValueError, "does not answer: The study"),
        ((503, b"{}"), OSError, "cannot answer now"),
        ((200, b"{}"), ValueError, "The service gave no token of a participant: it has 32 digits"),
        ((200, b'{"token": "EE"}'), ValueError, "The service gave no token of a participant"),
    ],
)
def test_without_a_token_it_has_not_answered(tmp_path, answer, error, why):
    """No draw but that of its number, no look at the basket, and nothing kept: its one answer is still to be made."""
    drawn = []

    def take(many):
        drawn.append(many)
        return bytes(many)

    def never():
        raise AssertionError("the basket was looked at")
        yield

    service = Enrolling(answer)
    one = device(tmp_path, service, take=take)
    with pytest.raises(error, match=why):
        one.take_part(never())
    assert drawn == [4]
    assert {"token", "report"} & set(one.memory.read()) == set()
    assert one.take_part([1]) == "counted"


@pytest.mark.parametrize("token", ["", "aa", "AA" * 16, "aa" * 16 + "\n"])
def test_a_token_that_cannot_be_one_costs_no_answer(tmp_path, token):
    service = FakeService(asked(0, HALF, 0))
    with pytest.raises(ValueError, match="The device was given no token of a participant"):
        device(tmp_path, service, token=token).take_part([1])
    assert device(tmp_path, service, token="aa" * 16).take_part([1]) == "counted"


def test_what_the_service_refuses_is_final_and_told(tmp_path):
    class Refusing(FakeService):
        def __call__(self, method, address, body):
            if address.endswith("/reports"):
                self.bodies.append(body)
                return 409, b'{"reason": "token-spent"}'
            return super().__call__(method, address, body)

    service = Refusing(asked(0, HALF, 0))
    one = device(tmp_path, service)
    assert one.take_part([1]) == "refused"
    assert one.take_part([1]) == "refused"
    assert (one.reason, len(service.bodies)) == ("token-spent", 1)


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_busy_service_is_tried_again(tmp_path, status):
    class Busy(FakeService):
        def __call__(self, method, address, body):
            return (status, b"") if address.endswith("/reports") else super().__call__(method, address, body)

    one = device(tmp_path, Busy(asked(0, HALF, 0)))
    with pytest.raises(OSError, match=f"cannot take the report now .status {status}"):
        one.take_part([1])
    one.send = FakeService(asked(0, HALF, 0))
    assert one.take_part([1]) == "counted"


def test_a_damaged_memory_answers_no_more(tmp_path):
    service = FakeService(asked(0, HALF, 0))
    one = device(tmp_path, service)
    one.memory.place.write_bytes(b"\0\0\0")
    with pytest.raises(ValueError, match="is damaged: it answers no more"):
        one.take_part([1])
    assert service.seen == []


def test_addresses_are_looked_at(tmp_path):
    with pytest.raises(ValueError, match="begins with https:// or http://"):
        Participant("file:///etc", "x", folder=tmp_path, max_epsilon=1)
    one = Participant("http://127.0.0.1:1", "x", folder=tmp_path, max_epsilon=1)
    with pytest.raises(OSError, match="refused"):
        one.take_part([1])
