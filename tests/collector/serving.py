"""Real services for tests: each in a process of its own, on a free port, asked with the standard library."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np

from discreet.collector import COUNTED, ReportBatch, StudyCore, StudyPlan, collector_in
from discreet.local import SimulatedAnswers
from running import plain

_CODE = """
import sys, time
from discreet.collector._limits import ConnectionLimits
from discreet.collector._serving import serve
options = eval(sys.argv[5])
serve(sys.argv[1], port=int(sys.argv[2]), store=sys.argv[3] or None, rate=float(sys.argv[4]),
      ready=lambda address: print(address, flush=True), **options)
"""


class Served:
    """A service that runs: its address, and its process."""

    def __init__(
        self,
        directory: Path,
        *,
        store: str = "",
        port: int = 0,
        rate: float = 0,
        limits: str = "",
        host: str = "127.0.0.1",
        proxies: Sequence[str] = (),
        clock_ahead: float = 0,
    ) -> None:
        self.directory, self.store = directory, store
        # The clock of the process may be wrong; whoever reads it afterwards, reads that.
        code = f"import time\nreal = time.time\ntime.time = lambda: real() + {clock_ahead}\n{_CODE}"
        options = f"{{'limits': ConnectionLimits({limits}), 'trusted_proxies': {list(proxies)}, 'host': {host!r}}}"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(directory), str(port), store, str(rate), options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=plain(),
        )  # fmt: skip
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            raise AssertionError(self.process.communicate()[1])

    def operator(self, *scopes: str) -> str:
        """Return a new operator's token."""
        collector = collector_in(self.directory, self.store or None)
        try:
            return collector.add_operator(list(scopes) or ["operate", "enrol", "watch"])
        finally:
            collector.store.close()

    def stop(self, signal_sent: signal.Signals = signal.SIGTERM) -> str:
        """Stop the service, and return its output."""
        self.process.send_signal(signal_sent)
        _, output = self.process.communicate(timeout=30)
        return output

    def ask(self, path: str, body: Any = None, *, token: str = "", method: str = "") -> tuple[int, Any]:
        """Send a request, and return status and answer: an object for JSON, otherwise bytes."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        request = Request(self.address + path, data, headers, method=method or ("GET" if body is None else "POST"))
        try:
            with urlopen(request, timeout=60) as answer:
                return answer.status, _read_answer(answer)
        except HTTPError as error:
            with error:
                return error.code, _read_answer(error)


def _read_answer(answer: Any) -> Any:
    body = answer.read()
    return json.loads(body) if "json" in answer.headers.get("Content-Type", "") else body


@contextlib.contextmanager
def served(directory: Path, **options: Any) -> Iterator[Served]:
    """Run a service for a while."""
    service = Served(directory, **options)
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.stop(signal.SIGKILL)


def plan_of(**changes: Any) -> StudyPlan:
    """Return the plan of a small study."""
    fields = {
        "name": "study", "title": "A study", "asks": "What do you hold?", "protocol": "svim", "top": 3, "epsilon": "4",
        "items": tuple("abcdef"), "minimum": 0,
    }  # fmt: skip
    return StudyPlan(**{**fields, **changes})


def attack(service: Served) -> int:
    """Open the study `attacked`, have liars answer its first round too, close it, and return the number of liars."""
    items, operator = tuple(f"{number:03}" for number in range(300)), service.operator()
    settings = {"first_oracle": "privset", "first_padding": 5}
    plan = plan_of(name="attacked", items=items, epsilon="1", settings=settings)
    assert service.ask("/v1/studies", plan.to_json().encode(), token=operator)[0] == 200
    oracle: Any = StudyCore(plan).asks[0].oracle
    assert oracle.many > 12
    honest, liars, targets = 4000, 400, np.arange(290, 300)
    generator = np.random.default_rng(1)
    held_items = np.sort(generator.integers(0, 58, (honest, 4)) * 5 + np.arange(4), axis=1).astype(np.int32)
    answered = SimulatedAnswers(offsets=4 * np.arange(honest + 1), values=held_items.ravel(), people=np.arange(honest))
    other_values = [np.sort(generator.choice(290, oracle.many - 10, replace=False)) for _ in range(liars)]
    chosen_values = np.array([np.concatenate((values, targets)) for values in other_values], np.uint32)
    words = np.vstack([oracle.codec.pack(oracle.reports(answered, 5)), chosen_values])
    tokens = service.ask("/v1/studies/attacked/tokens", {"many": honest + liars}, token=operator)[1]["tokens"]
    question = json.loads(service.ask("/v1/studies/attacked/questions")[1]["questions"][0]["question"])
    secrets = [bytes.fromhex(token) for token in tokens]
    body = ReportBatch.build(bytes.fromhex(question["study"]), 0, secrets, secrets, words).encode()
    assert set(service.ask("/v1/studies/attacked/batches", body)[1]) == {COUNTED}
    assert service.ask("/v1/studies/attacked/close", {}, token=operator)[0] == 200
    return liars
