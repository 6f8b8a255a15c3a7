"""`discreet study` and `discreet serve` as they are typed, here and against a service elsewhere."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.collector import collector_in
from running import DISCREET, plain, run

STUDY = """\
name = "small"
title = "A small study"
asks = "Which of these do you hold?"
protocol = "svim"
top = 2
epsilon = "4"
items = ["a", "b", "c", "d"]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def study_output(*arguments, cwd, **options):
    completed = run(*arguments, cwd=cwd, **options)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout


def refused(*arguments, cwd, **options):
    completed = run(*arguments, cwd=cwd, **options)
    assert completed.returncode == 1
    assert completed.stdout == ""
    return completed.stderr


def test_a_new_study_can_be_checked_and_does_not_replace_one(tmp_path):
    assert "discreet study check mine.toml" in study_output("study", "new", "mine.toml", cwd=tmp_path)
    assert study_output("study", "check", "mine.toml", cwd=tmp_path) == (
        "mine.toml can be opened: What goes together at breakfast\n"
        "  adept finds the top 20 over 12 items, epsilon 1\n"
        "  first round: how many items, grr, 3 bits per report\n"
        "  a round closes at its share of 20,000 people; reports are deleted at its release\n"
        "  with fewer reports than 67 the first round closes only if you insist\n"
        "  who may take part: whoever holds a token\n"
    )
    assert refused("study", "new", "mine.toml", cwd=tmp_path) == (
        "discreet: mine.toml is there already: give another name.\n"
    )


def test_what_is_off_is_told_with_its_line(folder):
    (folder / "study.toml").write_text(STUDY.replace('epsilon = "4"', "epsilon = 0.5"))
    for command in (["check", "study.toml"], ["open", "study.toml"], ["plan", "study.toml"]):
        assert refused("study", *command, cwd=folder) == (
            'discreet: study.toml, line 6: epsilon is a number from 0.001 to 20 such as "1" or "0.5", in quotes; '
            "0.5 was given.\n"
        )
    assert not (folder / "studies").exists()


def test_a_study_from_open_to_scrubbed_in_a_directory(folder):
    messages = study_output("study", "open", "study.toml", "--at", "here", cwd=folder)
    assert messages.startswith("The study small is open. Its id is ")
    assert "discreet study token --at here --study small --many 100" in messages
    assert study_output("study", "status", "--at", "here", cwd=folder).split() == [
        "small",
        "open",
        "A",
        "small",
        "study",
    ]
    tokens = study_output("study", "token", "--at", "here", "--study", "small", "--many", 3, cwd=folder).split()
    assert [len(token) for token in tokens] == [32, 32, 32]
    study_output("study", "token", "--at", "here", "--study", "small", "-o", "tokens.txt", cwd=folder)
    assert len((folder / "tokens.txt").read_text().split()) == 1
    assert (folder / "tokens.txt").stat().st_mode & 0o077 == 0
    assert "The study has no result yet" in refused("study", "results", "small", "--at", "here", cwd=folder)
    while "Closed" in study_output("study", "close", "small", "--at", "here", "--yes", cwd=folder):
        pass
    assert study_output("study", "close", "small", "--at", "here", cwd=folder) == "No round of small is open.\n"
    status = json.loads(study_output("study", "status", "small", "--at", "here", "--format", "json", cwd=folder))
    assert status["state"] == "released"
    assert status["tokens"] == {"made": 4, "spent": 0}
    assert "  released; 0 reports; svim, epsilon 4\n" in study_output(
        "study", "status", "small", "--at", "here", cwd=folder
    )
    study_output("study", "results", "small", "--at", "here", "-o", "found.json", cwd=folder)
    assert json.loads((folder / "found.json").read_text())["guarantee"]["epsilon"] == "4"
    export = json.loads(study_output("study", "export", "small", "--at", "here", cwd=folder))
    assert export["result"] is not None
    assert "result_with_liars" not in export
    with_liars = ["--at", "here", "--assume-malicious", "1%"]
    assert "up to 1% of the reports of each round" in study_output("study", "results", "small", *with_liars, cwd=folder)
    export = json.loads(study_output("study", "export", "small", *with_liars, cwd=folder))
    assert json.loads(export["result_with_liars"])["asked"]["assume_malicious"] == "1%"
    assert refused("study", "results", "small", "--assume-malicious", "1", cwd=folder) == (
        "discreet: --assume-malicious is a part of all, from 0% to below 100%, such as 1% or 0.01; '1' was given. "
        "For 1 % type --assume-malicious 1%.\n"
    )
    assert (
        study_output("study", "scrub", "small", "--at", "here", cwd=folder)
        == "Deleted the reports of 0 rounds of small.\n"
    )


def test_a_study_that_is_open_does_not_change(folder):
    study_output("study", "open", "study.toml", cwd=folder)
    study_output("study", "open", "study.toml", cwd=folder)
    (folder / "study.toml").write_text(STUDY.replace('"d"', '"e"'))
    assert refused("study", "open", "study.toml", cwd=folder) == (
        "discreet: There is a study 'small' with other items, settings or closing already, and a study that is open "
        "does not change: give this one another name.\n"
    )


def test_what_to_type_next_names_the_database_without_its_password(folder, postgresql):
    secret = postgresql.replace("tester@", "tester:secret@")
    messages = study_output("study", "open", "study.toml", "--store", secret, cwd=folder)
    assert "--at studies --store postgresql://… --study small --many 100" in messages
    assert "secret" not in messages


def test_mistakes(folder):
    assert "There is no directory nowhere: " in refused("study", "status", "--at", "nowhere", cwd=folder)
    (folder / "empty").mkdir()
    for command in (["status"], ["token", "--scope", "watch"]):
        assert refused("study", *command, "--at", "empty", cwd=folder) == (
            "discreet: empty is not the directory of a service: it has no collector.sqlite. `discreet study open` and "
            "`discreet serve` make one. Of a service on PostgreSQL, give --store too.\n"
        )
    assert list((folder / "empty").iterdir()) == []
    study_output("study", "open", "study.toml", cwd=folder)
    assert refused("study", "close", "large", cwd=folder) == "discreet: There is no study of this name.\n"
    assert refused("study", "token", cwd=folder) == (
        "discreet: Say whom it is for: --study NAME for participants, or --scope for an operator. Or --list those of "
        "operators, or --revoke one.\n"
    )
    assert refused("study", "token", "--scope", "all", cwd=folder) == (
        "discreet: A token of an operator is for operate, enrol, watch, one or more of them; 'all' was given.\n"
    )
    assert "is none that is known" in refused("study", "status", "--store", "mysql://x", cwd=folder)
    assert "is not reached" in refused("study", "status", "--at", "http://127.0.0.1:1", cwd=folder)
    assert "Port " not in refused("study", "status", "--at", "http://127.0.0.1:1", "--store", "x", cwd=folder)


def test_the_plan_says_how_many_people_are_needed(folder):
    """Runs the protocol over imagined crowds; takes 3 seconds."""
    document = json.loads(
        study_output("study", "plan", "study.toml", "--people", 5000, "--sizes", 2, "--format", "json", cwd=folder)
    )
    assert document["needed"] > 10
    assert document["forecast"]["asked"]["people"] == 5000


def test_everything_works_against_a_service_elsewhere(folder):
    """A real service, begun and ended as a user would; takes 4 seconds."""
    process = subprocess.Popen(
        [DISCREET, "serve", "service", "--port", "0"], cwd=folder, env=plain(), text=True, stderr=subprocess.PIPE
    )
    try:
        line = process.stderr.readline()
        assert line.startswith("Serving service at http://127.0.0.1:")
        address = line.split()[3].rstrip(".")
        collector = collector_in(folder / "service")
        token = collector.add_operator(["operate", "enrol", "watch"])
        collector.store.close()
        service_options = ["--at", address, "--token", token]
        assert "is open" in study_output("study", "open", "study.toml", *service_options, cwd=folder)
        assert "small" in study_output("study", "status", "--at", address, cwd=folder)
        assert (
            len(study_output("study", "token", "--study", "small", "--many", 2, *service_options, cwd=folder).split())
            == 2
        )
        watcher = study_output("study", "token", "--scope", "watch", *service_options, cwd=folder).strip()
        study_output("study", "token", "--scope", "enrol", "--label", "the shop", *service_options, cwd=folder)
        (shop,) = [
            token_line
            for token_line in study_output("study", "token", "--list", *service_options, cwd=folder).splitlines()
            if "shop" in token_line
        ]
        assert shop.split() == [shop[:12], "enrol", "the", "shop"]
        revoke = ["study", "token", "--revoke", shop[:12], *service_options]
        assert study_output(*revoke, cwd=folder) == f"Revoked the operator's token {shop[:12]}.\n"
        assert refused(*revoke, cwd=folder) == (
            f"discreet: There is nothing at this place. No operator's token is listed by '{shop[:12]}'.\n"
        )
        environment = {**plain(), "DISCREET_AT": address, "DISCREET_TOKEN": watcher}
        assert "svim" in study_output("study", "status", "small", cwd=folder, env=environment)
        assert refused("study", "close", "small", cwd=folder, env=environment) == (
            "discreet: The operator's token is not for this. This needs a token for operate.\n"
        )
        assert refused("study", "close", "small", "--at", address, cwd=folder) == (
            "discreet: A bearer token of an operator is needed. Give one with --token, or in DISCREET_TOKEN.\n"
        )
        while "Closed" in study_output("study", "close", "small", *service_options, "--yes", cwd=folder):
            pass
        assert "local differential privacy" in study_output("study", "results", "small", "--at", address, cwd=folder)
        assert json.loads(study_output("study", "export", "small", *service_options, cwd=folder))["id"]
        assert "Deleted the reports of 0 rounds" in study_output(
            "study", "scrub", "small", *service_options, cwd=folder
        )
        (folder / "study.toml").write_text(STUDY.replace('"d"', '"e"'))
        assert "give this one another name" in refused("study", "open", "study.toml", *service_options, cwd=folder)
    finally:
        process.send_signal(signal.SIGTERM)
        messages = process.communicate(timeout=30)[1]
    # Being told to stop is how a service ends.
    assert (process.returncode, messages) == (0, "Stopped serving service. What was acknowledged is stored.\n")


@pytest.mark.skipif(not Path(DISCREET).exists(), reason="discreet is not installed")
def test_a_whole_study_in_one_command(folder):
    """The service and two client processes, of people with two baskets each; takes 8 seconds."""
    bought = "".join(f"{person},1,a\n{person},1,b\n{person},2,c\n" for person in range(300))
    (folder / "receipts.csv").write_text(f"who,bill,what\n{bought}")
    (folder / "study.toml").write_text(STUDY)
    process = subprocess.Popen(
        [sys.executable, "-m", "discreet", "study", "simulate", "study.toml", "receipts.csv",
         "--person", "who", "--basket", "bill", "--item", "what", "--people", "600", "--format", "json", "--stay"],
        cwd=folder, env=plain(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    progress = []
    for line in process.stderr:
        progress.append(line)
        if "The study small is at http://" in line:  # it stays up until it is told to stop
            process.send_signal(signal.SIGINT)
            break
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, ""), [*progress, errors]
    document = json.loads(output)
    assert document["people"] == 600
    assert document["protocol"] == "svim"
    assert document["simulated"] is True
    assert "reports" in "".join(progress)
    assert "Each answered for one of their baskets, drawn at random" in "".join(progress)


def test_people_that_close_no_round_are_told(folder):
    (folder / "study.toml").write_text(f'{STUDY}\n[rounds]\nclose = "hand"\npeople = 500\n')
    messages = study_output("study", "check", "study.toml", cwd=folder)
    assert "  people = 500 closes no round: it is what `discreet study plan` forecasts with\n" in messages
