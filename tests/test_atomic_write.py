"""Files in the making: for their owner alone until they are complete, and swept when their process is dead."""

# internals: this module interrupts the write of an anchor.
from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from discreet import atomic_write
from discreet.atomic_write import check_output_path, open_replacement
from discreet.errors import DiscreetError
from discreet.privacy.ledger._anchor import AnchorFile


@contextmanager
def umask(value: int):
    before = os.umask(value)
    try:
        yield
    finally:
        os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob(".*.part"))


@pytest.mark.parametrize(("mask", "complete"), [(0o022, 0o644), (0o000, 0o666), (0o077, 0o600)])
def test_nobody_else_reads_a_file_before_it_is_complete(tmp_path, mask, complete):
    with umask(mask):
        with open_replacement(tmp_path / "exact.csv") as stream:
            stream.write(b"private")
            stream.flush()
            assert [mode(part) for part in parts(tmp_path)] == [0o600]
        assert mode(tmp_path / "exact.csv") == complete
    assert parts(tmp_path) == []


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path):
    path = tmp_path / "exact.csv"
    path.write_text("before")
    path.chmod(0o640)
    with umask(0o000), open_replacement(path) as stream:
        stream.write(b"after")
        stream.flush()
        assert [mode(part) for part in parts(tmp_path)] == [0o600]
    assert (mode(path), path.read_text()) == (0o640, "after")


def test_an_anchor_is_its_owners(tmp_path):
    with umask(0o000):
        AnchorFile(tmp_path / "budget.head").keep("0" * 64)
    assert mode(tmp_path / "budget.head") == 0o600


def test_long_names_in_any_letters_are_written(tmp_path):
    path = tmp_path / ("茶" * 80 + ".csv")  # 244 bytes of the 255 that a name may have
    with open_replacement(path) as stream:
        stream.write(b"tea")
    assert path.read_bytes() == b"tea"


HALF = """
import sys, time
from discreet.atomic_write import open_replacement
with open_replacement(sys.argv[1]) as stream:
    stream.write(b"private")
    stream.flush()
    print("half", flush=True)
    time.sleep(60)
"""


def test_what_a_killed_process_left_is_swept_and_what_a_live_one_writes_is_not(tmp_path):
    path = tmp_path / "exact.csv"
    foreign_part = tmp_path / ".exact.csv.0123456789ab.part"  # not a name of ours: who knows whose
    foreign_part.write_text("")
    alive, dead = (subprocess.Popen([sys.executable, "-c", HALF, path], stdout=subprocess.PIPE) for _ in range(2))
    try:
        for process in (alive, dead):
            assert process.stdout.readline() == b"half\n"
        dead.kill()
        assert dead.wait() == -signal.SIGKILL
        assert len(parts(tmp_path)) == 3
        check_output_path(path)
        (own_part,) = set(parts(tmp_path)) - {foreign_part}
        assert own_part.name.split(".")[-2].startswith(f"{alive.pid}-")
    finally:
        for process in (alive, dead):
            process.kill()
            process.communicate()
    with open_replacement(path) as stream:
        stream.write(b"whole")
    assert sorted(tmp_path.iterdir()) == [foreign_part, path]


def test_an_interrupted_call_is_told(tmp_path, monkeypatch):
    """Not every error in trying a place out is one of a full or failing disk."""

    def interrupted(path, **_):
        raise InterruptedError(errno.EINTR, os.strerror(errno.EINTR), str(path))

    monkeypatch.setattr(os, "unlink", interrupted)
    with pytest.raises(DiscreetError) as error:
        check_output_path(tmp_path / "a.csv")
    assert str(error.value) == f"Cannot write {tmp_path / 'a.csv'}: Interrupted system call. Nothing was changed."


def test_an_interrupt_between_any_two_steps_leaves_nothing(tmp_path):
    # Python interrupts between lines: here before each line that the module runs, one after the other.
    target = tmp_path / "patterns.json"
    target.write_text("earlier")
    place = 0
    while _interrupted_at(place, target):
        assert [path.name for path in tmp_path.iterdir()] == ["patterns.json"], f"line {place}"
        place += 1
    assert place > 30
    assert target.read_text() == "new"


def _interrupted_at(place, target):
    """Write a file, with an interrupt before the line of this number; say whether there were so many lines."""
    remaining_events = place

    def trace(frame, event, _):
        nonlocal remaining_events
        if frame.f_code.co_filename != atomic_write.__file__:
            return None
        if event == "line":
            remaining_events -= 1
            if remaining_events == -1:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        atomic_write.check_output_path(target)
        with atomic_write.open_replacement(target) as file:
            file.write(b"new")
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return remaining_events < 0
