"""The chain of a ledger and its anchor: what was written cannot be changed unseen, nor an older copy be put back."""

from __future__ import annotations

import hashlib
import io
import json
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import discreet
from discreet import InputError, MisuseError
from discreet.privacy import Neighbours
from discreet.privacy.ledger import (
    Ledger,
    _anchor as anchoring,
    _entries as book,
    _ledger as module,
    _storage as storage,
    upgrade,
)
from discreet.privacy.ledger._chain import ChainEntry, find_broken_entry, next_entry

# Keeps the head in a file; refuses where there is a file `no` beside it.
KEEPER = """
import pathlib, sys
place = pathlib.Path(sys.argv[1])
with place.with_name("runs").open("a") as runs:
    runs.write(".")
given = sys.stdin.read()
if place.with_name("no").exists():
    sys.exit(3)
if given:
    place.write_text(given)
print(place.read_text() if place.exists() else "")
"""


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "budget.db"


@pytest.fixture
def anchor(tmp_path) -> Path:
    """Where the head is kept: another folder."""
    (tmp_path / "elsewhere").mkdir()
    return tmp_path / "elsewhere" / "head"


def spend(ledger: Ledger, epsilon="0.1", baskets=None):
    epsilon = Fraction(epsilon)
    return ledger.spend(
        epsilon=epsilon, delta=Fraction(0), rho=epsilon**2 / 2, discovery_delta=Fraction(0),
        neighbours=Neighbours.ADD_REMOVE, what="laplace", parameters={"top": 3, "item": "żur"}, who="me",
        baskets=baskets,
    )  # fmt: skip


def exported(ledger: Ledger) -> dict:
    stream = io.BytesIO()
    ledger.export(stream)
    return json.loads(stream.getvalue())


def changed_by(path: Path, *statements: str, chained: bool = False) -> None:
    """Edit a ledger as someone would who knows about the seal, and with `chained` about the chain too."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    if chained:
        entries: list[ChainEntry] = []
        for number, text in connection.execute("select number, text from entry order by number").fetchall():
            entries.append(next_entry(entries, json.loads(text)))
            connection.execute("update entry set head = ? where number = ?", (entries[-1].head, number))
    connection.execute("update seal set digest = ?", (storage._seal(connection, book.FORM),))
    connection.close()


class TestChain:
    @given(st.lists(st.text(), min_size=1, max_size=6), st.data())
    def test_no_change_goes_unseen(self, texts, data):
        entries: list[ChainEntry] = []
        for text in texts:
            entries.append(next_entry(entries, {"text": text}))
        assert find_broken_entry(entries) is None
        place = data.draw(st.integers(0, len(entries) - 1))
        other_entry = next_entry(entries[:place], {"text": data.draw(st.text())})
        changed = [*entries[:place], other_entry, *entries[place + 1 :]]
        # Entries after the one that was changed are as they were: the next gives it away, and the last its head.
        assert (changed == entries) == (find_broken_entry(changed) is None and changed[-1].head == entries[-1].head)
        order = data.draw(st.permutations(entries))
        assert (order == entries) == (find_broken_entry(order) is None)
        assert find_broken_entry(entries[:place]) is None  # what the anchor is for

    def test_every_entry_is_bound_to_those_before_it(self, path):
        ledger = Ledger.create(path, epsilon=1, name="wards")
        first_spend, second = spend(ledger), spend(ledger)
        ledger.record(first_spend, "ab" * 32)
        document = exported(ledger)
        head, heads = "", []
        for record in document["chain"]:
            head = hashlib.sha256(f"{head}\n{record['entry']}".encode()).hexdigest()
            heads.append(head)
        assert heads == [record["head"] for record in document["chain"]]
        assert heads[1:3] == [first_spend.head, second.head] == [record["head"] for record in document["spends"]]
        assert heads[-1] == ledger.state().head == ledger.head == Ledger.open(path).head == document["ledger"]["head"]
        entries = [json.loads(record["entry"]) for record in document["chain"]]
        assert [entry["kind"] for entry in entries] == ["ledger", "spend", "spend", "release"]
        assert set(entries[0]) == {
            "kind", "identity", "name", "created", "accounting", "neighbours", "epsilon", "delta", "most",
        }  # fmt: skip
        assert len(bytes.fromhex(entries[0]["identity"])) == 32
        assert entries[3] == {"kind": "release", "spend": 1, "digest": "ab" * 32}  # no time, which data may sway
        assert all(record["entry"].isascii() for record in document["chain"])
        spend_entries = [entry | {"parameters": entry["parameters"]} for entry in entries if entry["kind"] == "spend"]
        assert [record["epsilon"] for record in spend_entries] == [record["epsilon"] for record in document["spends"]]

    def test_the_program_in_the_documentation_finds_what_was_changed(self, path, tmp_path):
        page = (Path(__file__).parents[3] / "docs" / "ledger.md").read_text()
        (tmp_path / "check.py").write_text(page.partition("`check_chain.py`:\n\n```python\n")[2].partition("```")[0])
        ledger = Ledger.create(path, epsilon=1)
        spend_record = spend(ledger)
        spend(ledger)
        document = exported(ledger)
        text = json.dumps(document)

        def status(text, *heads):
            (tmp_path / "told.json").write_text(text)
            # -I: without discreet, and without anything else that is not Python's own.
            command = [sys.executable, "-I", str(tmp_path / "check.py"), str(tmp_path / "told.json"), *heads]
            return subprocess.run(command, capture_output=True).returncode

        assert status(text, spend_record.head, ledger.head) == 0
        assert status(text, "0" * 64) == 1
        assert status(text.replace('\\"1/10\\"', '\\"1/99\\"')) == 1  # in the chain
        assert status(text.replace(' "1/10"', ' "1/99"')) == 1  # in the list
        assert status(json.dumps(document | {"chain": document["chain"][:-1]})) == 1

    def test_nothing_private_enters_a_head(self, tmp_path, monkeypatch):
        monkeypatch.setattr(module, "_timestamp", lambda: "2026-01-01T00:00:00+00:00")
        monkeypatch.setattr(module, "_random_hex", lambda: "00" * 32)
        heads = []
        for name, (first_baskets, second_baskets) in {
            "a.db": ([{1}], [{1}]),
            "b.db": ([{1}, {2}], [{1}, {2}, {3}]),
        }.items():
            ledger = Ledger.create(tmp_path / name, epsilon=1)
            spend(ledger, baskets=discreet.read(first_baskets))
            spend(ledger, baskets=discreet.read(second_baskets))
            heads.append([spend_record.head for spend_record in ledger.spends()])
        assert [spend_record.changed for spend_record in ledger.spends()] == [False, True]
        assert heads[0] == heads[1]

    def test_recording_twice_adds_nothing(self, path):
        ledger = Ledger.create(path, epsilon=1)
        spend_record = spend(ledger)
        ledger.record(spend_record, "ab")
        head = ledger.head
        ledger.record(spend_record, "ab")
        assert ledger.head == head == ledger.state().head
        assert ledger.spends()[0].head == spend_record.head

    @pytest.mark.parametrize(
        ("place", "statements"),
        [
            (1, ["update entry set text = replace(text, '1/10', '1/99') where number = 1"]),
            (1, ["update entry set text = replace(text, 'żur', 'tea'), head = 'x' where number = 1"]),
            (0, ['update entry set text = replace(text, \'"epsilon":"1"\', \'"epsilon":"9"\') where number = 0']),
            (2, ["delete from entry where number = 2", "update entry set number = 2 where number = 3"]),
            (
                2,
                [
                    "update entry set number = 9 where number = 2",
                    "update entry set number = 2 where number = 3",
                    "update entry set number = 3 where number = 9",
                ],
            ),
        ],
        ids=["edited", "forged head", "raised budget", "deleted", "reordered"],
    )
    def test_what_was_changed_and_sealed_again_is_seen(self, path, place, statements):
        ledger = Ledger.create(path, epsilon=1)
        for _ in range(4):
            spend(ledger)
        changed_by(path, *statements)
        for use in (ledger.state, ledger.spends, lambda: Ledger.open(path), lambda: spend(ledger)):
            with pytest.raises(InputError) as raised:
                use()
            assert str(raised.value) == (
                f"{path} was changed by hand: its entry {place} does not follow from the ones before it. Nothing was "
                "spent. Put back a copy made before that, and spend from it again what was released since."
            )

    @pytest.mark.parametrize(
        "text", ['{"kind":"spend"}', '{"kind":"gift"}', "[]", "3", '{"kind":"release","spend":1}', "no JSON"]
    )
    def test_made_up_entries_that_mean_nothing(self, path, text):
        ledger = Ledger.create(path, epsilon=1)
        spend(ledger)
        head = hashlib.sha256(f"{ledger.head}\n{text}".encode()).hexdigest()
        changed_by(path, f"insert into entry values (2, '{text}', '{head}', null)")
        with pytest.raises(InputError, match="is damaged: its contents are not what was written"):
            ledger.state()


def older(path: Path, anchor: Path) -> str:
    return (
        f"{path} is older than its anchor {anchor}, or another ledger: its chain does not have the head that is kept "
        "there. Nothing was spent. Give the newest file of the ledger. If that is lost, say `discreet ledger anchor "
        f"{path} {anchor} --anew`, and then spend again what was released since this copy was made."
    )


class TestAnchor:
    @pytest.fixture
    def ledger(self, path, anchor):
        return Ledger.create(path, epsilon=1, anchor=anchor)

    def test_it_follows_the_ledger(self, ledger, path, anchor):
        def read_head():
            return anchor.read_text().strip()

        assert read_head() == ledger.state().head
        assert ledger.state().anchor == str(anchor)
        spend_record = spend(ledger)
        assert read_head() == spend_record.head
        Ledger.open(path).record(spend_record, "ab")
        assert read_head() == Ledger.open(path, anchor=anchor).state().head != spend_record.head
        assert json.loads(exported(ledger)["chain"][1]["entry"]) == {"kind": "anchor", "place": str(anchor)}

    def test_an_older_copy_is_refused(self, ledger, path, anchor, tmp_path):
        spend(ledger)
        shutil.copy(path, tmp_path / "copy")
        spend_record = spend(ledger)
        shutil.copy(tmp_path / "copy", path)
        before = path.read_bytes()
        for reopened in (ledger, Ledger(path), Ledger(path, anchor)):
            for use in (
                reopened.state,
                reopened.spends,
                lambda reopened=reopened: spend(reopened),
                lambda reopened=reopened: exported(reopened),
            ):
                with pytest.raises(InputError) as raised:
                    use()
                assert str(raised.value) == older(path, anchor)
        with pytest.raises(InputError, match="is older than its anchor"):
            discreet.release([{"tea"}] * 9, top=1, epsilon="0.1", items="public", ledger=path)
        assert path.read_bytes() == before
        assert anchor.read_text().strip() == spend_record.head

    def test_only_what_is_given_holds_against_a_ledger_made_up_from_scratch(self, ledger, path, anchor):
        spend(ledger)
        path.unlink()
        Ledger.create(path, epsilon=1)
        Ledger.open(path)  # which remembers nothing
        with pytest.raises(InputError) as raised:
            Ledger.open(path, anchor=anchor)
        assert str(raised.value) == older(path, anchor)

    def test_a_chain_that_was_computed_again_is_refused(self, ledger, path, anchor):
        spend(ledger)
        spend(ledger)
        changed_by(path, "update entry set text = replace(text, '1/10', '1/99')", chained=True)
        with pytest.raises(InputError, match="its chain does not have the head that is kept there"):
            ledger.state()
        anchor.unlink()
        with pytest.raises(InputError) as raised:
            ledger.state()
        assert str(raised.value) == (
            f"There is no head of {path} in the anchor {anchor}. Nothing was spent. If its disk is not mounted, mount "
            f"it; if it is lost, or was never begun, say `discreet ledger anchor {path} {anchor} --anew`."
        )

    def test_what_to_say_is_one_line_of_a_shell(self, tmp_path):
        folder = tmp_path / "our $books"
        folder.mkdir()
        head_path = folder / "the head"
        Ledger.create(folder / "a.db", epsilon=1, anchor=head_path)
        head_path.unlink()
        with pytest.raises(InputError) as raised:
            Ledger.open(folder / "a.db")
        command_text = str(raised.value).split("`")[1]
        assert shlex.split(command_text) == [
            "discreet",
            "ledger",
            "anchor",
            str(folder / "a.db"),
            str(head_path),
            "--anew",
        ]
        with pytest.raises(InputError) as raised:
            Ledger.open(folder / "none.db")
        command_text = str(raised.value).split("`")[1]
        assert shlex.split(command_text)[3:] == [str(folder / "none.db"), "--epsilon", "1"]

    def test_beginning_anew(self, ledger, path, anchor, tmp_path):
        shutil.copy(path, tmp_path / "copy")
        spend(ledger)
        shutil.copy(tmp_path / "copy", path)
        with pytest.raises(InputError, match="is older than its anchor"):
            Ledger(path).anchor(anchor)
        with pytest.raises(InputError, match="is older than its anchor"):
            Ledger(path).anchor(tmp_path / "second")  # moving is no way around it
        Ledger(path).anchor(anchor, anew=True)
        assert anchor.read_text().strip() == Ledger.open(path).state().head
        anchor.unlink()
        Ledger(path).anchor(tmp_path / "second", anew=True)
        assert Ledger.open(path).state().anchor == str(tmp_path / "second")
        assert spend(Ledger.open(path)).number == 1

    def test_a_ledger_that_had_none_gets_one(self, path, anchor):
        ledger = Ledger.create(path, epsilon=1)
        spend(ledger)
        with pytest.raises(InputError, match="There is no head of"):
            Ledger.open(path, anchor=anchor)
        ledger.anchor(anchor)
        ledger.anchor(anchor)
        spend(Ledger.open(path))
        assert anchor.read_text().strip() == ledger.state().head

    def test_whoever_dies_between_ledger_and_anchor_can_go_on(self, ledger, path, anchor):
        code = """
import os, signal, sys
from fractions import Fraction
from pathlib import Path
from discreet.privacy.ledger import _anchor as anchor
from discreet.privacy._budget import Neighbours
from discreet.privacy.ledger._ledger import Ledger
anchor.AnchorFile.keep = lambda *given: os.kill(os.getpid(), signal.SIGKILL)
Ledger.open(sys.argv[1]).spend(
    epsilon=Fraction(1, 10), delta=Fraction(0), rho=Fraction(1, 200), discovery_delta=Fraction(0), baskets=None,
    neighbours=Neighbours.ADD_REMOVE, what="laplace", parameters={}, who="")
"""
        before = anchor.read_text()
        assert subprocess.run([sys.executable, "-c", code, str(path)]).returncode == -signal.SIGKILL
        assert anchor.read_text() == before
        state = ledger.state()
        assert state.spent == Fraction(1, 10)
        assert state.head != before.strip()
        assert spend(ledger).number == 2
        assert anchor.read_text().strip() == ledger.state().head

    def test_whoever_races_leaves_the_last_head(self, ledger, path, anchor):
        code = """
import sys
from fractions import Fraction
from discreet.privacy.ledger import _storage as storage
from discreet.privacy._budget import Neighbours
from discreet.privacy.ledger._ledger import Ledger
storage.PATIENCE = 60.0
print("ready", flush=True)
sys.stdin.readline()
for _ in range(4):
    paid = Ledger.open(sys.argv[1]).spend(
        epsilon=Fraction(1, 100), delta=Fraction(0), rho=Fraction(1, 200), discovery_delta=Fraction(0), baskets=None,
        neighbours=Neighbours.ADD_REMOVE, what="laplace", parameters={}, who="")
    Ledger.open(sys.argv[1]).record(paid, f"digest of {paid.number}")
"""
        racers = [
            subprocess.Popen(
                [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            for _ in range(4)
        ]
        assert [racer.stdout.readline() for racer in racers] == ["ready\n"] * 4
        for racer in racers:
            racer.stdin.write("go\n")
            racer.stdin.flush()
        for racer in racers:
            racer.communicate(timeout=120)
            assert racer.returncode == 0
        state = ledger.state()
        assert (state.spends, state.unrecorded, state.spent) == (16, 0, Fraction(16, 100))
        assert anchor.read_text().strip() == state.head
        assert list(anchor.parent.iterdir()) == [anchor]

    def test_an_anchor_that_cannot_be_written_spends_nothing(self, ledger, path, anchor, monkeypatch):
        def failing(*arguments):
            raise MisuseError(f"Cannot write {anchor}: no permission.")

        monkeypatch.setattr(anchoring, "check_output_path", failing)
        with pytest.raises(MisuseError, match="no permission"):
            spend(ledger)
        assert ledger.state().spends == 0

    def test_an_anchor_that_fails_after_the_spend_shows_nothing(self, ledger, path, anchor, monkeypatch):
        def failing(*arguments):
            raise InputError("The anchor x cannot be written: No space left on device.")

        monkeypatch.setattr(anchoring.AnchorFile, "keep", failing)
        with pytest.raises(InputError) as raised:
            discreet.release([{"tea"}] * 9, top=1, epsilon="0.1", items="public", ledger=path)
        assert str(raised.value) == (
            f"Spend 1 of {path} stands, but nothing was released: the head of the chain cannot be anchored. The anchor "
            "x cannot be written: No space left on device."
        )
        assert ledger.state().spent == Fraction(1, 10)

    def test_what_is_no_anchor_is_neither_read_nor_written(self, path, tmp_path):
        precious = tmp_path / "precious"
        precious.write_text("do not touch")
        ledger = Ledger.create(path, epsilon=1)
        with pytest.raises(InputError) as raised:
            ledger.anchor(precious, anew=True)
        assert str(raised.value) == (
            f"The anchor {precious} is not a head: one line of 64 hexadecimal digits is expected."
        )
        # A ledger that someone handed over may remember anything.
        text = next_entry([ChainEntry(text="", head=ledger.state().head)], {"kind": "anchor", "place": str(precious)})
        changed_by(path, f"insert into entry values (1, '{text.text}', '{text.head}', null)")
        with pytest.raises(InputError, match="is not a head"):
            spend(ledger)
        assert precious.read_text() == "do not touch"
        assert Ledger(path)._anchor is None

    def test_places_that_cannot_be(self, path, anchor, tmp_path):
        other_ledger = Ledger.create(tmp_path / "other.db", epsilon=1, anchor=anchor)
        with pytest.raises(MisuseError) as raised:
            Ledger.create(path, epsilon=1, anchor=anchor)
        assert str(raised.value) == (
            f"The anchor {anchor} holds the head of another ledger: give each a place of its own."
        )
        with pytest.raises(MisuseError, match="there is no directory"):
            Ledger.create(path, epsilon=1, anchor=tmp_path / "no" / "head")
        with pytest.raises(InputError, match="is not a regular file"):
            Ledger.create(path, epsilon=1, anchor=tmp_path)
        for invalid_anchor in (3, "", "command:", "command:'a", "a\x1b[2J", "command:a\n"):
            with pytest.raises(MisuseError, match=r"^(An anchor is|The path or command of an anchor is)"):
                Ledger.create(path, epsilon=1, anchor=invalid_anchor)
        assert not path.exists()
        assert other_ledger.state().head == anchor.read_text().strip()
        ledger = Ledger.create(path, epsilon=1)
        with pytest.raises(InputError, match="or another ledger"):
            ledger.anchor(anchor)


class TestCommand:
    @pytest.fixture
    def command(self, tmp_path, anchor) -> str:
        script = tmp_path / "keep it.py"
        script.write_text(KEEPER)
        return f"command:'{sys.executable}' '{script}' '{anchor}'"

    def test_a_command_keeps_the_head(self, command, path, anchor, tmp_path):
        ledger = Ledger.create(path, epsilon=1, anchor=command)
        anchor.with_name("runs").unlink()
        spend_record = spend(ledger)
        assert anchor.with_name("runs").read_text() == "..."  # read; read again and write, with the ledger locked
        assert anchor.read_text().strip() == spend_record.head
        # The program alone is remembered, and never run: a file that was handed over must not decide what is run.
        assert ledger.state().anchor == f"command:{sys.executable}"
        with pytest.raises(MisuseError) as raised:
            Ledger.open(path)
        assert str(raised.value) == (
            f"{path} is anchored by a command, {sys.executable}. A ledger keeps no commands: give it again, as "
            "anchor='command:…'."
        )
        assert raised.value.message.typed.endswith(' give it again, as --anchor "command:…".')
        shutil.copy(path, tmp_path / "copy")
        spend(Ledger.open(path, anchor=command))
        shutil.copy(tmp_path / "copy", path)
        with pytest.raises(InputError, match="is older than its anchor command:"):
            Ledger.open(path, anchor=command)

    def test_a_command_that_fails(self, command, path, anchor):
        ledger = Ledger.create(path, epsilon=1, anchor=command)
        anchor.with_name("no").touch()
        with pytest.raises(InputError, match=r"^The anchor command:\S+ failed with status 3\.$"):
            spend(ledger)
        anchor.with_name("no").unlink()
        assert ledger.state().spends == 0
        for words, message in (
            (["echo", "hello"], "What the anchor command:echo printed is not a head"),
            (["true"], "There is no head of"),
            (["no-such-program"], "The anchor command:no-such-program cannot be run: No such file or directory"),
        ):
            with pytest.raises(InputError, match=message):
                Ledger.open(path, anchor=f"command:{' '.join(words)}")
        with pytest.raises(InputError, match="was given a head, and did not print it back"):
            anchoring.anchor_of(f"command:echo {'0' * 64}").keep("1" * 64)


def test_a_ledger_of_version_1_is_brought_up_to_date(path):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(
        "create table account (name, created, accounting, neighbours, epsilon, delta, most, key, digest, "
        "distinct_rows, sketch)"
    )
    connection.execute(
        "create table spend (number integer primary key, at, who, what, parameters, epsilon, delta, rho, own_delta, "
        "changed, state, release)"
    )
    account = ("wards", "2025", "pure", "add or remove one person", "1", "0", "1/2", b"k" * 32, None, None, None)
    connection.execute(f"insert into account values ({', '.join('?' * 11)})", account)
    for number, release in ((1, "ab"), (2, None)):
        row = (number, "2025", "me", "laplace", '{"top": 3}', "1/4", "0", "1/32", "0", number - 1, "spent", release)
        connection.execute(f"insert into spend values ({', '.join('?' * 12)})", row)
    connection.execute(storage._SEAL)
    first_schema = storage.Schema(version=1, tables={"account": "", "spend": ""})
    connection.execute("insert into seal values (?)", (storage._seal(connection, first_schema),))
    connection.execute(f"pragma application_id = {storage._APPLICATION}")
    connection.execute("pragma user_version = 1")
    connection.close()
    with pytest.raises(InputError) as raised:
        Ledger.open(path)
    assert str(raised.value) == (
        f"{path} was written by an earlier discreet (its version is 1, this one writes 2): `discreet ledger upgrade "
        f"{path}` brings it up to date, and loses nothing of it."
    )
    upgrade(path)
    ledger = Ledger.open(path)
    state, (first_spend, second_spend) = ledger.state(), ledger.spends()
    assert (state.name, state.most, state.spent, state.unrecorded) == ("wards", Fraction(1, 2), Fraction(1, 2), 1)
    assert (
        first_spend.release,
        first_spend.changed,
        first_spend.parameters,
        second_spend.release,
        second_spend.changed,
    ) == ("ab", False, {"top": 3}, None, True)
    assert spend(ledger).number == 3
    with pytest.raises(MisuseError, match="is up to date already"):
        upgrade(path)
    fresh = Ledger.create(path.with_name("new.db"), epsilon=1)
    tables = [
        [text for (text,) in sqlite3.connect(database).execute("select sql from sqlite_master order by name")]
        for database in (path, fresh.path)
    ]
    assert tables[0] == tables[1]
