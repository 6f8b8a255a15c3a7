"""Tests that every store must pass: one suite for SQLite and for a real PostgreSQL."""

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
from itertools import pairwise
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

CLOSED_CODE, UNKNOWN_CODE, SPENT_CODE = (
    CODES[reason] for reason in (Reason.ROUND_CLOSED, Reason.TOKEN_UNKNOWN, Reason.TOKEN_SPENT)
)
IMPOSSIBLE = CODES[Reason.REPORT_IMPOSSIBLE]


def record(name="study"):
    return StudyRecord(name=name, id="00", plan="{}", text="text", signature="ab", key="cd")


def upload(tokens, *, keys=None, words=None, codes=None, number=0):
    """Return an upload of tokens that are numbers."""
    token_count = len(tokens)
    return Upload(
        round=number,
        tokens=[number.to_bytes(32, "little") for number in tokens],
        keys=[number.to_bytes(16, "little") for number in (keys or tokens)],
        words=np.array(words if words is not None else [[number, 7] for number in tokens], np.uint32).reshape(
            token_count, 2
        ),
        codes=np.array(codes or [0] * token_count, np.uint8),
    )


def states(folder, place):
    """Yield the additions of every commit that a copy of a store's files shows: spent tokens, and reports.

    A log begins with 32 bytes. Each frame has 24 bytes before its page, of which the second four say whether the frame
    ends a transaction (https://www.sqlite.org/fileformat2.html, 4.1).
    """
    place.mkdir()
    main = (folder / "collector.sqlite").read_bytes()
    log = (folder / "collector.sqlite-wal").read_bytes()
    size = int.from_bytes(log[8:12]) if log else 0
    ends = [
        start + 24 + size
        for start in range(32, len(log) - 23, 24 + size)
        if int.from_bytes(log[start + 4 : start + 8]) and log[start + 8 : start + 16] == log[16:24]
    ]
    before: tuple[set[bytes], Counter[bytes]] | None = None
    for frame_number, end in enumerate([0, *ends]):
        copy = place / str(frame_number)
        copy.mkdir()
        (copy / "a.sqlite").write_bytes(main)
        (copy / "a.sqlite-wal").write_bytes(log[:end])
        with contextlib.closing(sqlite3.connect(copy / "a.sqlite")) as connection:
            used_tokens = {
                token_hash
                for token_hash, spending in connection.execute("SELECT hash, used FROM tokens")
                if any(spending or b"")
            }
            stored_words = Counter(
                words[start : start + 8]
                for (words,) in connection.execute("SELECT words FROM blocks")
                for start in range(0, len(words), 8)
            )
        shutil.rmtree(copy)
        if before is not None:
            yield used_tokens - before[0], stored_words - before[1]
        before = used_tokens, stored_words


class StoreSuite:
    """A store has to pass all of this. Subclasses say how a store is made and reopened."""

    @pytest.fixture
    def store(self, address, tmp_path):
        opened_store = open_store(address, tmp_path)
        yield opened_store
        opened_store.close()

    @pytest.fixture
    def asked_store(self, store):
        assert store.add_study(record())
        store.add_round("study", 0, "ask")
        store.move("study", 0, RoundEvent.OPEN, question="q", signature="s", closes=9)
        store.enrol("study", [number.to_bytes(32, "little") for number in range(1, 3001)])
        return store

    def reports(self, store, number=0):
        return sorted(row[0] for words in store.blocks("study", number, 2) for row in words.tolist())

    def test_studies_are_kept_in_order_and_once(self, store):
        assert store.studies() == []
        assert store.study("study") is None
        assert store.add_study(record("z"))
        assert store.add_study(record("a"))
        assert not store.add_study(record("z"))
        assert [study.name for study in store.studies()] == ["z", "a"]
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
        (stored_round,) = store.rounds("study")
        assert (stored_round.state, stored_round.ask, stored_round.question, stored_round.signature) == (
            RoundState.SCRUBBED,
            "ask",
            "q",
            "s",
        )
        assert (stored_round.closes, stored_round.people, stored_round.heard) == (9, 0, "{}")
        assert not store.move("study", 1, RoundEvent.OPEN)

    def test_every_report_is_counted_once(self, asked_store):
        codes, people = asked_store.take("study", upload([1, 2, 3]))
        assert (codes.tolist(), people) == ([COUNTED] * 3, 3)
        codes, people = asked_store.take("study", upload([3, 4]))
        assert (codes.tolist(), people) == ([ALREADY_COUNTED, COUNTED], 4)
        codes, people = asked_store.take("study", upload([3, 5, 9999], keys=[77, 5, 5]))
        assert (codes.tolist(), people) == ([SPENT_CODE, COUNTED, UNKNOWN_CODE], 5)
        assert self.reports(asked_store) == [1, 2, 3, 4, 5]
        assert asked_store.count_tokens("study") == TokenCounts(tokens=3000, spent=5)
        assert asked_store.rounds("study")[0].people == 5

    def test_one_upload_may_have_a_token_twice(self, asked_store):
        codes, people = asked_store.take("study", upload([1, 1, 1, 2], keys=[1, 1, 9, 2]))
        assert (codes.tolist(), people) == ([COUNTED, ALREADY_COUNTED, SPENT_CODE, COUNTED], 2)
        assert self.reports(asked_store) == [1, 2]

    def test_what_is_refused_already_is_left_alone(self, asked_store):
        codes, people = asked_store.take("study", upload([1, 2], codes=[IMPOSSIBLE, 0]))
        assert (codes.tolist(), people) == ([IMPOSSIBLE, COUNTED], 1)
        assert asked_store.count_tokens("study").spent == 1
        codes, people = asked_store.take("study", upload([1], codes=[IMPOSSIBLE]))
        assert (codes.tolist(), people) == ([IMPOSSIBLE], 1)

    def test_a_closed_round_takes_nothing_but_tells_what_it_took(self, asked_store):
        asked_store.take("study", upload([1]))
        asked_store.move("study", 0, RoundEvent.CLOSE)
        codes, people = asked_store.take("study", upload([1, 2, 9999, 1], keys=[1, 2, 3, 4]))
        assert (codes.tolist(), people) == ([ALREADY_COUNTED, CLOSED_CODE, UNKNOWN_CODE, SPENT_CODE], 1)
        assert asked_store.count_tokens("study").spent == 1
        assert self.reports(asked_store) == [1]
        assert asked_store.read_keys("study", [(1).to_bytes(32, "little"), (2).to_bytes(32, "little"), b"x" * 32]) == {
            (1).to_bytes(32, "little"): (1).to_bytes(16, "little"), (2).to_bytes(32, "little"): None,
        }  # fmt: skip

    def test_tokens_are_of_one_study(self, asked_store):
        asked_store.add_study(record("other"))
        asked_store.add_round("other", 0, "ask")
        asked_store.move("other", 0, RoundEvent.OPEN)
        assert asked_store.take("other", upload([1]))[0].tolist() == [UNKNOWN_CODE]

    def test_blocks_are_full_and_in_random_order(self, asked_store):
        asked_store.take("study", upload(list(range(1, 1501))))
        asked_store.take("study", upload(list(range(1501, 2049))))
        for number in range(2049, 2060):
            asked_store.take("study", upload([number]))
        blocks = [words[:, 0].tolist() for words in asked_store.blocks("study", 0, 2)]
        assert sorted(map(len, blocks)) == sorted([BLOCK, BLOCK, 11])
        assert sorted(number for block in blocks for number in block) == list(range(1, 2060))
        full_block = next(block for block in blocks if len(block) == BLOCK)
        assert full_block != sorted(full_block)

    def test_the_order_is_another_each_time(self, asked_store):
        """The same eight reports, three times: all three in one order has a probability below 10⁻⁹."""
        orders = []
        for number in (1, 2, 3):
            asked_store.add_round("study", number, "ask")
            asked_store.move("study", number, RoundEvent.OPEN)
            tokens = list(range(8 * number, 8 * number + 8))
            asked_store.take("study", upload(tokens, words=[[number, 7] for number in range(8)], number=number))
            ((block),) = [words[:, 0].tolist() for words in asked_store.blocks("study", number, 2)]
            orders.append(tuple(block))
        assert set(map(tuple, map(sorted, orders))) == {tuple(range(8))}
        assert len(set(orders)) > 1

    def test_a_round_that_is_not_stored_yet_takes_nothing(self, asked_store):
        """It is asked for before it is stored, and a report may come in between."""
        codes, people = asked_store.take("study", upload([1, 9999], number=1))
        assert (codes.tolist(), people) == ([CLOSED_CODE, UNKNOWN_CODE], 0)
        assert asked_store.count_tokens("study").spent == 0

    def test_no_column_holds_a_time(self, asked_store):
        """Every column is known here by name; the only time is when a round closes, which is published."""
        column_types = self.columns(asked_store)
        assert column_types == {
            "about": {"version"},
            "studies": {"place", "name", "id", "plan", "text", "signature", "key"},
            "rounds": {"study", "number", "state", "ask", "question", "signature", "closes", "people", "heard"},
            "tokens": {"study", "hash", "used"},
            "blocks": {"id", "study", "round", "words"},
            "results": {"study", "text"},
            "refusals": {"study", "reason", "many"},
            "operators": {"hash", "scopes", "label"},
        }
        assert column_types["tokens"] & column_types["blocks"] == {"study"}

    def test_after_a_restart_new_reports_go_beside_the_old_ones(self, asked_store, address, tmp_path):
        asked_store.take("study", upload([1, 2]))
        reopened_store = open_store(address, tmp_path)
        reopened_store.take("study", upload([3]))
        assert self.reports(reopened_store) == [1, 2, 3]
        reopened_store.close()

    def test_what_is_scrubbed_is_gone_and_tokens_stay(self, asked_store):
        asked_store.take("study", upload([1, 2]))
        for event in (RoundEvent.CLOSE, RoundEvent.RELEASE, RoundEvent.SCRUB):
            asked_store.move("study", 0, event, heard="{}" if event is RoundEvent.RELEASE else None)
        assert self.reports(asked_store) == []
        assert asked_store.take("study", upload([1]))[0].tolist() == [ALREADY_COUNTED]

    def test_reports_stay_until_their_round_is_released(self, asked_store):
        asked_store.take("study", upload([1, 2]))
        assert not asked_store.move("study", 0, RoundEvent.SCRUB)
        asked_store.move("study", 0, RoundEvent.CLOSE)
        assert not asked_store.move("study", 0, RoundEvent.SCRUB)
        assert self.reports(asked_store) == [1, 2]

    def test_a_result_is_stored_once(self, asked_store):
        assert asked_store.result("study") is None
        assert not asked_store.has_result("study")
        assert asked_store.conclude("study", "first")
        assert asked_store.has_result("study")
        assert not asked_store.conclude("study", "second")
        assert asked_store.result("study") == "first"

    def test_refusals_add_up(self, asked_store):
        asked_store.count_refused("study", {"token-spent": 2, "malformed": 1})
        asked_store.count_refused("study", {"token-spent": 3})
        assert asked_store.refused("study") == {"malformed": 1, "token-spent": 5}
        assert asked_store.refused("other") == {}

    def test_operators_are_known_by_their_hash(self, store):
        store.add_operator(b"h" * 32, ["watch", "enrol"], "me")
        assert store.operator(b"h" * 32) == {"watch", "enrol"}
        assert store.operator(b"i" * 32) is None
        store.add_operator(b"j" * 32, ["operate"], "another")
        assert [(operator.token, operator.scopes, operator.label) for operator in store.operators()] == [
            (b"j" * 32, {"operate"}, "another"), (b"h" * 32, {"watch", "enrol"}, "me"),
        ]  # fmt: skip
        store.remove_operator(b"h" * 32)
        assert store.operator(b"h" * 32) is None
        assert [operator.label for operator in store.operators()] == ["another"]

    def test_it_answers(self, store):
        store.check()
        assert store._rows("SELECT COUNT(*) FROM blocks") == [(0,)]

    def test_many_threads_count_each_token_once(self, asked_store, address, tmp_path):
        """Two stores, as two servers would have, and eight threads that send the same reports."""
        stores = [asked_store, open_store(address, tmp_path)]
        outcomes: Counter[int] = Counter()
        lock = threading.Lock()

        def send(start):
            for first_number in range(1, 301, 20):
                numbers = list(range(first_number, first_number + 30))
                codes, _ = stores[start % 2].take("study", upload(numbers))
                with lock:
                    outcomes.update(codes.tolist())

        threads = [threading.Thread(target=send, args=(start,)) for start in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert self.reports(asked_store) == list(range(1, 311))
        assert outcomes[COUNTED] == 310
        assert set(outcomes) == {COUNTED, ALREADY_COUNTED}
        assert asked_store.rounds("study")[0].people == 310
        stores[1].close()

    def test_closing_waits_for_no_report_and_none_comes_after(self, asked_store, address, tmp_path):
        other_store = open_store(address, tmp_path)
        taken_counts = []

        def send():
            for number in range(1, 200):
                taken_counts.extend(asked_store.take("study", upload([number]))[0].tolist())

        thread = threading.Thread(target=send)
        thread.start()
        assert other_store.move("study", 0, RoundEvent.CLOSE)
        counted_reports = len(self.reports(other_store))
        thread.join()
        assert self.reports(asked_store) == list(range(1, counted_reports + 1))
        assert taken_counts == [COUNTED] * counted_reports + [CLOSED_CODE] * (199 - counted_reports)
        other_store.close()


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

    def test_threads_that_read_keep_few_pages(self, asked_store):
        """Forty of them kept 64 MiB each: 2.9 GiB of a file of 65 MiB."""
        sizes = []

        def read_rounds() -> None:
            with asked_store.read_cursor() as cursor:
                cursor.execute("PRAGMA cache_size")
                sizes.append(-cursor.fetchall()[0][0])

        threads = [threading.Thread(target=read_rounds) for _ in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(sizes) <= 160 * 1024  # KiB
        asked_store.take("study", upload([1]))
        read_rounds()
        assert sizes[-1] == 64 * 1024  # the one thread that takes reports looks up tokens all over the file

    def test_it_is_closed_while_others_use_it(self, tmp_path):
        """A service that stopped while a round was added up closed connections in use: the process was killed by it."""
        code = [sys.executable, "-c", _CLOSED_WHILE_USED, str(tmp_path)]
        completed = subprocess.run(code, env=plain(), capture_output=True, text=True, check=False)
        assert (completed.returncode, completed.stderr) == (0, "")

    def columns(self, store):
        with store.read_cursor() as cursor:
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            columns_by_table = {}
            for (table,) in cursor.fetchall():
                cursor.execute(f"SELECT name FROM pragma_table_info('{table}')")
                columns_by_table[table] = {row[0] for row in cursor.fetchall()}
            return columns_by_table

    def test_a_copy_of_the_files_links_no_token_to_its_report(self, asked_store, tmp_path):
        """Reports that come one at a time: a copy's log is replayed to every commit, and what is new is compared."""

        async def send() -> None:
            batcher = Batcher(lambda name, uploads: asked_store.take(name, uploads)[0], asked_store.after_taking)
            for number in range(1, 31):
                assert (await batcher.add("study", upload([number]))).tolist() == [COUNTED]
            while batcher._running is not None:
                await asyncio.sleep(0.01)
            batcher.close()

        asyncio.run(send())
        links = 0
        for stage in states(tmp_path, tmp_path / "copies"):
            spent_tokens, reports = stage
            links += len(spent_tokens) == len(reports) == 1
        assert links == 0

    def test_the_file_shows_no_order(self, asked_store, tmp_path):
        """Tokens stay where they were, spent or not; a report stands in the files once, so no older block is left."""
        place = tmp_path / "collector.sqlite"
        hashes = [sha256(bytes([number])).digest() for number in range(200)]
        asked_store.enrol("study", hashes)
        asked_store.tidy()
        before = place.read_bytes()
        places_before = [before.find(token_hash) for token_hash in hashes]
        for place_of_hash in range(1, 41):
            number = int.from_bytes(hashes[place_of_hash], "little")
            words = [[0xABCD0000 + place_of_hash, 0xCAFEF00D]]
            asked_store.take("study", upload([number], keys=[place_of_hash], words=words))
            asked_store.after_taking()
        after = place.read_bytes() + (tmp_path / "collector.sqlite-wal").read_bytes()
        assert [after.find(token_hash) for token_hash in hashes] == places_before
        assert {after.count(bytes([number, 0, 0xCD, 0xAB]) + b"\x0d\xf0\xfe\xca") for number in range(1, 41)} == {1}

    def test_a_reader_in_the_way_does_not_keep_reports_waiting_and_the_log_is_emptied_later(
        self, asked_store, tmp_path
    ):
        log, secret_bytes = tmp_path / "collector.sqlite-wal", bytes.fromhex("efbeadde0df0feca")
        reader = sqlite3.connect(tmp_path / "collector.sqlite", isolation_level=None)
        asked_store.take("study", upload([2]))
        reader.execute("BEGIN")
        reader.execute("SELECT COUNT(*) FROM blocks").fetchall()
        begun = time.monotonic()
        assert asked_store.take("study", upload([1], words=[[0xDEADBEEF, 0xCAFEF00D]]))[0].tolist() == [COUNTED]
        asked_store.after_taking()
        assert time.monotonic() - begun < 10
        assert not asked_store.tidy()
        assert secret_bytes in log.read_bytes()
        reader.close()
        assert asked_store.tidy()
        assert log.read_bytes() == b""

    def test_what_is_scrubbed_while_another_reads_goes_from_the_log_afterwards(
        self, asked_store, tmp_path, monkeypatch
    ):
        monkeypatch.setattr("discreet.collector.storage._store._SCRUB_WAIT_SECONDS", 0.1)
        secret_bytes = bytes.fromhex("efbeadde0df0feca")
        asked_store.take("study", upload([1], words=[[0xDEADBEEF, 0xCAFEF00D]]))
        reader = sqlite3.connect(tmp_path / "collector.sqlite", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT COUNT(*) FROM blocks").fetchall()
        for event in (RoundEvent.CLOSE, RoundEvent.RELEASE, RoundEvent.SCRUB):
            assert asked_store.move("study", 0, event)
        assert not asked_store.tidy()
        files = [tmp_path / name for name in ("collector.sqlite", "collector.sqlite-wal")]
        assert any(secret_bytes in path.read_bytes() for path in files)
        reader.close()
        # A service that was killed before it could tidy up does so when it begins again: it ticks.
        reopened_store = open_store(None, tmp_path)
        assert reopened_store.tidy()
        reopened_store.close()
        assert not any(secret_bytes in path.read_bytes() for path in files)

    def test_files_are_their_owner_s_alone(self, tmp_path):
        before = os.umask(0o022)
        try:
            place = tmp_path / "new"
            place.mkdir()
            opened_store = open_store(None, place)
            opened_store.add_study(record())
            modes = {path.name: path.stat().st_mode & 0o777 for path in place.iterdir()}
            assert set(modes) == {"collector.sqlite", "collector.sqlite-wal", "collector.sqlite-shm"}
            assert set(modes.values()) == {0o600}
            opened_store.close()
            (place / "collector.sqlite").chmod(0o644)  # as an earlier version has left it
            open_store(None, place).close()
            assert (place / "collector.sqlite").stat().st_mode & 0o777 == 0o600
        finally:
            os.umask(before)

    def test_scrubbed_reports_are_not_in_the_files(self, asked_store, tmp_path):
        asked_store.take("study", upload([1], words=[[0xDEADBEEF, 0xCAFEF00D]]))
        secret_bytes = bytes.fromhex("efbeadde0df0feca")
        files = [tmp_path / name for name in ("collector.sqlite", "collector.sqlite-wal")]
        assert any(secret_bytes in path.read_bytes() for path in files)
        for event in (RoundEvent.CLOSE, RoundEvent.RELEASE, RoundEvent.SCRUB):
            asked_store.move("study", 0, event)
        assert not any(secret_bytes in path.read_bytes() for path in files)

    def test_a_file_that_is_none_is_told(self, tmp_path):
        (tmp_path / "collector.sqlite").write_bytes(b"something else" * 100)
        with pytest.raises(StoreError, match=r"The store .*collector.sqlite cannot be used: file is not a database\."):
            open_store(None, tmp_path)

    def test_tables_of_another_version_are_told(self, tmp_path):
        open_store(None, tmp_path).close()
        with sqlite3.connect(tmp_path / "collector.sqlite") as connection:
            connection.execute("UPDATE about SET version = 99")
        connection.close()
        with pytest.raises(StoreError, match="was made by another version of discreet"):
            open_store(None, tmp_path)


def test_a_store_in_a_place_that_cannot_be_written_to_says_what_helps(tmp_path):
    """A read-only copy of a service was "unable to open database file", without a cause or a fix."""
    with pytest.raises(StoreError) as error:
        open_store(None, tmp_path / "missing")
    assert str(error.value) == (
        f"The store {tmp_path}/missing/collector.sqlite cannot be used: unable to open database file. Its directory "
        "must be writable, also for reading: copy it to such a place."
    )


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
            columns_by_table = {}
            for table, column in cursor.fetchall():
                columns_by_table.setdefault(table, set()).add(column)
            return columns_by_table

    def test_old_versions_of_blocks_are_taken_away(self, asked_store, monkeypatch):
        """Each report rewrites the block it goes to, and the versions before it stay until they are taken away."""
        for number in range(1, 21):
            asked_store.take("study", upload([number]))
        assert asked_store.tidy()
        assert self.dead(asked_store) == 0
        asked_store.take("study", upload([21]))
        assert not asked_store.tidy()  # not at once: every few seconds
        monkeypatch.setattr("discreet.collector.storage._postgresql._TIDY_SECONDS", 0)
        assert asked_store.tidy()
        assert self.dead(asked_store) == 0

    def dead(self, store):
        with store.read_cursor() as cursor:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS pgstattuple")
            cursor.execute("SELECT dead_tuple_count FROM pgstattuple('blocks')")
            return cursor.fetchall()[0][0]

    @pytest.mark.parametrize("table_is_long", [False, True])
    def test_a_scrub_that_an_old_snapshot_outlives_is_told_and_tried_again(
        self, asked_store, address, tmp_path, monkeypatch, table_is_long
    ):
        """A backup saw the reports while they were deleted. They stayed, and nothing said so or tried again."""
        import psycopg

        monkeypatch.setattr("discreet.collector.storage._store._SCRUB_WAIT_SECONDS", 0.3)
        service = open_store(address, tmp_path)
        asked_store.take("study", upload([1, 2, 3]))
        if table_is_long:  # its content lies in the table of long values
            asked_store._change("UPDATE blocks SET words = ?", os.urandom(40_000))
        asked_store.move("study", 0, RoundEvent.CLOSE)
        asked_store.move("study", 0, RoundEvent.RELEASE, heard="{}")
        assert service.tidy()
        with psycopg.connect(address) as backup:
            backup.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            backup.execute("SELECT count(*) FROM blocks")
            assert asked_store.move("study", 0, RoundEvent.SCRUB)
            assert not asked_store.tidy()
            monkeypatch.setattr("discreet.collector.storage._postgresql._TIDY_SECONDS", 0)
            monkeypatch.setattr("discreet.collector.storage._postgresql._PAUSE_DURATIONS", 0)
            assert not asked_store.tidy()
            assert not service.tidy()  # a service learns of a scrub by the command
            assert self.dead(service) > 0
        # The command has ended by now: the service completes it.
        assert service.tidy()
        assert self.dead(service) == 0
        with service.read_cursor() as cursor:
            cursor.execute("SELECT reltoastrelid::regclass::text FROM pg_class WHERE relname = 'blocks'")
            cursor.execute("SELECT dead_tuple_count + tuple_count FROM pgstattuple(%s)", cursor.fetchone())
            assert cursor.fetchone() == (0,)
        assert service.tidy()
        service.close()

    def test_a_scrub_waits_for_a_short_snapshot(self, asked_store, address, monkeypatch):
        import psycopg

        asked_store.take("study", upload([1, 2, 3]))
        asked_store.move("study", 0, RoundEvent.CLOSE)
        asked_store.move("study", 0, RoundEvent.RELEASE, heard="{}")
        with psycopg.connect(address) as reader:
            reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            reader.execute("SELECT count(*) FROM blocks")
            ending = threading.Timer(0.5, reader.rollback)
            ending.start()
            asked_store.move("study", 0, RoundEvent.SCRUB)
            ending.join()
        assert asked_store.tidy()
        assert self.dead(asked_store) == 0

    @pytest.mark.parametrize(("is_tidy", "pause"), [(True, 5), (False, 18)])
    def test_a_pause_follows_a_long_tidying(self, asked_store, monkeypatch, is_tidy, pause):
        """One that an old snapshot makes incomplete is repeated, and takes a tenth of the database's time."""
        seconds, vacuums = [100.0], []

        def vacuum() -> bool:
            vacuums.append(seconds[0])
            seconds[0] += 2
            asked_store._untidy["blocks"] = not is_tidy
            return is_tidy

        monkeypatch.setattr("discreet.collector.storage._postgresql.monotonic", lambda: seconds[0])
        monkeypatch.setattr(asked_store, "_vacuum", vacuum)
        asked_store._untidy["tokens"] = False
        while len(vacuums) < 3:
            assert asked_store.tidy() is is_tidy
            seconds[0] += 0.5
        assert [after - before for before, after in pairwise(vacuums)] == [pause + 2] * 2

    def test_a_tidying_that_fails_is_done_again(self, asked_store, monkeypatch):
        asked_store.take("study", upload([1]))

        def fails():
            raise StoreError("away")

        with monkeypatch.context() as patch:
            patch.setattr(asked_store, "read_cursor", fails)
            assert not asked_store.tidy()
        assert asked_store.tidy()

    def test_a_server_that_is_not_there_is_told_without_the_password(self, tmp_path):
        with pytest.raises(StoreError) as error:
            open_store("postgresql://me:secret@127.0.0.1:1/nothing", tmp_path)
        assert str(error.value).startswith("The store 127.0.0.1/nothing cannot be used: ")
        assert "secret" not in str(error.value)

    def test_a_lost_connection_is_made_anew(self, asked_store):
        with asked_store._borrow() as connection:
            connection.close()
        assert asked_store.take("study", upload([1]))[0].tolist() == [COUNTED]

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
