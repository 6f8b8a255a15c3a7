"""Plain and compiled forms of kernels agree to the bit; which of them runs is decided by how much there is to do."""

from __future__ import annotations

import copy
import subprocess
import sys
import time
from types import FunctionType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.cli import warmup
from discreet.kernels import background, compiler, mining, rows, tiers
from discreet.kernels.tiers import Kernel, OutOfTime

compiled_too = pytest.mark.skipif(not tiers.enabled(), reason="nothing is compiled")


def same(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, np.random.Generator) or one == other


@compiled_too
def test_both_forms_of_every_kernel_agree(tmp_path, monkeypatch):
    # Some ten seconds: a little of everything, each call made twice. Compiled forms are in the cache of all tests.
    unequal, met = set(), set()

    def call(self: Kernel, *given: object) -> object:
        first, second = copy.deepcopy(given), copy.deepcopy(given)
        for one, two, own in zip(first, second, given, strict=True):
            if isinstance(own, np.ndarray) and not own.flags.writeable:
                one.flags.writeable = two.flags.writeable = False
        plainly, quickly = self.plain(*first), self.compiled()(*second)
        if self.__name__ == "tally_columns":  # those who hold nothing are counted by nobody
            first[5][0] = second[5][0] = 0
        if not same(plainly, quickly) or not same(first, second):
            unequal.add(self.__name__)
        met.add(self.__name__)
        return self.plain(*given)

    monkeypatch.setenv("DISCREET_THREADS", "1")  # or threads would write to what others copy
    monkeypatch.setattr(Kernel, "__call__", call)
    warmup._exercise(tmp_path)
    assert unequal == set()
    assert {kernel.__name__ for kernel in Kernel.registry if kernel.__module__.startswith("discreet.")} <= met


text = st.lists(
    st.sampled_from(
        [b"0", b"7", b"12", b"0123456789", b"9" * 19, b" ", b" ", b"\n", b"\t", b"\r\n", b"\r", b"x", b'"', b",", b"\0"]
    ),
    max_size=12,
).map(b"".join)


@given(text, st.booleans(), st.sampled_from([99, 2**31 - 1, 2**63 - 1]))
def test_numbers_are_read_alike(given_text, plain, limit):
    found = []
    for read in (rows.parse_numbers.plain, rows.parse_numbers.function):
        values, sizes = np.full(len(given_text) + 1, -5), np.full(len(given_text) + 1, -5, np.int32)
        found.append((*read(np.frombuffer(given_text, np.uint8), limit, plain, values, sizes), values, sizes))
    count, lines, bad = found[1][:3]
    assert found[0][:3] == (count, lines, bad)
    assert same(found[0][3][:count], found[1][3][:count])
    assert same(found[0][4][:lines], found[1][4][:lines])


@given(text, st.sampled_from([b" ", b",", b"\t", b";"]))
def test_fields_are_split_alike(given_text, delimiter):
    found = []
    for split in (rows.split_fields.plain, rows.split_fields.function):
        data = np.zeros(len(given_text), np.uint8)
        ends, sizes = np.zeros(len(given_text) + 2, np.int32), np.zeros(len(given_text) + 1, np.int32)
        told = split(np.frombuffer(given_text, np.uint8), ord(delimiter), data, ends, sizes)
        fields, lines, used, _ = told
        found.append((told, data[:used].tobytes(), ends[: fields + 1].tolist(), sizes[:lines].tolist()))
    assert found[0] == found[1]


def test_a_miner_that_is_out_of_time_has_changed_nothing():
    bitmaps = np.full((4, 1), 7, np.uint64)
    wanted, seen = np.zeros(mining.NUMBERS, np.int64), np.zeros(9, np.int64)
    wanted[[mining.COUNT, mining.MOST, mining.TIED, mining.TOP, mining.LIMIT]] = 1, 4, 4, 2, 99
    before = wanted.copy()
    with pytest.raises(OutOfTime):
        mining.mine_dense.plain(bitmaps, np.full(4, 3), 0, 4, np.empty(0, np.int32), wanted, seen, seconds=-1.0)
    assert same(wanted, before)
    assert not seen.any()
    mining.mine_dense.plain(bitmaps, np.full(4, 3), 0, 4, np.empty(0, np.int32), wanted, seen)
    assert not same(wanted, before)


def doubled(values):
    return values * 2


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A kernel that says how it ran, with no compiled form kept."""
    monkeypatch.setattr(tiers, "_switch", "")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(Kernel, "registry", [])
    monkeypatch.setattr(Kernel, "taken", 0.0)
    monkeypatch.setattr(Kernel, "slow", {})
    ran = []
    made = Kernel(doubled, plain=lambda values: ran.append("plain") or values * 2, work=lambda values: values.size)
    monkeypatch.setattr(made, "_run", lambda given: ran.append("compiled") or given[0] * 2)
    made.ran = ran
    return made


@compiled_too
def test_little_work_is_done_plain_and_much_is_compiled_at_once(small):
    assert small(np.arange(3)).tolist() == [0, 2, 4]
    assert small(np.broadcast_to(np.int64(1), 10**10)[:1]).tolist() == [2]
    small._each = 1.0  # seconds per element
    small(np.arange(10))
    assert small.ran == ["plain", "plain", "compiled"]


@compiled_too
def test_what_plain_runs_have_taken_together_decides_too(small):
    small._taken = 1e6
    small(np.arange(3))
    assert small.ran == ["compiled"]


@compiled_too
def test_a_form_that_is_kept_is_fetched_where_plain_takes_longer_than_loading(small, monkeypatch):
    monkeypatch.setattr(compiler, "loaded", lambda: False)
    small._each = tiers.LOADING / 2
    small(np.arange(1))
    monkeypatch.setattr(compiler, "is_kept", lambda function, types: True)
    small(np.arange(1))  # the compiler would take longer
    small._looked = "", 0.0, False
    monkeypatch.setattr(Kernel, "taken", tiers.LOADING)  # but it has others to help as well
    small(np.arange(1))
    assert small.ran == ["plain", "plain", "compiled"]


@compiled_too
def test_what_was_slow_is_asked_for_once_all_plain_runs_take_longer_than_loading(small, monkeypatch):
    asked = []
    monkeypatch.setattr(background, "ask", lambda function, types: asked.append((function, types)))
    small._note(tiers.LOADING / 2, 0, (np.arange(3),))
    assert asked == []
    small._note(tiers.LOADING, 0, (np.arange(3),))
    assert asked == [(doubled, "<i8[1C]")]


@compiled_too
def test_types_as_text_are_those_the_compiler_sees(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    import numba

    locked = np.arange(3)
    locked.flags.writeable = False
    values = (locked, np.zeros((2, 2), order="F"), np.arange(9)[::2], True, 7, 0.5, np.uint64(3), (1, (locked, 2.0)))
    told = compiler.types_of(values)
    seen = tuple(map(numba.typeof, values))
    assert compiler._text_of_all(seen) == told
    assert compiler.signature_of(told) == seen
    assert compiler.signature_of(compiler.types_of((object(),))) is None


STEP = 1


def stepped(value):
    return value + STEP


def test_the_name_of_a_file_says_what_it_was_made_of(monkeypatch):
    first = compiler.file_name(stepped, "<i8")
    assert compiler.file_name(stepped, "<f8") != first
    compiler.file_name.cache_clear()
    assert compiler.file_name(stepped, "<i8") == first
    monkeypatch.setitem(globals(), "STEP", 2)
    compiler.file_name.cache_clear()
    assert compiler.file_name(stepped, "<i8") != first
    compiler.file_name.cache_clear()


@pytest.mark.parametrize(
    ("given", "typed", "ci", "allowed"),
    [
        ("", True, "", True),
        ("", False, "", False),
        ("", True, "true", False),
        ("0", True, "", False),
        ("1", False, "true", True),
    ],
)
def test_who_may_have_things_compiled_in_the_background(monkeypatch, given, typed, ci, allowed):
    monkeypatch.setattr(background, "_wanted", typed)
    monkeypatch.setenv("DISCREET_PREPARE", given)
    monkeypatch.setenv("CI", ci)
    monkeypatch.delattr(sys, "ps1", raising=False)
    monkeypatch.setitem(sys.modules, "ipykernel", None)
    monkeypatch.delitem(sys.modules, "ipykernel")
    assert background.allowed() == allowed


def test_nothing_is_asked_for_where_nothing_can_be_kept(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DISCREET_PREPARE", "1")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(background, "_start", lambda place: pytest.fail("started"))
    background.ask(rows.mark.function, "<i8[1C];|b1[1C]")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@compiled_too
def test_what_is_asked_for_is_compiled_by_a_process_of_its_own(monkeypatch, tmp_path):
    import fcntl

    monkeypatch.setenv("DISCREET_PREPARE", "1")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(background, "_asked", set())
    mark: FunctionType = rows.mark.function
    types = "<i2[1C];|b1[1C]"
    # While one is at it, another ends at once and leaves its note to the first.
    with (tmp_path / background._LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        monkeypatch.setattr(background, "_start", lambda place: None)
        background.ask(mark, types)
        background.work(str(tmp_path))
        assert [path.suffix for path in sorted(tmp_path.iterdir())] == [".wanted", ".lock"]
    monkeypatch.undo()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    background._start(str(tmp_path))
    for _ in range(1200):
        if compiler.is_kept(mark, types):
            break
        time.sleep(0.1)
    assert compiler.is_kept(mark, types)
    assert not list(tmp_path.glob("*.wanted"))


BROKEN = """
import sys
from pathlib import Path
import numpy as np
from discreet.kernels import rows
present = np.zeros(3, bool)
rows.mark(np.array([1]), present)
kept = list(Path(sys.argv[1]).glob("*.nbc"))
print(present.tolist(), len(kept), kept[0].stat().st_size > 1000)
"""


@compiled_too
def test_a_damaged_file_is_compiled_anew(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", BROKEN, tmp_path], capture_output=True, text=True, check=False)
        assert done.stdout.split("\n")[0] == "[False, True, False] 1 True", done.stderr
        for path in tmp_path.glob("*.nbc"):
            path.write_bytes(path.read_bytes()[:100])
