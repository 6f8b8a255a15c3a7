"""Every mechanism by name: those of this package, and those other packages bring along.

A mechanism of ours is a subclass of `Mechanism` in a file of `curator`, with a proof page of the same name beside it;
it is found there, and refused without its page. Another package registers one under the entry point group
`discreet.mechanisms`, with `proof` naming a page of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from .errors import MisuseError

if TYPE_CHECKING:
    from .curator.mechanism import Mechanism

GROUP = "discreet.mechanisms"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is known about a mechanism without running it."""

    name: str
    kind: type[Mechanism]
    proof: Path
    package: str

    @property
    def model(self) -> str:
        """``"central"``: a curator holds the data."""
        return self.kind.model

    @property
    def summary(self) -> str:
        """One sentence."""
        return self.kind.summary

    @property
    def citation(self) -> str:
        """Where it comes from."""
        return self.kind.citation

    @property
    def answers(self) -> tuple[str, ...]:
        """What it can be asked: top, threshold, itemsets."""
        return self.kind.answers

    @property
    def guarantee(self) -> str:
        """What it promises, by what is given."""
        return {
            True: "(epsilon, delta)",
            False: "epsilon",
            None: "epsilon, delta optional",
        }[self.kind.delta]

    @property
    def settings(self) -> dict[str, Any]:
        """The settings and their defaults."""
        return {setting.name: setting.default for setting in fields(self.kind)}  # type: ignore[arg-type]

    def make(self, settings: Mapping[str, Any] | None = None) -> Mechanism:
        """Return the mechanism with these settings, which may be text as typed on a command line."""
        given = dict(settings or {})
        known = self.settings
        hints = get_type_hints(self.kind)
        for name, value in given.items():
            if name not in known:
                offered = f"it has {', '.join(known)}" if known else "it has none"
                raise MisuseError(f"{self.name} has no setting {name!r}: {offered}.")
            given[name] = _typed(value, hints[name], f"the setting {name} of {self.name}")
        return self.kind(**given)


def _typed(value: Any, hint: Any, name: str) -> Any:
    """Return a setting as its type wants it, from text or from a number."""
    kinds = [hint] if not get_args(hint) or get_origin(hint) is not None else list(get_args(hint))
    if get_args(hint) and type(None) in get_args(hint):
        kinds = [kind for kind in get_args(hint) if kind is not type(None)]
        if value is None or value == "none":
            return None
    kind = kinds[0]
    if kind is bool:
        if isinstance(value, bool):
            return value
        if str(value).lower() in ("true", "yes", "on", "false", "no", "off"):
            return str(value).lower() in ("true", "yes", "on")
        raise MisuseError(f"{name} is on or off; {value!r} was given.")
    if kind is Fraction:
        from .privacy.budget import exact

        return exact(value, name)
    if kind is int:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str) and value.removeprefix("-").isdigit() and len(value) < 19:
            return int(value)
        raise MisuseError(f"{name} is a whole number; {value!r} was given.")
    return value


@cache
def mechanisms() -> dict[str, Entry]:
    """Return every mechanism by name."""
    from . import curator
    from .curator.mechanism import Mechanism

    found: dict[str, Entry] = {}
    for module in iter_modules(curator.__path__):
        home = import_module(f"{curator.__name__}.{module.name}")
        for value in vars(home).values():
            ours = isinstance(value, type) and issubclass(value, Mechanism) and value.__module__ == home.__name__
            if ours and hasattr(value, "name"):
                _add(found, value, Path(home.__file__ or "").with_name(f"{value.name}.md"), "discreet")
    for point in entry_points(group=GROUP):
        kind = point.load()
        _add(found, kind, Path(getattr(kind, "proof", "")), point.dist.name if point.dist else point.value)
    return dict(sorted(found.items()))


def _add(found: dict[str, Entry], kind: type[Mechanism], proof: Path, package: str) -> None:
    if not proof.is_file():
        raise MisuseError(f"The mechanism {kind.name} of {package} has no proof page: {proof.name or 'none named'}.")
    if kind.name in found:
        raise MisuseError(f"There are two mechanisms called {kind.name}: {found[kind.name].package} and {package}.")
    found[kind.name] = Entry(name=kind.name, kind=kind, proof=proof, package=package)


def mechanism(name: str) -> Entry:
    """Return the entry of a mechanism; an unknown name is answered with those there are."""
    known = mechanisms()
    if name not in known:
        from difflib import get_close_matches

        near = get_close_matches(name, known, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise MisuseError(f"There is no mechanism {name!r}; there are {', '.join(known)}.{hint}")
    return known[name]
