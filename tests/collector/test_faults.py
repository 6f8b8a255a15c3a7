"""What must hold whatever happens: a report that was acknowledged is counted once, and none is counted twice.

Each report has words of its own, so that any double count shows. Services are killed under load, on both stores; a
machine of random operations does everything that devices and operators do, and drops answers on the way.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from discreet.collector import (
    ALREADY_COUNTED,
    CODES,
    COUNTED,
    Reason,
    RefusedRequest,
    ReportBatch,
    RoundState,
    StudyCollector,
    Upload,
    collector_in,
    hash_token,
)
from discreet.collector._service import application
from discreet.collector._uploads import hash_key
from discreet.collector.storage import StoreError

sys.path.insert(0, str(Path(__file__).parent))
from serving import Served, plan_of, served

OLH = {"settings": {"first_oracle": "olh"}, "items": tuple(f"{number:02}" for number in range(40)), "epsilon": "1"}


_SENDERS = 4


def own_words(first_person: int, person_count: int) -> np.ndarray:
    """Return reports through `olh` that all differ, also from reports with a different `first_person`."""
    numbers = np.arange(first_person, first_person + person_count)
    return np.stack([2 * numbers + 1, numbers, np.zeros(person_count)], axis=1).astype(np.uint32)


def secret(number: int) -> bytes:
    """Return the token of a number."""
    return number.to_bytes(16, "little")


def stored(collector: StudyCollector, name: str, number: int = 0) -> Counter[int]:
    """Return the number of stored copies of each report, by its own number."""
    reports_by_person: Counter[int] = Counter()
    for words in collector.store.blocks(name, number, 3):
        reports_by_person.update(words[:, 1].tolist())
    return reports_by_person


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request):
    """Return the address of an empty store."""
    if request.param == "sqlite":
        return None
    import psycopg

    server, name = request.getfixturevalue("postgresql"), f"f{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"{server.rpartition('/')[0]}/{name}"


@pytest.mark.parametrize("kills", [2, pytest.param(50, marks=pytest.mark.slow)])
def test_a_service_that_is_killed_under_load_loses_nothing_and_counts_nothing_twice(tmp_path, store, kills):
    """Several send at once, so that a transaction has reports of several. Takes 15 seconds for two kills."""
    collector = collector_in(tmp_path, store)
    record = collector.open_study(plan_of(name="killed", protocol="svim", **OLH))
    # More than is sent before the last kill.
    study, person_count, batch_size = bytes.fromhex(record.id), 20_000 * kills, 50
    collector.store.enrol("killed", [hash_token(secret(number)) for number in range(person_count)])
    counted_starts: set[int] = set()
    answered: set[int] = set()
    chance, lock = np.random.default_rng(1), threading.Lock()
    starts = [place * (person_count // _SENDERS) for place in range(_SENDERS)]

    def send(service: Served, place: int, begun: threading.Event) -> None:
        end = (place + 1) * (person_count // _SENDERS)
        connection = HTTPConnection("127.0.0.1", int(service.address.rpartition(":")[2]), timeout=120)
        with contextlib.closing(connection), contextlib.suppress(OSError, HTTPException):
            while starts[place] + batch_size <= end:
                start = starts[place]
                tokens = [secret(number) for number in range(start, start + batch_size)]
                body = ReportBatch.build(study, 0, tokens, tokens, own_words(start, batch_size)).encode()
                connection.request("POST", "/v1/studies/killed/batches", body)
                answer = connection.getresponse().read()
                # What was sent before the kill and not answered is sent again: it was counted, or it was not.
                with lock:
                    answered.update(answer)
                    counted_starts.update(range(start, start + batch_size))
                starts[place] += batch_size
                begun.set()

    for _ in range(kills):
        service, begun = Served(tmp_path, store=store or ""), threading.Event()
        senders = [threading.Thread(target=send, args=(service, place, begun)) for place in range(_SENDERS)]
        for sender in senders:
            sender.start()
        assert begun.wait(60)
        time.sleep(float(chance.uniform(0.05, 0.5)))
        service.process.send_signal(signal.SIGKILL)
        for sender in senders:
            sender.join()
        service.process.communicate()
    assert answered <= {COUNTED, ALREADY_COUNTED}
    stored_counts = stored(collector, "killed")
    assert counted_starts
    assert counted_starts <= set(stored_counts)
    assert max(stored_counts.values()) == 1
    assert (
        collector.store.rounds("killed")[0].people == len(stored_counts) == collector.store.count_tokens("killed").spent
    )
    collector.store.close()


class StudyMachine(RuleBasedStateMachine):
    """Devices send, send again and lose answers; operators close, scrub and restart."""

    address: str | None = None

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = self.address if self.address is None else self.fresh()
        self.collector = collector_in(self.folder.name, self.store)
        self.sent: dict[int, tuple[int, int]] = {}  # the key and the round that each token was counted with
        self.next = 0

    def fresh(self) -> str:
        import psycopg

        name = f"m{uuid4().hex}"
        with psycopg.connect(str(self.address), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"{str(self.address).rpartition('/')[0]}/{name}"

    def teardown(self) -> None:
        self.collector.store.close()
        self.folder.cleanup()

    @initialize()
    def open(self) -> None:
        self.collector.open_study(plan_of(name="study", scrub="hand", **OLH))
        self.collector.store.enrol("study", [hash_token(secret(number)) for number in range(200)])

    def states(self) -> dict[int, RoundState]:
        return {stored_round.number: stored_round.state for stored_round in self.collector.store.rounds("study")}

    def upload(self, number: int, tokens: list[int], keys: list[int]) -> list[int]:
        ask = self.collector.ask("study", number)
        pairs = [(secret(token), secret(key)) for token, key in zip(tokens, keys, strict=True)]
        word_count = 0 if ask is None else ask.oracle.codec.width
        words = np.zeros((len(tokens), word_count), np.uint32)
        if word_count:
            words[:, 0] = 1
        if word_count == 3:
            words = np.vstack([own_words(token, 1) for token in tokens])
        upload = Upload(
            round=number,
            tokens=[hash_token(token) for token, _ in pairs],
            keys=[hash_key(token, key, number) for token, key in pairs],
            words=words,
            codes=np.zeros(len(tokens), np.uint8),
        )
        return (self.collector.settled if ask is None else self.collector.take)("study", upload).tolist()

    @rule(tokens=st.lists(st.integers(0, 219), min_size=1, max_size=8), key=st.integers(0, 2), lost=st.booleans())
    def send(self, tokens: list[int], key: int, lost: bool) -> None:
        number = max(self.states())
        opened = self.states()[number] is RoundState.OPEN
        codes = self.upload(number, tokens, [key] * len(tokens))
        for token, code in zip(tokens, codes, strict=True):
            before = self.sent.get(token)
            if token >= 200:
                assert code == CODES[Reason.TOKEN_UNKNOWN]
            elif before is not None:
                assert code == (ALREADY_COUNTED if before == (key, number) else CODES[Reason.TOKEN_SPENT])
            elif opened:
                assert code == COUNTED
                self.sent[token] = (key, number)
            else:
                assert code == CODES[Reason.ROUND_CLOSED]
        if lost:  # the answer did not arrive: the same bytes come again
            repeated_codes = self.upload(number, tokens, [key] * len(tokens))
            assert not set(repeated_codes) & {COUNTED}

    @rule()
    def close(self) -> None:
        self.collector.close("study")

    @rule()
    def scrub(self) -> None:
        self.collector.scrub("study")

    @rule()
    def restart(self) -> None:
        self.collector.store.close()
        self.collector = collector_in(self.folder.name, self.store)

    @rule()
    def tick(self) -> None:
        self.collector.tick()

    @invariant()
    def each_report_is_counted_once(self) -> None:
        rounds = self.collector.store.rounds("study")
        for stored_round in rounds:
            mine = {token for token, (_, number) in self.sent.items() if number == stored_round.number}
            assert stored_round.people == len(mine)
            if stored_round.number == 0 and stored_round.state is not RoundState.SCRUBBED:
                assert stored(self.collector, "study") == Counter(mine)
        if rounds:
            assert self.collector.store.count_tokens("study").spent == len(self.sent)


class TestMachine(StudyMachine.TestCase):
    settings = settings(max_examples=8, stateful_step_count=15)


def test_the_same_machine_on_postgresql(postgresql):
    from hypothesis.stateful import run_state_machine_as_test

    class OnPostgreSQL(StudyMachine):
        address = postgresql

    run_state_machine_as_test(OnPostgreSQL, settings=settings(max_examples=3, stateful_step_count=12))


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with served(tmp_path_factory.mktemp("faults") / "service") as server:
        plan = plan_of(name="study", who="anyone")
        server.token = server.operator()
        server.ask("/v1/studies", plan.to_json().encode(), token=server.token)
        yield server


def test_nothing_that_is_sent_makes_the_service_fail(service):
    """Every operation of the OpenAPI document, with an operator's token and without; takes 5 seconds."""
    schema = schemathesis.openapi.from_url(f"{service.address}/openapi.json")
    operations = [operation.ok() for operation in schema.get_all_operations()]
    assert len(operations) > 15
    statuses: Counter[int] = Counter()
    opened: Counter[int] = Counter()
    for operation in operations:

        @settings(max_examples=6, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy())
        def send(case):
            if case.path.endswith("/tokens") and isinstance(case.body, dict):
                case.body = {"many": 3}
            if (case.path, case.method.upper()) == ("/v1/studies", "POST"):
                plan = {**json.loads(plan_of().to_json()), "name": f"sent-{sum(opened.values())}"}
                strange = next(iter(case.body.values()), None) if isinstance(case.body, dict) else case.body
                for body in (plan, *({**plan, "name": "strange", field: strange} for field in plan)):
                    case.body = body  # a good plan, and the same with something else in one of its fields
                    opened[case.call(headers={"Authorization": f"Bearer {service.token}"}).status_code] += 1
                return
            for headers in ({}, {"Authorization": f"Bearer {service.token}"}):
                statuses[case.call(headers=headers).status_code] += 1

        send()
    assert max(statuses) < 500
    assert {200, 400, 401} <= set(statuses)
    assert {200, 422} <= set(opened)
    assert max(opened) < 500


class TestConnections:
    def test_half_open_and_slow_ones_do_not_keep_others_waiting(self, service):
        port = int(service.address.rpartition(":")[2])
        with contextlib.ExitStack() as stack:
            for text in (b"", b"GET /v1/hea", b"POST /v1/studies/study/reports HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"):
                for _ in range(20):
                    connection = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
                    connection.sendall(text)
            begun = time.monotonic()
            assert service.ask("/v1/health")[0] == 200
            assert time.monotonic() - begun < 10

    def test_a_head_that_does_not_come_is_let_go(self):
        import asyncio

        import uvicorn

        from discreet.collector import ConnectionLimits
        from discreet.collector._connections import bounded_protocol
        from discreet.collector._limits import ConnectionCount

        async def application(scope, receive, send):
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})

        async def collect_answers() -> list[bytes]:
            limits = ConnectionLimits(head_seconds=0.3)
            http = bounded_protocol(limits, ConnectionCount(limits))
            config = uvicorn.Config(application, port=0, http=http, lifespan="off", log_config=None)
            server = uvicorn.Server(config)
            running = asyncio.create_task(server.serve())
            while not server.started:
                await asyncio.sleep(0.01)
            port = server.servers[0].sockets[0].getsockname()[1]
            answers = []
            for begin in (b"", b"GET / HTTP/1.1\r\nHost:", b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HT"):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(begin)
                answers.append(await asyncio.wait_for(reader.read(), 20))
                writer.close()
            server.should_exit = True
            await running
            return answers

        silent, partial, second = asyncio.run(collect_answers())
        assert (silent, partial) == (b"", b"")
        assert second.startswith(b"HTTP/1.1 200")


def test_clocks_may_jump(tmp_path):
    clock = [1_000_000.0]
    collector = collector_in(tmp_path)
    collector.now = lambda: clock[0]
    collector.open_study(plan_of(name="timed", close="deadline", hours=1))
    (first_round, *_) = collector.store.rounds("timed")
    assert first_round.closes == 1_003_600
    clock[0] = 5.0
    collector.tick()
    assert collector.store.rounds("timed")[0].state is RoundState.OPEN
    clock[0] = 1e12
    collector.tick()
    assert collector.store.rounds("timed")[0].state is RoundState.SCRUBBED
    collector.store.close()


def test_a_fast_clock_of_one_server_ends_no_round(tmp_path, postgresql, monkeypatch):
    """Two servers and one database: the second one's clock is two hours ahead, and the round is open for one."""
    import psycopg

    name = f"t{uuid4().hex}"
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    store = f"{postgresql.rpartition('/')[0]}/{name}"
    collector = collector_in(tmp_path, store)
    collector.open_study(plan_of(name="timed", close="deadline", hours=1))
    with pytest.raises(AssertionError, match=r"The clock of this machine is 7,[12]\d\d seconds ahead of that of the"):
        Served(tmp_path, store=store, clock_ahead=7200)
    assert collector.store.rounds("timed")[0].state is RoundState.OPEN
    # One whose clock goes wrong while it runs says so, and serves nothing; rounds go by the database's clock.
    service = application(collector).state.service
    system_time = time.time
    for ahead, problem in ((7200, "7,200 seconds ahead of"), (-30, "30 seconds behind"), (5, ""), (-5, "")):
        monkeypatch.setattr("discreet.collector._collector.time", lambda ahead=ahead: system_time() + ahead)
        service.readiness.look_at_clock()
        service.readiness._clock_looked = float("-inf")
        collector.tick()
        assert collector.store.rounds("timed")[0].state is RoundState.OPEN
        if problem:
            assert problem in service.readiness.clock_problem
            with pytest.raises(RefusedRequest) as refused:
                service.readiness.check()
            assert refused.value.reason is Reason.CLOCK_OFF
        else:
            assert not service.readiness.clock_problem
            service.readiness.check()
    collector.store.close()


def test_nothing_is_told_before_it_is_released(tmp_path):
    collector = collector_in(tmp_path)
    collector.open_study(plan_of(name="early", scrub="hand"))
    while collector.questions("early").state != "released":
        for ask in (collector.result, collector.outcome):
            with pytest.raises(RefusedRequest, match="The study has no result yet"):
                ask("early")
        assert all(
            stored_round.heard is None
            for stored_round in collector.store.rounds("early")
            if stored_round.state is RoundState.OPEN
        )
        collector.close("early")
    assert collector.result("early")
    collector.store.close()


def test_a_database_that_restarts_is_waited_for(tmp_path, postgresql):
    """Connections are cut while a study runs: one request fails with a reason, the next is answered."""
    import psycopg

    name = f"r{uuid4().hex}"
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    store = f"{postgresql.rpartition('/')[0]}/{name}"
    with served(tmp_path, store=store) as server:
        server.ask("/v1/studies", plan_of(name="cut", who="anyone").to_json().encode(), token=server.operator())
        with psycopg.connect(postgresql, autocommit=True) as connection:
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
        statuses = [server.ask("/v1/studies/cut/enrol", {})[0] for _ in range(30)]
        assert set(statuses) <= {200, 503}
        assert statuses[-1] == 200


@pytest.fixture
def small_disk():
    """Return a folder on a disk of its own of 16 MiB, in memory; other users may enter it, such as a database's."""
    place = Path(tempfile.mkdtemp(prefix="discreet-disk-"))
    place.chmod(0o755)
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    mount = [*as_root, "mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(place)]
    try:
        subprocess.run(mount, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        place.rmdir()
        if os.environ.get("CI"):
            pytest.fail(f"No small disk can be mounted: {error}.")
        pytest.skip("No small disk can be mounted: only root may.")
    yield place
    subprocess.run([*as_root, "umount", "--lazy", str(place)], check=True)
    place.rmdir()


@pytest.fixture(params=["sqlite", "postgresql"])
def store_on_small_disk(request, small_disk):
    """Return the address of a store with its tables on the small disk."""
    if request.param == "sqlite":
        yield None
        return
    import psycopg

    server, name, place = request.getfixturevalue("postgresql"), f"d{uuid4().hex}", small_disk / "tables"
    place.mkdir()
    with psycopg.connect(server, autocommit=True) as connection:
        if os.geteuid() == 0:  # the server is another user's then
            owner = Path(connection.execute("SHOW data_directory").fetchone()[0]).stat()
            os.chown(place, owner.st_uid, owner.st_gid)
        connection.execute(f"CREATE TABLESPACE {name} LOCATION '{place}'")
        connection.execute(f"CREATE DATABASE {name}")
        connection.execute(f"ALTER DATABASE {name} SET default_tablespace = {name}")
    yield f"{server.rpartition('/')[0]}/{name}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        connection.execute(f"DROP TABLESPACE {name}")


def test_a_full_disk_is_told_and_nothing_that_was_acknowledged_is_lost(small_disk, store_on_small_disk):
    """The disk is filled while reports come, and emptied again. The service is not touched. Takes 2 seconds."""
    folder, ballast, batch_size, person_count = small_disk / "service", small_disk / "ballast", 200, 20_000
    store = store_on_small_disk
    collector = collector_in(folder, store)
    record = collector.open_study(plan_of(name="full", protocol="svim", screen=False, **OLH))
    collector.store.enrol("full", [hash_token(secret(number)) for number in range(person_count)])
    collector.store.close()

    def body(start: int) -> bytes:
        tokens = [secret(number) for number in range(start, start + batch_size)]
        return ReportBatch.build(bytes.fromhex(record.id), 0, tokens, tokens, own_words(start, batch_size)).encode()

    with served(folder, store=store or "") as service:
        operator, counted_reports, refused = service.operator(), 0, []
        for start in range(0, person_count // 2, batch_size):
            status, answer = service.ask("/v1/studies/full/batches", body(start))
            if status == 503:
                assert answer["reason"] == Reason.STORE_FAILED
                refused.append(start)
                if len(refused) == 3:
                    break
            else:
                assert status == 200
                assert set(answer) == {COUNTED}
                counted_reports += batch_size
            if start == 2 * batch_size:
                with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
                    while file.write(bytes(4096)):
                        pass
        assert len(refused) == 3
        assert counted_reports >= 3 * batch_size
        assert service.ask("/v1/studies/full/enrol", {})[0] in (403, 503)
        # It is alive, and starting it anew would help nobody; it is not ready, and says so.
        assert service.ask("/v1/health")[0] == 200
        status, answer = service.ask("/v1/ready")
        assert (status, answer["reason"]) == (503, Reason.STORE_FAILED)
        ballast.unlink()
        for refused_start in refused:  # what devices do: the same bytes
            status, answer = service.ask("/v1/studies/full/batches", body(refused_start))
            assert (status, set(answer)) == (200, {COUNTED})
            counted_reports += batch_size
        collector = collector_in(folder, store)
        stored_counts = stored(collector, "full")
        assert max(stored_counts.values()) == 1
        assert collector.store.rounds("full")[0].people == len(stored_counts) == counted_reports
        assert collector.store.count_tokens("full").spent == counted_reports
        collector.store.close()
        deadline = time.monotonic() + 60
        while service.ask("/v1/ready")[0] != 200:
            assert time.monotonic() < deadline
            time.sleep(0.5)
        assert service.ask("/v1/studies/full/close", {}, token=operator)[0] == 200
        rounds = service.ask("/v1/studies/full/rounds")[1]["rounds"]
        assert (rounds[0]["people"], rounds[0]["state"]) == (counted_reports, "scrubbed")


def test_a_commit_that_fails_on_postgresql_loses_nothing(tmp_path, postgresql):
    """The database takes every statement and fails at the end of the transaction, as one that cannot write its log."""
    import psycopg

    name = f"c{uuid4().hex}"
    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    store = f"{postgresql.rpartition('/')[0]}/{name}"
    collector = collector_in(tmp_path, store)
    record = collector.open_study(plan_of(name="commit", protocol="svim", **OLH))
    collector.store.enrol("commit", [hash_token(secret(number)) for number in range(60)])
    tokens = [[secret(number) for number in range(start, start + 20)] for start in (0, 20, 40)]
    bodies = [
        ReportBatch.build(
            bytes.fromhex(record.id), 0, tokens_of_batch, tokens_of_batch, own_words(20 * number, 20)
        ).encode()
        for number, tokens_of_batch in enumerate(tokens)
    ]
    with served(tmp_path, store=store) as service, psycopg.connect(store, autocommit=True) as connection:
        place = "/v1/studies/commit/batches"
        assert set(service.ask(place, bodies[0])[1]) == {COUNTED}
        connection.execute(
            "CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = 'disk_full'; END $$"
        )
        connection.execute(
            "CREATE CONSTRAINT TRIGGER fails AFTER INSERT ON blocks DEFERRABLE INITIALLY DEFERRED "
            "FOR EACH ROW EXECUTE FUNCTION fails()"
        )
        for _ in range(3):
            for body in bodies[1:]:
                status, answer = service.ask(place, body)
                assert (status, answer["reason"]) == (503, "store-failed")
        # Nothing of it is there, no token is spent, and what was acknowledged is.
        assert stored(collector, "commit") == Counter(range(20))
        assert (collector.store.count_tokens("commit").spent, collector.store.rounds("commit")[0].people) == (20, 20)
        connection.execute("DROP TRIGGER fails ON blocks")
        for body, code in zip(bodies, (ALREADY_COUNTED, COUNTED, COUNTED), strict=True):
            assert set(service.ask(place, body)[1]) == {code}
        assert stored(collector, "commit") == Counter(range(60))
    collector.store.close()


def test_refusals_of_all_studies_are_kept_until_they_can_be_stored(tmp_path, monkeypatch):
    collector = collector_in(tmp_path)
    for name in ("one", "two"):
        collector.open_study(plan_of(name=name))
        collector.count_refused(name, Reason.TOKEN_SPENT, 3)
    with monkeypatch.context() as patched:
        patched.setattr(collector.store, "count_refused", full_disk)
        with pytest.raises(StoreError):
            collector.flush()
    collector.flush()
    collector.flush()
    assert [collector.store.refused(name) for name in ("one", "two")] == [{"token-spent": 3}] * 2
    collector.store.close()


def full_disk(*arguments: object) -> None:
    raise StoreError("The store cannot be used: database or disk is full.")
