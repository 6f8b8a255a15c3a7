"""Measure the latency of a service, and its memory under attack, with all traffic on loopback.

`python -m benchmarks.latency [--store postgresql://…] [--requests 1000] [--reports 8000] [--megabytes 2000]`.
Latencies are of whole requests, p50 and p99 in milliseconds: on a connection that is kept, and on a new one for each
request. Single reports go over 32 connections. Then ten connections send heads without end, and one sends a body after
its refusal. Everything is printed, and nothing asserted.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path
from secrets import token_bytes

import numpy as np

from discreet.collector import collector_in, hash_token

from .collector import one_by_one, plan_of, reports, resident, running

ATTACKERS = 10


def time_requests(port: int, path: str, requests: int, *, is_kept_alive: bool) -> list[float]:
    """Return the seconds of each request."""
    seconds = []
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    for _ in range(requests):
        begun = time.perf_counter()
        if not is_kept_alive:
            connection.close()  # the next request makes a connection anew
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        seconds.append(time.perf_counter() - begun)
    connection.close()
    return seconds


def show_latency(label: str, seconds: list[float], rate: float | None = None) -> None:
    """Print the quantiles of one measurement, and its rate if known."""
    median, slow = (1000 * float(np.quantile(seconds, share)) for share in (0.5, 0.99))
    faster = "" if rate is None else f"   {rate:>8,.0f} a second"
    print(f"{label:<52}p50 {median:>7.2f} ms   p99 {slow:>7.2f} ms{faster}", flush=True)


async def send_heads(port: int, megabytes: int) -> int:
    """Send heads without end over ten connections, and return the number of bytes that were taken from us."""
    piece, sent_bytes = b"name: value\r\n" * 5000, 0

    async def send() -> None:
        nonlocal sent_bytes
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with contextlib.suppress(ConnectionError, TimeoutError):
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n")
            while sent_bytes < 1_000_000 * megabytes and not reader.at_eof():
                writer.write(piece)
                await asyncio.wait_for(writer.drain(), 30)
                sent_bytes += len(piece)
        writer.transport.abort()

    await asyncio.gather(*(send() for _ in range(ATTACKERS)))
    return sent_bytes


def send_body(port: int, megabytes: int) -> int:
    """Announce a body that is refused, send the body regardless, and return the number of bytes sent."""
    length, sent_bytes = 1_000_000 * megabytes, 0
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        head = f"POST /v1/studies/none/reports HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n"
        connection.sendall(head.encode())
        with contextlib.suppress(OSError):
            while sent_bytes < length:
                connection.sendall(bytes(65536))
                sent_bytes += 65536
    return sent_bytes


def show_memory(label: str, server: subprocess.Popen[bytes], before: float, sent_bytes: int, seconds: float) -> None:
    """Print the bytes that an attack could send, and the memory before and after it."""
    after = resident(server)
    print(
        f"{label:<52}{sent_bytes / 1e6:>9,.1f} MB taken in {seconds:.1f} s   {before:,.0f} → {after:,.0f} MiB",
        flush=True,
    )


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--store")
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--reports", type=int, default=8000)
    parser.add_argument("--megabytes", type=int, default=2000)
    parser.add_argument("--port", type=int, default=18_450)
    args = parser.parse_args()
    store = "PostgreSQL" if args.store else "SQLite"
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, {store}")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "service"
        collector = collector_in(place, args.store)
        name = f"latency-{token_bytes(4).hex()}"
        _, words = reports(collector, plan_of(name, "olh"), args.reports)
        tokens = [token_bytes(16) for _ in range(args.reports)]
        collector.store.enrol(name, [hash_token(token) for token in tokens])
        store_options = ["--store", args.store] if args.store else []
        command = [sys.executable, "-m", "discreet", "serve", str(place), "--port", str(args.port), "--rate", "0"]
        with running([*command, *store_options], args.port) as server:
            for path in ("/v1/health", f"/v1/studies/{name}/questions"):
                short_path = path.rpartition("/")[2]
                for is_kept_alive in (True, False):
                    time_requests(args.port, path, 20, is_kept_alive=is_kept_alive)
                    took = time_requests(args.port, path, args.requests, is_kept_alive=is_kept_alive)
                    show_latency(
                        f"GET {short_path}, {'one is_kept_alive connection' if is_kept_alive else 'new connections'}",
                        took,
                    )
            bodies = [
                json.dumps(
                    {
                        "round": 0,
                        "token": token.hex(),
                        "key": token_bytes(16).hex(),
                        "report": {"seed": words[position, :2].tolist(), "value": int(words[position, 2])},
                    }
                ).encode()
                for position, token in enumerate(tokens)
            ]
            seconds, took = asyncio.run(one_by_one([args.port], f"/v1/studies/{name}/reports", bodies))
            show_latency("single reports, 32 connections", took, len(bodies) / seconds)
            before, begun = resident(server), time.perf_counter()
            sent_bytes = asyncio.run(send_heads(args.port, args.megabytes))
            show_memory(
                f"heads without end, {ATTACKERS} connections", server, before, sent_bytes, time.perf_counter() - begun
            )
            before, begun = resident(server), time.perf_counter()
            sent_bytes = send_body(args.port, 300)
            show_memory("a body after its refusal", server, before, sent_bytes, time.perf_counter() - begun)
        collector.store.close()


if __name__ == "__main__":
    main()
