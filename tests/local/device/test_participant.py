"""A device in a study: its memory and refusals, and that it repeats its bytes after every failure."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from answering import AnsweringSockets
from discreet.local.device import (
    Participant,
    _answering as answering,
    _participant as participant,
    _rehearsal as rehearsal,
    _sending as sending,
    client,
    draw_basket,
    over_http,
    parse_questions,
    parse_study,
)
from discreet.local.device._answering import DeviceData
from vectors.make_studies import PLAN, SIGNER, Signer, make_question, study_document
from vectors.reading import asked_in, cases

HALF = 1 << 31


class FakeService:
    """Answers like a service, counts tokens, and may break off at a stated request."""

    def __init__(self, *questions, state="open"):
        document = study_document(PLAN, SIGNER)
        self.study = {"study": document.text, "signature": document.signature, "key": SIGNER.key}
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
        is_repeated = body in self.bodies[:-1]
        return 200, json.dumps({"outcome": "already-counted" if is_repeated else "counted"}).encode()


def refusal(reason, title="No"):
    return json.dumps({"type": f"urn:discreet:{reason}", "title": title, "reason": reason}).encode()


class Answering(FakeService):
    """Answers reports as it is told to, one after the other, and then as a service does."""

    def __init__(self, *answers):
        super().__init__(make_question(0, HALF, 0))
        self.answers = list(answers)

    def __call__(self, method, address, body):
        if not address.endswith("/reports") or not self.answers:
            return super().__call__(method, address, body)
        self.bodies.append(body)
        return self.answers.pop(0)


def device(tmp_path, service, number=5, **options):
    drawn_words = iter([number.to_bytes(4, "little")])
    later_bytes = b"\x01\x02\x03\x04" * 64
    return Participant(
        "http://service", "breakfast",
        **{"folder": tmp_path / "device", "max_epsilon": 1, "pause": 0, "send": service, "now": lambda: 100.0,
           "take": lambda byte_count: next(drawn_words, later_bytes)[:byte_count], **options},
    )  # fmt: skip


def test_it_answers_once(tmp_path):
    service = FakeService(make_question(0, HALF, 0))
    new_device = device(tmp_path, service, token="aa" * 16)
    assert new_device.take_part([1]) == "counted"
    assert new_device.take_part([2]) == "already-counted"
    assert len(service.bodies) == 1
    body = json.loads(service.bodies[0])
    assert (body["round"], body["token"], len(body["key"])) == (0, "aa" * 16, 32)
    # Another question of the same study finds nothing to say.
    service.questions = [make_question(0, HALF, 1)]
    assert device(tmp_path, service).take_part([2]) == "already-counted"
    assert len(service.bodies) == 1


def test_asking_again_does_not_average_over_baskets(tmp_path):
    """However often it draws one of its baskets, the report is that of the first it answered for, to the byte."""
    service = Answering(*[(503, refusal("busy"))] * 20)
    for _ in range(20):
        with pytest.raises(OSError, match="cannot take the report now"):
            device(tmp_path, service).take_part(draw_basket([[0], [1], [2]]))
    assert device(tmp_path, service).take_part(draw_basket([[0], [1], [2]])) == "already-counted"
    assert len(service.bodies) == 21
    assert len(set(service.bodies)) == 1


LEVELED = next(case for case in cases("studies") if case["what"] == "a hierarchy: a study")


def test_in_a_study_with_a_hierarchy_it_answers_for_what_stands_above(tmp_path):
    """Butter is 1 of what is held, and becomes 1 and 2 of what is asked about; 7 is nothing."""
    service = FakeService(*LEVELED["questions"]["questions"])
    service.study = LEVELED["study"]
    new_device = device(tmp_path, service, take=make_take(5))
    assert new_device.take_part([1, 7]) == "counted"
    take = make_take(5)
    take(4)
    question = json.loads(LEVELED["questions"]["questions"][0]["question"])["question"]
    expected = client(question, [1, 2], max_epsilon=1, take=take)
    assert json.loads(service.bodies[0])["report"] == json.loads(expected)
    with pytest.raises(ValueError, match="A basket holds whole numbers"):
        device(tmp_path / "another", service).take_part(["butter"])


def make_take(number):
    """Return where random bytes come from: the number of the device first."""
    stream = (number.to_bytes(4, "little") + bytes(range(1, 250)) * 9).__iter__()
    return lambda byte_count: bytes(next(stream) for _ in range(byte_count))


def test_it_waits_for_its_round(tmp_path):
    service = FakeService(make_question(HALF, 1 << 32, 0))
    assert device(tmp_path, service).take_part([1]) == "waiting"
    service.questions, service.state = [], "waiting"
    assert device(tmp_path, service, number=9).take_part([1]) == "waiting"
    service.questions = [make_question(0, HALF, 1)]
    assert device(tmp_path, service).take_part([1]) == "counted"
    service.state, service.questions = "released", []
    assert device(tmp_path / "other", service).take_part([1]) == "not-asked"


def test_its_number_is_drawn_before_anything_is_read(tmp_path):
    service = FakeService()
    service.breaks = ""
    with pytest.raises(OSError, match="broken off"):
        device(tmp_path, service, number=77).take_part([1])
    record = json.loads((tmp_path / "device" / "breakfast.json").read_text())
    assert record == {"number": 77}


def test_a_report_is_stored_before_it_is_sent_and_sent_again_as_it_is(tmp_path):
    service = FakeService(make_question(0, HALF, 0))
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
        "from test_participant import FakeService, make_question, HALF, Participant\n"
        "service = FakeService(make_question(0, HALF, 0))\n"
        "def send(method, address, body):\n"
        "    if address.endswith('/reports'): os._exit(9)\n"
        "    return service(method, address, body)\n"
        "Participant('http://service', 'breakfast', folder=sys.argv[1], max_epsilon=1, token='aa' * 16, send=send,"
        " pause=0, take=lambda many: bytes(many)).take_part([1])\n"
    )
    tests_folder = Path(__file__).parent
    folder = tmp_path / "device"
    completed = subprocess.run(
        [sys.executable, "-c", code, str(folder), str(tests_folder.parents[1]), str(tests_folder)], check=False
    )
    assert completed.returncode == 9
    stored = json.loads((folder / "breakfast.json").read_text())["report"]
    service = FakeService(make_question(0, HALF, 0))
    assert device(tmp_path, service).take_part([2]) == "counted"
    assert service.bodies == [stored.encode()]


def test_it_refuses_whatever_is_held(tmp_path):
    service = FakeService(make_question(0, HALF, 0), make_question(HALF - 1, 1 << 32, 1))
    new_device = device(tmp_path, service)
    with pytest.raises(ValueError, match="Two rounds of the study ask the same people"):
        new_device.take_part([1])
    service.questions = [make_question(0, HALF, 0, expires=100)]
    with pytest.raises(ValueError, match="The question has expired"):
        new_device.take_part([1])
    service.questions = [make_question(0, HALF, 0, epsilon="1/2")]
    with pytest.raises(ValueError, match="asks something else than it did before"):
        new_device.take_part([1])
    with pytest.raises(ValueError, match=r"The study asks for epsilon 1, and this device gives at most 0\.5"):
        device(tmp_path / "b", service, max_epsilon="0.5").take_part([1])
    assert service.bodies == []


def test_a_study_or_a_key_that_changes_is_refused(tmp_path):
    service = FakeService()
    assert device(tmp_path, service).take_part([1]) == "waiting"
    known_study = service.study
    text = known_study["study"].replace("this week", "this year")
    service.study = {**known_study, "study": text, "signature": SIGNER.sign(b"discreet study 1\n" + text.encode())}
    with pytest.raises(ValueError, match="says something else than it did when this device joined it"):
        device(tmp_path, service).take_part([1])
    other_signer = Signer(bytes(32))
    document = study_document(PLAN, other_signer)
    service.study = {"study": document.text, "signature": document.signature, "key": other_signer.key}
    with pytest.raises(ValueError, match="another key than this device knows"):
        device(tmp_path, service).take_part([1])
    with pytest.raises(ValueError, match="under another key than it was given now"):
        device(tmp_path, service, key=other_signer.key).take_part([1])
    with pytest.raises(ValueError, match="another key than this device knows"):
        device(tmp_path / "b", service, key=SIGNER.key).take_part([1])


def test_a_stored_report_goes_to_no_service_with_another_key(tmp_path):
    service = FakeService(make_question(0, HALF, 0))
    assert device(tmp_path, service).take_part([1]) == "counted"
    path = next(path for path in tmp_path.rglob("*") if path.is_file() and b'"outcome"' in path.read_bytes())
    memory = json.loads(path.read_text())
    # As if the answer had not come: the report would be sent again.
    path.write_text(json.dumps({name: value for name, value in memory.items() if name != "outcome"}))
    foreign_service = FakeService()
    with pytest.raises(ValueError, match="under another key than it was given now"):
        device(tmp_path, foreign_service, key=Signer(bytes(32)).key).take_part([1])
    assert (foreign_service.seen, foreign_service.bodies) == ([], [])
    assert device(tmp_path, service, key=SIGNER.key).take_part([1]) in ("counted", "already-counted")


def test_without_a_token_it_asks_for_one_and_keeps_it(tmp_path):
    service = FakeService(make_question(0, HALF, 0))
    assert device(tmp_path, service).take_part([1]) == "counted"
    assert json.loads(service.bodies[0])["token"] == "ee" * 16
    assert service.seen.count("/enrol") == 1


class Enrolling:
    """A service that gives no token, at first."""

    def __init__(self, *answers):
        self.answers, self.inner = list(answers), FakeService(make_question(0, HALF, 0))

    def __call__(self, method, address, body):
        if address.endswith("/enrol") and self.answers:
            return self.answers.pop(0)
        return self.inner(method, address, body)


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (
            (403, refusal("not-for-anyone", "The study is for some")),
            ValueError,
            "does not answer: The study is for some",
        ),
        ((403, b"<html>please log in</html>"), OSError, "cannot answer now .status 403"),
        ((200, b"<html>please log in</html>"), OSError, "cannot answer now .status 200"),
        ((404, b'{"title": "There is nothing here"}'), OSError, "cannot answer now .status 404"),
        ((429, refusal("too-many")), OSError, "cannot answer now"),
        ((503, b"{}"), OSError, "cannot answer now"),
        ((200, b"{}"), ValueError, "The service gave no token of a participant: it has 32 digits"),
        ((200, b'{"token": "EE"}'), ValueError, "The service gave no token of a participant"),
    ],
)
def test_without_a_token_it_has_not_answered(tmp_path, answer, error, message):
    """No draw but that of its number, and nothing kept: its one answer is still to be made."""
    drawn_counts = []

    def take(byte_count):
        drawn_counts.append(byte_count)
        return bytes(byte_count)

    service = Enrolling(answer)
    new_device = device(tmp_path, service, take=take)
    with pytest.raises(error, match=message):
        new_device.take_part([1])
    assert drawn_counts == [4]
    assert {"token", "report"} & set(new_device.memory.read()) == set()
    assert new_device.take_part([1]) == "counted"


@pytest.mark.parametrize("token", ["", "aa", "AA" * 16, "aa" * 16 + "\n"])
def test_a_token_that_cannot_be_one_costs_no_answer(tmp_path, token):
    service = FakeService(make_question(0, HALF, 0))
    with pytest.raises(ValueError, match="The device was given no token of a participant"):
        device(tmp_path, service, token=token).take_part([1])
    assert device(tmp_path, service, token="aa" * 16).take_part([1]) == "counted"


class TestWhatIsAnswered:
    @pytest.mark.parametrize("case", cases("answers"), ids=lambda case: case["what"])
    def test_only_the_service_ends_a_report(self, tmp_path, case):
        """Whatever else answers, the next call sends the same bytes, with the same key."""
        service = Answering((case["status"], case["body"].encode()))
        new_device = device(tmp_path, service)
        fate = case["fate"]
        if fate in ("again", "another-token"):
            error, message = (
                (OSError, "cannot take the report now") if fate == "again" else (ValueError, "know the token")
            )
            with pytest.raises(error, match=message):
                new_device.take_part([1])
            assert "outcome" not in new_device.memory.read()
            assert new_device.take_part([2]) in ("counted", "already-counted")
            assert new_device.reason == ""
            assert len(service.bodies) == 2
            assert len(set(service.bodies)) == 1
        else:
            assert new_device.take_part([1]) == fate
            assert new_device.take_part([1]) == ("refused" if fate == "refused" else "already-counted")
            assert (new_device.reason, len(service.bodies)) == (case["what"] if fate == "refused" else "", 1)

    def test_counted_and_then_an_answer_of_somebody_else(self, tmp_path):
        service = FakeService(make_question(0, HALF, 0))
        service.breaks = "answer"
        with pytest.raises(OSError, match="is lost"):
            device(tmp_path, service).take_part([1])
        with pytest.raises(OSError, match=r"cannot take the report now .status 404"):
            device(tmp_path, lambda *_: (404, b"nginx")).take_part([1])
        service.breaks = None
        assert device(tmp_path, service).take_part([1]) == "already-counted"

    def test_the_same_report_goes_with_the_right_token(self, tmp_path):
        service = Answering((403, refusal("token-unknown")), (403, refusal("token-unknown")))
        for _ in range(2):  # the same wrong token twice: the same bytes twice
            with pytest.raises(ValueError, match="does not know the token: give the right one, and the same report"):
                device(tmp_path, service, token="aa" * 16).take_part([1])
        with pytest.raises(ValueError, match="The device was given no token of a participant"):
            device(tmp_path, service, token="bb").take_part([2])
        assert device(tmp_path, service, token="bb" * 16).take_part([2]) == "counted"
        first_body, second, third = map(json.loads, service.bodies)
        assert first_body == second
        assert third == {**first_body, "token": "bb" * 16}

    def test_another_token_is_no_use_while_the_first_may_have_been_counted(self, tmp_path):
        service = Answering((503, refusal("busy")))
        with pytest.raises(OSError, match="cannot take the report now"):
            device(tmp_path, service, token="aa" * 16).take_part([1])
        assert device(tmp_path, service, token="bb" * 16).take_part([1]) == "already-counted"
        assert service.bodies[0] == service.bodies[1]


class TestOverHttp:
    """What comes from a socket that says one thing."""

    @pytest.fixture
    def sockets(self):
        opened = AnsweringSockets()
        yield opened
        opened.close()

    @pytest.mark.parametrize(
        "answer",
        [
            b"",
            b"HTT",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\nabc",
            b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{",
            b"HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ],
    )
    def test_half_an_answer_is_none(self, tmp_path, sockets, answer):
        with pytest.raises(OSError):  # noqa: PT011
            Participant(sockets.open(answer), "breakfast", folder=tmp_path, max_epsilon=1).take_part([1])

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_nobody_is_followed_elsewhere(self, sockets, status):
        elsewhere = sockets.open(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        for body in (None, b"{}"):
            address = sockets.open(
                f"HTTP/1.1 {status} Go\r\nLocation: {elsewhere}\r\nContent-Length: 0\r\n\r\n".encode()
            )
            assert over_http("GET" if body is None else "POST", address, body) == (status, b"")


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n"


class TestDripping:
    """A service that sent one byte now and then kept the device, with the lock of its record, for years."""

    @pytest.fixture
    def dripping(self):
        """Return a function that returns the address of a socket with an answer, of which one byte goes at a time."""
        listeners, ending = [], threading.Event()

        def open_socket(begin: bytes, drip: bytes) -> str:
            listener = socket.create_server(("127.0.0.1", 0))
            listeners.append(listener)

            def serve() -> None:
                with contextlib.suppress(OSError):
                    connection, _ = listener.accept()
                    with connection:
                        connection.recv(1 << 16)
                        connection.sendall(begin)
                        for byte in drip:
                            connection.sendall(bytes([byte]))
                            if ending.wait(0.05):
                                break

            threading.Thread(target=serve, daemon=True).start()
            return f"http://127.0.0.1:{listener.getsockname()[1]}"

        yield open_socket
        ending.set()
        for listener in listeners:
            listener.close()

    @pytest.mark.parametrize(
        ("begin", "drip"),
        [
            (b"", b"HTTP/1.1 200 OK\r\n" + b"x" * 10_000),
            (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n", b"x" * 10_000),
            (b"HTTP/1.1 503 No\r\nContent-Length: 10000\r\n\r\n", b"x" * 10_000),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 1000),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"x" * 10_000),
        ],
        ids=["head", "continue", "body", "error", "chunks", "length of a chunk"],
    )
    def test_an_answer_without_end_is_none(self, dripping, monkeypatch, begin, drip):
        monkeypatch.setattr(sending, "_SILENCE_SECONDS", 0.3)
        monkeypatch.setattr(sending, "_ANSWER_SECONDS", 0.6)
        begun = time.monotonic()
        with pytest.raises(TimeoutError):
            over_http("GET", dripping(begin, drip), None)
        assert time.monotonic() - begun < 10  # the bytes take 300 seconds and more

    def test_a_slow_answer_is_read(self, dripping, monkeypatch):
        """It takes longer than a silence may, and has none."""
        monkeypatch.setattr(sending, "_SILENCE_SECONDS", 0.5)
        assert over_http("GET", dripping(HEAD, b"x" * 20), None) == (200, b"x" * 20)

    def test_a_silence_ends_an_answer(self, dripping, monkeypatch):
        monkeypatch.setattr(sending, "_SILENCE_SECONDS", 0.01)
        with pytest.raises(TimeoutError):
            over_http("GET", dripping(HEAD, b"x" * 20), None)


class Clock:
    """A clock that stands still but for sleep, and for the stated time of an answer."""

    def __init__(self, monkeypatch, seconds_of):
        self.time, self.moments = 1000.0, []
        monkeypatch.setattr(participant, "monotonic", lambda: self.time)
        monkeypatch.setattr(participant, "sleep", self.pass_by)
        monkeypatch.setattr(rehearsal, "monotonic", lambda: self.time)
        for module in (participant, rehearsal):
            monkeypatch.setattr(module, "client", self.answered(client, seconds_of))

    def pass_by(self, seconds):
        self.time += seconds

    def answered(self, client, seconds_of):
        def run(question, basket, **options):
            self.time += seconds_of(list(options.get("texts") or ()))
            return client(question, basket, **options)

        return run

    def watched(self, service):
        def send(method, address, body):
            self.moments.append((address.rpartition("/")[2], self.time))
            return service(method, address, body)

        return send


SPELT = next(case for case in cases("studies") if case["what"] == "texts of a study without a list")
SECONDS = 1e-5  # that each symbol of a text takes: 2 s for 20,000 texts of ten


class TestWhenItIsSent:
    @pytest.mark.parametrize("pause", [0, 1.0, 60])
    def test_the_moment_does_not_depend_on_how_much_is_held(self, tmp_path, monkeypatch, pause):
        """From the question to the report, counted by a clock on which each symbol takes its time."""
        durations = []
        for number, texts in enumerate(([], ["a"], ["abababab" + "ab"] * 20_000, ["ab"] * 10**6)):
            with monkeypatch.context() as patched:
                clock = Clock(patched, lambda texts: SECONDS * sum(map(len, texts)))
                service = FakeService(*SPELT["questions"]["questions"])
                service.study = SPELT["study"]
                new_device = device(tmp_path / str(number), clock.watched(service), token="aa" * 16, pause=pause)
                assert new_device.take_part([], texts=texts) == "counted"
                begun, sending = (next(moment for name, moment in clock.moments if name == path) for path in LAST_CALLS)
                durations.append(sending - begun)
        assert durations == [pytest.approx(durations[0])] * 4
        assert durations[0] >= max(pause, 2 * SECONDS * answering.MOST_SYMBOLS_HELD)

    def test_an_answer_that_was_late_is_sent_at_the_next_of_the_same_moments(self, tmp_path, monkeypatch):
        """A machine that was held up: by whole pauses, so that what it took by itself does not show."""
        lateness = iter([0.1, 0.1, 33.3])
        clock = Clock(monkeypatch, lambda _: next(lateness))
        service = FakeService(*SPELT["questions"]["questions"])
        service.study = SPELT["study"]
        device(tmp_path, clock.watched(service), token="aa" * 16, pause=5).take_part([], texts=["a"])
        begun, sending = (next(moment for name, moment in clock.moments if name == path) for path in LAST_CALLS)
        assert sending - begun == pytest.approx(0.2 + 35)

    def test_nobody_has_to_say_it(self, tmp_path):
        participant_by_default = Participant(
            "http://service", "breakfast", folder=tmp_path / "b", max_epsilon=1, send=FakeService()
        )
        assert participant_by_default.pause == 1

    def test_a_rehearsal_uses_no_byte_of_the_answer_and_no_item_that_is_held(self, tmp_path):
        service = FakeService(make_question(0, HALF, 0))
        assert device(tmp_path, service, take=make_take(5)).take_part([1]) == "counted"
        take = make_take(5)
        take(4)
        question = json.loads(make_question(0, HALF, 0)["question"])["question"]
        assert json.loads(service.bodies[0])["report"] == json.loads(client(question, [1], max_epsilon=1, take=take))

    @pytest.mark.parametrize("case", cases("limits")[::2] + cases("held")[3:7:2], ids=lambda case: case["what"])
    def test_a_rehearsal_holds_as_much_as_a_device_answers_for(self, case):
        """Whatever is asked: it has to take at least as long as any basket, so nothing of it is cut off."""
        question = asked_in(case)
        form = json.loads(question) if isinstance(question, bytes) else question
        for largest_holdings in rehearsal.build_largest_data(form):
            device_data = DeviceData.of(
                largest_holdings.get("basket", ()),
                largest_holdings.get("texts"),
                largest_holdings.get("given", ()),
                largest_holdings.get("after", ()),
            )
            assert largest_holdings.get("texts") == device_data.texts
            if device_data.texts is None:
                assert len(device_data.items) == answering.MOST_HELD
                pairs = {"given": len(device_data.given), "after": len(device_data.after)}
                assert pairs == {kind: answering.MOST_HELD * (form.get("pairs") == kind) for kind in pairs}
            else:
                assert sum(len(text) + 1 for text in device_data.texts) > 0.99 * answering.MOST_SYMBOLS_HELD


LAST_CALLS = ("questions", "reports")
MALFORMED = [
    ({"basket": ["tea"]}, "A basket holds whole numbers"),
    ({"basket": [1.5]}, "A basket holds whole numbers"),
    ({"basket": [1], "given": [(1, 2, 3)]}, "A relation is a pair of two items"),
    ({"basket": [1], "after": [(1, "a")]}, "A basket holds whole numbers"),
    ({"basket": [], "texts": [1]}, "A study without a list of items asks for texts"),
    ({"basket": [None], "texts": ["a"]}, "A basket holds whole numbers"),
]


@pytest.mark.parametrize(("basket", "message"), MALFORMED)
def test_a_basket_that_is_none_shows_in_nothing(tmp_path, basket, message):
    """Refused before anything is asked for, drawn or written: who has enrolled and is silent could be told apart."""
    service, drawn_counts = FakeService(make_question(0, HALF, 0)), []

    def take(byte_count):
        drawn_counts.append(byte_count)
        return bytes(byte_count)

    new_device = device(tmp_path, service, take=take)
    with pytest.raises(ValueError, match=message):
        new_device.take_part(**basket)
    assert (service.seen, drawn_counts, new_device.memory.read(), new_device.spending.memory.read()) == ([], [], {}, {})
    assert new_device.take_part([1]) == "counted"


def test_what_was_given_elsewhere_shows_in_nothing(tmp_path):
    """Refused before it enrols: that it has given much in other studies is nobody's to know."""
    service, options = FakeService(make_question(0, HALF, 0)), {"max_total_epsilon": 1}
    new_device = device(tmp_path, service, **options)
    new_device.spending.charge("lunch", "1/2", None)
    with pytest.raises(ValueError, match=r"has given 0\.5 in other studies, and gives at most 1 in all"):
        new_device.take_part([1])
    assert service.seen == ["", "/questions"]


def test_a_basket_that_is_none_keeps_back_no_report_that_was_made(tmp_path):
    service = FakeService(make_question(0, HALF, 0))
    service.breaks = "answer"
    with pytest.raises(OSError, match="is lost"):
        device(tmp_path, service).take_part([1])
    service.breaks = None
    assert device(tmp_path, service).take_part(["tea"]) == "already-counted"


class TestWhereItRemembers:
    def test_the_home_is_the_same_from_everywhere(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        service = FakeService(make_question(0, HALF, 0))
        folders = []
        for name in ("here", "there"):
            (tmp_path / name).mkdir()
            monkeypatch.chdir(tmp_path / name)
            folders.append(device(tmp_path, service, folder="~/.breakfast").take_part([1]))
        assert folders == ["counted", "already-counted"]
        assert (tmp_path / "home" / ".breakfast" / "breakfast.json").is_file()
        assert list(tmp_path.glob("*here/*")) == []

    @pytest.mark.parametrize("folder", ["device", "./device", "", "~nobody-of-this-name/device", Path("device")])
    def test_a_folder_that_is_elsewhere_for_others_is_refused(self, tmp_path, monkeypatch, folder):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(ValueError, match=r"is given by its whole path, such as /home/me/\.breakfast"):
            device(tmp_path, FakeService(), folder=folder)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        "name", ["../config", "a/b", "", ".", "_spent", "Breakfast", "a" * 64, "b\n", "a.b", "a%2f", 5]
    )
    def test_a_name_is_no_path(self, tmp_path, name):
        (tmp_path / "config.json").write_text('{"my":"settings"}')
        with pytest.raises(ValueError, match="The name of a study is small letters, digits and dashes, 63 at most; "):
            Participant("http://service", name, folder=tmp_path / "device", max_epsilon=1, send=FakeService())
        assert [path.name for path in tmp_path.iterdir()] == ["config.json"]
        assert (tmp_path / "config.json").read_text() == '{"my":"settings"}'

    def test_the_record_is_small_and_whole(self, tmp_path):
        service = FakeService(make_question(0, HALF, 0), make_question(0, HALF, 0))
        assert device(tmp_path, service).take_part([1]) == "counted"
        text = (tmp_path / "device" / "breakfast.json").read_bytes()
        record = json.loads(text)
        assert list(record) == ["number", "study", "key", "seen", "token", "asked", "report", "outcome"]
        assert "käse".encode() in text
        assert len(record["seen"]) == 1
        assert record["asked"] == make_question(0, HALF, 0)["question"]


class TestAllStudiesTogether:
    """Every study promises its own epsilon; what a device gives in all of one folder is written down beside them."""

    @staticmethod
    def make_device(tmp_path, study, max_total_epsilon=None, **options):
        service = FakeService(make_question(0, HALF, 0))
        known_study = parse_study(service.study, "breakfast", key=None, max_epsilon=1)
        _, (question,) = parse_questions({"state": "open", "questions": service.questions}, known_study)
        new_device = device(tmp_path, service, max_total_epsilon=max_total_epsilon, **options)
        # The same question under another name: what is signed has its own tests.
        new_device.name, new_device.memory = study, participant.Memory(tmp_path / "device", study)
        new_device._fetch_study, new_device._find_question = lambda record: known_study, lambda record, study: question
        return new_device

    def test_what_is_given_adds_up(self, tmp_path):
        for study in ("one", "two"):
            assert self.make_device(tmp_path, study, "2.5").take_part([1]) == "counted"
        with pytest.raises(ValueError) as error:  # noqa: PT011
            self.make_device(tmp_path, "three", "2.5").take_part([1])
        assert str(error.value) == (
            "The question asks for epsilon 1. This device has given 2 in other studies, and gives at most 2.5 in all."
        )
        assert "report" not in json.loads((tmp_path / "device" / "three.json").read_text())
        assert (tmp_path / "device" / "_spent.json").read_text() == '{"spent":[["one","1"],["two","1"]]}'
        # What was given before counts, whether or not there was a limit then; and a study is not charged twice.
        assert self.make_device(tmp_path, "three", 3).take_part([1]) == "counted"
        assert self.make_device(tmp_path, "four").take_part([1]) == "counted"
        assert self.make_device(tmp_path, "three", 3).take_part([1]) == "already-counted"
        with pytest.raises(ValueError, match="has given 4 in other studies"):
            self.make_device(tmp_path, "five", 4).take_part([1])

    def test_a_study_that_was_charged_and_not_answered_is_charged_once(self, tmp_path, monkeypatch):
        new_device = self.make_device(tmp_path, "one", 1)
        with monkeypatch.context() as patch:
            # The device is switched off between the charge and the report.
            patch.setattr(participant, "client", lambda *_, **__: (_ for _ in ()).throw(InterruptedError))
            with pytest.raises(InterruptedError):
                new_device.take_part([1])
        assert new_device.take_part([1]) == "counted"
        assert (tmp_path / "device" / "_spent.json").read_text() == '{"spent":[["one","1"]]}'

    def test_a_question_that_is_refused_costs_nothing(self, tmp_path):
        new_device = self.make_device(tmp_path, "one", 1, max_epsilon="1/2")
        with pytest.raises(ValueError, match=r"gives at most 0\.5"):
            new_device.take_part([1])
        assert not (tmp_path / "device" / "_spent.json").exists()

    @pytest.mark.parametrize("max_total_epsilon", [0, -1, "many", float("nan"), True])
    def test_a_limit_is_a_number(self, tmp_path, max_total_epsilon):
        with pytest.raises(ValueError, match="max_total_epsilon is the largest epsilon this device gives away in all"):
            self.make_device(tmp_path, "one", max_total_epsilon).take_part([1])

    @pytest.mark.parametrize("text", ["", "[]", '{"spent":7}', '{"spent":[["one"]]}', '{"spent":[["one",1]]}'])
    def test_what_is_damaged_is_not_begun_anew(self, tmp_path, text):
        (tmp_path / "device").mkdir()
        (tmp_path / "device" / "_spent.json").write_text(text)
        with pytest.raises(ValueError, match=r"_spent\.json is damaged: it answers no more"):
            self.make_device(tmp_path, "one").take_part([1])


def test_a_damaged_memory_answers_no_more(tmp_path):
    service = FakeService(make_question(0, HALF, 0))
    new_device = device(tmp_path, service)
    new_device.memory.path.write_bytes(b"\0\0\0")
    with pytest.raises(ValueError, match="is damaged: it answers no more"):
        new_device.take_part([1])
    assert service.seen == []


def test_addresses_are_looked_at(tmp_path):
    with pytest.raises(ValueError, match="begins with https:// or http://"):
        Participant("file:///etc", "x", folder=tmp_path, max_epsilon=1)
    new_device = Participant("http://127.0.0.1:1", "x", folder=tmp_path, max_epsilon=1)
    with pytest.raises(OSError, match="refused"):
        new_device.take_part([1])
