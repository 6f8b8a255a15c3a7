"""Ranking anything by private scores: the general form of section 5 of Bhaskar et al. (2010).

Patterns are ranked by how many people hold them; here the labels and their scores are yours, and you say by how much
one person can change a score. Not a mechanism of the registry, as no baskets come in. The proof is in `rank.md`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from ..baskets import as_items, public_fact
from ..checks import is_whole, parse_number
from ..curator.steps import slack
from ..errors import MisuseError
from ..exact import Engine, Listed, Query, Sensitivity
from ..privacy import Guarantee, Meter, Relation, SealedEngine, shown
from ..results import Provenance, Result, promised_texts, read_fields
from ..wording import number_of, printable
from ._door import Steps, answer
from ._keywords import Keywords, asks
from ._other_questions import RankQuestion
from ._question import OfQuestion

if TYPE_CHECKING:
    from os import PathLike

    import pyarrow as pa
    from rich.console import Group

    from ..privacy.ledger import Ledger

Score: TypeAlias = int | str | float | Fraction | Decimal
I64 = NDArray[np.int64]

# Scores are rounded down to multiples of the sensitivity divided by this: a public grid, and finer than any noise.
FINENESS = 1_000
# Scores are cut at so many steps of the grid.
FARTHEST = 2**61
# The share that chooses where scores are shown too, and the probability with which the promise may fail.
SELECTING = Fraction(1, 2)
DOUBT = Fraction(1, 10)

_NUMBERS = ("scores", "low", "high")  # the columns of a ranking beside its labels
_CHOOSE = "choosing the labels"
_MEASURE = "measuring their scores"


@dataclass(frozen=True, kw_only=True, repr=False)
class Ranking(Result):
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

    FORM: ClassVar[str] = "ranking/1"
    NOUN: ClassVar[str] = "a ranking"

    labels: tuple[Hashable, ...]
    scores: tuple[float, ...] | None
    low: tuple[float, ...] | None
    high: tuple[float, ...] | None
    gamma: float
    eta: float | None
    guarantee: Guarantee
    mechanism: str
    simulated: bool = False

    @property
    def provenance(self) -> Provenance:
        """What was promised, and how the labels were chosen."""
        return Provenance(guarantee=self.guarantee.stated(), simulated=self.simulated, mechanism=self.mechanism)

    def _rich(self, rows: int | None) -> Group:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False)
        columns = [column for column in (self.scores, self.low, self.high) if column is not None]
        table.add_column("label", overflow="fold")
        for name in ("score", "low", "high")[: len(columns)]:
            table.add_column(name, justify="right")
        for place, label in enumerate(self.labels[:rows]):
            table.add_row(Text(printable(str(label))), *(f"{column[place]:,.6g}" for column in columns))
        return Group(Text(str(self.guarantee)), table)

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table: `label`, and where scores are shown `score`, `low`, `high`."""
        import pyarrow as pa

        numeric = all(is_whole(label) for label in self.labels)
        names = pa.array(self.labels, pa.int64()) if numeric else pa.array(map(str, self.labels), pa.large_string())
        columns = zip(("score", "low", "high"), (self.scores, self.low, self.high), strict=True)
        shown_columns = {name: pa.array(column, pa.float64()) for name, column in columns if column is not None}
        return pa.table({"label": names} | shown_columns)

    def cell_table(self) -> pa.Table:
        """Return the table as cells; every row repeats what was promised, as tables of releases do."""
        import pyarrow as pa

        table = super().cell_table()
        for name, value in promised_texts(self.provenance).items():
            table = table.append_column(name, pa.array([value] * len(self), pa.large_string()))
        return table.append_column("simulated", pa.array([self.simulated] * len(self)))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; a label that is neither a whole number nor a text becomes a text."""
        labels = [int(str(label)) if is_whole(label) else str(label) for label in self.labels]
        columns = {name: None if (one := getattr(self, name)) is None else list(one) for name in _NUMBERS}
        rest = {"labels": labels, **columns, "guarantee": self.guarantee.to_dict()}
        return {"discreet": self.FORM, **vars(self), **rest}

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Self:
        labels = tuple(values["labels"])
        if not all(is_whole(label) or isinstance(label, str) for label in labels):
            raise ValueError("labels must be whole numbers or texts")
        made = read_fields(cls, values, labels=labels)
        if any(column is not None and len(column) != len(labels) for column in map(values.get, _NUMBERS)):
            raise ValueError("it has not one number for each label")
        return made

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
class Contest(OfQuestion):
    """A question for a ranking with the scores it is asked about, checked and ready to be carried out.

    Parameters
    ----------
    question
        The question as it was asked.
    labels, source
        The public labels, and how it comes that they are public.
    scores
        The score of each label, in steps of the grid.
    """

    question: RankQuestion
    labels: tuple[Hashable, ...]
    source: str
    scores: I64

    @property
    def grid(self) -> Fraction:
        """The step of the grid on which scores lie: public, as that of the scores would tell of them."""
        step: Fraction = self.question.sensitivity / FINENESS
        return step

    @property
    def discovery_delta(self) -> Fraction:
        """No part of delta finds labels: they are public."""
        return Fraction(0)

    @property
    def ledger_entry(self) -> tuple[str, Mapping[str, Any]]:
        """The name and the parameters under which a ledger records the spend."""
        return "rank", {
            "top": self.question.top,
            "labels": len(self.labels),
            "sensitivity": str(self.question.sensitivity),
            "monotone": self.question.monotone,
            "mechanism": self.question.mechanism,
            "counts": self.question.counts,
        }

    def steps(self) -> Steps:
        """Return the shares of the budget by the name of the step that spends them."""
        if not self.question.counts:
            return [(_CHOOSE, Fraction(1))]
        return [(_CHOOSE, SELECTING), (_MEASURE, 1 - SELECTING)]

    @property
    def assumption(self) -> str:
        """What the noise is measured by, and has to be true of the scores."""
        least = ", and one person more never lowers a score, or never raises one" if self.question.monotone else ""
        return f"one person changes no score by more than {shown(self.question.sensitivity)}{least}"

    def query(self, places: tuple[int, ...]) -> Entries:
        """Return the question for the scores at some places."""
        return Entries(places, FINENESS, self.question.monotone)


class RankOptions(TypedDict, total=False):
    """The keywords of :func:`rank`, for type checkers."""

    top: int
    sensitivity: Any
    labels: Iterable[Any] | Literal["public"] | None
    monotone: bool
    mechanism: Literal["exponential", "laplace"]
    counts: bool
    epsilon: Any
    delta: Any
    neighbours: Relation
    really: bool
    ledger: str | PathLike[str] | Ledger | None
    who: str


@asks(RankQuestion, RankOptions)
def rank(scores: Mapping[Any, Score], question: RankQuestion | None = None, **options: Unpack[RankOptions]) -> Ranking:
    """Choose the labels with the largest scores, under central differential privacy.

    Privacy: the unit is the person; labels and noisy scores together are (epsilon, delta)-differentially private, if
    one person changes no score by more than the sensitivity. See :doc:`/release`.

    Parameters
    ----------
    scores
        A score for each label: whole numbers, fractions such as ``"1/3"``, decimal numbers.
    question
        A question that was made before; keywords that are given too take the place of its fields.
    FIELDS

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
    keywords = Keywords.of(options)
    asked = RankQuestion(**keywords.question) if question is None else replace(question, **keywords.question)
    contest = contest_of(asked, scores)
    return answer({"": contest}, metered_ranking, baskets=None, payer=keywords.payer)[""]


def contest_of(question: RankQuestion, scores: Mapping[Any, Score]) -> Contest:
    """Return the contest of a question over scores, put on the grid. Nothing is spent here."""
    if not isinstance(scores, Mapping) or (not scores and isinstance(question.labels, str)):
        # What was given may be scores, which are private: its type has to do.
        what = (
            "there is none" if isinstance(scores, Mapping) else f"what was given is of the type {type(scores).__name__}"
        )
        raise MisuseError(f"scores is a score for each label, such as {{'north': 48, 'south': 21}}; {what}.")
    public = isinstance(question.labels, str)
    labels = tuple(scores) if public else question.labels
    if question.top > len(labels):
        there = f"{'are' if len(labels) > 1 else 'is'} only {number_of(len(labels), 'label')}"
        raise MisuseError.format(
            "{top} is {given:,}, but there {there}: ask for at most so many.", given=question.top, there=there
        )
    grid = question.sensitivity / FINENESS
    return Contest(
        question=question,
        labels=labels,
        source="as given with the scores" if public else "as declared",
        scores=np.array([_on_grid(label, _score(scores, label), grid) for label in labels], np.int64),
    )


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
    number = parse_number(score)
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


def metered_ranking(contest: Contest, meter: Meter) -> Ranking:
    """Return the ranking of a contest: labels chosen, their scores measured, and what is promised about both."""
    choosing = dict(contest.steps())[_CHOOSE]
    table = SealedEngine(ScoreTable(contest.scores))
    scores = table.answer(contest.query(tuple(range(len(contest.labels)))))
    rate = meter.rate(
        contest.question.top, choosing, contest.question.mechanism, monotone=contest.question.monotone, step=FINENESS
    )
    # Rounding down moves a score by less than one step of the grid: hence one more in every promise.
    gamma = slack(contest.question.mechanism, contest.question.top, len(contest.labels), DOUBT, rate) + 1
    chosen = meter.choose(_CHOOSE, scores, contest.question.top, choosing, contest.question.mechanism)
    values = margin = eta = None
    if contest.question.counts:
        noisy = meter.count(_MEASURE, table, contest.query(chosen), meter.left)
        order = np.argsort(-noisy.values, kind="stable")
        chosen = tuple(chosen[place] for place in order.tolist())
        values, margin = noisy.values[order].tolist(), noisy.margin()
        eta = noisy.margin(1 - float(DOUBT) / contest.question.top) + 1

    def spoken(steps: list[int] | None, shift: int = 0) -> tuple[float, ...] | None:
        return None if steps is None else tuple(float((step + shift) * contest.grid) for step in steps)

    guarantee = Guarantee.of(
        contest.budget,
        meter.charges,
        neighbours=contest.neighbours,
        public=(public_fact(len(contest.labels), "label", contest.source),),
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
        mechanism=contest.question.mechanism,
        simulated=meter.simulated,
    )
