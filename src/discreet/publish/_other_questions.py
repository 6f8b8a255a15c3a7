"""The questions about relations and about scores, beside the question about patterns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from ..checks import parse_positive, parse_switch
from ..errors import Message, MisuseError, build_message, name_options
from ..privacy import Budget, exact, shown
from ._fields import told_field
from ._question import SMALLEST_EPSILON, BasketQuestion, PrivacyQuestion, documented

RANK_MECHANISMS = ("exponential", "laplace")
# Bounds that keep all noise below 2^54, and every released score within the range of a double.
LARGEST_SCORE = 10**60
MOST_LABELS = 100_000


@documented
@dataclass(frozen=True, kw_only=True)
class RelationQuestion(BasketQuestion):
    """The question of :func:`discreet.release_relations`: public values, without the data.

    FIELDS
    """

    top: int = told_field("The N relations most people have.", form="whole", metavar="N")
    how: Any = told_field(
        build_message(
            "What makes a pair: {given}, {after} or {together}. Left out, given where the data have pairs, after where "
            "they have an order, else together.",
            given=Message("``'given'``", "given"),
            after=Message("``'after'``", "after"),
            together=Message("``'together'``", "together"),
        ),
        choices=("given", "after", "together"),
    )
    among: int = told_field(
        "Among the N most frequent items.", default=40, form="whole", metavar="N", shows_default=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.top is None:
            raise MisuseError.format("Say how many relations are wanted: {top=20}.")
        self._set(top=parse_positive("top", self.top), among=parse_positive("among", self.among))


@documented
@dataclass(frozen=True, kw_only=True)
class RankQuestion(PrivacyQuestion):
    """The question of :func:`discreet.rank`: public values, without the scores.

    FIELDS
    """

    top: int = told_field("How many labels.", form="whole", metavar="N")
    sensitivity: Any = told_field(
        "By how much adding or removing one person can change any one score, at most. Nobody can tell that from "
        "the scores, so it has to be said. Scores are rounded down to thousandths of it.",
        metavar="NUMBER",
    )
    labels: Any = told_field(
        build_message(
            "The public list of labels: {given}, or {public} for those of the scores. A label without a score has 0, "
            "and scores of others are left out.",
            given=Message("a list", "a file with one per line"),
            public=Message("``'public'``", "'public'"),
        ),
        metavar="FILE|public",
    )
    monotone: bool = told_field(
        "One person more never lowers a score (or never raises one), as with counts. Labels are then chosen with "
        "half the noise; scores have half the noise where a person is replaced.",
        default=False,
        form="flag",
    )
    mechanism: Literal["exponential", "laplace"] = told_field(
        build_message(
            "How labels are chosen: {exponential} picks one after the other, {laplace} adds noise to all scores and "
            "takes the largest.",
            exponential=Message("``'exponential'``", "exponential"),
            laplace=Message("``'laplace'``", "laplace"),
        ),
        default="exponential",
        choices=RANK_MECHANISMS,
        shows_default=True,
    )
    counts: bool = told_field(
        build_message("Publish noisy scores too, or spend all on choosing{false}.", false=Message(" (False)", "")),
        default=True,
        form="switch",
        option="--scores/--no-scores",
        shows_default=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mechanism not in RANK_MECHANISMS:
            raise MisuseError.format(
                "{mechanism} is {ways}; {given!r} was given.",
                ways=" or ".join(map(repr, RANK_MECHANISMS)),
                given=self.mechanism,
            )
        for name in ("top", "sensitivity"):
            if getattr(self, name) is None:
                raise MisuseError.format("A ranking needs {option}.", option=name_options(name))
        # Exact, as the noise is scaled by it: a binary fraction may be a little too small.
        sensitivity = exact(self.sensitivity, "sensitivity")
        if sensitivity <= 0:
            raise MisuseError.format(
                "{sensitivity} is by how much one person can change a score, over 0; {given} was given.",
                given=shown(sensitivity),
            )
        if not Fraction(1, LARGEST_SCORE) <= sensitivity <= LARGEST_SCORE:
            raise MisuseError.format(
                "{sensitivity} lies between 10^-60 and 10^60: give scores and {sensitivity} in another unit."
            )
        if parse_positive("top", self.top) > MOST_LABELS:
            raise MisuseError.format(
                "{top} is at most {many:,} in a ranking; {given:,} was given.", many=MOST_LABELS, given=self.top
            )
        self._set(
            top=int(self.top),
            sensitivity=sensitivity,
            labels=_parse_labels(self.labels),
            monotone=parse_switch("monotone", self.monotone),
            counts=parse_switch(Message("counts", "--scores"), self.counts),
        )

    def checked_budget(self, budget: Budget) -> Budget:
        """Return the budget; a budget that leaves nothing to spend, or that looks like a slip, is an error."""
        super().checked_budget(budget)
        # Noise has to fit into 64 bits: see LARGEST_SCORE.
        if not SMALLEST_EPSILON <= budget.epsilon <= LARGEST_SCORE:
            raise MisuseError.format(
                "{epsilon} must lie between 0.000001 and 10^60 in a ranking; {given!s:.60} was given.",
                given=self.epsilon,
            )
        return self.spendable(budget)


def _parse_labels(labels: Any) -> Any:
    """Return the unique labels of a public list, or "public": public by declaration, never by default (X5)."""
    choices = build_message(
        "Say which labels there are: list them with {labels=}, also those that nobody has to do with; or declare with "
        "{labels='public'} that those of the scores are public knowledge."
    )
    if isinstance(labels, str) and labels == "public":
        return labels
    if labels is None:
        raise MisuseError.format(
            "A label that few people have to do with would give them away. {choices}", choices=choices
        )
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise MisuseError.format(
            "{labels} is a list; {given!r:.80} was given. {choices}", given=labels, choices=choices
        )
    try:
        # A label that is listed twice could be chosen twice.
        unique_labels = tuple(dict.fromkeys(labels))
    except TypeError:
        raise MisuseError.format("{labels} is a list of names or numbers. {choices}", choices=choices) from None
    if not unique_labels:
        raise MisuseError.format(
            "The list of labels is empty: there is nothing to choose from. {choices}", choices=choices
        )
    return unique_labels
