"""Drawing primitives: functions from values to SVG elements, and the class of drawings.

An element escapes its texts and the values of its attributes. Colours and fonts are attributes, not styles: a drawing
needs no style sheet, and passes a policy that forbids inline styles. Equal values give equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup, escape

from .colours import INK, PAPER

# Markup: the quotes around names of fonts need no escape between double quotes.
FONT = Markup("system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif")
_NAMESPACE = "http://www.w3.org/2000/svg"
# Letters have a white edge, so that lines behind them do not strike them through.
HALO = {"stroke": PAPER, "stroke_width": 3, "stroke_linejoin": "round", "paint_order": "stroke"}


def element(name: str, *children: object, **attributes: object) -> Markup:
    """Return an SVG element.

    Parameters
    ----------
    name
        The name of the element.
    children
        Its content: markup, and texts, which are escaped.
    attributes
        Its attributes, with ``_`` for ``-``. A float is a length in pixels, written in tenths; None omits an attribute.

    Examples
    --------
    >>> element("line", x1=0, x2=12.345, stroke_width="1.25", stroke_dasharray=None)
    Markup('<line x1="0" x2="12.3" stroke-width="1.25"/>')
    """
    start = "".join(
        f' {key.replace("_", "-")}="{f"{value:.1f}" if isinstance(value, float) else escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    # Markup: the name and the attributes are written here or escaped above, and `join` escapes the children.
    return Markup(f"<{name}{start}>{join(children)}</{name}>" if children else f"<{name}{start}/>")  # noqa: S704


def join(parts: Iterable[object]) -> Markup:
    """Return parts in their order as markup: texts are escaped."""
    return Markup("").join(map(escape, parts))


def line(x1: object, y1: object, x2: object, y2: object, *children: object, **attributes: object) -> Markup:
    """Return a line from one point to a second; a child may be its title."""
    return element("line", *children, x1=x1, x2=x2, y1=y1, y2=y2, **attributes)


def circle(x: object, y: object, radius: object, *children: object, **attributes: object) -> Markup:
    """Return a circle around a point; a child may be its title."""
    return element("circle", *children, cx=x, cy=y, r=radius, **attributes)


def text(content: object, x: object, y: object, **attributes: object) -> Markup:
    """Return a line of text at a point."""
    return element("text", content, x=x, y=y, **attributes)


def titled(title: object, *children: object) -> Markup:
    """Return elements as a group, with a title that a browser shows as a tip."""
    return element("g", element("title", title), *children)


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A drawing that can be put on a page or into a picture.

    Parameters
    ----------
    title, description
        Its title, and all of its content as text for screen readers.
    inside
        Its SVG elements.
    height, width
        Its size in pixels; None as width for a drawing that takes the width of the page.
    """

    title: str
    description: str
    inside: Markup
    height: int
    width: int | None = None

    def inline(self, name: str) -> Markup:
        """Return the drawing as an element of a page, under a name that no other drawing of the page has."""
        view = None if self.width is None else f"0 0 {self.width} {self.height}"
        return image(
            element("title", self.title, id=f"{name}-title"),
            element("desc", self.description, id=f"{name}-said"),
            self.inside,
            viewBox=view,
            width="100%" if self.width is None else self.width,
            height=self.height,
            role="img",
            aria_labelledby=f"{name}-title {name}-said",
        )


def image(*children: object, **attributes: object) -> Markup:
    """Return an SVG image with the font and the ink of all drawings."""
    style = {"font_family": FONT, "font_size": 12, "fill": INK}
    return element("svg", *children, xmlns=_NAMESPACE, **attributes, **style)
