"""The one shape of a result: rows as an Arrow table, where they come from, and how all of it is shown and handed on.

Patterns, rules, releases, outcomes, comparisons, differences, forecasts, verdicts and rankings are subclasses. A
subclass says what its rows are; other libraries' tables, files, pages and what a notebook shows follow from that.
Files are written by `files`, in the formats that `formats` lists.
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

# Who reads the plain values of a file, by the form that it states. Rooms above this one are looked up by their names.
_READERS = {
    "comparison/1": ("results", "Comparison"),
    "differences/1": ("results", "Differences"),
    "forecast/1": ("planning", "Forecast"),
    "ranking/1": ("publish", "Ranking"),
    "verdict/1": ("auditing", "Verdict"),
}


def reader_of(form: object) -> type[Result] | None:
    """Return the class of the results whose files state this form; None where these are patterns, rules or unknown."""
    module, name = _READERS.get(form, ("", "")) if isinstance(form, str) else ("", "")
    found: type[Result] | None = getattr(import_module(f"discreet.{module}"), name) if name else None
    return found


class Result(ABC):
    """What every result can do: it is a table, and can be looked at, drawn, saved and loaded."""

    # What a file states that holds one, and what messages call one.
    FORM: ClassVar[str] = ""
    NOUN: ClassVar[str]
    # How many rows are shown where nobody says how many; None for all.
    SHOWN_ROWS: ClassVar[int | None] = None
    # The function of `report` that draws the page of a result; None where it has no page.
    PAGE: ClassVar[str | None] = None

    @property
    def provenance(self) -> Provenance | None:
        """Where the result comes from; None where nothing is stated."""
        return None

    @property
    def row_source(self) -> Result:
        """The result whose rows files of rows hold: this one, but for a release and an outcome."""
        return self

    @property
    def written_name(self) -> str:
        """What a command says that it wrote, such as ``"12 patterns"``."""
        return bare_noun(type(self))

    @property
    def caution(self) -> str:
        """What a command adds to that, and a reader has to know; usually nothing."""
        return ""

    def __len__(self) -> int:
        return len(self.to_arrow())

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Return an Arrow table."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the table of :meth:`to_arrow` to whoever speaks Arrow: polars, pyarrow, DuckDB, pandas."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pd.DataFrame:
        """Return the table of :meth:`to_arrow` as a pandas frame."""
        frames("pandas")
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return the table of :meth:`to_arrow` as a polars frame."""
        frame: pl.DataFrame = frames("polars").from_arrow(self.to_arrow())
        return frame

    @abstractmethod
    def to_dict(self) -> dict[Any, Any]:
        """Return everything as plain values, as a JSON file has them."""

    def to_json(self) -> str:
        """Return the text of a JSON file."""
        from ._files import write

        stream = BytesIO()
        write(self.row_source, stream, "json")
        return stream.getvalue().decode().rstrip("\n")

    def cell_table(self) -> pa.Table:
        """Return the table of :meth:`to_arrow` as cells of text and numbers: lists as JSON, and nothing a formula."""
        import pyarrow as pa

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

        :func:`discreet.load` reads rows back. What was promised about a private result, and whether it was simulated,
        is in each of them. The report of an exact one says that it is not private.
        """
        from ._files import save

        save(self, path, title=title)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Return a result of this class that :meth:`save` or the command line wrote to a file.

        The file is taken at its word: whoever can change it can change what it says.
        """
        from ._files import load

        found = load(path)
        if not isinstance(found, cls):
            raise InputError(f"{path} holds no {bare_noun(cls)}: discreet.load() reads other results.")
        return found

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], place: Path | str = "The result") -> Self:
        """Return the result that :meth:`to_dict` wrote, at a `place` that messages name; anyone may have changed it."""
        with translated(Path(place), cls.NOUN):
            check_values(place, values)
            return cls._from_values(values)

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Self:
        """Return the result of plain values; any error in them says what is wrong."""
        raise NotImplementedError

    def report(self, *, title: str | None = None) -> str:
        """Return a report as one HTML page that needs nothing else.

        Parameters
        ----------
        title
            What the page is about: a good place for the name of the data.
        """
        if self.PAGE is None:
            raise MisuseError(f"There is no report of {self.NOUN}: save it as .json, .csv or another table.")
        page: str = draw_with(self.PAGE, self, title)
        return page

    def plot(self) -> Picture:
        """Return a picture, which a notebook shows and ``.save("picture.svg")`` writes."""
        raise MisuseError(f"There is no picture of {self.NOUN}: save it as .json, .csv or another table.")

    def show(self, rows: int = 30) -> View:
        """Return the first rows as a table: it shows itself in a notebook and at a prompt; a script prints it.

        Parameters
        ----------
        rows
            How many rows to show.

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
        """Return the first rows, or all, with what has to be known of them, for a rich console."""

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
    """The first rows of a result, to be looked at."""

    result: Result
    rows: int

    def __repr__(self) -> str:
        return self.result._text(self.rows)

    def _repr_html_(self) -> str:
        return self.result._html(self.rows)

    def __rich__(self) -> RenderableType:
        return self.result._rich(self.rows)


def bare_noun(kind: type[Result]) -> str:
    """Return what messages call a result, without an article."""
    return kind.NOUN.removeprefix("a ").removeprefix("an ")


def draw_with(function: str, *values: Any, **options: Any) -> Any:
    """Return what a function of the room that draws makes: it comes after this one, and is looked up by its name."""
    return getattr(import_module("discreet.report"), function)(*values, **options)
