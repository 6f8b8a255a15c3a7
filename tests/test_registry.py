"""The registry of our own mechanisms, protocols and oracles: what it finds, what it refuses, and their settings."""

from __future__ import annotations

import sys
from fractions import Fraction

import pytest

from discreet import MisuseError
from discreet.curator import mechanisms as ours
from discreet.local import protocols as protocol_room
from discreet.local.device import ANSWERS, LOSSES
from discreet.registry import entry, everything, mechanism, mechanisms, oracles, protocol, protocols
from strangers import ASKING_CODE, STRANGER


def test_a_protocol_of_ours_is_refused_without_its_page(tmp_path, monkeypatch):
    (tmp_path / "plain_one.py").write_text(ASKING_CODE)
    monkeypatch.setattr(protocol_room, "__path__", [*protocol_room.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "discreet.local.protocols.plain_one", raising=False)
    with pytest.raises(MisuseError) as caught:
        protocols.__wrapped__()["plain"].make()
    assert str(caught.value) == (
        "The protocol plain of the package discreet has no proof page: plain-one.md has to lie beside it."
    )
    # A variant may share the page of its file, and may have its own.
    (tmp_path / "plain-one.md").write_text("# plain one\n")
    assert protocols.__wrapped__()["plain"].proof == tmp_path / "plain-one.md"
    (tmp_path / "plain.md").write_text("# plain\n")
    assert protocols.__wrapped__()["plain"].proof == tmp_path / "plain.md"
    monkeypatch.delattr(protocol_room, "plain_one", raising=False)
    monkeypatch.delitem(sys.modules, "discreet.local.protocols.plain_one", raising=False)
    ANSWERS.pop("plain", None)
    LOSSES.pop("plain", None)


def test_everything_has_one_name():
    assert set(everything()) == {*mechanisms(), *protocols(), *oracles()}
    assert {entry(name).category for name in ("auto", "svsm", "olh")} == {"mechanism", "protocol", "oracle"}
    for named_entry in [*protocols().values(), *oracles().values()]:
        assert named_entry.model == "local"
        assert named_entry.guarantee == ("epsilon" if named_entry.kind.live else "epsilon, simulated only")
        assert named_entry.summary
        assert named_entry.citation
        assert named_entry.proof.is_file()
    assert entry("svsm").settings["shares"] == ("0.5", "0.1", "0.4")
    assert entry("olh").settings == {}
    assert [entry(name).answers for name in ("svsm", "olh", "pm")] == [("top",), ("frequencies",), ("mean",)]
    assert protocol("svim", {"candidates": "3"}).candidates == 3
    with pytest.raises(MisuseError) as caught:
        entry("olh").make()
    assert str(caught.value) == "olh is an oracle: it is made for one question, by its class."
    with pytest.raises(MisuseError) as caught:
        protocol("svims")
    assert str(caught.value) == (
        f"There is no protocol 'svims'; there are {', '.join(protocols())}. Did you mean 'svim'?"
    )


def test_one_of_ours_is_refused_without_its_page(tmp_path, monkeypatch):
    # As if a file had been added to the room of mechanisms.
    (tmp_path / "plain.py").write_text(STRANGER)
    monkeypatch.setattr(ours, "__path__", [*ours.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "discreet.curator.mechanisms.plain", raising=False)
    with pytest.raises(MisuseError) as caught:
        mechanisms.__wrapped__()["plain"].make()
    assert str(caught.value) == (
        "The mechanism plain of the package discreet has no proof page: plain.md has to lie beside it."
    )
    (tmp_path / "plain.md").write_text("# plain\n")
    assert mechanisms.__wrapped__()["plain"].proof == tmp_path / "plain.md"
    monkeypatch.delitem(sys.modules, "discreet.curator.mechanisms.plain", raising=False)
    (tmp_path / "plain.py").write_text(STRANGER.replace('= "plain"', '= "rank-by-hand"'))
    (tmp_path / "rank-by-hand.md").write_text("# rank-by-hand\n")
    assert "rank-by-hand" in mechanisms.__wrapped__()
    monkeypatch.delattr(ours, "plain", raising=False)
    monkeypatch.delitem(sys.modules, "discreet.curator.mechanisms.plain", raising=False)


def test_every_entry_says_what_it_is():
    assert list(mechanisms()) == sorted(mechanisms())
    for name, registered in mechanisms().items():
        assert registered.name == name == registered.make().name
        assert registered.proof.name == f"{name}.md"
        assert not registered.unproven
        assert registered.model == "central"
        assert registered.package == "discreet"
        assert set(registered.answers) <= {"top", "threshold", "itemsets"}
        assert registered.guarantee in ("epsilon", "(epsilon, delta)", "epsilon, delta optional")
        assert registered.summary.endswith(".")
        assert registered.citation.endswith(".")


def test_an_unknown_name_is_answered_with_those_there_are():
    with pytest.raises(MisuseError) as caught:
        mechanism("privbases")
    assert str(caught.value) == (
        f"There is no mechanism 'privbases'; there are {', '.join(mechanisms())}. Did you mean 'privbasis'?"
    )


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("exponential", {"floor": "0.25"}, Fraction(1, 4)),
        ("exponential", {"way": "gumbel"}, "gumbel"),
        ("truncated", {"smart": "off"}, False),
        ("truncated", {"longest": "3"}, 3),
        ("truncated", {"longest": "none"}, None),
        ("threshold", {"kept": 7}, 7),
    ],
)
def test_settings_may_be_typed(name, text, value):
    (setting,) = text
    assert getattr(mechanism(name, text), setting) == value


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("count", {"kept": 1}, "count has no setting 'kept': it has none."),
        ("threshold", {"kept": "many"}, "the setting kept of threshold is a whole number; 'many' was given."),
        ("threshold", {"kept": True}, "the setting kept of threshold is a whole number; True was given."),
        ("truncated", {"smart": 2}, "the setting smart of truncated is on or off; 2 was given."),
    ],
)
def test_settings_that_cannot_be(name, text, message):
    with pytest.raises(MisuseError) as caught:
        mechanism(name, text)
    assert str(caught.value) == message
