"""The ladders of Wang, Li, Jha 2018: each rung asks what the paper says of it."""

from __future__ import annotations

from discreet.local.protocols import SVSM
from discreet_lab.comparators.svim_ladder import FIGURE_3, FIGURE_4
from truthful import TABLE_1, led


class TestLadder:
    def test_the_rungs_differ_as_the_paper_says(self):
        rungs = [plan for name, plan in FIGURE_3.items() if name.startswith("(")]
        oracle_settings = []
        for plan in rungs:
            _, asks = led(plan, TABLE_1 * 3, items=40, top=3)
            oracles = [question.oracle for question in asks if question.name.startswith("which")]
            oracle_settings.append([(question.name, question.pad) for question in oracles])
        assert oracle_settings == [
            [("blh", 3), ("sue", 6)],
            [("olh", 3), ("olh", 6)],
            [("olh", 1), ("olh", 6)],
            [("olh", 1), ("grr", 6)],
            [("olh", 1), ("grr", 3)],
            [("olh", 1), ("grr", 3)],
        ]
        assert [plan.corrected for plan in rungs] == [False] * 5 + [True]  # type: ignore[attr-defined]

    def test_the_head_is_svim(self):
        rung = FIGURE_3["(OLH, 1), (Adap, L)(c)"]
        texts = [question.text() for question in led(rung, TABLE_1, items=40)[1]]
        assert texts == [question.text() for question in led("svim", TABLE_1, items=40)[1]]

    def test_ldpminer_inside_estimates_itemsets_as_it_does_items(self):
        _, asks = led(FIGURE_4["SVSM with LDPMiner"], TABLE_1, items=40)
        assert [(question.name, question.oracle.name, question.oracle.pad) for question in asks] == [
            ("how many items", "olh", 1),
            ("which items", "blh", 3),
            ("which candidates", "sue", 6),
            ("which itemsets", "sue", 3),
        ]
        assert FIGURE_4["SVSM"] == SVSM()
