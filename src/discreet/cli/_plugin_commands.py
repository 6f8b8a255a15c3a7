"""Commands that other packages bring along: an entry point of the group `discreet.commands` names an app of typer.

A command of ours is found without looking for others, and no other package can take its place. To list commands their
registrations are read and none is loaded: help shows what the package says of itself. The code of a package is loaded
when its command is called; what is wrong with it is told with its name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import cached_property
from importlib.metadata import EntryPoint
from typing import Any

import typer
from typer.main import get_command

from ..errors import DiscreetError, MisuseError
from ..registry import Unfit, blamed, load, package_of, points
from ..wording import printable
from ._run import Interrupted

GROUP = "discreet.commands"
# Commands that belong to this project and are in a distribution of their own.
SEPARATE: Mapping[str, str] = {"lab": "discreet-lab"}


class PluginCommand:
    """A command of another package: its name and its help at once, and the rest of it by loading that package.

    It stands for the command of typer wherever commands are listed, called or completed.
    """

    hidden = False
    deprecated = False
    rich_help_panel = "Commands of other packages"

    def __init__(self, point: EntryPoint, prepare: Callable[[Any], None]) -> None:
        self.name, self._point, self._prepare = point.name, point, prepare
        self.package = package_of(point)

    @cached_property
    def help(self) -> str:
        """The summary of the package, in which nothing is markup."""
        from rich.markup import escape

        distribution = self._point.dist
        summary = distribution.metadata["Summary"] if distribution else None
        return escape(printable(f"{summary.rstrip('.')} ({self.package})." if summary else f"Of {self.package}."))

    @property
    def short_help(self) -> str:
        """The same, as it is one sentence."""
        return self.help

    def get_short_help_str(self, limit: int = 0) -> str:
        """Return the summary for a shell that completes words."""
        return self.help

    @property
    def title(self) -> str:
        """What it is called in messages."""
        return f"The command {self.name} of the package {self.package}"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._loaded, name)

    @cached_property
    def _loaded(self) -> Any:
        """The command itself, as typer makes it of the app; of an app with one command, that one."""
        app = load(self._point, self.title)
        with blamed(self.title):
            if not isinstance(app, typer.Typer):
                raise Unfit(
                    f"{self._point.value} of the package {self.package} is no command: {GROUP} takes an app of typer. "
                    "Mend or uninstall that package."
                )
            if not (app.registered_commands or app.registered_groups or app.registered_callback):
                raise ValueError("it has no command")
            alone = len(app.registered_commands) == 1 and not (app.registered_groups or app.registered_callback)
            whole = typer.Typer(add_completion=False, rich_markup_mode="rich")
            whole.callback()(lambda: None)
            whole.add_typer(app, name=None if alone else self.name)
            (command,) = get_command(whole).commands.values()  # type: ignore[attr-defined]
            command.name = self.name
            self._prepare(command)
        return command


class CommandTable(MutableMapping[str, Any]):
    """The commands by name: ours, and those of other packages where one of ours is not what is asked for.

    Parameters
    ----------
    ours
        The commands of this package.
    prepare
        Called with each command of another package when it is loaded.
    """

    def __init__(self, ours: MutableMapping[str, Any], prepare: Callable[[Any], None]) -> None:
        self._ours, self._prepare = ours, prepare

    @cached_property
    def _others(self) -> dict[str, PluginCommand]:
        found: dict[str, PluginCommand] = {}
        for point in sorted(points(GROUP), key=lambda one: one.name):
            name, package = point.name, package_of(point)
            first = found[name].package if name in found else "discreet" if name in self._ours else None
            if first is not None:
                raise MisuseError(
                    f"There are two commands called {name}, one of the package {first} and one of {package}: rename "
                    "one, or uninstall its package."
                )
            found[name] = PluginCommand(point, self._prepare)
        return found

    def __getitem__(self, name: str) -> Any:
        return self._ours[name] if name in self._ours else self._others[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._ours[name] = command

    def __delitem__(self, name: str) -> None:
        del self._ours[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._ours
        yield from self._others

    def __len__(self) -> int:
        return len(self._ours) + len(self._others)


def check_separate(name: str) -> None:
    """Refuse a command that is not installed with what to install, where this project distributes it apart."""
    if name in SEPARATE:
        raise MisuseError(f"`discreet {name}` is in a package of its own: pip install {SEPARATE[name]}.")


def raise_blaming(error: Exception, command: Any) -> None:
    """Raise an error that names the package of a command, if `error` is none that a command is expected to end with."""
    if not isinstance(command, PluginCommand) or os.environ.get("DISCREET_DEBUG"):
        return
    # Errors of typer, and whatever else asks for a status of its own, have an exit code.
    expected = (DiscreetError, Interrupted, ImportError, MemoryError, OSError, typer.Abort)
    if not isinstance(error, expected) and not hasattr(error, "exit_code"):
        raise DiscreetError(
            f"{command.title} failed with an error that should not happen: {type(error).__name__}. Set "
            "DISCREET_DEBUG=1 to see where, and report it to that package."
        ) from error
