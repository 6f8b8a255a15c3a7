"""A place that is tried before anything is computed: whatever fails is told in our words, and nothing stays there."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from discreet import atomic_write
from discreet.errors import DiscreetError


class Failing:
    """A file that cannot be closed."""

    def __init__(self, stream) -> None:
        self.stream = stream

    def fileno(self) -> int:
        return self.stream.fileno()

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.stream.close()
        raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.fixture(params=["check_output_path", "_find_mode"])
def trial(request, tmp_path):
    """Both that make a file only to see what happens."""
    place = tmp_path / "out.json"
    if request.param == "check_output_path":
        return lambda: atomic_write.check_output_path(place)
    return lambda: atomic_write._find_mode(place, place, False)


def test_what_cannot_be_closed_is_removed_again(trial, tmp_path, monkeypatch):
    open_file = atomic_write._open_partial_file

    @contextmanager
    def failing(*arguments):
        with open_file(*arguments) as (partial_path, stream):
            yield partial_path, Failing(stream)

    monkeypatch.setattr(atomic_write, "_open_partial_file", failing)
    with pytest.raises(DiscreetError, match=r"Cannot write .*: Input/output error\. Nothing was changed\."):
        trial()
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_removed_is_told(trial, monkeypatch):
    def failing(self: Path) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(Path, "unlink", failing)
    with pytest.raises(DiscreetError, match=r"Cannot write .*: Input/output error\. Nothing was changed\."):
        trial()


def test_what_cannot_be_held_is_removed_again(trial, tmp_path, monkeypatch):
    def failing(_: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "dup", failing)
    with pytest.raises(DiscreetError, match=r"Cannot write .*: No space left on device\."):
        trial()
    assert list(tmp_path.iterdir()) == []
