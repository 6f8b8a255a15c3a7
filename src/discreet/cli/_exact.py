"""`discreet mine`, `discreet rules` and `discreet relations`: exact results, not private."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from ..errors import MisuseError
from . import options
from ._asking import pattern_option
from ._groups import ClusterReading, OrderedReading, Reporting, Writing, command
from ._parsing import parse_items, parse_length_range, read_itemsets
from ._terminal import ProgressBar, say, say_when_compiling

if TYPE_CHECKING:
    from ..baskets import AnyBaskets
    from ..results import Patterns

app = typer.Typer()


@command(app)
def mine(
    min_support: str | None = pattern_option("min_support"),
    min_count: int | None = pattern_option("min_count"),
    top: int | None = options.TOP,
    itemsets: Path | None = options.ITEMSETS,
    lengths: str | None = pattern_option("lengths"),
    contains: list[str] | None = options.option(
        "An item every pattern must have. Can be given again.", options.WHAT, metavar="ITEM"
    ),
    excludes: list[str] | None = options.option(
        "An item no pattern may have. Can be given again.", options.WHAT, metavar="ITEM"
    ),
    kind: options.PatternKind = options.option(
        "All patterns, or only the closed or the maximal ones.", options.WHAT, default="all"
    ),
    hierarchy: Path | None = options.HIERARCHY,
    level: str | None = pattern_option("level"),
    limit: int = options.LIMIT,
    *,
    source_options: ClusterReading,
    writing: Writing,
    reporting: Reporting,
) -> None:
    """Find the itemsets many people hold, exactly. The result is [bold]not private[/bold].

    Say which by exactly one of --min-support, --min-count, --top or --itemsets.

    Examples
    --------
    discreet mine retail.dat --min-support 0.01

    discreet mine sales.csv --person customer --item product --top 100 -o patterns.csv

    discreet mine sales.parquet --person customer --item product --min-count 500 --lengths 2-3 --contains tea

    discreet mine sales.csv --person customer --item product --top 20 --hierarchy products.csv --level category

    discreet mine sqlite:///shop.db --query 'select customer, product from sales' --person customer --item
    product --top 20

    discreet mine --query "select customer, product from 'sales/*.parquet'" --person customer --item product
    --top 20
    """
    from ..baskets import generalised
    from ..exact import mine as find_patterns

    say_when_compiling()
    length_range = parse_length_range(lengths)
    if path := source_options.result_path():
        # The file would be read as baskets of words, without an error.
        raise MisuseError(f"{path} holds patterns or rules that were found already; `discreet rules` reads patterns.")
    reporting.check(source_options, writing, hierarchy)
    baskets = generalised(source_options.read_baskets(), hierarchy, level)
    with ProgressBar("mining") as bar:
        patterns = find_patterns(
            baskets,
            min_support=min_support,
            min_count=min_count,
            top=top,
            itemsets=None if itemsets is None else read_itemsets(itemsets, baskets),
            lengths=length_range,
            contains=parse_items(contains, baskets),
            excludes=parse_items(excludes, baskets),
            kind=kind,
            limit=limit,
            progress=bar,
        )
    writing.write(patterns)
    reporting.write(patterns, source_options)


@command(app)
def rules(
    min_support: str | None = pattern_option("min_support"),
    min_count: int | None = pattern_option("min_count"),
    min_confidence: float = options.option(
        "Rules with at least this confidence: the fraction of those on the left who hold the right side too.",
        options.WHAT,
        default=0.5,
        metavar="FRACTION",
        parser=options.parse_decimal_number,
    ),
    min_lift: float = options.option(
        "Rules with at least this lift, which is 1 by chance.",
        options.WHAT,
        default=0.0,
        metavar="NUMBER",
        parser=options.parse_decimal_number,
    ),
    sort: str = options.option(
        "Order rules by this measure, largest first; by p or p_adjusted, smallest first.",
        options.WHAT,
        default="confidence",
        metavar="MEASURE",
    ),
    top: int | None = options.option("Keep the first N rules, by --sort.", options.WHAT, metavar="N"),
    lengths: str | None = pattern_option("lengths"),
    antecedent: list[str] | None = options.ANTECEDENT,
    consequent: list[str] | None = options.CONSEQUENT,
    significance: float | None = options.option(
        "Rules that are significant at this level, such as 0.05, among all that were tested (p_adjusted).",
        options.WHAT,
        metavar="LEVEL",
        parser=options.parse_decimal_number,
    ),
    redundant: bool = options.option(
        "Keep rules that are no better than a more general one, or leave them out.", options.WHAT, default=True
    ),
    hierarchy: Path | None = options.HIERARCHY,
    level: str | None = pattern_option("level"),
    limit: int = options.LIMIT,
    *,
    source_options: ClusterReading,
    writing: Writing,
    reporting: Reporting,
) -> None:
    """Find association rules between the items of a person. The result is [bold]not private[/bold].

    FILE is data, with --min-support or --min-count, or patterns that `discreet mine` wrote.

    Examples
    --------
    discreet rules retail.dat --min-support 0.01 --min-confidence 0.5

    discreet rules sales.csv --person customer --item product --min-count 50 --sort lift --top 20

    discreet rules retail.dat --min-support 0.01 --consequent 39 --significance 0.05 --no-redundant

    discreet rules patterns.json --min-confidence 0.8 -o rules.csv    (patterns that `discreet mine` wrote)
    """
    from ..baskets import generalised
    from ..checks import parse_support
    from ..exact import rules as find_rules, threshold_of_rules

    say_when_compiling()
    length_range = parse_length_range(lengths)
    reporting.check(source_options, writing, hierarchy)
    if path := source_options.result_path():
        if not source_options.is_plain() or hierarchy is not None or level is not None:
            raise MisuseError(f"{path} holds patterns, which need no options to be read: leave those out.")
        patterns = _load_patterns(path)
        # A saved result holds the patterns above its own threshold; a higher threshold selects among them.
        if min_support is not None:
            # Supports of a saved result are binary fractions, so the exact number is compared as one.
            patterns = patterns.where(min_support=float(parse_support(min_support)))
        if min_count is not None:
            patterns = patterns.where(min_count=min_count)
        # Both have the vocabulary that turns texts of the command line into items.
        data: Patterns | AnyBaskets = patterns
        with ProgressBar("finding rules"):
            found_rules = patterns.rules(min_confidence=min_confidence, min_lift=min_lift, limit=limit)
    else:
        # Checked before the data are read, which may take minutes.
        threshold_of_rules(min_support, min_count)
        data = generalised(source_options.read_baskets(), hierarchy, level)
        with ProgressBar("mining") as bar:
            found_rules = find_rules(
                data,
                min_support=min_support,
                min_count=min_count,
                min_confidence=min_confidence,
                min_lift=min_lift,
                # A rule of 2 to 3 items comes of patterns of 1 to 3: its sides are patterns too.
                lengths=None if length_range is None else (1, length_range[1]),
                limit=limit,
                progress=bar,
            )
    found_rules = found_rules.where(
        antecedent=parse_items(antecedent, data),
        consequent=parse_items(consequent, data),
        lengths=length_range,
        significance=significance,
        redundant=redundant,
    ).sort(by=sort)
    if top is not None:
        # After the filters: the first N of the shown rules.
        found_rules = found_rules.top(top, by=sort)
    writing.write(found_rules)
    reporting.write(found_rules, source_options)


def _load_patterns(path: str) -> Patterns:
    from ..results import Rules, load_rows

    result = load_rows(path)
    if isinstance(result, Rules):
        raise MisuseError(f"{path} holds rules already; give the patterns or the data they came from.")
    return result


@command(app)
def relations(
    how: Literal["given", "after", "together"] | None = options.option(
        "What makes a pair.  \\[default: given with --pair, after with --time or --ordered, else together]",
        options.WHAT,
    ),
    items: int | None = options.number("Among the N items most people hold.  \\[default: all]", options.WHAT),
    support: int = options.number("Of the N relations most people hold.", options.WHAT, default=1600),
    top: int = options.number("The N with the largest confidence.", options.WHAT, default=32),
    longest: int = options.option(
        "3 for relations ((a, b), c) too.", options.WHAT, default=2, metavar="2|3", parser=options.parse_whole_number
    ),
    antecedent: list[str] | None = options.ANTECEDENT,
    consequent: list[str] | None = options.CONSEQUENT,
    sort: str = options.option(
        "Order relations by this measure, largest first.",
        options.WHAT,
        default="confidence",
        metavar="MEASURE",
    ),
    *,
    source_options: OrderedReading,
    writing: Writing,
    reporting: Reporting,
) -> None:
    """Find relations a → b: most holders of a have b after it, or with it. The result is [bold]not private[/bold].

    Examples
    --------
    discreet relations sales.csv --person customer --item product --time time --top 20

    discreet relations rules.csv --person user --pair trigger action -o relations.json

    discreet relations retail.dat --items 200 --sort lift --report relations.html
    """
    from ..exact import MERGED_NOTE, relations as find_relations

    source_options.check_is_data()
    reporting.check(source_options, writing)
    baskets = source_options.read_baskets()
    with ProgressBar("counting pairs"):
        found_relations = find_relations(baskets, how=how, items=items, support=support, top=top, longest=longest)
    # A person with several baskets holds the items of all of them.
    if baskets.has_receipts:
        say(MERGED_NOTE, err=True)
    found_relations = found_relations.where(
        antecedent=parse_items(antecedent, baskets), consequent=parse_items(consequent, baskets)
    ).sort(by=sort)
    writing.write(found_relations)
    reporting.write(found_relations, source_options)
