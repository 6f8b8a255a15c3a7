"""Every question, release and refusal on Spark, beside this machine's."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import discreet
from discreet import ClusterError, MisuseError
from discreet.spark import _session as session

from .comparing import SECRET

SUITE = Path(__file__).with_name("suite.py")
SOURCE = str(Path(discreet.__file__).parent.parent)
JAVA = pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java here, which Spark runs on")


@JAVA
@pytest.mark.timeout(900)
def test_spark_answers_as_this_machine_does() -> None:
    """Two minutes: one session in one process, with every check that such a session can run."""
    _agrees("local")


@JAVA
@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", ["cluster", "connect"])
def test_executors_and_spark_connect_answer_as_this_machine_does(kind: str) -> None:
    _agrees(kind, WHOLE_SUITE="1")


def _agrees(kind: str, *chosen_checks: str, **variables: str) -> None:
    environment = {"PYTHONPATH": SOURCE, "PYTHONWARNINGS": "ignore", **variables}
    completed = subprocess.run(
        [sys.executable, str(SUITE), kind, *chosen_checks],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        check=False,
    )
    lines = completed.stdout.strip().splitlines()
    assert lines, completed.stderr[-3000:]
    wrong = json.loads(lines[-1])
    assert not wrong, "\n".join(f"{name}\n{trace}" for name, trace in wrong.items())
    # Spark's own log, warnings included.
    assert "WARN" in completed.stderr
    assert SECRET not in completed.stderr


class TestStarting:
    """What is said where Spark cannot be started: before anything is read, and so before anything is paid for."""

    @pytest.fixture(autouse=True)
    def nothing_is_running(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("JAVA_HOME", raising=False)
        monkeypatch.delenv("SPARK_REMOTE", raising=False)

    def error_text(self, **options: str) -> str:
        with pytest.raises((ClusterError, MisuseError)) as caught:
            session.session_for(**options)
        return str(caught.value)

    def test_without_java(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert self.error_text(master="local") == (
            "Spark needs Java, and there is no java on the PATH: install Java 17 or newer (on Debian: apt-get install "
            "openjdk-17-jre-headless), or set JAVA_HOME."
        )
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        assert f"JAVA_HOME is {tmp_path}, where no bin/java is" in self.error_text(master="local")

    @pytest.mark.parametrize(("says", "major"), [('openjdk version "11.0.2"', 11), ('java version "1.8.0_42"', 8)])
    def test_with_an_old_java(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, says: str, major: int) -> None:
        java = tmp_path / "java"
        java.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
        java.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        assert f"is Java {major}: install Java 17 or newer" in self.error_text(master="local")

    def test_with_two_addresses_or_a_strange_one(self) -> None:
        assert self.error_text(master="local", remote="sc://here") == (
            "Give one of --master, for classic Spark, and --remote, for Spark Connect."
        )
        assert "as in sc://host:15002; 'here:15002' was given" in self.error_text(remote="here:15002")

    def test_where_nobody_answers(self) -> None:
        message = "cannot be reached: nothing answers at 127.0.0.1:1. Is the address right, and is it up?"
        assert self.error_text(remote="sc://127.0.0.1:1/;token=secret") == f"Spark Connect {message}"
        assert self.error_text(master="spark://127.0.0.1:1") == f"Spark's master {message}"

    def test_of_several_masters_one_that_answers_is_enough(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as second:
            port = second.getsockname()[1]
            session._check_master(f"spark://127.0.0.1:1,127.0.0.1:{port}")
        assert self.error_text(master=f"spark://127.0.0.1:1,127.0.0.1:{port}") == (
            f"Spark's master cannot be reached: nothing answers at 127.0.0.1:1 or 127.0.0.1:{port}. Are the addresses "
            "right, and is it up?"
        )

    @pytest.mark.parametrize("master", ["nonsense", "local[x]", "spark://", "mesos://here"])
    def test_on_a_master_that_is_none(self, master: str) -> None:
        assert self.error_text(master=master).startswith(
            "--master is where Spark runs: spark://host:7077, yarn, k8s://https://host:443 or local[4]; "
        )

    def test_on_a_master_that_is_a_server_of_spark_connect(self) -> None:
        message = self.error_text(master="sc://here:15002/;token=SECRET")
        assert message.endswith("'sc://here:15002/' was given. A server of Spark Connect is given by --remote.")

    @pytest.mark.parametrize("master", ["local", "local[*]", "local[2, 3]", "local-cluster[2,1,1024]", "k8s://h:1"])
    def test_on_masters_that_are_known(self, master: str) -> None:
        session._check_master(master)

    def test_on_yarn_without_its_settings(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
            monkeypatch.delenv(name, raising=False)
        assert self.error_text(master="yarn") == (
            "Spark finds no YARN: let HADOOP_CONF_DIR or YARN_CONF_DIR name the folder of its settings (yarn-site.xml)."
        )
        monkeypatch.setenv("YARN_CONF_DIR", "/settings")
        session._check_master("yarn")


@JAVA
def test_a_python_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Ten seconds: Spark starts as the command line starts it, with its log left out."""
    table = tmp_path / "sales.csv"
    table.write_text("who,what\n1,tea\n")
    command = ["mine", str(table), "--person", "who", "--item", "what", "--top", "1", "--engine", "spark"]
    environment = {"PYTHONPATH": SOURCE, "PYSPARK_PYTHON": "/nonexistent/python", "SPARK_LOCAL_IP": "127.0.0.1"}
    completed = subprocess.run(
        [sys.executable, "-m", "discreet", *command, "--master", "local[1]"],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        check=False,
    )
    assert completed.stderr == (
        "discreet: The executors have no program /nonexistent/python to run Python with: let PYSPARK_PYTHON name one "
        "that is there.\n"
    )


def test_a_log_that_was_left_out_is_not_sent_to(monkeypatch: pytest.MonkeyPatch) -> None:
    pyspark = pytest.importorskip("pyspark")
    settings = SimpleNamespace(get=lambda name: {"spark.log.level": "OFF"}.get(name))
    context = SimpleNamespace(getConf=lambda: settings)
    monkeypatch.setattr(pyspark.SparkContext, "_active_spark_context", context)
    with pytest.raises(ClusterError) as caught, session.clear_errors():
        raise RuntimeError("Job aborted")
    assert str(caught.value) == (
        "Spark gave up on a job (RuntimeError): its pages say why, and so does its log, which -v shows."
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("… No module named 'discreet' …", "The executors have no discreet: install discreet there"),
        (
            "RuntimeError: discreet-versions:numpy 1.0 (the driver has 2.0):",
            "other versions: numpy 1.0 (the driver has 2.0)",
        ),
        ("java.lang.OutOfMemoryError: Java heap space", "An executor ran out of memory"),
        ("[PYTHON_VERSION_MISMATCH] …", "The executors run another Python"),
        ("RuntimeError: discreet-failed:builtins.KeyError:", "A task failed in an executor (builtins.KeyError)"),
        ("All masters are unresponsive! Giving up.", "Spark's master cannot be reached"),
        ("status = StatusCode.UNAVAILABLE", "Spark Connect cannot be reached"),
        ("[JAVA_GATEWAY_EXITED] …", "Spark's Java process did not start"),
        (
            'java.io.IOException: Cannot run program "/no/python": error=2, No such file or directory',
            "The executors have no program /no/python to run Python with: let PYSPARK_PYTHON name one",
        ),
        ("Python worker exited unexpectedly (crashed)", "A Python process of an executor died"),
        ("Could not parse Master URL: 'x'", "Spark knows no such master"),
        ("[SOMETHING_NEW] secret row: tea", "Spark failed (SOMETHING_NEW)"),
        ("Job aborted due to stage failure: secret row: tea", "Spark gave up on a job"),
    ],
)
def test_what_spark_says_becomes_one_sentence_without_data(text: str, message: str) -> None:
    with pytest.raises(ClusterError) as caught, session.clear_errors():
        raise RuntimeError(text)
    assert message in str(caught.value)
    assert "tea" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_fails_in_an_executor_tells_its_kind_alone() -> None:
    def work(_: object) -> object:
        yield {"tea": 1}["secret"]

    with pytest.raises(RuntimeError) as caught:
        list(session.Cluster(None).guard(work)([]))  # type: ignore[arg-type]
    assert str(caught.value) == "discreet-failed:builtins.KeyError:"
    assert caught.value.__cause__ is None
