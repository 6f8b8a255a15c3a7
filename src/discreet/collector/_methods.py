"""Methods of requests: HEAD wherever GET is answered (RFC 9110, 9.3.2), and what a place takes."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadAsGet:
    """Answers HEAD as GET is answered, without the body: for probes of proxies, which look so."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET"}, receive, send_head)


def allowed_methods(app: FastAPI, scope: Scope) -> str:
    """Return the methods that a place takes, as the header Allow lists them."""
    routes = (route for route in app.routes if route.matches(scope)[0] is not Match.NONE)
    methods = {method for route in routes for method in getattr(route, "methods", None) or ()}
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))
