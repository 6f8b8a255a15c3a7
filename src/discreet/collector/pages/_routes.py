"""The addresses of the pages, with a policy that allows the service's own scripts and styles alone."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...report import drawing_style
from ...results import ROW_FORMATS, Patterns, Rules, parse_rows, write
from .. import ASSUMED, NO_SHARE, STUDY_NAME, Reason, RefusedRequest
from . import _markup as markup
from ._markup import STATIC

if TYPE_CHECKING:
    from .. import Service

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_STATIC_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_MAX_REPORTS = 16  # in memory, by study and share of made-up reports; larger: more memory; smaller: more drawing


def add_pages(app: FastAPI, service: Service) -> None:
    """Add the pages to an application. They are not part of its API, which has all their facts."""
    app.add_middleware(RefusalPages)
    collector = service.collector

    @cache  # a result is stored once, and never changes; a study without a result raises, which is not cached
    def stored_result(name: str) -> Patterns | Rules:
        return parse_rows(collector.result(name))

    @lru_cache(_MAX_REPORTS)
    def rendered_report(name: str, share: Fraction) -> str:
        outcome = collector.outcome(name, share)
        with collector.drawing_turn():
            return markup.render_report(collector.plan(name), outcome)

    def find_result(request: Request, name: str, share: str) -> Patterns | Rules:
        service.count_share(request, name, share)
        return stored_result(name) if share == NO_SHARE else collector.outcome(name, share).found

    def is_over(name: str) -> bool:
        return collector.questions(name).state == "released"

    @app.get("/", include_in_schema=False)
    def studies() -> Response:
        names = [record.name for record in collector.store.studies()]
        return _page(markup.render_list([(collector.plan(name), collector.questions(name).state) for name in names]))

    @app.get("/studies/{name}", include_in_schema=False)
    def study(name: str, request: Request, assume_malicious: ASSUMED = NO_SHARE) -> Response:
        plan = collector.plan(name)
        progress = collector.progress(name)
        result = find_result(request, name, assume_malicious) if progress["state"] == "released" else None
        return _page(markup.render_study(plan, collector.record(name).key, progress, result))

    @app.get("/studies/{name}/take-part", include_in_schema=False)
    def take_part(name: str) -> Response:
        plan, has_script = collector.plan(name), (STATIC / "take-part.js").is_file()
        return _page(markup.render_taking_part(plan, has_script=has_script, is_over=is_over(name)))

    @app.get("/studies/{name}/operate", include_in_schema=False)
    def operate(name: str) -> Response:
        return _page(markup.render_operating(collector.plan(name)))

    @app.get("/studies/{name}/results.{form}", include_in_schema=False)
    def results(
        name: STUDY_NAME,
        form: Literal["csv", "json", "parquet"],
        request: Request,
        assume_malicious: ASSUMED = NO_SHARE,
    ) -> Response:
        stream = io.BytesIO()
        write(find_result(request, name, assume_malicious), stream, form)
        headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{name}.{form}"'}
        return Response(stream.getvalue(), media_type=ROW_FORMATS[form].media_type, headers=headers)

    @app.get("/studies/{name}/report.html", include_in_schema=False)
    def report(name: STUDY_NAME, request: Request, assume_malicious: ASSUMED = NO_SHARE) -> Response:
        service.count_share(request, name, assume_malicious)
        # The page has its own policy, which allows its own style sheet and script alone.
        headers = {"Content-Disposition": f'attachment; filename="{name}.html"', "Cache-Control": "no-store"}
        # The share as a number: 0.10 and 10% are one report.
        return HTMLResponse(rendered_report(name, collector.malicious_share(assume_malicious)), headers=headers)

    @app.get("/static/{file}", include_in_schema=False)
    def static(file: str) -> Response:
        # Names are compared: one with ".." must not lead out of the directory, and a long one is an error of the disk.
        path = STATIC / file
        if path.suffix not in _STATIC_TYPES or file not in {known.name for known in STATIC.iterdir()}:
            raise RefusedRequest(Reason.UNKNOWN_PLACE)
        # Tables and figures are drawn as in reports, so the pages need the style of reports too.
        style = drawing_style() if file == "pages.css" else ""
        return Response(path.read_bytes() + style.encode(), media_type=_STATIC_TYPES[path.suffix], headers=HEADERS)


class RefusalPages:
    """Middleware that shows refusals to browsers as pages; programs receive problem documents (RFC 9457)."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with a page instead of a problem document if a browser sent it."""
        is_get = scope["type"] == "http" and scope["method"] == "GET"
        if not is_get or "text/html" not in Headers(scope=scope).get("accept", ""):
            await self.app(scope, receive, send)
            return
        start: Message | None = None  # of a problem document
        document = bytearray()

        async def send_page(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _is_problem(message):
                start = message
            elif start is None:
                await send(message)
            else:
                document.extend(message.get("body", b""))
                if not message.get("more_body", False):
                    await _refusal_page(start, json.loads(document))(scope, receive, send)

        await self.app(scope, receive, send_page)


def _is_problem(message: Message) -> bool:
    return Headers(raw=message["headers"]).get("content-type", "").startswith("application/problem+json")


def _refusal_page(start: Message, problem: Mapping[str, Any]) -> Response:
    """Return the page of a problem document, with the headers of the document."""
    sentence = problem.get("detail") or f"{problem['title']}."
    answer = _page(markup.render_refusal(start["status"], sentence), start["status"])
    for name, value in Headers(raw=start["headers"]).items():
        answer.headers.setdefault(name, value)
    return answer


def _page(text: str, status: int = 200) -> Response:
    return HTMLResponse(text, status, headers=HEADERS)
