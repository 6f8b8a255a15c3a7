"""The names for authors of mechanisms, oracles and protocols, imported from the rooms on first use.

A package of one mechanism so loads no code of devices, and a room may change without a change for authors. A name that
is not here is internal, and may change with any version. The tutorials of a mechanism, an oracle and a protocol use
this module alone; `documents` returns their directory.
"""

from __future__ import annotations

from pathlib import Path

from .faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
__all__ += ["documents"]


def documents() -> Path:
    """Return the directory with the documents of this version: the tutorials, and the linked pages.

    A wheel contains the documents; a checkout has its own.

    Examples
    --------
    >>> sorted(page.stem for page in (documents() / "tutorials").glob("*.md") if page.stem not in ("curator", "report"))
    ['local', 'mechanism', 'oracle', 'protocol', 'study']
    """
    # Beside the package in a wheel, so that a plug-in's author needs no network.
    packaged = Path(__file__).parent / "documents"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "docs"
