"""The options that commands share, each written once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from ..results import ROW_FORMATS, Relation
from ._numbers import real, whole

DATA = "How to read the data"
WHAT = "What to find"
OUT = "Where the result goes"
HOW = "How it is done"

# What may be typed for an option; the parser refuses anything else.
if TYPE_CHECKING:
    Format: TypeAlias = str
    ForecastFormat: TypeAlias = str
else:
    Format = Literal[("table", *ROW_FORMATS)]
    ForecastFormat = Literal[("table", *ROW_FORMATS, "svg")]
PatternKind: TypeAlias = Literal["all", "closed", "maximal"]
LabelKind: TypeAlias = Literal["numbers", "names"]
Nulls: TypeAlias = Literal["error", "drop"]
PageFormat: TypeAlias = Literal["table", "json"]


File = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        show_default=False,
        help="The data: .dat .txt .csv .tsv .jsonl .parquet .feather (also .gz .bz2 .xz .zst .zip) or .xlsx. Several "
        "files, a folder or 'sales-*.csv' are one table. With --input-format, - is standard input. With --query, a "
        "database: sqlite:///shop.db, postgresql://host/shop, shop.duckdb.",
    ),
]
Person = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that says whose row it is; a person's rows become one basket, unless --basket parts them.",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
BasketColumn = Annotated[
    str | None,
    typer.Option(
        "--basket",
        metavar="COLUMN",
        help="The column that tells a person's baskets apart, such as a receipt: counts are then of baskets. Relations "
        "are of people all the same.",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
ItemColumn = Annotated[
    str | None,
    typer.Option(
        "--item", metavar="COLUMN", help="The column with the item.", rich_help_panel=DATA, show_default=False
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that orders a person's rows, for relations in time.",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
Pair = Annotated[
    tuple[str, str] | None,
    typer.Option(
        metavar="COLUMN COLUMN",
        help="Two columns, with --item or without: each row gives its person a pair of items.",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
Ordered = Annotated[
    bool,
    typer.Option(
        "--ordered",
        help="Items are in order, in text with one basket per line or in lists; for relations in time.",
        rich_help_panel=DATA,
    ),
]
Query = Annotated[
    str | None,
    typer.Option(
        metavar="SQL", help="A query whose result is the table to read.", rich_help_panel=DATA, show_default=False
    ),
]
InputFormat = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Read FILE as this format, whatever its suffix.", rich_help_panel=DATA, show_default=False
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="CHARACTER",
        help="What stands between the fields of CSV, such as ; or tab.  \\[default: as line 1 has it]",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How text is encoded, such as windows-1252.  \\[default: by its mark, else utf-8]",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
LabelsOption = Annotated[
    LabelKind | None,
    typer.Option(
        "--labels",
        help="Whether items are numbers or names.  \\[default: as the first line has them]",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
NamesFile = Annotated[
    Path | None,
    typer.Option(
        "--names",
        metavar="FILE",
        help="What the items are called, where they are codes: a table of codes and names. It is public.",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
SameNames = Annotated[
    Literal["apart", "merge"] | None,
    typer.Option(
        "--same-names",
        help="Whether codes of one name are different items or one.  \\[default: apart]",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
MaxItems = Annotated[
    int | None,
    typer.Option(
        parser=whole,
        metavar="N",
        help="Keep at most N items of a basket, chosen at random.",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        parser=whole,
        metavar="N",
        help="Makes the choice of --max-items repeatable.",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
Memory = Annotated[
    str,
    typer.Option(
        metavar="SIZE",
        help="How much memory to use. Beyond it, grouping a table goes to disk, and more baskets than fit are refused.",
        rich_help_panel=DATA,
    ),
]
NullsOption = Annotated[
    Nulls, typer.Option("--nulls", help="What to do with rows that name no person.", rich_help_panel=DATA)
]

EngineOption = Annotated[
    Literal["spark"] | None,
    typer.Option(
        help="Let Spark read the data and count, where they outgrow this machine (pip install 'discreet\\[spark]').",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Where Spark runs: spark://host:7077, yarn, local\\[4].  \\[default: as Spark is configured]",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
Remote = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="A server of Spark Connect: sc://host:15002.",
        rich_help_panel=DATA,
        show_default=False,
    ),
]

MinSupport = Annotated[
    str | None,
    typer.Option(
        metavar="FRACTION",
        help="Patterns that at least this fraction of people hold, such as 0.01.",
        rich_help_panel=WHAT,
        show_default=False,
    ),
]
MinCount = Annotated[
    int | None,
    typer.Option(
        parser=whole,
        metavar="N",
        help="Patterns that at least N people hold.",
        rich_help_panel=WHAT,
        show_default=False,
    ),
]
Top = Annotated[
    int | None,
    typer.Option(
        parser=whole, metavar="N", help="The N patterns most people hold.", rich_help_panel=WHAT, show_default=False
    ),
]
Itemsets = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Count just the itemsets in this file, one per line: items between commas or tabs, or a JSON list.",
        rich_help_panel=WHAT,
        show_default=False,
    ),
]
Lengths = Annotated[
    str | None,
    typer.Option(
        metavar="N|N-M",
        help="How many items a pattern has: 3, 2-4, or 2- for two and more.",
        rich_help_panel=WHAT,
        show_default=False,
    ),
]
Contains = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ITEM",
        help="An item every pattern must have. Can be given again.",
        rich_help_panel=WHAT,
        show_default=False,
    ),
]
Excludes = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ITEM",
        help="An item no pattern may have. Can be given again.",
        rich_help_panel=WHAT,
        show_default=False,
    ),
]
HierarchyFile = Annotated[
    Path | None,
    typer.Option(
        "--hierarchy",
        metavar="FILE",
        help="A table of which item stands below which: patterns are then across levels. It is public.",
        rich_help_panel=WHAT,
        show_default=False,
    ),
]
LevelOption = Annotated[
    str | None,
    typer.Option(
        "--level",
        metavar="NAME|N",
        help="With --hierarchy: patterns of this level alone, such as category, or 1 for right above items.",
        rich_help_panel=WHAT,
        show_default=False,
    ),
]
KindOption = Annotated[
    PatternKind,
    typer.Option("--kind", help="All patterns, or only the closed or the maximal ones.", rich_help_panel=WHAT),
]
Limit = Annotated[
    int, typer.Option(parser=whole, metavar="N", help="Stop when there are more than N.", rich_help_panel=WHAT)
]
MinConfidence = Annotated[
    float,
    typer.Option(
        parser=real,
        metavar="FRACTION",
        help="Rules with at least this confidence: the fraction of those on the left who hold the right side too.",
        rich_help_panel=WHAT,
    ),
]
MinLift = Annotated[
    float,
    typer.Option(
        parser=real,
        metavar="NUMBER",
        help="Rules with at least this lift, which is 1 by chance.",
        rich_help_panel=WHAT,
    ),
]
Antecedent = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ITEM",
        help="An item every rule must have on its left. Can be given again.",
        rich_help_panel=WHAT,
        show_default=False,
    ),
]
Consequent = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ITEM",
        help="An item every rule must have on its right. Can be given again.",
        rich_help_panel=WHAT,
        show_default=False,
    ),
]
Significance = Annotated[
    float | None,
    typer.Option(
        parser=real,
        metavar="LEVEL",
        help="Rules that are significant at this level, such as 0.05, among all that were tested (p_adjusted).",
        rich_help_panel=WHAT,
        show_default=False,
    ),
]
Redundant = Annotated[
    bool,
    typer.Option(
        help="Keep rules that are no better than a more general one, or leave them out.", rich_help_panel=WHAT
    ),
]
SortBy = Annotated[
    str,
    typer.Option(
        "--sort",
        metavar="MEASURE",
        help="Order rules by this measure, largest first; by p or p_adjusted, smallest first.",
        rich_help_panel=WHAT,
    ),
]
SortRelationsBy = Annotated[
    str,
    typer.Option(
        "--sort", metavar="MEASURE", help="Order relations by this measure, largest first.", rich_help_panel=WHAT
    ),
]
TopRules = Annotated[
    int | None,
    typer.Option(
        "--top", metavar="N", help="Keep the first N rules, by --sort.", rich_help_panel=WHAT, show_default=False
    ),
]

_FORMAT = typer.Option(
    "--format",
    help="How to write the result.  \\[default: by the suffix of -o, else table]",
    rich_help_panel=OUT,
    show_default=False,
)
FormatOption = Annotated[Format | None, _FORMAT]
ForecastFormatOption = Annotated[ForecastFormat | None, _FORMAT]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write to this file instead of the terminal.",
        rich_help_panel=OUT,
        show_default=False,
    ),
]

AssumeMalicious = Annotated[
    str | None,
    typer.Option(
        "--assume-malicious",
        metavar="PART",
        help="Widen intervals to hold whatever this part of each round's reports says: 1%, 0.01.  \\[default: 0%]",
        rich_help_panel=HOW,
        show_default=False,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A setting of the mechanism or protocol. Can be given again.",
        rich_help_panel=HOW,
        show_default=False,
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(metavar="FILE.html", help="Also write a report to send on.", rich_help_panel=OUT, show_default=False),
]
PlainTitle = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="The title of the report.", rich_help_panel=OUT, show_default=False),
]
Title = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="The title of the report.  \\[default: with FILE's name]",
        rich_help_panel=OUT,
        show_default=False,
    ),
]
Segments = Annotated[
    list[str] | None,
    typer.Option(
        "--segment",
        metavar="VALUE",
        help="One value of --by, for a public list of them. Can be given again.",
        rich_help_panel=HOW,
        show_default=False,
    ),
]
Really = Annotated[
    bool,
    typer.Option(
        "--really",
        help="Go on although it looks like a slip: an epsilon over 20, a delta over 0.001 or over one in --people, or "
        "a list of items that nobody holds any of.",
    ),
]
OneRow = Annotated[
    bool,
    typer.Option(
        "--one-row-a-person",
        help="Every row is the whole basket of one person, whatever stands beside the items.",
        rich_help_panel=DATA,
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be spent, and spend nothing.", rich_help_panel=HOW)
]
RelationOption = Annotated[
    Relation,
    typer.Option("--neighbours", help="Neighbours differ by adding or removing one person, or by replacing one."),
]
ViewOption = Annotated[PageFormat, typer.Option("--format", help="How to show it.")]
QuestionFile = Annotated[
    Path | None,
    typer.Option(
        "--question",
        metavar="FILE.toml",
        help="A file with the question, as --print-question writes it. Options that are typed go before it.",
        show_default=False,
    ),
]
PrintQuestion = Annotated[
    bool | None,
    typer.Option(
        "--print-question", help="Print the question as a file has it, and do nothing else.", show_default=False
    ),
]
