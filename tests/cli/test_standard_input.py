"""FILE is -: standard input, read as any other file."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

TABLE = "customer;product\n1;tea\n1;milk\n2;tea\n"
COMMAND = [str(Path(sys.executable).with_name("discreet")), "mine", "-", "--top", "1", "--format", "json"]
COLUMNS = ["--person", "customer", "--item", "product"]


def test_a_table_is_piped_in() -> None:
    done = subprocess.run([*COMMAND, *COLUMNS, "--input-format", "csv"], input=TABLE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["patterns"][0]["items"] == ["tea"]


def test_what_it_is_must_be_said_and_come() -> None:
    done = subprocess.run([*COMMAND, *COLUMNS], input=TABLE, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        1,
        "discreet: Standard input has no suffix that tells its format: say it by --input-format, such as csv, json or "
        "fimi.\n",
    )
    leader, follower = pty.openpty()
    try:
        done = subprocess.run([*COMMAND, "--input-format", "fimi"], stdin=follower, capture_output=True, text=True)
    finally:
        os.close(leader)
        os.close(follower)
    assert (done.returncode, done.stderr) == (
        1,
        "discreet: FILE is -, standard input, but nothing is piped into it: give a file, or "
        "`cat sales.csv | discreet …`.\n",
    )


def test_messages_and_the_log_name_it() -> None:
    done = subprocess.run([*COMMAND, "--input-format", "csv"], input=TABLE, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("discreet: Standard input looks like a table: ")
    done = subprocess.run(
        [COMMAND[0], "--verbose", *COMMAND[1:], "--input-format", "fimi"],
        input="tea tea milk\n",
        capture_output=True,
        text=True,
    )
    assert done.stderr == "discreet: Standard input: merged 1 repeat of an item in a basket.\n"
