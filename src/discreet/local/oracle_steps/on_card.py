"""The choice between this machine's cores and its graphics card, for adding up reports and for reading tables.

This module alone decides. The result of a card is equal to the result of the cores to the last bit (`gpu/`), so that no
other module depends on the choice: a caller gives its task to `on_card`, and does the work on the cores if `on_card`
returns None. It does so if no card is asked for, if the machine has none, if the work is too small, or if the card
failed; a failure is logged once.
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

from ...errors import CardError, MisuseError, build_message

if TYPE_CHECKING:
    from ._adding import Counts, SimulatedAnswers
    from ._codec import Words

T = TypeVar("T")
Device: TypeAlias = Literal["auto", "gpu", "cpu"]

# The number of hashes in this process from which on `auto` opens a card: a second or two of some cores.
WORTH = 2 * 10**10
# The number of hashes that take as long as making one report. Chosen: it only weighs both
# kinds of work against `WORTH`, and the results of the card and of the cores are equal.
HASHES_PER_REPORT = 256

log = logging.getLogger("discreet")
_lock = RLock()
_device_stack: list[Device] = []  # the devices that commands and calls asked for, the innermost last
_hash_count = 0  # the hashes of all tasks with the device "auto"
_warnings: set[str] = set()


def device() -> Device:
    """Return the device of a command or a call, else of the variable DISCREET_DEVICE, else "auto"."""
    return (
        _device_stack[-1]
        if _device_stack
        else check_device(os.environ.get("DISCREET_DEVICE") or "auto", "DISCREET_DEVICE")
    )


def check_device(value: Any, setting: Any = None) -> Device:
    """Return the value as a device, or raise `MisuseError` with the name of the setting."""
    if value not in get_args(Device):
        setting = build_message("{device}") if setting is None else setting
        raise MisuseError.format(
            "{setting} is 'auto', 'gpu' or 'cpu'; {value!r} was given.", setting=setting, value=value
        )
    return cast(Device, value)


@contextmanager
def using(chosen_device: Device | None) -> Iterator[None]:
    """Run the body of the `with` statement on a device; None changes nothing."""
    if chosen_device is None:
        yield
        return
    _device_stack.append(check_device(chosen_device))
    try:
        yield
    finally:
        _device_stack.pop()


def on_card(work: int, task: Callable[[Any], T | None]) -> T | None:
    """Return the result of a task on the card, or None if the cores have to do it.

    A task may fail halfway and is then repeated on the cores: it must have no effect beyond its result.

    Parameters
    ----------
    work
        The number of hashes of the task.
    task
        The work, as a function of the card.
    """
    chosen_device = device()
    if chosen_device == "cpu" or (chosen_device == "auto" and not _is_worth_a_card(work)):
        return None
    try:
        with _lock:  # threads that divide work among the cores have one card in common
            return task(_open_card(os.getpid()))
    except CardError as error:
        warning = f"The cores of this machine count, as a card cannot: {error}"
        if warning not in _warnings:
            _warnings.add(warning)
            log.warning("%s", warning)
        return None


def said() -> tuple[str, ...]:
    """Return the reasons for work on the cores instead of the card, in this process."""
    return tuple(sorted(_warnings))


def words_on_card(oracle: Any, words: Callable[[], Iterable[Words]], report_count: int | None = None) -> Any | None:
    """Return the sums of packed reports, a `gpu.rounds.RoundSums`, or None if the cores have to add them up.

    With an unknown number of reports, `gpu` takes the card; `auto` leaves the choice to each block.
    """
    if report_count is None and device() == "auto":
        return None
    work = (report_count or 0) * _hashes_per_report(oracle)
    return on_card(work, lambda card: import_module("discreet.gpu._rounds").add_words(card, oracle, words()))


def drawn_on_card(
    oracle: Any, people: int, blocks: Callable[[], Iterable[SimulatedAnswers]], seed: int
) -> Counts | None:
    """Return the sums of reports that are made on the card, or None if the cores have to make them."""
    work = people * max(HASHES_PER_REPORT, _hashes_per_report(oracle))
    return on_card(work, lambda card: import_module("discreet.gpu._rounds").add_drawn(card, oracle, blocks(), seed))


def _hashes_per_report(oracle: Any) -> int:
    # With published seeds a report is one step into a table; otherwise it is compared with each candidate.
    return int(getattr(oracle, "size", 1)) if getattr(oracle, "seeds", None) is None else 1


def _is_worth_a_card(work: int) -> bool:
    global _hash_count
    _hash_count += work
    # The package is looked up last: that takes time, and most processes never reach it.
    return _hash_count >= WORTH and find_spec("cupy") is not None


@lru_cache(maxsize=1)
def _find_card(process: int) -> Any:
    """Return the card of a process, or the error of opening it: a forked child cannot use its parent's card."""
    try:
        return import_module("discreet.gpu._card").open_card()
    except CardError as error:
        return error


def _open_card(process: int) -> Any:
    card = _find_card(process)
    # The cache keeps returned values only: an error that is returned is not looked for again.
    if isinstance(card, CardError):
        raise card
    return card
