"""Where the pages are, with a policy that lets in the service's own scripts and styles and nothing else."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, Response

from ...report.colours import night
from ...results.files import load_rows, write
from ...results.patterns import Patterns
from ...results.rules import Rules
from ..reasons import REFUSALS, Reason, RefusedRequest
from ..routes import ASSUMED, NOBODY, STUDY_NAME
from . import markup

if TYPE_CHECKING:
    from ..service import Service

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
_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_REPORTS = 16  # that are kept, by study and part of liars
_FORMS = {"csv": "text/csv", "json": "application/json", "parquet": "application/vnd.apache.parquet"}


def add_pages(app: FastAPI, service: Service) -> None:
    """Add the pages to a service. They are not part of its API, which says the same."""
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

    @app.get("/studies/{name}", include_in_schema=False)
    def study(name: STUDY_NAME, assume_malicious: ASSUMED = NOBODY) -> Response:
        try:
            progress = collector.progress(name)
            over = result(name, assume_malicious) if progress["state"] == "released" else None
            return _page(markup.told_of(collector.plan(name), collector.record(name).key, progress, over))
        except RefusedRequest as error:
            return _missing(error)

    @app.get("/studies/{name}/take-part", include_in_schema=False)
    def take_part(name: STUDY_NAME) -> Response:
        try:
            return _page(markup.taking_part(collector.plan(name), ready=(STATIC / "take-part.js").is_file()))
        except RefusedRequest as error:
            return _missing(error)

    @app.get("/studies/{name}/operate", include_in_schema=False)
    def operate(name: STUDY_NAME) -> Response:
        try:
            return _page(markup.operating(collector.plan(name), ready=(STATIC / "operate.js").is_file()))
        except RefusedRequest as error:
            return _missing(error)

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
        # Pictures are drawn by day; by night the rules that all pages have for them are added.
        more = night() if file == "pages.css" else ""
        return Response(place.read_bytes() + more.encode(), media_type=_KINDS[place.suffix], headers=HEADERS)


def _page(text: str, status: int = 200) -> Response:
    return HTMLResponse(text, status, headers=HEADERS)


def _missing(error: RefusedRequest) -> Response:
    refusal = REFUSALS[error.reason]
    return _page(markup.missing(error.detail or f"{refusal.title}."), refusal.status)


def _read(text: str) -> Patterns | Rules:
    """Return a result from the text that is stored of it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "result.json"
        place.write_text(text)
        return load_rows(place)
