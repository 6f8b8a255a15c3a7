"""The commands for relations, what comes after what or with what: exactly, and under differential privacy."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import typer

from ..errors import MisuseError
from ..publish import RelationQuestion
from . import options
from ._asking import QuestionOptions, question_options
from ._delivery import Delivery, places_read
from ._groups import OrderedReading, Reporting, Writing, grouped, title_of
from ._ledger import tell_head
from ._parsing import labels
from ._progress import ProgressBar
from ._release import Paying
from ._terminal import say

app = typer.Typer()
RelationOptions = question_options(RelationQuestion)

HowOption: TypeAlias = Annotated[
    Literal["given", "after", "together"] | None,
    options.option(
        "What makes a pair.  \\[default: given with --pair, after with --time or --ordered, else together]",
        options.WHAT,
        "--how",
    ),
]


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet relations sales.csv --person customer --item product --time time --top 20\n\n"
    "discreet relations rules.csv --person user --pair trigger action -o relations.json\n\n"
    "discreet relations retail.dat --items 200 --sort lift --report relations.html"
)
@grouped
def relations(
    how: HowOption = None,
    items: Annotated[
        int | None,
        options.number("Among the N items most people hold.  \\[default: all]", options.WHAT),
    ] = None,
    support: Annotated[
        int,
        options.number("Of the N relations most people hold.", options.WHAT, show_default=True),
    ] = 1600,
    top: Annotated[
        int,
        options.number("The N with the largest confidence.", options.WHAT, show_default=True),
    ] = 32,
    longest: Annotated[
        int,
        options.option(
            "3 for relations ((a, b), c) too.",
            options.WHAT,
            metavar="2|3",
            parser=options.parse_whole_number,
            show_default=True,
        ),
    ] = 2,
    antecedent: options.Antecedent = None,
    consequent: options.Consequent = None,
    sort: options.SortRelationsBy = "confidence",
    *,
    reading: OrderedReading,
    writing: Writing,
    reporting: Reporting,
) -> None:
    """Find relations a → b: who holds a mostly has b after it, or with it. The result is [bold]not private[/bold]."""
    from ..exact import MERGED_NOTE, relations as find

    if file := reading.result():
        raise MisuseError(f"{file} holds patterns or rules that were found already: give the data they came from.")
    reporting.check(reading, writing)
    baskets = reading.baskets()
    with ProgressBar("counting pairs"):
        found = find(baskets, how=how, items=items, support=support, top=top, longest=longest)
    if baskets.several:
        say(MERGED_NOTE, err=True)
    found = found.where(antecedent=labels(antecedent, baskets), consequent=labels(consequent, baskets))
    found = found.sort(by=sort)
    writing.write(found)
    reporting.write(found, reading)


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet release-relations sales.csv --person customer --item product --time time --top 20 --epsilon 1 --items "
    "products.txt\n\n"
    "discreet release-relations clicks.csv --person user --item page --time at --top 50 --among 100 --epsilon 1 "
    "--delta 1e-6 --items public --ledger budget.db -o relations.json"
)
@grouped
def release_relations(
    *,
    asking: Annotated[QuestionOptions, RelationOptions],
    report: options.Report = None,
    title: options.Title = None,
    paying: Paying,
    reading: OrderedReading,
    writing: Writing,
) -> None:
    """Publish relations a → b, what many people have after or with what, under differential privacy.

    Say how many by --top, the privacy budget by --epsilon, and which items are public by --items.
    """
    question = asking.question()
    read = places_read(reading, paying.ledger, paying.anchor, *asking.files())
    delivery = Delivery(writing, report, title_of(title, reading.source), read, paying.ledger)
    baskets = paying.baskets(reading, None)
    from ..publish import Observer, answer_relations, build_relation_case

    case = build_relation_case(question, baskets)
    delivery.check([""])
    if not question.really and len(case.baskets.codes) and not len(case.listed.codes):
        raise MisuseError(
            "Nobody holds any of the items on the list. Nothing was spent. If it is really meant, say so with --really."
        )
    payer = paying.payer()
    with delivery.guarded():
        with ProgressBar("releasing"):
            made = answer_relations(case, payer=payer, observer=Observer(paid=delivery.paid))
        delivery.hand_over({"": made})
        tell_head(payer.ledger)
