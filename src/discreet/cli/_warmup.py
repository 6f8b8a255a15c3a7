"""Compilation of every kernel that a command may need.

1. Small jobs call all kernels as plain Python, which records the types of the arguments.
2. A process per core compiles the recorded kernels, the longest first.
"""

from __future__ import annotations

import os
import signal
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

from ..errors import MisuseError
from ._terminal import ProgressBar, say

# The module and the name of the function of a kernel, and the types of its arguments.
KernelForm: TypeAlias = tuple[str, str, str]


def compile_kernels(shared_folder: Path | None = None) -> None:
    """Compile all kernels that are not in the cache, and print the seconds that it took.

    Parameters
    ----------
    shared_folder
        A directory that becomes the cache, readable for all users; None for the user's own cache.
    """
    from ..kernels import cache_directory, enabled
    from ..temporary import make_temporary_directory

    if not enabled():
        say("Nothing to compile: compiled code is switched off, or numba is not installed.")
        return
    start = perf_counter()
    if shared_folder is not None:
        _make_shared_cache(shared_folder)
    cache = cache_directory()
    if shared_folder is not None and cache is None:
        flaw = "cannot be written, or others can change it; name a folder that is yours alone."
        raise MisuseError(f"{shared_folder} {flaw}")
    with ProgressBar("compiling") as bar:
        with make_temporary_directory("warmup-") as folder:
            missing = _find_missing_kernels(folder)
        if cache is not None:
            _compile_in_processes(missing, bar)
    if cache is None:
        say("There is no cache directory that you alone can write, so nothing was compiled: it could not be kept.")
        return
    if shared_folder is not None:
        # A root user fills the directory; its files must be readable under any umask.
        for path in shared_folder.iterdir():
            path.chmod(0o644)
    say(
        f"Compiled in {perf_counter() - start:.1f} s, kept in {cache}."
        + ("" if shared_folder is None else f" Set DISCREET_KERNELS={cache} where it is to be used.")
    )


def compile_in_background(place: str) -> None:
    """Compile the kernels of `compile_kernels` one by one, without output; the work of a background process."""
    from ..kernels import background
    from ..temporary import make_temporary_directory

    def find_missing() -> list[KernelForm]:
        with make_temporary_directory("warmup-") as folder:
            return _find_missing_kernels(folder)

    background.compile_missing(place, find_missing)


def _make_shared_cache(shared_folder: Path) -> None:
    """Make a directory that all users can read the kernel cache of this process and of its children."""
    shared_folder = shared_folder.absolute()
    for folder in reversed([path for path in (shared_folder, *shared_folder.parents) if not path.exists()]):
        folder.mkdir()
        folder.chmod(0o755)  # also under a stricter umask
    os.environ["NUMBA_CACHE_DIR"] = str(shared_folder)


def _find_missing_kernels(folder: Path) -> list[KernelForm]:
    """Return the kernels that the cache lacks, the longest first; the jobs write their data into the folder."""
    from ..kernels import Kernel, is_kept, measure_code, recording

    with recording:
        _run_jobs(folder)
    forms = [(kernel.function, types) for kernel in Kernel.registry for types in kernel.signatures]
    missing = [(function, types) for function, types in forms if not is_kept(function, types)]
    # Long code compiles longest. Started last, it would keep one process busy after all further processes have ended.
    missing.sort(key=lambda form: -measure_code(form[0]))
    return [(function.__module__, function.__qualname__, types) for function, types in missing]


def _compile_in_processes(missing: list[KernelForm], bar: ProgressBar) -> None:
    """Compile kernels in several processes: the compiler of numba holds a lock, so threads would wait."""
    from ..kernels import compile_one, threads

    if not missing:
        return
    context = get_context("spawn")
    pool = ProcessPoolExecutor(min(threads(), len(missing)), mp_context=context, initializer=_ignore_interrupts)
    try:
        futures = [pool.submit(compile_one, *form) for form in missing]
        for count, future in enumerate(as_completed(futures), 1):
            future.result()
            bar(count / len(futures))
    finally:
        pool.shutdown(cancel_futures=True)


def _ignore_interrupts() -> None:
    """Ignore Ctrl-C, which the parent process handles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run_jobs(folder: Path) -> None:
    """Run a small job of every kind, so that each kernel is called with all types of arguments."""
    from .. import mine, read
    from ..baskets import groceries, quest, resample

    # Repeated items, other orders and an empty basket take more branches of the reader.
    lines = ["1 2 3", "2 3 1", "", "3 1 2 2", "1 4"] * 40
    for name, text in (("numbers.dat", "\n".join(lines)), ("names.dat", "\n".join(lines).replace("1", "tea"))):
        (folder / name).write_text(text)
        baskets = read(folder / name)
        read(folder / name, max_items=2)
        patterns = mine(baskets, min_count=2)
        patterns.rules(min_confidence=0.1)
        mine(baskets, itemsets=[p.items for p in patterns])
    # Sparse and dense data select different kernels.
    sparse = resample(quest(2_000, 400, 6, 3, seed=1), 3_000, seed=1)
    for baskets in (sparse, groceries(500, seed=1)):
        mine(baskets, top=30)
        mine(baskets, top=30, lengths=3)
        for kind in ("all", "closed", "maximal"):
            mine(baskets, min_support=0.02, kind=kind)
        mine(baskets, min_count=20, contains=[baskets.vocabulary.label(int(baskets.item_counts.argmax()))])
    _run_table_jobs(folder)
    _run_release_jobs()
    _run_study_jobs()


def _run_table_jobs(folder: Path) -> None:
    """Run the kernels for tables, for rare items, and for results too large for a small job."""
    from itertools import combinations

    import numpy as np

    from .. import mine, read
    from ..baskets import quest
    from ..kernels import count_cells, unsubsumed_by_lists
    from ..results import Itemsets

    (folder / "events.csv").write_text("who,what,when\n1,tea,3\n1,milk,2\n2,tea,1\n2,milk,1\n2,bread,5\n")
    read(folder / "events.csv", person="who", item="what", time="when", max_items=2)
    sparse_baskets = quest(3_000, 2_000, 4, 2, seed=1)
    for kind in ("all", "closed", "maximal"):
        mine(sparse_baskets, min_count=3, kind=kind)
    mine(sparse_baskets, itemsets=[p.items for p in mine(sparse_baskets, min_count=1, lengths=2)])
    # All pairs of 96 items: enough for the kernel that counts a dense block of pairs at once.
    frequent_items = sparse_baskets.vocabulary.take(sparse_baskets.item_counts.argsort()[-96:]).to_pylist()
    mine(sparse_baskets, itemsets=list(combinations(frequent_items, 2)))
    # Read-only arrays have a type of their own to the compiler, and the arrays of Itemsets are read-only.
    rows = Itemsets(np.array([0, 2, 3]), np.array([0, 1, 1], np.int32))
    unsubsumed_by_lists(rows.offsets, rows.codes, np.array([0, 2]), 2)
    count_cells(rows.offsets, rows.codes, 2, np.array([0, 2]), np.array([0, 1], np.int32))


def _run_release_jobs() -> None:
    """Run the kernels of private mechanisms, on made-up people."""
    from fractions import Fraction

    import numpy as np

    from ..baskets import Baskets, groceries
    from ..planning import trial
    from ..privacy.sampling import SystemSource, discrete_laplace
    from ..registry import mechanisms

    # The random words of the system's source are read-only, which is a type of its own to the compiler.
    discrete_laplace(SystemSource(), Fraction(3), 10)
    baskets = groceries(300, seed=1)
    questions: tuple[dict[str, Any], ...] = ({"top": 5}, {"top": 60}, {"min_count": 40})
    # Each mechanism with each kind of question that it answers, also mechanisms of other packages.
    for name, entry in mechanisms().items():
        delta = "1e-6" if entry.kind.delta else 0
        for question in questions:
            if ("top" if "top" in question else "threshold") in entry.answers:
                trial(baskets, seed=1, epsilon=2, delta=delta, items="public", mechanism=name, **question)
    trial(baskets, seed=1, top=5, epsilon=2, delta="1e-6", mechanism="exponential")
    receipts = Baskets(baskets.offsets, baskets.codes, baskets.vocabulary, owners=np.arange(0, len(baskets) + 1, 2))
    trial(receipts, seed=1, top=60, epsilon=2, delta="1e-6", items="public", mechanism="clipped")


def _run_study_jobs() -> None:
    """Run the kernels of devices and collectors, for every question and every oracle."""
    from fractions import Fraction

    import numpy as np

    from ..baskets import groceries
    from ..local import SimulatedAnswers
    from ..local.device import WORD
    from ..local.oracle_steps import means, oracles
    from ..local.study import (
        Ask,
        CandidateList,
        CandidateQuestion,
        PeopleGroup,
        PrefixQuestion,
        SimulatedPeople,
        SizeQuestion,
        TextNumbers,
    )

    baskets = groceries(300, seed=1)
    items, itemsets = CandidateList(items=baskets.items), CandidateList(itemsets=((0,), (1, 2)))
    questions = (
        CandidateQuestion(items),
        CandidateQuestion(itemsets),
        SizeQuestion(itemsets, (0, 1, 2)),
        PrefixQuestion((0, 1), ((0,), (1,)), 1),
    )
    for speed in ("person", "aggregated"):
        crowd = SimulatedPeople(baskets=baskets, seed=1, speed=speed)
        for question in questions:
            for name in oracles():
                crowd.hear(Ask.of("warmup", PeopleGroup(0, WORD), question, name, Fraction(1)), crowd.numbers())
    TextNumbers(("",), "abt", 1, 9).answers(baskets, np.arange(3))
    _run_relation_jobs()
    _run_seed_jobs()
    for kind in means().values():
        kind.make(Fraction(1)).reports(
            SimulatedAnswers(offsets=np.arange(4), values=np.zeros(3, np.int32), people=np.arange(3)), 1
        )


def _run_seed_jobs() -> None:
    """Run the kernels of oracles with published seeds, and of the screen of their reports."""
    from fractions import Fraction

    import numpy as np

    from ..local import SimulatedAnswers
    from ..local.oracles import OLH, Wheel
    from ..local.study import screen_reports

    people_count = 5_000  # enough for the screen to solve for items that every person holds
    offsets, held_items = np.arange(0, 2 * people_count + 1, 2), np.tile(np.arange(2, dtype=np.int32), people_count)
    answered = SimulatedAnswers(offsets=offsets, values=held_items, people=np.arange(people_count))
    for kind in (OLH, Wheel):
        oracle = kind.make(Fraction(1), 5, pad=2).numbered(1024)
        blocks = [oracle.reports(answered, 1)]
        screen_reports(oracle, blocks.copy)
        oracle.match_values(blocks[0], np.arange(2))


def _run_relation_jobs() -> None:
    """Run the kernels of relations in all forms: given, in time, together, cascaded and printed."""
    from ..baskets import applets, groceries, viewings
    from ..local.study import simulate

    small_settings = {"items": 6, "support": 8, "rounds": 2, "fresh": 2}
    for baskets, pair_kind in ((applets(300), "given"), (viewings(300), "after"), (groceries(300, seed=1), "together")):
        for form in ({"cascade": 1}, {"form": "printed"}):
            settings = {**small_settings, "how": pair_kind, **form}
            simulate(baskets, "relations", top=3, epsilon=8, seed=1, settings=settings, score=True)
    simulate(baskets, "calm", top=3, epsilon=8, seed=1, settings={"items": 6, "support": 8})
    simulate(baskets, "svd-fo", top=3, epsilon=8, seed=1, settings={"rounds": 1, "fresh": 2})
