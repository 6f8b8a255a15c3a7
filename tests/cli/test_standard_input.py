"""FILE is -: standard input, read as any other file."""

from __future__ import annotations

import json
import os
import pty

from running import run, started

TABLE = "customer;product\n1;tea\n1;milk\n2;tea\n"
COMMAND = ["mine", "-", "--top", "1", "--format", "json"]
COLUMNS = ["--person", "customer", "--item", "product"]


def test_a_table_is_piped_in() -> None:
    done = started(*COMMAND, *COLUMNS, "--input-format", "csv", input=TABLE)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["patterns"][0]["items"] == ["tea"]


def test_what_it_is_must_be_said_and_come() -> None:
    done = run(*COMMAND, *COLUMNS, given=TABLE)
    assert (done.returncode, done.stderr) == (
        1,
        "discreet: Standard input has no suffix that tells its format: say it by --input-format, such as csv, json or "
        "fimi.\n",
    )
    leader, follower = pty.openpty()
    try:
        done = started(*COMMAND, "--input-format", "fimi", stdin=follower)
    finally:
        os.close(leader)
        os.close(follower)
    assert (done.returncode, done.stderr) == (
        1,
        "discreet: FILE is -, standard input, but nothing is piped into it: give a file, or "
        "`cat sales.csv | discreet …`.\n",
    )


def test_messages_and_the_log_name_it() -> None:
    done = run(*COMMAND, "--input-format", "csv", given=TABLE)
    assert done.returncode == 1
    assert done.stderr.startswith("discreet: Standard input looks like a table: ")
    done = run("--verbose", *COMMAND, "--input-format", "fimi", given="tea tea milk\n")
    assert done.stderr == "discreet: Standard input: merged 1 repeat of an item in a basket.\n"
