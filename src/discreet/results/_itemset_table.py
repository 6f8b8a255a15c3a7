"""What patterns and rules have in common: rows of itemsets, with a vocabulary and maybe a hierarchy.

Their tables for a terminal, a notebook and any rich console are made in `show`. Pictures and pages are drawn in
`report`.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

import numpy as np

from ..baskets import MIXED
from ._itemsets import Itemsets
from ._levels import spans
from ._result import Result, draw_with

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Group

    from ..baskets import Hierarchy, Vocabulary
    from ._patterns import Patterns
    from ._picture import Picture
    from ._provenance import Provenance
    from ._rules import Rules


# The address of a page, and what it is called.
Link: TypeAlias = tuple[str, str]


class ItemsetTable(Result):
    """A table whose rows have an itemset, or two."""

    SHOWN_ROWS: ClassVar[int] = 10

    low: NDArray[np.float64] | None
    provenance: Provenance | None
    vocabulary: Vocabulary
    hierarchy: Hierarchy | None

    @property
    @abstractmethod
    def sides(self) -> tuple[Itemsets, ...]:
        """The itemsets that each row has."""

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """The level of each: the lowest on which all its items are, or ``"mixed"``; nothing without a hierarchy."""
        if self.hierarchy is None:
            return ()
        low, high = spans(self.hierarchy, self.vocabulary, *self.sides)
        names = (*self.hierarchy.names, MIXED)
        return tuple(names[level] for level in np.where(low > high, -1, low).tolist())

    @property
    def about(self) -> dict[str, Any] | None:
        """The provenance as plain values, as files have it; None where there is none."""
        return None if self.provenance is None else self.provenance.to_dict()

    @property
    def noisy(self) -> bool:
        """Whether the counts are private ones, so that a pattern may count more than a part of it."""
        return self.low is not None or self.provenance is not None

    def to_dict(self) -> dict[Any, Any]:
        """Return everything as plain values, as a JSON file has them."""
        values: dict[str, Any] = json.loads(self.to_json())
        return values

    def report(
        self, *, title: str | None = None, summary: str = "", citations: Sequence[str] = (), up: Link | None = None
    ) -> str:
        """Return a report as one HTML page that needs nothing else; an exact result is marked as not private.

        Parameters
        ----------
        title
            What the page is about: a good place for the name of the data.
        summary, citations
            What the mechanism does and what to cite, where the result does not say so itself.
        up
            Where a page above this one is, and what it is called, for one of several segments.
        """
        contents = draw_with("contents_of", self, title, summary=summary, citations=citations, parent=up)
        page: str = draw_with("page", contents)
        return page

    def plot(self, kind: str | None = None, rows: int = 30, *, level: int | str | None = None) -> Picture:
        """Return a picture, which a notebook shows and ``.save("picture.svg")`` writes.

        Parameters
        ----------
        kind
            For patterns ``"bars"`` (with whiskers where they are private), ``"graph"`` of what goes together,
            ``"matrix"`` of pairs, or ``"sizes"``. For rules ``"scatter"`` by support, confidence and lift, ``"bars"``
            or ``"matrix"``. The first by default; for relations the matrix.
        rows
            How many bars, of those that come first.
        level
            A level of the hierarchy that they were found with: only what is on it is drawn, as by ``where(level=)``.

        Examples
        --------
        >>> import discreet
        >>> picture = discreet.mine([{"tea", "milk"}] * 3, min_count=1).plot("graph")
        >>> picture.title
        'Items that were found together'
        """
        made: Picture = draw_with("plot", self, kind, rows, level)
        return made

    def _rich(self, rows: int | None) -> Group:
        from ._show import table

        return table(cast("Patterns | Rules", self), len(self) if rows is None else rows)

    def _html(self, rows: int | None) -> str:
        from ._show import html

        return html(cast("Patterns | Rules", self), len(self) if rows is None else rows)
