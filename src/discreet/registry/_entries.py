"""Every mechanism, protocol and oracle by name: those of this package, and those other packages bring along.

One of ours is a subclass of `Mechanism`, `Protocol`, `Oracle` or `MeanOracle` in a file of its room, with a proof page
of the same name beside it; variants of a protocol or an oracle may share the page of their file. It is found there, and
listed but not used without its page. Another package registers one under the entry point group `discreet.mechanisms`,
`discreet.protocols` or `discreet.oracles`; its attribute `proof` names a page beside the module. The same is asked of
an object that is handed in, and of the oracles that a protocol asks through. Rooms are looked into by their names, when
something is looked up, so that all of them may ask.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Literal, TypeAlias

from ..errors import MisuseError, name_options
from ._listing import Listing
from ._plugins import Unfit, blamed, load, package_of, points
from ._settings import parsed

What: TypeAlias = Literal["mechanism", "protocol", "oracle"]


@dataclass(frozen=True)
class _Room:
    """Where one sort is found: our package, what is derived from there, and where other packages register theirs."""

    package: str
    kinds: tuple[tuple[str, str], ...]
    group: str
    # Names that are none of its own and yet taken: what chooses one of them.
    taken: tuple[str, ...] = ()


_ROOMS: dict[What, _Room] = {
    "mechanism": _Room("discreet.curator.mechanisms", (("curator", "Mechanism"),), "discreet.mechanisms"),
    "protocol": _Room("discreet.local.protocols", (("local", "Protocol"),), "discreet.protocols"),
    "oracle": _Room(
        "discreet.local.oracles",
        (("local", "Oracle"), ("local", "MeanOracle")),
        "discreet.oracles",
        taken=("adaptive", "grr-or-olh"),
    ),
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
        The page beside its code that says why it keeps its promise; None where the class names none of its own.
    package
        Who brings it along.
    """

    name: str
    what: What
    kind: type[Any]
    proof: Path | None
    package: str

    @property
    def unproven(self) -> str:
        """Why it may not be used; nothing where its proof page is there."""
        if self.proof is not None and self.proof.is_file():
            return ""
        missing = "say which one in its attribute proof"
        if self.proof is not None:
            missing = f"{self.proof.name} has to lie beside it"
        elif hasattr(self.kind, "proof"):
            missing += "; the one it inherits is about another"
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
            return "epsilon" if self.kind.live else "epsilon, simulated only"
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
        known = self.settings
        for name in settings or {}:
            if name not in known:
                offered = f"it has {', '.join(known)}" if known else "it has none"
                raise MisuseError(f"{self.name} has no setting {name!r}: {offered}.")
        if self.what == "oracle":
            raise MisuseError(f"{self.name} is an oracle: it is made for one question, by its class.")
        return self.kind(**parsed(self.kind, settings or {}))


@cache
def mechanisms() -> Listing:
    """Return every mechanism by name."""
    return Listing(_found("mechanism"))


@cache
def protocols() -> Listing:
    """Return every local protocol by name."""
    return Listing(_found("protocol"))


@cache
def oracles() -> Listing:
    """Return every oracle by name: for frequencies and for means."""
    return Listing(_found("oracle"))


def described(name: str) -> tuple[str, tuple[str, ...]]:
    """Return what a mechanism or protocol does, and what to cite for it; nothing where none of this name is here."""
    entry = {**mechanisms(), **protocols()}.get(name)
    return ("", ()) if entry is None else (entry.summary, (entry.citation,))


_TABLES: dict[What, Callable[[], dict[str, Entry]]] = {
    "mechanism": lambda: mechanisms(),
    "protocol": lambda: protocols(),
    "oracle": lambda: oracles(),
}


def everything() -> Listing:
    """Return every mechanism, protocol and oracle by name; a name stands for one of them."""
    found = Listing()
    for table in _TABLES.values():
        for one in table().values():
            if one.name in found:
                raise MisuseError(_two(found[one.name], one.what, one.package))
            found[one.name] = one
    return found


def entry(name: str, what: What | None = None) -> Entry:
    """Return the entry of that name, of one sort or of any; an unknown name is answered with those there are."""
    known = everything() if what is None else _TABLES[what]()
    sort = what or "mechanism, protocol or oracle"
    if not isinstance(name, str) or name not in known:
        from difflib import get_close_matches

        near = get_close_matches(str(name), known, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise MisuseError(f"There is no {sort} {name!r:.80}; there are {', '.join(known)}.{hint}")
    if known[name].unproven:
        raise MisuseError(known[name].unproven)
    return known[name]


def mechanism(given: Any, settings: Mapping[str, Any] | None = None, *, trying: bool = False) -> Any:
    """Return the mechanism of that name with these settings, or the one that is given.

    One without a proof page of its own is refused, unless it is tried with seeded noise and its results are marked.
    """
    return _made("mechanism", given, settings, trying)


def protocol(given: Any, settings: Mapping[str, Any] | None = None) -> Any:
    """Return the protocol of that name with these settings, or the one that is given, if it has a proof page."""
    return _made("protocol", given, settings, False)


# Found to be proven once: rounds ask for their oracle by the hundred.
_PROVEN: set[type[Any]] = set()


def proven(kind: type[Any]) -> type[Any]:
    """Return a class of mechanisms, protocols or oracles if it has a proof page of its own, or refuse it."""
    if kind in _PROVEN:
        return kind
    what: What = next(what for what in _ROOMS if issubclass(kind, _kinds(what)))
    package = "discreet" if _ours(kind) else kind.__module__.partition(".")[0]
    one = Entry(name=kind.name, what=what, kind=kind, proof=_page(what, kind), package=package)
    if one.unproven:
        raise MisuseError(
            f"{one.unproven} To try it on known data, with seeded noise and marked as simulated: "
            "discreet.planning._trial.trial."
            if what == "mechanism"
            else one.unproven
        )
    _PROVEN.add(kind)
    return kind


def _made(what: What, given: Any, settings: Mapping[str, Any] | None, trying: bool) -> Any:
    if settings is not None and not isinstance(settings, Mapping):
        raise MisuseError.format(
            "{settings} are values by name, such as {{'selecting': '0.3'}}; {given!r:.80} was given.", given=settings
        )
    if isinstance(given, str):
        return entry(given, what).make(settings)
    if not isinstance(given, _kinds(what)):
        listing = "discreet.mechanisms()" if what == "mechanism" else "discreet.registry.protocols()"
        usual = "auto" if what == "mechanism" else "adept"
        raise MisuseError.format(
            "{option} is one of the names that {listing} lists, such as {usual!r}; {given!r:.80} was given.",
            option=name_options(what),
            listing=listing,
            usual=usual,
            given=given,
        )
    if settings:
        raise MisuseError(f"Settings belong to a {what} given by name: put them into the object instead.")
    if not trying:
        kind = proven(type(given))
        # What is released or simulated says by whom: an audit may look at one that goes by another's name.
        taken = None if _ours(kind) else _found(what).get(kind.name)
        if taken is not None and taken.kind is not kind:
            raise MisuseError(_two(taken, what, kind.__module__.partition(".")[0]))
    return given


def _kinds(what: What) -> tuple[type[Any], ...]:
    room = _ROOMS[what]
    return tuple(getattr(import_module(f"discreet.{module}"), name) for module, name in room.kinds)


def _ours(kind: type[Any]) -> bool:
    return kind.__module__.partition(".")[0] == __name__.partition(".")[0]


def _page(what: What, kind: type[Any]) -> Path | None:
    """Return the page that is to prove a class: one that it names itself, or of ours the one of its name or file."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if not _ours(kind):
        named = vars(kind).get("proof")  # inherited, it would be about the parent
        return Path(file or "nowhere").parent / str(named) if named else None
    own = Path(file or "").with_name(f"{kind.name}.md")
    shared = own.with_name(f"{kind.__module__.rpartition('.')[2].replace('_', '-')}.md")
    return own if own.is_file() or what == "mechanism" else shared


def _found(what: What) -> dict[str, Entry]:
    """Return the subclasses that the modules of a room define, and those that other packages register."""
    found: dict[str, Entry] = {}
    room, kinds = _ROOMS[what], _kinds(what)
    for module in iter_modules(import_module(room.package).__path__):
        home = import_module(f"{room.package}.{module.name}")
        for value in vars(home).values():
            ours = isinstance(value, type) and issubclass(value, kinds) and value.__module__ == home.__name__
            if ours and hasattr(value, "name"):
                _add(found, what, value, "discreet")
    for point in points(room.group):
        package = package_of(point)
        _add(found, what, _loaded(point, package, what, kinds), package)
    return dict(sorted(found.items()))


def _loaded(point: EntryPoint, package: str, what: What, kinds: tuple[type[Any], ...]) -> type[Any]:
    """Return what another package registers; what cannot be used is told with its name, as it stops every command."""
    called = f"The {what} {point.name} of the package {package}"
    kind = load(point, called)
    with blamed(called):
        if not (isinstance(kind, type) and issubclass(kind, kinds) and hasattr(kind, "name")):
            taken = " or ".join(one.__name__ for one in kinds)
            raise Unfit(
                f"{point.value} of the package {package} is no {what}: {_ROOMS[what].group} takes subclasses of "
                f"{taken} with a name. Mend or uninstall that package."
            )
        _look_at(Entry(name=kind.name, what=what, kind=kind, proof=_page(what, kind), package=package))
    return kind


def _look_at(one: Entry) -> None:
    """Read all that is told of an entry, so that one whose answers raise is found where it can be named."""
    if not isinstance(one.name, str) or not one.name:
        raise TypeError("its name is not a text")
    _ = one.unproven, one.summary, one.citation, one.answers, one.guarantee, one.settings


def _add(found: dict[str, Entry], what: What, kind: type[Any], package: str) -> None:
    one = Entry(name=kind.name, what=what, kind=kind, proof=_page(what, kind), package=package)
    if one.name in found:
        raise MisuseError(_two(found[one.name], what, package))
    if one.name in _ROOMS[what].taken:
        raise MisuseError(_two(replace(one, package="discreet"), what, package))
    found[one.name] = one


def _two(one: Entry, what: What, package: str) -> str:
    both = f"two {what}s" if one.what == what else f"a {one.what} and a {what}"
    return (
        f"There are {both} called {one.name}, one of the package {one.package} and one of {package}: rename one, or "
        "uninstall its package."
    )
