"""Pictures that stand by themselves: what `plot` gives back, and the files it is saved to."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from html import unescape
from xml.etree import ElementTree

import pytest

import discreet
from discreet.errors import MisuseError
from discreet.report.colours import NIGHT
from discreet.results import Provenance
from naive.rules import make_patterns
from report.contents import COUNTS, bounded

SVG = "{http://www.w3.org/2000/svg}"
PATTERNS = ["bars", "graph", "matrix", "sizes"]
RULES = ["scatter", "bars", "matrix"]
ABOUT_RELEASE = {"guarantee": {"model": "central", "neighbours": "add-remove", "epsilon": "1", "delta": "0"}}


def exact():
    return make_patterns(COUNTS, 100)


def private(**changes):
    return replace(bounded(COUNTS, 100), provenance=Provenance.from_dict(ABOUT_RELEASE | changes))


def parse_picture(picture):
    """Return the texts of a picture; it is sound, has all its colours, and a partner by night for each of them."""
    tree = ElementTree.fromstring(picture.svg)
    assert tree.find(f"{SVG}title") is not None
    assert not tree.findall(f".//{SVG}script")
    colours = set(re.findall(r'(?:fill|stroke)="(#\w+)"', picture.svg))
    assert colours <= set(NIGHT)
    return ["".join(node.itertext()) for node in tree.iter(f"{SVG}text")]


@pytest.mark.parametrize("kind", PATTERNS)
def test_patterns_have_pictures(kind):
    for patterns in (exact(), private()):
        texts = parse_picture(patterns.plot(kind))
        assert texts[0] == "5 patterns of 100 people"
        assert texts[1].startswith("central differential privacy" if patterns.noisy else "EXACT: not private")
    assert "SIMULATED: not a private release" in parse_picture(private(simulated=True).plot(kind))


@pytest.mark.parametrize("kind", RULES)
def test_rules_have_pictures(kind):
    for patterns in (exact(), private()):
        rules = patterns.rules(0)
        assert parse_picture(rules.plot(kind))[0] == f"{len(rules)} rules of 100 people"
    assert exact().rules(0).plot().title == "Rules by support, confidence and lift"
    relations = replace(exact().rules(0), kind="relations")
    assert relations.plot().title == "Confidence of relations"


def test_whiskers_are_where_intervals_are():
    assert private().plot().svg.count('stroke-width="1.5"') == 5
    assert exact().plot().svg.count('stroke-width="1.5"') == 0


def test_a_release_an_outcome_and_what_they_were_loaded_from_look_alike(tmp_path):
    baskets = [{"tea", "milk"}] * 300 + [{"bread"}] * 200
    release = discreet.release(baskets, top=3, epsilon=1, items="public")
    release.save(tmp_path / "release.json")
    loaded_release = discreet.Release.load(tmp_path / "release.json")
    assert loaded_release.plot("bars") == release.plot("bars")
    assert loaded_release.report(title="A shop") == release.report(title="A shop")
    assert loaded_release.guarantee == release.guarantee
    assert loaded_release.digest() == release.digest()
    outcome = discreet.simulate(baskets, "adept", top=2, epsilon=4, seed=1)
    assert outcome.plot() == outcome.patterns.plot()
    page = outcome.report(title="A trial")
    assert "<title>SIMULATED: A trial" in page


def test_what_is_not_a_release_is_not_loaded_as_one(tmp_path):
    exact().save(tmp_path / "exact.json")
    with pytest.raises(discreet.InputError) as error:
        discreet.Release.load(tmp_path / "exact.json")
    assert str(error.value) == f"{tmp_path / 'exact.json'} holds no release: discreet.load() reads other results."


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: exact().plot("pie"),
            "Patterns are drawn as 'bars' or 'graph' or 'matrix' or 'sizes'; 'pie' was given.",
        ),
        (
            lambda: exact().rules(0).plot("graph"),
            "Rules are drawn as 'scatter' or 'bars' or 'matrix'; 'graph' was given.",
        ),
        (lambda: exact()[:0].plot(), "There is nothing to draw: nothing was found."),
        (
            lambda: exact().where(lengths=1).plot("graph"),
            "A graph joins items that were found together: there is no pattern of two or three items.",
        ),
        (lambda: exact().where(lengths=1).plot("matrix"), "A matrix shows pairs: there is no pattern of two items."),
        (
            lambda: make_patterns(dict.fromkeys(COUNTS, 0), 100, counted=False).plot(),
            'These patterns have no counts, and so no bars: plot("graph") draws them without.',
        ),
        (
            lambda: exact().plot().save("x.pdf"),
            "x.pdf ends in .pdf, but a picture is written to .html, .htm, .svg or .png files.",
        ),
    ],
)
def test_what_cannot_be_drawn(call, message):
    with pytest.raises(MisuseError) as error:
        call()
    assert str(error.value) == message


def test_a_picture_goes_to_files(tmp_path):
    picture = private().plot("graph")
    for name in ("a.svg", "a.html", "a.png"):
        picture.save(tmp_path / name)
    assert (tmp_path / "a.svg").read_text() == picture.svg == picture._repr_svg_()
    page = (tmp_path / "a.html").read_text()
    assert picture.svg in page
    assert "default-src 'none'; style-src 'sha256-" in unescape(page)
    content = (tmp_path / "a.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    picture_width = int(ElementTree.fromstring(picture.svg).get("width"))
    assert int.from_bytes(content[16:20], "big") == 2 * picture_width


def test_without_the_extra_a_png_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(MisuseError) as error:
        exact().plot().save(tmp_path / "a.png")
    assert str(error.value) == ("A PNG needs the extra: pip install 'discreet[png]'. An .svg or .html file needs none.")
    assert list(tmp_path.iterdir()) == []


def test_any_result_is_saved_as_a_page(tmp_path):
    exact().save(tmp_path / "patterns.html", title="A shop")
    exact().rules(0).save(tmp_path / "rules.HTML")
    assert "<title>EXACT: A shop" in (tmp_path / "patterns.html").read_text()
    assert "<title>EXACT: Frequent patterns" in (tmp_path / "rules.HTML").read_text()
