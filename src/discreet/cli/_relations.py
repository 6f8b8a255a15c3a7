"""`discreet relations` and `discreet release-relations`: ordered pairs of items, exact or private."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ..errors import MisuseError
from ..publish import RelationQuestion
from . import options
from ._asking import QuestionOptions, question_options
from ._groups import OrderedReading, Reporting, Writing, command
from ._ledger import print_head
from ._parsing import parse_items
from ._progress import ProgressBar
from ._release import PaymentOptions
from ._terminal import say

app = typer.Typer()
RelationOptions = question_options(RelationQuestion)


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
    if baskets.several:
        say(MERGED_NOTE, err=True)
    found_relations = found_relations.where(
        antecedent=parse_items(antecedent, baskets), consequent=parse_items(consequent, baskets)
    ).sort(by=sort)
    writing.write(found_relations)
    reporting.write(found_relations, source_options)


@command(app)
def release_relations(
    *,
    question_form: Annotated[QuestionOptions, RelationOptions],
    report: Path | None = options.REPORT,
    title: str | None = options.TITLE,
    paying: PaymentOptions,
    source_options: OrderedReading,
    writing: Writing,
) -> None:
    """Publish relations a → b between items of one person, under differential privacy.

    Give their number by --top, the privacy budget by --epsilon, and which items are public by --items.

    Examples
    --------
    discreet release-relations sales.csv --person customer --item product --time time --top 20 --epsilon 1
    --items products.txt

    discreet release-relations clicks.csv --person user --item page --time at --top 50 --among 100 --epsilon 1
    --delta 1e-6 --items public --ledger budget.db -o relations.json
    """
    question = question_form.question()
    delivery = paying.build_delivery(writing, report, title, source_options, *question_form.paths())
    baskets = paying.read_baskets(source_options, None)
    from ..publish import Observer, answer_relations, build_relation_case

    case = build_relation_case(question, baskets)
    delivery.check([""])
    if not question.really and len(case.baskets.codes) and not len(case.listed.codes):
        raise MisuseError(
            "Nobody holds any of the items on the list. Nothing was spent. If it is really meant, say so with --really."
        )
    payer = paying.open_payer()
    with delivery.guard():
        with ProgressBar("releasing"):
            release = answer_relations(case, payer=payer, observer=Observer(paid=delivery.keep_receipt))
        delivery.write({"": release})
        print_head(payer.ledger)
