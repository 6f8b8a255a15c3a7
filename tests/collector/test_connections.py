"""Connections to a service: quick to answer, and bounded in bytes, time and number whoever is at the other end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from discreet.collector._limits import address_group
from discreet.collector._serving import bind_socket
from discreet.errors import MisuseError

sys.path.insert(0, str(Path(__file__).parent))
from serving import Served, served

MEBIBYTE = 1 << 20
HEALTH = b"GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"
LAST_REQUEST = b"GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with served(tmp_path_factory.mktemp("connections") / "studies") as server:
        yield server


def connect(service: Served) -> socket.socket:
    """Return a connection to a service."""
    return socket.create_connection(("127.0.0.1", int(service.address.rpartition(":")[2])), timeout=30)


def read_answer(connection: socket.socket) -> tuple[int, dict]:
    """Return status and problem document of the single answer before the connection ends."""
    text = b""
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(1 << 16):
            text += part
    head, _, body = text.partition(b"\r\n\r\n")
    assert b"connection: close" in head.lower(), text
    return int(head.split()[1]), json.loads(body)


def read_answers(connection: socket.socket) -> list[tuple[int, dict[str, str], Any]]:
    """Return status, headers and JSON of all answers that come before the connection ends."""
    text, answers = b"", []
    while part := connection.recv(1 << 16):
        text += part
    while text:
        head, _, remainder = text.partition(b"\r\n\r\n")
        status_line, *fields = head.decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        length = int(headers["content-length"])
        answers.append((int(status_line.split()[1]), headers, json.loads(remainder[:length])))
        text = remainder[length:]
    return answers


def send_until_refused(connection: socket.socket, piece: bytes, max_bytes: int) -> int:
    """Send one piece again and again, and return the number of bytes sent before the other end refused them."""
    sent_bytes = 0
    with contextlib.suppress(ConnectionError):
        while sent_bytes < max_bytes:
            connection.sendall(piece)
            sent_bytes += len(piece)
    return sent_bytes


def resident(service: Served) -> float:
    """Return the largest memory that a service held, in MiB."""
    status = Path(f"/proc/{service.process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024


def test_small_answers_are_sent_without_delay():
    """Nagle's algorithm waits for an acknowledgement, which the other end delays by 40 ms."""

    async def accepted_option() -> int:
        options = asyncio.get_running_loop().create_future()

        class OptionReader(asyncio.Protocol):
            def connection_made(self, transport):
                options.set_result(
                    transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                )
                transport.close()

        listening = bind_socket("127.0.0.1", 0)
        server = await asyncio.get_running_loop().create_server(OptionReader, sock=listening)
        _, writer = await asyncio.open_connection(*listening.getsockname())
        option = await options
        writer.close()
        server.close()
        return option

    assert asyncio.run(accepted_option()) == 1


class TestHeads:
    def test_one_of_many_fields_is_refused(self, service):
        with connect(service) as connection:
            connection.sendall(
                b"GET /v1/health HTTP/1.1\r\nHost: x\r\n" + b"".join(b"a%d: b\r\n" % number for number in range(200))
            )
            status, problem = read_answer(connection)
        assert (status, problem["status"], problem["reason"]) == (431, 431, "head-too-large")

    @pytest.mark.parametrize("piece", [b"x" * 65536, b"name: value\r\n" * 5000], ids=["one field", "fields"])
    def test_one_without_end_is_refused_and_takes_no_memory(self, service, piece):
        """Ten connections, 64 MB each. They took as much memory."""
        before = resident(service)
        for _ in range(10):
            with connect(service) as connection:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nlong: ")
                assert send_until_refused(connection, piece, 64_000_000) < 16 * MEBIBYTE
        assert resident(service) - before < 32

    def test_one_address_without_end_is_refused(self, service):
        with connect(service) as connection:
            connection.sendall(b"GET /")
            assert send_until_refused(connection, b"x" * 65536, 64_000_000) < 16 * MEBIBYTE

    def test_one_of_the_most_bytes_is_taken(self, service):
        head = b"GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\nlong: "
        for bytes_more, status in ((0, 200), (1, 431)):
            with connect(service) as connection:
                filling = 32 * 1024 - len(head) - 4 + bytes_more
                connection.sendall(head + b"x" * filling + b"\r\n\r\n")
                assert read_answer(connection)[0] == status

    def test_fields_after_a_body_are_refused(self, service):
        with connect(service) as connection:
            head = b"POST /v1/studies/none/enrol HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            connection.sendall(head + b"0\r\na: b\r\n\r\n")
            status, problem = read_answer(connection)
        assert (status, problem["reason"]) == (400, "malformed")

    @pytest.mark.parametrize("requests", [1, 8, 10, 50])
    def test_those_that_wait_are_answered_before_one_too_many_is_refused(self, service, requests):
        """More than nine at once were reset, and none of them had an answer."""
        with connect(service) as connection:
            connection.sendall(HEALTH * requests + (b"" if requests > 9 else LAST_REQUEST))
            answers = read_answers(connection)
        if requests > 9:  # the first is being answered, eight wait
            assert [status for status, *_ in answers] == [200] * 9 + [429]
            _, headers, problem = answers[-1]
            assert (problem["reason"], headers["retry-after"], headers["connection"]) == ("too-many", "1", "close")
        else:
            assert [status for status, *_ in answers] == [200] * (requests + 1)

    @pytest.mark.parametrize(
        ("bad_request", "status"),
        [(b"nonsense\r\n\r\n", 400), (b"GET / HTTP/1.1\r\nlong: " + b"x" * 80_000, 431),
         (b"POST /v1/health HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n", 400)],
        ids=["no head", "long head", "no chunk"],
    )  # fmt: skip
    @pytest.mark.parametrize("before", [1, 3])
    def test_what_is_refused_takes_no_answer_from_those_before_it(self, service, bad_request, status, before):
        """The answer to a request that was being answered was replaced, or lost with the connection."""
        with connect(service) as connection:
            connection.sendall(HEALTH * before + bad_request)
            answers = read_answers(connection)
        assert [answer[0] for answer in answers] == [200] * before + [status]

    @pytest.mark.parametrize("text", [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 5000], ids=["requests"])
    def test_requests_that_wait_for_one_another_are_few(self, service, text):
        with connect(service) as connection:
            assert send_until_refused(connection, text, 300 * MEBIBYTE) < 32 * MEBIBYTE


UPGRADES = {
    "h2c": b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n",
    "websocket": b"Upgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
}


@pytest.mark.parametrize("fields", UPGRADES.values(), ids=UPGRADES)
class TestUpgrades:
    """A server may ignore `Upgrade` (RFC 9110, 7.8). Its body was taken as the next request, or lost."""

    @pytest.mark.parametrize("framing", ["length", "chunks"])
    @pytest.mark.parametrize("packets", [1, 2, 1000])
    def test_the_body_belongs_to_its_request(self, service, fields, framing, packets):
        length = {"length": b"Content-Length: %d\r\n" % len(HEALTH), "chunks": b"Transfer-Encoding: chunked\r\n"}
        body = {"length": HEALTH, "chunks": b"%x\r\n%s\r\n0\r\n\r\n" % (len(HEALTH), HEALTH)}[framing]
        head = b"POST /v1/studies/none/reports HTTP/1.1\r\nHost: x\r\n" + fields + length[framing] + b"\r\n"
        with connect(service) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if packets == 1:
                connection.sendall(head + body + LAST_REQUEST)
            elif packets == 2:
                connection.sendall(head)
                connection.sendall(body + LAST_REQUEST)
            else:
                for byte in head + body + LAST_REQUEST:
                    connection.sendall(bytes([byte]))
            answers = read_answers(connection)
        assert [status for status, *_ in answers] == [400, 200]

    def test_a_report_is_read(self, service, fields):
        """The example of a refusal is the answer of a handler that read the whole body."""
        body = b'{"scopes": "none"}'
        head = b"POST /v1/operators HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + service.operator().encode()
        with connect(service) as connection:
            length = b"Content-Length: %d\r\n" % len(body)
            connection.sendall(head + b"\r\n" + fields + length + b"Connection: close\r\n\r\n" + body)
            ((status, _, problem),) = read_answers(connection)
        assert (status, problem["detail"]) == (400, 'Say what for: {"scopes": ["watch"]}.')

    def test_requests_behind_it_are_answered(self, service, fields):
        with connect(service) as connection:
            upgrading = b"GET /v1/health HTTP/1.1\r\nHost: x\r\n" + fields + b"\r\n"
            connection.sendall(upgrading * 2 + HEALTH + upgrading + LAST_REQUEST)
            assert [status for status, *_ in read_answers(connection)] == [200] * 5

    def test_too_many_are_refused(self, service, fields):
        with connect(service) as connection:
            connection.sendall((b"GET /v1/health HTTP/1.1\r\nHost: x\r\n" + fields + b"\r\n") * 50)
            assert [status for status, *_ in read_answers(connection)] == [200] * 9 + [429]


@pytest.mark.parametrize("line", [b"CONNECT example.org:443", b"CONNECT http://x/", b"GET http://x", b"GET ?a"])
def test_an_address_without_a_path_is_answered(service, line):
    """The connection was ended without an answer."""
    with connect(service) as connection:
        connection.sendall(line + b" HTTP/1.1\r\nHost: x\r\n\r\n")
        status, problem = read_answer(connection)
    assert (status, problem["reason"]) == (400, "malformed")


class TestBodies:
    @pytest.mark.parametrize("length", [b"Content-Length: 300000000", b"Transfer-Encoding: chunked"])
    def test_after_a_refusal_the_connection_ends(self, service, length):
        """A connection that was told 413 took 300 MB more."""
        with connect(service) as connection:
            connection.sendall(b"POST /v1/studies/none/reports HTTP/1.1\r\nHost: x\r\n" + length + b"\r\n\r\n")
            piece = b"10000\r\n" + bytes(65536) + b"\r\n" if b"chunked" in length else bytes(65536)
            assert send_until_refused(connection, piece, 300_000_000) < 32 * MEBIBYTE

    def test_the_refusal_is_heard_by_whoever_sends_all_first(self, service):
        with connect(service) as connection:
            body = b"x" * 400_000
            connection.sendall(
                b"POST /v1/studies/none/reports HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body
            )
            status, problem = read_answer(connection)
        assert (status, problem["reason"]) == (413, "too-large")

    def test_a_body_that_nobody_reads_ends_too(self, service):
        with connect(service) as connection:
            connection.sendall(b"GET /v1/health HTTP/1.1\r\nHost: x\r\nContent-Length: 300000000\r\n\r\n")
            assert send_until_refused(connection, bytes(65536), 300_000_000) < 32 * MEBIBYTE

    def test_chunks_of_next_to_nothing_are_refused(self, service):
        with connect(service) as connection:
            connection.sendall(
                b"POST /v1/studies/none/reports HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            )
            assert send_until_refused(connection, b"1;" + b"x" * 65536 + b"\r\ny\r\n", 64_000_000) < 16 * MEBIBYTE


class TestTimes:
    """Each limit is made short here; how long it is in a service is stated in the documentation."""

    @pytest.fixture
    def hasty(self, tmp_path) -> Iterator[Served]:
        limits = "head_seconds=0.5, body_seconds=0.5, grace_seconds=0.5, stalled_seconds=0.5"
        with served(tmp_path / "studies", limits=limits) as server:
            yield server

    @pytest.mark.parametrize(
        ("begin", "drip"),
        [
            (b"", b""),
            (b"", b"\r\n"),
            (b"GET / HTTP/1.1\r\n", b"a: b\r\n"),
            (HEALTH + b"GET / HTTP/1.1\r\n", b""),
            (b"POST /v1/studies/none/reports HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", b"x"),
            (b"GET /v1/health HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", b"x"),
            (b"POST /v1/studies/none/enrol HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        ],
        ids=["silence", "empty lines", "head", "head behind another", "body", "body that nobody reads", "chunks"],
    )
    def test_what_drips_ends(self, hasty, begin, drip):
        """The connection is ended by the service, while bytes still come: at most 200 of 0.1 seconds each."""
        with connect(hasty) as connection:
            connection.sendall(begin)
            connection.settimeout(0.1)
            for _ in range(200):
                try:
                    if drip:
                        connection.sendall(drip)
                    if not connection.recv(1 << 16):
                        break
                except TimeoutError:
                    continue
                except ConnectionError:
                    break
            else:
                pytest.fail("The connection is still there.")


class TestNumbers:
    def test_connections_of_one_address_and_in_all(self, tmp_path):
        for limit, status, reason in (("connections=3", 503, "busy"), ("address_connections=3", 429, "too-many")):
            with served(tmp_path / reason, limits=limit) as server, contextlib.ExitStack() as stack:
                for _ in range(3):
                    stack.enter_context(connect(server)).sendall(b"GET")
                with connect(server) as fourth:
                    ((refused, headers, problem),) = read_answers(fourth)
                    assert (refused, problem["reason"], headers["retry-after"]) == (status, reason, "1")
                stack.close()
                for _ in range(100):  # those that ended leave room
                    with connect(server) as late_connection, contextlib.suppress(ConnectionError):
                        late_connection.sendall(b"GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                        if read_answer(late_connection)[0] == 200:
                            break
                else:
                    pytest.fail("No room was left.")


@pytest.fixture
def dual_stack() -> None:
    """Skip where this machine has no IPv6."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("This machine has no IPv6.")


@pytest.mark.usefixtures("dual_stack")
class TestBothFamilies:
    """A socket of IPv6 takes IPv4 too, and shows ::ffff:192.0.2.1 for 192.0.2.1: all of them lay in one network."""

    def connect_from(self, service: Served, address: str) -> socket.socket:
        port = int(service.address.rpartition(":")[2])
        return socket.create_connection(("127.0.0.1", port), timeout=30, source_address=(address, 0))

    def test_addresses_of_both_count_by_themselves(self, tmp_path):
        with served(tmp_path, host="::", limits="address_connections=2") as server, contextlib.ExitStack() as stack:
            statuses = []
            for address in ["127.0.0.2", "127.0.0.3", "127.0.0.4"] * 2 + ["127.0.0.3"]:
                connection = stack.enter_context(self.connect_from(server, address))
                connection.sendall(HEALTH)
                statuses.append(int(connection.recv(1 << 16).split()[1]))
            assert statuses == [200] * 6 + [429]

    def test_a_proxy_of_the_other_family_is_believed(self, tmp_path):
        with served(tmp_path, host="::", rate=5, proxies=["127.0.0.1"]) as server:
            assert TestProxies().statuses(server) == {200}

    def test_the_address_that_is_told_can_be_asked(self, tmp_path):
        with served(tmp_path, host="::1") as server:
            assert server.address.startswith("http://[::1]:")
            assert server.ask("/v1/health")[0] == 200


@pytest.mark.parametrize(
    ("address", "group"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.1:5000", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("[::ffff:192.0.2.1]:5000", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::2%eth0", "2001:db8::/64"),
        ("[2001:db8::3]:443", "2001:db8::/64"),
        ("unknown", ""),
        ("x" * 30_000, ""),
        ("", ""),
    ],
)
def test_one_holder_is_one_group_however_the_address_is_written(address, group):
    """What a proxy passes on as an address, and is none, is one group: each would be kept as it came."""
    assert address_group(address) == group


class TestProxies:
    def statuses(self, service: Served) -> set[int]:
        """Return the statuses of sixty requests, each of which names a different client."""
        statuses_seen = set()
        for number in range(60):
            with connect(service) as connection:
                fields = f"Host: x\r\nConnection: close\r\nX-Forwarded-For: 10.0.0.{number}\r\n\r\n"
                connection.sendall(f"GET /v1/studies HTTP/1.1\r\n{fields}".encode())
                statuses_seen.add(int(connection.recv(1 << 16).split()[1]))
        return statuses_seen

    def test_nobody_is_believed_unless_named(self, tmp_path):
        with served(tmp_path / "off", rate=5) as server:
            assert 429 in self.statuses(server)
        with served(tmp_path / "other", rate=5, proxies=["10.1.2.3"]) as server:
            assert 429 in self.statuses(server)

    def test_a_named_proxy_is_believed(self, tmp_path):
        with served(tmp_path / "on", rate=5, proxies=["127.0.0.0/8"]) as server:
            assert self.statuses(server) == {200}

    @pytest.mark.parametrize("proxy", ["*", "proxy.example.org", "10.0.0.1/8"])
    def test_what_is_no_address_is_refused(self, tmp_path, proxy):
        from discreet.collector import serve

        with pytest.raises(MisuseError, match=r"trusted proxy"):
            serve(tmp_path / "new", port=0, trusted_proxies=[proxy])
        assert not (tmp_path / "new").exists()
