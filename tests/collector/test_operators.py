"""Operators' commands as clients of a service elsewhere: whom they tell their token, and what they make of answers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from discreet.collector.operators import RemoteOperator
from discreet.errors import InputError


class Saying:
    """Sockets that say one thing each, and keep what they were told."""

    def __init__(self) -> None:
        self.sockets: list[socket.socket] = []
        self.heard: list[bytes] = []

    def at(self, said: bytes) -> str:
        """Return the address of a socket that says this."""
        listening = socket.create_server(("127.0.0.1", 0))
        self.sockets.append(listening)

        def answer() -> None:
            taken, _ = listening.accept()
            self.heard.append(taken.recv(1 << 16))
            taken.sendall(said)
            taken.close()

        threading.Thread(target=answer, daemon=True).start()
        return f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture
def saying() -> Iterator[Saying]:
    made = Saying()
    yield made
    for one in made.sockets:
        one.close()


def told(ask: Callable[[], object]) -> str:
    with pytest.raises(InputError) as error:
        ask()
    return str(error.value)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_token_goes_to_nobody_else(saying, status):
    elsewhere = saying.at(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
    here = saying.at(f"HTTP/1.1 {status} Go\r\nLocation: {elsewhere}/x\r\nContent-Length: 0\r\n\r\n".encode())
    assert told(RemoteOperator(here, "secret").studies) == (
        f"The service {here} sends to '{elsewhere}/x', and nothing was sent there. If the service is there, give that "
        "address with --at."
    )
    (heard,) = saying.heard
    assert b"Bearer secret" in heard


@pytest.mark.parametrize(
    "said",
    [b"", b"HTT", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\nabc",
     b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n["],
)  # fmt: skip
def test_half_an_answer_is_one_line(saying, said):
    here = saying.at(said)
    assert told(RemoteOperator(here, "secret").studies).startswith(f"The service {here} is not reached: ")


@pytest.mark.parametrize("body", [b"", b"<html>", b"7", b"{}", b"[]", b'{"closed":"x"}', b"[" * 5000])
def test_another_service_is_told_apart(saying, body):
    here = saying.at(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    assert told(lambda: RemoteOperator(here, None).close("breakfast")) == (
        f"{here} answers, but not as a service of studies does."
    )


@pytest.mark.parametrize("name", ["../operators", "a b", "a?b", "käse"])
def test_a_name_is_one_part_of_the_address(saying, name):
    here = saying.at(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
    assert told(lambda: RemoteOperator(here, None).status(name)) == "The service answers with status 404."
    assert saying.heard[0].split()[1].count(b"/") == 4
