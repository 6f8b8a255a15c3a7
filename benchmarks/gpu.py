"""A card: whether its numbers are those of the cores, bit by bit, and how long it takes.

    python -m benchmarks.gpu --expect expected.json      what the cores say, as digests, for a machine without numba
    python -m benchmarks.gpu --expected expected.json    check the card against them, and measure it
    python -m benchmarks.gpu --scale 0.001               everything a thousand times smaller

One run does all, and prints each line as soon as it is known, so that a run that is cut short has told what it knew.
It needs numpy and CuPy. Where numba is installed too, numbers are checked against the cores of the same machine; where
pyarrow is, a round is read from Parquet files.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

SEED = 7
BLOCK = 1 << 20  # people whose reports are made at a time
ROWS = 1 << 12  # of a table, whose sums fit into 32 bits


def oracle_of(name: str, items: int, *, pad: int = 1, seeds: int | None = None) -> Any:
    """Return an oracle at an epsilon of 1."""
    from discreet.local.oracle_steps import make

    made = make(name, Fraction(1), items, pad=pad)
    return made if seeds is None else replace(made, seeds=seeds)


def people_of(start: int, many: int, items: int, most: int = 1) -> Any:
    """Return people who hold up to `most` items each, some of them far more often than others."""
    from discreet.local import Answered

    generator = np.random.default_rng([SEED, start])
    sizes = np.ones(many, np.int64) if most == 1 else generator.integers(0, most + 1, many)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    part = generator.random(offsets[-1])
    held = (part * part * part * items).astype(np.int32)  # products alone, which every machine rounds alike
    return Answered(offsets=offsets, held=held, people=np.arange(start, start + many))


def digest(*arrays: Any) -> str:
    """Return a digest of arrays, to the last bit."""
    found = hashlib.blake2b(digest_size=16)
    for one in arrays:
        found.update(f"{one.dtype.str}{one.shape}".encode())
        found.update(np.ascontiguousarray(one).tobytes())
    return found.hexdigest()


def checks(scale: float, *, elsewhere: bool = False) -> dict[str, Callable[[Any], str]]:
    """Return what is computed on a card, or on the cores where there is None, and a digest made of.

    With `elsewhere`, only what every machine rounds alike.
    """
    from discreet.local.oracle_steps import SeedTable, using

    many, items = max(100, int(3e5 * scale)), max(50, int(2e4 * scale))

    def made(name: str, seeds: int | None = None) -> Callable[[Any], str]:
        """Make reports, and add them up."""
        oracle = oracle_of(name, items, pad=1 if seeds else 4, seeds=seeds)
        answered = people_of(0, many, items, 6)

        def run(card: Any) -> str:
            if card is None:
                columns = oracle.reports(answered, SEED)
                aggregate = oracle.adder.start()
                oracle.adder.add(aggregate, columns)
                cells = oracle.cells(columns)
                alike = oracle if name != "blh" else oracle_of("olh", items, pad=4)
                return digest(alike.codec.pack(columns), aggregate, np.zeros(0, np.int64) if cells is None else cells)
            from discreet.gpu import CardRound

            running = CardRound(card, oracle)
            words = running.make_reports(answered, SEED)
            running.add_words(words)
            sums = running.total()
            return digest(words, sums.aggregate, sums.cells)

        return run

    def decoded(buckets: int) -> Callable[[Any], str]:
        """Read a table: what is left of it, its sums for every item, and the products of the least squares."""
        from discreet.kernels import leftover, meet, sum_cells

        generator = np.random.default_rng(SEED)
        table = generator.integers(200, 400, (max(1024, int(65536 * scale)), buckets))
        codes, weights = np.arange(0, 900, 3, dtype=np.uint32), generator.random(300) / 300
        edges = np.array([-(-(place << 32) // buckets) for place in range(buckets)], np.uint32)

        def run(card: Any) -> str:
            if card is not None:
                left = card.leftover(table, codes, weights, 0.4, 16.0)
                sums = card.table_sums(table, codes, weights, 0.4, 16.0, ROWS, items)
                return digest(left, sums, card.meet(table.sum(1), buckets, codes, weights, ROWS))
            left, sums = np.empty(table.shape, np.int32), np.zeros(items, np.int64)
            none = np.zeros(0, np.int32)
            leftover(0, table, codes, weights, none, none, np.zeros(0), 0.4, 16.0, left)
            met = np.zeros((-(-len(table) // ROWS), len(codes)))
            for at, start in enumerate(range(0, len(table), ROWS)):
                part = slice(start, start + ROWS)
                sum_cells(start, left[part], edges, np.arange(items, dtype=np.uint32), sums)
                meet(start, table[part].sum(1), buckets, codes, weights, met[at])
            return digest(left, sums, met)

        return run

    def read_whole(card: Any) -> str:
        """Decode a table as a collector does. Its sums on the cores may round elsewhere as another machine does."""
        table = np.random.default_rng(SEED).integers(200, 400, (1024, 4))
        table[:, 0] += np.arange(len(table)) % 40  # so that something stands out
        with using("cpu" if card is None else "gpu"):
            found = SeedTable(table=table, symbols=items, own_chance=0.5)
            return digest(found.frequencies(), found._solve(np.arange(8), np.ones(8) / 50, np.zeros(8)))

    def counted(card: Any) -> str:
        """Count reports of any window."""
        from discreet.local.oracle_steps import count_hashed

        words = np.random.default_rng(SEED).integers(0, 1 << 32, (4, many), dtype=np.uint32)
        return digest(count_hashed(*words, items) if card is None else card.count_supports(*words, items))

    def refused(card: Any) -> str:
        """Add up words of which some are no reports."""
        oracle = oracle_of("olh", items, seeds=1024)
        words = np.random.default_rng(SEED).integers(0, [[1030, oracle.buckets + 1]], (many, 2)).astype(np.uint32)
        if card is None:
            right, aggregate = oracle.codec.find_good_rows(words), oracle.adder.start()
            oracle.adder.add(aggregate, oracle.codec.unpack(words[right]))
            return digest(aggregate, np.array(len(words) - right.sum(), np.int64))
        from discreet.gpu import add_words

        sums = add_words(card, oracle, [words])
        assert sums is not None
        return digest(sums.aggregate, np.array(sums.refused, np.int64))

    found = {
        "reports of any window": counted,
        "olh, made and added": made("olh"),
        "blh, made and added": made("blh"),
        "wheel, made and added": made("wheel"),
        "olh with published seeds, made and added": made("olh", 4096),
        "words that are no reports": refused,
        "a table of 4 buckets, decoded": decoded(4),
        "a table of 40 buckets, decoded": decoded(40),
    }
    if find_spec("numba") is not None and not elsewhere:
        found["a table as a collector reads it"] = read_whole
    return found


def by_cores(run: Callable[[Any], str]) -> str:
    """Return a digest of what the cores compute, whatever card there is."""
    from discreet.local.oracle_steps import using

    with using("cpu"):
        return run(None)


class Lines:
    """Prints figures as they come, with how long the run has taken."""

    def __init__(self) -> None:
        self._begun = time.perf_counter()
        self.bad = 0

    def say(self, what: str, figure: str) -> None:
        """Print a line."""
        print(f"[{time.perf_counter() - self._begun:6.1f} s] {what:<58} {figure}", flush=True)

    def checked(self, card: Any, expected: dict[str, str], scale: float) -> None:
        """Compare the card with the cores, here or as they were elsewhere."""
        here = find_spec("numba") is not None
        for name, run in checks(scale).items():
            begun = time.perf_counter()
            found = run(card)
            took = f"{time.perf_counter() - begun:.2f} s"
            wanted = by_cores(run) if here else expected.get(name)
            same = "not checked: no numba here, and no --expected" if wanted is None else "the same, bit for bit"
            if wanted is not None and found != wanted:
                same, self.bad = "DIFFERENT", self.bad + 1
            self.say(f"check: {name}", f"{same} ({took})")

    def tried(self, what: str, task: Callable[[], Iterator[tuple[str, str]]]) -> None:
        """Print what a task tells; where it fails, say so and go on."""
        try:
            for name, figure in task():
                self.say(name, figure)
        except Exception as error:
            self.bad += 1
            self.say(what, f"FAILED: {type(error).__name__}: {error}")


def per_second(many: float, took: float) -> str:
    """Return a time with what it comes to."""
    return f"{took:.3f} s, {many / took:.3g} a second"


def memory(card: Any, before: int) -> str:
    """Return what is taken of the card's memory, and the most that this program took of the machine's."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return (
        f"{(before - card.driver.free()) / 2**20:,.0f} MiB of the card now, {most:.2f} GiB of the machine at the most"
    )


def fresh(card: Any, scale: float) -> Iterator[tuple[str, str]]:
    """Measure fresh seeds: hashes a second, and 10^7 reports over 10^5 items from this machine's memory."""
    from discreet.gpu import CardRound

    free = card.driver.free()
    many, items = int(1e7 * scale) or 1, int(1e5 * scale) or 1
    for name in ("olh", "wheel"):
        oracle = oracle_of(name, items)
        running = CardRound(card, oracle)
        words = np.concatenate(
            [running.make_reports(people_of(at, min(BLOCK, many - at), items), SEED) for at in range(0, many, BLOCK)]
        )
        there = card.driver.upload(words[: 1 << 22])
        here, counts = len(there), card.driver.zeros((items,), np.uint64)
        kind, number = running.kind
        times = []
        for _ in range(6):
            begun = time.perf_counter()
            card.add_supports(there, here, 3, kind, number, items, counts)
            card.driver.download(counts[:1])
            times.append(time.perf_counter() - begun)
        hashes = here * items
        yield f"{name}: {here:,} reports on the card, hashes", per_second(hashes, float(np.median(times[1:])))
        begun = time.perf_counter()
        running.add_words(words)
        sums = running.total()
        took = time.perf_counter() - begun
        assert sums.people == many
        yield f"{name}: {many:,} reports over {items:,} items", per_second(many * items, took)
    yield "  memory", memory(card, free)


def published(card: Any, scale: float) -> Iterator[tuple[str, str]]:
    """Measure published seeds: 10^9 reports made on the card, streamed to it, and decoded over 10^6 items."""
    from discreet.gpu import CardRound
    from discreet.local.oracle_steps import using

    free = card.driver.free()
    many, items = int(1e9 * scale) or 1, int(1e6 * scale) or 100
    oracle = oracle_of("olh", items).expecting(many)
    if oracle.seeds is None:
        oracle = replace(oracle, seeds=1024)
    yield "published seeds that are chosen", f"{oracle.seeds:,} for {many:,} people and {items:,} items"
    # What people hold is made once, and held by others again: what is measured is making their reports.
    crowd = [people_of(at * BLOCK, min(BLOCK, many), items) for at in range(min(16, -(-many // BLOCK)))]
    counts, running = np.zeros(items, np.int64), CardRound(card, oracle)
    begun, making = time.perf_counter(), 0.0
    for at, start in enumerate(range(0, many, BLOCK)):
        one = crowd[at % len(crowd)]
        here = min(len(one.people), many - start)
        part = replace(
            one, offsets=one.offsets[: here + 1], held=one.held[:here], people=np.arange(start, start + here)
        )
        begun = time.perf_counter()
        running.add_drawn(part, SEED)
        making += time.perf_counter() - begun
        counts += np.bincount(part.held, minlength=items)
    begun = time.perf_counter()
    sums = running.total()
    making += time.perf_counter() - begun
    yield f"simulated: {many:,} reports made and added", per_second(many, making)
    yield "  memory", memory(card, free)
    for again in ("first", "again"):
        begun = time.perf_counter()
        with using("gpu"):
            supports = oracle.adder.decode(sums.aggregate)
        took = time.perf_counter() - begun
        yield f"decoded, {again}: {oracle.seeds:,} seeds, {items:,} items", f"{took:.3f} s"
    truth = counts / many
    error = ((oracle.estimate(supports, many) - truth) ** 2).mean()
    fresh_seeds = replace(oracle, seeds=None).variance(truth, many).mean()
    yield "  square error, of that of fresh seeds", f"{error / fresh_seeds:.3f}"
    words = running.make_reports(crowd[0], SEED)
    streamed = CardRound(card, oracle)
    begun = time.perf_counter()
    for _ in range(max(1, many // len(words))):
        streamed.add_words(words)
    told = streamed.total().people
    took = time.perf_counter() - begun
    rate = f"{told * 8 / took / 1e9:.1f} GB a second"
    yield f"streamed: {told:,} packed reports", f"{per_second(told, took)}, {rate}"
    yield "  memory", memory(card, free)


def parquet(card: Any, scale: float) -> Iterator[tuple[str, str]]:
    """Measure a round that lies in Parquet files: reading alone, and adding it up."""
    from discreet.collector import add_up_files, list_report_files, save_reports
    from discreet.gpu import CardRound
    from discreet.local.device import WORD
    from discreet.local.oracle_steps import using
    from discreet.local.study import Ask, CandidateList, Which, Who

    if find_spec("pyarrow") is None:
        yield "a round in Parquet files", "left out: pyarrow is not installed"
        return
    import pyarrow.parquet as pq

    many, items = int(2e8 * scale) or 1, int(1e5 * scale) or 100
    ask = Ask.of("which", Who(0, WORD), Which(CandidateList(items=items)), "olh", Fraction(1))
    ask = replace(ask, oracle=replace(ask.oracle, seeds=1 << max(10, 18 + int(np.log2(scale)))))
    running = CardRound(card, ask.oracle)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "reports"
        starts = range(0, many, BLOCK)
        save_reports(
            folder, ask, (running.make_reports(people_of(at, min(BLOCK, many - at), items), SEED) for at in starts)
        )
        size = sum(Path(one).stat().st_size for one in list_report_files(folder))
        for again in ("first", "again"):
            begun = time.perf_counter()
            for one in list_report_files(folder):
                with pq.ParquetFile(one) as opened:
                    for _ in opened.iter_batches(256):
                        pass
            reading = time.perf_counter() - begun
            yield f"files of {size / 1e9:.2f} GB, {again}: read and dropped", f"{reading:.2f} s"
        begun = time.perf_counter()
        with using("gpu"):
            added = add_up_files(folder, ask, screen=False)
        took = time.perf_counter() - begun
        assert added.estimate.people == many
        yield f"the same, {many:,} reports, added up and decoded", f"{took:.2f} s, {took / reading:.2f} of reading"


def main() -> None:
    """Check and measure the card, or write what is expected of one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--expect", type=Path, metavar="FILE", help="write what the cores say, and stop")
    parser.add_argument("--expected", type=Path, metavar="FILE", help="what the cores said elsewhere")
    parser.add_argument("--scale", type=float, default=1.0, help="of all sizes")
    asked = parser.parse_args()
    if asked.expect:
        found = {name: by_cores(run) for name, run in checks(asked.scale, elsewhere=True).items()}
        asked.expect.write_text(json.dumps({"scale": asked.scale, "digests": found}, indent=1))
        return
    from discreet.gpu import open_card
    from discreet.local.oracle_steps import on_card

    lines = Lines()
    begun = time.perf_counter()
    card = open_card()
    lines.say(card.driver.name, f"opened in {time.perf_counter() - begun:.2f} s, kernels compiled")
    lines.say("numpy, CuPy, free memory", versions(card))
    measured(lines, card, asked.scale, expected_of(asked.expected, asked.scale))
    failed = on_card.said()
    for one in failed:
        lines.say("the card was not used", one)
    raise SystemExit(1 if lines.bad or failed else 0)


def versions(card: Any) -> str:
    """Return what it was measured with."""
    from importlib.metadata import PackageNotFoundError, version

    found = [np.__version__]
    for name in ("cupy-cuda13x", "cupy-cuda12x", "cupy"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join([*found, f"{card.driver.free() / 2**20:,.0f} MiB"])


def expected_of(file: Path | None, scale: float) -> dict[str, str]:
    """Return what the cores said elsewhere, of the same sizes."""
    if file is None:
        return {}
    told = json.loads(file.read_text())
    if told["scale"] != scale:
        raise SystemExit(f"{file} was written at a scale of {told['scale']}, and this one is {scale}.")
    digests: dict[str, str] = told["digests"]
    return digests


def measured(lines: Lines, card: Any, scale: float, expected: dict[str, str]) -> None:
    """Check and measure everything."""
    lines.checked(card, expected, scale)
    lines.tried("fresh seeds", lambda: fresh(card, scale))
    lines.tried("published seeds", lambda: published(card, scale))
    lines.tried("Parquet files", lambda: parquet(card, scale))


if __name__ == "__main__":
    main()
