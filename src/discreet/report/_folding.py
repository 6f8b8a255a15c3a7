"""What was found with a hierarchy, folded by level: by elements that a browser opens itself, without any script."""

from __future__ import annotations

from html import escape

from ..baskets import MIXED
from ..results import Patterns, Rules
from ._text import clean


def levels_in(result: Patterns | Rules) -> list[str]:
    """Return the levels that something is on, the highest first and what is on none last; nothing where all is on one.

    Examples
    --------
    >>> import discreet
    >>> levels_in(discreet.mine([{"milk", "bread"}], min_count=1, hierarchy={"milk": "dairy"}))
    ['level 1', 'level 0']
    """
    if result.hierarchy is None:
        return []
    held = set(result.levels)
    return [name for name in (*reversed(result.hierarchy.names), MIXED) if name in held] if len(held) > 1 else []


def level_words(level: str) -> str:
    """Return what a level is called for a reader, as text."""
    return "Across levels" if level == MIXED else clean(level[:1].upper() + level[1:])


def folded(heading: str, beside: str, body: str, *, opened: bool = False) -> str:
    """Return markup that opens at a click, below its heading and what stands beside it, which are text."""
    if not body:
        return ""
    shown = " open" if opened else ""
    quiet = f' <span class="quiet">{escape(beside)}</span>' if beside else ""
    return f"<details{shown}><summary>{escape(heading)}{quiet}</summary>\n{body}</details>\n"
