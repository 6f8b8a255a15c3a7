"""The one table of file formats: which there are, how a file's name tells them, what writes them and what reads them.

Adding a format is adding one entry to `FORMATS`. Everything else reads this table: `save` and `load`, the options
``-o`` and ``--format``, what the command line may replace, which places are checked before anything is spent, error
messages, and the list in the documentation. Nothing heavy is imported here: the command line offers the names before
anything is loaded, so writers and readers are named, and looked up when one is needed.
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

LOOKED_AT = 1 << 14  # bytes at the beginning: the head of any of our files
# What a format can hold: the rows of a result, a whole page about it, or a picture of it.
Content: TypeAlias = Literal["rows", "page", "picture"]


@dataclass(frozen=True, kw_only=True)
class ResultFormat:
    """One file format.

    Parameters
    ----------
    name, title, summary
        What is typed after ``--format``, what messages call it, and what the documentation says of its files.
    suffixes
        The suffixes of its files, the usual one first.
    contents
        What its files hold.
    writer, reader
        Functions of this room, as ``"module.function"``. A writer of rows takes a result, a binary stream and the
        pointer to a file beside; a reader takes a path and the bytes there. Pages and pictures have neither.
    media_type
        What a web server calls it.
    is_text
        Whether a terminal can show it.
    has_file_beside
        Whether all that it has no columns for goes into a file beside it.
    magic
        The first bytes of its files, where there are such; other files are told by what they say.
    marker
        The function that says of a file with this magic whether discreet wrote it, by its metadata.
    package, extra
        The package that writing needs beside those of discreet, and the extra that installs it.
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
        _function(self.writer)(result, stream, pointer)

    def read(self, path: Path, content: bytes) -> Any:
        """Return the result that a file of this format holds."""
        return _function(self.reader)(path, content)

    def has_mark(self, path: Path) -> bool:
        """Return whether a file of this format, which has a magic, says that discreet wrote it."""
        return bool(_function(self.marker)(path))

    def check_installed(self) -> None:
        """Refuse a format whose package is not there."""
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

    try:
        with pa.OSFile(str(path)) as file:
            return b"discreet" in (pa.ipc.open_file(file).schema.metadata or {})
    except (pa.ArrowException, OSError):
        return False


def _function(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(".")
    found: Callable[..., Any] = getattr(import_module(f"{__package__}.{module}"), function)
    return found


FORMATS: tuple[ResultFormat, ...] = (
    ResultFormat(
        name="json",
        title="JSON",
        summary="all of it, one row per line",
        suffixes=(".json",),
        writer="_writing.write_json",
        reader="_loading.read_json",
        media_type="application/json",
        is_text=True,
    ),
    ResultFormat(
        name="csv",
        title="CSV",
        summary="a table of text, for every program; what it has no columns for is in a file beside it",
        suffixes=(".csv",),
        writer="_writing.write_csv",
        reader="_loading.read_csv",
        media_type="text/csv",
        is_text=True,
        has_file_beside=True,
    ),
    ResultFormat(
        name="tsv",
        title="TSV",
        summary="as `.csv`, with tabulators in place of commas",
        suffixes=(".tsv",),
        writer="_writing.write_tsv",
        reader="_loading.read_tsv",
        media_type="text/tab-separated-values",
        is_text=True,
        has_file_beside=True,
    ),
    ResultFormat(
        name="parquet",
        title="Parquet",
        summary="a small table for programs, with all of it",
        suffixes=(".parquet",),
        writer="_writing.write_parquet",
        reader="_loading.read_parquet",
        media_type="application/vnd.apache.parquet",
        magic=b"PAR1",
        marker="_formats.has_parquet_mark",
    ),
    ResultFormat(
        name="arrow",
        title="Arrow",
        summary="a table that programs read without unpacking it, with all of it",
        suffixes=(".arrow", ".feather"),
        writer="_writing.write_arrow",
        reader="_loading.read_arrow",
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
    """Return the suffix of a file's name, in small letters."""
    return Path(path).suffix.lower()


def known_format(path: str | os.PathLike[str], *contents: Content) -> ResultFormat | None:
    """Return the format of a file that holds one of these contents, as its suffix tells; None where there is none."""
    fitting = (form for form in FORMATS if not contents or set(contents) & set(form.contents))
    return next((form for form in fitting if suffix_of(path) in form.suffixes), None)


def format_of(path: str | os.PathLike[str], *contents: Content, subject: str = "results are kept in") -> ResultFormat:
    """Return the format that the suffix of `path` stands for, which can hold one of these contents.

    `subject` begins the part of the message that lists the suffixes, where there is none such.
    """
    found = known_format(path, *contents or ("rows",))
    if found is not None:
        return found
    named = Path(public_path(path))  # an address is no place for a result, and may have a secret
    suffix = suffix_of(path) and suffix_of(named)
    given = f"ends in {suffix}" if suffix else "has no suffix"
    raise MisuseError(f"{named} {given}, but {subject} {listed_suffixes(*contents or ('rows',))} files.")


def listed_suffixes(*contents: Content, last: str = "or") -> str:
    """Return the suffixes of formats that can hold one of these contents, as a sentence has them.

    Examples
    --------
    >>> listed_suffixes("picture")
    '.html, .htm, .svg or .png'
    """
    forms = (form for form in FORMATS if set(contents) & set(form.contents))
    names = [suffix for form in forms for suffix in form.suffixes]
    return f"{', '.join(names[:-1])} {last} {names[-1]}"


def is_page(path: str | os.PathLike[str]) -> bool:
    """Return whether the suffix of `path` is that of a page."""
    return known_format(path, "page") is not None
