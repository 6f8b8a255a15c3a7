"""Operators' commands as clients of a service elsewhere: recipients of their token, and reading of answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from answering import AnsweringSockets
from discreet.collector._operators import RemoteOperator, open_operator
from discreet.errors import InputError
from running import run

TOKEN = "5ec0" * 16


@pytest.fixture
def sockets() -> Iterator[AnsweringSockets]:
    opened = AnsweringSockets()
    yield opened
    opened.close()


def error_of(ask: Callable[[], object]) -> str:
    with pytest.raises(InputError) as error:
        ask()
    return str(error.value)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_token_goes_to_nobody_else(sockets, status):
    elsewhere = sockets.open(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
    address = sockets.open(f"HTTP/1.1 {status} Go\r\nLocation: {elsewhere}/x\r\nContent-Length: 0\r\n\r\n".encode())
    assert error_of(RemoteOperator(address, TOKEN).studies) == (
        f"The service {address} sends to '{elsewhere}/x', and nothing was sent there. If the service is there, give "
        "that address with --at."
    )
    (request,) = sockets.requests
    assert b"Bearer " + TOKEN.encode() in request


@pytest.mark.parametrize(
    "answer",
    [b"", b"HTT", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\nabc",
     b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n["],
)  # fmt: skip
def test_half_an_answer_is_one_line(sockets, answer):
    address = sockets.open(answer)
    assert error_of(RemoteOperator(address, TOKEN).studies).startswith(f"The service {address} is not reached: ")


@pytest.mark.parametrize("body", [b"", b"<html>", b"7", b"{}", b"[]", b'{"closed":"x"}', b"[" * 5000])
def test_another_service_is_told_apart(sockets, body):
    address = sockets.open(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    assert error_of(lambda: RemoteOperator(address, None).close("breakfast")) == (
        f"{address} answers, but not as a service of studies does."
    )


@pytest.mark.parametrize("listing", ["studies", "tokens"])
def test_what_a_service_says_keeps_to_its_row(sockets, listing):
    """A label with a line feed, stored before there was a rule, looked like the token of somebody else."""
    entry = {"studies": {"name": "a", "state": "open", "title": "A\nforged  open", "who": "anyone"},
           "tokens": {"id": "00ff", "scopes": ["watch"], "label": "me\nforged  operate"}}[listing]  # fmt: skip
    body = json.dumps([entry]).encode()
    address = sockets.open(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    completed = run("study", *(["status"] if listing == "studies" else ["token", "--list"]), "--at", address)
    assert completed.returncode == 0, completed.stderr
    (row,) = completed.stdout.splitlines()
    assert r"\nforged" in row


@pytest.mark.parametrize("name", ["../operators", "a b", "a?b", "käse"])
def test_a_name_is_one_part_of_the_address(sockets, name):
    address = sockets.open(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
    assert error_of(lambda: RemoteOperator(address, None).status(name)) == "The service answers with status 404."
    assert sockets.requests[0].split()[1].count(b"/") == 4


@pytest.mark.parametrize("around", ["\r", "\r\n", " ", "\n"])
def test_a_line_end_behind_a_token_is_no_part_of_it(sockets, around):
    address = sockets.open(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
    assert RemoteOperator(address, TOKEN + around).studies() == []
    assert f"Authorization: Bearer {TOKEN}\r\n".encode() in sockets.requests[0]


@pytest.mark.parametrize(
    ("token", "length"),
    [
        ("secretsecretsecret", "18 letters"),
        ("", "0 letters"),
        (f"{TOKEN}\r{TOKEN}", "129 letters"),
        ("é" * 64, "64 letters"),
    ],
)
def test_a_message_about_a_token_has_no_part_of_it(token, length):
    """A file with line ends of Windows put the token into the message, and so into terminals and logs."""
    assert error_of(lambda: RemoteOperator("http://127.0.0.1:1", token)) == (
        f"An operator's token has 64 hexadecimal digits, and the given one, of {length}, is different. Copy it again, "
        "as `discreet study token --scope` printed it."
    )


def test_an_address_may_have_capital_letters():
    with open_operator("HTTP://127.0.0.1:1") as operator:
        assert isinstance(operator, RemoteOperator)
