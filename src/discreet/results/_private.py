"""The base of a release and an outcome: patterns or relations, with their guarantee."""

from __future__ import annotations

import json
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
    """Patterns, or relations and the items of their pairs, with their guarantee."""

    SHOWN_ROWS: ClassVar[int] = ItemsetTable.SHOWN_ROWS

    patterns: Patterns
    relations: Rules | None

    @property
    @abstractmethod
    def summary(self) -> str:
        """Return one sentence on the mechanism or protocol."""

    @property
    @abstractmethod
    def citations(self) -> tuple[str, ...]:
        """Return the publications to cite."""

    @property
    @abstractmethod
    def provenance(self) -> Provenance:
        """Return the provenance, which files have too."""

    @property
    def found(self) -> Patterns | Rules:
        """Return the relations of a question for relations, otherwise the patterns."""
        return self.patterns if self.relations is None else self.relations

    @property
    def row_source(self) -> Patterns | Rules:
        """Return the patterns or relations, the rows of files; they carry the provenance."""
        return self.found

    @property
    def people(self) -> int:
        """Return the number of people: public, or noisy with `patterns.people_within` as its interval."""
        return self.patterns.people

    def __len__(self) -> int:
        return len(self.found)

    def to_arrow(self) -> pa.Table:
        """Return the Arrow table of the patterns or relations."""
        return self.found.to_arrow()

    def to_pandas(self) -> pd.DataFrame:
        """Return the pandas frame of the patterns or relations."""
        return self.found.to_pandas()

    def to_dict(self) -> dict[str, Any]:
        """Return all values as plain values, as in a JSON file: the rows and the provenance."""
        # The patterns have a `to_dict` of their own, from itemset to count.
        values: dict[str, Any] = json.loads(self.to_json())
        return values

    def rules(self, min_confidence: float = 0.5, **options: Any) -> Rules:
        """Return the association rules among the patterns, by the options of :meth:`Patterns.rules`.

        Privacy: costs nothing more, as only released counts are used.
        """
        return self.patterns.rules(min_confidence, **options)

    def plot(self, kind: str | None = None, rows: int = 30, *, level: int | str | None = None) -> Picture:
        """Return a picture of the patterns, as :meth:`Patterns.plot`, or of the relations, as for rules."""
        return self.found.plot(kind, rows, level=level)

    def report(self, *, title: str | None = None, up: tuple[str, str] | None = None) -> str:
        """Return the report as one HTML page, complete in itself; a simulation is marked as one.

        Parameters
        ----------
        title
            The title of the page: the name of the data, for example.
        up
            The address and the title of the page above, for a segment.
        """
        # The rows in memory have no provenance; a report and a file take it from the release.
        result = replace(self.found, provenance=self.provenance)
        return result.report(title=title, summary=self.summary, citations=self.citations, up=up)

    def _rich(self, rows: int | None) -> RenderableType:
        return self.found._rich(rows)

    def _html(self, rows: int | None) -> str:
        return self.found._html(rows)
