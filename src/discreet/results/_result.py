"""The base of all results: rows as an Arrow table, a provenance, and methods to show, draw, save and load.

Patterns, rules, releases, outcomes, comparisons, differences, forecasts, verdicts and rankings are subclasses. A
subclass defines its rows; tables of other libraries, files, pages and the display in a notebook follow. Files are
written by `files`, in the formats of `formats`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..checks import parse_positive
from ..errors import InputError, MisuseError
from ..wording import render_html, render_text
from ._cells import guarded_text
from ._itemsets import frames
from ._untrusted import check_values, translated

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from rich.console import RenderableType

    from ._picture import Picture
    from ._provenance import Provenance

# The class of results by the form that their files state, as room and name: rooms above are imported on use.
_READERS = {
    "comparison/1": ("results", "Comparison"),
    "differences/1": ("results", "Differences"),
    "forecast/1": ("planning", "Forecast"),
    "ranking/1": ("publish", "Ranking"),
    "verdict/1": ("auditing", "Verdict"),
}


def reader_of(form: object) -> type[Result] | None:
    """Return the class of results that files of this form hold; None for patterns, rules and unknown forms."""
    module, name = _READERS.get(form, ("", "")) if isinstance(form, str) else ("", "")
    result_class: type[Result] | None = getattr(import_module(f"discreet.{module}"), name) if name else None
    return result_class


class Result(ABC):
    """A result: a table that can be shown, drawn, saved and loaded."""

    # The form that its files state, and its name in messages.
    FORM: ClassVar[str] = ""
    NOUN: ClassVar[str]
    # The number of rows shown by default; None for all.
    SHOWN_ROWS: ClassVar[int | None] = None
    # The function of `report` that renders its page; None for a result without a page.
    PAGE: ClassVar[str | None] = None

    @property
    def provenance(self) -> Provenance | None:
        """Return the provenance; None if there is nothing to state."""
        return None

    @property
    def row_source(self) -> Result:
        """Return the result with the rows for files; a release and an outcome return their patterns or relations."""
        return self

    @property
    def written_name(self) -> str:
        """Return the name that a command states after writing: ``"12 patterns"``, for example."""
        return bare_noun(type(self))

    @property
    def caution(self) -> str:
        """Return the warning that a command adds to this name; mostly ""."""
        return ""

    def __len__(self) -> int:
        return len(self.to_arrow())

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Return an Arrow table."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the table of :meth:`to_arrow` as an Arrow stream, which polars, pyarrow, DuckDB and pandas read."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pd.DataFrame:
        """Return the table of :meth:`to_arrow` as a pandas frame."""
        # Arrow needs pandas for this call, and its own error does not say how to install it.
        frames("pandas")
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return the table of :meth:`to_arrow` as a polars frame."""
        frame: pl.DataFrame = frames("polars").from_arrow(self.to_arrow())
        return frame

    @abstractmethod
    def to_dict(self) -> dict[Any, Any]:
        """Return all values as plain values, as in a JSON file."""

    def to_json(self) -> str:
        """Return the text of a JSON file."""
        from ._files import write

        # Through the writer of files, so that the text and a file cannot differ.
        stream = BytesIO()
        write(self.row_source, stream, "json")
        return stream.getvalue().decode().rstrip("\n")

    def cell_table(self) -> pa.Table:
        """Return the table of :meth:`to_arrow` as cells of text and numbers: lists as JSON, and no cell a formula."""
        import pyarrow as pa

        # A name that begins as a formula would be evaluated by a spreadsheet (OWASP, CSV Injection).
        table = self.to_arrow()
        for place, name in enumerate(table.column_names):
            cells = table[name].to_pylist()
            if pa.types.is_list(table[name].type):
                cells = [json.dumps(cell, ensure_ascii=False) for cell in cells]
            elif pa.types.is_large_string(table[name].type):
                cells = [None if cell is None else guarded_text(cell) for cell in cells]
            else:
                continue
            table = table.set_column(place, name, pa.array(cells, pa.large_string()))
        return table

    def save(self, path: str | PathLike[str], *, title: str | None = None) -> None:
        """Write to a file: rows, an ``.html`` report with a title, or an ``.svg`` or ``.png`` picture, by its suffix.

        :func:`discreet.load` reads rows back. Every file of a private result states its guarantee, and whether it was
        simulated. The report of an exact result states that it is not private.
        """
        from ._files import save

        save(self, path, title=title)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Return a result of this class from a file that :meth:`save` or the command line wrote.

        The statements of the file are not verified: a person with write access can change them.
        """
        from ._files import load

        result = load(path)
        # A file of a different result is a mistake of the caller, and would fail later without naming the file.
        if not isinstance(result, cls):
            raise InputError(f"{path} holds no {bare_noun(cls)}: discreet.load() reads other results.")
        return result

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], place: Path | str = "The result") -> Self:
        """Return the result of the plain values of :meth:`to_dict`, from a `place` for messages; all are checked."""
        with translated(Path(place), cls.NOUN):
            check_values(place, values)
            return cls._from_values(values)

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Self:
        """Return the result of plain values; any error in them names the flaw."""
        raise NotImplementedError

    def report(self, *, title: str | None = None) -> str:
        """Return a report as one HTML page, complete in itself.

        Parameters
        ----------
        title
            The title of the page: the name of the data, for example.
        """
        if self.PAGE is None:
            raise MisuseError(f"There is no report of {self.NOUN}: save it as .json, .csv or another table.")
        page: str = draw_with(self.PAGE, self, title)
        return page

    def plot(self) -> Picture:
        """Return a picture, which a notebook shows and ``.save("picture.svg")`` writes."""
        raise MisuseError(f"There is no picture of {self.NOUN}: save it as .json, .csv or another table.")

    def show(self, rows: int = 30) -> View:
        """Return the first rows as a table, which a notebook and a prompt display, and a script prints.

        Parameters
        ----------
        rows
            The number of rows.

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
        return View(self, parse_positive("rows", rows))

    @abstractmethod
    def _rich(self, rows: int | None) -> RenderableType:
        """Return the first rows, or all, with warnings and guarantee, for a rich console."""

    def _text(self, rows: int | None) -> str:
        return render_text(self._rich(rows))

    def _html(self, rows: int | None) -> str:
        return render_html(self._rich(rows))

    def __repr__(self) -> str:
        return self._text(self.SHOWN_ROWS)

    def _repr_html_(self) -> str:
        return self._html(self.SHOWN_ROWS)

    def __rich__(self) -> RenderableType:
        return self._rich(self.SHOWN_ROWS)


@dataclass(frozen=True, repr=False)
class View:
    """The first rows of a result, for display."""

    result: Result
    rows: int

    def __repr__(self) -> str:
        return self.result._text(self.rows)

    def _repr_html_(self) -> str:
        return self.result._html(self.rows)

    def __rich__(self) -> RenderableType:
        return self.result._rich(self.rows)


def bare_noun(kind: type[Result]) -> str:
    """Return the name of a class of results in messages, without an article."""
    return kind.NOUN.removeprefix("a ").removeprefix("an ")


def draw_with(function: str, *values: Any, **options: Any) -> Any:
    """Return the result of a function of the room `report`, which stands above this room and is imported on use."""
    # By name: drawing is not needed by most programs, and an import would point upwards.
    return getattr(import_module("discreet.report"), function)(*values, **options)
