"""Sockets on loopback that give fixed answers, for tests of clients."""

from __future__ import annotations

import re
import socket
import threading
from contextlib import suppress


class AnsweringSockets:
    """Listening sockets, each of which gives one fixed answer to every request and records the requests."""

    def __init__(self) -> None:
        self.listeners: list[socket.socket] = []
        self.threads: list[threading.Thread] = []
        self.requests: list[bytes] = []

    def open(self, answer: bytes) -> str:
        """Return the address of a new socket that gives this answer."""
        listener = socket.create_server(("127.0.0.1", 0))
        thread = threading.Thread(target=self._serve, args=(listener, answer), daemon=True)
        self.listeners.append(listener)
        self.threads.append(thread)
        thread.start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    def _serve(self, listener: socket.socket, answer: bytes) -> None:
        # A listener that is shut down ends `accept`, and a client that has gone ends `recv` or `sendall`: neither is
        # an error of the client that is tested.
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    self.requests.append(read_request(connection))
                    connection.sendall(answer)

    def close(self) -> None:
        """Stop all sockets, and wait for their threads: none of them outlives its test."""
        for listener in self.listeners:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(timeout=30)
        for listener in self.listeners:
            listener.close()


def read_request(connection: socket.socket) -> bytes:
    """Return the head of a request and as many bytes of its body as the head announces."""
    request = b""
    while b"\r\n\r\n" not in request:
        request += (block := connection.recv(1 << 16))
        if not block:
            return request
    head, _, body = request.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: *([0-9]+)", head)
    while len(body) < (int(length[1]) if length else 0) and (block := connection.recv(1 << 16)):
        body += block
    return head + b"\r\n\r\n" + body
