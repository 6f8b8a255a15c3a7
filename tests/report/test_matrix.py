"""The picture of relations."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import discreet
from discreet.report.matrix import confidences, pairs

PEOPLE = [{"tea", "milk"}] * 6 + [{"tea"}] * 2 + [{"<b>jam</b>", "tea"}] * 2


def squares(text: str) -> dict[str, float]:
    """Return what each square says, and how dark it is."""
    names = {"svg": "http://www.w3.org/2000/svg"}
    found = ElementTree.fromstring(text).iterfind(".//svg:rect[svg:title]", names)
    titles = {one.findtext("svg:title", "", names): float(one.attrib["fill-opacity"]) for one in found}
    # Names are kept from turning what is around them about (U+2068, U+2069), and numbers from their unit.
    return {title.translate({0x2068: "", 0x2069: "", 0x202F: " "}): shade for title, shade in titles.items()}


def test_a_square_for_each_relation_the_surer_the_darker():
    rules = discreet.mine(PEOPLE, min_count=1).rules(0, consequents="one")
    assert squares(confidences(rules).inline("matrix")) == {
        "milk → tea: 100.0 %": 1.0,
        "<b>jam</b> → tea: 100.0 %": 1.0,
        "tea → milk: 60.0 %": 0.6,
        "tea → <b>jam</b>: 20.0 %": 0.2,
    }


def test_what_has_no_room_is_counted():
    people = [{f"item {number}", "tea"} for number in range(30)]
    rules = discreet.mine(people, min_count=1).rules(0, consequents="one")
    text = confidences(rules).inline("matrix")
    assert len(squares(text)) < len(rules)
    assert f"Not drawn for want of room: {len(rules) - len(squares(text))}." in text


def test_pairs_stand_on_both_sides_of_the_diagonal():
    text = pairs(discreet.mine(PEOPLE, min_count=1)).inline("matrix")
    assert squares(text) == {"milk, tea: 60.0 %": 1.0, "<b>jam</b>, tea: 20.0 %": 0.33}
    assert text.count("fill-opacity") == 4
    names = [node.text for node in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
    assert names[:3] == names[3:]
