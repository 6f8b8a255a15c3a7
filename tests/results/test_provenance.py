from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import discreet
from discreet.errors import InputError
from discreet.results import Provenance, StatedGuarantee

EARLIER = Path(__file__).parent / "earlier"
FILES = sorted(path.name for suffix in ("json", "parquet") for path in EARLIER.glob(f"*.{suffix}"))


def test_it_says_in_types_what_files_say_in_plain_values():
    plain = {
        "guarantee": {"model": "central", "neighbours": "add-remove", "epsilon": "1/2", "unit": "person"},
        "simulated": True,
        "mechanism": "auto",
        "chosen": "",
        "asked": {"top": 3},
        "notes": ["One.", "Two."],
        "when": "2026-11-19",
        "seen-later": [1],
    }  # fmt: skip
    provenance = Provenance.from_dict(plain)
    assert provenance == Provenance(
        guarantee=StatedGuarantee(
            model="central",
            neighbours="add-remove",
            epsilon=Fraction(1, 2),
            details={"unit": "person"},
        ),
        simulated=True,
        mechanism="auto",
        chosen_mechanism="",
        question={"top": 3},
        notes=("One.", "Two."),
        date="2026-11-19",
        others={"seen-later": [1]},
    )
    assert provenance.to_dict() == plain  # what was not said, such as facts, is not said again


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"guarantee": "all"}, "'guarantee' is \"all\", but it must be an object or null."),
        ({"guarantee": {"model": 3}}, "'model' of its guarantee is 3, but it must be text."),
        ({"guarantee": {"epsilon": "1/0"}},
         "'epsilon' of its guarantee is \"1/0\", but it must be an exact number from 0 on."),
        ({"guarantee": {"epsilon": []}},
         "'epsilon' of its guarantee is a list, but it must be an exact number from 0 on."),
        ({"guarantee": {"delta": -1}}, "'delta' of its guarantee is -1, but it must be an exact number from 0 on."),
        ({"simulated": None}, "'simulated' is null, but it must be true or false."),
        ({"asked": 3}, "'asked' is 3, but it must be an object."),
        ({"mechanism": ["clipped"]}, "'mechanism' is a list, but it must be text."),
        ({"notes": "One."}, "'notes' is \"One.\", but it must be a list of texts."),
        ({"notes": [1]}, "'notes' is a list, but it must be a list of texts."),
        ({"rounds": [1]}, "'rounds' is a list, but it must be a list of objects."),
        ({"reports": -1}, "'reports' is -1, but it must be a whole number from 0 to 2^53."),
        ({"reports": True}, "'reports' is true, but it must be a whole number from 0 to 2^53."),
    ],
)  # fmt: skip
def test_what_a_file_cannot_say_is_refused(values, message):
    with pytest.raises(InputError) as raised:
        Provenance.from_dict(values, Path("found.json"))
    assert str(raised.value) == f"found.json: {message}"


@pytest.mark.parametrize("name", FILES)
def test_files_of_earlier_versions_are_read(name, tmp_path):
    """They were written before results had a typed provenance."""
    result = discreet.load(EARLIER / name)
    assert (result.provenance is None) == name.startswith(("exact", "rules"))
    for suffix in ("json", "csv", "parquet"):
        result.save(tmp_path / f"again.{suffix}")
        loaded = discreet.load(tmp_path / f"again.{suffix}")
        assert (loaded.provenance, len(loaded)) == (result.provenance, len(result))


@pytest.mark.parametrize("name", ["release.json", "release.parquet"])
def test_a_ledger_still_knows_a_release_of_earlier_versions(name):
    release = discreet.Release.load(EARLIER / name)
    assert release.digest() == "e4379e89d291e528f91da562158a6465ac1cd4524c095b99a12415c1fc6fbf85"
