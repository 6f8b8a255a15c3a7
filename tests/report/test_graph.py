from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from discreet.report import PHONE_WIDTH, GraphPicture, draw_graph as drawing_of
from discreet.report._charts import PAGE_WIDTH
from discreet.report._layout import separate_boxes, settle_nodes
from naive.rules import make_patterns

few_examples = settings(max_examples=30)
SVG = "{http://www.w3.org/2000/svg}"
INSIDE = (50.0, 30.0, 650.0, 430.0)


def draw_graph(picture, width=PAGE_WIDTH):
    return drawing_of(picture, width).inline("graph")


def sets(counts):
    return {frozenset(items): count for items, count in counts.items()}


def titles(svg, kind):
    return [
        node.find(f"{SVG}title").text
        for node in ElementTree.fromstring(svg).findall(f"{SVG}{kind}")
        if node.find(f"{SVG}title") is not None
    ]


def bare(text):
    return text.replace("\u2068", "").replace("\u2069", "")


def test_only_what_was_released_is_drawn():
    patterns = make_patterns(sets({"a": 50, "b": 40, "ab": 30, "bcd": 20, "abcd": 5, "e": 60}), 100)
    picture = GraphPicture.of(patterns)
    graph = draw_graph(picture)
    assert [bare(title) for title in titles(graph, "line")] == ["a, b: 30 (30.0\u202f%), lift 1.50"]
    assert [bare(title) for title in titles(graph, "polygon")] == ["b, c, d: 20 (20.0\u202f%)"]
    assert titles(graph, "circle") == [
        "a: 50 (50.0\u202f%)",
        "b: 40 (40.0\u202f%)",
        "c: its own count is not among the patterns",
        "d: its own count is not among the patterns",
    ]
    assert "own count not listed" in graph
    assert picture.left_out == 0


def test_the_colour_is_not_the_only_sign_of_a_lift_under_one():
    graph = draw_graph(GraphPicture.of(make_patterns(sets({"a": 50, "b": 50, "ab": 10, "c": 10, "ac": 9}), 100)))
    lines = ElementTree.fromstring(graph).findall(f"{SVG}line")
    assert [line.get("stroke-dasharray") for line in lines] == ["6 4", None]
    assert "lift under 1" in graph
    assert ">1 to 2<" in graph
    assert ">2 to 5<" not in graph


def test_without_counts_or_people_no_number_is_drawn():
    names = sets({"a": 0, "ab": 0, "abc": 0})
    graph = draw_graph(GraphPicture.of(make_patterns(names, 100, counted=False)))
    assert not any(letter.isdigit() for title in titles(graph, "line") + titles(graph, "polygon") for letter in title)
    assert "lift" not in graph
    assert titles(draw_graph(GraphPicture.of(make_patterns(sets({"a": 5, "b": 5, "ab": 5}), 0))), "line")[0].endswith(
        ": 5"
    )


def test_nothing_to_draw():
    for counts in ({}, {"a": 5, "b": 3}, {"abcd": 3}):
        assert GraphPicture.of(make_patterns(sets(counts), 10)).items == ()


def test_what_does_not_fit_is_counted():
    pairs = {frozenset(pair): 1000 - place for place, pair in enumerate(combinations(range(40), 2))}
    picture = GraphPicture.of(make_patterns(pairs, 2000))
    assert len(picture.items) <= 26
    assert len(picture.pairs) + picture.left_out == len(pairs)
    assert picture.pairs == tuple(sorted(picture.pairs))


def test_the_same_patterns_give_the_same_picture():
    counts = sets({"a": 9, "b": 8, "ab": 7, "bc": 6, "cd": 5, "ad": 4, "abc": 3, "ef": 2})
    assert draw_graph(GraphPicture.of(make_patterns(counts, 10))) == draw_graph(
        GraphPicture.of(make_patterns(counts, 10))
    )


def test_noise_may_turn_counts_over():
    counts = sets({"a": -3, "b": 0, "ab": 12, "bc": -7, "abc": -2})
    graph = draw_graph(GraphPicture.of(make_patterns(counts, 10)))
    widths = [float(line.get("stroke-width")) for line in ElementTree.fromstring(graph).findall(f"{SVG}line")]
    assert widths == [7.2, 1.2]


def test_names_are_escaped_and_short():
    names = sets({("<script>", 'a"b'): 5, ("x" * 400, "<script>"): 4})
    graph = draw_graph(GraphPicture.of(make_patterns(names, 10)))
    assert "<script>" not in graph
    assert "x" * 121 not in graph
    ElementTree.fromstring(graph)


links_of = st.integers(2, 12).flatmap(
    lambda nodes: st.tuples(
        st.just(nodes), st.lists(st.tuples(*[st.integers(0, nodes - 1)] * 2).filter(lambda pair: pair[0] != pair[1]))
    )
)


@few_examples
@given(links_of, st.sampled_from([PAGE_WIDTH, PHONE_WIDTH]), st.integers(10, 175))
def test_no_two_boxes_touch_and_all_lie_inside(graph_shape, width, half):
    nodes, links = graph_shape
    boxes = np.column_stack([np.full(nodes, float(half)), np.full(nodes, 9.0), np.full(nodes, 24.0)])
    centres, high = separate_boxes(settle_nodes(nodes, links, (0.0, 0.0, float(width), 90.0)), boxes, width)
    assert (centres[:, 0] >= half - 1e-9).all()
    assert (centres[:, 0] <= width - half + 1e-9).all()
    assert (centres[:, 1] >= 9 - 1e-9).all()
    assert (centres[:, 1] + 24 <= high + 1e-9).all()
    for first_node, second_node in combinations(range(nodes), 2):
        aside, below = np.abs(centres[first_node] - centres[second_node])
        assert aside >= 2 * half - 1e-6 or below >= 33 - 1e-6


@pytest.mark.parametrize("width", [PAGE_WIDTH, PHONE_WIDTH])
def test_what_has_one_place_is_taken_apart(width):
    boxes = np.array([[50.0, 10.0, 20.0]] * 9)
    centres, high = separate_boxes(np.zeros((9, 2)), boxes, width)
    assert len({tuple(place) for place in centres.round(2).tolist()}) == 9
    assert high >= 30 * 9 / (width // 100)


def test_linked_nodes_come_closer_than_others():
    links = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]
    positions = settle_nodes(6, links, INSIDE)
    distances = {pair: np.hypot(*(positions[pair[0]] - positions[pair[1]])) for pair in combinations(range(6), 2)}
    assert max(distances[link] for link in links) < min(distances[pair] for pair in distances if pair not in links)
