"""Groups of options: dataclasses that several commands take as one parameter.

The decorator `expand_groups` replaces a parameter of the type of a group, like `ReadingOptions`, by the fields of the
group, which typer reads as options; the command receives the group with its values.
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
from ._output import check_output, emit, write_report
from ._progress import ProgressBar
from ._replacing import check_replaceable

if TYPE_CHECKING:
    from ..baskets import AnyBaskets
    from ..errors import Message
    from ..results import Result


@dataclass(frozen=True)
class ReadingOptions:
    """The options of a command that reads data."""

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

    def result_path(self) -> str | None:
        """Return the path of the file if the file holds a saved result; None for data."""
        from ..results import holds_result

        source = self.source
        return source if isinstance(source, str) and holds_result(source) else None

    def check_is_data(self) -> None:
        """Raise MisuseError if the file holds a saved result instead of data."""
        if path := self.result_path():
            raise MisuseError(f"{path} holds patterns or rules that were found already: give the data they came from.")

    @property
    def source(self) -> str | list[Path] | None:
        """The first argument of `read`: a path or address, several paths, or None for a query over files."""
        # A shell replaces a pattern without quotes, like sales-*.csv, by several files.
        paths = self.file or []
        return [Path(path) for path in paths] if len(paths) > 1 else next(iter(paths), None)

    def is_plain(self) -> bool:
        """Return whether the file is the only reading option on the command line."""
        return self == type(self)(file=self.file)

    def arguments(self) -> dict[str, Any]:
        """Return the values of the options as keywords of `read`; the names differ for the format alone."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "file"}
        values["format"] = values.pop("input_format")
        return values

    def start_engine(self) -> None:
        """Start Spark, in the subclass that has options for it."""

    def read_baskets(self, repeat_message: Message | None = None, by: str | None = None) -> AnyBaskets:
        """Return the baskets that the options describe.

        Parameters
        ----------
        repeat_message
            The refusal of a table without a person column, where two rows may belong to one person. With None, each
            row of the table is a person.
        by
            The column with the segment of each person.
        """
        from ..baskets import read, read_people

        if self.source is None and self.query is None:
            raise typer.BadParameter("give the FILE to read, or a --query over files.")
        self.start_engine()
        with ProgressBar("reading") as bar:
            arguments = self.arguments() | {"by": by, "progress": bar}
            if repeat_message is None:
                return read(self.source, **arguments)
            return read_people(self.source, person_advice=repeat_message, **arguments)


@dataclass(frozen=True)
class OrderedReading(ReadingOptions):
    """The options of a command that reads the order of items, or pairs of items, too."""

    time: options.Time = None
    pair: options.Pair = None
    ordered: options.Ordered = False


@dataclass(frozen=True)
class ClusterReading(ReadingOptions):
    """The options of a command that reads data on this machine or in Spark."""

    engine: options.EngineOption = None
    master: options.Master = None
    remote: options.Remote = None

    def arguments(self) -> dict[str, Any]:
        """Return the values of the options as keywords of `read`; the session of Spark knows its address."""
        values = super().arguments()
        del values["master"], values["remote"]
        return values

    def start_engine(self) -> None:
        """Start a Spark session, or connect to one, if Spark reads the data."""
        check_spark_address(self.engine, self.master, self.remote)
        if self.engine is not None:
            start_spark(self.master, self.remote)


def start_spark(master: str | None, remote: str | None) -> Any:
    """Return a Spark session at an address, with its log silenced; both addresses None for the configured one."""
    with ProgressBar("starting Spark"):
        # By name, as no room but Spark itself imports that room: its packages may not be installed.
        return import_module("discreet.spark._session").session_for(master, remote, quiet=True)


def check_spark_address(engine: str | None, master: str | None, remote: str | None) -> None:
    """Raise MisuseError if an address of Spark is given without the engine, or two addresses are given."""
    if engine is None and (master is not None or remote is not None):
        raise MisuseError("--master and --remote say where Spark runs: give --engine spark too.")
    if master is not None and remote is not None:
        raise MisuseError("Give one of --master, for classic Spark, and --remote, for Spark Connect.")


@dataclass(frozen=True)
class Writing:
    """The format and the path of the result; checked before any work is done."""

    pictures: ClassVar[bool] = False
    format: options.FormatOption = None
    output: options.Output = None

    def __post_init__(self) -> None:
        # The class is frozen: the default format is the only value that depends on a second option.
        object.__setattr__(self, "format", check_output(self.format, self.output, pictures=self.pictures))

    def write(self, result: Result) -> None:
        """Write a result to the path, or to standard output."""
        emit(result, self.format or "table", self.output)


@dataclass(frozen=True)
class ForecastWriting(Writing):
    """The format and the path of a forecast, which may be a picture too."""

    pictures: ClassVar[bool] = True
    format: options.ForecastFormatOption = None


@dataclass(frozen=True)
class Reporting:
    """The path and the title of a report; checked before any work is done."""

    report: options.Report = None
    title: options.Title = None

    def __post_init__(self) -> None:
        if self.report is not None:
            check_page(self.report)

    def check(self, source_options: ReadingOptions | None, writing: Writing, hierarchy: Path | None = None) -> None:
        """Raise MisuseError if the report would replace an input file or the result."""
        if self.report is None:
            return
        from ._delivery import input_paths  # which imports this module

        uses = [(path, "is read") for path in (input_paths(source_options, hierarchy) if source_options else ())]
        if writing.output is not None:
            uses.append((Path(writing.output), "holds the result"))
        for path, use in uses:
            if path.resolve() == self.report.resolve():
                raise MisuseError(f"{self.report} {use}: write the report to another file.")

    def write(self, result: Result, source_options: ReadingOptions) -> None:
        """Write the report of a result, with the name of the input in its title, if a path is given."""
        write_report(result, self.report, build_title(self.title, source_options.source))


@dataclass(frozen=True)
class PlainReporting(Reporting):
    """The path and the title of a report on public numbers: its title names no input file."""

    title: options.PlainTitle = None


def check_page(path: Path) -> None:
    """Raise MisuseError if a path does not end in .html, or cannot be written."""
    from ..atomic_write import check_output_path
    from ..results import is_page

    if not is_page(path):
        raise MisuseError(f"A report is a page: give a name that ends in .html instead of {path}.")
    check_replaceable(path)
    check_output_path(path)


def build_title(title: str | None, source: str | list[Path] | None) -> str:
    """Return the title on the command line, else the usual title of reports with the name of the input file."""
    from ..report import TITLE

    if title is not None:
        return title
    name = find_file_name(source)
    return TITLE if name is None else f"{TITLE}: {name}"


def find_file_name(source: str | list[Path] | None) -> str | None:
    """Return the name of the input file; None for standard input, several files, a query or an address."""
    # An address may have a password in it, so no title repeats one.
    is_file = isinstance(source, str) and source != "-" and "://" not in source
    return Path(str(source)).name if is_file else None


def expand_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the fields of its groups as parameters, for typer to read the options from."""
    hints = get_type_hints(command, include_extras=True)
    parameters: list[Parameter] = []
    groups: dict[str, tuple[Any, list[str]]] = {}
    for parameter in signature(command).parameters.values():
        kind = hints[parameter.name]
        # A group that `question_options` builds stands in Annotated, after its base class, which type checkers know.
        kind = next((extra for extra in getattr(kind, "__metadata__", ()) if is_dataclass(extra)), kind)
        if not is_dataclass(kind):
            parameters.append(parameter.replace(annotation=kind, kind=Parameter.KEYWORD_ONLY))
            continue
        field_hints = get_type_hints(kind, include_extras=True)
        groups[parameter.name] = kind, [field.name for field in fields(kind)]
        parameters += [
            Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=field_hints[field.name])
            for field in fields(kind)
        ]

    def run_command(**values: Any) -> None:
        for name, (kind, field_names) in groups.items():
            values[name] = kind(**{field_name: values.pop(field_name) for field_name in field_names})
        command(**values)

    run_command.__name__ = command.__name__
    run_command.__doc__ = command.__doc__
    # typer reads annotations and the signature, so both are those of the expanded parameters.
    run_command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run_command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return run_command
