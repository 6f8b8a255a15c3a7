"""A picture that stands by itself: drawings on a ground of their own, with a heading and with what was promised.

A picture goes its own way, so it takes along what it shows, what was promised about it, and whether it was only tried
out or is not private at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..results import Picture
from ._charts import FONT, Drawing
from ._graph import WIDE
from ._text import clean, wide_of
from .colours import INK, PAPER, QUIET, night

_EDGE, _BETWEEN = 20, 16
_LINE = 17


def mounted(drawings: Sequence[Drawing], *, heading: str, notes: Sequence[str] = (), wide: int = WIDE) -> Picture:
    """Return drawings below each other as one picture.

    Parameters
    ----------
    drawings
        What it shows; at least one.
    heading, notes
        What stands above, and smaller below that: as text.
    wide
        How wide the drawings are at least; the picture is as wide as the widest of them.

    Examples
    --------
    >>> from ._charts import Bar, bars
    >>> mounted([bars([Bar("tea", 0.5)], title="Supports")], heading="Tea").svg.count("<svg")
    3
    """
    parts = [f'<text x="{_EDGE}" y="34" font-size="16" font-weight="600">{escape(clean(heading, 90))}</text>']
    down = 42
    wide = max([wide, *(drawn.wide for drawn in drawings if drawn.wide is not None)])
    for note in notes:
        for line in _lines(clean(note, 600), wide):
            down += _LINE
            parts.append(f'<text x="{_EDGE}" y="{down}" fill="{QUIET}">{escape(line)}</text>')
    down += _BETWEEN
    for drawn in drawings:
        own, high = wide if drawn.wide is None else drawn.wide, drawn.high
        seen = "" if drawn.wide is None else f' viewBox="0 0 {drawn.wide} {drawn.high}"'
        parts.append(f'<svg x="{_EDGE}" y="{down}" width="{own}" height="{high}"{seen}>{drawn.inside}</svg>')
        down += high + _BETWEEN
    across, high = wide + 2 * _EDGE, down + 4
    title = ". ".join([heading, *notes, *(drawn.title for drawn in drawings)])
    said = " ".join(drawn.said for drawn in drawings)
    return Picture(
        drawings[0].title,
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across} {high}" width="{across}" height="{high}" '
        f'role="img" font-family="{FONT}" font-size="12" fill="{INK}"><title>{escape(title)}</title>'
        f"<desc>{escape(said)}</desc><style>{night()}</style>"
        f'<rect width="100%" height="100%" rx="10" fill="{PAPER}"/>{"".join(parts)}</svg>',
    )


def _lines(text: str, wide: int) -> list[str]:
    """Return a text in lines that are no wider than this."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if wide_of(longer) > wide and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
