"""The frame of every page: its status, its style sheet and script, and the policy that admits nothing else.

The texts of `static` hold nothing from outside, so that the policy can name each by its hash. A page that is no private
release states so on every screen, in every heading and on every printed sheet: no excerpt loses it.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias

from markupsafe import Markup

from .. import __version__
from ..results import FOR_THE_CURATOR, NOT_PRIVATE, SIMULATED, Picture
from ._templates import render
from .colours import night, variables

PageStatus: TypeAlias = Literal["private", "simulated", "exact", "not private"]

# The sentence on every screen of a page that is no private release.
STATUS_TEXTS: dict[PageStatus, str] = {
    "simulated": SIMULATED,
    "exact": NOT_PRIVATE,
    "not private": FOR_THE_CURATOR,
}
_NO_BASE = "base-uri 'none'; form-action 'none'"
_STYLE_ELEMENT = re.compile("<style>(.*?)</style>", re.DOTALL)
_FITS = "svg { max-width: 100%; height: auto; }"  # a telephone shows the whole picture


def render_page(
    template: str,
    *,
    title: str,
    status: PageStatus = "private",
    figures: Mapping[str, str] | None = None,
    parent: tuple[str, str] | None = None,
    version: str = __version__,
    **values: object,
) -> str:
    """Return a whole page as HTML.

    Parameters
    ----------
    template
        The path of its template, which extends ``document.html.jinja``.
    title
        Its title.
    status
        A private release, a simulation, an exact result, or a comparison that is not private. All but the first state
        it on every screen.
    figures
        The few numbers to be seen first, by name.
    parent
        The address of the page above this page, and its title.
    version
        The version of this package.
    values
        The values of the template by name.
    """
    sheet, script = style(status), read_static("page.js")
    page = render(
        template,
        title=title,
        status=status,
        warning=STATUS_TEXTS.get(status),
        figures=figures,
        parent=parent,
        version=version,
        policy=policy(sheet, script),
        sheet=Markup(sheet),  # noqa: S704 - made of files and colours of this room, as the script is
        script=Markup(script),  # noqa: S704
        **values,
    )
    return str(page)


def picture_page(picture: Picture) -> str:
    """Return a page with a picture alone, and a policy that allows its style alone."""
    styles = (_FITS, *_STYLE_ELEMENT.findall(picture.svg))
    return str(
        render(
            "report/templates/picture.html.jinja",
            title=picture.title,
            policy=f"default-src 'none'; style-src {' '.join(map(_hash_source, styles))}; {_NO_BASE}",
            sheet=_FITS,
            svg=Markup(picture.svg),  # noqa: S704 - drawn in this room
        )
    )


@cache
def read_static(name: str) -> str:
    """Return the text of a file of `static`: ``"page.js"``, for example."""
    return (Path(__file__).parent / "static" / name).read_text(encoding="utf-8")


def style(status: PageStatus) -> str:
    """Return the style sheet of a page of this status."""
    status_text = STATUS_TEXTS.get(status)
    marks = {"word": status.upper(), "small": status, "said": status_text}
    # Texts of the status are constants of this package, so that they need no escape in a style sheet.
    marked = "" if status_text is None else read_static("standing.css") % marks
    sheets = "".join(map(read_static, ("page.css", "drawings.css", "print.css")))
    return f"{variables()}{sheets}{marked}{night()}"


def drawing_style() -> str:
    """Return the colours and rules of tables and figures, for a page with a style sheet of its own."""
    return f"{variables()}{read_static('drawings.css')}{night()}"


def policy(sheet: str, script: str = "") -> str:
    """Return the content security policy that allows this style sheet and this script, and nothing else."""
    # The hash admits this text alone: an injected script has a different hash, and does not run.
    script_source = f"; script-src {_hash_source(script)}" if script else ""
    return f"default-src 'none'; style-src {_hash_source(sheet)}{script_source}; {_NO_BASE}"


def _hash_source(text: str) -> str:
    """Return the source expression that names a text by its hash (W3C, Content Security Policy Level 3)."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
