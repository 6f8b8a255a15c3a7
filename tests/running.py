"""The command line in this process: what a user would see of it, without a second for each start.

As in a process of its own there are streams that are no terminals, a folder, an environment, a standard input, no
handlers of logs and the warnings that Python shows by itself. What the boundary of a process is about (signals, pipes
that break, encodings, terminals, what starting imports) is tried by `started`, in a process.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import pty
import re
import subprocess
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from typer.main import get_command

from discreet import MisuseError
from discreet.cli import main

DISCREET = str(Path(sys.executable).with_name("discreet"))

CompletedRun = subprocess.CompletedProcess[str]


def run(
    *arguments: object,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    input_text: str = "",
    terminal: bool = False,
    check: bool = False,
) -> CompletedRun:
    """Run `discreet` with these arguments here; with `terminal`, standard error is one."""
    command = [DISCREET, *map(str, arguments)]
    with contextlib.ExitStack() as stack:
        output, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(2))
        typed_in = stack.enter_context(tempfile.TemporaryFile())
        typed_in.write(input_text.encode())
        typed_in.seek(0)
        error_terminal = stack.enter_context(_Terminal()) if terminal else None
        streams = {
            "stdin": io.TextIOWrapper(typed_in, encoding="utf-8"),
            "stdout": io.TextIOWrapper(output, encoding="utf-8"),
            "stderr": io.TextIOWrapper(
                err if error_terminal is None else error_terminal.stream,
                encoding="utf-8",
                errors="backslashreplace",
                line_buffering=True,
            ),
        }
        stack.enter_context(mock.patch.multiple(sys, argv=command, **streams))
        # The name that help shows is that of the program, which is not pytest.
        stack.enter_context(mock.patch.object(sys.modules["__main__"], "__package__", None))
        if env is not None:
            stack.enter_context(mock.patch.dict(os.environ, env, clear=True))
        if cwd is not None:
            stack.enter_context(contextlib.chdir(cwd))
        stack.enter_context(_logs())
        stack.enter_context(_warnings())
        status = _status()
        for stream in ("stdout", "stderr"):
            with contextlib.suppress(OSError):
                streams[stream].flush()
        texts = []
        for stream_file in (output, err):
            stream_file.seek(0)
            texts.append(stream_file.read().decode())
        for stream in streams.values():
            with contextlib.suppress(ValueError):  # `exit` closes standard input
                stream.detach()
        if error_terminal is not None:
            texts[1] = error_terminal.text()
    completed = CompletedRun(command, status, *texts)
    assert not (strange := unknown_options(arguments, completed.stderr)), f"a message names {strange}, which it has not"
    if check:
        completed.check_returncode()
    return completed


def unknown_options(arguments: tuple[object, ...], message: str) -> set[str]:
    """Return the options that a message names and its command does not have.

    What was typed is left aside, and so are whole commands, which stand in back quotes.
    """
    command: Any = _commands()
    words = [str(word) for word in arguments]
    known_options: set[str] = set()
    with contextlib.suppress(MisuseError):  # a broken command of a plugin package has no options
        for word in words:
            command = getattr(command, "commands", {}).get(word, command)
        known_options = {
            option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
        }
    named_options = re.findall(r"(?<![\w-])--[a-z][\w-]*", re.sub("`[^`]*`", "", message))
    return set(named_options) - known_options - {word.partition("=")[0] for word in words} - {"--help"}


@cache
def _commands() -> Any:
    from discreet.cli import app

    return get_command(app)


class _Terminal:
    """A terminal, and a thread that reads what is shown on it."""

    def __enter__(self) -> _Terminal:
        self._leader, follower = pty.openpty()
        self.stream = open(follower, "wb", buffering=0)  # noqa: PTH123
        self._shown = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while chunk := os.read(self._leader, 4096):
                self._shown += chunk

    def text(self) -> str:
        """Hang up, and return what was shown."""
        self.stream.close()
        self._reader.join()
        return self._shown.decode().replace("\r\n", "\n")

    def __exit__(self, *_: object) -> None:
        self.text()
        os.close(self._leader)


def plain(**variables: str) -> dict[str, str]:
    """Return the environment of a process without a compiler: loading one is most of what a small command takes."""
    return {**os.environ, "DISCREET_JIT": "0", **variables}


def started(*arguments: object, **options: Any) -> CompletedRun:
    """Run `discreet` in a process of its own."""
    options = {"env": plain(), **options}
    return subprocess.run([DISCREET, *map(str, arguments)], capture_output=True, text=True, **options)


def _status() -> int:
    try:
        main()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        sys.stderr.write(f"{end.code}\n")
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


@contextlib.contextmanager
def _logs() -> Iterator[None]:
    """Take away the handlers that pytest has set up, and those of the command line after it."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers[:] = []
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


@contextlib.contextmanager
def _warnings() -> Iterator[None]:
    """Show what Python shows by itself; under pytest every warning is an error."""
    with warnings.catch_warnings():
        warnings.resetwarnings()
        for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        warnings.showwarning = _write_warning
        yield


def _write_warning(
    message: Any, category: Any, filename: str, line: int, file: Any = None, text: str | None = None
) -> None:
    sys.stderr.write(warnings.formatwarning(message, category, filename, line, text))
