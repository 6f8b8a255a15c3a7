"""Where reports are added up and tables are read: on this machine's cores, or on a graphics card that it has.

The one place that decides. Whatever comes of a card is the same to the last bit (`gpu/`), so nobody else has to know:
who has work for it asks `on_card`, and does the work on the cores where that returns None. It does so where no card is
wanted, none is there, the work is too small for it, or it failed, which is said once.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast, get_args

from ...errors import CardError, MisuseError, told

if TYPE_CHECKING:
    from .adding import Answered, Counts
    from .packing import Words

T = TypeVar("T")
Device: TypeAlias = Literal["auto", "gpu", "cpu"]

WORTH = 2 * 10**10
"""Hashes, of all work so far, from which on `auto` looks for a card: a second or two of some cores."""
DRAWN = 256
"""Hashes that a report which is made takes the time of."""

log = logging.getLogger("discreet")
_lock = RLock()
_asked: list[Device] = []  # what a command or a call was told, the innermost last
_seen = 0  # hashes that have been asked for while it was left open where to work them out
_said: set[str] = set()


def device() -> Device:
    """Return what was asked for: by a command or a call, by the variable DISCREET_DEVICE, or "auto"."""
    return _asked[-1] if _asked else checked_device(os.environ.get("DISCREET_DEVICE") or "auto", "DISCREET_DEVICE")


def checked_device(given: Any, name: Any = None) -> Device:
    """Refuse what is no device."""
    if given not in get_args(Device):
        what = told("{device}") if name is None else name
        raise MisuseError(told("{what} is 'auto', 'gpu' or 'cpu'; {given!r} was given.", what=what, given=given))
    return cast(Device, given)


@contextmanager
def using(asked: Device | None) -> Iterator[None]:
    """Do what is done within on this device; None changes nothing."""
    if asked is None:
        yield
        return
    _asked.append(checked_device(asked))
    try:
        yield
    finally:
        _asked.pop()


def on_card(work: int, task: Callable[[Any], T | None]) -> T | None:
    """Let a card do a task that takes so many hashes, and return what came of it; None where the cores have to do it.

    A task may be begun and fail: then it is begun anew on the cores, so it must change nothing but what it returns.
    """
    where = device()
    if where == "cpu" or (where == "auto" and not _worth(work)):
        return None
    try:
        with _lock:  # one at a time: threads that share out work on the cores have one card
            return task(_opened(os.getpid()))
    except CardError as error:
        text = f"The cores of this machine count, as a card cannot: {error}"
        if text not in _said:
            _said.add(text)
            log.warning("%s", text)
        return None


def said() -> tuple[str, ...]:
    """Return why a card was not used though it was wanted, as far as it happened in this process."""
    return tuple(sorted(_said))


def words_on_card(oracle: Any, words: Callable[[], Iterable[Words]], many: int | None = None) -> Any | None:
    """Return what packed reports add up to, a `gpu.rounds.RoundSums`; None where the cores have to add them up.

    Where nobody knows how many there are, a card is taken if it was asked for; `auto` leaves that to each block.
    """
    if many is None and device() == "auto":
        return None
    work = (many or 0) * _each(oracle)
    return on_card(work, lambda card: import_module("discreet.gpu.rounds").add_words(card, oracle, words()))


def drawn_on_card(oracle: Any, people: int, blocks: Callable[[], Iterable[Answered]], seed: int) -> Counts | None:
    """Return what the reports of these people add up to, made on a card; None where the cores have to make them."""
    work = people * max(DRAWN, _each(oracle))
    return on_card(work, lambda card: import_module("discreet.gpu.rounds").add_drawn(card, oracle, blocks(), seed))


def _each(oracle: Any) -> int:
    return int(getattr(oracle, "size", 1)) if getattr(oracle, "seeds", None) is None else 1


def _worth(work: int) -> bool:
    global _seen
    _seen += work
    return _seen >= WORTH and find_spec("cupy") is not None


@lru_cache(maxsize=1)
def _found(process: int) -> Any:
    """Look for the card of a process, once: a forked child cannot use its parent's."""
    try:
        return import_module("discreet.gpu.card").open_card()
    except CardError as error:
        return error


def _opened(process: int) -> Any:
    found = _found(process)
    if isinstance(found, CardError):
        raise found
    return found
