"""Loading of plug-ins, so that an error of their code names the package.

A plug-in is foreign code that runs at import: it may raise any exception, and may exit. An uncaught exit would end a
command with status 0 and no output. Only an interrupt passes: the user sends it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, distributions, entry_points
from typing import Any

from ..errors import MisuseError

_MAX_MESSAGE = 300  # characters of a foreign message: a longer one would hide ours


class Unfit(MisuseError):  # noqa: N818
    """A fault of a plug-in that the registry found: its message is shown unchanged."""


@contextmanager
def blamed(plugin_name: str, action: str = "used") -> Iterator[None]:
    """Turn any exception of foreign code into one error that names it; an interrupt passes."""
    try:
        yield
    except (KeyboardInterrupt, Unfit):
        raise
    # Any exception: foreign code may raise SystemExit, which would end the command in silence.
    except BaseException as error:
        raise MisuseError(
            f"{plugin_name} cannot be {action} ({_render_error(error)}): mend or uninstall that package."
        ) from error


def points(group: str) -> list[EntryPoint]:
    """Return the entry points of plug-ins under `group`; a package with unreadable entry points is named."""
    try:
        return list(entry_points(group=group))
    except Exception:
        # Asked one by one to find the package that is to blame.
        for distribution in distributions():
            with blamed(f"What the package {_get_name(distribution)} registers", "read"):
                _ = distribution.entry_points
        raise


def package_of(point: EntryPoint) -> str:
    """Return the name of the package of an entry point; its target if the name is unknown."""
    return str(_get_name(point.dist)) if point.dist else point.value


def load(point: EntryPoint, plugin_name: str) -> Any:
    """Return the object of an entry point."""
    with blamed(plugin_name, "loaded"):
        return point.load()


def _get_name(distribution: Any) -> str:
    try:
        return str(distribution.name)
    except Exception:
        return str(getattr(distribution, "_path", "that is broken"))


def _render_error(error: BaseException) -> str:
    kind = type(error).__name__
    try:
        text = str(error)
    except Exception:  # a foreign error without a text form
        return kind
    text = text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}…"
    return f"{kind}: {text}" if text else kind
