"""Options that belong together, written once and given to every command that wants them.

A command takes a parameter whose type is a group, such as `ReadingOptions`; `grouped` puts the group's fields in its
place as options, and hands the filled group to the command.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, get_type_hints

import typer

from ..errors import MisuseError
from . import options
from ._adding import check_place
from ._output import check, emit, write_report
from ._progress import ProgressBar
from ._replacing import check_replaceable

if TYPE_CHECKING:
    from ..baskets import AnyBaskets
    from ..errors import Message
    from ..results import Result


@dataclass(frozen=True)
class ReadingOptions:
    """Which data to read, and how."""

    file: options.File = None
    person: options.Person = None
    item: options.ItemColumn = None
    basket: options.BasketColumn = None
    query: options.Query = None
    input_format: options.InputFormat = None
    delimiter: options.Delimiter = None
    encoding: options.Encoding = None
    labels: options.LabelsOption = None
    names: options.NamesFile = None
    same_names: options.SameNames = None
    max_items: options.MaxItems = None
    seed: options.Seed = None
    memory: options.Memory = "2GB"
    nulls: options.NullsOption = "error"

    def result(self) -> str | None:
        """Return the file if it holds patterns or rules instead of data."""
        from ..results import holds_result

        source = self.source
        return source if isinstance(source, str) and holds_result(source) else None

    @property
    def source(self) -> str | list[Path] | None:
        """What to read: the one that was given, or several files, as a shell makes of a pattern without quotes."""
        files = self.file or []
        return [Path(file) for file in files] if len(files) > 1 else next(iter(files), None)

    def is_plain(self) -> bool:
        """Say whether nothing but the file was given."""
        return self == type(self)(file=self.file)

    def beside(self) -> dict[str, Any]:
        """Return what the data have beside baskets, where the command wants it."""
        return {}

    def start(self) -> None:
        """Start what reads the data, where that is not this program."""

    def baskets(self, otherwise: Message | None = None, by: str | None = None) -> AnyBaskets:
        """Read the data, with segments `by` a column; with `otherwise`, rows that may repeat a person are refused."""
        from ..baskets import read, read_people

        if self.source is None and self.query is None:
            raise typer.BadParameter("give the FILE to read, or a --query over files.")
        self.start()
        with ProgressBar("reading") as bar:
            arguments: dict[str, Any] = {
                "person": self.person,
                "item": self.item,
                "basket": self.basket,
                "by": by,
                "query": self.query,
                "format": self.input_format,
                "delimiter": self.delimiter,
                "encoding": self.encoding,
                "labels": self.labels,
                "names": self.names,
                "same_names": self.same_names,
                "max_items": self.max_items,
                "seed": self.seed,
                "memory": self.memory,
                "nulls": self.nulls,
                "progress": bar,
                **self.beside(),
            }
            if otherwise is None:
                return read(self.source, **arguments)
            return read_people(self.source, otherwise=otherwise, **arguments)


@dataclass(frozen=True)
class OrderedReading(ReadingOptions):
    """Which data to read, and how, with order and pairs."""

    time: options.Time = None
    pair: options.Pair = None
    ordered: options.Ordered = False

    def beside(self) -> dict[str, Any]:
        """Return what the data have beside baskets."""
        return {"time": self.time, "pair": self.pair, "ordered": self.ordered}


@dataclass(frozen=True)
class ClusterReading(ReadingOptions):
    """Which data to read, and whether Spark does."""

    engine: options.EngineOption = None
    master: options.Master = None
    remote: options.Remote = None

    def beside(self) -> dict[str, Any]:
        """Return who reads."""
        return {} if self.engine is None else {"engine": self.engine}

    def start(self) -> None:
        """Start Spark, or find it."""
        check_place(self.engine, self.master, self.remote)
        if self.engine is None:
            return
        with ProgressBar("starting Spark"):
            import_module("discreet.spark._session").session_for(self.master, self.remote, quiet=True)


@dataclass(frozen=True)
class Writing:
    """How to write the result, and where; checked before any work is done."""

    pictures: ClassVar[bool] = False
    format: options.FormatOption = None
    output: options.Output = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "format", check(self.format, self.output, pictures=self.pictures))

    def write(self, result: Result) -> None:
        """Write the result."""
        emit(result, self.format or "table", self.output)


@dataclass(frozen=True)
class ForecastWriting(Writing):
    """How to write a forecast, and where: a picture too."""

    pictures: ClassVar[bool] = True
    format: options.ForecastFormatOption = None


@dataclass(frozen=True)
class Reporting:
    """Whether a report is written too, and what it is called; checked before any work is done."""

    report: options.Report = None
    title: options.Title = None

    def __post_init__(self) -> None:
        if self.report is not None:
            check_page(self.report)

    def check(self, reading: ReadingOptions | None, writing: Writing, beside: Path | None = None) -> None:
        """Refuse a report in the place of what is read, or of the result."""
        if self.report is None:
            return
        from ._delivery import places_read

        places = [(place, "is read") for place in (places_read(reading, beside) if reading else ())]
        if writing.output is not None:
            places.append((Path(writing.output), "holds the result"))
        for other, what in places:
            if other.resolve() == self.report.resolve():
                raise MisuseError(f"{self.report} {what}: write the report to another file.")

    def write(self, result: Result, reading: ReadingOptions) -> None:
        """Write the report, if one is wanted, under the name of what was read."""
        write_report(result, self.report, title_of(self.title, reading.source))


@dataclass(frozen=True)
class PlainReporting(Reporting):
    """Whether a report is written too of what is read from no file."""

    title: options.PlainTitle = None


def check_page(path: Path) -> None:
    """Refuse a place for a page that has another suffix, or that cannot be written to."""
    from ..atomic_write import check_output_path as check_writable
    from ..results import is_page

    if not is_page(path):
        raise MisuseError(f"A report is a page: give a name that ends in .html instead of {path}.")
    check_replaceable(path)
    check_writable(path)


def title_of(typed: str | None, source: str | list[Path] | None) -> str:
    """Return the title of a report: as typed, or with the name of the file."""
    from ..report import TITLE

    name = name_of(source)
    return (TITLE if name is None else f"{TITLE}: {name}") if typed is None else typed


def name_of(source: str | list[Path] | None) -> str | None:
    """Return the name of the one file that is read; None where there is none, or an address, which may be secret."""
    named = isinstance(source, str) and source != "-" and "://" not in source
    return Path(str(source)).name if named else None


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the fields of its groups as parameters of its own."""
    hints = get_type_hints(command, include_extras=True)
    parameters: list[Parameter] = []
    groups: dict[str, tuple[Any, list[str]]] = {}
    for parameter in signature(command).parameters.values():
        kind = hints[parameter.name]
        # A group that is made when the program starts stands beside the class that type checkers know it by.
        kind = next((one for one in getattr(kind, "__metadata__", ()) if is_dataclass(one)), kind)
        if not is_dataclass(kind):
            parameters.append(parameter.replace(annotation=kind, kind=Parameter.KEYWORD_ONLY))
            continue
        inner = get_type_hints(kind, include_extras=True)
        groups[parameter.name] = kind, [field.name for field in fields(kind)]
        parameters += [
            Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=inner[field.name])
            for field in fields(kind)
        ]

    def shell(**values: Any) -> None:
        for name, (kind, names) in groups.items():
            values[name] = kind(**{inner: values.pop(inner) for inner in names})
        command(**values)

    shell.__name__ = command.__name__
    shell.__doc__ = command.__doc__
    shell.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    shell.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return shell
