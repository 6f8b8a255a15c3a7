"""A ledger's file on disks that damage it, are full, are read-only or fail."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import discreet
from discreet import InputError
from discreet.privacy.ledger import Ledger, _storage as storage
from privacy.ledger.spending import child, contents, spend, told_by


def damaged(path: Path) -> str:
    return (
        f"{path} is damaged: its contents are not what was written. Nothing was spent. Put back a copy, and spend from "
        "it again what was released since the copy was made."
    )


class TestDamaged:
    def test_a_digit_that_was_changed(self, path):
        text = path.read_bytes()
        assert text.count(b"1/10") > 0
        path.write_bytes(text.replace(b"1/10", b"1/99"))
        assert told_by(path) == damaged(path)

    def test_a_spend_that_was_removed(self, path):
        with sqlite3.connect(path) as connection:
            connection.execute("delete from entry where number = 2")
        connection.close()
        assert told_by(path) == damaged(path)

    @pytest.mark.parametrize("kept_size", [1, 99, 512, 4096, 8000, 12288])
    def test_a_file_that_was_cut_short(self, path, kept_size):
        path.write_bytes(path.read_bytes()[:kept_size])
        not_told = f"{path} is not a ledger, or so damaged that it cannot be told; put back a copy if it was one."
        assert told_by(path) in (damaged(path), not_told)

    def test_an_empty_file(self, path):
        path.write_bytes(b"")
        assert told_by(path) == (
            f"{path} is empty. If a ledger was there, put back a copy; if making one was interrupted, remove the file "
            "and make it again."
        )

    def test_not_a_database(self, path):
        path.write_text("customer,product\n1,tea\n" * 50)
        assert told_by(path) == (
            f"{path} is not a ledger, or so damaged that it cannot be told; put back a copy if it was one."
        )

    def test_the_database_of_another_program_is_not_touched(self, tmp_path):
        path = tmp_path / "shop.db"
        connection = sqlite3.connect(path)
        connection.execute("pragma journal_mode = wal")
        connection.execute("create table sales (customer, product)")
        connection.commit()
        connection.close()
        assert told_by(path) == f"{path} is a database of another program, not a ledger; give the ledger's own file."
        connection = sqlite3.connect(path)
        assert connection.execute("pragma journal_mode").fetchone() == ("wal",)
        connection.close()

    def test_a_newer_version(self, path):
        with sqlite3.connect(path) as connection:
            connection.execute("pragma user_version = 7")
        connection.close()
        assert told_by(path) == (
            f"{path} was written by a newer discreet (its version is 7, this one knows 2): update discreet to use it."
        )

    def test_a_folder_and_a_pipe(self, tmp_path):
        with pytest.raises(InputError) as raised:
            Ledger.open(tmp_path)
        assert str(raised.value) == f"{tmp_path} is a directory; give the file of the ledger in it."
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InputError) as raised:
            Ledger.open(tmp_path / "pipe")
        assert str(raised.value) == (
            f"{tmp_path / 'pipe'} is not a regular file but a pipe or a device; a ledger is a file."
        )
        with pytest.raises(InputError) as raised:
            Ledger.open("a\0b")
        assert str(raised.value) == "There is no ledger 'a\\x00b': its name has a null character."

    @given(st.data())
    def test_whatever_is_overwritten_is_seen_or_does_not_matter(self, data):
        place = data.draw(st.floats(0, 1, exclude_max=True))
        junk = data.draw(st.binary(min_size=1, max_size=24))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "budget.db"
            shutil.copy(self.sound()[0], path)
            text = bytearray(path.read_bytes())
            start = int(place * len(text))
            text[start : start + len(junk)] = junk[: len(text) - start]
            path.write_bytes(text)
            try:
                contents_before = contents(path)
            except InputError:
                return
            assert contents_before == self.sound()[1]

    _sound: tuple[Path, object] | None = None

    @classmethod
    def sound(cls):
        if cls._sound is None:
            path = Path(tempfile.mkdtemp()) / "sound.db"
            Ledger.create(path, epsilon=1)
            for epsilon in ("0.1", "1/3"):
                spend(path, epsilon, baskets=discreet.read([{item} for item in range(400)]))
            cls._sound = path, contents(path)
        return cls._sound

    @classmethod
    def teardown_class(cls):
        if cls._sound is not None:
            shutil.rmtree(cls._sound[0].parent)


class TestNoRoom:
    def test_pages_run_out(self, path, monkeypatch):
        pages = path.stat().st_size // 4096
        monkeypatch.setattr(storage, "_PRAGMAS", (*storage._PRAGMAS, f"max_page_count = {pages}"))
        spend_count = 0
        message = ""
        while not message:
            try:
                spend(path, "1/1000")
                spend_count += 1
            except InputError as error:
                message = str(error)
        assert message == f"{path} cannot be written: the disk is full. Nothing was spent; make room and try again."
        monkeypatch.undo()
        assert len(contents(path)[1]) == 2 + spend_count
        assert spend(path, "1/1000").number == 3 + spend_count

    @pytest.mark.parametrize("room", [600, 5_000, 16_384])
    def test_files_may_not_grow(self, path, room):
        code = """
import resource
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
told, paid = "", 0
try:
    for _ in range(500):
        spend(sys.argv[1], "1/1000")
        paid += 1
except InputError as error:
    told = str(error)
print(json.dumps([paid, told]))
"""
        process = child(code, path, room)
        output, complaint = process.communicate(timeout=120)
        assert (process.returncode, complaint) == (0, "")
        spend_count, message = json.loads(output)
        assert message == (
            f"{path} cannot be read or written: disk I/O error; the disk may be full or failing. Nothing was released; "
            f"`discreet ledger show {path}` says what was spent."
        )
        state, spends = contents(path)
        assert len(spends) == 2 + spend_count
        assert state.spent == Fraction(1, 10) + Fraction(1, 3) + Fraction(spend_count, 1000)

    def test_a_ledger_that_does_not_fit_is_not_made(self, tmp_path):
        code = """
import resource
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000,) * 2)
try:
    Ledger.create(sys.argv[1], epsilon=1)
except InputError as error:
    print(error)
"""
        path = tmp_path / "budget.db"
        output, complaint = child(code, path).communicate(timeout=60)
        assert complaint == ""
        assert output.startswith(f"{path} cannot be read or written: disk I/O error; the disk may be full or failing.")
        assert list(tmp_path.iterdir()) == []


class TestReadOnly:
    """Whoever is root may write anything, so the child becomes nobody."""

    CODE = """
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
told = [len(Ledger.open(sys.argv[1]).spends())]
try:
    spend(sys.argv[1], "0.1")
except InputError as error:
    told.append(str(error))
print(json.dumps(told))
"""

    @pytest.mark.parametrize(("file", "folder"), [(0o444, 0o777), (0o666, 0o555)])
    def test_it_can_be_looked_at_but_not_spent_from(self, file, folder):
        place = Path(tempfile.mkdtemp())
        path = place / "budget.db"
        try:
            Ledger.create(path, epsilon=1)
            spend(path)
            path.chmod(file)
            place.chmod(folder)
            output, complaint = child(self.CODE, path).communicate(timeout=60)
            assert complaint == ""
            assert json.loads(output) == [
                1,
                f"{path} cannot be opened for writing: you need permission to write it and to make files in {place}. "
                "Nothing was spent.",
            ]
            assert len(contents(path)[1]) == 1
        finally:
            place.chmod(0o700)
            shutil.rmtree(place)

    def test_none_is_made_where_nothing_may_be_made(self):
        place = Path(tempfile.mkdtemp())
        place.chmod(0o555)
        code = self.CODE.partition("told =")[0] + (
            "from discreet import MisuseError\n"
            "try:\n    Ledger.create(sys.argv[1], epsilon=1)\nexcept MisuseError as error:\n    print(error)\n"
        )
        try:
            output, complaint = child(code, place / "b.db").communicate(timeout=60)
            assert (output, complaint) == (
                f"Cannot create '{place / 'b.db'}': Permission denied. Give another place.\n",
                "",
            )
        finally:
            place.chmod(0o700)
            shutil.rmtree(place)


FAILING = """
import ctypes, errno, platform
NUMBER = {"x86_64": 17, "aarch64": 67}[platform.machine()]  # of pread64
class Filter(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("true", ctypes.c_uint8), ("false", ctypes.c_uint8), ("k", ctypes.c_uint32)]
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("filters", ctypes.POINTER(Filter))]
def fail_at(offset):
    # The kernel answers every read at this place with EIO.
    steps = [(0x20, 0, 0, 0), (0x15, 0, 3, NUMBER), (0x20, 0, 0, 40), (0x15, 0, 1, offset),
             (0x06, 0, 0, 0x50000 | errno.EIO), (0x06, 0, 0, 0x7FFF0000)]
    filters = (Filter * len(steps))(*(Filter(*step) for step in steps))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    assert prctl(38, 1, 0, 0, 0) == 0 and prctl(22, 2, ctypes.byref(Program(len(steps), filters)), 0, 0) == 0
"""


class TestDiskErrors:
    """An error of the disk is no damage: a copy put back would lose what was spent since."""

    def error_text(self, path):
        return (
            f"{path} cannot be read or written: disk I/O error; the disk may be full or failing. Nothing was released; "
            f"`discreet ledger show {path}` says what was spent."
        )

    @pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel of Linux to fail")
    @pytest.mark.parametrize("page", [2, 3, 4])
    def test_a_page_that_cannot_be_read(self, path, page):
        code = (
            FAILING
            + """
path = sys.argv[1]
spend(path, "1/1000")  # everything is loaded
fail_at(4096 * (int(sys.argv[2]) - 1))
for use in (lambda: Ledger.open(path), lambda: spend(path, "1/1000")):
    try:
        use()
    except InputError as error:
        print(error)
"""
        )
        process = child(code, path, page)
        output, complaint = process.communicate(timeout=60)
        assert (process.returncode, complaint) == (0, "")
        assert output.splitlines() == [self.error_text(path)] * 2
        assert len(contents(path)[1]) == 3

    def test_an_error_that_has_passed_at_the_second_look(self, path, monkeypatch):
        # SQLite reports some failed reads as a malformed file.
        error = sqlite3.DatabaseError("database disk image is malformed")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        seal, failures = storage._seal, [error]

        def fail_once(*arguments):
            if failures:
                raise failures.pop()
            return seal(*arguments)

        monkeypatch.setattr(storage, "_seal", fail_once)
        with pytest.raises(InputError) as raised:
            Ledger.open(path)
        assert str(raised.value) == self.error_text(path)
        assert len(Ledger.open(path).spends()) == 2
