"""The table of file formats: names, suffixes, writers and readers.

A format is added by one entry of `FORMATS`. All other code reads this table: `save` and `load`, the options ``-o`` and
``--format``, the check of files to be replaced, the check of paths before anything is spent, error messages, and the
list in the documentation. Nothing heavy is imported here: the command line offers the names before anything is loaded,
so writers and readers are given by name, and imported on use.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

from ..baskets import public_path
from ..errors import MisuseError

HEAD_BYTES = 1 << 14  # read to recognise a file: the header of a result begins within them
# The content of a file: the rows of a result, a whole page on it, or a picture.
Content: TypeAlias = Literal["rows", "page", "picture"]


@dataclass(frozen=True, kw_only=True)
class ResultFormat:
    """One file format.

    Parameters
    ----------
    name, title, summary
        The value of ``--format``, the name in messages, and the description in the documentation.
    suffixes
        The suffixes of its files, the usual suffix first.
    contents
        The possible contents of its files.
    writer, reader
        Functions of this room, as ``"module.function"``; "" for the functions of `_writing` and `_loading` with the
        name of the format. A writer takes a result, a binary stream and the pointer to a file beside; a reader takes a
        path and the bytes of the file.
    media_type
        The media type that a web server states.
    is_text
        Whether a terminal can show it.
    has_file_beside
        Whether a file beside has the header, for which the format has no columns.
    magic
        The first bytes of its files; b"" for a format recognised by its text.
    marker
        The function that checks, by the metadata of a file with this magic, whether discreet wrote it.
    package, extra
        The package that writing needs besides the dependencies of discreet, and the extra that installs it.
    """

    name: str
    title: str
    summary: str
    suffixes: tuple[str, ...]
    contents: tuple[Content, ...] = ("rows",)
    writer: str = ""
    reader: str = ""
    media_type: str = "application/octet-stream"
    is_text: bool = False
    has_file_beside: bool = False
    magic: bytes = b""
    marker: str = ""
    package: str = ""
    extra: str = ""

    def write(self, result: Any, stream: BinaryIO, pointer: str | None = None) -> None:
        """Write the rows of a result to a binary stream; `pointer` names the file beside a table."""
        _function(self.writer or f"_writing.write_{self.name}")(result, stream, pointer)

    def read(self, path: Path, content: bytes) -> Any:
        """Return the result that a file of this format holds."""
        return _function(self.reader or f"_loading.read_{self.name}")(path, content)

    def has_mark(self, path: Path) -> bool:
        """Return whether the metadata of a file with this magic state that discreet wrote it."""
        return bool(_function(self.marker)(path))

    def check_installed(self) -> None:
        """Check that the package of the format is installed."""
        if self.package and find_spec(self.package) is None:
            raise MisuseError(
                f"Writing {self.suffixes[0]} files needs a package: pip install 'discreet[{self.extra}]'. A .csv file "
                "needs none."
            )


def has_parquet_mark(path: Path) -> bool:
    """Return whether the metadata of a Parquet file have the field that discreet writes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return b"discreet" in (pq.read_schema(path).metadata or {})
    except (pa.ArrowException, OSError):
        return False


def has_arrow_mark(path: Path) -> bool:
    """Return whether the metadata of an Arrow file have the field that discreet writes."""
    import pyarrow as pa

    # Only the schema at the end of the file is read, and not the rows.
    try:
        with pa.OSFile(str(path)) as file:
            return b"discreet" in (pa.ipc.open_file(file).schema.metadata or {})
    except (pa.ArrowException, OSError):
        return False


def _function(name: str) -> Callable[..., Any]:
    """Return a function of this room by the name of its module and its own."""
    module, _, function = name.partition(".")
    loaded: Callable[..., Any] = getattr(import_module(f"{__package__}.{module}"), function)
    return loaded


FORMATS: tuple[ResultFormat, ...] = (
    ResultFormat(
        name="json",
        title="JSON",
        summary="all of it, one row per line",
        suffixes=(".json",),
        media_type="application/json",
        is_text=True,
    ),
    ResultFormat(
        name="csv",
        title="CSV",
        summary="a table of text, for every program; what it has no columns for is in a file beside it",
        suffixes=(".csv",),
        media_type="text/csv",
        is_text=True,
        has_file_beside=True,
    ),
    ResultFormat(
        name="tsv",
        title="TSV",
        summary="as `.csv`, with tabulators in place of commas",
        suffixes=(".tsv",),
        media_type="text/tab-separated-values",
        is_text=True,
        has_file_beside=True,
    ),
    ResultFormat(
        name="parquet",
        title="Parquet",
        summary="a small table for programs, with all of it",
        suffixes=(".parquet",),
        media_type="application/vnd.apache.parquet",
        magic=b"PAR1",
        marker="_formats.has_parquet_mark",
    ),
    ResultFormat(
        name="arrow",
        title="Arrow",
        summary="a table that programs read without unpacking it, with all of it",
        suffixes=(".arrow", ".feather"),
        media_type="application/vnd.apache.arrow.file",
        magic=b"ARROW1",
        marker="_formats.has_arrow_mark",
    ),
    ResultFormat(
        name="xlsx",
        title="XLSX",
        summary="a workbook: rows on the first sheet, where they come from on the second. "
        "It needs `pip install 'discreet[excel]'`",
        suffixes=(".xlsx",),
        writer="_workbook.write_xlsx",
        reader="_workbook.read_xlsx",
        media_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        magic=b"PK",
        marker="_workbook.names_discreet",
        package="xlsxwriter",
        extra="excel",
    ),
    ResultFormat(
        name="html",
        title="HTML",
        summary="a report, which `save` and `--report` write and nothing reads back; or a picture: `plot().save`",
        suffixes=(".html", ".htm"),
        contents=("page", "picture"),
        is_text=True,
    ),
    ResultFormat(
        name="svg",
        title="SVG",
        summary="a picture: `plot().save`",
        suffixes=(".svg",),
        contents=("picture",),
        is_text=True,
    ),
    ResultFormat(
        name="png", title="PNG", summary="a picture: `plot().save`", suffixes=(".png",), contents=("picture",)
    ),
)
ROW_FORMATS = {form.name: form for form in FORMATS if "rows" in form.contents}


def suffix_of(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a file name, in lower case."""
    return Path(path).suffix.lower()


def find_format(path: str | os.PathLike[str], *contents: Content) -> ResultFormat | None:
    """Return the format of a file by its suffix, among formats with these contents; None for an unknown suffix."""
    # Suffixes differ between formats, so the first fitting format is the only one.
    fitting = (form for form in FORMATS if not contents or set(contents) & set(form.contents))
    return next((form for form in fitting if suffix_of(path) in form.suffixes), None)


def format_of(path: str | os.PathLike[str], *contents: Content, subject: str = "results are kept in") -> ResultFormat:
    """Return the format of a path by its suffix, among formats with these contents.

    `subject` begins the part of the message that lists the suffixes, in the error for an unknown suffix.
    """
    form = find_format(path, *contents or ("rows",))
    if form is not None:
        return form
    shown_path = Path(public_path(path))  # a URL is no path for a result, and may have a secret
    suffix = suffix_of(path) and suffix_of(shown_path)
    problem = f"ends in {suffix}" if suffix else "has no suffix"
    raise MisuseError(f"{shown_path} {problem}, but {subject} {listed_suffixes(*contents or ('rows',))} files.")


def listed_suffixes(*contents: Content, conjunction: str = "or") -> str:
    """Return the suffixes of formats with these contents, as part of a sentence.

    Examples
    --------
    >>> listed_suffixes("picture")
    '.html, .htm, .svg or .png'
    """
    forms = (form for form in FORMATS if set(contents) & set(form.contents))
    names = [suffix for form in forms for suffix in form.suffixes]
    return f"{', '.join(names[:-1])} {conjunction} {names[-1]}"


def is_page(path: str | os.PathLike[str]) -> bool:
    """Return whether the suffix of a path is the suffix of a page."""
    return find_format(path, "page") is not None
