"""How results look to a person: a text table in the terminal, an HTML table in a notebook.

Both show the first rows and say how many more there are, so that looking at millions of patterns costs
nothing. Names come from data: what a terminal or a browser would act on is shown, not obeyed.
"""

from __future__ import annotations

from html import escape
from io import StringIO
from typing import TYPE_CHECKING

from .itemsets import Itemsets
from .patterns import Patterns
from .rules import Rules

if TYPE_CHECKING:
    from rich.console import Group

_ROWS = 10
_ITEMS = 24


def headline(result: Patterns | Rules) -> str:
    """Return one line that says what there is."""
    word = "pattern" if isinstance(result, Patterns) else "rule"
    line = f"{_number_of(len(result), word)} of {_number_of(result.people, 'person')}"
    if isinstance(result, Rules) and result.omitted:
        line += f"; {result.omitted:,} left out, because a side is not among the patterns"
    return line


def table(result: Patterns | Rules, rows: int = _ROWS) -> Group:
    """Return the headline and the first `rows` rows for any rich console.

    Parameters
    ----------
    result
        Patterns or rules.
    rows
        How many rows to show; a last line says how many more there are.
    """
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    names, cells = _cells(result, rows)
    shown.add_column(names[0], overflow="ellipsis", no_wrap=True, max_width=60)
    for name in names[1:]:
        shown.add_column(name, justify="right", no_wrap=True)
    for row in cells:
        shown.add_row(*map(Text, row))
    rest = [Text(_rest(result, rows))] if len(result) > rows else []
    return Group(Text(headline(result), style="bold"), *([shown] if cells else []), *rest)


def text(result: Patterns | Rules) -> str:
    """Return the table as plain text, as `repr` shows it."""
    from rich.console import Console

    out = StringIO()
    Console(file=out, width=100, color_system=None, legacy_windows=False, force_jupyter=False).print(table(result))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def html(result: Patterns | Rules) -> str:
    """Return the table as HTML, as notebooks show it."""
    names, cells = _cells(result, _ROWS)
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    left, right = ' style="text-align: left"', ' style="text-align: right"'
    body = "".join(
        "<tr>"
        + "".join(f"<td{right if place else left}>{escape(cell)}</td>" for place, cell in enumerate(row))
        + "</tr>"
        for row in cells
    )
    rest = f"<p>{escape(_rest(result, _ROWS))}</p>" if len(result) > _ROWS else ""
    return (
        f"<div><p><strong>{escape(headline(result))}</strong></p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}</div>"
    )


def _number_of(number: int, word: str) -> str:
    plural = "people" if word == "person" else f"{word}s"
    return f"{number:,} {word if number == 1 else plural}"


def _rest(result: Patterns | Rules, rows: int) -> str:
    return f"… and {len(result) - rows:,} more"


def _cells(result: Patterns | Rules, rows: int) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns and the texts of the first rows."""
    first = result[:rows]
    if isinstance(first, Patterns):
        names = ["items", "count", "support"]
        cells = [
            [items, f"{count:,}", f"{support:.4f}"]
            for items, count, support in zip(
                _item_texts(first.itemsets, first),
                first.counts.tolist(),
                first.supports.tolist(),
                strict=True,
            )
        ]
        for name, bound in (("low", first.low), ("high", first.high)):
            if bound is not None:
                names.append(name)
                for row, value in zip(cells, bound.tolist(), strict=True):
                    row.append(f"{value:,.0f}")
        return names, cells
    sides = zip(_item_texts(first.antecedents, first), _item_texts(first.consequents, first), strict=True)
    measures = ("support", "confidence", "lift")
    cells = [
        [f"{left} → {right}", f"{count:,}"] for (left, right), count in zip(sides, first.counts.tolist(), strict=True)
    ]
    for name in measures:
        for row, value in zip(cells, first.measure(name).tolist(), strict=True):
            row.append(f"{value:.2f}" if name == "lift" else f"{value:.4f}")
    return ["rule", "count", *measures], cells


def _item_texts(itemsets: Itemsets, result: Patterns | Rules) -> list[str]:
    texts = []
    for place in range(len(itemsets)):
        codes = itemsets.cut(place, place + 1).codes
        labels = [_visible(str(label)) for label in result.vocabulary.take(codes[:_ITEMS]).to_pylist()]
        more = [f"… {len(codes) - _ITEMS} more"] if len(codes) > _ITEMS else []
        texts.append(", ".join(labels + more) or "(no item)")
    return texts


def _visible(label: str) -> str:
    """Show control characters instead of sending them to the terminal, and quote a name that has a comma."""
    if not label.isprintable():
        label = "".join(
            letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in label
        )
    return f'"{label}"' if "," in label or not label.strip() else label
