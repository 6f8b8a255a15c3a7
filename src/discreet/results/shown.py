"""What patterns and rules have in common: how they show themselves, and how they are handed on.

The tables for a terminal, a notebook and any rich console are made in `show`, and files in `files`. Pictures and pages
are drawn in `report`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..baskets.hierarchy import MIXED
from .itemsets import Itemsets, frames
from .levels import spans

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray
    from rich.console import Group

    from ..baskets.core import Vocabulary
    from ..baskets.hierarchy import Hierarchy
    from .patterns import Patterns
    from .picture import Picture
    from .rules import Rules


class Shown(ABC):
    """What patterns and rules have in common when they are looked at and handed on."""

    low: NDArray[np.float64] | None
    about: Mapping[str, Any] | None
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
    def noisy(self) -> bool:
        """Whether the counts are private ones, so that a pattern may count more than a part of it."""
        return self.low is not None or self.about is not None

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Return an Arrow table."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the table of :meth:`to_arrow` to whoever speaks Arrow: polars, pyarrow, DuckDB, pandas."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_polars(self) -> pl.DataFrame:
        """Return the table of :meth:`to_arrow` as a polars frame."""
        frame: pl.DataFrame = frames("polars").from_arrow(self.to_arrow())
        return frame

    def save(self, path: str | PathLike[str], *, title: str | None = None) -> None:
        """Write to a ``.csv``, ``.json`` or ``.parquet`` file, or to an ``.html`` report with a title.

        All but the report are read back by :func:`discreet.load`. What was promised about a private result, and whether
        it was simulated, is in each of them. The report of an exact one says that it is not private.
        """
        from .files import is_page, save, written

        if not is_page(path):
            save(cast("Patterns | Rules", self), path)
            return
        with written(path) as stream:
            stream.write(self.report(title=title).encode())

    def report(self, *, title: str | None = None) -> str:
        """Return a report as one HTML page that needs nothing else; an exact result is marked as not private.

        Parameters
        ----------
        title
            What the page is about: a good place for the name of the data.
        """
        told = _drawing("contents").contents_of(self, **({} if title is None else {"title": title}))
        page: str = _drawing("page").page(told)
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
        made: Picture = _drawing("plots").plot(self, kind, rows, level)
        return made

    def show(self, rows: int = 30) -> View:
        """Return the first rows as a table: it shows itself in a notebook and at a prompt; a script prints it.

        Parameters
        ----------
        rows
            How many rows to show; a last line says how many more there are.

        Examples
        --------
        >>> import discreet
        >>> print(discreet.mine([{"tea", "milk"}] * 3, min_count=1).show(1))
        3 patterns of 3 people
        items   count   support
        ───────────────────────
        milk        3    1.0000
        … and 2 more
        """
        from ..checks import positive

        return View(cast("Patterns | Rules", self), positive("rows", rows))

    def __repr__(self) -> str:
        return repr(self._view())

    def _repr_html_(self) -> str:
        return self._view()._repr_html_()

    def __rich__(self) -> Group:
        return self._view().__rich__()

    def _view(self) -> View:
        from .show import ROWS

        return self.show(ROWS)


def _drawing(module: str) -> Any:
    """Return a module of the room that draws: it comes after this one, and is looked up by its name."""
    return import_module(f"discreet.report.{module}")


@dataclass(frozen=True, repr=False)
class View:
    """The first rows of patterns or rules, to be looked at."""

    result: Patterns | Rules
    rows: int

    def __repr__(self) -> str:
        from .show import text

        return text(self.result, self.rows)

    def _repr_html_(self) -> str:
        from .show import html

        return html(self.result, self.rows)

    def __rich__(self) -> Group:
        from .show import table

        return table(self.result, self.rows)
