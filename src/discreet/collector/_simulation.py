"""A whole study in one command: the real service on this machine, and real client processes that answer it.

All parts are parts of a live study except the people: their baskets come from a file. So a run shows the result that a
study would have, and that all its parts work together; `discreet simulate` is the quick way to the result alone.
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
from typing import Any, NamedTuple

import numpy as np

from ..baskets import Baskets, recode_baskets, resample
from ..errors import DiscreetError, InputError
from ..exact import checked_how
from ..temporary import make_temporary_directory
from ._collector import SCOPES
from ._crowd import save_people
from ._operators import RemoteOperator
from ._serving import collector_in
from ._study_file import StudyPlan

_ADDRESS = re.compile(r"(http://\S+?)\. ")
_TOKENS_PER_REQUEST = 100_000  # larger: longer requests; smaller: more requests
_STOP_SECONDS = 30  # after which a service that does not stop is killed


class SimulatedStudy(NamedTuple):
    """A study that was run to its end: its result as JSON, the number of reports by outcome, and the service's address.

    The address is valid while the service runs.
    """

    result: str
    outcomes: Counter[str]
    address: str


@contextlib.contextmanager
def simulate_study(
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
) -> Iterator[SimulatedStudy]:
    """Run a study over known baskets to its end, and yield it; the service runs until the block is left.

    Parameters
    ----------
    plan
        The plan of the study. A round closes when all devices that it asks have answered.
    baskets
        The baskets of the people; items outside the study's list are ignored. The device of a person with several
        baskets draws the basket that answers.
    people
        The number of people, drawn from the data; None for the people of the data.
    seed
        The seed for drawing people. Reports come from the secure source, and differ in each run.
    directory
        The directory of the service; None for a temporary one.
    store
        The address of a database; None for a file in the directory.
    port
        The port of the service; 0 for any free port.
    processes
        The number of processes with devices; None for the number of cores.
    progress
        A function that is called with the status of the study after every round.
    """
    crowd = baskets if people is None else resample(baskets, people, seed)
    if plan.pairs != "none":
        checked_how(plan.pairs, crowd)
    if not plan.protocol_instance.unlisted:
        crowd = recode_baskets(crowd, plan.held_vocabulary)
    if plan.pairs in ("given", "after"):
        checked_how(plan.pairs, crowd)  # a list with other items than the data loses order and pairs
    plan = replace(plan, close="hand", simulated=True)
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(make_temporary_directory())
        service_directory = directory or scratch / "service"
        with collector_in(service_directory, store) as collector:
            token = collector.add_operator(list(SCOPES), "simulation")
        address = stack.enter_context(_run_service(service_directory, store, port))
        operator = RemoteOperator(address, token)
        operator.open(plan)
        tokens: list[str] = []
        while len(tokens) < crowd.people:
            tokens += operator.tokens(plan.name, min(_TOKENS_PER_REQUEST, crowd.people - len(tokens)))
        process_count = max(1, min(processes or os.cpu_count() or 1, crowd.people))
        clients = []
        # Each process has its own people, so that no two devices share a token.
        for number, share in enumerate(np.array_split(np.arange(crowd.people), process_count)):
            path = scratch / f"people-{number}.npz"
            share_tokens = tokens[share[0] : share[-1] + 1] if len(share) else []
            save_people(path, crowd, share, share_tokens, plan.pairs, texts=plan.protocol_instance.unlisted)
            clients.append(stack.enter_context(_run_client(address, plan.name, path)))
        outcomes: Counter[str] = Counter()
        while operator.status(plan.name)["state"] != "released":
            # All processes answer at the same time, as devices would; then their counts are read.
            for client in clients:
                _start_round(client)
            for client in clients:
                outcomes += Counter(_read_outcomes(client))
            operator.close(plan.name, below_minimum=True)  # all devices have answered: no more reports come
            if progress is not None:
                progress(operator.status(plan.name))
        yield SimulatedStudy(operator.result(plan.name), outcomes, address)


@contextlib.contextmanager
def _run_service(directory: Path, store: str | None, port: int) -> Iterator[str]:
    """Run a service in a process, and yield its address."""
    command = [sys.executable, "-m", "discreet", "serve", str(directory), "--port", str(port), "--rate", "0"]
    with _run_process([*command, *(["--store", store] if store else [])], stderr=subprocess.PIPE) as process:
        line = process.stderr.readline() if process.stderr is not None else ""
        address = _ADDRESS.search(line)
        if address is None:
            reason = line.removeprefix("discreet: ").strip() or "nothing is said"
            raise InputError(f"The service does not begin: {reason}")
        yield address[1]


@contextlib.contextmanager
def _run_client(address: str, study: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "discreet.collector._crowd", address, study, str(path)]
    with _run_process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield process


@contextlib.contextmanager
def _run_process(command: list[str], **streams: Any) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, text=True, **streams) as process:  # noqa: S603
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _start_round(client: subprocess.Popen[str]) -> None:
    assert client.stdin is not None  # noqa: S101
    with contextlib.suppress(BrokenPipeError):  # `_read_outcomes` raises for a client that stopped
        client.stdin.write("go\n")
        client.stdin.flush()


def _read_outcomes(client: subprocess.Popen[str]) -> dict[str, int]:
    assert client.stdout is not None  # noqa: S101
    line = client.stdout.readline()
    if not line:
        raise DiscreetError("A client process stopped before the study ended: see what it said above.")
    outcomes: dict[str, int] = json.loads(line)
    return outcomes
