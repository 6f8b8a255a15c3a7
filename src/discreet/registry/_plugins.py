"""Loading what other packages register, so that whatever they do instead of loading is told with their name.

A plug-in is code of somebody else, run at import: it may raise anything, and exit as well. An exit that nobody catches
would end a command with status 0 and nothing written. Only an interrupt passes: that is the user's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, distributions, entry_points
from typing import Any

from ..errors import MisuseError

_LONGEST = 300  # characters of what a plug-in says of itself


class Unfit(MisuseError):  # noqa: N818
    """What we found wrong with a plug-in ourselves: told as it is."""


@contextmanager
def blamed(what: str, cannot: str = "used") -> Iterator[None]:
    """Turn whatever code of another package raises into one error that names it; an interrupt passes."""
    try:
        yield
    except (KeyboardInterrupt, Unfit):
        raise
    except BaseException as error:
        raise MisuseError(f"{what} cannot be {cannot} ({_said(error)}): mend or uninstall that package.") from error


def points(group: str) -> list[EntryPoint]:
    """Return what other packages register under `group`; one whose registration cannot be read is named."""
    try:
        return list(entry_points(group=group))
    except Exception:
        for one in distributions():
            with blamed(f"What the package {_name(one)} registers", "read"):
                _ = one.entry_points
        raise


def package_of(point: EntryPoint) -> str:
    """Return the name of the package that registers something; what it points to, where that cannot be told."""
    return str(_name(point.dist)) if point.dist else point.value


def load(point: EntryPoint, what: str) -> Any:
    """Return what an entry point stands for."""
    with blamed(what, "loaded"):
        return point.load()


def _name(one: Any) -> str:
    try:
        return str(one.name)
    except Exception:
        return str(getattr(one, "_path", "that is broken"))


def _said(error: BaseException) -> str:
    kind = type(error).__name__
    try:
        text = str(error)
    except Exception:  # an error of theirs that cannot even be shown
        return kind
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f"{kind}: {text}" if text else kind
