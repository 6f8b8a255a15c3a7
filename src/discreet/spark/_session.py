"""Spark sessions: start one, collect results, and turn each of its errors into one sentence."""

from __future__ import annotations

import logging
import os
import pickle
import re
import shutil
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex
from threading import Event, Thread
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from .. import __version__
from ..baskets import public_name
from ..errors import ClusterError, DiscreetError, InputError, LimitError, MisuseError
from ..heavy import pa

# The oldest Java that runs Spark 4 (Spark's documentation, "Downloading").
MIN_JAVA = 17
_INSTALL = "pip install 'discreet[spark]'"
_STEP_PREFIX = "discreet: "
_DESCRIPTION_PROPERTY = "spark.job.description"
_BATCH_SETTING = "spark.sql.execution.arrow.maxRecordsPerBatch"
_BLOCKS_PER_BATCH = "4"  # a batch of Arrow then has about 16 MiB; larger batches are copied repeatedly
# The masters that Spark accepts (its documentation, "Master URLs").
_MASTER = re.compile(
    r"local(\[(\d+|\*)(, *\d+)?\])?|local-cluster\[\d+, *\d+, *\d+\]|yarn|k8s://.+|spark://[^,/]+(,[^,/]+)*"
)
_YARN_VARIABLES = "HADOOP_CONF_DIR", "YARN_CONF_DIR"
_CONNECT_SECONDS = 10.0  # Spark itself would try for ten minutes; a slow network answers within a second or two

BatchWork: TypeAlias = Callable[[Iterable[Any]], Iterator[Any]]

# Persisted data frames without a Python object: the next step releases them.
UNREFERENCED_FRAMES: list[Any] = []

log = logging.getLogger("discreet")


@dataclass(eq=False)
class Cluster:
    """A Spark session, classic or Connect, and the number of tasks that it runs at a time (0 if unknown)."""

    session: Any
    parallelism: int = 0
    progress: Callable[[float], object] | None = None

    @property
    def is_connect(self) -> bool:
        """Whether the session is one of Spark Connect."""
        return type(self.session).__module__.startswith("pyspark.sql.connect")

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Show the name of a step on Spark's pages, and turn an error within the step into one sentence."""
        tag = re.sub(r"[^\w ]", " ", _STEP_PREFIX + name).replace(" ", "-")
        with clear_errors():
            # Spark Connect has no job descriptions; a tag is all that it shows.
            context = None if self.is_connect else self.session.sparkContext
            description_before = None if context is None else context.getLocalProperty(_DESCRIPTION_PROPERTY)
            while UNREFERENCED_FRAMES:
                with suppress(Exception):  # its session may be stopped, and the frame with it
                    UNREFERENCED_FRAMES.pop().unpersist()
            self.session.addTag(tag)
            if context is not None:
                context.setJobDescription(_STEP_PREFIX + name)
            try:
                yield
            finally:
                self.session.removeTag(tag)
                if context is not None:
                    context.setJobDescription(description_before)

    @contextmanager
    def small_batches(self) -> Iterator[None]:
        """Let Spark pass a few blocks at a time: a whole partition in one batch is copied repeatedly.

        Not for a step with many result rows, which would come back in equally small batches.
        """
        before = self.session.conf.get(_BATCH_SETTING)
        self.session.conf.set(_BATCH_SETTING, _BLOCKS_PER_BATCH)
        try:
            yield
        finally:
            self.session.conf.set(_BATCH_SETTING, before)

    def collect(self, frame: Any) -> Any:
        """Return a small data frame as an Arrow table, and report the progress of its tasks."""
        if self.progress is None:
            return frame.toArrow()
        with _watch_tasks(self.session, self.progress, self.is_connect):
            return frame.toArrow()

    def guard(self, work: BatchWork) -> BatchWork:
        """Return work for executors with errors that reveal nothing about the data."""
        return _GuardedWork(work, _list_versions())

    def check(self) -> None:
        """Check that executors run this version of discreet, with compiled kernels, before any charge."""
        if self.parallelism:
            return
        # Without an explicit number of partitions, Spark makes one for each task that it runs at a time.
        with self.step("looking at the executors"):
            flaws = self.collect(self.session.range(1 << 16).mapInArrow(self.guard(_probe_executor), "flaw string"))
        for flaw in filter(None, flaws.column("flaw").to_pylist()):
            raise ClusterError(flaw)
        self.parallelism = len(flaws)


@contextmanager
def _watch_tasks(session: Any, progress: Callable[[float], object], is_connect: bool) -> Iterator[None]:
    """Report the finished share of the tasks that Spark has begun or planned, until the context ends."""

    def report(finished_tasks: int, tasks: int) -> None:
        if tasks:
            progress(finished_tasks / tasks)

    def handle_progress(stages: Any = None, **_: object) -> None:
        stages = list(stages or ())
        report(sum(stage.num_completed_tasks for stage in stages), sum(stage.num_tasks for stage in stages))

    def poll_stages() -> None:
        tracker = session.sparkContext.statusTracker()
        while not ended.wait(0.5):
            # A stage may end between the two calls; its information is then None.
            stages = [stage for stage in map(tracker.getStageInfo, tracker.getActiveStageIds()) if stage]
            report(sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages))

    ended = Event()
    thread = Thread(target=poll_stages, daemon=True)
    if is_connect:
        session.registerProgressHandler(handle_progress)
    else:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        if is_connect:
            session.removeProgressHandler(handle_progress)
        else:
            thread.join()


def _list_versions() -> dict[str, str]:
    """Return the versions that the driver and the executors must have in common."""
    python = ".".join(map(str, sys.version_info[:2]))
    return {"Python": python, "discreet": __version__, "numpy": version("numpy")}


class TableChangedError(Exception):
    """A table has values that were absent when its values were listed."""


class _GuardedWork:
    """Work for executors. Its exceptions may contain values of the data, so that only their class leaves the executor.

    No two objects are equal: Spark caches results by their plan, and a rewritten file has the plan of the file before.
    """

    def __init__(self, work: BatchWork, versions: dict[str, str]) -> None:
        self._work = work
        self._versions = versions
        self._unique_token = token_hex(8)

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Run in an executor, with one thread a task: Spark assigns the cores."""
        os.environ.setdefault("DISCREET_THREADS", "1")
        executor_versions = _list_versions()
        differences = [
            f"{name} {executor_versions[name]} (the driver has {driver_version})"
            for name, driver_version in self._versions.items()
            if executor_versions[name] != driver_version
        ]
        if differences:
            raise RuntimeError(f"discreet-versions:{', '.join(differences)}:")
        # `from None`: the traceback of the cause would travel to the driver and into Spark's log.
        try:
            yield from self._work(batches)
        except LimitError:
            raise RuntimeError("discreet-limit:") from None
        except TableChangedError:
            raise RuntimeError("discreet-changed:") from None
        except MemoryError:
            raise RuntimeError("discreet-memory:") from None
        except Exception as error:
            error_class = type(error)
            raise RuntimeError(f"discreet-failed:{error_class.__module__}.{error_class.__name__}:") from None


def _probe_executor(batches: Iterable[Any]) -> Iterator[Any]:
    """Run in an executor: yield a message for a package that it lacks, or an empty message."""
    from ..kernels import enabled
    from ._engine import SparkEngine  # noqa: F401  # all tasks import it: a missing package shows here

    for _ in batches:
        pass
    flaw = "" if enabled() else _NO_NUMBA
    yield pa.RecordBatch.from_pylist([{"flaw": flaw}], pa.schema([("flaw", pa.string())]))


_NO_NUMBA = (
    "The executors have no numba, or it is switched off (DISCREET_JIT=0): kernels would run a hundred times slower. "
    "Install discreet there with what it needs, in the Python that PYSPARK_PYTHON names."
)


def session_for(master: str | None = None, remote: str | None = None, quiet: bool = False) -> Any:
    """Return the active session, or start one: on `master`, or by Spark Connect at `remote`.

    With `quiet`, Spark writes no progress bars and no log to the terminal, unless the log level of discreet is INFO.
    """
    if master is not None and remote is not None:
        raise MisuseError("Give one of --master, for classic Spark, and --remote, for Spark Connect.")
    check_installed()
    from pyspark.sql import SparkSession

    if master is None and remote is None:
        active_session = SparkSession.getActiveSession()
        if active_session is not None:
            return active_session
    if remote is not None and not remote.startswith("sc://"):
        shown_address = public_name(remote) if "://" in remote else remote
        raise MisuseError(
            f"--remote is an address of Spark Connect, as in sc://host:15002; {shown_address!r} was given."
        )
    builder = SparkSession.builder.appName("discreet")
    if remote is not None:
        _check_reachable([remote], 15002, "Spark Connect")
        with clear_errors():
            session = builder.remote(remote).getOrCreate()
            # The session connects with its first question: an error belongs here, and not to a later step.
            session.range(1).count()
            return session
    if os.environ.get("SPARK_REMOTE") is None or master is not None:
        _check_java()
        # Executors on this machine run the same Python. A user of a cluster sets PYSPARK_PYTHON.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master is not None:
        _check_master(master)
        builder = builder.master(master)
    quiet = quiet and not log.isEnabledFor(logging.INFO)  # --verbose shows Spark's log too
    if quiet:
        builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "OFF")
        os.environ.setdefault("SPARK_SUBMIT_OPTS", "-Dlog4j2.level=OFF")
    with clear_errors(), _redirect_stderr() if quiet else nullcontext():
        return builder.getOrCreate()


def check_installed() -> None:
    """Check that the package pyspark is installed, without importing it."""
    if find_spec("pyspark") is None:
        raise MisuseError(f"Spark is not installed here: {_INSTALL}.")


@contextmanager
def _redirect_stderr() -> Iterator[None]:
    """Discard standard error while Java starts: until Java has read its settings, it writes to the terminal."""
    terminal = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as null_device:
            os.dup2(null_device.fileno(), 2)
        yield
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)


def _check_master(master: str) -> None:
    """Check the form of a master, and that it answers: Spark would fail with a message about Java."""
    if not _MASTER.fullmatch(master):
        raise MisuseError(
            "--master is where Spark runs: spark://host:7077, yarn, k8s://https://host:443 or local[4]; "
            f"{public_name(master) if '://' in master else master!r} was given."
            + (" A server of Spark Connect is given by --remote." if master.startswith("sc://") else "")
        )
    if master == "yarn" and not any(map(os.environ.get, _YARN_VARIABLES)):
        raise ClusterError(
            f"Spark finds no YARN: let {' or '.join(_YARN_VARIABLES)} name the folder of its settings (yarn-site.xml)."
        )
    if master.startswith("spark://"):
        # Standby masters follow the first, without a scheme.
        active, *standby = master.split(",")
        _check_reachable([active, *(f"spark://{address}" for address in standby)], 7077, "Spark's master")


def _check_reachable(addresses: Sequence[str], default_port: int, server: str) -> None:
    """Check that a server listens at one of the addresses: of several masters, one answers."""
    tried_hosts = []
    for address in addresses:
        url = urlsplit(address.partition(";")[0])
        try:
            with socket.create_connection((url.hostname or "", url.port or default_port), timeout=_CONNECT_SECONDS):
                return
        except (OSError, ValueError):
            tried_hosts.append(url.netloc.rpartition("@")[2])  # the text before @ or after ; may be a token
    question = "Is the address right" if len(tried_hosts) == 1 else "Are the addresses right"
    raise ClusterError(
        f"{server} cannot be reached: nothing answers at {' or '.join(tried_hosts)}. {question}, and is it up?"
    )


def _check_java() -> None:
    """Check that a Java is installed that Spark runs on."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")  # noqa: PTH118
    advice = f"install Java {MIN_JAVA} or newer (on Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME."
    if java is None or (home and not os.path.exists(java)):  # noqa: PTH110
        problem = f"JAVA_HOME is {home}, where no bin/java is" if home else "there is no java on the PATH"
        raise ClusterError(f"Spark needs Java, and {problem}: {advice}")
    try:
        command = [java, "-version"]
        output = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stderr  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        raise ClusterError(f"Spark needs Java, and {java} does not run: {advice}") from None
    # Versions before 9 are written as 1.8.
    match = re.search(r'version "(?:1\.)?(\d+)', output)
    major = int(match[1]) if match else MIN_JAVA
    if major < MIN_JAVA:
        raise ClusterError(f"Spark needs Java {MIN_JAVA} or newer, and {java} is Java {major}: {advice}")


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn an error of Spark, of several pages, into one sentence of ours. No text of a row remains."""
    # PySpark logs an error of a query with its whole text, values included.
    loggers = [logging.getLogger(f"{api}QueryContextLogger") for api in ("SQL", "DataFrame")]
    were_disabled = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
            yield
    except DiscreetError:
        raise
    except ImportError as error:
        raise MisuseError(f"Spark Connect lacks {error.name or 'a package'} here: {_INSTALL}.") from None
    except Exception as error:
        raise _explain_error(error) from None
    finally:
        for logger, disabled in zip(loggers, were_disabled, strict=True):
            logger.disabled = disabled


# The message for each pattern in the text of an error; {} is the first group that matched. The first matching pattern
# decides: patterns of our own work come before the general failures that Spark reports with them.
_MESSAGES = {
    # No brace in the group: Spark's text also has the line of our source that raises the error.
    r"discreet-versions:([^:{]*):": "The executors run other versions: {}. Install the driver's there, in the Python "
    "that PYSPARK_PYTHON names.",
    "discreet-changed:": "The table changed while it was read: it has items now that it had not when they were listed. "
    "Write it out, or cache it, and read that.",
    "discreet-limit:": "A part of these baskets has more patterns than fit: ask for fewer, or for shorter ones.",
    "discreet-memory:|OutOfMemoryError|MemoryError|exited with code 137|Killed": "An executor ran out of memory: give "
    "executors more (spark.executor.memory for Spark itself, spark.executor.memoryOverhead for Python), or more "
    "partitions (spark.sql.shuffle.partitions).",
    "Python worker exited unexpectedly": "A Python process of an executor died, as one does that the system ends for "
    "its memory: give executors more (spark.executor.memoryOverhead), or more partitions "
    "(spark.sql.shuffle.partitions).",
    r"discreet-failed:([\w.]*):": "A task failed in an executor ({}). Nothing that it counted was used.",
    r"No module named '(\w+)": "The executors have no {}: install discreet there, in the Python that PYSPARK_PYTHON "
    "names (or ship an environment with --archives).",
    "PYTHON_VERSION_MISMATCH": "The executors run another Python than the driver: let PYSPARK_PYTHON name one of the "
    "same version there.",
    "JAVA_GATEWAY_EXITED|UnsupportedClassVersionError|Java gateway": "Spark's Java process did not start: it needs "
    f"Java {MIN_JAVA} or newer, the memory it asks for, and settings that it knows. What it wrote says more; on the "
    "command line, -v shows that.",
    r'Cannot run program "([^"]*)"': "The executors have no program {} to run Python with: let PYSPARK_PYTHON name one "
    "that is there.",
    "Could not parse Master URL": "Spark knows no such master: one is given as spark://host:7077, yarn or local[4].",
    "All masters are unresponsive|Failed to connect to master": "Spark's master cannot be reached: is its address "
    "right, as in spark://host:7077, and is it up?",
    "UNAVAILABLE|failed to connect to all addresses|DNS resolution failed|DEADLINE_EXCEEDED": "Spark Connect cannot be "
    "reached: is the address right, as in sc://host:15002, and is it up?",
    r"ClassNotFoundException: Class ([\w.$]+)|UnsupportedFileSystemException: [^\"]*?\"(\w+)\"": "Spark lacks what "
    "reads such addresses ({}): see spark.jars.packages.",
    r"\[COLUMN_ALREADY_EXISTS\]": "Spark reads no columns whose names differ only in case: rename one, or set "
    "spark.sql.caseSensitive=true.",
    r"\[PATH_NOT_FOUND\][^:]*: ?(\S+?)\.*(?:\s|$)": "Spark finds no file at {}.",
}
_INPUT_PATTERN = r"discreet-changed|COLUMN_ALREADY_EXISTS|PATH_NOT_FOUND"  # the user's data, and not the cluster


def _explain_error(error: Exception) -> DiscreetError:
    """Return an error of ours for an error of Spark, without values of the data."""
    text = f"{type(error).__name__}: {error}"
    for pattern, message in _MESSAGES.items():
        if match := re.search(pattern, text):
            error_class: type[DiscreetError] = InputError if re.search(_INPUT_PATTERN, pattern) else ClusterError
            if pattern == "discreet-limit:":
                error_class = LimitError
            return error_class(message.format(next(filter(None, match.groups()), "")))
    condition = re.match(r"\w+: \[([A-Z_]{4,})[\].]", text)
    # Names of classes and of conditions are not data; the text behind them may be.
    causes = dict.fromkeys(re.findall(r"\b((?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error))\b", text))
    names = ", ".join([condition[1] if condition else type(error).__name__, *list(causes)[:3]])
    is_stopped = re.search(
        r"SparkContext was shut down|Job aborted|Stage cancelled|ExecutorLostFailure|has been stopped", text
    )
    return ClusterError(f"Spark {'gave up on a job' if is_stopped else 'failed'} ({names}): {_describe_log()}.")


def _describe_log() -> str:
    """Return the places where Spark says more: its pages, and its log unless it was switched off."""
    with suppress(Exception):  # the context may be gone
        context = sys.modules["pyspark"].SparkContext._active_spark_context
        if context is not None and context.getConf().get("spark.log.level") == "OFF":
            return "its pages say why, and so does its log, which -v shows"
    return "its log and its pages say why"


# The slot of a result, and the result.
Result: TypeAlias = tuple[int, Any]
Work: TypeAlias = Callable[[Iterable[Any]], Iterator[Result]]
Merge: TypeAlias = Callable[[Any, Any], Any]

# Up to this number of results are merged on the driver; more are merged in the cluster first, by at least as many
# tasks. Larger: more work on the driver; smaller: more shuffles for small data.
SMALL_SLOTS = 16
_MAX_MERGE_TASKS = 256  # each task has a fixed cost of tens of milliseconds
_RESULTS = "slot int, result binary"


class _LimitPassed:
    """A result over its limit: a task that raises would be run again, and would raise again."""

    def __reduce__(self) -> str:
        # Pickled by name, so that the merging task compares by identity.
        return "_LIMIT_PASSED"


_LIMIT_PASSED = _LimitPassed()


def merge_results(
    cluster: Cluster, frame: Any, partitions: int, work: Work, merge: Merge, step: str, *, pieces: int = 0
) -> dict[int, Any]:
    """Return the merged result of each slot, of `work` over the batches of each partition.

    Parameters
    ----------
    partitions
        The number of partitions with data.
    work
        Yields one result in a slot below `SMALL_SLOTS`, and up to `pieces` large results in slots of their own.
    merge
        Combines two results; any order and grouping gives an equal result.
    step
        The name of the step on Spark's pages: it must not depend on the data.
    """
    with cluster.step(step):
        results = frame.mapInArrow(cluster.guard(partial(_run_work, work=work)), _RESULTS)
        if partitions > SMALL_SLOTS or (pieces and partitions > 1):
            tasks = min(max(SMALL_SLOTS, pieces), _MAX_MERGE_TASKS)
            merging = cluster.guard(partial(_run_merge, merge=merge))
            results = results.repartition(tasks, "slot").mapInArrow(merging, _RESULTS)
        result_of_slot = _merge_slots([cluster.collect(results)], merge)
    if any(result is _LIMIT_PASSED for result in result_of_slot.values()):
        raise LimitError("A part of these baskets has more patterns than may be looked at.")
    return result_of_slot


def find_slot() -> int:
    """Return the slot of this task for a small result: few tasks share a slot, and the slots are few."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId() % SMALL_SLOTS


def _run_work(batches: Iterable[Any], work: Work) -> Iterator[Any]:
    """Run in an executor: yield the results of a partition."""
    try:
        for slot, value in work(batches):
            yield _encode_result(slot, value)
    except LimitError:
        yield _encode_result(0, _LIMIT_PASSED)


def _run_merge(batches: Iterable[Any], merge: Merge) -> Iterator[Any]:
    """Run in an executor: yield the merged result of each slot."""
    for slot, value in _merge_slots(batches, merge).items():
        yield _encode_result(slot, value)


def _merge_slots(tables: Iterable[Any], merge: Merge) -> dict[int, Any]:
    result_of_slot: dict[int, Any] = {}
    for table in tables:
        for slot, payload in zip(table.column("slot").to_pylist(), table.column("result"), strict=True):
            # The bytes were pickled by this package in an executor of the same cluster.
            value = pickle.loads(payload.as_buffer())  # noqa: S301
            if slot in result_of_slot:
                before = result_of_slot[slot]
                is_over = value is _LIMIT_PASSED or before is _LIMIT_PASSED
                value = _LIMIT_PASSED if is_over else merge(before, value)
            result_of_slot[slot] = value
    return result_of_slot


def _encode_result(slot: int, value: Any) -> Any:
    schema = pa.schema([("slot", pa.int32()), ("result", pa.binary())])
    return pa.RecordBatch.from_pylist([{"slot": slot, "result": pickle.dumps(value, protocol=5)}], schema)
