"""Compile every kernel that a command may need, by doing a little of everything."""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import perf_counter

import typer


def warmup() -> None:
    """Run small jobs through all compiled code and say how long it took."""
    from ..kernels.jit import cache_directory, enabled

    if not enabled():
        typer.echo("Nothing to compile: compiled code is switched off, or numba is not installed.")
        return
    begun = perf_counter()
    with tempfile.TemporaryDirectory(prefix="discreet-warmup-") as folder:
        _exercise(Path(folder))
    place = cache_directory()
    kept = f"kept in {place}" if place else "but no cache directory can be written, so each process compiles anew"
    typer.echo(f"Compiled in {perf_counter() - begun:.1f} s, {kept}.")


def _exercise(folder: Path) -> None:
    from .. import mine, read
    from ..baskets.generate import groceries, quest
    from ..baskets.resample import resample

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
    _publish()


def _publish() -> None:
    """Run the kernels that private mechanisms use, on people who are made up."""
    from ..baskets.generate import groceries
    from ..catalogue import mechanisms
    from ..lab.trial import trial

    baskets = groceries(300, seed=1)
    for name, entry in mechanisms().items():
        delta = "1e-6" if entry.kind.delta else 0
        for question in ({"top": 5}, {"min_count": 40}):
            if ("top" if "top" in question else "threshold") in entry.answers:
                trial(baskets, seed=1, epsilon=2, delta=delta, items="public", mechanism=name, **question)
    trial(baskets, seed=1, top=5, epsilon=2, delta="1e-6", mechanism="exponential")
