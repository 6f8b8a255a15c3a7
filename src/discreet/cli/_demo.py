"""The whole idea in one command, on baskets that are made up."""

from __future__ import annotations

import io
from pathlib import Path
from time import perf_counter

from ..errors import MisuseError
from ..temporary import make_temporary_directory
from ._replacing import check_replaceable
from ._terminal import console

_RESULTS = ("patterns.json", "rules.csv", "report.html")  # of a demo that is kept
_EACH = 10  # patterns and rules shown


def demo(people: int, seed: int, keep: str | None) -> None:
    """Make up a table of purchases, read it as any user would, show patterns and rules, and publish privately.

    Parameters
    ----------
    people
        How many people to make up.
    seed
        Which people.
    keep
        A directory for the table and the results; without one they are thrown away.
    """
    if people < 100:
        raise MisuseError(f"A demo needs at least 100 people to have patterns; {people} was given.")
    if keep is not None:
        Path(keep).mkdir(parents=True, exist_ok=True)
        _show(people, seed, Path(keep), kept=True)
        return
    with make_temporary_directory("demo-") as folder:
        _show(people, seed, folder, kept=False)


def _show(people: int, seed: int, folder: Path, *, kept: bool) -> None:

    from .. import mine, read, release as publish
    from ..atomic_write import open_replacement
    from ..baskets import groceries_catalogue, groceries_rows
    from ..results import headline, table

    out = console()
    begun = perf_counter()

    def step(said: str, *typed: str) -> None:
        out.print(f"\n[bold]{said}[/bold]  [dim]{perf_counter() - begun:.1f} s[/dim]")
        for line in typed:
            out.print(f"  {line}", style="cyan", markup=False, soft_wrap=True)
        out.print()

    import pyarrow.csv as csv

    sales = folder / "sales.csv"
    rows = groceries_rows(people, seed=seed)
    table_bytes = io.BytesIO()
    csv.write_csv(rows, table_bytes)
    data = {
        "sales.csv": table_bytes.getvalue(),
        "products.txt": "".join(f"{product}\n" for product in groceries_catalogue()).encode(),
    }
    for name in (*data, *_RESULTS):
        # Data have no mark; those of an earlier demo are the same to the byte, and nothing is lost with them.
        if not (name in data and (folder / name).is_file() and (folder / name).read_bytes() == data[name]):
            check_replaceable(folder / name)
    for name, content in data.items():
        with open_replacement(folder / name) as stream:
            stream.write(content)
    buyers = len(rows["customer"].unique())
    step(
        f"Made up {len(rows):,} purchases of {buyers:,} people: sales.csv, with the columns customer, product and time."
    )

    baskets = read(sales, person="customer", item="product")
    step(
        "Read the table: one basket per person.",
        "import discreet",
        'baskets = discreet.read("sales.csv", person="customer", item="product")',
    )
    out.print(f"  {baskets!r}")

    patterns = mine(baskets, min_support=0.01)
    step(
        "Found what people buy, and of that what they buy together: exactly.",
        "patterns = discreet.mine(baskets, min_support=0.01)",
        f"patterns.where(lengths=(2, None)).show({_EACH})",
    )
    out.print(f"  {headline(patterns)}; of two items or more:\n")
    out.print(table(patterns.where(lengths=(2, None)), rows=_EACH))

    rules = patterns.rules(min_confidence=0.5).sort("lift")
    step(
        "Found what follows from what.",
        'rules = patterns.rules(min_confidence=0.5).sort("lift")',
        f"rules.show({_EACH})",
    )
    out.print(table(rules, rows=_EACH))

    release = publish(baskets, top=50, epsilon=1, items=folder / "products.txt")
    step(
        "Published the fifty most frequent patterns without giving anyone away; of these, again those of two or more.",
        'release = discreet.release(baskets, top=50, epsilon=1, items="products.txt")',
        f"release.patterns.where(lengths=(2, None)).show({_EACH})",
    )
    out.print(f"  {headline(release.patterns)}; of two items or more:\n")
    out.print(table(release.patterns.where(lengths=(2, None)), rows=_EACH))
    out.print(f"\n  {release.guarantee.in_words()}")
    # Few people do not buy every product of the list: what nobody bought has a true count of 0.
    bought = [one.items for one in release.patterns if all(item in baskets.vocabulary for item in one.items)]
    true = mine(baskets, itemsets=bought).to_dict()
    inside = sum((one.low or 0) <= true.get(one.items, 0) <= (one.high or 0) for one in release.patterns)
    looked = f"{inside} of {len(release)} intervals hold the true count"
    out.print(f"\n  (These people are made up, so we may look: {looked}.)")

    if kept:
        patterns.save(folder / "patterns.json")
        rules.save(folder / "rules.csv")
        release.save(folder / "report.html", title="What people of a made-up shop buy together")
        step(
            f"Kept in {folder}: sales.csv, products.txt, patterns.json, rules.csv, report.html. All commands here work "
            "in that folder, and `discreet open report.html` shows the report.",
            'patterns.save("patterns.json")',
            'rules.save("rules.csv")',
            'release.save("report.html", title="What people of a made-up shop buy together")',
        )
    out.print(
        f"\nDone in {perf_counter() - begun:.1f} s. The first two results are exact, the last one is private.\n"
        + (
            "Next: discreet release --help\n"
            if kept
            else "Next: discreet demo --keep FOLDER keeps the files, so that you can type these commands yourself.\n"
        )
    )
