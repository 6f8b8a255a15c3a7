"""Temporary folders: for their owner alone, gone afterwards, and swept when their process was killed."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import discreet
from discreet.errors import LimitError
from discreet.temporary import make_temporary_directory, sweep_folders

HOLD = """
import time
from discreet.temporary import make_temporary_directory
with make_temporary_directory("try-") as folder:
    (folder / "private").write_text("tea")
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def start_holder(folder: Path) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(folder)}
    )
    return process, Path(process.stdout.readline().strip())


def test_it_is_the_owners_and_gone_afterwards(folder):
    before = os.umask(0)
    try:
        with make_temporary_directory() as inside:
            assert stat.S_IMODE(inside.stat().st_mode) == 0o700
            assert inside.name.startswith("discreet-")
            sweep_folders()
            assert inside.exists()
    finally:
        os.umask(before)
    with pytest.raises(FileNotFoundError), make_temporary_directory() as inside:
        (inside / "nowhere" / "copy").write_text("tea")
    assert list(folder.iterdir()) == []


def test_what_a_killed_process_left_is_swept_and_what_a_live_one_has_is_not(folder):
    (alive, live_file), (dead, dead_file) = start_holder(folder), start_holder(folder)
    try:
        dead.kill()
        dead.wait()
        assert (dead_file / "private").exists()
        strange = folder / "discreet-of-somebody"  # without our lock: who knows
        strange.mkdir()
        elsewhere = folder / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / ".lock").write_text("")
        (folder / "discreet-link").symlink_to(elsewhere)
        sweep_folders()
        assert sorted(folder.iterdir()) == sorted([live_file, strange, elsewhere, folder / "discreet-link"])
        assert (live_file / "private").exists()
        assert (elsewhere / ".lock").exists()
    finally:
        for process in (alive, dead):
            process.kill()
            process.communicate()
    with make_temporary_directory():
        assert not live_file.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_is_anothers_stays(folder):
    (folder / "discreet-other").mkdir()
    (folder / "discreet-other" / ".lock").write_text("")
    os.chown(folder / "discreet-other", 1234, 1234)
    os.chown(folder / "discreet-other" / ".lock", 1234, 1234)
    sweep_folders()
    assert (folder / "discreet-other" / ".lock").exists()


def test_a_folder_that_cannot_be_locked_is_not_left(folder, monkeypatch):
    opening = os.open

    def failing(path, *positional, **options):
        if str(path).endswith(".lock"):
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return opening(path, *positional, **options)

    monkeypatch.setattr(os, "open", failing)
    with pytest.raises(OSError, match="Input/output error"), make_temporary_directory():
        pass
    assert list(folder.iterdir()) == []


def test_an_error_that_passes_leaves_nothing_private(folder, monkeypatch):
    removing, tries = shutil.rmtree, []

    def fail_once(path, **options):
        tries.append(path)
        if len(tries) > 1:
            removing(path, **options)

    monkeypatch.setattr(shutil, "rmtree", fail_once)
    with make_temporary_directory() as inside:
        (inside / "copy").write_text("tea")
    assert list(folder.iterdir()) == []


def test_a_database_that_cannot_be_made_is_told(folder, monkeypatch):
    def failing(_):
        raise duckdb.IOException("IO Error: Cannot open file")

    monkeypatch.setattr(duckdb, "connect", failing)
    (folder / "a.csv").write_text("who,what\n1,tea\n")
    with pytest.raises(LimitError) as error:
        discreet.read(folder / "a.csv", person="who", item="what")
    assert str(error.value) == (
        f"No temporary database can be made in {folder}: the disk may be full or failing; set TMPDIR to another folder."
    )
    assert [path.name for path in folder.iterdir()] == ["a.csv"]
