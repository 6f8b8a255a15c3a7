"""The choice of the processor that adds up reports: its reasons, its messages, and equal answers."""

# internals: this module replaces the card by a processor.
from __future__ import annotations

import ctypes
import logging
import sys
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import discreet
from discreet.baskets import groceries
from discreet.collector import _report_files as report_files, add_up
from discreet.errors import CardError, MisuseError
from discreet.gpu import CardRound
from discreet.gpu._card import Card
from discreet.gpu._driver import CupyDriver, source
from discreet.local import SimulatedAnswers
from discreet.local.device import WORD
from discreet.local.oracle_steps import SeedTable, make, on_card as deciding, using
from discreet.local.oracle_steps.on_card import WORTH, device, on_card
from discreet.local.study import Ask, CandidateList, CandidateQuestion, PeopleGroup
from gpu.shim import COMPILER, ShimDriver, compiled
from running import run

BEGINNING = "The cores of this machine count, as a card cannot: "


@pytest.fixture(autouse=True)
def _anew(monkeypatch):
    """Forget what other tests counted and said, and which card they found."""
    monkeypatch.delenv("DISCREET_DEVICE", raising=False)
    monkeypatch.setattr(deciding, "_hash_count", 0)
    monkeypatch.setattr(deciding, "_warnings", set())
    monkeypatch.setattr(deciding, "_find_card", lru_cache(deciding._find_card.__wrapped__))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if COMPILER is None:
        pytest.skip("There is no C++ compiler.")
    return compiled(tmp_path_factory.mktemp("kernels"), source())


@pytest.fixture
def card(library, monkeypatch):
    """Put a card into this machine that runs the text of the kernels; return what it was asked to run."""
    kernels_asked = []

    class Watched(ShimDriver):
        def launch(self, name, grid, arguments):
            kernels_asked.append(name)
            super().launch(name, grid, arguments)

    monkeypatch.setattr(deciding, "_find_card", lambda process: Card(driver=Watched(library)))
    return kernels_asked


def reports(oracle, report_count, seed=7):
    generator = np.random.default_rng(seed)
    held_values = np.minimum(generator.geometric(0.2, report_count) - 1, oracle.size - 1).astype(np.int32)
    return oracle.reports(
        SimulatedAnswers(offsets=np.arange(report_count + 1), values=held_values, people=np.arange(report_count)), seed
    )


def test_what_was_asked_for(monkeypatch):
    assert device() == "auto"
    monkeypatch.setenv("DISCREET_DEVICE", "cpu")
    assert device() == "cpu"
    with using("gpu"):
        assert device() == "gpu"
        with using(None):
            assert device() == "gpu"
        with using("auto"):
            assert device() == "auto"
    assert device() == "cpu"
    monkeypatch.setenv("DISCREET_DEVICE", "tpu")
    with pytest.raises(MisuseError, match=r"^DISCREET_DEVICE is 'auto', 'gpu' or 'cpu'; 'tpu' was given\.$"):
        device()
    with pytest.raises(MisuseError, match=r"^device is 'auto', 'gpu' or 'cpu'; 'tpu' was given\.$"):
        discreet.simulate([{"tea"}], top=1, epsilon=1, seed=1, device="tpu")


def test_auto_takes_a_card_when_enough_was_counted(card, monkeypatch):
    monkeypatch.setattr(deciding, "find_spec", lambda name: ModuleSpec(name, None))
    assert on_card(WORTH - 1, lambda card: "done") is None
    assert on_card(1, lambda card: "done") == "done"
    monkeypatch.setattr(deciding, "find_spec", lambda name: None)
    assert on_card(WORTH, lambda card: "done") is None, "CuPy is not there: nobody wants a card"
    with using("cpu"):
        assert on_card(WORTH, lambda card: "done") is None
    with using("gpu"):
        assert on_card(1, lambda card: "done") == "done"


def test_a_card_that_fails_is_said_once(card, caplog):
    def fail(card):
        raise CardError("The memory of the card is full.")

    with using("gpu"):
        assert on_card(1, fail) is None
        assert on_card(1, fail) is None
    assert [record.getMessage() for record in caplog.records] == [f"{BEGINNING}The memory of the card is full."]
    assert caplog.records[0].levelno == logging.WARNING


def test_mistakes_of_ours_are_not_hidden(card):
    with using("gpu"), pytest.raises(ZeroDivisionError):
        on_card(1, lambda card: 1 // 0)


class FakeError(RuntimeError):
    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class FullError(MemoryError):
    pass


def fake_cupy(**runtime):
    """Return a CuPy with a driver of given answers."""
    cuda_functions = {
        "CUDARuntimeError": FakeError,
        "getDeviceCount": lambda: 1,
        "getDevice": lambda: 0,
        "getDeviceProperties": lambda number: {"name": b"NVIDIA T1", "major": 7, "minor": 5},
        "driverGetVersion": lambda: 12040,
        "runtimeGetVersion": lambda: 13020,
    }
    cuda = SimpleNamespace(
        runtime=SimpleNamespace(**(cuda_functions | runtime)), memory=SimpleNamespace(OutOfMemoryError=FullError)
    )
    module = ModuleType("cupy")
    module.cuda = cuda
    return module


def raising(error):
    def fail(*arguments, **options):
        raise error

    return fail


@pytest.mark.parametrize(
    ("cupy", "message"),
    [
        (None, "CuPy is not installed: pip install 'discreet[gpu]'."),
        (
            ModuleType("cupy"),
            "CuPy cannot be loaded: a folder of that name stands where Python looks first.",
        ),
        (fake_cupy(getDeviceCount=lambda: 0), "No NVIDIA card was found."),
        (fake_cupy(getDeviceCount=raising(FakeError(100, "cudaErrorNoDevice"))), "No NVIDIA card was found."),
        (
            fake_cupy(getDeviceCount=raising(FakeError(35, "old")), driverGetVersion=lambda: 0),
            "No driver of NVIDIA's was found.",
        ),
        (
            fake_cupy(getDeviceCount=raising(FakeError(35, "old"))),
            "The driver of the card is too old: it knows CUDA 12.4, and CuPy was made for CUDA 13.2. Install a newer "
            "driver, or the CuPy for CUDA 12: pip install cupy-cuda12x.",
        ),
        (
            fake_cupy(getDeviceCount=raising(FakeError(3, "cudaErrorInitializationError: no\nmore"))),
            "CuPy could not do its work: FakeError: cudaErrorInitializationError: no",
        ),
        (
            fake_cupy(getDeviceProperties=lambda number: {"name": b"Tesla M40", "major": 5, "minor": 2}),
            "Tesla M40 has compute capability 5.2, and 6.0 or newer is needed.",
        ),
        (fake_cupy(getDeviceProperties=raising(FullError("x"))), "The memory of the card is full."),
    ],
)
def test_no_card_an_old_driver_a_small_card(monkeypatch, caplog, cupy, message):
    monkeypatch.setitem(sys.modules, "cupy", cupy)  # what is None there cannot be imported
    oracle = make("olh", Fraction(1), 50)
    columns = reports(oracle, 100)
    with using("cpu"):
        expected_supports = oracle.supports(columns)
    with using("gpu"):
        assert (oracle.supports(columns) == expected_supports).all()
        assert (oracle.supports(columns) == expected_supports).all()
    assert [record.getMessage() for record in caplog.records] == [BEGINNING + message]


def test_a_cupy_that_cannot_be_loaded(monkeypatch):
    class Broken:
        def find_spec(self, name, path=None, target=None):
            if name == "cupy":
                raise ImportError("libcudart.so.13: cannot open shared object file\nand more")

    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    with pytest.raises(CardError) as caught:
        CupyDriver()
    assert str(caught.value) == ("CuPy cannot be loaded: ImportError: libcudart.so.13: cannot open shared object file")


def test_a_card_without_room(library):
    small_card = Card(driver=ShimDriver(library, free=1 << 20))
    oracle = replace(make("olh", Fraction(1), 50), seeds=1024)
    with pytest.raises(CardError) as caught:
        small_card.count_supports(*(np.zeros(10, np.uint32) for _ in range(4)), 50)
    assert str(caught.value) == "A card that is none has 1 MiB of memory free, and 1 MiB are needed."
    with pytest.raises(CardError, match=r"1 MiB of memory free, and 128 MiB are needed\.$"):
        CardRound(small_card, oracle)
    for task in (
        lambda: small_card.leftover(np.zeros((8, 4), np.int64), np.zeros(1, np.uint32), np.zeros(1), 0.3, 1.0),
        lambda: small_card.meet(np.zeros(8, np.int64), 4, np.zeros(1, np.uint32), np.zeros(1), 4),
        lambda: small_card.table_sums(np.zeros((8, 4), np.int64), np.zeros(1, np.uint32), np.zeros(1), 0.3, 1.0, 4, 9),
    ):
        with pytest.raises(CardError, match=r"are needed\.$"):
            task()


def test_somebody_who_holds_more_than_is_brought_at_a_time(library):
    oracle = make("wheel", Fraction(1), 500, pad=3)
    answered = SimulatedAnswers(offsets=np.array([0, 400]), values=np.arange(400, dtype=np.int32), people=np.arange(1))
    with pytest.raises(CardError) as caught:
        CardRound(Card(driver=ShimDriver(library)), oracle, 800).add_drawn(answered, 7)
    assert str(caught.value) == "Somebody holds 400 values, more than are brought to it at a time."


@pytest.mark.parametrize("name", ["olh", "blh", "wheel"])
def test_supports_are_the_same(card, name):
    oracle = make(name, Fraction(2), 300)
    columns = reports(oracle, 700)
    expected_supports = oracle.supports(columns)
    assert not card
    with using("gpu"):
        assert (oracle.supports(columns) == expected_supports).all()
    assert card == ["count_reports"]


@pytest.mark.parametrize("epsilon", ["1", "3"])
def test_tables_are_read_the_same(card, epsilon):
    oracle = replace(make("olh", Fraction(epsilon), 60), seeds=1024)
    aggregate = oracle.adder.start()
    oracle.adder.add(aggregate, reports(oracle, 60_000))

    def table():
        return SeedTable(table=aggregate, symbols=oracle.size + oracle.dummies, own_chance=float(oracle.p_own))

    plain = table()
    values = np.arange(8)
    expected_frequencies, expected_shared = plain.frequencies(), plain.estimate_pair_excess(values)
    assert len(plain._solution[1]) > 3, "several symbols are solved for"
    assert not card
    with using("gpu"):
        table_on_card = table()
        assert table_on_card.frequencies().tobytes() == expected_frequencies.tobytes()
        assert [array.tobytes() for array in table_on_card.estimate_pair_excess(values)] == [
            array.tobytes() for array in expected_shared
        ]
    assert set(card) == {"weigh_rows", "take_off", "sum_cells", "meet_rows"}


@pytest.mark.parametrize("screen", [True, False])
def test_a_simulation_is_the_same(card, screen):
    baskets = groceries(3000, seed=3)
    settings = {"oracle": "wheel"}
    question = {"top": 8, "epsilon": 4, "seed": 7, "screen": screen, "settings": settings}
    expected_outcome = discreet.simulate(baskets, "svim", **question, device="cpu")
    assert not card
    outcome = discreet.simulate(baskets, "svim", **question, device="gpu")
    assert outcome.patterns.to_arrow().equals(expected_outcome.patterns.to_arrow())
    assert ("make_points" in card) == (not screen)
    assert "count_reports" in card


def asked_of(name, seeds=None):
    ask = Ask.of("which", PeopleGroup(0, WORD), CandidateQuestion(CandidateList(items=40)), name, Fraction(1))
    return replace(ask, oracle=replace(ask.oracle, seeds=seeds)) if seeds else ask


@pytest.mark.parametrize(("name", "seeds"), [("olh", None), ("olh", 1024), ("wheel", None), ("grr", None)])
@pytest.mark.parametrize("screen", [True, False])
def test_a_collector_s_round_is_the_same(card, tmp_path, name, seeds, screen):
    ask = asked_of(name, seeds)
    words = ask.oracle.codec.pack(reports(ask.oracle, 900))
    blocks = np.array_split(words, 4)
    report_files.save_reports(tmp_path / "reports", ask, blocks)
    expected_totals = add_up(ask, lambda: blocks, screen=screen)
    assert report_files.add_up_files(tmp_path / "reports", ask, screen=screen).text() == expected_totals.text()
    assert not card
    with using("gpu"):
        assert add_up(ask, lambda: blocks, screen=screen).text() == expected_totals.text()
        totals = report_files.add_up_files(tmp_path / "reports", ask, screen=screen)
    assert (totals.text(), totals.refused) == (expected_totals.text(), 0)
    streamed = {"olh": {"tabulate"} if seeds else {"count_reports"}, "wheel": {"count_reports"}, "grr": set()}[name]
    assert streamed <= set(card)


def test_what_is_no_report_is_counted_the_same(card, tmp_path):
    ask = asked_of("olh", 1024)
    words = ask.oracle.codec.pack(reports(ask.oracle, 300))
    words[::7, 1] = 99
    report_files.save_reports(tmp_path / "reports", ask, [words])
    expected_totals = report_files.add_up_files(tmp_path / "reports", ask)
    with using("gpu"):
        totals = report_files.add_up_files(tmp_path / "reports", ask)
    assert totals.refused == expected_totals.refused == 43
    assert totals.text() == expected_totals.text()


def test_a_card_that_fails_on_the_way_changes_nothing(card, tmp_path, monkeypatch, caplog):
    ask = asked_of("olh", 1024)
    words = ask.oracle.codec.pack(reports(ask.oracle, 300))
    report_files.save_reports(tmp_path / "reports", ask, [words[:200], words[200:]])
    expected_text = report_files.add_up_files(tmp_path / "reports", ask).text()
    monkeypatch.setattr(CardRound, "total", raising(CardError("The memory of NVIDIA T1 is full.")))
    monkeypatch.setattr(Card, "table_sums", raising(CardError("The memory of NVIDIA T1 is full.")))
    with using("gpu"):
        assert report_files.add_up_files(tmp_path / "reports", ask).text() == expected_text
    assert [record.getMessage() for record in caplog.records] == [f"{BEGINNING}The memory of NVIDIA T1 is full."]


def test_the_command_line_says_why_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    (tmp_path / "baskets.dat").write_text("1 2 3\n2 3\n1 3\n" * 400)
    command = ["simulate", "baskets.dat", "--top", "2", "--epsilon", "4", "--seed", "7", "--protocol", "svim"]
    command += ["--set", "oracle=olh", "--format", "csv"]
    expected_run = run(*command, cwd=tmp_path, check=True)
    card_run = run(*command, "--device", "gpu", cwd=tmp_path, check=True)
    assert card_run.stdout == expected_run.stdout
    assert card_run.stderr.splitlines() == [f"discreet: {BEGINNING}CuPy is not installed: pip install 'discreet[gpu]'."]
    by_variable = run(*command, cwd=tmp_path, env={"DISCREET_DEVICE": "tpu"})
    assert by_variable.returncode == 2
    assert "'auto', 'gpu', 'cpu'" in " ".join(by_variable.stderr.split())


def numbers_as_cupy(library):
    """Return a CuPy with a processor as its card: all that the driver uses, with memory for the card alone."""
    cupy = fake_cupy(memGetInfo=lambda: (1 << 30, 1 << 31))

    class Data:
        def __init__(self, array):
            self.array = array

        def memset(self, value, size):
            assert size == self.array.nbytes
            self.array.reshape(-1).view(np.uint8)[:] = value

        def copy_from_host_async(self, place, size, stream):
            assert stream in streams
            ctypes.memmove(self.array.ctypes.data, place, size)

    class Array:
        def __init__(self, array):
            self.array, self.data, self.nbytes = array, Data(array), array.nbytes

        def __getitem__(self, part):
            return Array(self.array[part])

        def __len__(self):
            return len(self.array)

        def set(self, data):
            assert data.flags.c_contiguous
            self.array[...] = data

        def get(self):
            return self.array.copy()

    class Stream:
        def __init__(self, non_blocking):
            assert non_blocking
            streams.append(self)

        def synchronize(self):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    class RawModule:
        def __init__(self, code, options):
            assert (code, options) == (source(), ("--std=c++17", "--fmad=false"))

        def get_function(self, name):
            def launch(grid, block, arguments):
                assert block == (256,)
                arrays = [argument.array if isinstance(argument, Array) else argument for argument in arguments]
                ShimDriver(library).launch(name, grid, arrays)

            return launch

    streams = []
    cupy.empty = lambda shape, kind: Array(np.full(shape, 77, kind))
    cupy.RawModule = RawModule
    cupy.get_default_memory_pool = lambda: SimpleNamespace(free_bytes=lambda: 5)
    cupy.cuda.Device = lambda: SimpleNamespace(synchronize=lambda: None)
    cupy.cuda.Stream = Stream
    cupy.cuda.alloc_pinned_memory = bytearray
    return cupy


def test_the_driver_of_cupy(library, monkeypatch, caplog):
    cupy = numbers_as_cupy(library)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    driver = CupyDriver()
    assert (driver.name, driver.free()) == ("NVIDIA T1", (1 << 30) + 5)
    for seeds in (None, 1024):
        ask = asked_of("olh", seeds)
        words = ask.oracle.codec.pack(reports(ask.oracle, 300))
        expected_text = add_up(ask, lambda words=words: [words]).text()
        with using("gpu"):
            assert add_up(ask, lambda words=words: [words]).text() == expected_text
    assert not caplog.records
    cupy.empty = raising(FullError("out"))
    for task in (lambda: driver.upload(np.zeros(3)), lambda: driver.zeros((3,), np.int64), lambda: driver.stage(64)):
        with pytest.raises(CardError, match=r"^The memory of NVIDIA T1 is full\.$"):
            task()
