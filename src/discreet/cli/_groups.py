"""Commands, and groups of options: dataclasses that several commands take as one parameter.

The decorator `command` replaces a parameter of the type of a group, like `ReadingOptions`, by the fields of the group,
which typer reads as options; the function receives the group with its values.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import Field, dataclass, fields, is_dataclass
from importlib import import_module
from inspect import Parameter, Signature, cleandoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_type_hints

import typer

from ..errors import MisuseError
from . import options
from ._output import check_output, emit, write_report
from ._replacing import check_replaceable
from ._terminal import ProgressBar

if TYPE_CHECKING:
    from ..baskets import AnyBaskets
    from ..errors import Message
    from ..results import Result


@dataclass(frozen=True)
class ReadingOptions:
    """The options for reading data; a command leaves out the options of `left_out`."""

    left_out: ClassVar[tuple[str, ...]] = ()
    file: list[str] | None = options.argument(
        "FILE",
        "The data: .dat .txt .csv .tsv .jsonl .parquet .feather (also .gz .bz2 .xz .zst .zip) or .xlsx. Several "
        "files, a folder or 'sales-*.csv' are one table. With --input-format, - is standard input. With --query, a "
        "database: sqlite:///shop.db, postgresql://host/shop, shop.duckdb.",
        default=None,
    )
    person: str | None = options.option(
        "The column that says whose row it is; a person's rows become one basket, unless --basket parts them.",
        options.DATA,
        metavar="COLUMN",
    )
    item: str | None = options.option("The column with the item.", options.DATA, metavar="COLUMN")
    basket: str | None = options.option(
        "The column that tells a person's baskets apart, such as a receipt: counts are then of baskets. Relations "
        "are of people all the same.",
        options.DATA,
        metavar="COLUMN",
    )
    query: str | None = options.option("A query whose result is the table to read.", options.DATA, metavar="SQL")
    input_format: str | None = options.option(
        "Read FILE as this format, whatever its suffix.", options.DATA, metavar="NAME"
    )
    delimiter: str | None = options.option(
        "What stands between the fields of CSV, such as ; or tab.  \\[default: as line 1 has it]",
        options.DATA,
        metavar="CHARACTER",
    )
    encoding: str | None = options.option(
        "How text is encoded, such as windows-1252.  \\[default: by its mark, else utf-8]", options.DATA, metavar="NAME"
    )
    labels: options.LabelKind | None = options.option(
        "Whether items are numbers or names.  \\[default: as the first line has them]", options.DATA
    )
    names: Path | None = options.option(
        "What the items are called, where they are codes: a table of codes and names. It is public.",
        options.DATA,
        metavar="FILE",
    )
    same_names: Literal["apart", "merge"] | None = options.option(
        "Whether codes of one name are different items or one.  \\[default: apart]", options.DATA
    )
    max_items: int | None = options.number("Keep at most N items of a basket, chosen at random.", options.DATA)
    seed: int | None = options.number("Makes the choice of --max-items repeatable.", options.DATA)
    memory: str = options.option(
        "How much memory to use. Beyond it, grouping a table goes to disk, and more baskets than fit are refused.",
        options.DATA,
        default="2GB",
        metavar="SIZE",
    )
    nulls: options.Nulls = options.option("What to do with rows that name no person.", options.DATA, default="error")
    time: str | None = options.option(
        "The column that orders a person's rows, for relations in time.", options.DATA, metavar="COLUMN"
    )
    pair: tuple[str, str] | None = options.option(
        "Two columns, with --item or without: each row gives its person a pair of items.",
        options.DATA,
        metavar="COLUMN COLUMN",
    )
    ordered: bool = options.option(
        "Items are in order, in text with one basket per line or in lists; for relations in time.",
        options.DATA,
        default=False,
    )
    engine: Literal["spark"] | None = options.option(
        "Let Spark read the data and count, where they outgrow this machine (pip install 'discreet\\[spark]').",
        options.DATA,
    )
    master: str | None = options.option(
        "Where Spark runs: spark://host:7077, yarn, local\\[4].  \\[default: as Spark is configured]",
        options.DATA,
        metavar="URL",
    )
    remote: str | None = options.option("A server of Spark Connect: sc://host:15002.", options.DATA, metavar="URL")

    def result_path(self) -> str | None:
        """Return the path of the file if the file holds a saved result; None for data."""
        from ..results import holds_result

        source = self.source
        # Several files are a table: a saved result is a single file.
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
        # Compared as a whole, so that a new option counts without a change here.
        return self == type(self)(file=self.file)

    def arguments(self) -> dict[str, Any]:
        """Return the values of the options as keywords of `read`; the session of Spark knows its address."""
        values = {name: value for name, value in vars(self).items() if name not in ("file", "master", "remote")}
        # --format is the form of the result on the command line; in Python it is the form of the input.
        values["format"] = values.pop("input_format")
        return values

    def read_baskets(self, repeat_message: Message | None = None, segment_column: str | None = None) -> AnyBaskets:
        """Return the baskets that the options describe.

        Parameters
        ----------
        repeat_message
            The refusal of a table without a person column, where two rows may belong to one person. With None, each
            row of the table is a person.
        segment_column
            The column with the segment of each person.
        """
        from ..baskets import read, read_people

        # Checked here and not by typer: with --query the argument is left out.
        if self.source is None and self.query is None:
            raise typer.BadParameter("give the FILE to read, or a --query over files.")
        check_spark_address(self.engine, self.master, self.remote)
        if self.engine is not None:
            start_spark(self.master, self.remote)
        # The bar starts after Spark: two bars on one line would mix.
        with ProgressBar("reading") as bar:
            arguments = self.arguments() | {"by": segment_column, "progress": bar}
            if repeat_message is None:
                return read(self.source, **arguments)
            return read_people(self.source, person_advice=repeat_message, **arguments)


class OrderedReading(ReadingOptions):
    """The options of a command that reads the order of items, or pairs of items, too."""

    left_out: ClassVar[tuple[str, ...]] = ("engine", "master", "remote")


class ClusterReading(ReadingOptions):
    """The options of a command that reads data on this machine or in Spark."""

    left_out: ClassVar[tuple[str, ...]] = ("time", "pair", "ordered")


def start_spark(master: str | None, remote: str | None) -> Any:
    """Return a Spark session at an address, with its log silenced; both addresses None for the configured one."""
    with ProgressBar("starting Spark"):
        # By name, as no room but Spark itself imports that room: its packages may not be installed.
        return import_module("discreet.spark._session").session_for(master, remote, quiet=True)


def check_spark_address(engine: str | None, master: str | None, remote: str | None) -> None:
    """Raise MisuseError if an address of Spark is given without the engine, or two addresses are given."""
    if engine is None and (master is not None or remote is not None):
        raise MisuseError("--master and --remote say where Spark runs: give --engine spark too.")
    # Both would start sessions of two kinds, and none of the two options says which is meant.
    if master is not None and remote is not None:
        raise MisuseError("Give one of --master, for classic Spark, and --remote, for Spark Connect.")


@dataclass(frozen=True)
class Writing:
    """The format and the path of the result; checked before any work is done."""

    pictures: ClassVar[bool] = False
    format: options.Format | None = options.option(options.FORMAT_HELP, options.OUT)
    output: Path | None = options.option(
        "Write to this file instead of the terminal.", options.OUT, "--output", "-o", metavar="FILE"
    )

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
    format: options.ForecastFormat | None = options.option(options.FORMAT_HELP, options.OUT)


@dataclass(frozen=True)
class Reporting:
    """The path and the title of a report; checked before any work is done."""

    report: Path | None = options.REPORT
    title: str | None = options.TITLE

    def __post_init__(self) -> None:
        if self.report is not None:
            # A wrong name must not cost an hour of mining.
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
            # Resolved, as a link to an input is the input.
            if path.resolve() == self.report.resolve():
                raise MisuseError(f"{self.report} {use}: write the report to another file.")

    def write(self, result: Result, source_options: ReadingOptions) -> None:
        """Write the report of a result, with the name of the input in its title, if a path is given."""
        write_report(result, self.report, build_title(self.title, source_options.source))


@dataclass(frozen=True)
class PlainReporting(Reporting):
    """The path and the title of a report on public numbers: its title names no input file."""

    title: str | None = options.option("The title of the report.", options.OUT, metavar="TEXT")


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

    # An empty title is a title too.
    if title is not None:
        return title
    name = find_file_name(source)
    return TITLE if name is None else f"{TITLE}: {name}"


def find_file_name(source: str | list[Path] | None) -> str | None:
    """Return the name of the input file; None for standard input, several files, a query or an address."""
    # An address may have a password in it, so no title repeats one.
    is_file = isinstance(source, str) and source != "-" and "://" not in source
    return Path(str(source)).name if is_file else None


def command(app: typer.Typer, name: str | None = None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds a function to an app of typer as a command, under its own name by default.

    The docstring is the help: its section "Examples", one example in a paragraph, stands below the options.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        help_text, _, section = cleandoc(function.__doc__ or "").partition("\n\nExamples\n--------\n")
        examples = "\n\n".join(example.replace("\n", " ") for example in section.split("\n\n"))
        epilog = f"[bold]Examples[/bold]\n\n{examples}" if section else None
        app.command(name, help=help_text, epilog=epilog)(expand_groups(function))
        return function

    return decorate


def expand_groups(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function with the fields of its groups as parameters, for typer to read the options from."""
    # Annotations are texts in modules of commands, and typer needs the types.
    hints = get_type_hints(function, include_extras=True)
    parameters: list[Parameter] = []
    groups: dict[str, tuple[Any, list[str]]] = {}
    for parameter in signature(function).parameters.values():
        kind = hints[parameter.name]
        # A group that `question_options` builds stands in Annotated, after its base class, which type checkers know.
        kind = next((extra for extra in getattr(kind, "__metadata__", ()) if is_dataclass(extra)), kind)
        if not is_dataclass(kind):
            parameters.append(_build_parameter(parameter.name, kind, parameter.default))
            continue
        field_hints = get_type_hints(kind, include_extras=True)
        group_fields = [entry for entry in fields(kind) if entry.name not in getattr(kind, "left_out", ())]
        groups[parameter.name] = kind, [entry.name for entry in group_fields]
        parameters += [_build_parameter(entry.name, field_hints[entry.name], entry) for entry in group_fields]

    def run_command(**values: Any) -> None:
        for name, (kind, field_names) in groups.items():
            # Groups check their values when they are made, so errors come before the command begins.
            values[name] = kind(**{field_name: values.pop(field_name) for field_name in field_names})
        function(**values)

    run_command.__name__ = function.__name__
    run_command.__doc__ = function.__doc__
    # typer reads annotations and the signature, so both are those of the expanded parameters.
    run_command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run_command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return run_command


def _build_parameter(name: str, kind: Any, default: Any) -> Parameter:
    """Return a parameter as typer reads it; the default may be an option, which holds the value of an absent option."""
    if isinstance(default, Field):
        info, default = default.metadata.get(options.METADATA_KEY), default.default
        if info is not None:
            if default is False and info.default is ... and not info.param_decls:
                # typer would add a second name, with --no-, that switches off.
                # A copy, as commands share options.
                info = copy(info)
                info.param_decls = (f"--{name.replace('_', '-')}",)
            kind = Annotated[kind, info]
    default = Parameter.empty if default is options.REQUIRED else default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
