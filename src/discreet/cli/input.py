"""Standard input as a file: readers open what they read more than once, so it is kept in a private folder meanwhile."""

from __future__ import annotations

import logging
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import DiscreetError, InputError, Message, MisuseError
from ..temporary import passing_folder

_NAME = "Standard input"


@contextmanager
def given_input(file: str | None, form: str | None) -> Iterator[str | None]:
    """Give the name of the file to read: what was given, or for ``-`` a copy of standard input."""
    if file != "-":
        yield file
        return
    if form is None:
        raise MisuseError(
            "Standard input has no suffix that tells its format: say it by --input-format, such as csv, json or fimi."
        )
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        raise InputError(
            "FILE is -, standard input, but nothing is piped into it: give a file, or `cat sales.csv | discreet …`."
        )
    with passing_folder() as folder:
        copy = folder / "standard-input"
        with copy.open("wb") as kept:
            shutil.copyfileobj(sys.stdin.buffer, kept)
        with _by_its_name(str(copy)):
            yield str(copy)


@contextmanager
def _by_its_name(copy: str) -> Iterator[None]:
    """Tell of standard input, and not of the file that it is kept in."""

    def plainly(record: logging.LogRecord) -> bool:
        record.msg, record.args = record.getMessage().replace(copy, _NAME), ()
        return True

    log = logging.getLogger("discreet")
    log.addFilter(plainly)
    try:
        yield
    except DiscreetError as error:
        error.message = Message(error.message.python.replace(copy, _NAME), error.message.typed.replace(copy, _NAME))
        error.args = (str(error.message), *error.args[1:])
        raise
    finally:
        log.removeFilter(plainly)
