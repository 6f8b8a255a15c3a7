"""The decorator: compiled where it can be, plain where it cannot, and never a broken start."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from discreet.kernels.jit import in_threads, threads

TRY = "import discreet; print(len(discreet.mine([{1, 2}, {2}], min_count=1)))"


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", code],
        capture_output=True, text=True, env=os.environ | environment,
    )  # fmt: skip


def test_plain_python_gives_the_same():
    for switch in ("DISCREET_JIT", "NUMBA_DISABLE_JIT"):
        done = run(TRY + "; import sys; print('numba' in sys.modules)", **{switch: "0" if switch[0] == "D" else "1"})
        assert done.stdout.split() == ["3", "False"], done.stderr


def test_without_numba(tmp_path):
    (tmp_path / "numba.py").write_text("raise ImportError('not here')")
    done = run(TRY, PYTHONPATH=str(tmp_path))
    assert done.stdout.split() == ["3"], done.stderr


def test_no_writable_cache_is_no_error(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    done = run(TRY, XDG_CACHE_HOME=str(blocked), HOME=str(blocked), NUMBA_CACHE_DIR="")
    assert done.stdout.split() == ["3"], done.stderr


def test_the_cache_is_used(tmp_path):
    environment = {"DISCREET_JIT": "1", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert run(TRY, **environment).returncode == 0
    assert list((tmp_path / "cache").rglob("*.nbc"))


@pytest.mark.parametrize("workers", ["1", "4"])
def test_threads_keep_the_order_and_raise(monkeypatch, workers):
    monkeypatch.setenv("DISCREET_THREADS", workers)
    assert threads() == int(workers)
    assert in_threads(lambda x: x * x, range(50)) == [x * x for x in range(50)]
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda x: 1 // x, range(5))
    told = []
    in_threads(lambda x: x, range(4), told.append)
    assert told == [0.25, 0.5, 0.75, 1.0]
    assert in_threads(lambda x: x, []) == []
