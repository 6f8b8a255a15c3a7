"""The service: it passes HTTP requests to a collector, and answers failures with problem documents.

Nothing is decided here. Reports wait in the batcher for their transaction; calls that may take longer than a moment run
in a thread. Answers and logs name no token and no report.
"""

from __future__ import annotations

import json
import logging
import threading
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from math import inf
from time import monotonic
from typing import Any, TypeVar

import numpy as np
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from numpy.typing import NDArray
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope as RequestScope, Send

from .. import __version__
from ..errors import DiscreetError, InputError, MisuseError
from ..local.study import Ask
from ._answers import AnswerLimit, BoundedAnswers
from ._batcher import Batcher
from ._bodies import MAX_LONG_BODIES, MAX_SHORT_BODIES, Body, BodyLimit, WorkLimit
from ._collector import NotAddedUpError, Scope, StudyCollector
from ._limits import address_group, check_rate
from ._metrics import render_metrics
from ._reader import keep_newest
from ._reasons import OUTCOMES, REASONS, Reason, RefusedRequest, problem_fields, problem_headers
from ._routes import (
    ASSUMED,
    BATCH_BODY,
    CLOSE_BODY,
    NO_SHARE,
    OPERATOR_BODY,
    OPERATOR_ID,
    PLAN_BODY,
    PROBLEMS,
    REPORT_BODY,
    STUDY_NAME,
    TOKENS_BODY,
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

T = TypeVar("T")

MAX_PLAN_BYTES = 64 << 20  # a million items of 64 letters; larger: more memory; smaller: long lists of items do not fit
_TICK_SECONDS = 0.5  # between two looks at deadlines; larger: rounds close later; smaller: more queries of the store
_CLOCK_SECONDS = 10.0  # between two comparisons of the clocks; larger: a wrong clock is noticed later
_READY_SECONDS = 1.0  # for which the readiness of the store is cached, as each check writes to the disk
_FAILED_SECONDS = 10.0  # for which a service is not ready after a failed transaction: small ones may still succeed
_QUESTION_SECONDS = 0.2  # for which questions are cached; larger: devices see a new round later; smaller: more queries
_MAX_ANSWERS = 32  # that are cached; larger: more memory, where studies have long lists; smaller: more building
# Enrolments per second and address, and the cost of a new share of malicious reports in enrolments. Larger: one address
# can keep a core busy; smaller: people behind one address wait longer.
_COSTLY_RATE, _SHARE_COST = 20.0, 10.0
_MAX_ADDRESSES = 100_000  # with a request rate, as addresses may be forged; larger: more memory
_HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}  # of every answer
_MONITORED = ("/v1/health", "/v1/ready", "/metrics", "/static/")  # are answered also with a wrong clock
_LOG_SECONDS = 10.0  # between two entries of one failure; larger: it seems to be over; smaller: clients fill the log
_MAX_FAILURES = 100  # that the log remembers

_log = logging.getLogger(__name__)


class RequestRates:
    """A limit of requests per second and address (a token bucket that holds the requests of two seconds)."""

    def __init__(self, rate: float) -> None:
        self.rate = check_rate(rate)
        self._buckets: dict[str, tuple[float, float]] = {}  # remaining requests and time of the last one, by address

    def take(self, address: str, cost: float = 1) -> None:
        """Count a request of an address as `cost` requests (a full bucket at most), or refuse it."""
        if not self.rate:
            return
        now, address = monotonic(), address_group(address)
        remaining, before = self._buckets.get(address, (2 * self.rate, now))
        remaining = min(2 * self.rate, remaining + (now - before) * self.rate)
        cost = min(cost, 2 * self.rate)
        if remaining < cost:
            raise RefusedRequest(Reason.TOO_MANY)
        # To forget all buckets lets each address start anew, which is cheaper than to find the oldest.
        if len(self._buckets) > _MAX_ADDRESSES:
            self._buckets.clear()
        self._buckets[address] = (remaining - cost, now)


class Readiness:
    """The readiness of a service: its store can be written to, and its clock is right."""

    def __init__(self, collector: StudyCollector) -> None:
        self._collector = collector
        self._lock = threading.Lock()
        self._store_looked, self._store_problem = -inf, ""
        self._clock_looked, self.clock_problem = -inf, ""
        self._failed = -inf

    def note_failure(self) -> None:
        """Note that a transaction failed."""
        self._failed = monotonic()

    def look_at_clock(self) -> None:
        """Compare the clocks, unless they were compared recently."""
        if monotonic() - self._clock_looked >= _CLOCK_SECONDS:
            self.clock_problem = _find_problem(self._collector.check_clock, InputError)
            self._clock_looked = monotonic()

    def check(self) -> None:
        """Check that the service is ready; otherwise raise a refusal with the reason."""
        if self.clock_problem:
            raise RefusedRequest(Reason.CLOCK_OFF, self.clock_problem)
        with self._lock:
            if monotonic() - self._store_looked >= _READY_SECONDS:
                self._store_problem = _find_problem(self._collector.check_store, StoreError)
                self._store_looked = monotonic()
            has_failed = monotonic() - self._failed < _FAILED_SECONDS
        if self._store_problem or has_failed:
            raise RefusedRequest(Reason.STORE_FAILED)


def _find_problem(check: Callable[[], object], error_type: type[Exception]) -> str:
    """Return the message of a failed check, after logging it, or ""."""
    try:
        check()
    except error_type as error:
        _log.warning("%s", error)
        return str(error)
    return ""


class FailureLog:
    """A log of failed requests that no client can fill: it has each failure once in some seconds."""

    def __init__(self) -> None:
        self._times: dict[str, float] = {}

    def note(self, error: Exception) -> None:
        """Log an error, unless it was logged recently; an error that should not happen with its traceback."""
        is_foreseen = isinstance(error, DiscreetError)
        place = traceback.extract_tb(error.__traceback__)[-1:]
        failure = str(error) if is_foreseen else f"{type(error)} {[(frame.filename, frame.lineno) for frame in place]}"
        if monotonic() - self._times.get(failure, -inf) < _LOG_SECONDS:
            return
        keep_newest(self._times, failure, monotonic(), _MAX_FAILURES)
        _log.warning("%s", error if is_foreseen else "A request failed.", exc_info=None if is_foreseen else error)


class Service:
    """A collector behind HTTP, with its batcher, its regular work and its counters."""

    def __init__(self, collector: StudyCollector, *, rate: float = 0) -> None:
        self.collector, self.rates = collector, RequestRates(rate)
        self.costly_rates = RequestRates(min(rate, _COSTLY_RATE))
        self.batcher = Batcher(collector.take_reports, collector.store.after_taking)
        self.long_bodies, self.short_bodies = BodyLimit(MAX_LONG_BODIES), BodyLimit(MAX_SHORT_BODIES)
        self.work = WorkLimit()
        self.readiness = Readiness(collector)
        self.failures = FailureLog()
        self.requests: Counter[int] = Counter()
        self.reports: Counter[str] = Counter()
        self._stop = threading.Event()
        self._ticker = threading.Thread(target=self._tick, name="tick", daemon=True)
        self.answers = AnswerLimit()
        self._answers: dict[tuple[str, str], tuple[float, int, bytes]] = {}  # time, number of moves and content
        self._answer_locks = {kind: threading.Lock() for kind in ("study", "texts", "questions")}

    @asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        """Do the regular work of the collector until the block is left."""
        self._ticker.start()
        yield
        self._stop.set()
        await run_in_threadpool(self._ticker.join)
        self.batcher.close()
        _find_problem(self.collector.flush, StoreError)

    def _tick(self) -> None:
        while not self._stop.is_set():
            try:
                self.readiness.look_at_clock()
                if not self.readiness.clock_problem:
                    self.collector.tick()
            except Exception as error:  # the store may be out of reach for a while
                _log.warning("%s", error)
            self._stop.wait(_TICK_SECONDS)

    def count_enrolment(self, request: Request) -> None:
        """Count a request for a token, or refuse it."""
        self.costly_rates.take(_client_address(request))

    def count_share(self, request: Request, name: str, share: str) -> None:
        """Count a request for intervals with a share of malicious reports, or refuse it, if they must be computed."""
        if not self.collector.has_outcome(name, share):
            self.costly_rates.take(_client_address(request), _SHARE_COST)

    async def body(self, request: Request, max_bytes: int) -> bytes:
        """Return the whole body of a request, within the limit of all bodies in memory."""
        limit = self.short_bodies if max_bytes <= MAX_REPORT_BYTES else self.long_bodies
        with limit.count_body() as add:
            return await Body(request, max_bytes, add).read_all()

    async def parse_body(self, request: Request, parse: Callable[[Any], T], example: str, default: str = "") -> T:
        """Return the value that `parse` reads from the JSON body of a request; `default` stands for an empty body.

        A malformed body is refused with the example.
        """
        body = await self.body(request, MAX_REPORT_BYTES)
        try:
            return parse(parse_json(body or default))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise RefusedRequest(Reason.MALFORMED, example) from None

    async def scopes(self, request: Request) -> frozenset[str]:
        """Return the scopes of the operator's token of a request: none without a token."""
        # RFC 6750, 2.1; the scheme is case-insensitive (RFC 9110, 11.1).
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not token:
            return frozenset()
        return await run_in_threadpool(self.collector.scopes, token.strip())

    async def check_scope(self, request: Request, scope: Scope) -> None:
        """Check that a request has an operator's token with a scope."""
        scopes = await self.scopes(request)
        # 401 asks for a token, 403 says that this one does not suffice (RFC 9110, 15.5).
        if not scopes:
            raise RefusedRequest(Reason.UNAUTHORISED)
        if scope not in scopes:
            raise RefusedRequest(Reason.FORBIDDEN, f"This needs a token for {scope}.")

    async def run(self, request: Request, scope: Scope, action: Callable[..., T], *arguments: Any) -> T:
        """Return the result of an action for operators with a scope, run in a thread."""
        await self.check_scope(request, scope)
        return await run_in_threadpool(action, *arguments)

    async def ask(self, name: str, number: int) -> Ask | None:
        """Return a round as the protocol asks it, or None for a closed round; without a thread if it is in memory."""
        ask = self.collector.known_ask(name, number)
        return ask if ask is not None else await run_in_threadpool(self.collector.ask, name, number)

    async def take(self, name: str, upload: Upload, *, round_is_open: bool) -> NDArray[np.uint8]:
        """Return the codes of an upload, after its transaction."""
        try:
            if round_is_open:
                codes = await self.batcher.add(name, upload)
            else:
                codes = await run_in_threadpool(self.collector.find_codes, name, upload)
        except StoreError:
            self.readiness.note_failure()
            raise
        for code, count in Counter(codes.tolist()).items():
            self.reports[OUTCOMES.get(code) or str(REASONS[code])] += count
        return codes

    async def take_batch(self, name: str, batch: ReportBatch, ask: Ask | None) -> bytes:
        """Return the codes of a batch, taken in parts: the arrays of a part are freed before the next is expanded.

        If the store fails at a later part, the reports before it are counted, and a repeated batch says so.
        """
        codes = []
        for part in batch.parts():
            async with self.work.turn():
                upload = await run_in_threadpool(part.upload, ask)
                if len(upload):
                    codes.append((await self.take(name, upload, round_is_open=ask is not None)).tobytes())
                del upload  # before the turn goes to the next part
        return b"".join(codes)

    def _cached_answer(self, kind: str, name: str, seconds: float) -> bytes | None:
        """Return the content of an answer that is not older than some seconds, or None."""
        before, moves, content = self._answers.get((kind, name), (-inf, -1, None))
        is_fresh = monotonic() - before <= seconds and (moves == self.collector.moves or seconds == inf)
        return content if is_fresh else None

    def answer(self, kind: str, name: str, build: Callable[[], bytes], seconds: float = _QUESTION_SECONDS) -> bytes:
        """Return the content of an answer for all requests of some seconds: they share one copy.

        One answer of a kind is built at a time, as the parts of a long one take several times its bytes.
        """
        with self._answer_locks[kind]:
            content = self._cached_answer(kind, name, seconds)
            if content is None:
                now, moves = monotonic(), self.collector.moves
                content = build()
                keep_newest(self._answers, (kind, name), (now, moves, content), _MAX_ANSWERS)
        return content

    def study(self, name: str) -> bytes:
        """Return a signed study as JSON; it never changes."""
        return self.answer("study", name, lambda: bytes(JSONResponse(self.collector.signed(name)).body), inf)

    def texts(self, name: str) -> bytes:
        """Return all signed texts of a study as JSON."""

        def build_texts() -> bytes:
            questions = {"questions": self.collector.texts(name)["questions"]}
            # The study is joined as bytes: to escape a long list of items again would hold up all other requests.
            return self.study(name).removesuffix(b"}") + b"," + bytes(JSONResponse(questions).body).removeprefix(b"{")

        return self.answer("texts", name, build_texts)

    async def questions(self, name: str) -> bytes:
        """Return the open questions as JSON; many devices ask for them at once, so they are cached for a moment."""
        content = self._cached_answer("questions", name, _QUESTION_SECONDS)
        if content is not None:  # without a thread
            return content
        return await run_in_threadpool(self.answer, "questions", name, partial(self._build_questions, name))

    def _build_questions(self, name: str) -> bytes:
        study = self.collector.questions(name)
        questions = [{"question": text, "signature": signature} for text, signature in study.questions]
        return json.dumps({"state": study.state, "questions": questions}, ensure_ascii=False).encode()


def _client_address(request: Request) -> str:
    return request.client.host if request.client else ""


class HeadAsGet:
    """Middleware that answers HEAD as GET without the body (RFC 9110, 9.3.2), for the probes of proxies."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: RequestScope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET"}, receive, send_head)


def _allowed_methods(app: FastAPI, scope: RequestScope) -> str:
    """Return the methods of a path, in the form of the header Allow."""
    routes = (route for route in app.routes if route.matches(scope)[0] is not Match.NONE)
    methods = {method for route in routes for method in getattr(route, "methods", None) or ()}
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))


def problem(reason: Reason, detail: str = "", status: int | None = None) -> JSONResponse:
    """Return a problem document (RFC 9457), with the status of its reason or a given one."""
    fields = problem_fields(reason, detail, status)
    headers = problem_headers(reason, status)
    return JSONResponse(fields, int(fields["status"]), headers, media_type="application/problem+json")


def application(collector: StudyCollector, *, rate: float = 0) -> FastAPI:
    """Return the web application of a collector.

    Parameters
    ----------
    collector
        The collector of the studies.
    rate
        The number of requests per second from one address; 0 for no limit.
    """
    service = Service(collector, rate=rate)
    app = FastAPI(
        title="discreet", version=__version__, summary="Live studies under local differential privacy.",
        lifespan=service.lifespan, docs_url=None, redoc_url=None, responses=PROBLEMS,
        redirect_slashes=False,  # behind a proxy, a redirect would name a scheme that clients do not use
    )  # fmt: skip
    app.state.service = service
    _add_errors(app, service)
    _add_public(app, service)
    _add_uploads(app, service)
    _add_operators(app, service)
    add_pages(app, service)
    app.add_middleware(HeadAsGet)
    app.add_middleware(BoundedAnswers, limit=service.answers, refusal=problem(Reason.BUSY))
    return app


def _add_errors(app: FastAPI, service: Service) -> None:
    def answer_refusal(error: RefusedRequest) -> Response:
        return problem(error.reason, error.detail)

    def answer_failure(error: Exception) -> Response:
        service.failures.note(error)
        return problem(Reason.STORE_FAILED if isinstance(error, DiscreetError) else Reason.FAILED)

    @app.middleware("http")
    async def count_request(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        try:
            service.rates.take(_client_address(request))
            if service.readiness.clock_problem and not request.url.path.startswith(_MONITORED):
                raise RefusedRequest(Reason.CLOCK_OFF)
            answer = await call_next(request)
        except RefusedRequest as error:
            answer = answer_refusal(error)
        except Exception as error:
            answer = answer_failure(error)
        service.requests[answer.status_code] += 1
        for name, value in _HEADERS.items():
            answer.headers.setdefault(name, value)
        return answer

    @app.exception_handler(RefusedRequest)
    async def refused(request: Request, error: RefusedRequest) -> Response:
        return answer_refusal(error)

    @app.exception_handler(StoreError)
    @app.exception_handler(InputError)  # a study of a different key or version
    async def failed(request: Request, error: DiscreetError) -> Response:
        return answer_failure(error)

    @app.exception_handler(NotAddedUpError)
    async def not_added_up(request: Request, error: NotAddedUpError) -> Response:
        _log.warning("%s", error)
        return problem(Reason.NOT_ADDED_UP, str(error))

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> Response:
        return problem(Reason.MALFORMED)

    @app.exception_handler(HTTPException)
    async def unknown_place(request: Request, error: HTTPException) -> Response:
        if error.status_code == 405:
            answer = problem(Reason.UNKNOWN_PLACE, "This place takes other methods.", 405)
            answer.headers["Allow"] = _allowed_methods(app, request.scope)
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
        return await run_in_threadpool(render_metrics, collector, service.requests, service.reports, watching=watching)

    @app.get("/v1/studies", summary="All studies, with their states.")
    def studies() -> list[dict[str, Any]]:
        return collector.studies()

    @app.get("/v1/studies/{name}", summary="A study as it is signed.", response_model=dict[str, str])
    def study(name: STUDY_NAME) -> Response:
        return Response(service.study(name), media_type="application/json")

    @app.get("/v1/studies/{name}/questions", summary="What is asked now, signed.")
    async def questions(name: STUDY_NAME) -> Response:
        return Response(await service.questions(name), media_type="application/json")

    @app.get(
        "/v1/studies/{name}/texts",
        summary="All that was signed: the study, and every question so far.",
        response_model=dict[str, Any],
    )
    def texts(name: STUDY_NAME) -> Response:
        return Response(service.texts(name), media_type="application/json")

    @app.get("/v1/studies/{name}/rounds", summary="How far a study has come: counts and states.")
    def rounds(name: STUDY_NAME) -> dict[str, Any]:
        return collector.progress(name)

    @app.get("/v1/studies/{name}/results", summary="The result, once it is released.")
    def results(name: STUDY_NAME, request: Request, assume_malicious: ASSUMED = NO_SHARE) -> Response:
        service.count_share(request, name, assume_malicious)
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
            # An impossible report answers a question of an existing study, which counts it; others name none for sure.
            if error.reason is Reason.REPORT_IMPOSSIBLE:
                collector.count_refused(name, error.reason)
            raise
        code = int((await service.take(name, upload, round_is_open=ask is not None))[0])
        return JSONResponse({"outcome": OUTCOMES[code]}) if code in OUTCOMES else problem(REASONS[code])

    @app.post("/v1/studies/{name}/batches", summary="Send many reports.", openapi_extra=BATCH_BODY)
    async def batches(name: STUDY_NAME, request: Request) -> Response:
        # The study is checked before the body is read, and the head of the batch before its reports.
        record = await run_in_threadpool(collector.running_record, name)
        with service.long_bodies.count_body() as add:
            body = Body(request, MAX_BATCH_BYTES, add)
            head = BatchHead.decode(await body.read_head(HEAD_BYTES), body.announced_bytes)
            if head.study.hex() != record.id:
                raise RefusedRequest(Reason.WRONG_STUDY)
            ask = await service.ask(name, head.round)
            codes = await service.take_batch(name, ReportBatch.decode(await body.read_all()), ask)
            return Response(codes, media_type="application/octet-stream")

    @app.post("/v1/studies/{name}/enrol", summary="Ask for a token, where anyone may take part.")
    def enrol(name: STUDY_NAME, request: Request) -> dict[str, str]:
        service.count_enrolment(request)
        return {"token": collector.enrol(name)}


def _add_operators(app: FastAPI, service: Service) -> None:
    collector = service.collector

    @app.post("/v1/studies", summary="Open a study (scope operate).", openapi_extra=PLAN_BODY)
    async def open_study(request: Request) -> dict[str, str]:
        await service.check_scope(request, "operate")
        try:
            plan = await run_in_threadpool(StudyPlan.from_json, await service.body(request, MAX_PLAN_BYTES))
            return await run_in_threadpool(collector.open, plan)
        except (RefusedRequest, StoreError):
            raise
        except DiscreetError as error:  # a flaw of the plan, which the operator can mend
            raise RefusedRequest(Reason.PLAN_REFUSED, str(error)) from None

    @app.post("/v1/operators", summary="Make a token for an operator (scope operate).", openapi_extra=OPERATOR_BODY)
    async def operators(request: Request) -> dict[str, str]:
        await service.check_scope(request, "operate")
        example = 'Say what for: {"scopes": ["watch"]}.'
        scopes, label = await service.parse_body(request, _parse_operator, example)
        try:
            return {"token": await run_in_threadpool(collector.add_operator, scopes, label)}
        except MisuseError as error:
            raise RefusedRequest(Reason.MALFORMED, str(error)) from None

    @app.get("/v1/operators", summary="The tokens of operators, without the tokens (scope operate).")
    async def known_operators(request: Request) -> list[dict[str, Any]]:
        return await service.run(request, "operate", collector.operators)

    @app.delete("/v1/operators/{operator}", summary="Revoke an operator's token (scope operate).")
    async def revoke(operator: OPERATOR_ID, request: Request) -> dict[str, str]:
        await service.run(request, "operate", collector.revoke_operator, operator)
        return {"revoked": operator}

    @app.get("/v1/studies/{name}/status", summary="Progress, tokens and refusals (scope watch).")
    async def status(name: STUDY_NAME, request: Request) -> dict[str, Any]:
        return await service.run(request, "watch", collector.status, name)

    @app.get("/v1/studies/{name}/export", summary="All that is public of a study (scope watch).")
    async def export(name: STUDY_NAME, request: Request, assume_malicious: ASSUMED = NO_SHARE) -> dict[str, Any]:
        return await service.run(request, "watch", collector.export, name, assume_malicious)

    @app.post("/v1/studies/{name}/close", summary="Close the open rounds (scope operate).", openapi_extra=CLOSE_BODY)
    async def close(name: STUDY_NAME, request: Request) -> dict[str, Any]:
        await service.check_scope(request, "operate")
        below_minimum = await service.parse_body(request, _parse_close, 'Send nothing, or {"few": true}.', "{}")
        result = await run_in_threadpool(collector.close, name, below_minimum=below_minimum)
        empty = {"without_reports": list(result.without_reports), "ended_empty": result.ended_empty}
        return {"closed": result.rounds, **empty}

    @app.post("/v1/studies/{name}/scrub", summary="Delete the reports of released rounds (scope operate).")
    async def scrub(name: STUDY_NAME, request: Request) -> dict[str, int | bool]:
        scrubbed = await service.run(request, "operate", collector.scrub, name)
        return {"scrubbed": scrubbed.rounds, "tidy": scrubbed.tidy}

    @app.post(
        "/v1/studies/{name}/tokens",
        summary="Make single-use tokens (scope enrol).",
        openapi_extra=TOKENS_BODY,
        response_model=dict[str, list[str]],
    )
    async def tokens(name: STUDY_NAME, request: Request) -> Response:
        await service.check_scope(request, "enrol")
        count = await service.parse_body(
            request, lambda fields: _of_type(int, fields["many"]), 'Say how many: {"many": 100}.', '{"many": 1}'
        )

        def make_tokens() -> Response:
            return JSONResponse({"tokens": collector.tokens(name, count)})  # in the thread: the JSON may be long

        return await run_in_threadpool(make_tokens)


def _of_type(kind: type[T], value: Any) -> T:
    """Return a value of exactly this type, or raise: `True` is no number of tokens."""
    if type(value) is not kind:
        raise ValueError
    return value


def _parse_close(fields: Any) -> bool:
    """Return whether a request closes rounds below their minimum; a misspelt field must not be taken as "no"."""
    if fields.keys() - {"few"}:
        raise ValueError
    return _of_type(bool, fields.get("few", False))


def _parse_operator(fields: Any) -> tuple[list[str], str]:
    """Return the scopes and the label of a request for an operator's token."""
    return [str(scope) for scope in _of_type(list, fields["scopes"])], _of_type(str, fields.get("label", ""))
