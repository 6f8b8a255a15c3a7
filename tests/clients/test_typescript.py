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


def answer(asked: bytes, basket: list[int], given: list[list[int]], after: list[list[int]], stream: bytes) -> Any:
    """Return what the Python device says, in the form in which the other one says it."""
    left = stream

    def take(count: int) -> bytes:
        nonlocal left
        if count > len(left):
            raise ExhaustedError
        taken, left = left[:count], left[count:]
        return taken

    pairs = {name: [(one, other) for one, other in some] for name, some in (("given", given), ("after", after))}
    try:
        report = client(asked, basket, max_epsilon=64, max_delta="0.01", **pairs, take=take)
    except ValueError as error:
        return {"refused": str(error)}
    except ExhaustedError:
        return {"exhausted": True}
    return {"report": base64.b64encode(report).decode(), "left": len(left)}


@pytest.mark.parametrize("many", [1_000, pytest.param(10_000, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])])
def test_both_devices_do_the_same(many):
    """Refused by both or by none; and where not, the same bytes of the report, from as many random bytes."""
    node.needed()
    chance, seen = Random(many), Counter[str]()
    with node.speaking("answers.mjs") as ask:
        for number in range(many):
            asked, (basket, given, after) = asking.asked(chance), asking.held(chance)
            stream = asking.stream(chance)
            here = answer(asked, basket, given, after, stream)
            there = ask(
                {
                    "question": base64.b64encode(asked).decode(), "random": base64.b64encode(stream).decode(),
                    "basket": basket, "given": given, "after": after, "max_epsilon": 64, "max_delta": "0.01",
                }
            )  # fmt: skip
            (outcome, *_) = here
            seen[outcome] += 1
            what = f"{number}: {asked!r:.1000}, {basket}, {given}, {after}: {here}, {there}"
            if outcome == "refused":
                assert "refused" in there, what
            else:
                assert here == there, what
    print(dict(seen))
    assert seen["report"] > many / 3
    assert seen["refused"] > many / 10


def test_its_own_tests_pass():
    """Takes five seconds: questions at every limit."""
    node.needed()
    done = subprocess.run(["npm", "test"], cwd=node.FOLDER, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_code_of_the_page_runs(number, tmp_path):
    """As in an app that has it installed, and without a network."""
    node.needed()
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "discreet-client").symlink_to(node.FOLDER)
    offline = "data:text/javascript,globalThis.fetch = () => Promise.reject(new Error('no network'))"
    done = subprocess.run(
        ["node", "--import", offline, "--input-type=module", "-"],
        input=BLOCKS[number], cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_it_needs_nothing_to_run():
    assert "dependencies" not in PACKAGE
    assert "peerDependencies" not in PACKAGE


def test_the_lock_has_hashes_and_no_places():
    packages = json.loads(LOCK)["packages"]
    assert all("integrity" in one for name, one in packages.items() if name)
    assert not re.search(r"https?:|resolved", LOCK)


@pytest.mark.parametrize("there", [True, False])
def test_why_it_is_skipped(tmp_path, monkeypatch, there):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "index.ts").touch()
    monkeypatch.setattr(node.shutil, "which", lambda name: name if there else None)
    assert node.missing(tmp_path) == (
        "the TypeScript client is not built: type make clients"
        if there
        else "Node is not on this machine: install Node 20 or newer, then type make clients"
    )
    monkeypatch.setattr(node, "missing", lambda: "it is not here")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="it is not here"):
        node.needed()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="it is not here"):
        node.needed()
