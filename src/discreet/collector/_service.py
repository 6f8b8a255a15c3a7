"""The service: what is asked of it over HTTP goes to a collector, and what goes wrong comes back as a problem document.

Nothing is decided here. Reports wait in the batcher for their
transaction; whatever may take longer than a moment runs in a thread. Answers and logs name no token and no report.
"""

from __future__ import annotations

import json
import logging
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from math import inf
from time import monotonic
from typing import Any

import numpy as np
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from .. import __version__
from ..errors import DiscreetError, InputError
from ..local.study import Ask
from ._batcher import Batcher
from ._bodies import MOST_LONG_BODIES, MOST_SHORT_BODIES, Body, BodyLimit, WorkLimit
from ._collector import NotAddedUpError, Scope, StudyCollector
from ._limits import address_group
from ._methods import HeadAsGet, allowed_methods
from ._metrics import exposition
from ._reasons import OUTCOMES, REASONS, Reason, RefusedRequest, problem_fields, problem_headers
from ._routes import (
    ASSUMED,
    BATCH_BODY,
    CLOSE_BODY,
    MANY_BODY,
    NOBODY,
    OPERATOR_BODY,
    OPERATOR_ID,
    PLAN_BODY,
    PROBLEMS,
    REPORT_BODY,
    STUDY_NAME,
)  # fmt: skip
from ._study_file import StudyPlan, parse_json
from ._uploads import (
    HEAD_BYTES,
    MAX_BATCH_BYTES,
    MAX_REPORT_BYTES,
    BatchHead,
    ReportBatch,
    Upload,
    build_upload,
    parse_report,
)  # fmt: skip
from .pages import add_pages
from .storage import StoreError

MOST_PLAN = 64 << 20  # bytes: a plan has the items
_TICK = 0.5  # seconds after which deadlines are looked at, at the latest
_CLOCK_SECONDS = 10.0  # between two looks at the clocks
_READY_SECONDS = 1.0  # for which an answer to whether the service is ready is kept: each look writes to the disk
_FAILED_SECONDS = 10.0  # for which a service is not ready after a transaction failed: small ones may still succeed
_HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}  # of every answer
_ALIVE = ("/v1/health", "/v1/ready", "/metrics")  # are answered whatever the clock says
_FRESH = 0.2  # seconds for which questions are not read again

_log = logging.getLogger(__name__)


class Rates:
    """How many requests one address may make: so many a second, and twice as many at once."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, address: str) -> None:
        """Count one request, or refuse it."""
        if not self.rate:
            return
        now, address = monotonic(), address_group(address)
        left, before = self._left.get(address, (2 * self.rate, now))
        left = min(2 * self.rate, left + (now - before) * self.rate)
        if left < 1:
            raise RefusedRequest(Reason.TOO_MANY)
        if len(self._left) > 100_000:
            self._left.clear()  # addresses may be made up
        self._left[address] = (left - 1, now)


class Readiness:
    """Whether a service can do what it is for: its store takes what is written, and its clock is right."""

    def __init__(self, collector: StudyCollector) -> None:
        self._collector = collector
        self._lock = threading.Lock()
        self._looked, self._store_problem = -inf, ""
        self._clock_looked, self.clock_problem = -inf, ""
        self._failed = -inf

    def note_failure(self) -> None:
        """Note that a transaction failed."""
        self._failed = monotonic()

    def look_at_clock(self) -> None:
        """Compare the clocks, where that was not done just now."""
        if monotonic() - self._clock_looked < _CLOCK_SECONDS:
            return
        try:
            self._collector.check_clock()
            self.clock_problem = ""
        except InputError as error:
            self.clock_problem = str(error)
            _log.warning("%s", error)
        self._clock_looked = monotonic()

    def check(self) -> None:
        """Refuse where the service is not ready, and say why."""
        if self.clock_problem:
            raise RefusedRequest(Reason.CLOCK_OFF, self.clock_problem)
        with self._lock:
            if monotonic() - self._looked >= _READY_SECONDS:
                try:
                    self._collector.store.check()
                    self._store_problem = ""
                except StoreError as error:
                    self._store_problem = str(error)
                    _log.warning("%s", error)
                self._looked = monotonic()
            failed = monotonic() - self._failed < _FAILED_SECONDS
        if self._store_problem or failed:
            raise RefusedRequest(Reason.STORE_FAILED)


class Service:
    """A collector behind HTTP: its batcher, its ticking, and what it counts."""

    def __init__(self, collector: StudyCollector, *, rate: float = 0) -> None:
        self.collector, self.rates = collector, Rates(rate)
        self.batcher = Batcher(collector.take_reports, collector.store.after_taking)
        self.long_bodies, self.short_bodies = BodyLimit(MOST_LONG_BODIES), BodyLimit(MOST_SHORT_BODIES)
        self.work = WorkLimit()
        self.readiness = Readiness(collector)
        self.requests: Counter[int] = Counter()
        self.reports: Counter[str] = Counter()
        self._awake, self._stopped = threading.Event(), False
        self._ticking = threading.Thread(target=self._tick, name="tick", daemon=True)
        self._questions: dict[str, tuple[float, int, bytes]] = {}

    @asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        """Tick while the service is up."""
        self._ticking.start()
        yield
        self._stopped = True
        self.wake()
        await run_in_threadpool(self._ticking.join)
        self.batcher.close()
        try:
            self.collector.flush()
        except StoreError as error:
            _log.warning("%s", error)

    def wake(self) -> None:
        """Look at once at what follows from what is stored."""
        self._awake.set()

    def _tick(self) -> None:
        while not self._stopped:
            try:
                self.readiness.look_at_clock()
                if not self.readiness.clock_problem:
                    self.collector.tick()
            except Exception as error:  # the store may be away for a while
                _log.warning("%s", error)
            self._awake.wait(_TICK)
            self._awake.clear()

    async def body(self, request: Request, most: int) -> bytes:
        """Return the whole body of a request; it counts among those that are held at the same time."""
        with (self.short_bodies if most <= MAX_REPORT_BYTES else self.long_bodies).one() as more:
            return await Body(request, most, more).whole()

    async def scopes(self, request: Request) -> frozenset[str]:
        """Return what the operator's token of a request is for: nothing, where there is none."""
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not token:
            return frozenset()
        return await run_in_threadpool(self.collector.scopes, token.strip())

    async def allowed(self, request: Request, scope: Scope) -> None:
        """Refuse whoever has no operator's token for this."""
        scopes = await self.scopes(request)
        if not scopes:
            raise RefusedRequest(Reason.UNAUTHORISED)
        if scope not in scopes:
            raise RefusedRequest(Reason.FORBIDDEN, f"This needs a token for {scope}.")

    async def ask(self, name: str, number: int) -> Any:
        """Return what a round asks, quickly where it is known."""
        known = self.collector.known_ask(name, number)
        return known if known is not None else await run_in_threadpool(self.collector.ask, name, number)

    async def counted(self, name: str, upload: Upload, *, known: bool) -> Any:
        """Return the codes of an upload, after its transaction."""
        try:
            if known:
                codes = await self.batcher.put(name, upload)
            else:
                codes = await run_in_threadpool(self.collector.find_codes, name, upload)
        except StoreError:
            self.readiness.note_failure()
            raise
        for code, many in zip(*np.unique(codes, return_counts=True), strict=True):
            self.reports[OUTCOMES.get(int(code)) or str(REASONS[int(code)])] += int(many)
        return codes

    async def counted_batch(self, name: str, batch: ReportBatch, ask: Ask | None) -> bytes:
        """Return the codes of a batch, a piece after the other: what a piece is expanded to is gone before the next.

        Where the store fails at a later piece, those before it are counted. They are told so when they come again.
        """
        codes = []
        for piece in batch.parts():
            async with self.work.turn():
                upload = await run_in_threadpool(piece.upload, ask)
                if len(upload):
                    codes.append((await self.counted(name, upload, known=ask is not None)).tobytes())
                del upload  # before others have their turn
        return b"".join(codes)

    async def questions(self, name: str) -> bytes:
        """Return what devices are told, as bytes; many ask at once, so it is kept for a moment."""
        before, moves, known = self._questions.get(name, (0.0, -1, b""))
        now, moved = monotonic(), self.collector.moves
        if moves != moved or now - before > _FRESH:
            told = await run_in_threadpool(self.collector.questions, name)
            listed = [{"question": text, "signature": signature} for text, signature in told.questions]
            known = json.dumps({"state": told.state, "questions": listed}, ensure_ascii=False).encode()
            self._questions[name] = now, moved, known
        return known


def problem(reason: Reason, detail: str = "", status: int | None = None) -> JSONResponse:
    """Return a problem document (RFC 9457), with another status than the reason's own where that is given."""
    fields = problem_fields(reason, detail, status)
    headers = problem_headers(reason, status)
    return JSONResponse(fields, int(fields["status"]), headers, media_type="application/problem+json")


def application(collector: StudyCollector, *, rate: float = 0) -> FastAPI:
    """Return the service of a collector as an application.

    Parameters
    ----------
    collector
        Runs the studies.
    rate
        How many requests a second one address may make; 0 for any number.
    """
    service = Service(collector, rate=rate)
    app = FastAPI(
        title="discreet", version=__version__, summary="Live studies under local differential privacy.",
        lifespan=service.lifespan, docs_url=None, redoc_url=None, responses=PROBLEMS,
        redirect_slashes=False,  # the address would have the scheme that a proxy spoke to the service
    )  # fmt: skip
    app.state.service = service
    _add_errors(app, service)
    _add_public(app, service)
    _add_uploads(app, service)
    _add_operators(app, service)
    add_pages(app, service)
    app.add_middleware(HeadAsGet)
    return app


def _add_errors(app: FastAPI, service: Service) -> None:
    @app.middleware("http")
    async def counted(request: Request, go_on: Callable[[Request], Awaitable[Response]]) -> Response:
        try:
            service.rates.take(request.client.host if request.client else "")
            if service.readiness.clock_problem and request.url.path not in _ALIVE:
                raise RefusedRequest(Reason.CLOCK_OFF)
            answer = await go_on(request)
        except RefusedRequest as error:
            answer = problem(error.reason, error.detail)
        except StoreError as error:
            _log.warning("%s", error)
            answer = problem(Reason.STORE_FAILED)
        service.requests[answer.status_code] += 1
        for name, value in _HEADERS.items():
            answer.headers.setdefault(name, value)
        return answer

    @app.exception_handler(RefusedRequest)
    async def refused(request: Request, error: RefusedRequest) -> Response:
        return problem(error.reason, error.detail)

    @app.exception_handler(StoreError)
    @app.exception_handler(InputError)  # a study of another key, or one that another version began
    async def failed(request: Request, error: DiscreetError) -> Response:
        _log.warning("%s", error)
        return problem(Reason.STORE_FAILED)

    @app.exception_handler(NotAddedUpError)
    async def not_added_up(request: Request, error: NotAddedUpError) -> Response:
        _log.warning("%s", error)
        return problem(Reason.NOT_ADDED_UP, str(error))

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> Response:
        return problem(Reason.MALFORMED)

    @app.exception_handler(HTTPException)
    async def elsewhere(request: Request, error: HTTPException) -> Response:
        if error.status_code == 405:
            answer = problem(Reason.UNKNOWN_PLACE, "This place takes other methods.", 405)
            answer.headers["Allow"] = allowed_methods(app, request.scope)
            return answer
        return problem(Reason.UNKNOWN_PLACE if error.status_code == 404 else Reason.MALFORMED)


def _add_public(app: FastAPI, service: Service) -> None:
    collector = service.collector

    @app.get("/v1/health", summary="Whether the service answers: where it does not, start it anew.")
    async def health() -> dict[str, str]:
        return {"status": "ok", "store": collector.store.kind, "version": __version__}

    @app.get("/v1/ready", summary="Whether it can take reports: where it cannot, send people elsewhere or wait.")
    def ready() -> dict[str, str]:
        service.readiness.check()
        return {"status": "ready"}

    @app.get("/metrics", response_class=PlainTextResponse, summary="Counts and states, as Prometheus reads them.")
    async def metrics(request: Request) -> str:
        watching = "watch" in await service.scopes(request)
        return await run_in_threadpool(exposition, collector, service.requests, service.reports, watching=watching)

    @app.get("/v1/studies", summary="All studies, with their states.")
    def studies() -> list[dict[str, Any]]:
        return collector.studies()

    @app.get("/v1/studies/{name}", summary="A study as it is signed.")
    def study(name: STUDY_NAME) -> dict[str, str]:
        return collector.signed(name)

    @app.get("/v1/studies/{name}/questions", summary="What is asked now, signed.")
    async def questions(name: STUDY_NAME) -> Response:
        return Response(await service.questions(name), media_type="application/json")

    @app.get("/v1/studies/{name}/texts", summary="All that was signed: the study, and every question so far.")
    def texts(name: STUDY_NAME) -> dict[str, Any]:
        return collector.texts(name)

    @app.get("/v1/studies/{name}/rounds", summary="How far a study has come: counts and states.")
    def rounds(name: STUDY_NAME) -> dict[str, Any]:
        return collector.progress(name)

    @app.get("/v1/studies/{name}/results", summary="The result, once it is released.")
    def results(name: STUDY_NAME, assume_malicious: ASSUMED = NOBODY) -> Response:
        return Response(collector.result(name, assume_malicious), media_type="application/json")


def _add_uploads(app: FastAPI, service: Service) -> None:
    collector = service.collector

    @app.post("/v1/studies/{name}/reports", summary="Send one report.", openapi_extra=REPORT_BODY)
    async def reports(name: STUDY_NAME, request: Request) -> JSONResponse:
        try:
            number, token, key, report = parse_report(await service.body(request, MAX_REPORT_BYTES))
            ask = await service.ask(name, number)
            upload = build_upload(ask, number, token, key, report)
        except RefusedRequest as error:
            service.reports[str(error.reason)] += 1
            if error.reason is Reason.REPORT_IMPOSSIBLE:
                collector.count_refused(name, error.reason)
            raise
        code = int((await service.counted(name, upload, known=ask is not None))[0])
        if code in OUTCOMES:
            return JSONResponse({"outcome": OUTCOMES[code]})
        return problem(REASONS[code])

    @app.post("/v1/studies/{name}/batches", summary="Send many reports.", openapi_extra=BATCH_BODY)
    async def batches(name: STUDY_NAME, request: Request) -> Response:
        # Whether the study takes any is looked at before anything is read, and the first bytes before the others.
        record = await run_in_threadpool(collector.running_record, name)
        with service.long_bodies.one() as more:
            body = Body(request, MAX_BATCH_BYTES, more)
            head = BatchHead.decode(await body.begin(HEAD_BYTES), body.announced)
            if head.study.hex() != record.id:
                raise RefusedRequest(Reason.WRONG_STUDY)
            ask = await service.ask(name, head.round)
            codes = await service.counted_batch(name, ReportBatch.decode(await body.whole()), ask)
            return Response(codes, media_type="application/octet-stream")

    @app.post("/v1/studies/{name}/enrol", summary="Ask for a token, where anyone may take part.")
    def enrol(name: STUDY_NAME) -> dict[str, str]:
        return {"token": collector.enrol(name)}


def _add_operators(app: FastAPI, service: Service) -> None:
    collector = service.collector

    @app.post("/v1/studies", summary="Open a study (scope operate).", openapi_extra=PLAN_BODY)
    async def open_study(request: Request) -> dict[str, str]:
        await service.allowed(request, "operate")
        try:
            plan = await run_in_threadpool(StudyPlan.from_json, await service.body(request, MOST_PLAN))
            return await run_in_threadpool(collector.open, plan)
        except (RefusedRequest, StoreError):
            raise
        except DiscreetError as error:
            raise RefusedRequest(Reason.PLAN_REFUSED, str(error)) from None

    @app.post("/v1/operators", summary="Make a token for an operator (scope operate).", openapi_extra=OPERATOR_BODY)
    async def operators(request: Request) -> dict[str, str]:
        await service.allowed(request, "operate")
        try:
            told = parse_json(await service.body(request, MAX_REPORT_BYTES))
            scopes, label = told["scopes"], told.get("label", "")
            if not isinstance(scopes, list) or not isinstance(label, str):
                raise ValueError
            token = await run_in_threadpool(collector.add_operator, [str(one) for one in scopes], label)
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            detail = str(error) if isinstance(error, DiscreetError) else 'Say what for: {"scopes": ["watch"]}.'
            raise RefusedRequest(Reason.MALFORMED, detail) from None
        return {"token": token}

    @app.get("/v1/operators", summary="The tokens of operators, without the tokens (scope operate).")
    async def known_operators(request: Request) -> list[dict[str, Any]]:
        await service.allowed(request, "operate")
        return await run_in_threadpool(collector.operators)

    @app.delete("/v1/operators/{operator}", summary="Revoke an operator's token (scope operate).")
    async def revoke(operator: OPERATOR_ID, request: Request) -> dict[str, str]:
        await service.allowed(request, "operate")
        await run_in_threadpool(collector.revoke_operator, operator)
        return {"revoked": operator}

    @app.get("/v1/studies/{name}/status", summary="Progress, tokens and refusals (scope watch).")
    async def status(name: STUDY_NAME, request: Request) -> dict[str, Any]:
        await service.allowed(request, "watch")
        return await run_in_threadpool(collector.status, name)

    @app.get("/v1/studies/{name}/export", summary="All that is public of a study (scope watch).")
    async def export(name: STUDY_NAME, request: Request, assume_malicious: ASSUMED = NOBODY) -> dict[str, Any]:
        await service.allowed(request, "watch")
        return await run_in_threadpool(collector.export, name, assume_malicious)

    @app.post("/v1/studies/{name}/close", summary="Close the open rounds (scope operate).", openapi_extra=CLOSE_BODY)
    async def close(name: STUDY_NAME, request: Request) -> dict[str, Any]:
        await service.allowed(request, "operate")
        try:
            few = parse_json(await service.body(request, MAX_REPORT_BYTES) or b"{}").get("few", False)
            if not isinstance(few, bool):
                raise ValueError
        except (ValueError, AttributeError, RecursionError):
            raise RefusedRequest(Reason.MALFORMED, 'Send nothing, or {"few": true}.') from None
        done = await run_in_threadpool(collector.close, name, below_minimum=few)
        empty = {"without_reports": list(done.without_reports), "ended_empty": done.ended_empty}
        return {"closed": done.rounds, **empty}

    @app.post("/v1/studies/{name}/scrub", summary="Delete the reports of released rounds (scope operate).")
    async def scrub(name: STUDY_NAME, request: Request) -> dict[str, int | bool]:
        await service.allowed(request, "operate")
        done = await run_in_threadpool(collector.scrub, name)
        return {"scrubbed": done.rounds, "tidy": done.tidy}

    @app.post("/v1/studies/{name}/tokens", summary="Make single-use tokens (scope enrol).", openapi_extra=MANY_BODY)
    async def tokens(name: STUDY_NAME, request: Request) -> dict[str, list[str]]:
        await service.allowed(request, "enrol")
        try:
            many = parse_json(await service.body(request, MAX_REPORT_BYTES) or b'{"many": 1}')["many"]
            if type(many) is not int:
                raise ValueError
        except (ValueError, LookupError, TypeError, RecursionError):
            raise RefusedRequest(Reason.MALFORMED, 'Say how many: {"many": 100}.') from None
        return {"tokens": await run_in_threadpool(collector.tokens, name, many)}
