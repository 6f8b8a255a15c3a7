"""The picture of relations."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from math import cos, radians, sin

import discreet
from discreet.report import draw_confidences
from discreet.report._matrix import draw_pairs
from discreet.report._text import text_width

PEOPLE = [{"tea", "milk"}] * 6 + [{"tea"}] * 2 + [{"<b>jam</b>", "tea"}] * 2


def squares(text: str) -> dict[str, float]:
    """Return what each square says, and how dark it is."""
    names = {"svg": "http://www.w3.org/2000/svg"}
    squares = ElementTree.fromstring(text).iterfind(".//svg:rect[svg:title]", names)
    titles = {square.findtext("svg:title", "", names): float(square.attrib["fill-opacity"]) for square in squares}
    # Names are kept from turning what is around them about (U+2068, U+2069), and numbers from their unit.
    return {title.translate({0x2068: "", 0x2069: "", 0x202F: " "}): shade for title, shade in titles.items()}


def test_a_square_for_each_relation_the_surer_the_darker():
    rules = discreet.mine(PEOPLE, min_count=1).rules(0, consequents="one")
    assert squares(draw_confidences(rules).inline("matrix")) == {
        "milk → tea: 100.0 %": 1.0,
        "<b>jam</b> → tea: 100.0 %": 1.0,
        "tea → milk: 60.0 %": 0.6,
        "tea → <b>jam</b>: 20.0 %": 0.2,
    }


def test_what_has_no_room_is_counted():
    people = [{f"item {number}", "tea"} for number in range(30)]
    rules = discreet.mine(people, min_count=1).rules(0, consequents="one")
    text = draw_confidences(rules).inline("matrix")
    assert len(squares(text)) < len(rules)
    assert f"Not drawn for want of room: {len(rules) - len(squares(text))}." in text


def test_pairs_stand_on_both_sides_of_the_diagonal():
    text = draw_pairs(discreet.mine(PEOPLE, min_count=1)).inline("matrix")
    assert squares(text) == {"milk, tea: 60.0 %": 1.0, "<b>jam</b>, tea: 20.0 %": 0.33}
    assert text.count("fill-opacity") == 4
    names = [node.text for node in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
    assert names[:3] == names[3:]


ALIKE = ["ALARM CLOCK BAKELIKE GREEN", "ALARM CLOCK BAKELIKE RED", "ALARM CLOCK BAKELIKE PINK", "SET OF 12 RED"]


def texts(drawing) -> list[str]:
    tree = ElementTree.fromstring(drawing.inline("matrix"))
    texts = [node.text for node in tree.iter("{http://www.w3.org/2000/svg}text")]
    return [text.translate({0x2068: "", 0x2069: ""}) for text in texts]


def test_items_that_begin_alike_have_rows_of_their_own():
    patterns = discreet.mine([set(ALIKE)] * 3, min_count=1)
    for drawing, square_count in (
        (draw_pairs(patterns), 12),
        (draw_confidences(patterns.where(lengths=(1, 2)).rules(0)), 12),
    ):
        assert drawing.inside.count("fill-opacity") == square_count
        assert drawing.inside.count("<rect x=") == 1 + square_count
        # One for each row and each column, all of them different, and no square stands for an item with itself.
        assert len(texts(drawing)) == 8
        assert len(set(texts(drawing))) == 4
        corners = {tuple(square.attrib[side] for side in "xy") for square in _squares(drawing)}
        assert len(corners) == square_count
    assert "ALARM CLO…LIKE GREEN" in texts(draw_pairs(patterns))


def test_items_that_only_differ_in_the_middle_are_numbered():
    middles = ["a" * 200 + middle + "z" * 200 for middle in "mno"]
    drawing = draw_pairs(discreet.mine([set(middles)] * 3, min_count=1))
    assert drawing.inside.count("fill-opacity") == 6
    assert len(set(texts(drawing))) == 3


def test_labels_stand_within_the_picture_however_long():
    patterns = discreet.mine([set(ALIKE) | {"W" * 60}] * 3, min_count=1)
    drawing = draw_pairs(patterns)
    tree = ElementTree.fromstring(drawing.inline("matrix"))
    for node in tree.iter("{http://www.w3.org/2000/svg}text"):
        label_width = text_width(node.text)
        if node.get("text-anchor") == "end":
            assert float(node.attrib["x"]) - label_width >= 0
        else:
            x, y = map(float, re.findall(r"[\d.]+", node.attrib["transform"])[:2])
            assert y - label_width * sin(radians(48)) >= 0
            assert x + label_width * cos(radians(48)) <= drawing.width


def _squares(drawing) -> list[ElementTree.Element]:
    tree = ElementTree.fromstring(drawing.inline("matrix"))
    return tree.findall(".//{http://www.w3.org/2000/svg}rect[{http://www.w3.org/2000/svg}title]")


def test_what_is_left_out_is_counted_in_pairs():
    people = [{f"item {number}", "tea"} for number in range(30)]
    drawing = draw_pairs(discreet.mine(people, min_count=1))
    assert texts(drawing)[-1] == "Not drawn for want of room: 7."
