"""Pages: claims, what could not be reproduced, which line is best, tables and figures; as Markdown and as one file."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from discreet_lab.measure.order import HIGH, LOW, describe_best, describe_printed, find_best, sort_values
from discreet_lab.pages.claims import Claim, read_claims, restrict_verdicts
from discreet_lab.pages.evidence import EXPERIMENTS, evidence_chart, evidence_table
from discreet_lab.pages.figures import write_chart
from discreet_lab.pages.page import write_index, write_page
from discreet_lab.pages.tables import escape_markdown, render_comparison, render_table
from discreet_lab.pages.web import write_html
from discreet_lab.papers import experiment, experiments, titles
from discreet_lab.run.experiment import Axis, Data, Experiment, Goal, Line, Metric
from discreet_lab.run.failures import Failure
from discreet_lab.run.runner import Results
from discreet_lab.run.store import Row

MISSED_METRIC = Metric(name="false_negative_rate", label="missed", share=True)
SHARE = Metric(name="share", label="share of people", share=True)
LINES = (Line(label="old", name="laplace"), Line(label="`new`", name="exponential"))
OVERVIEW = Experiment(
    name="over",
    paper="004",
    shows="Figure 0",
    title="two lines over ε",
    says="The new one is better.",
    data=(Data(name="tea"), Data(name="milk")),
    lines=LINES,
    axis=Axis(of="epsilon", label="ε", values=("1", "0.5")),
    measure="release",
    metrics=(MISSED_METRIC,),
    differs="The data.",
)


def results(result_experiment, numbers, **fields):
    """Return results of these numbers, by panel, line and value; None stands for a run that is missing."""
    rows = tuple(
        Row(key="", panel=panel, line=line, value=value, seed=seed, metric=metric.name, number=number, seconds=0.0)
        for (panel, line, value), run_numbers in numbers.items()
        for seed, number in enumerate(run_numbers)
        for metric in result_experiment.metrics
    )
    return Results(experiment=result_experiment, rows=rows, **fields)


NUMBERS = {
    ("tea", "old", "1"): [0.2, 0.4],
    ("tea", "`new`", "1"): [0.1, 0.1],
    ("tea", "old", "0.5"): [0.5, 0.5],
    ("tea", "`new`", "0.5"): [0.501, 0.503],
    ("milk", "old", "1"): [0.1, 0.1],
    ("milk", "`new`", "1"): [0.2, 0.2],
}


def claim(verdict, place, **fields):
    claim_fields = {"says": "A | b < c.", "why": "It $does$.", "command": "discreet lab run over", "seed": "0-9"}
    return Claim(paper="004", where=place, verdict=verdict, **claim_fields | fields)


CLAIMS = [
    claim("holds", "Table 1", seed="none"),
    claim("does not hold", "Table 2", why="Misprinted: `a<b`."),
    claim("cannot be tried", "Table 3"),
]


def test_the_lines_stand_side_by_side_and_the_best_is_bold():
    assert list(render_comparison(results(OVERVIEW, NUMBERS), MISSED_METRIC)) == [
        "|  | ε | old | `new` |",
        "|---|---|---|---|",
        "| tea | 0.5 | 0.50 | 0.50 ± 0.00 |",  # level in the digits that are shown
        "|  | 1 | 0.30 ± 0.14 | **0.10** |",
        "| milk | 1 | **0.10** | 0.20 |",
        "",
    ]


def test_what_the_paper_prints_stands_beside_it():
    printed = {("tea", "old", "1", "false_negative_rate"): 0.25}
    (printed_row,) = [
        line
        for line in render_comparison(results(replace(OVERVIEW, printed=printed), NUMBERS), MISSED_METRIC)
        if "|  | 1" in line
    ]
    assert printed_row == "|  | 1 | 0.30 ± 0.14 (paper: 0.25) | **0.10** |"


def test_tables_of_a_terminal_have_a_row_a_line():
    assert list(render_table(results(OVERVIEW, NUMBERS), MISSED_METRIC)) == [
        "|  | missed | ε = 0.5 | ε = 1 |",
        "|---|---|---|---|",
        "| tea | old | 0.50 | 0.30 ± 0.14 |",
        "| tea | `new` | 0.50 ± 0.00 | **0.10** |",
        "| milk | old |  | **0.10** |",
        "| milk | `new` |  | 0.20 |",
        "",
    ]


def test_one_point_or_many_lines_in_one_panel_make_lines_rows():
    single = replace(OVERVIEW, axis=None)
    numbers = {(panel, line, ""): run_numbers for (panel, line, value), run_numbers in NUMBERS.items() if value == "1"}
    assert list(render_comparison(results(single, numbers), MISSED_METRIC)) == [
        "| missed | tea | milk |",
        "|---|---|---|",
        "| old | 0.30 ± 0.14 | **0.10** |",
        "| `new` | **0.10** | 0.20 |",
        "",
    ]
    lines = tuple(Line(label=f"{place}", name="laplace") for place in range(3))
    experiment_with_lines = replace(OVERVIEW, data=OVERVIEW.data[:1], lines=lines)
    numbers = {("tea", line.label, value): [0.5] for line in lines for value in ("1", "0.5")}
    assert (
        next(render_comparison(results(experiment_with_lines, numbers), MISSED_METRIC))
        == "| missed | ε = 0.5 | ε = 1 |"
    )


def test_a_line_without_numbers_has_no_column():
    numbers = {place: run_numbers for place, run_numbers in NUMBERS.items() if place[1] == "old"}
    assert next(render_comparison(results(OVERVIEW, numbers), MISSED_METRIC)) == "|  | ε | old |"


def test_which_line_is_best_and_how_often():
    summary = results(OVERVIEW, NUMBERS)
    assert find_best(summary, MISSED_METRIC, "tea", "1") == {"`new`"}
    assert find_best(summary, MISSED_METRIC, "tea", "0.5") == frozenset()
    assert describe_best(summary, MISSED_METRIC) == (
        "Best in the mean (less is better), of 3 points: old at 1; `new` at 1; all level at 1."
        " Mean rank: old 1.5; `new` 1.5."
    )
    higher = Metric(name="f_score", label="F")
    turned = results(replace(OVERVIEW, metrics=(higher,)), NUMBERS)
    assert find_best(turned, higher, "tea", "1") == {"old"}
    assert describe_best(turned, higher).startswith(
        "Best in the mean (more is better), of 3 points: old at 1; `new` at 1"
    )


def test_what_the_paper_prints_is_compared_line_by_line(tmp_path):
    assert describe_printed(results(OVERVIEW, NUMBERS), MISSED_METRIC) == ""
    printed_numbers = {
        ("tea", "old", "1"): 0.4,
        ("tea", "`new`", "1"): 0.1,
        ("milk", "old", "1"): 0.3,
        ("milk", "`new`", "1"): 0.1,
    }
    printed_metrics = {(*place, MISSED_METRIC.name): number for place, number in printed_numbers.items()}
    summary = results(replace(OVERVIEW, printed=printed_metrics), NUMBERS)
    sentence = (
        "Beside 4 printed numbers: off by 0.1 in the mean, 0.2 at most."
        " In the order of the paper: 1 of 2 pairs of lines."
    )
    assert describe_printed(summary, MISSED_METRIC) == sentence
    assert sentence in write_page("004", [summary], [], tmp_path, quick=False).read_text()
    old_numbers = {place: number for place, number in printed_metrics.items() if place[:2] == ("tea", "old")}
    assert describe_printed(results(replace(OVERVIEW, printed=old_numbers), NUMBERS), MISSED_METRIC) == (
        "Beside 1 printed number: off by 0.1 in the mean, 0.1 at most."
    )
    level = printed_metrics | {("tea", "`new`", "1", MISSED_METRIC.name): 0.4}
    assert "In the order of the paper: 0 of 1 pairs" in describe_printed(
        results(replace(OVERVIEW, printed=level), NUMBERS), MISSED_METRIC
    )


def test_where_neither_more_nor_less_is_better_nothing_is_best():
    summary = results(replace(OVERVIEW, metrics=(SHARE,)), NUMBERS)
    assert describe_best(summary, SHARE) == ""
    assert find_best(summary, SHARE, "tea", "1") == frozenset()
    old_numbers = {place: run_numbers for place, run_numbers in NUMBERS.items() if place[1] == "old"}
    assert describe_best(results(OVERVIEW, old_numbers), MISSED_METRIC) == ""


def test_a_single_point_has_no_mean_rank():
    numbers = {("milk", "old", "1"): [0.1], ("milk", "`new`", "1"): [0.2]}
    assert (
        describe_best(results(OVERVIEW, numbers), MISSED_METRIC)
        == "Best in the mean (less is better), of 1 point: old at 1."
    )


def test_numbers_that_say_which_is_better_are_measured_somewhere():
    names = {metric.name for tested_experiment in experiments().values() for metric in tested_experiment.metrics}
    assert names >= HIGH | LOW
    assert not HIGH & LOW


def test_points_that_are_no_numbers_keep_their_order():
    assert sort_values(("10", "9", "0.5")) == ("0.5", "9", "10")
    assert sort_values(("small", "large")) == ("small", "large")


def test_markup_in_words_is_written_out():
    assert escape_markdown("a|b < $c$ `x<y`") == r"a\|b &lt; \$c\$ `x<y`"


def test_a_page_begins_with_what_could_not_be_reproduced(tmp_path):
    path = write_page("004", [results(OVERVIEW, NUMBERS)], CLAIMS, tmp_path, quick=False)
    page = path.read_text()
    assert path == tmp_path / "004.md"
    assert page.split("\n## What it claims")[0] == (
        f"# {titles()['004']}\n\n"
        "**3 claims**: 1 holds, 1 does not hold, 1 cannot be tried.\n\n"
        "Everything here is made by one command: `discreet lab page --paper 004`.\n\n"
        "## What could not be reproduced, and why\n\n"
        "Does not hold:\n\n"
        "- *Table 2*: A \\| b &lt; c. **But**: Misprinted: `a<b`.\n\n"
        "Cannot be tried:\n\n"
        "- *Table 3*: A \\| b &lt; c. **But**: It \\$does\\$.\n"
    )
    assert re.findall("^## (.*)$", page, re.MULTILINE) == [
        "What could not be reproduced, and why",
        "What it claims, and what we found",
        "Figure 0: two lines over ε",
    ]
    assert "| 1 | Table 1 | A \\| b &lt; c. | **holds** | It \\$does\\$. |" in page
    assert "\n1. `discreet lab run over`\n2. `discreet lab run over` (seeds 0-9)\n" in page
    assert page.split("## Figure 0: ")[1].startswith(
        "two lines over ε\n\nThe new one is better.\n\n*What differs here*: The data.\n\n"
        "`discreet lab run over`: mean ± standard deviation over 2 runs\n\n"
        "![Figure 0: missed](over-false_negative_rate.svg)\n\n**missed.** Best in the mean"
    )
    assert "<details><summary>missed: the numbers</summary>\n\n|  | ε | old |" in page
    assert page.endswith("</details>\n")
    assert (tmp_path / "over-false_negative_rate.svg").is_file()


def test_the_same_results_give_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        write_page("004", [results(OVERVIEW, NUMBERS)], CLAIMS, tmp_path / name, quick=True)
        write_html(tmp_path / name / "004.md", tmp_path / name / "004.html")
    first_pages, second = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two")
    )
    assert first_pages == second
    assert len(first_pages) == 3


def test_a_page_says_what_is_missing_what_failed_and_that_it_is_quick(tmp_path):
    part = results(
        OVERVIEW, NUMBERS, missing=1, failed=(Failure(experiment="over", cell="over: old on tea", reason="no"),)
    )
    nothing = results(replace(OVERVIEW, name="none", shows="Figure 1"), {}, missing=8)
    page = write_page("004", [part, nothing], [CLAIMS[0]], tmp_path, quick=True).read_text()
    assert "`discreet lab page --paper 004 --quick`" in page
    assert "**Quick setting**: three repeats and three points of each axis." in page
    assert (
        "**Not all was run.** Missing are\n\n- Figure 0: 1 run (`discreet lab run over`)\n"
        "- Figure 1: all of it (`discreet lab run none`)\n"
    ) in page
    assert "*Not run*: over: old on tea: no\n" in page
    assert page.endswith("`discreet lab run none`\n\n*Not run yet.*\n")
    assert "Every claim holds, at least in part.\n" in page


def test_goals_are_counted_and_listed(tmp_path):
    goal_fields = {"panel": "tea", "metric": MISSED_METRIC.name}
    goals = (
        Goal(line="`new`", value="1", at_most=0.1, **goal_fields),
        Goal(line="old", value="1", at_least=0.5, **goal_fields),
        Goal(line="old", value="2", at_most=0.5, **goal_fields),
    )
    page = write_page("ours", [results(replace(OVERVIEW, goals=goals), NUMBERS)], [], tmp_path, quick=False).read_text()
    assert "**3 goals**: 1 reached.\n" in page
    assert "| Figure 0 | tea, ε = 1 | missed of `new` | at most 0.1 | 0.100 ± 0.000 | **reached** |" in page
    assert "| Figure 0 | tea, ε = 1 | missed of old | at least 0.5 | 0.300 ± 0.141 | 0.200 short |" in page
    assert "| Figure 0 | tea, ε = 2 | missed of old | at most 0.5 |  | not run |" in page


def test_one_file_has_everything_inside(tmp_path):
    page = write_page("004", [results(OVERVIEW, NUMBERS)], CLAIMS, tmp_path / "page", quick=False)
    html = write_html(page, tmp_path / "new" / "004.html").read_text()
    assert html.startswith("<!doctype html>\n")
    assert f"<title>{titles()['004']}</title>" in html
    assert html.count("<svg") == html.count("<figure>") == 1
    assert not re.findall(r'(?:src|href)="(?!#)[^"]*"', html)
    assert "<td>A | b &lt; c.</td>" in html
    assert '<summary>missed: the numbers</summary>\n<div class="wide"><table>' in html


def test_the_index_counts_the_claims_of_every_paper(tmp_path):
    path = write_index(["004", "ours"], [*CLAIMS, replace(CLAIMS[0], paper="000")], tmp_path / "new")
    page = path.read_text()
    assert "| paper | claims | holds | holds in part | does not hold | cannot be tried |" in page
    assert f"| [{titles()['004']}](004.md) | 3 | 1 | 0 | 1 | 1 |\n| all | 3 | 1 | 0 | 1 | 1 |" in page
    assert f"Beside them: [{titles()['ours']}](ours.md)." in page
    assert page.endswith("```{toctree}\n:maxdepth: 1\n\n004\nours\n```\n")
    html = write_html(path, tmp_path / "index.html").read_text()
    assert "toctree" not in html
    assert '<a href="004.html">' in html
    assert "lab.md" not in html


def test_every_paper_has_a_title():
    assert (
        set(titles())
        == {tested_experiment.paper for tested_experiment in experiments().values()}
        >= {tested_experiment.paper for tested_experiment in read_claims()}
    )


@pytest.fixture
def evidence():
    """Return made-up results of the two experiments: of the lines of one side the n-th has n tenths everywhere."""
    evidence_results = []
    for name in EXPERIMENTS:
        tested_experiment = experiment(name)
        numbers = {
            (cell.panel, cell.line.label, cell.value): [place / 10, place / 10 + 0.02]
            for place, line in enumerate(tested_experiment.lines)
            for cell in tested_experiment.cells(quick=False)
            if cell.line.label == line.label
        }
        evidence_results.append(results(tested_experiment, numbers))
    return evidence_results


def test_the_evidence_in_one_table(evidence):
    lines = list(evidence_table(evidence))
    assert (
        lines[0]
        == "| data set | "
        + " | ".join(f"top {top}, ε = 0.5: the papers' best | `auto`" for top in (10, 20, 100))
        + " |"
    )
    # Of what is missed less is better, and exponential is the first line; of NCR more is, and adept is the last.
    pair = "**0.01** · **0.010** (`exponential`) | 0.61 · 0.610"
    assert f"| retail | {pair} | {pair} | {pair} |" in lines
    assert "| retail | 0.31¹ (`fp-tree`) | **0.41**¹ |" in lines
    assert "| MSNBC sets | 0.31 (`fp-tree`) | **0.41** |" in lines
    assert "Means of 2 runs: missed, then median relative error; the better one is in bold." in lines
    assert "¹ Drawn with replacement from the data set, 465,072 to 990,002 people." in lines


def test_the_evidence_with_results_missing(evidence):
    without_rows = [replace(evidence_result, rows=()) for evidence_result in evidence]
    assert not any(line.startswith("| MSNBC") for line in evidence_table([*evidence[:-1], without_rows[-1]]))
    ours = [
        replace(evidence_result, rows=tuple(row for row in evidence_result.rows if row.line in ("`auto`", "`adept`")))
        for evidence_result in evidence
    ]
    assert f"| mushroom |{'  | 0.61 · 0.610 |' * 3}" in list(evidence_table(ours))


def test_the_evidence_in_one_figure(evidence, tmp_path):
    chart = evidence_chart(evidence)
    assert [len(group.panels) for group in chart.groups] == [4, 4]
    assert [label for _, label in chart.groups[0].legend] == ["auto", "privbasis", "exponential"]
    assert [label for _, label in chart.groups[1].legend] == ["adept", "svsm", "fp-tree"]
    assert chart.groups[1].panels[1].title == "kosarak (first 100,000), resampled to 990,002"
    assert write_chart(chart, tmp_path / "readme.svg").stat().st_size < 20_000


def test_no_verdict_is_shown_for_what_was_not_run(tmp_path):
    shown_claim = Claim(paper="004", where="Figure 2", says="It grows.", verdict="holds", why="It did.", seed="0-9",
                  command="discreet lab run one two")  # fmt: skip
    tested = replace(shown_claim, verdict="does not hold", command="pytest tests/lab", where="Lemma 1")
    assert [
        restricted_claim.verdict
        for restricted_claim in restrict_verdicts([shown_claim, tested], ["one", "two", "three"])
    ] == [
        "holds",
        "does not hold",
    ]
    restricted_claims = restrict_verdicts([shown_claim, tested], ["one"])
    assert [restricted_claim.verdict for restricted_claim in restricted_claims] == ["not run here", "does not hold"]
    page = write_page("004", [results(OVERVIEW, NUMBERS)], restricted_claims, tmp_path, quick=False).read_text()
    assert "**2 claims**: 1 does not hold, 1 not run here." in page
    assert "| Figure 2 | It grows. | not run here | `discreet lab run one two` shows it |" in page
    assert "It did." not in page.split("Lemma 1")[0]
    index = write_index(["004"], restricted_claims, tmp_path).read_text()
    assert "| paper | claims | holds | holds in part | does not hold | cannot be tried | not run here |" in index


def test_the_command_line_keeps_verdicts_to_what_was_run_in_full(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from discreet.cli import app

    monkeypatch.chdir(tmp_path)
    completed = CliRunner().invoke(app, ["lab", "page", "--paper", "004", "--kept", "-o", str(tmp_path / "pages")])
    assert completed.exit_code == 0, completed.output
    page = (tmp_path / "pages" / "004.md").read_text()
    rows = [line for line in page.splitlines() if "`discreet lab run 004" in line and line.startswith("| ")]
    assert rows
    assert all("| not run here |" in row for row in rows)
