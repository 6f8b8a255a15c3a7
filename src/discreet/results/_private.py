"""What a release and an outcome have in common: patterns or relations, and all that was promised about them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from ._itemset_table import ItemsetTable
from ._result import Result

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from rich.console import RenderableType

    from ._patterns import Patterns
    from ._picture import Picture
    from ._provenance import Provenance
    from ._rules import Rules


class PrivateResult(Result):
    """Patterns, or relations and the items they are among, with what was promised about them."""

    SHOWN_ROWS: ClassVar[int] = ItemsetTable.SHOWN_ROWS

    patterns: Patterns
    relations: Rules | None

    @property
    @abstractmethod
    def summary(self) -> str:
        """What the mechanism or protocol does, in one sentence."""

    @property
    @abstractmethod
    def citations(self) -> tuple[str, ...]:
        """What to cite."""

    @property
    @abstractmethod
    def provenance(self) -> Provenance:
        """All but the patterns: what travels with them, in files too."""

    @property
    def found(self) -> Patterns | Rules:
        """What was asked for: the relations, where these were, otherwise the patterns."""
        return self.patterns if self.relations is None else self.relations

    @property
    def row_source(self) -> Patterns | Rules:
        """What was found, which is what files of rows hold; it carries the provenance along."""
        return self.found

    @property
    def people(self) -> int:
        """The number of people: public, or with noise; then `patterns.people_within` is its interval."""
        return self.patterns.people

    def __len__(self) -> int:
        return len(self.found)

    def to_arrow(self) -> pa.Table:
        """Return the Arrow table of what was found."""
        return self.found.to_arrow()

    def to_pandas(self) -> pd.DataFrame:
        """Return the pandas frame of what was found."""
        return self.found.to_pandas()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, as a JSON file has them: the rows, and the provenance beside them."""
        return ItemsetTable.to_dict(self.found)

    def rules(self, min_confidence: float = 0.5, **options: Any) -> Rules:
        """Return the association rules among the patterns, by the options of :meth:`Patterns.rules`.

        Privacy: costs nothing more, as only counts that are out already are looked at.
        """
        return self.patterns.rules(min_confidence, **options)

    def plot(self, kind: str | None = None, rows: int = 30, *, level: int | str | None = None) -> Picture:
        """Return a picture of what was found: of patterns as :meth:`Patterns.plot`, of relations as of rules."""
        return self.found.plot(kind, rows, level=level)

    def report(self, *, title: str | None = None, up: tuple[str, str] | None = None) -> str:
        """Return the report as one HTML page that needs nothing else; a simulation says on it what it is.

        Parameters
        ----------
        title
            What the page is about: a good place for the name of the data.
        up
            Where a page above this one is, and what it is called, for one of several segments.
        """
        found = replace(self.found, provenance=self.provenance)
        return found.report(title=title, summary=self.summary, citations=self.citations, up=up)

    def _rich(self, rows: int | None) -> RenderableType:
        return self.found._rich(rows)

    def _html(self, rows: int | None) -> str:
        return self.found._html(rows)
