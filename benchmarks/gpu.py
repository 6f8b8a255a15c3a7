"""Check a card against the cores of the machine, bit by bit, and measure its speed.

    python -m benchmarks.gpu --expect expected.json      write digests of the cores, for a machine without numba
    python -m benchmarks.gpu --expected expected.json    check the card against them, and measure it
    python -m benchmarks.gpu --scale 0.001               everything a thousand times smaller

One run does all, and prints each line at once: the lines of an interrupted run remain useful. It needs numpy and CuPy.
With numba, numbers are checked against the cores of the machine; with pyarrow, a round is read from Parquet files.
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
BLOCK = 1 << 20  # people per block of reports
ROWS = 1 << 12  # of a table: their sums fit into 32 bits


def oracle_of(name: str, items: int, *, pad: int = 1, seeds: int | None = None) -> Any:
    """Return an oracle at an epsilon of 1."""
    from discreet.local.oracle_steps import make

    oracle = make(name, Fraction(1), items, pad=pad)
    return oracle if seeds is None else replace(oracle, seeds=seeds)


def people_of(start: int, person_count: int, items: int, max_items: int = 1) -> Any:
    """Return people with up to `max_items` items each; the frequencies of items differ widely."""
    from discreet.local import SimulatedAnswers

    generator = np.random.default_rng([SEED, start])
    sizes = np.ones(person_count, np.int64) if max_items == 1 else generator.integers(0, max_items + 1, person_count)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    part = generator.random(offsets[-1])
    held_items = (part * part * part * items).astype(np.int32)  # products alone, which every machine rounds alike
    return SimulatedAnswers(offsets=offsets, values=held_items, people=np.arange(start, start + person_count))


def digest(*arrays: Any) -> str:
    """Return a digest of arrays, to the last bit."""
    hasher = hashlib.blake2b(digest_size=16)
    for array in arrays:
        hasher.update(f"{array.dtype.str}{array.shape}".encode())
        hasher.update(np.ascontiguousarray(array).tobytes())
    return hasher.hexdigest()


def checks(scale: float, *, elsewhere: bool = False) -> dict[str, Callable[[Any], str]]:
    """Return the checks by name: each computes on a card, or on the cores for None, and returns a digest.

    With `elsewhere`, only checks with results that every machine rounds alike.
    """
    from discreet.local.oracle_steps import SeedTable, using

    report_count, items = max(100, int(3e5 * scale)), max(50, int(2e4 * scale))

    def check_made(name: str, seeds: int | None = None) -> Callable[[Any], str]:
        """Make reports, and add them up."""
        oracle = oracle_of(name, items, pad=1 if seeds else 4, seeds=seeds)
        answered = people_of(0, report_count, items, 6)

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
        """Decode a table: its residuals, its sums for every item, and the products of the least squares."""
        from discreet.kernels import leftover, meet, sum_cells

        generator = np.random.default_rng(SEED)
        table = generator.integers(200, 400, (max(1024, int(65536 * scale)), buckets))
        codes, weights = np.arange(0, 900, 3, dtype=np.uint32), generator.random(300) / 300
        edges = np.array([-(-(place << 32) // buckets) for place in range(buckets)], np.uint32)

        def run(card: Any) -> str:
            if card is not None:
                leftover_table = card.leftover(table, codes, weights, 0.4, 16.0)
                sums = card.table_sums(table, codes, weights, 0.4, 16.0, ROWS, items)
                return digest(leftover_table, sums, card.meet(table.sum(1), buckets, codes, weights, ROWS))
            leftover_table, sums = np.empty(table.shape, np.int32), np.zeros(items, np.int64)
            no_codes = np.zeros(0, np.int32)
            leftover(0, table, codes, weights, no_codes, no_codes, np.zeros(0), 0.4, 16.0, leftover_table)
            met = np.zeros((-(-len(table) // ROWS), len(codes)))
            for number, start in enumerate(range(0, len(table), ROWS)):
                part = slice(start, start + ROWS)
                sum_cells(start, leftover_table[part], edges, np.arange(items, dtype=np.uint32), sums)
                meet(start, table[part].sum(1), buckets, codes, weights, met[number])
            return digest(leftover_table, sums, met)

        return run

    def read_whole(card: Any) -> str:
        """Decode a table as a collector does. The sums on the cores may round differently on a different machine."""
        table = np.random.default_rng(SEED).integers(200, 400, (1024, 4))
        table[:, 0] += np.arange(len(table)) % 40  # so that something stands out
        with using("cpu" if card is None else "gpu"):
            seed_table = SeedTable(table=table, symbols=items, own_chance=0.5)
            return digest(seed_table.frequencies(), seed_table._solve(np.arange(8), np.ones(8) / 50, np.zeros(8)))

    def check_counted(card: Any) -> str:
        """Count reports of any window."""
        from discreet.local.oracle_steps import count_hashed

        words = np.random.default_rng(SEED).integers(0, 1 << 32, (4, report_count), dtype=np.uint32)
        return digest(count_hashed(*words, items) if card is None else card.count_supports(*words, items))

    def refused(card: Any) -> str:
        """Add up words of which some are no reports."""
        oracle = oracle_of("olh", items, seeds=1024)
        words = (
            np.random.default_rng(SEED).integers(0, [[1030, oracle.buckets + 1]], (report_count, 2)).astype(np.uint32)
        )
        if card is None:
            right, aggregate = oracle.codec.find_good_rows(words), oracle.adder.start()
            oracle.adder.add(aggregate, oracle.codec.unpack(words[right]))
            return digest(aggregate, np.array(len(words) - right.sum(), np.int64))
        from discreet.gpu import add_words

        sums = add_words(card, oracle, [words])
        assert sums is not None
        return digest(sums.aggregate, np.array(sums.refused, np.int64))

    all_checks = {
        "reports of any window": check_counted,
        "olh, made and added": check_made("olh"),
        "blh, made and added": check_made("blh"),
        "wheel, made and added": check_made("wheel"),
        "olh with published seeds, made and added": check_made("olh", 4096),
        "words that are no reports": refused,
        "a table of 4 buckets, decoded": decoded(4),
        "a table of 40 buckets, decoded": decoded(40),
    }
    if find_spec("numba") is not None and not elsewhere:
        all_checks["a table as a collector reads it"] = read_whole
    return all_checks


def by_cores(run: Callable[[Any], str]) -> str:
    """Return a digest of the result of the cores, with or without a card."""
    from discreet.local.oracle_steps import using

    with using("cpu"):
        return run(None)


class Lines:
    """Prints figures at once, with the time since the start of the run."""

    def __init__(self) -> None:
        self._begun = time.perf_counter()
        self.bad = 0

    def say(self, label: str, figure: str) -> None:
        """Print a line."""
        print(f"[{time.perf_counter() - self._begun:6.1f} s] {label:<58} {figure}", flush=True)

    def checked(self, card: Any, expected: dict[str, str], scale: float) -> None:
        """Compare the card with the cores of the machine, or with digests of a different machine."""
        has_numba = find_spec("numba") is not None
        for name, run in checks(scale).items():
            begun = time.perf_counter()
            digest_here = run(card)
            took = f"{time.perf_counter() - begun:.2f} s"
            expected_digest = by_cores(run) if has_numba else expected.get(name)
            verdict = (
                "not checked: no numba here, and no --expected" if expected_digest is None else "the same, bit for bit"
            )
            if expected_digest is not None and digest_here != expected_digest:
                verdict, self.bad = "DIFFERENT", self.bad + 1
            self.say(f"check: {name}", f"{verdict} ({took})")

    def run_task(self, label: str, task: Callable[[], Iterator[tuple[str, str]]]) -> None:
        """Print the figures of a task; report a failure and continue."""
        try:
            for name, figure in task():
                self.say(name, figure)
        except Exception as error:
            self.bad += 1
            self.say(label, f"FAILED: {type(error).__name__}: {error}")


def per_second(count: float, took: float) -> str:
    """Return a time with the rate per second."""
    return f"{took:.3f} s, {count / took:.3g} a second"


def memory(card: Any, before: int) -> str:
    """Return the used memory of the card, and the peak memory of the program."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return (
        f"{(before - card.driver.free()) / 2**20:,.0f} MiB of the card now, {peak:.2f} GiB of the machine at the most"
    )


def fresh(card: Any, scale: float) -> Iterator[tuple[str, str]]:
    """Measure fresh seeds: hashes a second, and 10^7 reports over 10^5 items from this machine's memory."""
    from discreet.gpu import CardRound

    free = card.driver.free()
    report_count, items = int(1e7 * scale) or 1, int(1e5 * scale) or 1
    for name in ("olh", "wheel"):
        oracle = oracle_of(name, items)
        running = CardRound(card, oracle)
        words = np.concatenate(
            [
                running.make_reports(people_of(start, min(BLOCK, report_count - start), items), SEED)
                for start in range(0, report_count, BLOCK)
            ]
        )
        card_words = card.driver.upload(words[: 1 << 22])
        word_count, counts = len(card_words), card.driver.zeros((items,), np.uint64)
        kind, number = running.kind
        times = []
        for _ in range(6):
            begun = time.perf_counter()
            card.add_supports(card_words, word_count, 3, kind, number, items, counts)
            card.driver.download(counts[:1])
            times.append(time.perf_counter() - begun)
        hashes = word_count * items
        yield f"{name}: {word_count:,} reports on the card, hashes", per_second(hashes, float(np.median(times[1:])))
        begun = time.perf_counter()
        running.add_words(words)
        sums = running.total()
        took = time.perf_counter() - begun
        assert sums.people == report_count
        yield f"{name}: {report_count:,} reports over {items:,} items", per_second(report_count * items, took)
    yield "  memory", memory(card, free)


def published(card: Any, scale: float) -> Iterator[tuple[str, str]]:
    """Measure published seeds: 10^9 reports made on the card, streamed to it, and decoded over 10^6 items."""
    from discreet.gpu import CardRound
    from discreet.local.oracle_steps import using

    free = card.driver.free()
    report_count, items = int(1e9 * scale) or 1, int(1e6 * scale) or 100
    oracle = oracle_of("olh", items).expecting(report_count)
    if oracle.seeds is None:
        oracle = replace(oracle, seeds=1024)
    yield "published seeds that are chosen", f"{oracle.seeds:,} for {report_count:,} people and {items:,} items"
    # The items of people are drawn once and used for later blocks: the benchmark times the reports alone.
    crowd = [
        people_of(number * BLOCK, min(BLOCK, report_count), items)
        for number in range(min(16, -(-report_count // BLOCK)))
    ]
    counts, running = np.zeros(items, np.int64), CardRound(card, oracle)
    begun, making_seconds = time.perf_counter(), 0.0
    for number, start in enumerate(range(0, report_count, BLOCK)):
        answered = crowd[number % len(crowd)]
        batch_count = min(len(answered.people), report_count - start)
        part = replace(
            answered,
            offsets=answered.offsets[: batch_count + 1],
            values=answered.values[:batch_count],
            people=np.arange(start, start + batch_count),
        )
        begun = time.perf_counter()
        running.add_drawn(part, SEED)
        making_seconds += time.perf_counter() - begun
        counts += np.bincount(part.values, minlength=items)
    begun = time.perf_counter()
    sums = running.total()
    making_seconds += time.perf_counter() - begun
    yield f"simulated: {report_count:,} reports made and added", per_second(report_count, making_seconds)
    yield "  memory", memory(card, free)
    for attempt in ("first", "again"):
        begun = time.perf_counter()
        with using("gpu"):
            supports = oracle.adder.decode(sums.aggregate)
        took = time.perf_counter() - begun
        yield f"decoded, {attempt}: {oracle.seeds:,} seeds, {items:,} items", f"{took:.3f} s"
    truth = counts / report_count
    error = ((oracle.estimate(supports, report_count) - truth) ** 2).mean()
    fresh_seeds = replace(oracle, seeds=None).variance(truth, report_count).mean()
    yield "  square error, of that of fresh seeds", f"{error / fresh_seeds:.3f}"
    words = running.make_reports(crowd[0], SEED)
    streamed = CardRound(card, oracle)
    begun = time.perf_counter()
    for _ in range(max(1, report_count // len(words))):
        streamed.add_words(words)
    total_people = streamed.total().people
    took = time.perf_counter() - begun
    rate = f"{total_people * 8 / took / 1e9:.1f} GB a second"
    yield f"streamed: {total_people:,} packed reports", f"{per_second(total_people, took)}, {rate}"
    yield "  memory", memory(card, free)


def parquet(card: Any, scale: float) -> Iterator[tuple[str, str]]:
    """Measure a round that lies in Parquet files: reading alone, and adding it up."""
    from discreet.collector import add_up_files, list_report_files, save_reports
    from discreet.gpu import CardRound
    from discreet.local.device import WORD
    from discreet.local.oracle_steps import using
    from discreet.local.study import Ask, CandidateList, CandidateQuestion, PeopleGroup

    if find_spec("pyarrow") is None:
        yield "a round in Parquet files", "left out: pyarrow is not installed"
        return
    import pyarrow.parquet as pq

    report_count, items = int(2e8 * scale) or 1, int(1e5 * scale) or 100
    ask = Ask.of("which", PeopleGroup(0, WORD), CandidateQuestion(CandidateList(items=items)), "olh", Fraction(1))
    ask = replace(ask, oracle=replace(ask.oracle, seeds=1 << max(10, 18 + int(np.log2(scale)))))
    running = CardRound(card, ask.oracle)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "reports"
        starts = range(0, report_count, BLOCK)
        save_reports(
            folder,
            ask,
            (running.make_reports(people_of(start, min(BLOCK, report_count - start), items), SEED) for start in starts),
        )
        size = sum(Path(file).stat().st_size for file in list_report_files(folder))
        for attempt in ("first", "again"):
            begun = time.perf_counter()
            for file in list_report_files(folder):
                with pq.ParquetFile(file) as opened:
                    for _ in opened.iter_batches(256):
                        pass
            reading_seconds = time.perf_counter() - begun
            yield f"files of {size / 1e9:.2f} GB, {attempt}: read and dropped", f"{reading_seconds:.2f} s"
        begun = time.perf_counter()
        with using("gpu"):
            file_totals = add_up_files(folder, ask, screen=False)
        took = time.perf_counter() - begun
        assert file_totals.estimate.people == report_count
        yield (
            f"the same, {report_count:,} reports, added up and decoded",
            f"{took:.2f} s, {took / reading_seconds:.2f} of reading",
        )


def main() -> None:
    """Check and measure the card, or write the digests to expect from a card."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--expect", type=Path, metavar="FILE", help="write what the cores say, and stop")
    parser.add_argument("--expected", type=Path, metavar="FILE", help="what the cores said elsewhere")
    parser.add_argument("--scale", type=float, default=1.0, help="of all sizes")
    args = parser.parse_args()
    if args.expect:
        digests = {name: by_cores(run) for name, run in checks(args.scale, elsewhere=True).items()}
        args.expect.write_text(json.dumps({"scale": args.scale, "digests": digests}, indent=1))
        return
    from discreet.gpu import open_card
    from discreet.local.oracle_steps import on_card

    lines = Lines()
    begun = time.perf_counter()
    card = open_card()
    lines.say(card.driver.name, f"opened in {time.perf_counter() - begun:.2f} s, kernels compiled")
    lines.say("numpy, CuPy, free memory", versions(card))
    measure_card(lines, card, args.scale, expected_of(args.expected, args.scale))
    failed = on_card.said()
    for check_name in failed:
        lines.say("the card was not used", check_name)
    raise SystemExit(1 if lines.bad or failed else 0)


def versions(card: Any) -> str:
    """Return the versions of the card and of the libraries."""
    from importlib.metadata import PackageNotFoundError, version

    version_names = [np.__version__]
    for name in ("cupy-cuda13x", "cupy-cuda12x", "cupy"):
        try:
            version_names.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join([*version_names, f"{card.driver.free() / 2**20:,.0f} MiB"])


def expected_of(file: Path | None, scale: float) -> dict[str, str]:
    """Return the digests of the cores of a different machine, for equal sizes."""
    if file is None:
        return {}
    document = json.loads(file.read_text())
    if document["scale"] != scale:
        raise SystemExit(f"{file} was written at a scale of {document['scale']}, and this one is {scale}.")
    digests: dict[str, str] = document["digests"]
    return digests


def measure_card(lines: Lines, card: Any, scale: float, expected: dict[str, str]) -> None:
    """Check and measure everything."""
    lines.checked(card, expected, scale)
    lines.run_task("fresh seeds", lambda: fresh(card, scale))
    lines.run_task("published seeds", lambda: published(card, scale))
    lines.run_task("Parquet files", lambda: parquet(card, scale))


if __name__ == "__main__":
    main()
