"""Ranking anything by private scores: the general form of section 5 of Bhaskar et al. (2010).

A release ranks patterns by their holders; here the user supplies labels with scores, and states the sensitivity of a
score. It is no mechanism of the registry, as it takes no baskets. The proof is in `rank.md`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from ..baskets import describe_public_list, parse_items
from ..checks import is_whole, parse_number
from ..curator.steps import slack
from ..errors import MisuseError
from ..exact import Engine, FrequentSets, Query, Sensitivity
from ..privacy import Guarantee, Meter, SealedEngine, shown
from ..results import Provenance, Result, guarantee_texts, read_fields
from ..wording import number_of, printable
from ._door import CheckedQuestion, Steps, answer
from ._keywords import Keywords, PrivacyOptions, with_keywords
from ._other_questions import RankQuestion

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Group

Score: TypeAlias = int | str | float | Fraction | Decimal
I64 = NDArray[np.int64]

# Scores are rounded down to multiples of sensitivity / STEPS_PER_UNIT: a public grid. The scale of Laplace noise
# is at least 1,000 / epsilon steps, so the grid is finer than the noise of any usual epsilon.
STEPS_PER_UNIT = 1_000
# The largest absolute score in steps of the grid: scores and noise below 2^54 steps together fit into 64 bits.
MAX_STEPS = 2**61
# The share of the budget that selects the labels where scores are released too. Chosen: neither task has priority.
SELECTION_SHARE = Fraction(1, 2)
# The probability with which `gamma` and `eta` may each fail. Smaller: wider bounds.
FAILURE_PROBABILITY = Fraction(1, 10)

_SCORE_COLUMNS = ("scores", "low", "high")
_SELECTION_STEP = "choosing the labels"
_SCORE_STEP = "measuring their scores"


@dataclass(frozen=True, kw_only=True, repr=False)
class Ranking(Result):
    """The result of :func:`discreet.rank`: the labels of the largest scores, as far as privacy allows.

    Parameters
    ----------
    labels
        The labels: by falling noisy score, or in the order of their selection if no scores are released.
    scores, low, high
        The noisy score of each label, and a 95 % interval for the exact score; None if no scores are released.
    gamma
        A distance from the k-th largest exact score. With a probability of at least 90 %, the ranking has no label
        that scores more than `gamma` below it, and has every label that scores more than `gamma` above it.
    eta
        The largest error of a score, with a probability of at least 90 %.
    guarantee
        The promise: the budget, which the noise that was really added keeps within, and its assumptions.
    mechanism
        The name of the selection mechanism.
    simulated
        Whether the noise came from a seeded source: then the result is a trial, without any promise.
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
        """The guarantee and the selection mechanism."""
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

        # One column has one type: a single name makes all labels texts.
        numeric = all(is_whole(label) for label in self.labels)
        names = pa.array(self.labels, pa.int64()) if numeric else pa.array(map(str, self.labels), pa.large_string())
        columns = zip(("score", "low", "high"), (self.scores, self.low, self.high), strict=True)
        shown_columns = {name: pa.array(column, pa.float64()) for name, column in columns if column is not None}
        return pa.table({"label": names} | shown_columns)

    def cell_table(self) -> pa.Table:
        """Return the table as cells; every row repeats the guarantee, as in tables of releases."""
        import pyarrow as pa

        table = super().cell_table()
        for name, value in guarantee_texts(self.provenance).items():
            table = table.append_column(name, pa.array([value] * len(self), pa.large_string()))
        return table.append_column("simulated", pa.array([self.simulated] * len(self)))

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values; a label that is neither a whole number nor a text becomes a text."""
        labels = [int(str(label)) if is_whole(label) else str(label) for label in self.labels]
        columns = {name: getattr(self, name) for name in _SCORE_COLUMNS}
        lists = {name: None if column is None else list(column) for name, column in columns.items()}
        plain = {"labels": labels, **lists, "guarantee": self.guarantee.to_dict()}
        return {"discreet": self.FORM, **vars(self), **plain}

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Self:
        labels = tuple(values["labels"])
        if not all(is_whole(label) or isinstance(label, str) for label in labels):
            raise ValueError("labels must be whole numbers or texts")
        # A file may be edited by hand, so lengths are compared.
        ranking = read_fields(cls, values, labels=labels)
        if any(column is not None and len(column) != len(labels) for column in map(values.get, _SCORE_COLUMNS)):
            raise ValueError("it has not one number for each label")
        return ranking

    def digest(self) -> str:
        """Return a hash of all released values, by which a ledger identifies this ranking."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True, default=str).encode()).hexdigest()


@dataclass(frozen=True)
class Entries(Query):
    """The query for the scores at some places of a table, in steps of the grid."""

    places: tuple[int, ...]
    step: int
    one_way: bool

    @property
    def cells(self) -> int:
        """The number of scores: one per place."""
        return len(self.places)

    def sensitivity(self, baskets: int = 1) -> Sensitivity:
        """Return the sensitivity: a person moves each score by at most one step.

        Replacing a person moves a score by two steps if scores can move both ways: the two people may move it in one
        direction. As entries may be negative, the squared norms of two differences need not add up.
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
        """Whether the user stated that scores move in one direction."""
        return self.one_way


class ScoreTable(Engine):
    """An engine over scores instead of baskets."""

    def __init__(self, scores: I64) -> None:
        self.scores = scores
        self.items = len(scores)

    def answer(self, query: Query) -> I64:
        """Return the scores at the places of the query."""
        # The meter would scale noise to a query over baskets, which scores do not answer.
        if not isinstance(query, Entries):
            raise MisuseError(f"A table of scores cannot answer {type(query).__name__}.")
        return self.scores[list(query.places)]

    def above(self, bound: int, least: int, longest: int, limit: int) -> FrequentSets:
        """Raise an error: scores have no itemsets."""
        raise MisuseError("A table of scores has no itemsets.")


@dataclass(frozen=True, kw_only=True, eq=False)
class Contest(CheckedQuestion[Ranking]):
    """A question for a ranking with its scores, checked and ready to run.

    Parameters
    ----------
    question
        The question of the user.
    labels, source
        The public labels, and the origin of their publicity.
    scores
        The score of each label, in steps of the grid.
    """

    question: RankQuestion
    labels: tuple[Hashable, ...]
    source: str
    scores: I64

    @property
    def grid(self) -> Fraction:
        """The step of the grid of scores, from the question alone: a step fitted to the scores would leak."""
        step: Fraction = self.question.sensitivity / STEPS_PER_UNIT
        return step

    @property
    def ledger_entry(self) -> tuple[str, Mapping[str, Any]]:
        """The name and the parameters, all public, under which a ledger records the spend."""
        question = self.question
        return "rank", {
            "top": question.top,
            "labels": len(self.labels),
            "sensitivity": str(question.sensitivity),
            "monotone": question.monotone,
            "mechanism": question.mechanism,
            "counts": question.counts,
        }

    def steps(self) -> Steps:
        """Return the name of each step with its share of the budget, in order."""
        if not self.question.counts:
            return [(_SELECTION_STEP, Fraction(1))]
        return [(_SELECTION_STEP, SELECTION_SHARE), (_SCORE_STEP, 1 - SELECTION_SHARE)]

    def run(self, meter: Meter) -> Ranking:
        """Return the ranking from the values that a meter releases."""
        return run_contest(self, meter)

    @property
    def assumption(self) -> str:
        """The assumption about the scores on which the scale of the noise rests."""
        direction = ", and one person more never lowers a score, or never raises one" if self.question.monotone else ""
        return f"one person changes no score by more than {shown(self.question.sensitivity)}{direction}"

    def query(self, places: tuple[int, ...]) -> Entries:
        """Return the query for the scores at some places."""
        return Entries(places, STEPS_PER_UNIT, self.question.monotone)


class RankOptions(PrivacyOptions, total=False):
    """The keywords of :func:`rank`, for type checkers."""

    top: int
    sensitivity: Any
    labels: Iterable[Any] | Literal["public"] | None
    monotone: bool
    mechanism: Literal["exponential", "laplace"]
    counts: bool


@with_keywords(RankQuestion, RankOptions)
def rank(scores: Mapping[Any, Score], question: RankQuestion | None = None, **options: Unpack[RankOptions]) -> Ranking:
    """Choose the labels with the largest scores, under central differential privacy.

    Privacy: the unit is the person; labels and noisy scores together are (epsilon, delta)-differentially private, if
    one person changes no score by more than the sensitivity. See :doc:`/release`.

    Parameters
    ----------
    scores
        A score for each label: whole numbers, fractions such as ``"1/3"``, decimal numbers.
    question
        A :class:`discreet.publish.RankQuestion`. Keywords beside it replace its fields.
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
    keywords = Keywords.parse(options)
    question = RankQuestion(**keywords.question) if question is None else replace(question, **keywords.question)
    contest = build_contest(question, scores)
    return answer(None, {"": contest}, payer=keywords.payer)[""]


def build_contest(question: RankQuestion, scores: Mapping[Any, Score]) -> Contest:
    """Return the contest of a question over scores, rounded to the grid. Nothing is spent here."""
    if not isinstance(scores, Mapping) or (not scores and isinstance(question.labels, str)):
        # The argument may be scores, which are private: the message has its type alone.
        flaw = (
            "there is none" if isinstance(scores, Mapping) else f"what was given is of the type {type(scores).__name__}"
        )
        raise MisuseError(f"scores is a score for each label, such as {{'north': 48, 'south': 21}}; {flaw}.")
    # The constructor allows no text but `public`.
    labels_are_public = isinstance(question.labels, str)
    labels = tuple(scores) if labels_are_public else question.labels
    # The number of labels is public, so this error reveals nothing.
    if question.top > len(labels):
        labels_text = f"{'are' if len(labels) > 1 else 'is'} only {number_of(len(labels), 'label')}"
        raise MisuseError.format(
            "{top} is {given:,}, but there {there}: ask for at most so many.", given=question.top, there=labels_text
        )
    step = question.sensitivity / STEPS_PER_UNIT
    return Contest(
        question=question,
        labels=labels,
        source="as given with the scores" if labels_are_public else "as declared",
        scores=np.array([_round_to_grid(label, _find_score(scores, label), step) for label in labels], np.int64),
    )


def _find_score(scores: Mapping[Any, Score], label: Any) -> Score:
    """Return the score of a label, 0 without one. The list decides whether labels are numbers or texts."""
    if label in scores:
        return scores[label]
    converted = str(label) if is_whole(label) else parse_items([label])[0] if isinstance(label, str) else label
    return scores.get(converted, 0)


def has_scored_label(labels: Iterable[Any], scores: Mapping[Any, Score]) -> bool:
    """Return whether a label has a score, or no score exists at all: for the curator alone, before payment."""
    # As texts: a CSV file has its labels as texts, and a list may have numbers.
    scored_labels = set(map(str, scores))
    return not scored_labels or any(str(label) in scored_labels for label in labels)


def _round_to_grid(label: Any, score: Any, step: Fraction) -> int:
    """Return a score in steps of the grid, rounded down and cut to `MAX_STEPS`."""
    number = parse_number(score)
    if number is None:
        # The score itself is private, and stays out of the message.
        raise MisuseError(
            f"The score of {label!r} is not a number: a score is a whole number, a fraction such as '1/3' or a decimal "
            "number such as '0.25'."
        )
    if isinstance(number, Decimal):
        # The bounds give the results of the last line without writing the number out: "1e999999999" has a billion
        # digits.
        if number == 0:
            return 0
        if number.adjusted() > ceil(MAX_STEPS * step).bit_length():
            return MAX_STEPS if number > 0 else -MAX_STEPS
        if number.adjusted() < -step.denominator.bit_length():
            return 0 if number > 0 else -1
    return int(max(-MAX_STEPS, min(MAX_STEPS, Fraction(number) // step)))


def run_contest(contest: Contest, meter: Meter) -> Ranking:
    """Return the ranking of a contest: labels are selected, then their scores measured with the remaining budget."""
    question, share = contest.question, dict(contest.steps())[_SELECTION_STEP]
    # Sealed, so that nothing but the meter can look at a score.
    table = SealedEngine(ScoreTable(contest.scores))
    scores = table.answer(contest.query(tuple(range(len(contest.labels)))))
    rate = meter.rate(question.top, share, question.mechanism, monotone=question.monotone, step=STEPS_PER_UNIT)
    # Rounding down moves a score by less than one step of the grid: hence one more step in `gamma`, `eta` and `high`.
    gamma = slack(question.mechanism, question.top, len(contest.labels), FAILURE_PROBABILITY, rate) + 1
    places = meter.choose(_SELECTION_STEP, scores, question.top, share, question.mechanism)
    noisy_scores, margin, eta = None, 0, None
    if question.counts:
        noisy = meter.count(_SCORE_STEP, table, contest.query(places), meter.left)
        order = np.argsort(-noisy.values, kind="stable")
        # By noisy scores, as a reader expects of a ranking that shows them.
        places = tuple(places[place] for place in order.tolist())
        noisy_scores, margin = noisy.values[order].tolist(), noisy.margin()
        # One failure probability for all scores together: each score may fail with probability 1 / top of that.
        eta = noisy.margin(1 - float(FAILURE_PROBABILITY) / question.top) + 1

    def rescale(shift: int) -> tuple[float, ...] | None:
        """Return the noisy scores, moved by some steps, in the unit of the user."""
        return None if noisy_scores is None else tuple(float((steps + shift) * contest.grid) for steps in noisy_scores)

    guarantee = Guarantee.of(
        contest.budget,
        meter.charges,
        neighbours=contest.neighbours,
        public=(describe_public_list(len(contest.labels), "label", contest.source),),
        assumed=(contest.assumption,),
    )
    return Ranking(
        labels=tuple(contest.labels[place] for place in places),
        scores=rescale(0),
        low=rescale(-margin),
        high=rescale(margin + 1),
        gamma=float(gamma * contest.grid),
        eta=None if eta is None else float(eta * contest.grid),
        guarantee=guarantee,
        mechanism=question.mechanism,
        simulated=meter.simulated,
    )
