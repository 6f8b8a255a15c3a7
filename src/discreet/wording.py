"""Texts for people: escaped control characters, tables in notebooks, and hints for keywords of foreign libraries.

Texts of data, files and foreign packages pass `printable` before they are printed. Nothing is computed here.
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

# The zero-width non-joiner and joiner, which Persian and many emoji need, and str.isprintable() refuses.
JOINERS = "\u200c\u200d"

# Hints by the keywords of foreign libraries: mlxtend, PyFIM, arules of R, Spark, efficient-apriori. Of several hints, a
# user reads the first hint with keywords of the function.
_FOREIGN_HINTS = {
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
# Hints for keywords that have moved to a different function, by function and keyword.
_MOVED_HINTS = {
    (name, word): build_message(
        "{name}() makes one release of everybody. For one release per segment write {name}_by(baskets, {arguments}by, "
        "segments=[…], …).",
        name=name,
        arguments=arguments,
    )
    for name, arguments in (("release", ""), ("count", "itemsets, "))
    for word in ("by", "segments")
}
_HINTS = {word: hints for words, hints in _FOREIGN_HINTS.items() for word in words}
_WORDS_BY_OPTION = {word.lower().replace("_", "-"): word for word in _HINTS}


def find_hint(word: str, keywords: Collection[str]) -> Message | None:
    """Return the hint for a keyword or an option of a further library; None if it is none, or no hint fits.

    Parameters
    ----------
    word
        The keyword, like ``min_sup``, or the option, like ``--min-sup``.
    keywords
        The keywords of the function or command: a hint names no further keyword.
    """
    # `report` of PyFIM lists the measures of a pattern; the option --report of discreet is the path of a page.
    hints = () if word == "--report" else _HINTS.get(_WORDS_BY_OPTION.get(word.lstrip("-").lower(), word), ())
    for hint in hints:
        if hint.options <= {*keywords}:
            return build_message("There is no {word}: {hint}.", word=word, hint=hint)
    return None


def check_keywords(caller: str, words: Iterable[str], keywords: Collection[str]) -> None:
    """Raise MisuseError with a hint if a word of a call is a keyword of a further library.

    Further unknown words pass: Python refuses them. `caller` is the name of the function, `keywords` are its own.
    """
    for word in words:
        # A keyword of the function itself is no mistake, though foreign libraries have it too.
        hint = None if word in keywords else _MOVED_HINTS.get((caller, word)) or find_hint(word, keywords)
        if hint is not None:
            raise MisuseError(hint)


def hint_keywords(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Return a function that checks its keywords by `check_keywords` before each call.

    The signature stays unchanged, for help(), for editors and for type checkers.
    """
    # From the code object, as the signature may be replaced by a decorator.
    code = function.__code__
    keywords = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])

    @wraps(function)
    def call(*args: Parameters.args, **values: Parameters.kwargs) -> Result:
        check_keywords(function.__name__, values, keywords)
        return function(*args, **values)

    return call


def number_of(number: int, word: str, plural: str | None = None) -> str:
    """Return a number with its noun: 1 pattern, 2 patterns; `plural` is for nouns without a plural in s."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


def printable(text: str, keep: str = "") -> str:
    r"""Return a text with control characters escaped, which a terminal would execute; letters in `keep` are kept.

    Examples
    --------
    >>> print(printable("tea\x1b[31m"))
    tea\x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(
        letter
        if letter.isprintable() or letter in JOINERS or letter in keep
        else letter.encode("unicode_escape").decode()
        for letter in text
    )


def build_render_hook() -> Any:
    """Return a hook for a rich console that escapes the control characters of all texts."""
    from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
    from rich.segment import Segment

    class Printable:
        def __init__(self, renderable: ConsoleRenderable) -> None:
            self.renderable = renderable

        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            for piece in console.render(self.renderable, options):
                # Segments with `control` are of rich itself, like the moves of a progress bar.
                yield piece if piece.control else Segment(printable(piece.text, keep="\n"), piece.style)

    class Hook(RenderHook):
        def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
            return [Printable(renderable) for renderable in renderables]

    return Hook()


class RichDisplay:
    """A base for objects that notebooks and terminals display by the method `__rich__`."""

    def __rich__(self) -> RenderableType:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return render_html(self)


def render_html(renderable: RenderableType) -> str:
    """Return the HTML of an object that rich prints, with its texts escaped.

    A table becomes a table element: in the fonts of some browsers the letters of bars are wider than a digit, and
    columns of spaces would not align.
    """
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    # Objects of discreet first: each knows the table or group that it is.
    # Before the types of rich, as an object of ours may derive from them.
    if hasattr(renderable, "__rich__"):
        return render_html(renderable.__rich__())
    if isinstance(renderable, Group):
        return f"<div>{''.join(map(render_html, renderable.renderables))}</div>"
    if isinstance(renderable, Table):
        return _render_html_table(renderable)
    if isinstance(renderable, Padding):
        return f'<div style="margin-left: {renderable.left}ch">{render_html(renderable.renderable)}</div>'
    if isinstance(renderable, Text | str):
        text = escape(printable(str(renderable), keep="\n")).strip("\n").replace("\n", "<br>")
        return f"<p>{text}</p>" if text else ""
    # Any further object is shown as a terminal shows it.
    text = escape(render_text(renderable, 110))
    return f'<pre style="line-height: 1.3; white-space: pre; overflow-x: auto">{text}</pre>'


def _render_html_table(table: Table) -> str:
    styles = [f' style="text-align: {"right" if column.justify == "right" else "left"}"' for column in table.columns]
    rows = zip(*(map(_escape_cell, column.cells) for column in table.columns), strict=True)
    body = ""
    for row, cells in zip(table.rows, rows, strict=True):
        kind = "strong" if "bold" in str(row.style) else "span"
        body += "<tr>"
        body += "".join(f"<td{style}><{kind}>{cell}</{kind}></td>" for style, cell in zip(styles, cells, strict=True))
        body += "</tr>"
    head = "".join(
        f"<th{style}>{_escape_cell(column.header)}</th>" for style, column in zip(styles, table.columns, strict=True)
    )
    title = f"<caption>{_escape_cell(table.title)}</caption>" if table.title else ""
    head = f"<thead><tr>{head}</tr></thead>" if table.show_header else ""
    return f"<table>{title}{head}<tbody>{body}</tbody></table>"


def _escape_cell(cell: object) -> str:
    return escape(printable(str(cell)))


def render_text(renderable: RenderableType, width: int = 100) -> str:
    """Return the plain text of an object that rich prints, in lines of `width` columns."""
    from io import StringIO

    from rich.console import Console

    # A console of its own: the width of a terminal must not change a text for a file.
    plain_text = StringIO()
    console = Console(
        file=plain_text, width=width, color_system=None, legacy_windows=False, highlight=False, force_jupyter=False
    )
    console.push_render_hook(build_render_hook())
    console.print(renderable)
    return "\n".join(line.rstrip() for line in plain_text.getvalue().splitlines())
