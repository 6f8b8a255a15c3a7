"""The TypeScript client: its own tests, and 10,000 random questions that it and the Python device answer alike."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from collections import Counter
from random import Random
from typing import Any

import pytest

from clients import asking, node
from discreet.local.device import client

PAGE = (node.FOLDER.parents[1] / "docs" / "clients.md").read_text()
BLOCKS = re.findall(r"^```js\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
PACKAGE = json.loads((node.FOLDER / "package.json").read_text())
LOCK = (node.FOLDER / "package-lock.json").read_text()


class ExhaustedError(Exception):
    pass


def answer(
    question: bytes, basket: list[int], given_pairs: list[list[int]], after: list[list[int]], stream: bytes
) -> Any:
    """Return the answer of the Python device in the form of the TypeScript device."""
    remaining_bytes = stream

    def take(count: int) -> bytes:
        nonlocal remaining_bytes
        if count > len(remaining_bytes):
            raise ExhaustedError
        chunk, remaining_bytes = remaining_bytes[:count], remaining_bytes[count:]
        return chunk

    pairs = {
        name: [(antecedent, consequent) for antecedent, consequent in entries]
        for name, entries in (("given", given_pairs), ("after", after))
    }
    try:
        report = client(question, basket, max_epsilon=64, max_delta="0.01", **pairs, take=take)
    except ValueError as error:
        return {"refused": str(error)}
    except ExhaustedError:
        return {"exhausted": True}
    return {"report": base64.b64encode(report).decode(), "left": len(remaining_bytes)}


@pytest.mark.parametrize(
    "question_count", [1_000, pytest.param(10_000, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])]
)
def test_both_devices_do_the_same(question_count):
    """Refused by both or by none; if answered, equal bytes of the report, from an equal number of random bytes."""
    node.require_client()
    chance, outcomes = Random(question_count), Counter[str]()
    with node.speaking("answers.mjs") as ask:
        for number in range(question_count):
            question, (basket, given_pairs, after) = asking.draw_question(chance), asking.draw_holdings(chance)
            stream = asking.stream(chance)
            python_answer = answer(question, basket, given_pairs, after, stream)
            typescript_answer = ask(
                {
                    "question": base64.b64encode(question).decode(), "random": base64.b64encode(stream).decode(),
                    "basket": basket, "given": given_pairs, "after": after, "max_epsilon": 64, "max_delta": "0.01",
                }
            )  # fmt: skip
            (outcome, *_) = python_answer
            outcomes[outcome] += 1
            context = (
                f"{number}: {question!r:.1000}, {basket}, {given_pairs}, {after}: {python_answer}, {typescript_answer}"
            )
            if outcome == "refused":
                assert "refused" in typescript_answer, context
            else:
                assert python_answer == typescript_answer, context
    print(dict(outcomes))
    assert outcomes["report"] > question_count / 3
    assert outcomes["refused"] > question_count / 10


def test_its_own_tests_pass():
    """Takes five seconds: questions at every limit."""
    node.require_client()
    completed = subprocess.run(["npm", "test"], cwd=node.FOLDER, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stdout[-4000:]


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_code_of_the_page_runs(number, tmp_path):
    """As in an app that has it installed, and without a network."""
    node.require_client()
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "discreet-client").symlink_to(node.FOLDER)
    offline = "data:text/javascript,globalThis.fetch = () => Promise.reject(new Error('no network'))"
    completed = subprocess.run(
        ["node", "--import", offline, "--input-type=module", "-"],
        input=BLOCKS[number], cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "HOME": str(tmp_path)},
    )  # fmt: skip
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout


def test_it_needs_nothing_to_run():
    assert "dependencies" not in PACKAGE
    assert "peerDependencies" not in PACKAGE


def test_the_lock_has_hashes_and_no_places():
    packages = json.loads(LOCK)["packages"]
    assert all("integrity" in package for name, package in packages.items() if name)
    assert not re.search(r"https?:|resolved", LOCK)


@pytest.mark.parametrize("node_exists", [True, False])
def test_why_it_is_skipped(tmp_path, monkeypatch, node_exists):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "index.ts").touch()
    monkeypatch.setattr(node.shutil, "which", lambda name: name if node_exists else None)
    assert node.missing(tmp_path) == (
        "the TypeScript client is not built: type make clients"
        if node_exists
        else "Node is not on this machine: install Node 20 or newer, then type make clients"
    )
    monkeypatch.setattr(node, "missing", lambda: "it is not here")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="it is not here"):
        node.require_client()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="it is not here"):
        node.require_client()
