"""FILE is -: standard input, read as any other file."""

from __future__ import annotations

import gzip
import json
import os
import pty
from pathlib import Path

from running import run, started

TABLE = "customer;product\n1;tea\n1;milk\n2;tea\n"
COMMAND = ["mine", "-", "--top", "1", "--format", "json"]
COLUMNS = ["--person", "customer", "--item", "product"]


def test_a_table_is_piped_in() -> None:
    completed = started(*COMMAND, *COLUMNS, "--input-format", "csv", input=TABLE)
    assert completed.returncode == 0, completed.stderr
    assert json.loads(completed.stdout)["patterns"][0]["items"] == ["tea"]


def test_what_it_is_must_be_said_and_come() -> None:
    completed = run(*COMMAND, *COLUMNS, input_text=TABLE)
    assert (completed.returncode, completed.stderr) == (
        1,
        "discreet: Standard input has no suffix that tells its format: say it by --input-format, as one of fimi, csv, "
        "tsv, baskets, json, parquet, feather, excel.\n",
    )
    leader, follower = pty.openpty()
    try:
        completed = started(*COMMAND, "--input-format", "fimi", stdin=follower)
    finally:
        os.close(leader)
        os.close(follower)
    assert (completed.returncode, completed.stderr) == (
        1,
        "discreet: The source is -, standard input, but nothing is piped into it: give a file, or "
        "`cat sales.csv | discreet …`.\n",
    )


def test_messages_and_the_log_name_it() -> None:
    completed = run(*COMMAND, "--input-format", "csv", input_text=TABLE)
    assert completed.returncode == 1
    assert completed.stderr.startswith("discreet: Standard input looks like a table: ")
    completed = run("--verbose", *COMMAND, "--input-format", "fimi", input_text="tea tea milk\n")
    assert completed.stderr == "discreet: Standard input: merged 1 repeat of an item in a basket.\n"


def test_packed_input_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(TABLE.encode()))
    with (tmp_path / "a.gz").open("rb") as packed_file:
        completed = started(*COMMAND, *COLUMNS, "--input-format", "csv", stdin=packed_file)
    assert json.loads(completed.stdout)["patterns"][0]["items"] == ["tea"], completed.stderr


def test_several_files_as_a_shell_makes_them_of_a_pattern(tmp_path: Path) -> None:
    """A pattern without quotes comes as many names; a folder and a pattern in quotes are one."""
    for place, rows in (("part-1.csv", TABLE), ("part-2.csv", "customer,product\n2,milk\n2,rice\n")):
        (tmp_path / "sales").mkdir(exist_ok=True)
        (tmp_path / "sales" / place).write_text(rows)
    mine_command = ["mine", "--top", "2", "--lengths", "2", "--format", "json", *COLUMNS]
    for paths in (["sales/part-1.csv", "sales/part-2.csv"], ["sales"], ["sales/*.csv"]):
        completed = run(*mine_command, *paths, cwd=tmp_path)
        assert completed.returncode == 0, completed.stderr
        assert json.loads(completed.stdout)["patterns"][0] == {"items": ["milk", "tea"], "count": 2, "support": 1.0}
    assert run(*mine_command, "sales/part-1.csv", "b.csv", cwd=tmp_path).stderr == "discreet: There is no file b.csv.\n"
    # Nothing that is read is written over, whichever way it was named.
    for paths in (["sales"], ["sales/*.csv"], ["sales/part-1.csv", "sales/part-2.csv"]):
        private = ["release", *paths, *COLUMNS, "--top", "1", "--epsilon", "1", "--items", "public"]
        completed = run(*private, "-o", "sales/part-2.csv", "--force", cwd=tmp_path)
        assert completed.stderr == (
            "discreet: sales/part-2.csv is read or pays for this release: write the result to another file.\n"
        )
