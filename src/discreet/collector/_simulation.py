"""A whole study in one command: the real service on this machine, and real client processes that answer it.

Everything is as it would be live, but for who the people are: their baskets are known, from a file. So this shows what
a study would find and whether all its parts work together; `discreet simulate` is the quick way to the first alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..baskets import Baskets, onto, resample
from ..errors import DiscreetError, InputError
from ..exact import checked_how
from ..temporary import make_temporary_directory
from ._collector import SCOPES
from ._crowd import save_people
from ._operators import LocalOperator, RemoteOperator
from ._serving import collector_in
from ._study_file import StudyPlan

_SERVING = re.compile(r"(http://\S+?)\. ")
_TOKENS = 100_000  # that are asked for at once
_STOPPING = 30  # seconds that a service has to stop


class TriedStudy:
    """A study that was tried: its result, and the service it is still in.

    Parameters
    ----------
    result
        The result, as JSON.
    outcomes
        How many reports had which outcome.
    address
        Where the service is, while it is up.
    """

    def __init__(self, result: str, outcomes: Counter[str], address: str) -> None:
        self.result, self.outcomes, self.address = result, outcomes, address


@contextlib.contextmanager
def tried(
    plan: StudyPlan,
    baskets: Baskets,
    *,
    people: int | None = None,
    seed: int = 0,
    directory: Path | None = None,
    store: str | None = None,
    port: int = 0,
    processes: int | None = None,
    progress: Callable[[dict[str, Any]], object] | None = None,
) -> Iterator[TriedStudy]:
    """Run a study over known baskets, to its end; the service is up until the block is left.

    Parameters
    ----------
    plan
        The study. Its rounds are closed when everyone has answered whom they ask.
    baskets
        What people hold; items that are not on the study's list are left out. Who has several baskets answers for one
        of them, which their device draws.
    people
        How many people, drawn from those in the data; None for those in the data.
    seed
        For drawing people. Reports are made with the secure source, and differ each time.
    directory
        Where the service keeps everything; None for a place that is gone afterwards.
    store
        The address of a database.
    port
        Where the service listens; 0 for any port that is free.
    processes
        How many processes play devices; None for as many as there are cores.
    progress
        Told how far the study has come, after every round.
    """
    crowd = baskets if people is None else resample(baskets, people, seed)
    if plan.pairs != "none":
        checked_how(plan.pairs, crowd)
    if not plan.led.unlisted:
        crowd = onto(crowd, plan.held)
    if plan.pairs in ("given", "after"):
        checked_how(plan.pairs, crowd)  # a list of other items than the data have loses order and pairs
    plan = replace(plan, close="hand", simulated=True)
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(make_temporary_directory())
        place = directory or scratch / "service"
        collector = collector_in(place, store)
        token = collector.add_operator(list(SCOPES), "simulation")
        LocalOperator(collector).let_go()
        address = stack.enter_context(_service(place, store, port))
        operator = RemoteOperator(address, token)
        operator.open(plan)
        tokens = [
            one
            for start in range(0, crowd.people, _TOKENS)
            for one in operator.tokens(plan.name, min(_TOKENS, crowd.people - start))
        ]
        many = max(1, min(processes or os.cpu_count() or 1, crowd.people))
        clients = []
        for at, share in enumerate(np.array_split(np.arange(crowd.people), many)):
            path = scratch / f"people-{at}.npz"
            some = tokens[share[0] : share[-1] + 1] if len(share) else []
            save_people(path, crowd, share, some, plan.pairs, texts=plan.led.unlisted)
            clients.append(stack.enter_context(_client(address, plan.name, path)))
        outcomes: Counter[str] = Counter()
        while operator.status(plan.name)["state"] != "released":
            for one in clients:
                _go(one)
            for one in clients:
                outcomes += Counter(_heard(one))
            operator.close(plan.name, few=True)  # everyone has answered: no more come
            if progress is not None:
                progress(operator.status(plan.name))
        yield TriedStudy(operator.result(plan.name), outcomes, address)


@contextlib.contextmanager
def _service(directory: Path, store: str | None, port: int) -> Iterator[str]:
    command = [sys.executable, "-m", "discreet", "serve", str(directory), "--port", str(port), "--rate", "0"]
    with _process([*command, *(["--store", store] if store else [])], stderr=subprocess.PIPE) as process:
        said = process.stderr.readline() if process.stderr is not None else ""
        found = _SERVING.search(said)
        if found is None:
            raise InputError(
                f"The service does not begin: {said.removeprefix('discreet: ').strip() or 'nothing is said'}"
            )
        yield found[1]


@contextlib.contextmanager
def _client(address: str, study: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "discreet.collector._crowd", address, study, str(path)]
    with _process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield process


@contextlib.contextmanager
def _process(command: list[str], **streams: Any) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, text=True, **streams) as process:  # noqa: S603
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(_STOPPING)
            except subprocess.TimeoutExpired:
                process.kill()


def _go(client: subprocess.Popen[str]) -> None:
    assert client.stdin is not None  # noqa: S101
    with contextlib.suppress(BrokenPipeError):  # it is told what went wrong when it is heard
        client.stdin.write("go\n")
        client.stdin.flush()


def _heard(client: subprocess.Popen[str]) -> dict[str, int]:
    assert client.stdout is not None  # noqa: S101
    line = client.stdout.readline()
    if not line:
        raise DiscreetError("A client process stopped before the study ended: see what it said above.")
    told: dict[str, int] = json.loads(line)
    return told
