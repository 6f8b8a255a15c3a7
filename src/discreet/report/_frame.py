"""The frame of every page: its head, its policy, its contents and its foot.

A page is one file that needs no network and no font, and admits none. It has a small script that its policy names by
its hash; the page is complete without it. The function that builds a section escapes all text from outside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from ._charts import Drawing
from ._style import STATUS_TEXTS, PageStatus, policy, read_static, style
from ._text import clean


@dataclass(frozen=True)
class Section:
    """One section: the name that links lead to, its heading, and its markup. A section without markup is left out."""

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
    status: PageStatus = "private",
    parent: tuple[str, str] | None = None,
    version: str = "",
) -> str:
    """Return a whole page as HTML.

    Parameters
    ----------
    sections
        Its sections, in order.
    title
        Its title, as text.
    lead, quiet
        The lines below the title, the second in small letters, as markup.
    figures
        The few numbers to be seen first, by name, as text.
    status
        A private release, a simulation, an exact result, or a comparison that is not private. All but the first state
        it on every screen.
    parent
        The address of the page above this page, and its title.
    version
        The version of this package.

    Examples
    --------
    >>> text = document([Section("found", "What was found", "<p>Tea.</p>")], title="A shop", status="exact")
    >>> text.count("<h2"), "EXACT: not private" in text
    (1, True)
    """
    sections = [section for section in sections if section.body]
    links = "".join(f'<li><a href="#{section.name}">{section.heading}</a></li>' for section in sections)
    body = "".join(
        f'<section aria-labelledby="{section.name}">\n<h2 id="{section.name}">{section.heading}</h2>\n{section.body}'
        "</section>\n"
        for section in sections
    )
    boxes = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>" for name, text in (figures or {}).items()
    )
    title, version = escape(clean(title, 300)), escape(clean(version))
    sheet, script = style(status), read_static("page.js")
    status_text = STATUS_TEXTS.get(status)
    mark = "" if status_text is None else f"{status.upper()}: "
    head = (
        '<!DOCTYPE html>\n<html lang="en" dir="ltr">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy(sheet, script))}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f'<meta name="generator" content="discreet {version}">\n'
        f"<title>{mark}{title}</title>\n<style>{sheet}</style>\n</head>\n"
    )
    back = (
        "" if parent is None else f'<p class="up"><a href="{escape(parent[0])}">← {escape(clean(parent[1]))}</a></p>\n'
    )
    warning = "" if status_text is None else f'<p class="standing" role="note">{status_text}</p>\n'
    return (
        f"{head}<body>\n{warning}<header>\n{back}<h1>{title}</h1>\n"
        + (f'<p class="lead">{lead}</p>\n' if lead else "")
        + (f'<p class="quiet">{quiet}</p>\n' if quiet else "")
        + (f'<dl class="figures">{boxes}</dl>\n' if boxes else "")
        + f'<nav aria-label="Contents"><ul>{links}</ul></nav>\n</header>\n<main>\n{body}</main>\n'
        "<footer><p>This page is complete in itself: it loads nothing and sends nothing. Its small script sorts and "
        "filters tables, and nothing is missing without it.</p></footer>\n"
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def figure(
    drawing: Drawing, name: str, caption: str = "", *, narrow: Drawing | None = None, scrolls: bool = False
) -> str:
    """Return a drawing as a figure of a page, with its caption.

    Parameters
    ----------
    drawing, name
        The drawing, and a name that no other drawing of the page has.
    caption
        The text below, as markup.
    narrow
        The drawing for telephones; None to show the first drawing everywhere.
    scrolls
        Whether the drawing keeps the size of its letters on a small screen and scrolls sideways.
    """
    words = f"<figcaption>{caption}</figcaption>" if caption else ""
    if scrolls:
        label = escape(drawing.title)
        return (
            f'<figure><div class="wide scrolls" tabindex="0" role="region" aria-label="{label}">{drawing.inline(name)}'
            f"</div>{words}</figure>\n"
        )
    content = drawing.inline(name) if narrow is None else both_widths(drawing, narrow, name)
    return f"<figure>{content}{words}</figure>\n"


def both_widths(drawing: Drawing, narrow: Drawing, name: str) -> str:
    """Return a drawing, with its narrow form for telephones where the two differ."""
    if drawing.inside == narrow.inside:
        return drawing.inline(name)
    return f'<div class="broad">{drawing.inline(name)}</div><div class="narrow">{narrow.inline(f"{name}-narrow")}</div>'
