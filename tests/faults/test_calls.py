"""A ledger and a writer of results whose process dies, or whose disk fails, at any one system call."""

from __future__ import annotations

import gzip
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

import discreet
from discreet.errors import BudgetError, DiscreetError
from discreet.privacy import Neighbours
from discreet.privacy.ledger import Ledger
from faults.injecting import ERRORS, KILLED, LASTING, Call, Ended, calls, ended, require_strace, sample_calls

SPEND = """
from fractions import Fraction
from pathlib import Path
from discreet.errors import DiscreetError
from discreet.privacy._budget import Neighbours
from discreet.privacy.ledger._ledger import Ledger

def say(text):
    try:
        os.write(1, text.encode() + b"\\n")
    except OSError:
        sys.exit("discreet: nobody hears this.")

begin()
try:
    ledger = Ledger.open(sys.argv[1])
    paid = ledger.spend(
        epsilon=Fraction(1, 4), delta=Fraction(0), rho=Fraction(1, 32), discovery_delta=Fraction(0),
        neighbours=Neighbours.ADD_REMOVE, what="laplace", parameters={}, who="child", baskets=None,
    )
    say("paid")
    ledger.record(paid, "digest")
    say("recorded")
except DiscreetError as error:
    sys.stderr.write(f"discreet: {error}\\n")
    sys.exit(1)
"""
# Calls with which a ledger and its anchor change the disk, and with which they read from it.
CHANGES = ("pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "rename")
READS = ("pread64", "fcntl", "openat", "read", "write", "close")


@pytest.fixture(scope="module", autouse=True)
def _able() -> None:
    require_strace()


def spend(path: Path, epsilon: Fraction = Fraction(1, 4)):
    return Ledger.open(path).spend(
        epsilon=epsilon, delta=Fraction(0), rho=epsilon**2 / 2, discovery_delta=Fraction(0),
        neighbours=Neighbours.ADD_REMOVE, what="laplace", parameters={}, who="here", baskets=None,
    )  # fmt: skip


def ledger_in(folder: Path, *, anchored: bool) -> Path:
    """Make a ledger of four quarters, of which one is spent."""
    folder.mkdir()
    anchor = {}
    if anchored:
        (folder / "other").mkdir()
        anchor = {"anchor": folder / "other" / "head"}
    path = folder / "budget.db"
    Ledger.create(path, epsilon=1, **anchor)
    spend(path)
    return path


def survives(path: Path, process: Ended, fault: str, call: Call) -> None:
    """Hold a ledger to its promise after a fault in a process that spent a quarter and recorded it."""
    if fault == KILLED:
        assert process.killed, process
    else:
        assert process.status in (0, 1), process
        assert "Traceback" not in process.complaint, process.complaint
        assert process.status == 0 or process.complaint.startswith("discreet: "), process
        assert process.status == 1 or process.output == "paid\nrecorded\n", process
        leftovers = {place.name for place in path.parent.rglob("*")} - {
            "budget.db",
            "other",
            "head",
            "budget.db-journal",
        }
        assert not leftovers or call.kind == "unlink", leftovers
    spends = Ledger.open(path).spends()  # whole, by its seal, its chain and its anchor
    assert len(spends) in (1, 2)
    if "paid" in process.output:
        assert len(spends) == 2, "an acknowledged spend is gone"
    if "recorded" in process.output:
        assert spends[1].release == "digest"
    if "Nothing was spent" in process.complaint:
        assert len(spends) == 1, process.complaint
    # Exactly the remaining budget can be spent, and nothing more.
    for _ in range(4 - len(spends)):
        spend(path)
    with pytest.raises(BudgetError):
        spend(path, Fraction(1, 10**6))
    assert Ledger.open(path).state().remaining == 0
    assert not path.with_name("budget.db-journal").exists()


def survive_faults(folder: Path, faults: list[tuple[Call, str]], *, anchored: bool) -> list[str]:
    """Try every fault on a ledger of its own, and return all that did not hold."""
    wrong: list[str] = []
    for number, (call, fault) in enumerate(faults):
        path = ledger_in(folder / f"{number}", anchored=anchored)
        process = ended(SPEND, path, call=call, fault=fault)
        try:
            survives(path, process, fault, call)
        except (AssertionError, DiscreetError) as error:
            wrong.append(f"{call} {fault}: {process}: {error}")
        shutil.rmtree(path.parent)
    return wrong


def spending(folder: Path, kinds: tuple[str, ...], *, anchored: bool) -> list[Call]:
    return calls(SPEND, ledger_in(folder / "watched", anchored=anchored), kinds=kinds)


class TestALedger:
    def test_a_few_faults(self, tmp_path):
        calls_made = spending(tmp_path, CHANGES, anchored=True)
        assert {call.kind for call in calls_made} >= {"pwrite64", "fdatasync", "fsync", "unlink", "rename"}
        sampled_calls = sample_calls([call for call in calls_made if call.kind in ("fdatasync", "unlink")], 2)
        faults = [(call, KILLED) for call in sampled_calls] + [
            (call, ERRORS[number % 2]) for number, call in enumerate(sample_calls(calls_made, 1))
        ]
        assert survive_faults(tmp_path, faults, anchored=True) == []

    @pytest.mark.slow
    @pytest.mark.timeout(3600)
    @pytest.mark.parametrize("anchored", [False, True], ids=["alone", "anchored"])
    def test_killed_at_every_change(self, tmp_path, anchored):
        calls_made = spending(tmp_path, CHANGES, anchored=anchored)
        assert survive_faults(tmp_path, [(call, KILLED) for call in calls_made], anchored=anchored) == []
        print(f"{len(calls_made)} killed")

    @pytest.mark.slow
    @pytest.mark.timeout(3600)
    @pytest.mark.parametrize("anchored", [False, True], ids=["alone", "anchored"])
    def test_a_disk_that_is_gone(self, tmp_path, anchored):
        calls_made = spending(tmp_path, CHANGES, anchored=anchored)
        assert survive_faults(tmp_path, [(call, f"{LASTING}error=EIO") for call in calls_made], anchored=anchored) == []
        print(f"{len(calls_made)} lasting")

    @pytest.mark.slow
    @pytest.mark.timeout(3600)
    @pytest.mark.parametrize("fault", ERRORS)
    @pytest.mark.parametrize("anchored", [False, True], ids=["alone", "anchored"])
    def test_an_error_at_every_call(self, tmp_path, anchored, fault):
        calls_made = spending(tmp_path, CHANGES + READS, anchored=anchored)
        assert survive_faults(tmp_path, [(call, fault) for call in calls_made], anchored=anchored) == []
        print(f"{len(calls_made)} failed with {fault}")


MINE = """
import discreet.cli
import discreet.exact._mine, discreet.results._files, discreet.baskets._text, discreet.baskets._tables
sys.argv = ["discreet", "mine", *sys.argv[1:]]
begin()
discreet.cli.main()
"""
WRITES = ("write", "fsync", "rename", "unlink", "chmod", "rmdir")


class Writing:
    """A command that replaces an earlier result, in folders of its own; `check` holds what it left to the promise."""

    EARLIER = b'{"discreet": "patterns/1", "of": "an earlier run"}'

    def __init__(self, folder: Path, suffix: str, monkeypatch) -> None:
        self.folder, self.temporary, self.out = folder, folder / "temporary", folder / "out" / f"patterns{suffix}"
        for place in (folder, self.temporary, self.out.parent):
            place.mkdir(exist_ok=True)
        monkeypatch.setenv("TMPDIR", str(self.temporary))
        monkeypatch.setenv("DISCREET_JIT", "0")
        data = folder / "sales.csv.gz"
        data.write_bytes(gzip.compress(b"customer,product\n1,tea\n1,milk\n2,tea\n3,milk\n3,tea\n"))
        columns = ("--person", "customer", "--item", "product")
        self.arguments = (data, *columns, "--min-count", "1", "-o", self.out)

    def calls(self, kinds: tuple[str, ...], folder_watched: Path | None = None) -> list[Call]:
        self.out.write_bytes(self.EARLIER)  # where there is nothing yet, a place is tried out, which is one call more
        calls_made = calls(MINE, *self.arguments, kinds=kinds, folder_watched=folder_watched)
        self.whole = discreet.load(self.out)
        return calls_made

    def check(self, call: Call, fault: str) -> str | None:
        self.out.write_bytes(self.EARLIER)
        process = ended(MINE, *self.arguments, call=call, fault=fault)
        leftovers = [
            place for folder in (self.temporary, self.out.parent) for place in folder.iterdir() if place != self.out
        ]
        for place in leftovers:
            shutil.rmtree(place) if place.is_dir() else place.unlink()
        is_changed = self.out.read_bytes() != self.EARLIER
        try:
            if is_changed:
                assert discreet.load(self.out).to_arrow().equals(self.whole.to_arrow()), "half-written"
            if fault == KILLED:
                assert process.killed
            else:
                assert "Traceback" not in process.complaint
                assert process.status in (0, 1)
                # Where what fails is saying that it is done, both are said.
                assert process.status == 0 or process.complaint.splitlines()[-1].startswith("discreet: ")
                assert "should not happen" not in process.complaint
                assert is_changed or process.status == 1, "said to be done, and is not"
                assert not leftovers or call.kind in ("unlink", "rmdir"), leftovers
        except (AssertionError, DiscreetError) as error:
            return f"{call} {fault}: {process}: {error}"
        return None

    def find_failures(self, faults: list[tuple[Call, str]]) -> list[str]:
        """Return all that did not hold."""
        return [failure for failure in (self.check(*fault) for fault in faults) if failure]


class TestAResult:
    def test_a_few_faults(self, tmp_path, monkeypatch):
        writing = Writing(tmp_path / "w", ".json", monkeypatch)
        calls_made = writing.calls(WRITES)
        assert {call.kind for call in calls_made} >= {"write", "fsync", "rename"}
        last_calls = [[call for call in calls_made if call.kind == kind][-1] for kind in ("write", "fsync", "rename")]
        assert writing.find_failures([(last_calls[2], KILLED), (last_calls[0], "error=ENOSPC")]) == []

    @pytest.mark.slow
    @pytest.mark.timeout(3600)
    @pytest.mark.parametrize("suffix", [".json", ".csv", ".parquet"])
    def test_faults_at_every_write(self, tmp_path, monkeypatch, suffix):
        writing = Writing(tmp_path / "w", suffix, monkeypatch)
        calls_made = writing.calls(WRITES)
        faults = [(call, fault) for call in calls_made for fault in (KILLED, *ERRORS)]
        assert writing.find_failures(faults) == []
        print(f"{suffix}: {len(faults)} faults")

    @pytest.mark.slow
    @pytest.mark.timeout(3600)
    @pytest.mark.parametrize("fault", ["error=EIO", "error=EINTR"])
    def test_errors_at_reads(self, tmp_path, monkeypatch, fault):
        # Of the data, what is unpacked and the result: not of our own code, nor of what the system says of itself.
        writing = Writing(tmp_path / "w", ".json", monkeypatch)
        calls_made = writing.calls(("read", "pread64", "openat", "lseek", "close"), folder_watched=writing.folder)
        assert writing.find_failures([(call, fault) for call in calls_made]) == []
        print(f"{len(calls_made)} reads failed with {fault}")
