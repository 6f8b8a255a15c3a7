"""Every mechanism, protocol and oracle by name: ours, and the entries of plug-ins.

One of ours is a subclass of `Mechanism`, `Protocol`, `Oracle` or `MeanOracle` in a module of its room, with a proof
page of its name beside it; variants of a protocol or an oracle may share the page of their module. An entry without a
page is listed and not used. A plug-in registers a class under the entry point group `discreet.mechanisms`,
`discreet.protocols` or `discreet.oracles`; its attribute `proof` names a page beside the module. Objects that are
passed in, and the oracles of a protocol, need a page too. Rooms are imported by name on the first lookup, so every room
may use the registry.
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
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..errors import MisuseError, name_options
from ..wording import RichDisplay
from ._plugins import Unfit, blamed, load, package_of, points
from ._settings import parse_settings

if TYPE_CHECKING:
    from rich.console import Group

Category: TypeAlias = Literal["mechanism", "protocol", "oracle"]


@dataclass(frozen=True)
class _Room:
    """The sources of one kind of entry: our package, its base classes, and the entry point group of plug-ins."""

    package: str
    kinds: tuple[tuple[str, str], ...]
    group: str
    # Names of selectors among the entries: no entry may have them.
    reserved_names: tuple[str, ...] = ()


_HEADS: dict[Category, str] = {
    "mechanism": "Mechanisms: a curator holds everyone's baskets",
    "protocol": "Protocols: devices keep their baskets, and a collector asks",
    "oracle": "Oracles: how one report is randomised",
}
_ROOMS: dict[Category, _Room] = {
    "mechanism": _Room("discreet.curator.mechanisms", (("curator", "Mechanism"),), "discreet.mechanisms"),
    "protocol": _Room("discreet.local.protocols", (("local", "Protocol"),), "discreet.protocols"),
    "oracle": _Room(
        "discreet.local.oracles",
        (("local", "Oracle"), ("local", "MeanOracle")),
        "discreet.oracles",
        reserved_names=("adaptive", "grr-or-olh"),
    ),
}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """The facts about a mechanism, a protocol or an oracle that need no run.

    Parameters
    ----------
    name
        Its name.
    category
        ``"mechanism"``, ``"protocol"`` or ``"oracle"``.
    kind
        Its class.
    proof
        The page beside its code that proves its promise; None if the class names no page.
    package
        The name of the package that defines it.
    """

    name: str
    category: Category
    kind: type[Any]
    proof: Path | None
    package: str

    @property
    def unproven(self) -> str:
        """The reason why it may not be used; "" with a proof page."""
        if self.proof is not None and self.proof.is_file():
            return ""
        # A page that is missing and a page that is not named have different fixes.
        missing = "say which one in its attribute proof"
        if self.proof is not None:
            missing = f"{self.proof.name} has to lie beside it"
        elif hasattr(self.kind, "proof"):
            missing += "; the one it inherits is about another"
        return f"The {self.category} {self.name} of the package {self.package} has no proof page: {missing}."

    @property
    def model(self) -> str:
        """``"central"``: a curator holds the data; ``"local"``: devices keep them."""
        return "central" if self.category == "mechanism" else "local"

    @property
    def summary(self) -> str:
        """One sentence about the method."""
        # Converted, as the class of a plug-in may hold any object.
        return str(self.kind.summary)

    @property
    def description(self) -> str:
        """The summary, or the reason why it may not be used."""
        return f"{self.unproven} It is not run." if self.unproven else self.summary

    @property
    def citation(self) -> str:
        """Its source."""
        return str(self.kind.citation)

    @property
    def answers(self) -> tuple[str, ...]:
        """The kinds of questions: top, threshold, itemsets; for an oracle: frequencies or mean."""
        if self.category == "oracle":
            # Oracles for means have a method `worth`; the two kinds share no base class.
            return ("mean",) if hasattr(self.kind, "worth") else ("frequencies",)
        return tuple(self.kind.answers) if self.category == "mechanism" else ("top",)

    @property
    def guarantee(self) -> str:
        """The form of the promise, by its parameters."""
        if self.category != "mechanism":
            return "epsilon" if self.kind.live else "epsilon, simulated only"
        return {
            True: "(epsilon, delta)",
            False: "epsilon",
            None: "epsilon, delta optional",
        }[self.kind.delta]

    @property
    def settings(self) -> dict[str, Any]:
        """The settings and their defaults. An oracle has none: its numbers follow from the question."""
        if self.category == "oracle":
            return {}
        # An instance, as defaults may be computed when the object is made.
        default_object = self.kind()
        return {setting.name: getattr(default_object, setting.name) for setting in fields(self.kind)}

    def make(self, settings: Mapping[str, Any] | None = None) -> Any:
        """Return the mechanism or protocol with settings, which may be text as typed on a command line.

        An oracle is made for a question by its class: ``entry.kind.make(epsilon, size)``.
        """
        if self.unproven:
            raise MisuseError(self.unproven)
        # Unknown names are refused before values are parsed: the message lists the names.
        defaults = self.settings
        for name in settings or {}:
            if name not in defaults:
                offered = f"it has {', '.join(defaults)}" if defaults else "it has none"
                raise MisuseError(f"{self.name} has no setting {name!r}: {offered}.")
        if self.category == "oracle":
            raise MisuseError(f"{self.name} is an oracle: it is made for one question, by its class.")
        return self.kind(**parse_settings(self.kind, settings or {}))


class Listing(dict[str, Entry], RichDisplay):
    """Entries by name, rendered as a list."""

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.padding import Padding
        from rich.text import Text

        lines: list[Any] = []
        last_category = ""
        for entry in self.values():
            # The entries come category by category, so a heading stands before the first entry of each.
            if entry.category != last_category:
                last_category = entry.category
                lines.append(Text(f"{_HEADS[last_category]}\n", "bold underline"))
            lines.append(
                Text.assemble((entry.name, "bold"), f"  answers {', '.join(entry.answers)}; {entry.guarantee}")
            )
            for text, style in ((entry.description, ""), (entry.citation, "dim")):
                lines.append(Padding(Text(text, style), (0, 0, 0, 2)))
            lines.append(Text())
        return Group(*lines)


@cache
def mechanisms() -> Listing:
    """Return every mechanism by name."""
    return Listing(_find_entries("mechanism"))


@cache
def protocols() -> Listing:
    """Return every local protocol by name."""
    return Listing(_find_entries("protocol"))


@cache
def oracles() -> Listing:
    """Return every oracle by name: for frequencies and for means."""
    return Listing(_find_entries("oracle"))


def described(name: str) -> tuple[str, tuple[str, ...]]:
    """Return the summary and the citations of a mechanism or protocol; empty for an unknown name."""
    entry = {**mechanisms(), **protocols()}.get(name)
    return ("", ()) if entry is None else (entry.summary, (entry.citation,))


_TABLES: dict[Category, Callable[[], Listing]] = {"mechanism": mechanisms, "protocol": protocols, "oracle": oracles}


def everything() -> Listing:
    """Return every mechanism, protocol and oracle by name; names are unique over all kinds."""
    # Not cached, as the three tables are.
    entries = Listing()
    for table in _TABLES.values():
        for entry_of_kind in table().values():
            if entry_of_kind.name in entries:
                raise MisuseError(
                    _describe_clash(entries[entry_of_kind.name], entry_of_kind.category, entry_of_kind.package)
                )
            entries[entry_of_kind.name] = entry_of_kind
    return entries


def entry(name: str, kind_name: Category | None = None) -> Entry:
    """Return the entry of a name, of one kind or of any; the error about an unknown name lists all names."""
    # A name of one category is looked up without importing further rooms.
    entries = everything() if kind_name is None else _TABLES[kind_name]()
    sort = kind_name or "mechanism, protocol or oracle"
    if not isinstance(name, str) or name not in entries:
        from difflib import get_close_matches

        matches = get_close_matches(str(name), entries, 1)
        hint = f" Did you mean {matches[0]!r}?" if matches else ""
        raise MisuseError(f"There is no {sort} {name!r:.80}; there are {', '.join(entries)}.{hint}")
    if entries[name].unproven:
        raise MisuseError(entries[name].unproven)
    return entries[name]


def mechanism(value: Any, settings: Mapping[str, Any] | None = None, *, trying: bool = False) -> Any:
    """Return the mechanism of a name with settings, or a given mechanism.

    A given mechanism without a proof page is an error, unless it is tried with seeded noise and marked results.
    """
    return _resolve("mechanism", value, settings, trying)


def protocol(value: Any, settings: Mapping[str, Any] | None = None) -> Any:
    """Return the protocol of a name with settings, or a given protocol with a proof page."""
    return _resolve("protocol", value, settings, False)


# A cache: rounds look up their oracle by the hundred.
_PROVEN_KINDS: set[type[Any]] = set()


def proven(kind: type[Any]) -> type[Any]:
    """Return a class of mechanisms, protocols or oracles; a class without a proof page is an error."""
    if kind in _PROVEN_KINDS:
        return kind
    kind_name: Category = next(kind_name for kind_name in _ROOMS if issubclass(kind, _base_classes(kind_name)))
    if reason := _build_entry(kind_name, kind, _package_name(kind)).unproven:
        if kind_name == "mechanism":
            reason += " To try it on known data, with seeded noise and marked as simulated: "
            reason += "discreet.planning._trial.trial."
        raise MisuseError(reason)
    _PROVEN_KINDS.add(kind)
    return kind


def _resolve(kind_name: Category, value: Any, settings: Mapping[str, Any] | None, trying: bool) -> Any:
    if settings is not None and not isinstance(settings, Mapping):
        raise MisuseError.format(
            "{settings} are values by name, such as {{'selecting': '0.3'}}; {given!r:.80} was given.", given=settings
        )
    # A name has settings beside it; an object has them in it.
    if isinstance(value, str):
        return entry(value, kind_name).make(settings)
    if not isinstance(value, _base_classes(kind_name)):
        listing = "discreet.mechanisms()" if kind_name == "mechanism" else "discreet.registry.protocols()"
        example_name = "auto" if kind_name == "mechanism" else "adept"
        raise MisuseError.format(
            "{option} is one of the names that {listing} lists, such as {usual!r}; {given!r:.80} was given.",
            option=name_options(kind_name),
            listing=listing,
            usual=example_name,
            given=value,
        )
    if settings:
        raise MisuseError(f"Settings belong to a {kind_name} given by name: put them into the object instead.")
    if not trying:
        kind = proven(type(value))
        # A result states the name of its mechanism, so an unregistered class must not run under a registered name.
        entry_in_use = None if _is_ours(kind) else _find_entries(kind_name).get(kind.name)
        if entry_in_use is not None and entry_in_use.kind is not kind:
            raise MisuseError(_describe_clash(entry_in_use, kind_name, _package_name(kind)))
    return value


def _base_classes(kind_name: Category) -> tuple[type[Any], ...]:
    room = _ROOMS[kind_name]
    # By name, since the rooms import the registry.
    return tuple(getattr(import_module(f"discreet.{module}"), name) for module, name in room.kinds)


def _package_name(kind: type[Any]) -> str:
    """Return the name of the package that defines a class: "discreet" for ours."""
    return kind.__module__.partition(".")[0]


def _is_ours(kind: type[Any]) -> bool:
    return _package_name(kind) == "discreet"


def _build_entry(category: Category, kind: type[Any], package: str) -> Entry:
    """Return the entry of a class of one category."""
    return Entry(name=kind.name, category=category, kind=kind, proof=_find_proof_page(category, kind), package=package)


def _find_proof_page(kind_name: Category, kind: type[Any]) -> Path | None:
    """Return the proof page of a class: the page that it names, or for ours the page of its name or module."""
    # A class that was made in a session has no file, and so no page.
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if not _is_ours(kind):
        page_name = vars(kind).get("proof")  # inherited, it would be about the parent
        return Path(file or "nowhere").parent / str(page_name) if page_name else None
    own_page = Path(file or "").with_name(f"{kind.name}.md")
    shared_page = own_page.with_name(f"{kind.__module__.rpartition('.')[2].replace('_', '-')}.md")
    # Variants of a protocol share a page; a mechanism never does, as each has its own proof.
    return own_page if own_page.is_file() or kind_name == "mechanism" else shared_page


def _find_entries(kind_name: Category) -> dict[str, Entry]:
    """Return the entries of one kind by name: classes of our room, and of plug-ins."""
    entries: dict[str, Entry] = {}
    room, bases = _ROOMS[kind_name], _base_classes(kind_name)
    for module in iter_modules(import_module(room.package).__path__):
        module_name = f"{room.package}.{module.name}"
        for value in vars(import_module(module_name)).values():
            is_defined_here = isinstance(value, type) and issubclass(value, bases) and value.__module__ == module_name
            if is_defined_here and hasattr(value, "name"):
                _add(entries, _build_entry(kind_name, value, "discreet"))
    for point in points(room.group):
        package = package_of(point)
        _add(entries, _load_entry(point, package, kind_name, bases))
    # By name: the order of files and of installed packages is arbitrary.
    return dict(sorted(entries.items()))


def _load_entry(point: EntryPoint, package: str, kind_name: Category, bases: tuple[type[Any], ...]) -> Entry:
    """Return the entry of a plug-in; an error names its package, because a broken plug-in stops every command."""
    plugin_name = f"The {kind_name} {point.name} of the package {package}"
    kind = load(point, plugin_name)
    with blamed(plugin_name):
        if not (isinstance(kind, type) and issubclass(kind, bases) and hasattr(kind, "name")):
            base_names = " or ".join(base.__name__ for base in bases)
            raise Unfit(
                f"{point.value} of the package {package} is no {kind_name}: {_ROOMS[kind_name].group} takes subclasses "
                f"of {base_names} with a name. Mend or uninstall that package."
            )
        entry_of_plugin = _build_entry(kind_name, kind, package)
        _check_readable(entry_of_plugin)
    return entry_of_plugin


def _check_readable(new_entry: Entry) -> None:
    """Read all properties of an entry, so that an error of a property is raised beside the name of its plug-in."""
    if not isinstance(new_entry.name, str) or not new_entry.name:
        raise TypeError("its name is not a text")
    for name in ("unproven", "summary", "citation", "answers", "guarantee", "settings"):
        getattr(new_entry, name)


def _add(entries: dict[str, Entry], new_entry: Entry) -> None:
    """Add an entry to the table of its kind; a name that is in use is an error."""
    kind_name, package = new_entry.category, new_entry.package
    # A ledger records the name, so the name must mean one class.
    if new_entry.name in entries:
        raise MisuseError(_describe_clash(entries[new_entry.name], kind_name, package))
    if new_entry.name in _ROOMS[kind_name].reserved_names:
        raise MisuseError(_describe_clash(replace(new_entry, package="discreet"), kind_name, package))
    entries[new_entry.name] = new_entry


def _describe_clash(entry_in_use: Entry, kind_name: Category, package: str) -> str:
    """Return the message that a package defines an entry under a name that is in use."""
    used_kind = entry_in_use.category
    both_text = f"two {kind_name}s" if used_kind == kind_name else f"a {used_kind} and a {kind_name}"
    return (
        f"There are {both_text} called {entry_in_use.name}, one of the package {entry_in_use.package} and one of "
        f"{package}: rename one, or uninstall its package."
    )
