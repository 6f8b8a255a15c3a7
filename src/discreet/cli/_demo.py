"""`discreet demo`: reading, mining and a private release in one command, on made-up baskets."""

from __future__ import annotations

import io
from pathlib import Path
from time import perf_counter

from ..errors import MisuseError
from ..temporary import make_temporary_directory
from ._replacing import check_replaceable
from ._terminal import console

_RESULT_NAMES = ("patterns.json", "rules.csv", "report.html")
_TABLE_ROWS = 10  # so that each step of the demo fits on a screen


def show_demo(people: int, seed: int, keep: str | None) -> None:
    """Make up a table of purchases, print its patterns and rules, and publish patterns privately.

    Parameters
    ----------
    people
        The number of made-up people, at least 100.
    seed
        The seed of the purchases.
    keep
        A directory for the table and the results; None to delete them.
    """
    if people < 100:
        raise MisuseError(f"A demo needs at least 100 people to have patterns; {people} was given.")
    if keep is not None:
        Path(keep).mkdir(parents=True, exist_ok=True)
        _run_steps(people, seed, Path(keep), is_kept=True)
        return
    with make_temporary_directory("demo-") as folder:
        _run_steps(people, seed, folder, is_kept=False)


def _run_steps(people: int, seed: int, folder: Path, *, is_kept: bool) -> None:
    import pyarrow.csv as csv

    from .. import mine, read, release as release_patterns
    from ..atomic_write import open_replacement
    from ..baskets import groceries_catalogue, groceries_rows
    from ..results import headline, table

    terminal = console()
    start = perf_counter()

    def print_step(sentence: str, *commands: str) -> None:
        terminal.print(f"\n[bold]{sentence}[/bold]  [dim]{perf_counter() - start:.1f} s[/dim]")
        for line in commands:
            terminal.print(f"  {line}", style="cyan", markup=False, soft_wrap=True)
        terminal.print()

    sales = folder / "sales.csv"
    rows = groceries_rows(people, seed=seed)
    table_bytes = io.BytesIO()
    csv.write_csv(rows, table_bytes)
    data = {
        "sales.csv": table_bytes.getvalue(),
        "products.txt": "".join(f"{product}\n" for product in groceries_catalogue()).encode(),
    }
    for name in (*data, *_RESULT_NAMES):
        # Data files have no mark. A file of an earlier demo has identical bytes, so it may be replaced.
        if not (name in data and (folder / name).is_file() and (folder / name).read_bytes() == data[name]):
            check_replaceable(folder / name)
    for name, content in data.items():
        with open_replacement(folder / name) as stream:
            stream.write(content)
    buyers = len(rows["customer"].unique())
    print_step(
        f"Made up {len(rows):,} purchases of {buyers:,} people: sales.csv, with the columns customer, product and time."
    )

    baskets = read(sales, person="customer", item="product")
    print_step(
        "Read the table: one basket per person.",
        "import discreet",
        'baskets = discreet.read("sales.csv", person="customer", item="product")',
    )
    terminal.print(f"  {baskets!r}")

    patterns = mine(baskets, min_support=0.01)
    print_step(
        "Found what people buy, and of that what they buy together: exactly.",
        "patterns = discreet.mine(baskets, min_support=0.01)",
        f"patterns.where(lengths=(2, None)).show({_TABLE_ROWS})",
    )
    terminal.print(f"  {headline(patterns)}; of two items or more:\n")
    terminal.print(table(patterns.where(lengths=(2, None)), rows=_TABLE_ROWS))

    rules = patterns.rules(min_confidence=0.5).sort("lift")
    print_step(
        "Found what follows from what.",
        'rules = patterns.rules(min_confidence=0.5).sort("lift")',
        f"rules.show({_TABLE_ROWS})",
    )
    terminal.print(table(rules, rows=_TABLE_ROWS))

    release = release_patterns(baskets, top=50, epsilon=1, items=folder / "products.txt")
    print_step(
        "Published the fifty most frequent patterns without giving anyone away; of these, again those of two or more.",
        'release = discreet.release(baskets, top=50, epsilon=1, items="products.txt")',
        f"release.patterns.where(lengths=(2, None)).show({_TABLE_ROWS})",
    )
    terminal.print(f"  {headline(release.patterns)}; of two items or more:\n")
    terminal.print(table(release.patterns.where(lengths=(2, None)), rows=_TABLE_ROWS))
    terminal.print(f"\n  {release.guarantee.in_words()}")
    # A small crowd buys a part of the list only. `mine` refuses items without a buyer; their true count is 0.
    bought = [
        pattern.items for pattern in release.patterns if all(item in baskets.vocabulary for item in pattern.items)
    ]
    true_counts = mine(baskets, itemsets=bought).to_dict()
    covered = sum(
        (pattern.low or 0) <= true_counts.get(pattern.items, 0) <= (pattern.high or 0) for pattern in release.patterns
    )
    coverage = f"{covered} of {len(release)} intervals hold the true count"
    terminal.print(f"\n  (These people are made up, so we may look: {coverage}.)")

    if is_kept:
        patterns.save(folder / "patterns.json")
        rules.save(folder / "rules.csv")
        release.save(folder / "report.html", title="What people of a made-up shop buy together")
        print_step(
            f"Kept in {folder}: sales.csv, products.txt, patterns.json, rules.csv, report.html. All commands here work "
            "in that folder, and `discreet open report.html` shows the report.",
            'patterns.save("patterns.json")',
            'rules.save("rules.csv")',
            'release.save("report.html", title="What people of a made-up shop buy together")',
        )
    terminal.print(
        f"\nDone in {perf_counter() - start:.1f} s. The first two results are exact, the last one is private.\n"
        + (
            "Next: discreet release --help\n"
            if is_kept
            else "Next: discreet demo --keep FOLDER keeps the files, so that you can type these commands yourself.\n"
        )
    )
