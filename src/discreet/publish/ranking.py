"""Ranking anything by private scores: the general form of section 5 of Bhaskar et al. (2010).

Patterns are ranked by how many people hold them; here the labels and their scores are yours, and you say by how much
one person can change a score. Not a mechanism of the registry, as no baskets come in. The proof is in `rank.md`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..baskets.recoding import as_items, public_fact
from ..checks import as_written, is_whole, positive, switch
from ..curator.steps.itemset_choice import slack
from ..errors import Message, MisuseError, told
from ..exact.engine import Engine, Listed
from ..exact.query import Query, Sensitivity
from ..privacy.budget import Budget, Neighbours, Relation, exact, serious, shown
from ..privacy.guarantee import Guarantee
from ..privacy.meter import Meter
from ..privacy.sampling.sources import Source, SystemSource
from ..privacy.sealed import SealedEngine
from ..wording import Rendered, hinted, number_of, printable
from .payment import ledger_of, pay, price

if TYPE_CHECKING:
    from os import PathLike

    from rich.console import Group

    from ..privacy.ledger.ledger import Ledger

Score: TypeAlias = int | str | float | Fraction | Decimal
I64 = NDArray[np.int64]

# Scores are rounded down to multiples of the sensitivity divided by this: a public grid, and finer than any noise.
FINENESS = 1_000
# Scores are cut at so many steps of the grid.
FARTHEST = 2**61
# The share that chooses where scores are shown too, and the probability with which the promise may fail.
SELECTING = Fraction(1, 2)
DOUBT = Fraction(1, 10)

_CHOOSE = "choosing the labels"
_MEASURE = "measuring their scores"
_WAYS = ("exponential", "laplace")
# Bounds that keep all noise below 2^54 and all that is said within what a number of the machine holds.
_SMALLEST = Fraction(1, 10**6)
_LARGEST = 10**60
_MOST = 100_000


@dataclass(frozen=True, kw_only=True)
class Ranking(Rendered):
    """What :func:`discreet.rank` returns: the labels of the largest scores, as far as privacy allows.

    Parameters
    ----------
    labels
        The labels: by falling noisy score, or in the order they were chosen where no scores are shown.
    scores, low, high
        The noisy score of each, and a 95 % interval for the true one; None where only labels were asked for.
    gamma
        A distance from the score of the last label of the true top. With a probability of at least 90 %, no label here
        scores more than this below it, and every label that scores more than this above it is here.
    eta
        With a probability of at least 90 %, no score here is off by more than this.
    guarantee
        What is promised: the budget, which the noise that was really added keeps within, and what it rests on.
    mechanism
        How the labels were chosen.
    simulated
        Whether the noise came from a seeded source: then this is a trial, and nothing was promised to anyone.
    """

    labels: tuple[Hashable, ...]
    scores: tuple[float, ...] | None
    low: tuple[float, ...] | None
    high: tuple[float, ...] | None
    gamma: float
    eta: float | None
    guarantee: Guarantee
    mechanism: str
    simulated: bool = False

    def __len__(self) -> int:
        return len(self.labels)

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False)
        columns = [column for column in (self.scores, self.low, self.high) if column is not None]
        table.add_column("label", overflow="fold")
        for name in ("score", "low", "high")[: len(columns)]:
            table.add_column(name, justify="right")
        for place, label in enumerate(self.labels):
            table.add_row(Text(printable(str(label))), *(f"{column[place]:,.6g}" for column in columns))
        return Group(Text(str(self.guarantee)), table)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "labels": list(self.labels),
            "scores": None if self.scores is None else list(self.scores),
            "low": None if self.low is None else list(self.low),
            "high": None if self.high is None else list(self.high),
            "gamma": self.gamma,
            "eta": self.eta,
            "mechanism": self.mechanism,
            "guarantee": self.guarantee.to_dict(),
            "simulated": self.simulated,
        }

    def digest(self) -> str:
        """Return a hash of everything that is released, by which a ledger knows this ranking."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True, default=str).encode()).hexdigest()


@dataclass(frozen=True)
class Entries(Query):
    """The scores at some places of a table, in steps of the grid."""

    places: tuple[int, ...]
    step: int
    one_way: bool

    @property
    def cells(self) -> int:
        """One number a place."""
        return len(self.places)

    def sensitivity(self, baskets: int = 1) -> Sensitivity:
        """Return that each score may move by a step.

        Where scores move both ways, the one who goes and the one who comes may move each in the same direction; and as
        entries may be negative, the squares of two need not add up.
        """
        if baskets != 1:
            raise MisuseError("Scores say themselves how far one person moves them: there are no baskets here.")
        replaced = self.step if self.one_way else 2 * self.step
        return Sensitivity(
            l1=self.cells * self.step,
            squared_l2=self.cells * self.step**2,
            linf=self.step,
            l1_replace=self.cells * replaced,
            squared_l2_replace=self.cells * replaced**2,
        )

    @property
    def monotone(self) -> bool:
        """As was said of the scores."""
        return self.one_way


class ScoreTable(Engine):
    """An engine that holds scores instead of baskets."""

    def __init__(self, scores: I64) -> None:
        self.scores = scores
        self.items = len(scores)

    def answer(self, query: Query) -> I64:
        """Look scores up."""
        if not isinstance(query, Entries):
            raise MisuseError(f"A table of scores cannot answer {type(query).__name__}.")
        return self.scores[list(query.places)]

    def above(self, bound: int, least: int, longest: int, limit: int) -> Listed:
        """Refuse: there are no itemsets here."""
        raise MisuseError("A table of scores has no itemsets.")


@dataclass(frozen=True, kw_only=True, eq=False)
class Contest:
    """A checked question, ready to be carried out."""

    labels: tuple[Hashable, ...]
    how: str
    scores: I64
    top: int
    budget: Budget
    neighbours: Neighbours
    grid: Fraction
    monotone: bool
    way: Literal["exponential", "laplace"]
    counts: bool

    def plan(self) -> list[tuple[str, Fraction]]:
        """Return what the budget is spent on, as shares by name."""
        if not self.counts:
            return [(_CHOOSE, Fraction(1))]
        return [(_CHOOSE, SELECTING), (_MEASURE, 1 - SELECTING)]

    @property
    def assumption(self) -> str:
        """What the noise is measured by, and has to be true of the scores."""
        least = ", and one person more never lowers a score, or never raises one" if self.monotone else ""
        return f"one person changes no score by more than {shown(self.grid * FINENESS)}{least}"

    def query(self, places: tuple[int, ...]) -> Entries:
        """Return the question for the scores at some places."""
        return Entries(places, FINENESS, self.monotone)

    def left(self, ledger: str | PathLike[str] | Ledger) -> Fraction:
        """Return the epsilon a ledger would have left; a budget it does not have is an error, as it would be then."""
        return ledger_of(ledger).check(**vars(price(self.budget, self.neighbours)), baskets=None).epsilon_left


@hinted
def rank(
    scores: Mapping[Any, Score],
    *,
    top: int,
    epsilon: Any,
    delta: Any = 0,
    sensitivity: Any,
    labels: Iterable[Any] | Literal["public"] | None = None,
    monotone: bool = False,
    mechanism: Literal["exponential", "laplace"] = "exponential",
    counts: bool = True,
    neighbours: Relation = "add-remove",
    really: bool = False,
    ledger: str | PathLike[str] | Ledger | None = None,
    who: str = "",
) -> Ranking:
    """Choose the labels with the largest scores, under central differential privacy.

    Privacy: the unit is the person; labels and noisy scores together are (epsilon, delta)-differentially private, if
    one person changes no score by more than the sensitivity. See :doc:`/release`.

    Parameters
    ----------
    scores
        A score for each label: whole numbers, fractions such as ``"1/3"``, decimal numbers.
    top
        How many labels are wanted.
    epsilon, delta
        The budget, as exact numbers. With a delta over 0 it is kept by zCDP.
    sensitivity
        By how much adding or removing one person can change any one score, at most. Nobody can tell that from the
        scores, so it has to be said. Scores are rounded down to thousandths of it.
    labels
        Which labels there are, as a public list; one without a score has 0, and scores of others are left out. Or
        ``"public"``: declares that those of `scores` are public knowledge, whoever is or is not in the data.
    monotone
        Says that adding a person never lowers a score (or never raises one), as with counts. Labels are then chosen
        with half the noise. Scores have half the noise where a person is replaced.
    mechanism
        ``"exponential"`` picks one label after the other; ``"laplace"`` adds noise to all scores and takes the largest.
    counts
        False for the labels alone: all of the budget then goes into choosing them.
    neighbours
        ``"add-remove"``, or ``"replace"``: labels are then chosen with twice the noise, and scores that move
        both ways have twice the noise too.
    really
        Allows an epsilon over 20, or a delta over 0.001, which otherwise count as slips.
    ledger, who
        The account that pays, and who asks. It is written before anything is computed.

    Returns
    -------
    Ranking

    Examples
    --------
    >>> import discreet
    >>> minutes = {"north": 48_210, "east": 30_922, "south": 21_007, "west": 1_204}
    >>> best = discreet.rank(minutes, top=2, epsilon=1, sensitivity=60, monotone=True, labels="public")
    >>> sorted(best.labels), best.guarantee.epsilon
    (['east', 'north'], Fraction(1, 1))
    """
    contest = prepare(
        scores,
        top=top,
        epsilon=epsilon,
        delta=delta,
        sensitivity=sensitivity,
        labels=labels,
        monotone=monotone,
        mechanism=mechanism,
        counts=counts,
        neighbours=neighbours,
        really=really,
    )
    record = pay(
        ledger,
        price(contest.budget, contest.neighbours),
        what="rank",
        parameters={
            "top": contest.top,
            "labels": len(contest.labels),
            "sensitivity": str(contest.grid * FINENESS),
            "monotone": contest.monotone,
            "mechanism": contest.way,
            "counts": contest.counts,
        },
        who=who,
        baskets=None,
    )
    ranking = carry_out(contest, SystemSource())
    record(ranking.digest())
    return ranking


def prepare(
    scores: Mapping[Any, Score],
    *,
    top: int,
    epsilon: Any,
    delta: Any = 0,
    sensitivity: Any,
    labels: Any = None,
    monotone: bool = False,
    mechanism: str = "exponential",
    counts: bool = True,
    neighbours: str = "add-remove",
    really: bool = False,
) -> Contest:
    """Check a question and put its scores on the grid. Nothing is spent here."""
    budget = serious(Budget.of(epsilon, delta), switch("really", really))
    if not _SMALLEST <= budget.epsilon <= _LARGEST:
        raise MisuseError(
            told("{epsilon} must lie between 0.000001 and 10^60 in a ranking; {given!s:.60} was given.", given=epsilon)
        )
    if not budget.pure and budget.rho == 0:
        raise MisuseError(f"With a delta of {delta}, an epsilon of {epsilon} leaves nothing to spend: raise either.")
    relation = Neighbours.typed(neighbours)
    if mechanism not in _WAYS:
        raise MisuseError(
            told("{mechanism} is {ways}; {given!r} was given.", ways=" or ".join(map(repr, _WAYS)), given=mechanism)
        )
    most = exact(sensitivity, "sensitivity")
    if most <= 0:
        raise MisuseError(
            told(
                "{sensitivity} is by how much one person can change a score, over 0; {given} was given.",
                given=shown(most),
            )
        )
    if not Fraction(1, _LARGEST) <= most <= _LARGEST:
        raise MisuseError(
            told("{sensitivity} lies between 10^-60 and 10^60: give scores and {sensitivity} in another unit.")
        )
    if not isinstance(scores, Mapping) or (not scores and isinstance(labels, str | None)):
        # What was given may be scores, which are private: its type has to do.
        what = (
            "there is none" if isinstance(scores, Mapping) else f"what was given is of the type {type(scores).__name__}"
        )
        raise MisuseError(f"scores is a score for each label, such as {{'north': 48, 'south': 21}}; {what}.")
    named, how = _labels(labels, scores)
    if positive("top", top) > len(named):
        there = f"{'are' if len(named) > 1 else 'is'} only {number_of(len(named), 'label')}"
        raise MisuseError(
            told("{top} is {given:,}, but there {there}: ask for at most so many.", given=top, there=there)
        )
    if top > _MOST:
        raise MisuseError(told("{top} is at most {many:,} in a ranking; {given:,} was given.", many=_MOST, given=top))
    grid = most / FINENESS
    return Contest(
        labels=named,
        how=how,
        scores=np.array([_on_grid(label, _score(scores, label), grid) for label in named], np.int64),
        top=int(top),
        budget=budget,
        neighbours=relation,
        grid=grid,
        monotone=switch("monotone", monotone),
        way="laplace" if mechanism == "laplace" else "exponential",
        counts=switch(Message("counts", "--scores"), counts),
    )


def _labels(labels: Any, scores: Mapping[Any, Score]) -> tuple[tuple[Hashable, ...], str]:
    """Return which labels there are, and how that came to be public: by declaration, never by default (X5)."""
    choices = told(
        "Say which labels there are: list them with {labels=}, also those that nobody has to do with; or declare with "
        "{labels='public'} that those of the scores are public knowledge."
    )
    if isinstance(labels, str) and labels == "public":
        return tuple(scores), "as given with the scores"
    if labels is None:
        raise MisuseError(
            told("A label that few people have to do with would give them away. {choices}", choices=choices)
        )
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise MisuseError(told("{labels} is a list; {given!r:.80} was given. {choices}", given=labels, choices=choices))
    try:
        listed = tuple(dict.fromkeys(labels))
    except TypeError:
        raise MisuseError(told("{labels} is a list of names or numbers. {choices}", choices=choices)) from None
    if not listed:
        raise MisuseError(
            told("The list of labels is empty: there is nothing to choose from. {choices}", choices=choices)
        )
    return listed, "as declared"


def _score(scores: Mapping[Any, Score], label: Any) -> Score:
    """Return the score of a label; whether labels are numbers or text is for the list to say."""
    if label in scores:
        return scores[label]
    other = str(label) if is_whole(label) else as_items([label])[0] if isinstance(label, str) else label
    return scores.get(other, 0)


def met(labels: Iterable[Any], scores: Mapping[Any, Score]) -> bool:
    """Say whether any of these labels has a score: for the curator alone, before anything is paid for."""
    known = set(map(str, scores))
    return not known or any(str(label) in known for label in labels)


def _on_grid(label: Any, score: Any, grid: Fraction) -> int:
    """Return a score in steps of the grid, rounded down. The grid is public: that of the scores would tell of them."""
    number = as_written(score)
    if number is None:
        # The score itself is private, and stays out of the message.
        raise MisuseError(
            f"The score of {label!r} is not a number: a score is a whole number, a fraction such as '1/3' or a decimal "
            "number such as '0.25'."
        )
    if isinstance(number, Decimal):
        # Numbers that are certainly cut, or certainly within a step of 0, come to the same as below, but are never
        # written out: they may have a billion digits.
        if number == 0:
            return 0
        if number.adjusted() > ceil(FARTHEST * grid).bit_length():
            return FARTHEST if number > 0 else -FARTHEST
        if number.adjusted() < -grid.denominator.bit_length():
            return 0 if number > 0 else -1
    return int(max(-FARTHEST, min(FARTHEST, Fraction(number) // grid)))


def carry_out(contest: Contest, source: Source) -> Ranking:
    """Choose, measure, and say what is promised; with a seeded source the result is marked as simulated."""
    meter = Meter(contest.budget, contest.neighbours, source)
    choosing = dict(contest.plan())[_CHOOSE]
    table = SealedEngine(ScoreTable(contest.scores))
    scores = table.answer(contest.query(tuple(range(len(contest.labels)))))
    rate = meter.rate(contest.top, choosing, contest.way, monotone=contest.monotone, step=FINENESS)
    # Rounding down moves a score by less than one step of the grid: hence one more in every promise.
    gamma = slack(contest.way, contest.top, len(contest.labels), DOUBT, rate) + 1
    chosen = meter.choose(_CHOOSE, scores, contest.top, choosing, contest.way)
    values = margin = eta = None
    if contest.counts:
        noisy = meter.count(_MEASURE, table, contest.query(chosen), meter.left)
        order = np.argsort(-noisy.values, kind="stable")
        chosen = tuple(chosen[place] for place in order.tolist())
        values, margin = noisy.values[order].tolist(), noisy.margin()
        eta = noisy.margin(1 - float(DOUBT) / contest.top) + 1

    def spoken(steps: list[int] | None, shift: int = 0) -> tuple[float, ...] | None:
        return None if steps is None else tuple(float((step + shift) * contest.grid) for step in steps)

    guarantee = Guarantee.of(
        contest.budget,
        meter.charges,
        neighbours=contest.neighbours,
        public=(public_fact(len(contest.labels), "label", contest.how),),
        assumed=(contest.assumption,),
    )
    return Ranking(
        labels=tuple(contest.labels[place] for place in chosen),
        scores=spoken(values),
        low=spoken(values, -(margin or 0)),
        high=spoken(values, (margin or 0) + 1),
        gamma=float(gamma * contest.grid),
        eta=None if eta is None else float(eta * contest.grid),
        guarantee=guarantee,
        mechanism=contest.way,
        simulated=meter.simulated,
    )
