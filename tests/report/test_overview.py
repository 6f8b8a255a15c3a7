"""The page above the reports of several segments."""

from __future__ import annotations

from dataclasses import replace

from discreet.report import SegmentPage, overview
from discreet.results import Provenance
from naive.rules import make_patterns
from report.contents import COUNTS, PROMISE, bounded
from report.test_page import ParsedPage

PROVENANCE = Provenance(
    guarantee=PROMISE.stated(),
    mechanism="auto",
    chosen_mechanism="clipped",
    question={"top": 5, "segment": "north"},
)


def pages():
    second_counts = {frozenset({"tea"}): 30, frozenset({"<gin>"}): 20}
    return [
        SegmentPage(
            "north & <b>",
            "r-north.html",
            replace(bounded(COUNTS, 100), provenance=PROVENANCE, people_within=(95, 105)),
        ),
        SegmentPage("south", "r-south.html", replace(bounded(second_counts, 50, 3), provenance=PROVENANCE)),
    ]


def test_segments_stand_side_by_side_and_lead_to_their_reports():
    text = overview(pages(), "A shop")
    page = ParsedPage(text)
    assert [links["href"] for tag, links in page.tags if tag == "a" and not links["href"].startswith("#")] == [
        "r-north.html",
        "r-south.html",
    ]
    assert "2 segments, one release each." in page.text
    assert "north & <b> 100 5 ± 10 south 50 2 ± 3" in page.text
    assert "tea 80.0 % 60.0 %" in page.text
    assert "<gin> – 40.0 %" in page.text
    assert "Patterns the 5 most frequent" in page.text
    assert "clipped" not in page.text  # it was chosen for one of them
    assert "mechanism auto." in page.text
    assert len(page.ids) == len(set(page.ids))


def test_without_counts_segments_are_listed_alone():
    names = [
        SegmentPage(
            name,
            f"{name}.html",
            replace(make_patterns({frozenset("a"): 0}, 9, counted=False), provenance=PROVENANCE),
        )
        for name in ("one", "two")
    ]
    page = ParsedPage(overview(names, "A shop"))
    assert "segments" in page.ids
    assert not {"compared", "drawn"} & set(page.ids)
