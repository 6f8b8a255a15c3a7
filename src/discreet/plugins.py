"""What the author of a mechanism, an oracle or a protocol imports: one place, and nothing of its own.

Every name lives in the room that it belongs to, and is loaded from there on first use. So a package of one mechanism
loads nothing of devices, and rooms may be rebuilt without a change for those who write against this page. What is not
here is ours, and may change with any version. The tutorials of a mechanism, an oracle and a protocol use this module
alone; `documents` says where they lie, in the version that is installed.
"""

from __future__ import annotations

from pathlib import Path

from .faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
__all__ += ["documents"]


def documents() -> Path:
    """Return the folder with the documents of this version: the tutorials, and the pages that they lead to.

    A wheel brings them along; in a checkout they are those of the checkout.

    Examples
    --------
    >>> sorted(page.stem for page in (documents() / "tutorials").glob("*.md") if page.stem not in ("curator", "report"))
    ['local', 'mechanism', 'oracle', 'protocol', 'study']
    """
    packaged = Path(__file__).parent / "documents"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "docs"
