"""Intake of a service: durable reports a second in batches and one by one, beside a bare endpoint that inserts a row.

`python -m benchmarks.collector [--store postgresql://…] [--servers 2] [--reports 400000]`. The client and
the service share a machine. A report is acknowledged after its transaction is on the disk. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from secrets import token_bytes

import numpy as np

from discreet.collector import ReportBatch, StudyCollector, StudyPlan, collector_in, hash_token
from discreet.local import SimulatedAnswers

BARE = """
import sqlite3, sys, uvicorn
from fastapi import FastAPI, Request
db = sqlite3.connect(sys.argv[1], isolation_level=None, check_same_thread=False)
db.execute("PRAGMA journal_mode = WAL"); db.execute("PRAGMA synchronous = FULL")
db.execute("CREATE TABLE rows (body TEXT)")
app = FastAPI()
@app.post("/rows")
async def rows(request: Request):
    db.execute("INSERT INTO rows VALUES (?)", ((await request.body()).decode(),))
    return {"outcome": "counted"}
uvicorn.run(app, port=int(sys.argv[2]), log_level="warning")
"""
ITEMS, REPORTS_AT_ONCE, CONNECTIONS = 10_000, 5_000, 32


def plan_of(name: str, oracle: str) -> StudyPlan:
    """Return a study with a first round that asks all devices about ten thousand items."""
    return StudyPlan(
        name=name, title="Load", asks="Which?", protocol="svim", top=10, epsilon="1",
        items=tuple(f"{number:05}" for number in range(ITEMS)), settings={"first_oracle": oracle},
    )  # fmt: skip


@contextlib.contextmanager
def running(command: list[str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the block is left, from when it answers."""
    process = subprocess.Popen(command)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                HTTPConnection("127.0.0.1", port, timeout=5).connect()
                break
            time.sleep(0.05)
        yield process
    finally:
        process.terminate()
        process.wait()


def reports(collector: StudyCollector, plan: StudyPlan, report_count: int) -> tuple[bytes, np.ndarray]:
    """Return the id of a study and `report_count` packed reports to its first round."""
    record = collector.open_study(plan)
    ask = collector.known_ask(plan.name, 0)
    assert ask is not None
    distinct_reports = min(report_count, 50_000)
    answered = SimulatedAnswers(
        offsets=np.arange(distinct_reports + 1),
        values=np.arange(distinct_reports, dtype=np.int32) % ITEMS,
        people=np.arange(distinct_reports),
    )
    words = ask.oracle.codec.pack(ask.oracle.reports(answered, 1))
    return bytes.fromhex(record.id), np.tile(words, (-(-report_count // distinct_reports), 1))[:report_count]


def in_batches(ports: list[int], name: str, bodies: list[bytes], half: float = 0) -> tuple[float, list[float]]:
    """Send batches from one thread per server, and return the seconds and how long each took."""
    from concurrent.futures import ThreadPoolExecutor

    took: list[float] = []

    def send(place: int) -> None:
        connection = HTTPConnection("127.0.0.1", ports[place % len(ports)], timeout=600)
        for body in bodies[place :: 2 * len(ports)]:
            begun = time.perf_counter()
            connection.request("POST", f"/v1/studies/{name}/batches", body)
            answer = connection.getresponse().read()
            assert not any(answer), set(answer)
            took.append(time.perf_counter() - begun)
            if half:
                time.sleep(max(0.0, half - took[-1]))

    begun = time.perf_counter()
    with ThreadPoolExecutor(2 * len(ports)) as pool:
        list(pool.map(send, range(2 * len(ports))))
    return time.perf_counter() - begun, took


async def one_by_one(ports: list[int], path: str, bodies: list[bytes], rate: float = 0) -> tuple[float, list[float]]:
    """Send bodies over keep-alive connections, and return the seconds and how long each took."""
    took: list[float] = []
    waiting = iter(enumerate(bodies))
    begun = time.perf_counter()

    async def send(port: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for position, body in waiting:
            if rate:
                await asyncio.sleep(max(0.0, begun + position / rate - time.perf_counter()))
            start = time.perf_counter()
            head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            print_rate = await reader.readuntil(b"\r\n\r\n")
            length = int(print_rate.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            answer = await reader.readexactly(length)
            assert b'"counted"' in answer, answer
            took.append(time.perf_counter() - start)
        writer.close()

    await asyncio.gather(*(send(ports[number % len(ports)]) for number in range(CONNECTIONS)))
    return time.perf_counter() - begun, took


def print_rate(label: str, count: int, seconds: float, took: list[float]) -> None:
    """Print one line."""
    slow = 1000 * float(np.quantile(took, 0.99))
    print(f"{label:<52}{count / seconds:>12,.0f} a second   p99 {slow:>7.1f} ms", flush=True)


def resident(process: subprocess.Popen[bytes]) -> float:
    """Return the memory that a process holds, in MiB."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--store")
    parser.add_argument("--servers", type=int, default=1)
    parser.add_argument("--reports", type=int, default=400_000)
    parser.add_argument("--single", type=int, default=8_000)
    parser.add_argument("--port", type=int, default=18_400)
    args = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, {args.servers} server(s), "
          f"{'PostgreSQL' if args.store else 'SQLite'}")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        place = Path(folder) / "service"
        collector = collector_in(place, args.store)
        name = f"load-{token_bytes(4).hex()}"
        study, words = reports(collector, plan_of(name, "olh"), args.reports)
        extra = 3 * args.single
        tokens = [token_bytes(16) for _ in range(args.reports + extra)]
        begun = time.perf_counter()
        collector.store.enrol(name, [hash_token(token) for token in tokens])
        print(f"{len(tokens):,} tokens enrolled in {time.perf_counter() - begun:.1f} s")
        ports = [args.port + number for number in range(args.servers)]
        store_options: list[str] = ["--store", args.store] if args.store else []
        servers = [
            stack.enter_context(
                running(
                    [
                        sys.executable,
                        "-m",
                        "discreet",
                        "serve",
                        str(place),
                        "--port",
                        str(port),
                        "--rate",
                        "0",
                        *store_options,
                    ],
                    port,
                )
            )
            for port in ports
        ]
        keys = [token_bytes(16) for _ in tokens]
        bodies = [
            ReportBatch.build(
                study,
                0,
                tokens[number : number + REPORTS_AT_ONCE],
                keys[number : number + REPORTS_AT_ONCE],
                words[number : number + REPORTS_AT_ONCE],
            ).encode()
            for number in range(0, args.reports, REPORTS_AT_ONCE)
        ]
        in_batches(ports, name, bodies[:2])
        before = [resident(token) for token in servers]
        seconds, took = in_batches(ports, name, bodies[2:])
        print_rate(f"batches of {REPORTS_AT_ONCE:,}", args.reports - 2 * REPORTS_AT_ONCE, seconds, took)
        print(
            "memory before and after, MiB:",
            *(f"{a:.0f} → {resident(b):.0f}" for a, b in zip(before, servers, strict=True)),
        )
        single = [
            json.dumps(
                {
                    "round": 0,
                    "token": tokens[args.reports + number].hex(),
                    "key": keys[number].hex(),
                    "report": {"seed": words[number, :2].tolist(), "value": int(words[number, 2])},
                }
            ).encode()
            for number in range(extra)
        ]
        path = f"/v1/studies/{name}/reports"
        asyncio.run(one_by_one(ports, path, single[: args.single // 4]))
        seconds, took = asyncio.run(one_by_one(ports, path, single[args.single // 4 : args.single]))
        print_rate(f"one by one, {CONNECTIONS} connections", len(took), seconds, took)
        half = len(took) / seconds / 2
        seconds, took = asyncio.run(one_by_one(ports, path, single[args.single : 2 * args.single], rate=half))
        print_rate("one by one, at half of that", len(took), seconds, took)
        bare = args.port + 50
        stack.enter_context(running([sys.executable, "-c", BARE, str(Path(folder) / "bare.db"), str(bare)], bare))
        seconds, took = asyncio.run(one_by_one([bare], "/rows", single[: args.single]))
        print_rate("a bare FastAPI endpoint that inserts a row", len(took), seconds, took)
        for oracle in ("olh", "wheel"):
            closing(1_000_000, oracle)
        collector.store.close()


def closing(people: int, oracle: str) -> None:
    """Print how long a round takes to add up."""
    from discreet.collector import StudyCore, add_up

    ask = StudyCore(plan_of("closing", oracle)).asks[0]
    answered = SimulatedAnswers(
        offsets=np.arange(people + 1), values=np.arange(people, dtype=np.int32) % ITEMS, people=np.arange(people)
    )
    words = ask.oracle.codec.pack(ask.oracle.reports(answered, 1))
    add_up(ask, lambda: [words[:100]])
    blocks = [words[position : position + 1024] for position in range(0, people, 1024)]
    for screen in (False, True):
        begun, worked = time.perf_counter(), time.process_time()
        add_up(ask, lambda: blocks, screen=screen)
        screening_label = "with screening" if screen else "without screening"
        print(f"closing a round of {people:,} {oracle} reports over {ITEMS:,} candidates, {screening_label}: "
              f"{time.perf_counter() - begun:.1f} s, of which a core worked {time.process_time() - worked:.1f} s",
              flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
