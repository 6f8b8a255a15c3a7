"""Operators' commands as clients of a service elsewhere: whom they tell their token, and what they make of answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from answering import AnsweringSockets
from discreet.collector._operators import RemoteOperator
from discreet.errors import InputError
from running import run


@pytest.fixture
def sockets() -> Iterator[AnsweringSockets]:
    opened = AnsweringSockets()
    yield opened
    opened.close()


def told(ask: Callable[[], object]) -> str:
    with pytest.raises(InputError) as error:
        ask()
    return str(error.value)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_token_goes_to_nobody_else(sockets, status):
    elsewhere = sockets.open(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
    here = sockets.open(f"HTTP/1.1 {status} Go\r\nLocation: {elsewhere}/x\r\nContent-Length: 0\r\n\r\n".encode())
    assert told(RemoteOperator(here, "secret").studies) == (
        f"The service {here} sends to '{elsewhere}/x', and nothing was sent there. If the service is there, give that "
        "address with --at."
    )
    (heard,) = sockets.requests
    assert b"Bearer secret" in heard


@pytest.mark.parametrize(
    "said",
    [b"", b"HTT", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\nabc",
     b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n["],
)  # fmt: skip
def test_half_an_answer_is_one_line(sockets, said):
    here = sockets.open(said)
    assert told(RemoteOperator(here, "secret").studies).startswith(f"The service {here} is not reached: ")


@pytest.mark.parametrize("body", [b"", b"<html>", b"7", b"{}", b"[]", b'{"closed":"x"}', b"[" * 5000])
def test_another_service_is_told_apart(sockets, body):
    here = sockets.open(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    assert told(lambda: RemoteOperator(here, None).close("breakfast")) == (
        f"{here} answers, but not as a service of studies does."
    )


@pytest.mark.parametrize("listed", ["studies", "tokens"])
def test_what_a_service_says_keeps_to_its_row(sockets, listed):
    """A label with a line feed, stored before there was a rule, looked like the token of somebody else."""
    one = {"studies": {"name": "a", "state": "open", "title": "A\nforged  open", "who": "anyone"},
           "tokens": {"id": "00ff", "scopes": ["watch"], "label": "me\nforged  operate"}}[listed]  # fmt: skip
    body = json.dumps([one]).encode()
    here = sockets.open(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    done = run("study", *(["status"] if listed == "studies" else ["token", "--list"]), "--at", here)
    assert done.returncode == 0, done.stderr
    (row,) = done.stdout.splitlines()
    assert r"\nforged" in row


@pytest.mark.parametrize("name", ["../operators", "a b", "a?b", "käse"])
def test_a_name_is_one_part_of_the_address(sockets, name):
    here = sockets.open(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
    assert told(lambda: RemoteOperator(here, None).status(name)) == "The service answers with status 404."
    assert sockets.requests[0].split()[1].count(b"/") == 4
