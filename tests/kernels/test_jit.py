"""The decorator: compiled if possible, else plain, and never a broken start."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from discreet.kernels import in_threads, threads
from discreet.kernels._cache import find_writable_path

TRY = "import discreet; print(len(discreet.mine([{1, 2}, {2}], min_count=1)))"


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", code],
        capture_output=True, text=True, env=os.environ | environment,
    )  # fmt: skip


def test_plain_python_gives_the_same():
    for switch in ("DISCREET_JIT", "NUMBA_DISABLE_JIT"):
        result = run(TRY + "; import sys; print('numba' in sys.modules)", **{switch: "0" if switch[0] == "D" else "1"})
        assert result.stdout.split() == ["3", "False"], result.stderr


def test_without_numba(tmp_path):
    (tmp_path / "numba.py").write_text("raise ImportError('not here')")
    result = run(TRY, PYTHONPATH=str(tmp_path))
    assert result.stdout.split() == ["3"], result.stderr


SMALL_KERNEL = """
import os, threading
os.umask(0)
from discreet.kernels._jit import kernel

@kernel
def inner(x):
    return x + 1

@kernel
def outer(x):
    return inner(x) * 2

inner(1)  # while this module is imported, which keeps it from other threads
dispatcher = type(outer.compiled())
compile = dispatcher.compile
dispatcher.compile = lambda *given: print(threading.current_thread().name) or compile(*given)

def go():
    print(outer(1), outer(2), outer(1.5))
    try:
        outer("tea", "milk")
    except TypeError:
        print("refused")
"""


def run_small_kernel(tmp_path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run two kernels that are compiled at once."""
    if not (tmp_path / "small.py").exists():
        (tmp_path / "small.py").write_text(SMALL_KERNEL)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import small; small.go()"
    return run(code, DISCREET_JIT="1", **environment)


def test_no_writable_cache_is_no_error(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    result = run_small_kernel(tmp_path, XDG_CACHE_HOME=str(blocked), HOME=str(blocked), NUMBA_CACHE_DIR="")
    assert (result.returncode, result.stdout.splitlines()[-2:]) == (0, ["4 6 5.0", "refused"]), result.stderr


def test_the_main_thread_compiles_nothing_and_what_is_compiled_is_kept(tmp_path):
    # There an interrupt would wait for the compiler, or be dropped in one of its callbacks.
    place = tmp_path / "cache"
    result = run_small_kernel(tmp_path, NUMBA_CACHE_DIR=str(place))
    lines = result.stdout.splitlines()
    assert {*lines[:-2]} == {"discreet-compiler"}, result.stderr
    assert lines[-2:] == ["4 6 5.0", "refused"]
    # Kept forms are used: nothing is written anew.
    kept_form = {path: path.stat().st_mtime_ns for path in place.rglob("*.nbc")}
    assert kept_form
    assert run_small_kernel(tmp_path, NUMBA_CACHE_DIR=str(place)).stdout.splitlines()[-2:] == ["4 6 5.0", "refused"]
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*.nbc")} == kept_form


def test_the_cache_is_made_for_its_owner_alone(tmp_path):
    assert run_small_kernel(tmp_path, NUMBA_CACHE_DIR="", XDG_CACHE_HOME=str(tmp_path / "home")).returncode == 0
    place = tmp_path / "home" / "discreet" / "kernels"
    assert list(place.rglob("*.nbc"))
    for folder in (place, *list(place.parents)[:2]):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_cache_that_others_can_write_is_not_run(tmp_path):
    # Kept forms are pickle: a user that can write them runs code as the user.
    place = tmp_path / "cache"
    place.mkdir()
    place.chmod(0o777)
    result = run_small_kernel(tmp_path, NUMBA_CACHE_DIR=str(place))
    assert (result.returncode, result.stdout.splitlines()[-2:]) == (0, ["4 6 5.0", "refused"])
    assert result.stderr == (
        f"Compiled code is not kept, so that this takes longer: {place} can be changed by others, and what is kept "
        f"there is run. Remove {place}, or name a folder of your own in NUMBA_CACHE_DIR.\n"
    )
    assert list(place.iterdir()) == []


def test_what_others_can_change_of_a_folder(tmp_path):
    place = tmp_path / "way" / "cache"
    (place / "module").mkdir(parents=True)
    (place / "module" / "code.nbc").write_text("")
    assert find_writable_path(place) is None
    (place / "module" / "code.nbc").chmod(0o666)
    assert find_writable_path(place) == place / "module" / "code.nbc"
    place.chmod(0o700)  # nobody gets in
    assert find_writable_path(place) is None
    (tmp_path / "way").chmod(0o777)
    assert find_writable_path(place) == tmp_path / "way"
    (tmp_path / "way").chmod(0o1777)  # as /tmp
    assert find_writable_path(place) is None
    (tmp_path / "link").symlink_to(place)
    assert find_writable_path(tmp_path / "link") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_folder_of_another_user_is_not_ours(tmp_path):
    os.chown(tmp_path, 1234, 1234)
    assert find_writable_path(tmp_path) == tmp_path
    (tmp_path / "cache").mkdir()
    assert find_writable_path(tmp_path / "cache") == tmp_path


@pytest.mark.skipif(os.geteuid() != 0, reason="the folder has to be root's")
def test_a_shared_folder_of_root_serves_users_who_are_nobody(tmp_path):
    place = tmp_path / "shared"
    place.mkdir()
    assert run_small_kernel(tmp_path, NUMBA_CACHE_DIR=str(place)).returncode == 0
    kept_form = {path: path.stat().st_mtime_ns for path in place.iterdir()}
    assert kept_form
    for path in place.iterdir():
        path.chmod(0o644)
    code = (
        "import os, sys; os.getuid = os.geteuid = lambda: 54321; del os.environ['HOME']; "
        "from discreet.kernels import set_compile_listener as listen; listen(lambda name: print('compiled', name)); "
        f"sys.path.insert(0, {str(tmp_path)!r}); import small; small.go()"
    )
    quiet = {"NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": "", "DISCREET_KERNELS": str(place)}
    result = run(code, DISCREET_JIT="1", **quiet)
    assert "compiled" not in result.stdout, result.stdout
    assert (result.returncode, result.stdout.splitlines()[-2:]) == (0, ["4 6 5.0", "refused"]), result.stderr
    assert {path: path.stat().st_mtime_ns for path in place.iterdir()} == kept_form
    place.chmod(0o777)
    result = run(code, DISCREET_JIT="1", **quiet)
    assert (result.returncode, result.stdout.splitlines()[-2:]) == (0, ["4 6 5.0", "refused"])
    assert "compiled outer" in result.stdout
    assert result.stderr == (
        f"Compiled code in {place} is not used: {place} can be changed by others than root and you, and what is kept "
        f"there is run. Remove it, and fill it anew as root: discreet warmup --shared {place}\n"
    )


@pytest.mark.parametrize("workers", ["1", "4"])
def test_threads_keep_the_order_and_raise(monkeypatch, workers):
    monkeypatch.setenv("DISCREET_THREADS", workers)
    assert threads() == int(workers)
    assert in_threads(lambda x: x * x, range(50)) == [x * x for x in range(50)]
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda x: 1 // x, range(5))
    message = []
    in_threads(lambda x: x, range(4), message.append)
    assert message == [0.25, 0.5, 0.75, 1.0]
    assert in_threads(lambda x: x, []) == []
