"""Asking and paying: the public functions of the curator's side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Unpack

from numpy.typing import NDArray

from ..baskets import AnyBaskets, Baskets, Item
from ..errors import MisuseError
from . import _door as door
from ._case import Case
from ._door import Observer, Payer
from ._keywords import CountOptions, Keywords, ReleaseOptions, asks, question_of
from ._question import Question
from ._resolving import cases_of, everyone
from ._result import Release
from ._run import metered


@asks(Question, ReleaseOptions)
def release(baskets: Baskets | Any, question: Question | None = None, **options: Unpack[ReleaseOptions]) -> Release:
    """Publish what people hold together, under central differential privacy.

    Privacy: the unit is the person; the result is (epsilon, delta)-differentially private under adding or removing one
    person, or replacing one. See :doc:`/release`.

    Parameters
    ----------
    baskets
        What :func:`discreet.read` returns, or anything it accepts. One row is one person, unless it was read with
        ``basket=``.
    question
        A :class:`discreet.Question`, such as one of a file. Keywords that are given too take the place of its fields.
    FIELDS

    Examples
    --------
    >>> import discreet
    >>> baskets = [{"tea", "milk"}] * 600 + [{"bread"}] * 300
    >>> release = discreet.release(baskets, top=3, epsilon=1, items=["bread", "milk", "tea"])
    >>> len(release.patterns), release.guarantee.epsilon
    (3, Fraction(1, 1))
    """
    keywords = Keywords.of(options)
    asked = question_of(question, keywords.question)
    if asked.by is not None:
        raise MisuseError("This question is for one release per segment: ask it by release_by().")
    return answered(asked, baskets, keywords)[""]


@asks(Question, ReleaseOptions)
def release_by(
    baskets: Baskets | Any,
    by: str | Sequence[Item] | NDArray[Any] | None = None,
    question: Question | None = None,
    *,
    segments: Iterable[Item] | Literal["public"] | None = None,
    **options: Unpack[ReleaseOptions],
) -> dict[Item, Release]:
    """Publish what people hold together, one release per segment, for the price of one.

    Privacy: as :func:`discreet.release`. A person is in one segment, so the releases together cost what one costs.

    Parameters
    ----------
    baskets
        What :func:`discreet.read` returns, or anything it accepts. One row is one person, unless it was read with
        ``basket=``.
    by
        A segment for each person, such as a region: a list, or the column that :func:`discreet.read` was told to keep
        by ``by=``.
    question
        A :class:`discreet.Question`, as for :func:`discreet.release`; it may name the column itself.
    segments
        The public list of segments, also those nobody is in. ``"public"`` declares those found in the data to be
        public.
    FIELDS

    Examples
    --------
    >>> import discreet
    >>> baskets, regions = [{"tea"}] * 600 + [{"bread"}] * 300, ["north"] * 600 + ["south"] * 300
    >>> asked = {"top": 1, "epsilon": 1, "items": ["bread", "tea"]}
    >>> made = discreet.release_by(baskets, regions, segments=["north", "south"], **asked)
    >>> list(made)
    ['north', 'south']
    """
    keywords = Keywords.of(options)
    return answered(question_of(question, keywords.question | _segments(segments)), baskets, keywords, by)


@asks(Question, CountOptions)
def count(baskets: Baskets | Any, itemsets: Iterable[Iterable[Item]], **options: Unpack[CountOptions]) -> Release:
    """Count given itemsets, each with noise.

    Privacy: as :func:`discreet.release`. The itemsets are public, as you typed them; the noise grows with their number.

    Parameters
    ----------
    baskets
        What :func:`discreet.read` returns, or anything it accepts. One row is one person, unless it was read with
        ``basket=``.
    itemsets
        A list of itemsets: ``[{"tea", "milk"}, {"bread"}]``. Without `items`, theirs are the list of items.
    FIELDS

    Examples
    --------
    >>> import discreet
    >>> counted = discreet.count([{"tea", "milk"}] * 500, [{"tea", "milk"}, {"tea"}], epsilon=1)
    >>> len(counted.patterns)
    2
    """
    keywords = Keywords.of(options)
    return answered(Question(itemsets=itemsets, **keywords.question), baskets, keywords)[""]


@asks(Question, CountOptions)
def count_by(
    baskets: Baskets | Any,
    itemsets: Iterable[Iterable[Item]],
    by: str | Sequence[Item] | NDArray[Any],
    *,
    segments: Iterable[Item] | Literal["public"] | None = None,
    **options: Unpack[CountOptions],
) -> dict[Item, Release]:
    """Count given itemsets in every segment, each with noise, for the price of one.

    Privacy: as :func:`discreet.release`; a person is in one segment.

    Parameters
    ----------
    baskets, itemsets
        As for :func:`discreet.count`.
    by, segments
        As for :func:`discreet.release_by`.
    FIELDS

    Examples
    --------
    >>> import discreet
    >>> regions = ["north"] * 300 + ["south"] * 200
    >>> made = discreet.count_by([{"tea"}] * 500, [{"tea"}], regions, segments=["north", "south"], epsilon=1)
    >>> list(made)
    ['north', 'south']
    """
    keywords = Keywords.of(options)
    return answered(Question(itemsets=itemsets, **keywords.question, **_segments(segments)), baskets, keywords, by)


def answered(question: Question, baskets: Any, keywords: Keywords, by: Any = None) -> dict[Item, Release]:
    """Return the releases that answer a question, by segment: the data are read once, and paid for as they were read.

    `by` is the column of segments, or the segment of each person; None where the question names the column.
    """
    if isinstance(by, str):
        question, by = question.changed(by=by), None
    held = everyone(baskets, by=question.by, **keywords.reading)
    return answer(held, cases_of(question, held, segment_of=by), payer=keywords.payer, observer=keywords.observer)


def _segments(segments: Any) -> dict[str, Any]:
    return {} if segments is None else {"segments": segments}


def answer(
    baskets: AnyBaskets,
    cases: Mapping[Item, Case],
    *,
    payer: Payer | None = None,
    observer: Observer | None = None,
) -> dict[Item, Release]:
    """Return the release of each case, by segment: paid for together, then made one by one."""
    return door.answer(cases, metered, baskets=baskets, payer=payer, observer=observer)
