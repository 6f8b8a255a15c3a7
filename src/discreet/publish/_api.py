"""The public functions of the curator's side: each makes a `Question` of its keywords, checks it on data and pays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Unpack

from numpy.typing import NDArray

from ..baskets import Baskets, Item
from ..errors import MisuseError
from ._door import answer
from ._keywords import CountOptions, Keywords, ReleaseOptions, build_question, with_keywords
from ._question import Question
from ._resolving import build_cases, read_data
from ._result import Release


@with_keywords(Question, ReleaseOptions)
def release(baskets: Baskets | Any, question: Question | None = None, **options: Unpack[ReleaseOptions]) -> Release:
    """Publish frequent itemsets under central differential privacy.

    Privacy: the unit is the person; the result is (epsilon, delta)-differentially private under adding or removing one
    person, or replacing one. See :doc:`/release`.

    Parameters
    ----------
    baskets
        The result of :func:`discreet.read`, or any data that it accepts. One row is one person, unless it was read with
        ``basket=``.
    question
        A :class:`discreet.Question`, for example from a file. Keywords beside it replace its fields.
    FIELDS

    Examples
    --------
    >>> import discreet
    >>> baskets = [{"tea", "milk"}] * 600 + [{"bread"}] * 300
    >>> release = discreet.release(baskets, top=3, epsilon=1, items=["bread", "milk", "tea"])
    >>> len(release.patterns), release.guarantee.epsilon
    (3, Fraction(1, 1))
    """
    keywords = Keywords.parse(options)
    question = build_question(question, keywords.question)
    # A file of a question may name a column of segments; the result would then be several releases.
    if question.by is not None:
        raise MisuseError("This question is for one release per segment: ask it by release_by().")
    return read_and_answer(question, baskets, keywords)[""]


@with_keywords(Question, ReleaseOptions)
def release_by(
    baskets: Baskets | Any,
    by: str | Sequence[Item] | NDArray[Any] | None = None,
    question: Question | None = None,
    *,
    segments: Iterable[Item] | Literal["public"] | None = None,
    **options: Unpack[ReleaseOptions],
) -> dict[Item, Release]:
    """Publish frequent itemsets, one release per segment, for the price of one.

    Privacy: as :func:`discreet.release`. A person is in one segment, so the price of all releases together is the
    price of one.

    Parameters
    ----------
    baskets
        The result of :func:`discreet.read`, or any data that it accepts. One row is one person, unless it was read with
        ``basket=``.
    by
        The segment of each person, like a region: a list, or the column that :func:`discreet.read` kept by ``by=``.
    question
        A :class:`discreet.Question`, as for :func:`discreet.release`; it may name the column itself.
    segments
        The public list of segments, with the empty ones too. ``"public"`` declares the segments found in the data to
        be public.
    FIELDS

    Examples
    --------
    >>> import discreet
    >>> baskets, regions = [{"tea"}] * 600 + [{"bread"}] * 300, ["north"] * 600 + ["south"] * 300
    >>> keywords = {"top": 1, "epsilon": 1, "items": ["bread", "tea"]}
    >>> releases = discreet.release_by(baskets, regions, segments=["north", "south"], **keywords)
    >>> list(releases)
    ['north', 'south']
    """
    keywords = Keywords.parse(options)
    question = build_question(question, keywords.question | _without_none(segments=segments))
    return read_and_answer(question, baskets, keywords, by)


@with_keywords(Question, CountOptions)
def count(baskets: Baskets | Any, itemsets: Iterable[Iterable[Item]], **options: Unpack[CountOptions]) -> Release:
    """Count given itemsets, each with noise.

    Privacy: as :func:`discreet.release`. The itemsets are public, as you typed them; the noise grows with their number.

    Parameters
    ----------
    baskets
        The result of :func:`discreet.read`, or any data that it accepts. One row is one person, unless it was read with
        ``basket=``.
    itemsets
        A list of itemsets: ``[{"tea", "milk"}, {"bread"}]``. Without `items`, the items of the itemsets are the list.
    FIELDS

    Examples
    --------
    >>> import discreet
    >>> counted = discreet.count([{"tea", "milk"}] * 500, [{"tea", "milk"}, {"tea"}], epsilon=1)
    >>> len(counted.patterns)
    2
    """
    keywords = Keywords.parse(options)
    return read_and_answer(Question(itemsets=itemsets, **keywords.question), baskets, keywords)[""]


@with_keywords(Question, CountOptions)
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
    >>> counts = discreet.count_by([{"tea"}] * 500, [{"tea"}], regions, segments=["north", "south"], epsilon=1)
    >>> list(counts)
    ['north', 'south']
    """
    keywords = Keywords.parse(options)
    question = Question(itemsets=itemsets, **keywords.question, **_without_none(segments=segments))
    return read_and_answer(question, baskets, keywords, by)


def read_and_answer(question: Question, baskets: Any, keywords: Keywords, by: Any = None) -> dict[Item, Release]:
    """Return the releases that answer a question, by segment, from data that are read first.

    `by` is the column of segments or the segment of each person; None where the question names the column.
    """
    # A column is a part of the question, and of its record; a segment for each person is data.
    if isinstance(by, str):
        question, by = question.changed(by=by), None
    data = read_data(baskets, by=question.by, **keywords.reading_options)
    return answer(data, build_cases(question, data, segment_of=by), payer=keywords.payer, observer=keywords.observer)


def _without_none(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
