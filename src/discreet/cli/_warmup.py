"""Compile every kernel that a command may need.

Which ones, and for which types of arguments, is found by doing a little of everything with kernels as plain Python.
Then they are compiled by as many processes as there are cores, the longest first.
"""

from __future__ import annotations

import os
import signal
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any

from ..errors import MisuseError
from ._progress import ProgressBar
from ._terminal import say


def warmup(shared: Path | None = None) -> None:
    """Run small jobs through all compiled code, compile what they used, and say how long it took."""
    from ..kernels import cache_directory, enabled
    from ..temporary import make_temporary_directory

    if not enabled():
        say("Nothing to compile: compiled code is switched off, or numba is not installed.")
        return
    begun = perf_counter()
    if shared is not None:
        _open(shared)
    place = cache_directory()
    if shared is not None and place is None:
        raise MisuseError(f"{shared} cannot be written, or others can change it; name a folder that is yours alone.")
    with ProgressBar("compiling") as bar:
        with make_temporary_directory("warmup-") as folder:
            wanted = _used(folder)
        if place is not None:
            _compile(wanted, bar)
    if place is None:
        say("There is no cache directory that you alone can write, so nothing was compiled: it could not be kept.")
        return
    if shared is not None:
        for path in shared.iterdir():
            path.chmod(0o644)
    say(
        f"Compiled in {perf_counter() - begun:.1f} s, kept in {place}."
        + ("" if shared is None else f" Set DISCREET_KERNELS={place} where it is to be used.")
    )


def compile_in_background(place: str) -> None:
    """Compile the same forms as `warmup` without a word, one after the other; the whole life of a process."""
    from ..kernels import background
    from ..temporary import make_temporary_directory

    def missing() -> list[tuple[str, str, str]]:
        with make_temporary_directory("warmup-") as folder:
            return _used(folder)

    background.compile_missing(place, missing)


def _open(shared: Path) -> None:
    """Make a folder that all can read, and let it be the cache of this process and of those it starts."""
    shared = shared.absolute()
    for folder in reversed([one for one in (shared, *shared.parents) if not one.exists()]):
        folder.mkdir()
        folder.chmod(0o755)  # whatever the umask
    os.environ["NUMBA_CACHE_DIR"] = str(shared)


def _used(folder: Path) -> list[tuple[str, str, str]]:
    """Return the kernels that commands use and that are not kept yet, with the types of their arguments."""
    from ..kernels import Kernel, is_kept, measure_code, recording

    with recording:
        _exercise(folder)
    found = [(kernel.function, types) for kernel in Kernel.registry for types in kernel.signatures]
    missing = [(function, types) for function, types in found if not is_kept(function, types)]
    missing.sort(key=lambda one: -measure_code(one[0]))
    return [(function.__module__, function.__qualname__, types) for function, types in missing]


def _compile(wanted: list[tuple[str, str, str]], bar: ProgressBar) -> None:
    """Compile kernels side by side: processes, as the compiler does one thing at a time."""
    from ..kernels import compile_one, threads

    if not wanted:
        return
    pool = ProcessPoolExecutor(min(threads(), len(wanted)), mp_context=get_context("spawn"), initializer=_deaf)
    try:
        done = [pool.submit(compile_one, *one) for one in wanted]
        for count, future in enumerate(as_completed(done), 1):
            future.result()
            bar(count / len(done))
    finally:
        pool.shutdown(cancel_futures=True)


def _deaf() -> None:
    """Leave it to the command to hear an interrupt."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _exercise(folder: Path) -> None:
    from .. import mine, read
    from ..baskets import groceries, quest, resample

    lines = ["1 2 3", "2 3 1", "", "3 1 2 2", "1 4"] * 40
    for name, text in (("numbers.dat", "\n".join(lines)), ("names.dat", "\n".join(lines).replace("1", "tea"))):
        (folder / name).write_text(text)
        baskets = read(folder / name)
        read(folder / name, max_items=2)
        patterns = mine(baskets, min_count=2)
        patterns.rules(min_confidence=0.1)
        mine(baskets, itemsets=[p.items for p in patterns])
    sparse = resample(quest(2_000, 400, 6, 3, seed=1), 3_000, seed=1)
    for baskets in (sparse, groceries(500, seed=1)):
        mine(baskets, top=30)
        mine(baskets, top=30, lengths=3)
        for kind in ("all", "closed", "maximal"):
            mine(baskets, min_support=0.02, kind=kind)
        mine(baskets, min_count=20, contains=[baskets.vocabulary.label(int(baskets.item_counts.argmax()))])
    _scatter(folder)
    _publish()
    _ask()


def _scatter(folder: Path) -> None:
    """Run the kernels for tables, for items that few people share, and for results too large to try here."""
    from itertools import combinations

    import numpy as np

    from .. import mine, read
    from ..baskets import quest
    from ..kernels import count_cells, unsubsumed_by_lists
    from ..results import Itemsets

    (folder / "events.csv").write_text("who,what,when\n1,tea,3\n1,milk,2\n2,tea,1\n2,milk,1\n2,bread,5\n")
    read(folder / "events.csv", person="who", item="what", time="when", max_items=2)
    wide = quest(3_000, 2_000, 4, 2, seed=1)
    for kind in ("all", "closed", "maximal"):
        mine(wide, min_count=3, kind=kind)
    mine(wide, itemsets=[p.items for p in mine(wide, min_count=1, lengths=2)])
    # So many pairs of so few items that all of these are counted at once.
    mine(wide, itemsets=list(combinations(wide.vocabulary.take(wide.item_counts.argsort()[-96:]).to_pylist(), 2)))
    # What cannot be written is another type to the compiler, and so are rows and itemsets kept.
    rows = Itemsets(np.array([0, 2, 3]), np.array([0, 1, 1], np.int32))
    unsubsumed_by_lists(rows.offsets, rows.codes, np.array([0, 2]), 2)
    count_cells(rows.offsets, rows.codes, 2, np.array([0, 2]), np.array([0, 1], np.int32))


def _publish() -> None:
    """Run the kernels that private mechanisms use, on people who are made up."""
    from fractions import Fraction

    import numpy as np

    from ..baskets import Baskets, groceries
    from ..planning import trial
    from ..privacy.sampling import SystemSource, discrete_laplace
    from ..registry import mechanisms

    # The words of the system's source cannot be written to, which is another type to the compiler.
    discrete_laplace(SystemSource(), Fraction(3), 10)
    baskets = groceries(300, seed=1)
    questions: tuple[dict[str, Any], ...] = ({"top": 5}, {"top": 60}, {"min_count": 40})
    for name, entry in mechanisms().items():
        delta = "1e-6" if entry.kind.delta else 0
        for question in questions:
            if ("top" if "top" in question else "threshold") in entry.answers:
                trial(baskets, seed=1, epsilon=2, delta=delta, items="public", mechanism=name, **question)
    trial(baskets, seed=1, top=5, epsilon=2, delta="1e-6", mechanism="exponential")
    several = Baskets(baskets.offsets, baskets.codes, baskets.vocabulary, owners=np.arange(0, len(baskets) + 1, 2))
    trial(several, seed=1, top=60, epsilon=2, delta="1e-6", items="public", mechanism="clipped")


def _ask() -> None:
    """Run the kernels of devices and collectors, for every question and every oracle."""
    from fractions import Fraction

    import numpy as np

    from ..baskets import groceries
    from ..local import Answered
    from ..local.device import WORD
    from ..local.oracle_steps import means, oracles
    from ..local.study import Ask, CandidateList, HowMany, PrefixQuestion, SimulatedPeople, TextNumbers, Which, Who

    baskets = groceries(300, seed=1)
    whole, some = CandidateList(items=baskets.items), CandidateList(itemsets=((0,), (1, 2)))
    questions = (Which(whole), Which(some), HowMany(some, (0, 1, 2)), PrefixQuestion((0, 1), ((0,), (1,)), 1))
    for speed in ("person", "aggregated"):
        crowd = SimulatedPeople(baskets=baskets, seed=1, speed=speed)
        for question in questions:
            for name in oracles():
                crowd.hear(Ask.of("warmup", Who(0, WORD), question, name, Fraction(1)), crowd.numbers())
    TextNumbers(("",), "abt", 1, 9).answers(baskets, np.arange(3))
    _relate()
    _tabulate()
    for kind in means().values():
        kind.make(Fraction(1)).reports(
            Answered(offsets=np.arange(4), held=np.zeros(3, np.int32), people=np.arange(3)), 1
        )


def _tabulate() -> None:
    """Run the kernels of published seeds, screened: items that everyone holds are solved for."""
    from fractions import Fraction

    import numpy as np

    from ..local import Answered
    from ..local.oracles import OLH, Wheel
    from ..local.study import screen_reports

    many = 5_000
    answered = Answered(
        offsets=np.arange(0, 2 * many + 1, 2), held=np.tile(np.arange(2, dtype=np.int32), many), people=np.arange(many)
    )
    for kind in (OLH, Wheel):
        oracle = kind.make(Fraction(1), 5, pad=2).numbered(1024)
        blocks = [oracle.reports(answered, 1)]
        screen_reports(oracle, blocks.copy)
        oracle.named(blocks[0], np.arange(2))


def _relate() -> None:
    """Run the kernels of relations: given, in time, together, built on each other, and folded."""
    from ..baskets import applets, groceries, viewings
    from ..local.study import simulate

    small = {"items": 6, "support": 8, "rounds": 2, "fresh": 2}
    for baskets, how in ((applets(300), "given"), (viewings(300), "after"), (groceries(300, seed=1), "together")):
        for form in ({"cascade": 1}, {"form": "printed"}):
            settings = {**small, "how": how, **form}
            simulate(baskets, "relations", top=3, epsilon=8, seed=1, settings=settings, score=True)
    simulate(baskets, "calm", top=3, epsilon=8, seed=1, settings={"items": 6, "support": 8})
    simulate(baskets, "svd-fo", top=3, epsilon=8, seed=1, settings={"rounds": 1, "fresh": 2})
