from __future__ import annotations

import re
from itertools import combinations
from math import dist
from xml.etree import ElementTree

import pytest

import discreet
from discreet.report import PHONE_WIDTH
from discreet.report._charts import PAGE_WIDTH
from discreet.report._scatter import draw_scatter, rule_texts

PEOPLE = [{f"i{place}" for place in range(8) if number % (place + 2) == 0} | {"tea"} for number in range(500)]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("width", [PAGE_WIDTH, PHONE_WIDTH])
def test_every_rule_is_a_point_and_no_number_lies_on_another(width):
    rules = discreet.mine(PEOPLE, min_count=20).rules(0)
    scatter = draw_scatter(rules, width)
    tree = ElementTree.fromstring(scatter.inline("scatter"))
    points = tree.findall(f"{SVG}g[{SVG}title]")
    assert len(points) == min(400, len(rules))
    numbered = [point for point in points if point.find(f"{SVG}text") is not None]
    assert 1 < len(numbered) <= 8
    middles = [[float(point.find(f"{SVG}circle").get(side)) for side in ("cx", "cy")] for point in numbered]
    assert min(dist(*pair) for pair in combinations(middles, 2)) >= 20
    assert all(0 <= x <= width for x, _ in middles)
    texts = [node.text for node in tree.findall(f"{SVG}text")]
    ranks = [int(re.match(r"\d+", text)[0]) for text in texts]
    assert ranks == sorted({*ranks})
    assert ranks[0] == 1
    assert ranks[-1] <= 20  # as many as a table shows
    # A number is the place of the rule, so it is the same one however wide the picture is.
    for text in texts:
        rank, _, name = text.partition("  ")
        assert rule_texts(rules, 90 if width == PAGE_WIDTH else 40)[int(rank) - 1] == name


def test_intervals_are_lines_and_what_is_not_known_stays_inside():
    release = discreet.release(PEOPLE, top=12, epsilon=1, items="public")
    rules = release.rules(0)
    scatter = draw_scatter(rules)
    assert scatter.inside.count('opacity="0.45"') == len(rules)
    assert "nan" not in scatter.inside
    assert draw_scatter(rules[:0]).inside
