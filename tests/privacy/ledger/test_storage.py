"""A ledger's file and those who use it at the same time, with real processes: races, kills, locks, two names."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
import time
from fractions import Fraction
from pathlib import Path

import pytest

import discreet
from discreet import InputError
from discreet.errors import BudgetError
from discreet.privacy.ledger import Ledger, _storage as storage
from privacy.ledger.spending import DYING, child, contents, spend, told_by


class TestRaces:
    def test_those_who_are_too_late_are_refused_with_the_right_numbers(self, tmp_path):
        path = tmp_path / "budget.db"
        Ledger.create(path, epsilon=1)
        code = """
storage.PATIENCE = 60.0
path, start = map(Path, sys.argv[1:3])
print("ready", flush=True)
while not start.exists():
    time.sleep(0.001)
try:
    told = ["paid", spend(path, "0.3", sys.argv[3]).number]
except BudgetError as error:
    told = ["refused", *map(str, (error.requested, error.spent, error.remaining, error.difference))]
print(json.dumps(told))
"""
        racers = [child(code, path, tmp_path / "start", number) for number in range(8)]
        assert [racer.stdout.readline() for racer in racers] == ["ready\n"] * 8
        (tmp_path / "start").touch()
        outcomes = []
        for racer in racers:
            output, complaint = racer.communicate(timeout=120)
            assert (racer.returncode, complaint) == (0, "")
            outcomes.append(json.loads(output))
        assert sorted(outcome for outcome in outcomes if outcome[0] == "paid") == [
            ["paid", number] for number in (1, 2, 3)
        ]
        late = [outcome for outcome in outcomes if outcome[0] == "refused"]
        assert late == [["refused", "3/10", "9/10", "1/10", "1/5"]] * 5
        state, spends = contents(path)
        assert state.spent == Fraction(9, 10)
        assert {outcome.who for outcome in spends} == {
            str(place) for place, outcome in enumerate(outcomes) if outcome[0] == "paid"
        }

    def test_threads_race_too(self, tmp_path):
        path = tmp_path / "budget.db"
        Ledger.create(path, epsilon=1)
        outcomes = []

        def run():
            try:
                outcomes.append(spend(path, "0.25").number)
            except BudgetError:
                outcomes.append(None)

        threads = [threading.Thread(target=run) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert sorted(filter(None, outcomes)) == [1, 2, 3, 4]
        assert len(outcomes) == 8


class TestKilled:
    def test_within_the_transaction_nothing_is_spent(self, path):
        before = contents(path)
        process = child(
            """
written = entries.insert
def dying(*given):
    written(*given)
    os.kill(os.getpid(), signal.SIGKILL)
entries.insert = dying
spend(sys.argv[1], "0.2")
""",
            path,
        )
        assert process.wait(60) == -signal.SIGKILL
        process.communicate()
        assert contents(path) == before
        assert spend(path, "0.2").number == 3

    def test_with_pages_on_the_disk_already_nothing_is_spent(self, path):
        before = contents(path)
        process = child(DYING, path)
        assert process.wait(60) == -signal.SIGKILL
        process.communicate()
        assert Path(f"{path}-journal").stat().st_size > 0  # what it takes to go back
        assert path.stat().st_size > 100_000
        assert contents(path) == before
        assert not Path(f"{path}-journal").exists()

    def test_after_the_spend_it_stands(self, path):
        process = child('spend(sys.argv[1], "0.2")\nos.kill(os.getpid(), signal.SIGKILL)\n', path)
        assert process.wait(60) == -signal.SIGKILL
        process.communicate()
        state, spends = contents(path)
        assert state.spent == Fraction(1, 10) + Fraction(1, 3) + Fraction(1, 5)
        assert (spends[2].who, spends[2].state, spends[2].release) == ("child", "spent", None)

    def test_at_any_moment_no_spend_is_lost_and_none_is_half(self, tmp_path):
        path = tmp_path / "budget.db"
        Ledger.create(path, epsilon=1000, really=True, anchor=tmp_path / "head")
        code = """
while True:
    print(spend(sys.argv[1], "0.1").number, flush=True)
"""
        spend_count = 0
        for wait in (0.02, 0.031, 0.043, 0.057, 0.071):
            process = child(code, path)
            first_line = process.stdout.readline()
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
            # Through the same buffer as the first line, which may have taken in more than that.
            numbers = [int(line) for line in (first_line + process.stdout.read()).splitlines()]
            process.communicate(timeout=60)
            assert numbers == list(range(spend_count + 1, spend_count + 1 + len(numbers)))
            state, spends = contents(path)
            spend_count = len(spends)
            # Whenever it died, the anchor has a head of the chain, and the next may go on.
            assert (tmp_path / "head").read_text().strip() in {spend_record.head for spend_record in spends[-2:]}
            # The last one may have been written just before it could be told.
            assert spend_count in (numbers[-1], numbers[-1] + 1)
            assert state.spent == Fraction(spend_count, 10)


class TestLocked:
    def test_whoever_holds_it_too_long(self, path, monkeypatch):
        monkeypatch.setattr(storage, "PATIENCE", 0.2)
        message = (
            f"{path} is locked: another process has been using it for 0.2 seconds. Nothing was spent; try again when "
            "it is done."
        )
        before = contents(path)
        for hold in ("begin immediate", "begin exclusive"):
            connection = sqlite3.connect(path, isolation_level=None)
            connection.execute(hold)
            with pytest.raises(InputError) as raised:
                spend(path)
            assert str(raised.value) == message
            connection.execute("rollback")
            connection.close()
        # A reader does not hinder the spend from being made, but from being finished.
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("begin")
        connection.execute("select * from entry").fetchone()
        with pytest.raises(InputError) as raised:
            spend(path)
        assert str(raised.value) == message
        connection.close()
        assert contents(path) == before
        assert spend(path).number == 3

    def test_it_waits_for_others_to_finish(self, path):
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        connection.execute("begin exclusive")
        letting_go = threading.Timer(0.3, lambda: connection.execute("rollback"))
        letting_go.start()
        assert spend(path).number == 3
        letting_go.join()
        connection.close()


class TestTwoNames:
    """SQLite names its journal after the path: by another name it is not found, and what was spent there is undone."""

    @pytest.fixture
    def broken_off(self, path) -> Path:
        """A spend that died when its journal was on the disk, and nothing else yet."""
        before = path.read_bytes()
        process = child(DYING, path)
        assert process.wait(60) == -signal.SIGKILL
        process.communicate()
        path.write_bytes(before)
        assert Path(f"{path}-journal").stat().st_size > 0
        return path

    def test_a_hard_link_is_refused_by_either_name(self, broken_off, tmp_path):
        (tmp_path / "b").mkdir()
        linked_path = tmp_path / "b" / "budget.db"
        os.link(broken_off, linked_path)
        for name in (linked_path, broken_off):
            assert told_by(name) == (
                f"{name} has 2 names (hard links), and whoever spends by one of them may undo what was spent by "
                f"another. Keep one name: `find FOLDER -samefile {name}` lists them. Symbolic links are fine."
            )
        linked_path.unlink()
        assert spend(broken_off, "0.2").number == 3
        assert contents(broken_off)[0].spent == Fraction(1, 10) + Fraction(1, 3) + Fraction(1, 5)

    def test_a_file_that_is_mounted_by_itself_is_refused(self, path, tmp_path, monkeypatch):
        place = tmp_path / "a b.db"
        path.rename(place)
        line = "36 25 8:1 /real/l.db {} rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
        mounts = tmp_path / "mountinfo"
        monkeypatch.setattr(storage, "_MOUNTS", mounts)
        mounts.write_text(line.format("/") + line.format(str(place).replace(" ", "\\040")))
        assert told_by(place) == (
            f"{place} is mounted by itself, and whoever spends by one of its paths may undo what was spent by another. "
            "Mount the folder that it lies in instead, so that what SQLite writes beside it is there too."
        )
        mounts.write_text(line.format(str(tmp_path).replace(" ", "\\040")))  # its folder may be
        assert spend(place).number == 3

    def test_a_symbolic_link_leads_to_the_same_journal(self, broken_off, tmp_path):
        (tmp_path / "b").mkdir()
        linked_path = tmp_path / "b" / "budget.db"
        linked_path.symlink_to(broken_off)
        assert spend(linked_path, "0.2").number == 3
        assert contents(broken_off) == contents(linked_path)
        assert not Path(f"{broken_off}-journal").exists()


def test_an_interrupt_within_the_transaction_spends_nothing(path, monkeypatch):
    from discreet.privacy.ledger import _entries as entries

    def interrupted(*arguments):
        raise KeyboardInterrupt

    before = contents(path)
    monkeypatch.setattr(entries, "store_fingerprint", interrupted)
    with pytest.raises(KeyboardInterrupt):
        spend(path, baskets=discreet.read([{1}, {2, 3}]))
    assert contents(path) == before


def test_the_schema_says_what_every_column_is_for(path):
    connection = sqlite3.connect(path)
    for (text,) in connection.execute("select sql from sqlite_master where type = 'table'"):
        head, *columns, end = text.splitlines()
        assert end == ")"
        assert "--" in head
        for column in columns:
            assert "--" in column
    assert connection.execute("pragma journal_mode").fetchone() == ("delete",)
    connection.close()
