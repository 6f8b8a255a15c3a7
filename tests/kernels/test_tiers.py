"""Plain and compiled forms of kernels agree to the bit; the amount of work decides between the two forms."""

# internals: this module warms kernels up as the command does.
from __future__ import annotations

import copy
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, strategies as st

from discreet.cli import _warmup as warmup
from discreet.kernels import (
    Kernel,
    _compiler as compiler,
    _rows as rows,
    _tiers as tiers,
    background,
    mining,
)
from discreet.kernels._tiers import OutOfTime

compiled_too = pytest.mark.skipif(not tiers.enabled(), reason="nothing is compiled")


def are_equal(left_value: object, right: object) -> bool:
    if isinstance(left_value, np.ndarray):
        return left_value.dtype == right.dtype and left_value.tobytes() == right.tobytes()
    if isinstance(left_value, tuple):
        return len(left_value) == len(right) and all(map(are_equal, left_value, right))
    return isinstance(left_value, np.random.Generator) or left_value == right


@compiled_too
def test_both_forms_of_every_kernel_agree(tmp_path, monkeypatch):
    # Some ten seconds: a little of everything, each call made twice. Compiled forms are in the cache of all tests.
    unequal, met = set(), set()

    def call(self: Kernel, *arguments: object) -> object:
        plain_arguments, compiled_arguments = copy.deepcopy(arguments), copy.deepcopy(arguments)
        for plain_value, compiled_value, value in zip(plain_arguments, compiled_arguments, arguments, strict=True):
            if isinstance(value, np.ndarray) and not value.flags.writeable:
                plain_value.flags.writeable = compiled_value.flags.writeable = False
        plainly, quickly = self.plain(*plain_arguments), self.compiled()(*compiled_arguments)
        if self.__name__ == "tally_columns":  # the caller fills in the cell of mask 0
            plain_arguments[5][0] = compiled_arguments[5][0] = 0
        if not are_equal(plainly, quickly) or not are_equal(plain_arguments, compiled_arguments):
            unequal.add(self.__name__)
        met.add(self.__name__)
        return self.plain(*arguments)

    monkeypatch.setenv("DISCREET_THREADS", "1")  # or threads would write to arrays during a copy
    monkeypatch.setattr(Kernel, "__call__", call)
    warmup._run_jobs(tmp_path)
    assert unequal == set()
    ours = [kernel for kernel in Kernel.registry if kernel.__module__.startswith("discreet.")]
    # Only Spark's tasks project rows onto a tree; tests/spark/test_borders.py compares that kernel with its twin.
    assert {kernel.__name__ for kernel in ours if not kernel.__module__.endswith("._projecting")} <= met


text = st.lists(
    st.sampled_from(
        [b"0", b"7", b"12", b"0123456789", b"9" * 19, b" ", b" ", b"\n", b"\t", b"\r\n", b"\r", b"x", b'"', b",", b"\0"]
    ),
    max_size=12,
).map(b"".join)


@given(text, st.booleans(), st.sampled_from([99, 2**31 - 1, 2**63 - 1]))
def test_numbers_are_read_alike(given_text, plain, limit):
    results = []
    for parse in (rows.parse_numbers.plain, rows.parse_numbers.function):
        values, sizes = np.full(len(given_text) + 1, -5), np.full(len(given_text) + 1, -5, np.int32)
        results.append((*parse(np.frombuffer(given_text, np.uint8), limit, plain, values, sizes), values, sizes))
    count, lines, bad_place = results[1][:3]
    assert results[0][:3] == (count, lines, bad_place)
    assert are_equal(results[0][3][:count], results[1][3][:count])
    assert are_equal(results[0][4][:lines], results[1][4][:lines])


@given(text, st.sampled_from([b" ", b",", b"\t", b";"]))
def test_fields_are_split_alike(given_text, delimiter):
    results = []
    for split_form in (rows.split_fields.plain, rows.split_fields.function):
        data = np.zeros(len(given_text), np.uint8)
        ends, sizes = np.zeros(len(given_text) + 2, np.int32), np.zeros(len(given_text) + 1, np.int32)
        numbers = split_form(np.frombuffer(given_text, np.uint8), ord(delimiter), data, ends, sizes)
        fields, lines, used_bytes, _ = numbers
        results.append((numbers, data[:used_bytes].tobytes(), ends[: fields + 1].tolist(), sizes[:lines].tolist()))
    assert results[0] == results[1]


def test_a_miner_that_is_out_of_time_has_changed_nothing():
    bitmaps = np.full((4, 1), 7, np.uint64)
    query, pattern_tally = np.zeros(mining.QUERY_SIZE, np.int64), np.zeros(9, np.int64)
    query[[mining.MIN_COUNT, mining.MAX_LENGTH, mining.MAX_TIED_LENGTH, mining.TOP_K, mining.MAX_RECORDS]] = (
        1,
        4,
        4,
        2,
        99,
    )
    before = query.copy()
    with pytest.raises(OutOfTime):
        mining.mine_dense.plain(bitmaps, np.full(4, 3), 0, 4, np.empty(0, np.int32), query, pattern_tally, seconds=-1.0)
    assert are_equal(query, before)
    assert not pattern_tally.any()
    mining.mine_dense.plain(bitmaps, np.full(4, 3), 0, 4, np.empty(0, np.int32), query, pattern_tally)
    assert not are_equal(query, before)


def doubled(values):
    return values * 2


@pytest.fixture
def small_kernels(monkeypatch, tmp_path):
    """A kernel that says how it ran, with no compiled form kept."""
    monkeypatch.setattr(tiers, "_switch", "")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(Kernel, "registry", [])
    monkeypatch.setattr(Kernel, "plain_seconds", 0.0)
    ran = []
    counted_kernel = Kernel(
        doubled, plain=lambda values: ran.append("plain") or values * 2, work=lambda values: values.size
    )
    monkeypatch.setattr(counted_kernel, "_run_compiled", lambda given: ran.append("compiled") or given[0] * 2)
    counted_kernel.ran = ran
    return counted_kernel


@compiled_too
def test_little_work_is_done_plain_and_much_is_compiled_at_once(small_kernels):
    assert small_kernels(np.arange(3)).tolist() == [0, 2, 4]
    assert small_kernels(np.broadcast_to(np.int64(1), 10**10)[:1]).tolist() == [2]
    small_kernels._seconds_per_element = 1.0  # seconds per element
    small_kernels(np.arange(10))
    assert small_kernels.ran == ["plain", "plain", "compiled"]


@compiled_too
def test_what_plain_runs_have_taken_together_decides_too(small_kernels):
    small_kernels._plain_seconds = 1e6
    small_kernels(np.arange(3))
    assert small_kernels.ran == ["compiled"]


@compiled_too
def test_a_form_that_is_kept_is_fetched_where_plain_takes_longer_than_loading(small_kernels, monkeypatch):
    monkeypatch.setattr(compiler, "is_loaded", lambda: False)
    small_kernels._seconds_per_element = tiers.LOAD_SECONDS / 2
    small_kernels(np.arange(1))
    monkeypatch.setattr(compiler, "is_kept", lambda function, types: True)
    small_kernels(np.arange(1))  # the compiler would take longer
    small_kernels._last_lookup = "", 0.0, False
    monkeypatch.setattr(Kernel, "plain_seconds", tiers.LOAD_SECONDS)  # loading serves all kernels together
    small_kernels(np.arange(1))
    assert small_kernels.ran == ["plain", "plain", "compiled"]


@compiled_too
def test_only_those_who_compile_everything_keep_forms(tmp_path, monkeypatch):
    monkeypatch.setattr(tiers, "_switch", "")
    monkeypatch.setenv("DISCREET_JIT", "")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    quick_kernel = Kernel(doubled)
    quick_kernel._seconds_per_element = 1e6  # seconds per element: this is compiled at once
    assert quick_kernel(np.arange(3)).tolist() == [0, 2, 4]
    assert quick_kernel._compiled is not None
    assert list(tmp_path.iterdir()) == []  # which loops were worth it follows from the data
    Kernel(doubled).prepare("<i8[1C]")
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] == [".nbc"]


@compiled_too
def test_types_as_text_are_those_the_compiler_sees(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    import numba

    locked = np.arange(3)
    locked.flags.writeable = False
    values = (locked, np.zeros((2, 2), order="F"), np.arange(9)[::2], True, 7, 0.5, np.uint64(3), (1, (locked, 2.0)))
    type_text = compiler.describe_types(values)
    signature = tuple(map(numba.typeof, values))
    assert compiler._describe_signature(signature) == type_text
    assert compiler.parse_signature(type_text) == signature
    assert compiler.parse_signature(compiler.describe_types((object(),))) is None


STEP = 1


def stepped(value):
    return value + STEP


def test_the_name_of_a_file_says_what_it_was_made_of(monkeypatch):
    first_name = compiler.file_name(stepped, "<i8")
    assert compiler.file_name(stepped, "<f8") != first_name
    compiler.file_name.cache_clear()
    assert compiler.file_name(stepped, "<i8") == first_name
    monkeypatch.setitem(globals(), "STEP", 2)
    compiler.file_name.cache_clear()
    assert compiler.file_name(stepped, "<i8") != first_name
    compiler.file_name.cache_clear()


@pytest.mark.parametrize(
    ("arguments", "is_typed", "ci", "is_allowed"),
    [
        ("", True, "", True),
        ("", False, "", False),
        ("", True, "true", False),
        ("0", True, "", False),
        ("1", False, "true", True),
    ],
)
def test_who_may_have_things_compiled_in_the_background(monkeypatch, arguments, is_typed, ci, is_allowed):
    monkeypatch.setattr(background, "_is_command", is_typed)
    monkeypatch.setenv("DISCREET_PREPARE", arguments)
    monkeypatch.setenv("CI", ci)
    monkeypatch.delattr(sys, "ps1", raising=False)
    monkeypatch.setitem(sys.modules, "ipykernel", None)
    monkeypatch.delitem(sys.modules, "ipykernel")
    assert background.can_start() == is_allowed


def test_nothing_is_started_where_nothing_can_be_kept(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DISCREET_PREPARE", "1")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(background, "_start_process", lambda place: pytest.fail("started"))
    background.start_if_allowed()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_it_is_started_until_all_was_compiled(monkeypatch, tmp_path):
    started = []
    monkeypatch.setenv("DISCREET_PREPARE", "1")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(background, "_start_process", started.append)
    monkeypatch.setattr(background.os, "sched_setscheduler", lambda *given: None)  # this process has other things to do
    announcements: list[bool] = []
    monkeypatch.setattr(background, "_announce_start", lambda: announcements.append(True))
    background.start_if_allowed()
    background.start_if_allowed()
    assert (started, announcements) == ([str(tmp_path)] * 2, [True, True])
    background.compile_missing(str(tmp_path), list)
    background.start_if_allowed()
    assert len(started) == 2
    monkeypatch.setenv("DISCREET_PREPARE", "0")
    (tmp_path / background._mark_path(str(tmp_path)).name).unlink()
    background.start_if_allowed()
    assert len(started) == 2


@compiled_too
def test_all_forms_that_are_missing_are_compiled_by_one_process(monkeypatch, tmp_path):
    import fcntl

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    mark, types = rows.mark_present.function, "<i2[1C];|b1[1C]"
    forms = [(mark.__module__, mark.__qualname__, types), ("discreet.kernels._rows", "no_such_kernel", types)]
    with (tmp_path / background._LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        background.compile_missing(str(tmp_path), lambda: pytest.fail("another process is at it"))
    monkeypatch.setattr(background.os, "sched_setscheduler", lambda *given: None)
    background.compile_missing(str(tmp_path), lambda: forms)
    assert compiler.is_kept(mark, types)
    assert background.is_prepared(str(tmp_path))
    background.compile_missing(str(tmp_path), lambda: pytest.fail("all is done"))


def test_a_process_that_is_out_of_time_leaves_the_rest_to_the_next(monkeypatch, tmp_path):
    monkeypatch.setattr(background, "_MAX_SECONDS", -1.0)
    monkeypatch.setattr(background.os, "sched_setscheduler", lambda *given: None)
    background.compile_missing(str(tmp_path), lambda: [("discreet.kernels._rows", "mark_present", "")])
    assert not background.is_prepared(str(tmp_path))


@compiled_too
@pytest.mark.slow  # about a minute: everything is compiled
@pytest.mark.timeout(900)
def test_the_process_in_the_background_compiles_what_warmup_does(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    background._start_process(str(tmp_path))
    for _ in range(6000):
        if background.is_prepared(str(tmp_path)):
            break
        time.sleep(0.1)
    assert background.is_prepared(str(tmp_path))
    assert warmup._find_missing_kernels(tmp_path) == []


BROKEN = """
import sys
from pathlib import Path
import numpy as np
from discreet.kernels import _rows as rows
present = np.zeros(3, bool)
rows.mark_present(np.array([1]), present)
kept = list(Path(sys.argv[1]).glob("*.nbc"))
print(present.tolist(), len(kept), kept[0].stat().st_size > 1000)
"""


@compiled_too
def test_a_damaged_file_is_compiled_anew(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        completed = subprocess.run(
            [sys.executable, "-c", BROKEN, tmp_path], capture_output=True, text=True, check=False
        )
        assert completed.stdout.split("\n")[0] == "[False, True, False] 1 True", completed.stderr
        for path in tmp_path.glob("*.nbc"):
            path.write_bytes(path.read_bytes()[:100])
