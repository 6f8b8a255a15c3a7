"""Requests to an application in this process, without a port."""

from __future__ import annotations

import asyncio
import json
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """The answer of an application: its status, its headers and its JSON, or its bytes."""

    status: int
    headers: dict[str, str]
    content: Any


def ask(app: Any, path: str, body: Any = None, *, token: str = "", address: str = "192.0.2.1") -> Answer:
    """Return the answer to one request of an address."""
    headers = [(b"authorization", f"Bearer {token}".encode())] if token else []
    place, _, query = path.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "root_path": "",
        "method": "GET" if body is None else "POST", "path": place, "raw_path": place.encode(),
        "query_string": query.encode(), "headers": headers, "client": (address, 1), "server": ("x", 80),
    }  # fmt: skip
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    messages: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(message: Any) -> None:
        messages.append(message)

    asyncio.run(app(scope, receive, send))
    fields = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
    answer = b"".join(bytes(message.get("body", b"")) for message in messages[1:])
    is_json = "json" in fields.get("content-type", "")
    return Answer(messages[0]["status"], fields, json.loads(answer) if is_json else answer)
