"""Where the pages are, with a policy that lets in the service's own scripts and styles and nothing else."""

from __future__ import annotations

import io
import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, Response
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...report import drawing_style
from ...results import Patterns, Rules, load_rows, write
from .. import ASSUMED, NOBODY, STUDY_NAME, Reason, RefusedRequest, StudyPlan
from . import _markup as markup

if TYPE_CHECKING:
    from .. import Service

STATIC = Path(__file__).parents[1] / "static"
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
NAMED = re.compile("[a-z0-9][a-z0-9-]{0,62}")  # what STUDY_NAME says of the names of studies
_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_REPORTS = 16  # that are kept, by study and part of liars
_FORMS = {"csv": "text/csv", "json": "application/json", "parquet": "application/vnd.apache.parquet"}


def add_pages(app: FastAPI, service: Service) -> None:
    """Add the pages to a service. They are not part of its API, which says the same."""
    app.add_middleware(RefusalPages)
    collector = service.collector
    found: dict[str, Patterns | Rules] = {}  # a result is stored once, and never changes
    reports: dict[tuple[str, str], str] = {}

    def result(name: str, assumed: str = NOBODY) -> Patterns | Rules:
        if assumed != NOBODY:
            return collector.outcome(name, assumed).found
        if name not in found:
            found[name] = _read(collector.result(name))
        return found[name]

    @app.get("/", include_in_schema=False)
    def studies() -> Response:
        names = [record.name for record in collector.store.studies()]
        return _page(markup.listed([(collector.plan(name), collector.questions(name).state) for name in names]))

    def plan_of(name: str) -> StudyPlan:
        """Return the plan of a study; a name that no study can have is the name of none."""
        if not NAMED.fullmatch(name):
            raise RefusedRequest(Reason.UNKNOWN_STUDY)
        return collector.plan(name)

    @app.get("/studies/{name}", include_in_schema=False)
    def study(name: str, assume_malicious: ASSUMED = NOBODY) -> Response:
        plan = plan_of(name)
        progress = collector.progress(name)
        over = result(name, assume_malicious) if progress["state"] == "released" else None
        return _page(markup.told_of(plan, collector.record(name).key, progress, over))

    @app.get("/studies/{name}/take-part", include_in_schema=False)
    def take_part(name: str) -> Response:
        plan, ready = plan_of(name), (STATIC / "take-part.js").is_file()
        return _page(markup.taking_part(plan, ready=ready, over=collector.questions(name).state == "released"))

    @app.get("/studies/{name}/operate", include_in_schema=False)
    def operate(name: str) -> Response:
        return _page(markup.operating(plan_of(name)))

    @app.get("/studies/{name}/results.{form}", include_in_schema=False)
    def results(
        name: STUDY_NAME, form: Literal["csv", "json", "parquet"], assume_malicious: ASSUMED = NOBODY
    ) -> Response:
        stream = io.BytesIO()
        write(result(name, assume_malicious), stream, form)
        headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{name}.{form}"'}
        return Response(stream.getvalue(), media_type=_FORMS[form], headers=headers)

    @app.get("/studies/{name}/report.html", include_in_schema=False)
    def report(name: STUDY_NAME, assume_malicious: ASSUMED = NOBODY) -> Response:
        told = reports.get((name, assume_malicious))
        if told is None:
            told = markup.report(collector.plan(name), collector.outcome(name, assume_malicious))
            reports[name, assume_malicious] = told
            while len(reports) > _REPORTS:
                reports.pop(next(iter(reports)), None)
        # The page has a policy of its own, which lets in its style sheet and its script, and nothing else.
        headers = {"Content-Disposition": f'attachment; filename="{name}.html"', "Cache-Control": "no-store"}
        return HTMLResponse(told, headers=headers)

    @app.get("/static/{file}", include_in_schema=False)
    def static(file: str) -> Response:
        place = STATIC / file
        if place.suffix not in _KINDS or place.parent != STATIC or not place.is_file():
            raise RefusedRequest(Reason.UNKNOWN_PLACE)
        # Tables and figures are drawn as in reports, and look like those by the same rules.
        more = drawing_style() if file == "pages.css" else ""
        return Response(place.read_bytes() + more.encode(), media_type=_KINDS[place.suffix], headers=HEADERS)


class RefusalPages:
    """Middleware that shows refusals to browsers as pages; programs get problem documents (RFC 9457) as ever."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with a page in the place of a problem document where a browser reads it."""
        if (
            scope["type"] != "http"
            or scope["method"] != "GET"
            or "text/html" not in Headers(scope=scope).get("accept", "")
        ):
            await self.app(scope, receive, send)
            return
        begun: Message | None = None
        document = bytearray()

        async def send_page(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start" and _is_problem(message):
                begun = message
            elif begun is None:
                await send(message)
            else:
                document.extend(message.get("body", b""))
                if not message.get("more_body", False):
                    await _refusal(begun, json.loads(document))(scope, receive, send)

        await self.app(scope, receive, send_page)


def _is_problem(message: Message) -> bool:
    return Headers(raw=message["headers"]).get("content-type", "").startswith("application/problem+json")


def _refusal(begun: Message, problem: Mapping[str, Any]) -> Response:
    """Return the page of a problem document, with the headers that came with the document."""
    answer = _page(markup.refusal(begun["status"], problem.get("detail") or f"{problem['title']}."), begun["status"])
    for name, value in Headers(raw=begun["headers"]).items():
        answer.headers.setdefault(name, value)
    return answer


def _page(text: str, status: int = 200) -> Response:
    return HTMLResponse(text, status, headers=HEADERS)


def _read(text: str) -> Patterns | Rules:
    """Return a result from the text that is stored of it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "result.json"
        place.write_text(text)
        return load_rows(place)
