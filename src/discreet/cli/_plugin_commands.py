"""Commands of plugin packages: an entry point of the group `discreet.commands` names an app of typer.

A command of discreet is found without a search of packages, and no package can replace it. The list of commands reads
the registrations and loads no package: the help shows the summary of the package. A call of the command loads the
package; messages on its errors name the package.
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
# Commands of this project in distributions of their own, by command.
SEPARATE: Mapping[str, str] = {"lab": "discreet-lab"}


class PluginCommand:
    """A stand-in for the command of a plugin package: it has the name and the help, and loads the package on first use.

    typer treats it as its own command in lists, calls and completion of words.
    """

    hidden = False
    deprecated = False
    rich_help_panel = "Commands of other packages"

    def __init__(self, point: EntryPoint, prepare: Callable[[Any], None]) -> None:
        self.name, self._point, self._prepare = point.name, point, prepare
        self.package = package_of(point)

    @cached_property
    def help(self) -> str:
        """The summary of the package, with markup escaped."""
        from rich.markup import escape

        distribution = self._point.dist
        summary = distribution.metadata["Summary"] if distribution else None
        # The summary is text of a stranger: neither markup nor control characters may act.
        return escape(printable(f"{summary.rstrip('.')} ({self.package})." if summary else f"Of {self.package}."))

    @property
    def short_help(self) -> str:
        """The help, which is one sentence."""
        return self.help

    def get_short_help_str(self, limit: int = 0) -> str:
        """Return the help for the completion of words in a shell."""
        return self.help

    @property
    def title(self) -> str:
        """The command and its package, as messages name them."""
        return f"The command {self.name} of the package {self.package}"

    def __getattr__(self, name: str) -> Any:
        # Private names are looked up by copy and pickle, and must not load the package.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._loaded, name)

    @cached_property
    def _loaded(self) -> Any:
        """The command that typer builds of the app; of an app with one command, that command."""
        app = load(self._point, self.title)
        with blamed(self.title):
            if not isinstance(app, typer.Typer):
                raise Unfit(
                    f"{self._point.value} of the package {self.package} is no command: {GROUP} takes an app of typer. "
                    "Mend or uninstall that package."
                )
            if not (app.registered_commands or app.registered_groups or app.registered_callback):
                raise ValueError("it has no command")
            has_single = len(app.registered_commands) == 1 and not (app.registered_groups or app.registered_callback)
            # A group around the app, with a callback, keeps typer from building the app as a program of its own.
            group = typer.Typer(add_completion=False, rich_markup_mode="rich")
            group.callback()(lambda: None)
            group.add_typer(app, name=None if has_single else self.name)
            (command,) = get_command(group).commands.values()  # type: ignore[attr-defined]
            command.name = self.name
            self._prepare(command)
        return command


class CommandTable(MutableMapping[str, Any]):
    """The commands by name. A lookup finds a command of discreet without reading registrations of packages.

    Parameters
    ----------
    own_commands
        The commands of discreet.
    prepare
        Called with each plugin command when it is loaded.
    """

    def __init__(self, own_commands: MutableMapping[str, Any], prepare: Callable[[Any], None]) -> None:
        self._own_commands, self._prepare = own_commands, prepare

    @cached_property
    def _plugin_commands(self) -> dict[str, PluginCommand]:
        commands: dict[str, PluginCommand] = {}
        for point in sorted(points(GROUP), key=lambda point: point.name):
            name, package = point.name, package_of(point)
            owner = commands[name].package if name in commands else "discreet" if name in self._own_commands else None
            if owner is not None:
                raise MisuseError(
                    f"There are two commands called {name}, one of the package {owner} and one of {package}: rename "
                    "one, or uninstall its package."
                )
            commands[name] = PluginCommand(point, self._prepare)
        return commands

    def __getitem__(self, name: str) -> Any:
        return self._own_commands[name] if name in self._own_commands else self._plugin_commands[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._own_commands[name] = command

    def __delitem__(self, name: str) -> None:
        del self._own_commands[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._own_commands
        yield from self._plugin_commands

    def __len__(self) -> int:
        return len(self._own_commands) + len(self._plugin_commands)


def check_separate(name: str) -> None:
    """Raise MisuseError with the package to install, if a command is in a distribution of its own."""
    if name in SEPARATE:
        raise MisuseError(f"`discreet {name}` is in a package of its own: pip install {SEPARATE[name]}.")


def raise_blaming(error: Exception, command: Any) -> None:
    """Raise DiscreetError with the package of a plugin command, if no command is expected to end with the error."""
    if not isinstance(command, PluginCommand) or os.environ.get("DISCREET_DEBUG"):
        return
    # Errors of typer, and other errors with an exit status of their own, have an exit code.
    expected = (DiscreetError, Interrupted, ImportError, MemoryError, OSError, typer.Abort)
    if not isinstance(error, expected) and not hasattr(error, "exit_code"):
        raise DiscreetError(
            f"{command.title} failed with an error that should not happen: {type(error).__name__}. Set "
            "DISCREET_DEBUG=1 to see where, and report it to that package."
        ) from error
