"""The frame of every page: its head, its policy, its contents and its foot, whatever it tells.

A page is one file that needs no network and no font, and lets none in. It has a small script that it names by its
hash; everything is there without it. Text from outside is escaped by whoever makes a section.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from ._charts import Drawing
from ._script import SCRIPT
from ._style import STANDINGS, Standing, policy, style
from ._text import clean


@dataclass(frozen=True)
class Section:
    """One section: the word by which it is linked to, its heading, and its markup. Without markup it is left out."""

    name: str
    heading: str
    body: str


def document(
    sections: Sequence[Section],
    *,
    title: str,
    lead: str = "",
    quiet: str = "",
    figures: Mapping[str, str] | None = None,
    standing: Standing = "private",
    up: tuple[str, str] | None = None,
    version: str = "",
) -> str:
    """Return a whole page.

    Parameters
    ----------
    sections
        What it has, in order.
    title
        Its title, as text.
    lead, quiet
        What stands below the title, and smaller below that, as markup.
    figures
        The few numbers to be seen first, by name, as text.
    standing
        What the page may be taken for: a private release, a simulation or an exact result. The last two say so
        everywhere.
    up
        Where a page above this one is, and what it is called.
    version
        The version of this package.

    Examples
    --------
    >>> text = document([Section("found", "What was found", "<p>Tea.</p>")], title="A shop", standing="exact")
    >>> text.count("<h2"), "EXACT: not private" in text
    (1, True)
    """
    held = [section for section in sections if section.body]
    links = "".join(f'<li><a href="#{section.name}">{section.heading}</a></li>' for section in held)
    body = "".join(
        f'<section aria-labelledby="{section.name}">\n<h2 id="{section.name}">{section.heading}</h2>\n{section.body}'
        "</section>\n"
        for section in held
    )
    boxes = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(told)}</dd></div>" for name, told in (figures or {}).items()
    )
    shown, made = escape(clean(title, 300)), escape(clean(version))
    sheet = style(standing)
    said = STANDINGS.get(standing)
    mark = "" if said is None else f"{standing.upper()}: "
    head = (
        '<!DOCTYPE html>\n<html lang="en" dir="ltr">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy(sheet, SCRIPT))}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f'<meta name="generator" content="discreet {made}">\n'
        f"<title>{mark}{shown}</title>\n<style>{sheet}</style>\n</head>\n"
    )
    top = "" if up is None else f'<p class="up"><a href="{escape(up[0])}">← {escape(clean(up[1]))}</a></p>\n'
    warning = "" if said is None else f'<p class="standing" role="note">{said}</p>\n'
    return (
        f"{head}<body>\n{warning}<header>\n{top}<h1>{shown}</h1>\n"
        + (f'<p class="lead">{lead}</p>\n' if lead else "")
        + (f'<p class="quiet">{quiet}</p>\n' if quiet else "")
        + (f'<dl class="figures">{boxes}</dl>\n' if boxes else "")
        + f'<nav aria-label="Contents"><ul>{links}</ul></nav>\n</header>\n<main>\n{body}</main>\n'
        "<footer><p>This page is complete in itself: it loads nothing and sends nothing. Its small script sorts and "
        "filters tables, and nothing is missing without it.</p></footer>\n"
        f"<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def figure(
    drawn: Drawing, name: str, caption: str = "", *, narrow: Drawing | None = None, scrolls: bool = False
) -> str:
    """Return a drawing with words below it, which are markup; on a telephone the narrow one, where there is one.

    One that `scrolls` keeps the size of its letters where there is little room, and is moved sideways by itself.
    """
    words = f"<figcaption>{caption}</figcaption>" if caption else ""
    if scrolls:
        label = escape(drawn.title)
        return (
            f'<figure><div class="wide scrolls" tabindex="0" role="region" aria-label="{label}">{drawn.inline(name)}'
            f"</div>{words}</figure>\n"
        )
    if narrow is None:
        return f"<figure>{drawn.inline(name)}{words}</figure>\n"
    return f"<figure>{both_widths(drawn, narrow, name)}{words}</figure>\n"


def both_widths(drawn: Drawing, narrow: Drawing, name: str) -> str:
    """Return a drawing, and in its place the narrow one on a telephone, unless the two are the same."""
    if drawn.inside == narrow.inside:
        return drawn.inline(name)
    return f'<div class="broad">{drawn.inline(name)}</div><div class="narrow">{narrow.inline(f"{name}-narrow")}</div>'
