"""Starting Spark, asking it for results, and saying in one sentence what is wrong where it cannot give them."""

from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit

from .. import __version__
from ..baskets import public_name
from ..errors import ClusterError, DiscreetError, InputError, LimitError, MisuseError

# The oldest Java that Spark 4 runs on.
JAVA = 17
_INSTALL = "pip install 'discreet[spark]'"
_STEP = "discreet: "
_DESCRIPTION = "spark.job.description"
_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
_BLOCKS = "4"  # blocks that Python is handed at a time
# What Spark takes for a master.
_MASTER = re.compile(
    r"local(\[(\d+|\*)(, *\d+)?\])?|local-cluster\[\d+, *\d+, *\d+\]|yarn|k8s://.+|spark://[^,/]+(,[^,/]+)*"
)
_YARN = "HADOOP_CONF_DIR", "YARN_CONF_DIR"
_PATIENCE = 10.0  # seconds that an address has to answer

# Data frames that were kept in the cluster and that nothing knows of any more: the next step lets go of them.
FORGOTTEN: list[Any] = []

log = logging.getLogger("discreet")


@dataclass(eq=False)
class Cluster:
    """A Spark session, classic or Connect, and what was found out about it."""

    session: Any
    parallelism: int = 0
    progress: Callable[[float], object] | None = None

    @property
    def connect(self) -> bool:
        """Whether the session is one of Spark Connect."""
        return type(self.session).__module__.startswith("pyspark.sql.connect")

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Name a step in Spark's own pages, and turn what goes wrong in it into one sentence."""
        tag = re.sub(r"[^\w ]", " ", _STEP + what).replace(" ", "-")
        with clear_errors():
            before = None if self.connect else self.session.sparkContext.getLocalProperty(_DESCRIPTION)
            while FORGOTTEN:
                with suppress(Exception):  # its session may be gone, and it with that
                    FORGOTTEN.pop().unpersist()
            self.session.addTag(tag)
            if not self.connect:
                self.session.sparkContext.setJobDescription(_STEP + what)
            try:
                yield
            finally:
                self.session.removeTag(tag)
                if not self.connect:
                    self.session.sparkContext.setJobDescription(before)

    @contextmanager
    def few_at_a_time(self) -> Iterator[None]:
        """Have Spark hand over blocks a few at a time: all of a partition in one batch are copied over and over.

        Not for a step that gives many rows, as these would come back in such batches too.
        """
        before = self.session.conf.get(_BATCH)
        self.session.conf.set(_BATCH, _BLOCKS)
        try:
            yield
        finally:
            self.session.conf.set(_BATCH, before)

    def collected(self, frame: Any) -> Any:
        """Return a small data frame as an Arrow table, and tell how far its tasks are meanwhile."""
        if self.progress is None:
            return frame.toArrow()
        with Watch(self.session, self.progress, self.connect):
            return frame.toArrow()

    def guarded(self, work: Callable[[Iterable[Any]], Iterator[Any]]) -> Callable[[Iterable[Any]], Iterator[Any]]:
        """Return what executors are to run, in a form that tells nothing about the data where it fails."""
        return _Guarded(work, _versions())

    def check(self) -> None:
        """See that executors run this version of discreet, with kernels compiled, before anything is paid for."""
        if self.parallelism:
            return
        # Where nobody says how many partitions there shall be, Spark makes as many as it runs tasks at a time.
        with self.step("looking at the executors"):
            answers = self.collected(self.session.range(1 << 16).mapInArrow(self.guarded(_probe), "said string"))
        for said in filter(None, answers.column("said").to_pylist()):
            raise ClusterError(said)
        self.parallelism = len(answers)


class Watch:
    """Tells the share of the tasks that are done, of those that Spark has begun or planned to begin."""

    def __init__(self, session: Any, progress: Callable[[float], object], connect: bool) -> None:
        self._session, self._progress, self._connect = session, progress, connect
        self._over = Event()
        self._thread = Thread(target=self._look, daemon=True)

    def __enter__(self) -> None:
        if self._connect:
            self._session.registerProgressHandler(self._heard)
        else:
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._connect:
            self._session.removeProgressHandler(self._heard)
        else:
            self._thread.join()

    def _look(self) -> None:
        tracker = self._session.sparkContext.statusTracker()
        while not self._over.wait(0.5):
            stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            self._told(sum(one.numCompletedTasks for one in stages if one), sum(one.numTasks for one in stages if one))

    def _heard(self, stages: Any = None, **_: object) -> None:
        known = list(stages or ())
        self._told(sum(one.num_completed_tasks for one in known), sum(one.num_tasks for one in known))

    def _told(self, done: int, tasks: int) -> None:
        if tasks:
            self._progress(done / tasks)


def _versions() -> dict[str, str]:
    """Return what has to be the same on the driver and in the executors."""
    python = ".".join(map(str, sys.version_info[:2]))
    return {"Python": python, "discreet": __version__, "numpy": version("numpy")}


class TableChangedError(Exception):
    """A table has values that it had not when they were listed."""


class _Guarded:
    """Work that executors run. What it raises there may hold values of the data, so only its kind is told.

    No two are equal: Spark keeps what it has computed by its plan, and a file that was written anew has the plan of the
    one before it.
    """

    def __init__(self, work: Callable[[Iterable[Any]], Iterator[Any]], versions: dict[str, str]) -> None:
        self._work = work
        self._versions = versions
        self._own = token_hex(8)

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Run in an executor, one thread a task: the cores are Spark's to give."""
        os.environ.setdefault("DISCREET_THREADS", "1")
        here = _versions()
        others = [
            f"{name} {here[name]} (the driver has {there})"
            for name, there in self._versions.items()
            if here[name] != there
        ]
        if others:
            raise RuntimeError(f"discreet-versions:{', '.join(others)}:")
        try:
            yield from self._work(batches)
        except LimitError:
            raise RuntimeError("discreet-limit:") from None
        except TableChangedError:
            raise RuntimeError("discreet-changed:") from None
        except MemoryError:
            raise RuntimeError("discreet-memory:") from None
        except Exception as error:
            kind = type(error)
            raise RuntimeError(f"discreet-failed:{kind.__module__}.{kind.__name__}:") from None


def _probe(batches: Iterable[Any]) -> Iterator[Any]:
    """Say what an executor lacks."""
    import pyarrow as pa

    from ..kernels import enabled
    from ._engine import SparkEngine  # noqa: F401  # what all tasks run: what it lacks shows here

    for _ in batches:
        pass
    lacks = "" if enabled() else _NO_NUMBA
    yield pa.RecordBatch.from_pylist([{"said": lacks}], pa.schema([("said", pa.string())]))


_NO_NUMBA = (
    "The executors have no numba, or it is switched off (DISCREET_JIT=0): kernels would run a hundred times slower. "
    "Install discreet there with what it needs, in the Python that PYSPARK_PYTHON names."
)


def session_for(master: str | None = None, remote: str | None = None, quiet: bool = False) -> Any:
    """Return the session that is active, or start one: on `master`, or by Spark Connect at `remote`.

    A `quiet` one leaves the terminal to whoever started it: no bars of its own, and no log, unless ours tells what is
    done.
    """
    if master is not None and remote is not None:
        raise MisuseError("Give one of --master, for classic Spark, and --remote, for Spark Connect.")
    check_installed()
    from pyspark.sql import SparkSession

    if master is None and remote is None:
        active = SparkSession.getActiveSession()
        if active is not None:
            return active
    if remote is not None and not remote.startswith("sc://"):
        shown = public_name(remote) if "://" in remote else remote
        raise MisuseError(f"--remote is an address of Spark Connect, as in sc://host:15002; {shown!r} was given.")
    builder = SparkSession.builder.appName("discreet")
    if remote is not None:
        # Spark itself would try for ten minutes.
        _check_reachable([remote], 15002, "Spark Connect")
        with clear_errors():
            session = builder.remote(remote).getOrCreate()
            session.range(1).count()
            return session
    if os.environ.get("SPARK_REMOTE") is None or master is not None:
        _check_java()
        # Executors run the Python that runs this, unless they were told another: on a cluster of other machines say
        # PYSPARK_PYTHON.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master is not None:
        _check_master(master)
        builder = builder.master(master)
    quiet = quiet and not log.isEnabledFor(logging.INFO)  # --verbose shows Spark's log too
    if quiet:
        builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "OFF")
        os.environ.setdefault("SPARK_SUBMIT_OPTS", "-Dlog4j2.level=OFF")
    with clear_errors(), _hushed(quiet):
        return builder.getOrCreate()


def check_installed() -> None:
    """See that Spark's Python is here, without loading it."""
    if find_spec("pyspark") is None:
        raise MisuseError(f"Spark is not installed here: {_INSTALL}.")


@contextmanager
def _hushed(quiet: bool) -> Iterator[None]:
    """Keep what Java writes while it starts off the terminal: before it has read its settings, it writes regardless."""
    if not quiet:
        yield
        return
    kept = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _check_master(master: str) -> None:
    """See that Spark knows such a master, before it fails as if it had no Java, and that it answers."""
    if not _MASTER.fullmatch(master):
        raise MisuseError(
            "--master is where Spark runs: spark://host:7077, yarn, k8s://https://host:443 or local[4]; "
            f"{public_name(master) if '://' in master else master!r} was given."
            + (" A server of Spark Connect is given by --remote." if master.startswith("sc://") else "")
        )
    if master == "yarn" and not any(map(os.environ.get, _YARN)):
        raise ClusterError(
            f"Spark finds no YARN: let {' or '.join(_YARN)} name the folder of its settings (yarn-site.xml)."
        )
    if master.startswith("spark://"):
        first, *standby = master.split(",")
        _check_reachable([first, *(f"spark://{one}" for one in standby)], 7077, "Spark's master")


def _check_reachable(addresses: Sequence[str], port: int, what: str) -> None:
    """See that something listens at one of the addresses: of several masters, all but one stand by."""
    named = []
    for address in addresses:
        place = urlsplit(address.partition(";")[0])
        try:
            where = place.hostname or "", place.port or port
            with socket.create_connection(where, timeout=_PATIENCE):
                return
        except (OSError, ValueError):
            named.append(place.netloc.rpartition("@")[2])  # what stands after the host may be a token
    told = f"{what} cannot be reached: nothing answers at {' or '.join(named)}."
    raise ClusterError(
        f"{told} {'Is the address right' if len(named) == 1 else 'Are the addresses right'}, and is it up?"
    )


def _check_java() -> None:
    """See that there is a Java that Spark runs on."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")  # noqa: PTH118
    advice = f"install Java {JAVA} or newer (on Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME."
    if java is None or (home and not os.path.exists(java)):  # noqa: PTH110
        where = f"JAVA_HOME is {home}, where no bin/java is" if home else "there is no java on the PATH"
        raise ClusterError(f"Spark needs Java, and {where}: {advice}")
    try:
        asked = [java, "-version"]
        said = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False).stderr  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        raise ClusterError(f"Spark needs Java, and {java} does not run: {advice}") from None
    found = re.search(r'version "(\d+)(?:\.(\d+))?', said)
    major = int(found[2] or 0) if found and found[1] == "1" else int(found[1]) if found else JAVA
    if major < JAVA:
        raise ClusterError(f"Spark needs Java {JAVA} or newer, and {java} is Java {major}: {advice}")


@contextmanager
def _kept_off_the_log() -> Iterator[None]:
    """Let Spark's Python log no error of a query with all it says, values included, before it is turned into ours."""
    loggers = [logging.getLogger(f"{kind}QueryContextLogger") for kind in ("SQL", "DataFrame")]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn what Spark says, over pages, into one sentence of ours. No text of a row gets through."""
    try:
        with warnings.catch_warnings(), _kept_off_the_log():
            warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
            yield
    except DiscreetError:
        raise
    except ImportError as error:
        raise MisuseError(f"Spark Connect lacks {error.name or 'a package'} here: {_INSTALL}.") from None
    except Exception as error:
        raise _told(error) from None


def _told(error: Exception) -> Exception:
    text = f"{type(error).__name__}: {error}"
    # Not the line of ours that raises it, which Spark's text has too.
    if found := re.search(r"discreet-versions:([^:{]*):", text):
        return ClusterError(
            f"The executors run other versions: {found[1]}. Install the driver's there, in the Python that "
            "PYSPARK_PYTHON names."
        )
    if "discreet-changed:" in text:
        return InputError(
            "The table changed while it was read: it has items now that it had not when they were listed. Write it "
            "out, or cache it, and read that."
        )
    if "discreet-limit:" in text:
        return LimitError("A part of these baskets has more patterns than fit: ask for fewer, or for shorter ones.")
    if "discreet-memory:" in text or re.search(r"OutOfMemoryError|MemoryError|exited with code 137|Killed", text):
        return ClusterError(
            "An executor ran out of memory: give executors more (spark.executor.memory for Spark itself, "
            "spark.executor.memoryOverhead for Python), or more partitions (spark.sql.shuffle.partitions)."
        )
    if "Python worker exited unexpectedly" in text:
        return ClusterError(
            "A Python process of an executor died, as one does that the system ends for its memory: give executors "
            "more (spark.executor.memoryOverhead), or more partitions (spark.sql.shuffle.partitions)."
        )
    if found := re.search(r"discreet-failed:([\w.]*):", text):
        return ClusterError(f"A task failed in an executor ({found[1]}). Nothing that it counted was used.")
    if found := re.search(r"No module named '(\w+)", text):
        return ClusterError(
            f"The executors have no {found[1]}: install discreet there, in the Python that PYSPARK_PYTHON names (or "
            "ship an environment with --archives)."
        )
    if "PYTHON_VERSION_MISMATCH" in text:
        return ClusterError(
            "The executors run another Python than the driver: let PYSPARK_PYTHON name one of the same version there."
        )
    if re.search(r"JAVA_GATEWAY_EXITED|UnsupportedClassVersionError|Java gateway", text):
        return ClusterError(
            f"Spark's Java process did not start: it needs Java {JAVA} or newer, the memory it asks for, and settings "
            "that it knows. What it wrote says more; on the command line, -v shows that."
        )
    if found := re.search(r'Cannot run program "([^"]*)"', text):
        return ClusterError(
            f"The executors have no program {found[1]} to run Python with: let PYSPARK_PYTHON name one that is there."
        )
    if "Could not parse Master URL" in text:
        return ClusterError("Spark knows no such master: one is given as spark://host:7077, yarn or local[4].")
    if re.search(r"All masters are unresponsive|Failed to connect to master", text):
        return ClusterError(
            "Spark's master cannot be reached: is its address right, as in spark://host:7077, and is it up?"
        )
    if re.search(r"UNAVAILABLE|failed to connect to all addresses|DNS resolution failed|DEADLINE_EXCEEDED", text):
        return ClusterError(
            "Spark Connect cannot be reached: is the address right, as in sc://host:15002, and is it up?"
        )
    if found := re.search(
        r"ClassNotFoundException: Class ([\w.$]+)|UnsupportedFileSystemException: [^\"]*?\"(\w+)\"", text
    ):
        return ClusterError(f"Spark lacks what reads such addresses ({found[1] or found[2]}): see spark.jars.packages.")
    if "[COLUMN_ALREADY_EXISTS]" in text:
        return InputError(
            "Spark reads no columns whose names differ only in case: rename one, or set spark.sql.caseSensitive=true."
        )
    if found := re.search(r"\[PATH_NOT_FOUND\][^:]*: ?(\S+)", text):
        return InputError(f"Spark finds no file at {found[1].rstrip('.')}.")
    kind = found[1] if (found := re.match(r"\w+: \[([A-Z_]{4,})[\].]", text)) else type(error).__name__
    # Names of classes and of conditions are not data; what stands behind them may be.
    causes = dict.fromkeys(re.findall(r"\b((?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error))\b", text))
    told_of = ", ".join([kind, *list(causes)[:3]])
    if re.search(r"SparkContext was shut down|Job aborted|Stage cancelled|ExecutorLostFailure|has been stopped", text):
        return ClusterError(f"Spark gave up on a job ({told_of}): {_what_says_why()}.")
    return ClusterError(f"Spark failed ({told_of}): {_what_says_why()}.")


def _what_says_why() -> str:
    """Return where Spark says more: its log, unless it was left out for the sake of the terminal."""
    with suppress(Exception):  # Spark may be gone altogether
        context = sys.modules["pyspark"].SparkContext._active_spark_context
        if context is not None and context.getConf().get("spark.log.level") == "OFF":
            return "its pages say why, and so does its log, which -v shows"
    return "its log and its pages say why"
