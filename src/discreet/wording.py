"""What is put before people: texts that a terminal cannot act on, tables in notebooks, and words from elsewhere.

Texts of data, files and other packages go through `printable` where they leave us. Nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import wraps
from html import escape
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from .errors import Message, MisuseError, build_message

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

# Persian and many emoji are written with these two, which Python does not call printable.
JOINERS = "\u200c\u200d"

# What other libraries call our parameters: mlxtend, PyFIM, arules of R, Spark, efficient-apriori. Where there is more
# than one answer, the first whose parameters are all there is given.
_ELSEWHERE = {
    ("max_len", "max_length", "maxlen", "zmax"): [
        build_message("the most items of a pattern are {lengths=(1, 3)} here")
    ],
    ("minlen", "zmin"): [build_message("the least items of a pattern are {lengths=(2, None)} here")],
    ("supp", "min_supp", "minsup", "min_sup", "minSupport"): [
        build_message(
            "the least support is {min_support=0.01} here, a fraction of people and no percentage, or {min_count=500}, "
            "a number of people"
        ),
        build_message("the least support is {min_support=0.01} here, a fraction of people and no percentage"),
    ],
    ("conf", "min_conf", "minConfidence", "confidence"): [
        build_message("the least confidence of rules is {min_confidence=0.5} here, a fraction and no percentage")
    ],
    ("metric", "min_threshold"): [
        build_message("rules have {min_confidence=0.5} and {min_lift=1.2} here, and are put in order by sort")
    ],
    ("use_colnames",): [build_message("items keep the names of their columns here: leave it out")],
    ("support_only",): [build_message("rules are measured by what is there: leave it out, and look at their support")],
    ("num_itemsets", "null_values", "low_memory", "verbose", "numPartitions"): [
        build_message("there is no such choice: leave it out")
    ],
    ("target",): [build_message("which patterns are kept is {kind='all'}, {kind='closed'} or {kind='maximal'} here")],
    ("report", "eval", "agg", "thresh"): [
        build_message("every result has counts, and rules have all measures: leave it out")
    ],
    ("itemsCol", "item_col"): [
        build_message("the column of the items is {item='product'} here, and of people {person='customer'}")
    ],
    ("k", "K", "n_patterns"): [build_message("how many patterns are wanted is {top=100} here")],
    ("eps",): [build_message("what may be lost is {epsilon=1} here")],
}
# What a function of ours took once, and another takes now.
_MOVED = {
    (name, word): build_message(
        "{name}() makes one release of everybody. For one release per segment write {name}_by(baskets, {more}by, "
        "segments=[…], …).",
        name=name,
        more=more,
    )
    for name, more in (("release", ""), ("count", "itemsets, "))
    for word in ("by", "segments")
}
_HINTS = {word: answers for words, answers in _ELSEWHERE.items() for word in words}
_TYPED = {word.lower().replace("_", "-"): word for word in _HINTS}


def find_hint(word: str, known: Collection[str]) -> Message | None:
    """Return what to write for a parameter, or for an option, that other libraries have and we call otherwise.

    `known` has the names of the parameters there are: nobody is told to write another.
    """
    # PyFIM's `report` says what is told of a pattern; who types --report wants a page.
    answers = () if word == "--report" else _HINTS.get(_TYPED.get(word.lstrip("-").lower(), word), ())
    fitting = (
        build_message("There is no {word}: {ours}.", word=word, ours=ours)
        for ours in answers
        if ours.options <= {*known}
    )
    return next(fitting, None)


def check_keywords(caller: str, given: Iterable[str], known: Collection[str]) -> None:
    """Answer words of other libraries with ours; other unknown keywords are Python's to refuse."""
    for word in given:
        ours = None if word in known else _MOVED.get((caller, word)) or find_hint(word, known)
        if ours is not None:
            raise MisuseError(ours)


def hint_keywords(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Answer words of other libraries with ours; other unknown keywords are Python's to refuse.

    The signature is that of the function itself, for help(), for editors and for type checkers.
    """
    code = function.__code__
    names = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])

    @wraps(function)
    def call(*args: Parameters.args, **given: Parameters.kwargs) -> Result:
        check_keywords(function.__name__, given, names)
        return function(*args, **given)

    return call


def number_of(number: int, word: str, plural: str | None = None) -> str:
    """Return a number with its word: 1 pattern, 2 patterns."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


def printable(text: str, keep: str = "") -> str:
    r"""Return a text with what cannot be seen made visible: a terminal is shown control characters, and obeys none.

    Examples
    --------
    >>> print(printable("tea\x1b[31m"))
    tea\x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in JOINERS or letter in keep else _seen(letter) for letter in text
    )


def _seen(letter: str) -> str:
    return letter.encode("unicode_escape").decode()


def build_render_hook() -> Any:
    """Return what makes a rich console print nothing that a terminal would obey, wherever it came from."""
    from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
    from rich.segment import Segment

    class Printable:
        def __init__(self, shown: ConsoleRenderable) -> None:
            self.shown = shown

        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            for piece in console.render(self.shown, options):
                yield piece if piece.control else Segment(printable(piece.text, keep="\n"), piece.style)

    class Hook(RenderHook):
        def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
            return [Printable(one) for one in renderables]

    return Hook()


class RichDisplay:
    """Shows itself in a notebook as in a terminal: both show what `__rich__` makes."""

    def __rich__(self) -> RenderableType:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return render_html(self)


def render_html(shown: RenderableType) -> str:
    """Return what a rich console shows as HTML, with the texts in it escaped: tables as tables.

    Letters that draw bars are wider than others in the fonts of some browsers, so that columns made of spaces would not
    stand below each other.
    """
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    if hasattr(shown, "__rich__"):
        return render_html(shown.__rich__())
    if isinstance(shown, Group):
        return f"<div>{''.join(map(render_html, shown.renderables))}</div>"
    if isinstance(shown, Table):
        return _html_table(shown)
    if isinstance(shown, Padding):
        return f'<div style="margin-left: {shown.left}ch">{render_html(shown.renderable)}</div>'
    if isinstance(shown, Text | str):
        text = escape(printable(str(shown), keep="\n")).strip("\n").replace("\n", "<br>")
        return f"<p>{text}</p>" if text else ""
    return f'<pre style="line-height: 1.3; white-space: pre; overflow-x: auto">{escape(render_text(shown, 110))}</pre>'


def _html_table(shown: Table) -> str:
    sides = [f' style="text-align: {"right" if column.justify == "right" else "left"}"' for column in shown.columns]
    rows = zip(*(map(_cell_text, column.cells) for column in shown.columns), strict=True)
    body = ""
    for row, cells in zip(shown.rows, rows, strict=True):
        kind = "strong" if "bold" in str(row.style) else "span"
        body += "<tr>"
        body += "".join(f"<td{side}><{kind}>{cell}</{kind}></td>" for side, cell in zip(sides, cells, strict=True))
        body += "</tr>"
    head = "".join(
        f"<th{side}>{_cell_text(column.header)}</th>" for side, column in zip(sides, shown.columns, strict=True)
    )
    title = f"<caption>{_cell_text(shown.title)}</caption>" if shown.title else ""
    head = f"<thead><tr>{head}</tr></thead>" if shown.show_header else ""
    return f"<table>{title}{head}<tbody>{body}</tbody></table>"


def _cell_text(cell: object) -> str:
    return escape(printable(str(cell)))


def render_text(shown: RenderableType, width: int = 100) -> str:
    """Return what a rich console shows as plain text."""
    from io import StringIO

    from rich.console import Console

    out = StringIO()
    console = Console(
        file=out, width=width, color_system=None, legacy_windows=False, highlight=False, force_jupyter=False
    )
    console.push_render_hook(build_render_hook())
    console.print(shown)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())
