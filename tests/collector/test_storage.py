"""What every store does: the same suite for SQLite and for a real PostgreSQL."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from hashlib import sha256
from uuid import uuid4

import numpy as np
import pytest

from discreet.collector import (
    ALREADY_COUNTED,
    CODES,
    COUNTED,
    Reason,
    RefusedRequest,
    RoundEvent,
    RoundState,
    StudyCollector,
    Upload,
)
from discreet.collector._batcher import Batcher
from discreet.collector.storage import StoreError, StudyRecord, open_store
from discreet.collector.storage._store import BLOCK, TokenCounts
from discreet.errors import MisuseError
from running import plain

CLOSED, UNKNOWN, SPENT = (CODES[one] for one in (Reason.ROUND_CLOSED, Reason.TOKEN_UNKNOWN, Reason.TOKEN_SPENT))
IMPOSSIBLE = CODES[Reason.REPORT_IMPOSSIBLE]


def record(name="study"):
    return StudyRecord(name=name, id="00", plan="{}", text="text", signature="ab", key="cd")


def upload(tokens, *, keys=None, words=None, codes=None, number=0):
    """Return an upload of tokens that are numbers."""
    many = len(tokens)
    return Upload(
        round=number,
        tokens=[one.to_bytes(32, "little") for one in tokens],
        keys=[one.to_bytes(16, "little") for one in (keys or tokens)],
        words=np.array(words if words is not None else [[one, 7] for one in tokens], np.uint32).reshape(many, 2),
        codes=np.array(codes or [0] * many, np.uint8),
    )


def states(folder, place):
    """Yield what is new with every commit that a copy of a store's files shows: spent tokens, and reports.

    A log begins with 32 bytes. Each frame has 24 bytes before its page, of which the second four say whether the frame
    ends a transaction (https://www.sqlite.org/fileformat2.html, 4.1).
    """
    place.mkdir()
    main = (folder / "collector.sqlite").read_bytes()
    log = (folder / "collector.sqlite-wal").read_bytes()
    size = int.from_bytes(log[8:12]) if log else 0
    ends = [
        at + 24 + size
        for at in range(32, len(log) - 23, 24 + size)
        if int.from_bytes(log[at + 4 : at + 8]) and log[at + 8 : at + 16] == log[16:24]
    ]
    before: tuple[set[bytes], Counter[bytes]] | None = None
    for at, end in enumerate([0, *ends]):
        copy = place / str(at)
        copy.mkdir()
        (copy / "a.sqlite").write_bytes(main)
        (copy / "a.sqlite-wal").write_bytes(log[:end])
        with contextlib.closing(sqlite3.connect(copy / "a.sqlite")) as other:
            used = {one for one, with_ in other.execute("SELECT hash, used FROM tokens") if any(with_ or b"")}
            found = Counter(
                words[at : at + 8]
                for (words,) in other.execute("SELECT words FROM blocks")
                for at in range(0, len(words), 8)
            )
        shutil.rmtree(copy)
        if before is not None:
            yield used - before[0], found - before[1]
        before = used, found


class StoreSuite:
    """A store has to pass all of this. Subclasses say how one is made, and how the same one is opened again."""

    @pytest.fixture
    def store(self, address, tmp_path):
        made = open_store(address, tmp_path)
        yield made
        made.close()

    @pytest.fixture
    def asked(self, store):
        assert store.add_study(record())
        store.add_round("study", 0, "ask")
        store.move("study", 0, RoundEvent.OPEN, question="q", signature="s", closes=9)
        store.enrol("study", [one.to_bytes(32, "little") for one in range(1, 3001)])
        return store

    def reports(self, store, number=0):
        return sorted(row[0] for words in store.blocks("study", number, 2) for row in words.tolist())

    def test_studies_are_kept_in_order_and_once(self, store):
        assert store.studies() == []
        assert store.study("study") is None
        assert store.add_study(record("z"))
        assert store.add_study(record("a"))
        assert not store.add_study(record("z"))
        assert [one.name for one in store.studies()] == ["z", "a"]
        assert store.study("a") == record("a")

    def test_text_that_no_database_keeps_alike_is_refused_before_it(self, store):
        collector = StudyCollector(store, None)
        with pytest.raises(MisuseError, match="label is one line of text"):
            collector.add_operator(["watch"], "a\0b")
        for name in ("a\0b", "a\nb", "\ud800", "x" * 100_000):
            with pytest.raises(RefusedRequest) as error:
                collector.record(name)
            assert error.value.reason is Reason.UNKNOWN_STUDY
        assert collector.operators() == []

    def test_rounds_move_one_way_and_keep_what_they_were_given(self, store):
        store.add_study(record())
        store.add_round("study", 0, "ask")
        store.add_round("study", 0, "another")
        assert not store.move("study", 0, RoundEvent.CLOSE)
        assert store.move("study", 0, RoundEvent.OPEN, question="q", signature="s", closes=9)
        assert not store.move("study", 0, RoundEvent.OPEN, question="other", signature="s", closes=9)
        assert store.move("study", 0, RoundEvent.CLOSE)
        assert store.move("study", 0, RoundEvent.RELEASE, heard="{}")
        assert not store.move("study", 0, RoundEvent.RELEASE, heard="other")
        assert store.move("study", 0, RoundEvent.SCRUB)
        (one,) = store.rounds("study")
        assert (one.state, one.ask, one.question, one.signature) == (RoundState.SCRUBBED, "ask", "q", "s")
        assert (one.closes, one.people, one.heard) == (9, 0, "{}")
        assert not store.move("study", 1, RoundEvent.OPEN)

    def test_every_report_is_counted_once(self, asked):
        codes, people = asked.take("study", upload([1, 2, 3]))
        assert (codes.tolist(), people) == ([COUNTED] * 3, 3)
        codes, people = asked.take("study", upload([3, 4]))
        assert (codes.tolist(), people) == ([ALREADY_COUNTED, COUNTED], 4)
        codes, people = asked.take("study", upload([3, 5, 9999], keys=[77, 5, 5]))
        assert (codes.tolist(), people) == ([SPENT, COUNTED, UNKNOWN], 5)
        assert self.reports(asked) == [1, 2, 3, 4, 5]
        assert asked.count_tokens("study") == TokenCounts(tokens=3000, spent=5)
        assert asked.rounds("study")[0].people == 5

    def test_one_upload_may_have_a_token_twice(self, asked):
        codes, people = asked.take("study", upload([1, 1, 1, 2], keys=[1, 1, 9, 2]))
        assert (codes.tolist(), people) == ([COUNTED, ALREADY_COUNTED, SPENT, COUNTED], 2)
        assert self.reports(asked) == [1, 2]

    def test_what_is_refused_already_is_left_alone(self, asked):
        codes, people = asked.take("study", upload([1, 2], codes=[IMPOSSIBLE, 0]))
        assert (codes.tolist(), people) == ([IMPOSSIBLE, COUNTED], 1)
        assert asked.count_tokens("study").spent == 1
        codes, people = asked.take("study", upload([1], codes=[IMPOSSIBLE]))
        assert (codes.tolist(), people) == ([IMPOSSIBLE], 1)

    def test_a_closed_round_takes_nothing_but_tells_what_it_took(self, asked):
        asked.take("study", upload([1]))
        asked.move("study", 0, RoundEvent.CLOSE)
        codes, people = asked.take("study", upload([1, 2, 9999, 1], keys=[1, 2, 3, 4]))
        assert (codes.tolist(), people) == ([ALREADY_COUNTED, CLOSED, UNKNOWN, SPENT], 1)
        assert asked.count_tokens("study").spent == 1
        assert self.reports(asked) == [1]
        assert asked.read_keys("study", [(1).to_bytes(32, "little"), (2).to_bytes(32, "little"), b"x" * 32]) == {
            (1).to_bytes(32, "little"): (1).to_bytes(16, "little"), (2).to_bytes(32, "little"): None,
        }  # fmt: skip

    def test_tokens_are_of_one_study(self, asked):
        asked.add_study(record("other"))
        asked.add_round("other", 0, "ask")
        asked.move("other", 0, RoundEvent.OPEN)
        assert asked.take("other", upload([1]))[0].tolist() == [UNKNOWN]

    def test_blocks_are_full_and_in_random_order(self, asked):
        asked.take("study", upload(list(range(1, 1501))))
        asked.take("study", upload(list(range(1501, 2049))))
        for one in range(2049, 2060):
            asked.take("study", upload([one]))
        blocks = [words[:, 0].tolist() for words in asked.blocks("study", 0, 2)]
        assert sorted(map(len, blocks)) == sorted([BLOCK, BLOCK, 11])
        assert sorted(one for block in blocks for one in block) == list(range(1, 2060))
        whole = next(block for block in blocks if len(block) == BLOCK)
        assert whole != sorted(whole)

    def test_the_order_is_another_each_time(self, asked):
        """The same eight reports, three times: all three in one order has a probability below 10⁻⁹."""
        orders = []
        for number in (1, 2, 3):
            asked.add_round("study", number, "ask")
            asked.move("study", number, RoundEvent.OPEN)
            tokens = list(range(8 * number, 8 * number + 8))
            asked.take("study", upload(tokens, words=[[at, 7] for at in range(8)], number=number))
            ((block),) = [words[:, 0].tolist() for words in asked.blocks("study", number, 2)]
            orders.append(tuple(block))
        assert set(map(tuple, map(sorted, orders))) == {tuple(range(8))}
        assert len(set(orders)) > 1

    def test_a_round_that_is_not_stored_yet_takes_nothing(self, asked):
        """It is asked for before it is stored, and a report may come in between."""
        codes, people = asked.take("study", upload([1, 9999], number=1))
        assert (codes.tolist(), people) == ([CLOSED, UNKNOWN], 0)
        assert asked.count_tokens("study").spent == 0

    def test_no_column_holds_a_time(self, asked):
        """Every column is known here by name; the only time is when a round closes, which is published."""
        found = self.columns(asked)
        assert found == {
            "about": {"version"},
            "studies": {"place", "name", "id", "plan", "text", "signature", "key"},
            "rounds": {"study", "number", "state", "ask", "question", "signature", "closes", "people", "heard"},
            "tokens": {"study", "hash", "used"},
            "blocks": {"id", "study", "round", "words"},
            "results": {"study", "text"},
            "refusals": {"study", "reason", "many"},
            "operators": {"hash", "scopes", "label"},
        }
        assert found["tokens"] & found["blocks"] == {"study"}

    def test_after_a_restart_new_reports_go_beside_the_old_ones(self, asked, address, tmp_path):
        asked.take("study", upload([1, 2]))
        again = open_store(address, tmp_path)
        again.take("study", upload([3]))
        assert self.reports(again) == [1, 2, 3]
        again.close()

    def test_what_is_scrubbed_is_gone_and_tokens_stay(self, asked):
        asked.take("study", upload([1, 2]))
        for event in (RoundEvent.CLOSE, RoundEvent.RELEASE, RoundEvent.SCRUB):
            asked.move("study", 0, event, heard="{}" if event is RoundEvent.RELEASE else None)
        assert self.reports(asked) == []
        assert asked.take("study", upload([1]))[0].tolist() == [ALREADY_COUNTED]

    def test_reports_stay_until_their_round_is_released(self, asked):
        asked.take("study", upload([1, 2]))
        assert not asked.move("study", 0, RoundEvent.SCRUB)
        asked.move("study", 0, RoundEvent.CLOSE)
        assert not asked.move("study", 0, RoundEvent.SCRUB)
        assert self.reports(asked) == [1, 2]

    def test_a_result_is_stored_once(self, asked):
        assert asked.result("study") is None
        assert not asked.has_result("study")
        assert asked.conclude("study", "first")
        assert asked.has_result("study")
        assert not asked.conclude("study", "second")
        assert asked.result("study") == "first"

    def test_refusals_add_up(self, asked):
        asked.count_refused("study", {"token-spent": 2, "malformed": 1})
        asked.count_refused("study", {"token-spent": 3})
        assert asked.refused("study") == {"malformed": 1, "token-spent": 5}
        assert asked.refused("other") == {}

    def test_operators_are_known_by_their_hash(self, store):
        store.add_operator(b"h" * 32, ["watch", "enrol"], "me")
        assert store.operator(b"h" * 32) == {"watch", "enrol"}
        assert store.operator(b"i" * 32) is None
        store.add_operator(b"j" * 32, ["operate"], "another")
        assert [(one.token, one.scopes, one.label) for one in store.operators()] == [
            (b"j" * 32, {"operate"}, "another"), (b"h" * 32, {"watch", "enrol"}, "me"),
        ]  # fmt: skip
        store.remove_operator(b"h" * 32)
        assert store.operator(b"h" * 32) is None
        assert [one.label for one in store.operators()] == ["another"]

    def test_it_answers(self, store):
        store.check()

    def test_many_threads_count_each_token_once(self, asked, address, tmp_path):
        """Two stores, as two servers would have, and eight threads that send the same reports."""
        stores = [asked, open_store(address, tmp_path)]
        outcomes: Counter[int] = Counter()
        lock = threading.Lock()

        def send(start):
            for at in range(1, 301, 20):
                codes, _ = stores[start % 2].take("study", upload(list(range(at, at + 30))))
                with lock:
                    outcomes.update(codes.tolist())

        threads = [threading.Thread(target=send, args=(start,)) for start in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert self.reports(asked) == list(range(1, 311))
        assert outcomes[COUNTED] == 310
        assert set(outcomes) == {COUNTED, ALREADY_COUNTED}
        assert asked.rounds("study")[0].people == 310
        stores[1].close()

    def test_closing_waits_for_no_report_and_none_comes_after(self, asked, address, tmp_path):
        other = open_store(address, tmp_path)
        taken = []

        def send():
            for one in range(1, 200):
                taken.extend(asked.take("study", upload([one]))[0].tolist())

        thread = threading.Thread(target=send)
        thread.start()
        assert other.move("study", 0, RoundEvent.CLOSE)
        counted = len(self.reports(other))
        thread.join()
        assert self.reports(asked) == list(range(1, counted + 1))
        assert taken == [COUNTED] * counted + [CLOSED] * (199 - counted)
        other.close()


_CLOSED_WHILE_USED = """
import sys, threading
from pathlib import Path
from discreet.collector.storage import open_store
from discreet.collector.storage._store import StoreError

def use(store, begun):
    try:
        while True:
            store.check()
            store.refused("study")
            store.tidy()
            begun.set()
    except StoreError as error:
        assert "is closed" in str(error), error

for turn in range(20):
    store = open_store(None, Path(sys.argv[1]))
    begun = [threading.Event() for _ in range(4)]
    threads = [threading.Thread(target=use, args=(store, one)) for one in begun]
    for one in threads:
        one.start()
    for one in begun:
        one.wait()
    store.close()
    for one in threads:
        one.join()
"""


class TestSQLite(StoreSuite):
    @pytest.fixture
    def address(self):
        return None

    def test_it_is_durable_and_overwrites(self, store):
        with store.read_cursor() as cursor:
            settings = {}
            for name in ("journal_mode", "synchronous", "secure_delete"):
                cursor.execute(f"PRAGMA {name}")
                settings[name] = cursor.fetchall()[0][0]
        assert settings == {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1}

    def test_threads_that_read_keep_few_pages(self, asked):
        """Forty of them kept 64 MiB each: 2.9 GiB of a file of 65 MiB."""
        sizes = []

        def read() -> None:
            with asked.read_cursor() as cursor:
                cursor.execute("PRAGMA cache_size")
                sizes.append(-cursor.fetchall()[0][0])

        threads = [threading.Thread(target=read) for _ in range(40)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert sum(sizes) <= 160 * 1024  # KiB
        asked.take("study", upload([1]))
        read()
        assert sizes[-1] == 64 * 1024  # the one thread that takes reports looks up tokens all over the file

    def test_it_is_closed_while_others_use_it(self, tmp_path):
        """A service that stopped while a round was added up closed connections in use: the process was killed by it."""
        code = [sys.executable, "-c", _CLOSED_WHILE_USED, str(tmp_path)]
        done = subprocess.run(code, env=plain(), capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")

    def columns(self, store):
        with store.read_cursor() as cursor:
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            found = {}
            for (table,) in cursor.fetchall():
                cursor.execute(f"SELECT name FROM pragma_table_info('{table}')")
                found[table] = {row[0] for row in cursor.fetchall()}
            return found

    def test_a_copy_of_the_files_links_no_token_to_its_report(self, asked, tmp_path):
        """Reports that come one at a time: a copy's log is replayed to every commit, and what is new is compared."""

        async def send() -> None:
            batcher = Batcher(lambda name, some: asked.take(name, some)[0], asked.after_taking)
            for one in range(1, 31):
                assert (await batcher.add("study", upload([one]))).tolist() == [COUNTED]
            while batcher._running is not None:
                await asyncio.sleep(0.01)
            batcher.close()

        asyncio.run(send())
        links = 0
        for stage in states(tmp_path, tmp_path / "copies"):
            spent, reports = stage
            links += len(spent) == len(reports) == 1
        assert links == 0

    def test_the_file_shows_no_order(self, asked, tmp_path):
        """Tokens stay where they were, spent or not; a report stands in the files once, so no older block is left."""
        place = tmp_path / "collector.sqlite"
        hashes = [sha256(bytes([one])).digest() for one in range(200)]
        asked.enrol("study", hashes)
        asked.tidy()
        before = place.read_bytes()
        where = [before.find(one) for one in hashes]
        for one in range(1, 41):
            number = int.from_bytes(hashes[one], "little")
            asked.take("study", upload([number], keys=[one], words=[[0xABCD0000 + one, 0xCAFEF00D]]))
            asked.after_taking()
        after = place.read_bytes() + (tmp_path / "collector.sqlite-wal").read_bytes()
        assert [after.find(one) for one in hashes] == where
        assert {after.count(bytes([one, 0, 0xCD, 0xAB]) + b"\x0d\xf0\xfe\xca") for one in range(1, 41)} == {1}

    def test_a_reader_in_the_way_does_not_keep_reports_waiting_and_the_log_is_emptied_later(self, asked, tmp_path):
        log, told = tmp_path / "collector.sqlite-wal", bytes.fromhex("efbeadde0df0feca")
        reader = sqlite3.connect(tmp_path / "collector.sqlite", isolation_level=None)
        asked.take("study", upload([2]))
        reader.execute("BEGIN")
        reader.execute("SELECT COUNT(*) FROM blocks").fetchall()
        begun = time.monotonic()
        assert asked.take("study", upload([1], words=[[0xDEADBEEF, 0xCAFEF00D]]))[0].tolist() == [COUNTED]
        asked.after_taking()
        assert time.monotonic() - begun < 10
        assert not asked.tidy()
        assert told in log.read_bytes()
        reader.close()
        assert asked.tidy()
        assert log.read_bytes() == b""

    def test_what_is_scrubbed_while_another_reads_goes_from_the_log_afterwards(self, asked, tmp_path, monkeypatch):
        monkeypatch.setattr("discreet.collector.storage._store._SCRUB_WAIT_SECONDS", 0.1)
        told = bytes.fromhex("efbeadde0df0feca")
        asked.take("study", upload([1], words=[[0xDEADBEEF, 0xCAFEF00D]]))
        reader = sqlite3.connect(tmp_path / "collector.sqlite", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT COUNT(*) FROM blocks").fetchall()
        for event in (RoundEvent.CLOSE, RoundEvent.RELEASE, RoundEvent.SCRUB):
            assert asked.move("study", 0, event)
        assert not asked.tidy()
        files = [tmp_path / name for name in ("collector.sqlite", "collector.sqlite-wal")]
        assert any(told in one.read_bytes() for one in files)
        reader.close()
        # A service that was killed before it could tidy up does so when it begins again: it ticks.
        again = open_store(None, tmp_path)
        assert again.tidy()
        again.close()
        assert not any(told in one.read_bytes() for one in files)

    def test_files_are_their_owner_s_alone(self, tmp_path):
        before = os.umask(0o022)
        try:
            place = tmp_path / "new"
            place.mkdir()
            made = open_store(None, place)
            made.add_study(record())
            modes = {one.name: one.stat().st_mode & 0o777 for one in place.iterdir()}
            assert set(modes) == {"collector.sqlite", "collector.sqlite-wal", "collector.sqlite-shm"}
            assert set(modes.values()) == {0o600}
            made.close()
            (place / "collector.sqlite").chmod(0o644)  # as an earlier version has left it
            open_store(None, place).close()
            assert (place / "collector.sqlite").stat().st_mode & 0o777 == 0o600
        finally:
            os.umask(before)

    def test_scrubbed_reports_are_not_in_the_files(self, asked, tmp_path):
        asked.take("study", upload([1], words=[[0xDEADBEEF, 0xCAFEF00D]]))
        told = bytes.fromhex("efbeadde0df0feca")
        files = [tmp_path / name for name in ("collector.sqlite", "collector.sqlite-wal")]
        assert any(told in one.read_bytes() for one in files)
        for event in (RoundEvent.CLOSE, RoundEvent.RELEASE, RoundEvent.SCRUB):
            asked.move("study", 0, event)
        assert not any(told in one.read_bytes() for one in files)

    def test_a_file_that_is_none_is_told(self, tmp_path):
        (tmp_path / "collector.sqlite").write_bytes(b"something else" * 100)
        with pytest.raises(StoreError, match=r"The store .*collector.sqlite cannot be used: file is not a database\."):
            open_store(None, tmp_path)

    def test_tables_of_another_version_are_told(self, tmp_path):
        open_store(None, tmp_path).close()
        with sqlite3.connect(tmp_path / "collector.sqlite") as other:
            other.execute("UPDATE about SET version = 99")
        other.close()
        with pytest.raises(StoreError, match="was made by another version of discreet"):
            open_store(None, tmp_path)


class TestPostgreSQL(StoreSuite):
    @pytest.fixture
    def address(self, postgresql):
        import psycopg

        name = f"s{uuid4().hex}"
        with psycopg.connect(postgresql, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return postgresql.rpartition("/")[0] + f"/{name}"

    def columns(self, store):
        with store.read_cursor() as cursor:
            cursor.execute(
                "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
            )
            found = {}
            for table, column in cursor.fetchall():
                found.setdefault(table, set()).add(column)
            return found

    def test_old_versions_of_blocks_are_taken_away(self, asked, monkeypatch):
        """Each report rewrites the block it goes to, and the versions before it stay until they are taken away."""
        for one in range(1, 21):
            asked.take("study", upload([one]))
        assert asked.tidy()
        assert self.dead(asked) == 0
        asked.take("study", upload([21]))
        assert not asked.tidy()  # not at once: every few seconds
        monkeypatch.setattr("discreet.collector.storage._postgresql._TIDY_SECONDS", 0)
        assert asked.tidy()
        assert self.dead(asked) == 0

    def dead(self, store):
        with store.read_cursor() as cursor:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS pgstattuple")
            cursor.execute("SELECT dead_tuple_count FROM pgstattuple('blocks')")
            return cursor.fetchall()[0][0]

    def test_a_tidying_that_fails_is_done_again(self, asked, monkeypatch):
        asked.take("study", upload([1]))

        def fails():
            raise StoreError("away")

        with monkeypatch.context() as patch:
            patch.setattr(asked, "read_cursor", fails)
            assert not asked.tidy()
        assert asked.tidy()

    def test_a_server_that_is_not_there_is_told_without_the_password(self, tmp_path):
        with pytest.raises(StoreError) as error:
            open_store("postgresql://me:secret@127.0.0.1:1/nothing", tmp_path)
        assert str(error.value).startswith("The store 127.0.0.1/nothing cannot be used: ")
        assert "secret" not in str(error.value)

    def test_a_lost_connection_is_made_anew(self, asked):
        with asked._borrow() as connection:
            connection.close()
        assert asked.take("study", upload([1]))[0].tolist() == [COUNTED]

    def test_a_user_without_rights_is_told(self, store, address, tmp_path):
        import psycopg

        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("DROP ROLE IF EXISTS stranger")
            connection.execute("CREATE ROLE stranger LOGIN")
        with pytest.raises(StoreError, match="permission denied"):
            open_store(address.replace("tester@", "stranger@"), tmp_path)


def test_an_unknown_store_is_told(tmp_path):
    with pytest.raises(MisuseError) as error:
        open_store("mysql://host/x", tmp_path)
    assert str(error.value) == (
        "A store is an address such as postgresql://user@host/database, and 'mysql' is none that is known. Leave it "
        "out for a SQLite file in the directory."
    )
    assert list(tmp_path.iterdir()) == []
