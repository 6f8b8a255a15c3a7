"""The style sheet and the script of a page, and the policy that admits nothing else.

Their texts stand in `static` and hold nothing from outside, so that the policy can name each by its hash. A page that
is no private release states so on every screen, in every heading and on every printed sheet: no excerpt loses it.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias

from ..results import FOR_THE_CURATOR, NOT_PRIVATE, SIMULATED
from .colours import night, variables

PageStatus: TypeAlias = Literal["private", "simulated", "exact", "not private"]

# The sentence on every screen of a page that is no private release.
STATUS_TEXTS: dict[PageStatus, str] = {
    "simulated": SIMULATED,
    "exact": NOT_PRIVATE,
    "not private": FOR_THE_CURATOR,
}


@cache
def read_static(name: str) -> str:
    """Return the text of a file of `static`: ``"page.js"``, for example."""
    return (Path(__file__).parent / "static" / name).read_text(encoding="utf-8")


def style(status: PageStatus) -> str:
    """Return the style sheet of a page of this status."""
    status_text = STATUS_TEXTS.get(status)
    marks = {"word": status.upper(), "small": status, "said": status_text}
    marked = "" if status_text is None else read_static("standing.css") % marks
    sheets = "".join(map(read_static, ("page.css", "drawings.css", "print.css")))
    return f"{variables()}{sheets}{marked}{night()}"


def drawing_style() -> str:
    """Return the colours and rules of tables and figures, for a page with a style sheet of its own."""
    return f"{variables()}{read_static('drawings.css')}{night()}"


def policy(sheet: str, script: str = "") -> str:
    """Return the content security policy that allows this style sheet and this script, and nothing else."""
    script_source = f"; script-src {_hash_source(script)}" if script else ""
    return f"default-src 'none'; style-src {_hash_source(sheet)}{script_source}; base-uri 'none'; form-action 'none'"


def _hash_source(text: str) -> str:
    """Return the source expression that names a text by its hash (W3C, Content Security Policy Level 3)."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
