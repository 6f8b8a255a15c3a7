"""Every mechanism, protocol and oracle by name: those of this package, and those other packages bring along.

One of ours is a subclass of `Mechanism`, `Protocol`, `Oracle` or `MeanOracle` in a file of its room, with a proof page
of the same name beside it; variants of a protocol or an oracle may share the page of their file. It is found there, and
listed but not used without its page. Another package registers one under the entry point group `discreet.mechanisms`,
`discreet.protocols` or `discreet.oracles`; its attribute `proof` names a page beside the module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

from .errors import MisuseError

What: TypeAlias = Literal["mechanism", "protocol", "oracle"]

# Where other packages register theirs.
GROUPS: dict[What, str] = {
    "mechanism": "discreet.mechanisms",
    "protocol": "discreet.protocols",
    "oracle": "discreet.oracles",
}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is known about a mechanism, a protocol or an oracle without running it.

    Parameters
    ----------
    name
        What it is called.
    what
        ``"mechanism"``, ``"protocol"`` or ``"oracle"``.
    kind
        Its class.
    proof
        The page beside its code that says why it keeps its promise.
    package
        Who brings it along.
    """

    name: str
    what: What
    kind: type[Any]
    proof: Path
    package: str

    @property
    def unproven(self) -> str:
        """Why it may not be used; nothing where its proof page is there."""
        if self.proof.is_file():
            return ""
        named = self.proof.suffix
        missing = f"{self.proof.name} has to lie beside it" if named else "say which one in its attribute proof"
        return f"The {self.what} {self.name} of the package {self.package} has no proof page: {missing}."

    @property
    def model(self) -> str:
        """``"central"``: a curator holds the data; ``"local"``: devices keep them."""
        return "central" if self.what == "mechanism" else "local"

    @property
    def summary(self) -> str:
        """One sentence."""
        return str(self.kind.summary)

    @property
    def citation(self) -> str:
        """Where it comes from."""
        return str(self.kind.citation)

    @property
    def answers(self) -> tuple[str, ...]:
        """What it can be asked: top, threshold, itemsets; an oracle: frequencies or a mean."""
        if self.what == "oracle":
            return ("mean",) if hasattr(self.kind, "worth") else ("frequencies",)
        return tuple(self.kind.answers) if self.what == "mechanism" else ("top",)

    @property
    def guarantee(self) -> str:
        """What it promises, by what is given."""
        if self.what != "mechanism":
            return "epsilon"
        return {
            True: "(epsilon, delta)",
            False: "epsilon",
            None: "epsilon, delta optional",
        }[self.kind.delta]

    @property
    def settings(self) -> dict[str, Any]:
        """The settings and their defaults. An oracle has none: its numbers follow from the question."""
        if self.what == "oracle":
            return {}
        usual = self.kind()
        return {setting.name: getattr(usual, setting.name) for setting in fields(self.kind)}

    def make(self, settings: Mapping[str, Any] | None = None) -> Any:
        """Return the mechanism or protocol with these settings, which may be text as typed on a command line.

        An oracle is made for a question by its class: ``entry.kind.make(epsilon, size)``.
        """
        if self.unproven:
            raise MisuseError(self.unproven)
        given = dict(settings or {})
        known = self.settings
        for name in given:
            if name not in known:
                offered = f"it has {', '.join(known)}" if known else "it has none"
                raise MisuseError(f"{self.name} has no setting {name!r}: {offered}.")
        if self.what == "oracle":
            raise MisuseError(f"{self.name} is an oracle: it is made for one question, by its class.")
        if self.what == "mechanism":  # a protocol reads its settings itself
            hints = get_type_hints(self.kind)
            given = {
                name: _typed(value, hints[name], f"the setting {name} of {self.name}") for name, value in given.items()
            }
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

    return _found("mechanism", curator, Mechanism)


@cache
def protocols() -> dict[str, Entry]:
    """Return every local protocol by name."""
    from .local import protocols as room
    from .local.protocols.protocol import Protocol

    return _found("protocol", room, Protocol)


@cache
def oracles() -> dict[str, Entry]:
    """Return every oracle by name: for frequencies and for means."""
    from .local import oracles as room
    from .local.oracles.mean import MeanOracle
    from .local.oracles.oracle import Oracle

    return _found("oracle", room, Oracle, MeanOracle)


def everything() -> dict[str, Entry]:
    """Return every mechanism, protocol and oracle by name; a name stands for one of them."""
    found: dict[str, Entry] = {}
    for some in (mechanisms(), protocols(), oracles()):
        for one in some.values():
            if one.name in found:
                raise MisuseError(_two(found[one.name], one.what, one.package))
            found[one.name] = one
    return found


def _found(what: What, room: ModuleType, *kinds: type[Any]) -> dict[str, Entry]:
    """Return the subclasses that the modules of a room define, and those that other packages register."""
    found: dict[str, Entry] = {}
    for module in iter_modules(room.__path__):
        home = import_module(f"{room.__name__}.{module.name}")
        for value in vars(home).values():
            ours = isinstance(value, type) and issubclass(value, kinds) and value.__module__ == home.__name__
            if ours and hasattr(value, "name"):
                own = Path(home.__file__ or "").with_name(f"{value.name}.md")
                shared = own.with_name(f"{module.name.replace('_', '-')}.md")
                _add(found, what, value, own if own.is_file() or what == "mechanism" else shared, "discreet")
    for point in entry_points(group=GROUPS[what]):
        package = point.dist.name if point.dist else point.value
        kind = _loaded(point, package, what, kinds)
        beside = Path(import_module(kind.__module__).__file__ or "").parent
        _add(found, what, kind, beside / getattr(kind, "proof", ""), package)
    return dict(sorted(found.items()))


def _loaded(point: EntryPoint, package: str, what: What, kinds: tuple[type[Any], ...]) -> type[Any]:
    """Return what another package registers; what cannot be used is told with its name, as it stops every command."""
    try:
        kind = point.load()
    except Exception as error:
        raise MisuseError(
            f"The {what} {point.name} of the package {package} cannot be loaded ({type(error).__name__}: {error}): "
            "mend or uninstall that package."
        ) from error
    if not (isinstance(kind, type) and issubclass(kind, kinds) and hasattr(kind, "name")):
        taken = " or ".join(one.__name__ for one in kinds)
        raise MisuseError(
            f"{point.value} of the package {package} is no {what}: {GROUPS[what]} takes subclasses of {taken} with a "
            "name. Mend or uninstall that package."
        )
    return kind


def _add(found: dict[str, Entry], what: What, kind: type[Any], proof: Path, package: str) -> None:
    if kind.name in found:
        raise MisuseError(_two(found[kind.name], what, package))
    found[kind.name] = Entry(name=kind.name, what=what, kind=kind, proof=proof, package=package)


def _two(one: Entry, what: What, package: str) -> str:
    both = f"two {what}s" if one.what == what else f"a {one.what} and a {what}"
    return (
        f"There are {both} called {one.name}, one of the package {one.package} and one of {package}: rename one, or "
        "uninstall its package."
    )


def mechanism(name: str) -> Entry:
    """Return the entry of a mechanism; an unknown name is answered with those there are."""
    return _named(name, mechanisms(), "mechanism")


def protocol(name: str) -> Entry:
    """Return the entry of a protocol; an unknown name is answered with those there are."""
    return _named(name, protocols(), "protocol")


def entry(name: str) -> Entry:
    """Return the entry of that name, whatever it is; an unknown name is answered with those there are."""
    return _named(name, everything(), "mechanism, protocol or oracle")


def _named(name: str, known: Mapping[str, Entry], what: str) -> Entry:
    if name not in known:
        from difflib import get_close_matches

        near = get_close_matches(name, known, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise MisuseError(f"There is no {what} {name!r}; there are {', '.join(known)}.{hint}")
    if known[name].unproven:
        raise MisuseError(known[name].unproven)
    return known[name]
