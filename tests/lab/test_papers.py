"""The experiments of the papers: what they are made of exists, and what is computed about data is right."""

# internals: this module compares the printed lengths of paper 002 with the estimate of the code.
from __future__ import annotations

import json
import re
import shlex
from fractions import Fraction
from math import comb, log
from pathlib import Path

import pytest

import discreet
from discreet.curator.steps._threshold_levels import estimate_longest_length
from discreet.errors import MisuseError
from discreet.exact import LocalEngine, relations
from discreet.planning import least_epsilon, least_epsilon_of_short, sufficient_epsilon
from discreet.privacy import Budget, Meter, Neighbours, SealedEngine
from discreet.privacy.sampling import SimulationSource, discrete_laplace
from discreet.registry import mechanisms, protocol, protocols
from discreet_lab.comparators.relation_protocols import list_protocols
from discreet_lab.comparators.svim_ladder import FIGURE_3, FIGURE_4, as_line
from discreet_lab.data.datasets import names
from discreet_lab.measure import exact_values as known, formulas, measures
from discreet_lab.measure.exact_values import _compute_law, exceed_probability
from discreet_lab.measure.measures import Run, comparators, measure_cell
from discreet_lab.pages.claims import read_claims
from discreet_lab.papers import experiment, experiments, of_paper
from discreet_lab.run.experiment import Axis, Data, Experiment, Line, Metric

ROOT = Path(__file__).parents[2]
GROCERIES = Data(name="made-up-groceries", people=400)
MISSED_METRIC = Metric(name="false_negative_rate", label="missed", share=True)

# Every figure and table of the papers that has numbers of an experiment, and what stands for it.
STANDS_FOR = {
    "000": {
        "Table II": "table-2",
        "Table III": "table-3",
        "Figure 1": "figure-1",
        "Figure 3": "figure-3-epsilon figure-3-top",
        "Figure 4": "figure-4-epsilon figure-4-top",
        "Figure 5": "figure-5",
        "Figure 6": "figures-6-7-epsilon figures-6-7-top",
        "Figure 7": "figures-6-7-epsilon figures-6-7-top",
        "Figure 8": "figure-8-epsilon figure-8-top",
    },
    "001": {f"Figure {number}": f"figure-{number}" for number in (4, 5, 6, 7, 8)},
    "002": {f"Figure {number}": f"figure-{number}" for number in range(1, 7)},
    "003": {
        "Table 2": "table-2",
        "Table 3": "table-3",
        **{
            f"Figure {number}": f"e{bound_size} e{bound_size + 1}"
            for number, bound_size in ((3, 1), (4, 3), (5, 5), (6, 9), (7, 11), (8, 13))
        },
        **{f"E{number}": "table-3" if number in (7, 8) else f"e{number}" for number in range(1, 15)},
    },
    "004": {
        "Table 4": "table-4",
        "Figure 2": "figure-2",
        "Figure 3": "figure-3-top figure-3-length",
        "Figure 4": "figure-4",
        "Figure 5": "figure-5",
        "Figure 6": "figure-6-top figure-6-length",
        "Figure 7": "figure-7",
    },
}
# What the text says and no figure shows.
_UNCITED = {"002-theorem-3", "002-section-4"}


def run(name, *, data=GROCERIES, settings=None, seed=0, **question):
    return Run(line=Line(label=name, name=name, settings=settings or {}), asked=question, data=data, seed=seed)


@pytest.mark.parametrize("name", sorted(experiments()))
def test_what_an_experiment_names_is_there(name):
    tested_experiment = experiments()[name]
    runs = {
        "release": {*mechanisms(), *comparators()},
        "regret": {*mechanisms()},
        "regret-devices": {*protocols(), "reference"},
        "simulation": {*protocols(), *comparators()},
        "relations": {*protocols()},
        "overhead": {*protocols()},
        "formula": set(dir(formulas)),
        "from-data": set(dir(known)),
    }
    # A measure that knows its lines by other names is tested where it is written.
    assert (
        tested_experiment.measure not in runs
        or {line.name for line in tested_experiment.lines} <= runs[tested_experiment.measure]
    )
    assert {data.name for data in tested_experiment.data} <= set(names())
    for data in tested_experiment.data:
        if data.name in ("BMS-POS_275k", "kosarak_100k", "accidents_reduced"):
            assert "(" in data.shown, "a part says so in its label"
    assert all(cell.value for cell in tested_experiment.cells(quick=True)) or tested_experiment.axis is None
    if tested_experiment.measure == "release":
        for line in tested_experiment.lines:
            if line.name in mechanisms():
                mechanisms()[line.name].make(line.settings)  # refuses a setting that there is not


@pytest.mark.parametrize("paper", sorted(STANDS_FOR))
def test_every_figure_and_table_has_an_experiment(paper):
    known_experiments = {known_experiment.name: known_experiment for known_experiment in of_paper(paper)}
    figures = set()
    for figure, stand_ins in STANDS_FOR[paper].items():
        for name in stand_ins.split():
            known_experiment = known_experiments[f"{paper}-{name}"]
            assert figure.split()[-1] in known_experiment.shows.replace(",", "").split()
            figures.add(known_experiment.name)
    assert set(known_experiments) - figures - _UNCITED == set()


PRINTED_PEOPLE = {"kosarak_100k": 990_002, "BMS-POS_275k": 515_597, "accidents_reduced": 340_183}


@pytest.mark.parametrize("paper", ["000", "001", "002", "004"])
def test_parts_of_sets_have_as_many_people_as_the_papers_print(paper):
    for tested_experiment in of_paper(paper):
        for data in tested_experiment.data:
            if data.name in PRINTED_PEOPLE:
                assert data.people == PRINTED_PEOPLE[data.name], tested_experiment.name
                assert "resampled" in data.shown


def test_the_quick_setting_stays_small():
    """All of it is to take less than 40 minutes on two cores, at a third of a second of one a run."""
    all_at_once = [tested_experiment for tested_experiment in experiments().values() if not tested_experiment.by_name]
    assert (
        sum(len(cell.seeds) for tested_experiment in all_at_once for cell in tested_experiment.cells(quick=True))
        < 11_000
    )


@pytest.mark.parametrize("plans", [FIGURE_3, FIGURE_4, list_protocols("after"), list_protocols("given", cascade=8)])
def test_a_protocol_comes_back_from_its_line(plans):
    for label, plan in plans.items():
        line = as_line(label, plan)
        assert protocol(line.name, line.settings) == plan
        assert json.loads(json.dumps(line.settings)).keys() == line.settings.keys()


def test_the_quick_setting_leaves_no_line_out():
    for tested_experiment in experiments().values():
        line_sets = [
            {(cell.line.label, cell.data) for cell in tested_experiment.cells(quick)} for quick in (True, False)
        ]
        assert line_sets[0] == line_sets[1], tested_experiment.name


def test_settings_of_data_are_for_what_they_name():
    tested_experiment = experiment("001-figure-4")
    settings_by_line = {
        cell.line.label: cell.line.settings for cell in tested_experiment.cells(quick=True) if "BMS-POS" in cell.panel
    }
    assert settings_by_line["LDP-FPMiner, corrected"] == {"path_weight": "0.7", "itemset_weight": "0.5"}
    assert settings_by_line["SVSM"] == {}


@pytest.mark.parametrize(("name", "differ"), [("000-table-2", 0), ("000-table-3", 13)])
def test_what_000_prints_is_what_its_theorems_give(name, differ):
    tested_experiment, wrong = experiment(name), 0
    for cell in tested_experiment.cells(quick=False):
        printed = tested_experiment.printed[cell.panel, cell.line.label, cell.value, "epsilon"]
        epsilon = round(measure_cell(cell, 0)["epsilon"], 2)
        assert epsilon >= printed
        wrong += epsilon != printed
    assert wrong == differ


RELATED = {"how": "given", "items": 6, "support": 12}


def test_chains_are_wanted_of_all_lines_alike():
    data, question = Data(name="made-up-cascades", people=12_000), {"top": 24, "epsilon": "20", "longest": 3}
    wide_settings = RELATED | {"items": 40, "support": 1000}
    numbers = []
    for settings in ({"cascade": 32}, {}):
        numbers_of_line = run("relations", data=data, settings=wide_settings | settings, **question)
        numbers.append(measures.relations(numbers_of_line))
    true_relations = relations(numbers_of_line.baskets, how="given", items=40, support=1000, top=24, longest=3)
    assert len(true_relations.where(lengths=3))
    assert [numbers_of_line["wanted"] for numbers_of_line in numbers] == [len(true_relations), len(true_relations)]
    assert numbers[1]["chains_found"] == 0
    assert numbers[0]["recall"] > numbers[1]["recall"] > 0
    pairs = measures.relations(run("relations", data=data, settings=wide_settings, top=24, epsilon="20"))
    assert "chains_found" not in pairs


def test_theta_is_that_of_every_round(monkeypatch):
    thetas = []

    def simulated(baskets, plan, **options):
        thetas.append((plan.theta, options))
        raise MisuseError("enough")

    monkeypatch.setattr("discreet.local.study.simulate", simulated)
    first_run = run("relations", data=Data(name="made-up-applets", people=300), settings=RELATED, top=4, theta="0.7")
    with pytest.raises(MisuseError, match=r"^enough$"):
        measures.relations(first_run)
    assert thetas == [(("0.7", "0.7"), {"speed": "aggregated", "seed": 0, "top": 4})]


def test_patterns_are_no_relations():
    with pytest.raises(MisuseError) as caught:
        measures.relations(run("svsm", top=4, epsilon="1"))
    assert str(caught.value) == "svsm finds patterns and no relations: measure it by simulation."


def test_costs_are_told_for_each_group():
    question = {"top": 4, "epsilon": "4"}
    data = Data(name="made-up-applets", people=1_000)
    overheads = measures.overhead(run("relations", data=data, settings=RELATED, **question))
    sides = {"device_items", "device_matrix", "device_relations", "collector"}
    assert set(overheads) == sides | {"report", "question"}
    assert all(overheads[name] > 0 for name in overheads)
    assert overheads["report"] < overheads["question"]
    assert "device_matrix" not in measures.overhead(run("pairs", data=data, settings=RELATED, **question))


def small_experiment(line, **question):
    return Experiment(
        name="small",
        paper="002",
        shows="Figure 0",
        title="a small one",
        says="Nothing.",
        data=(Data(name="made-up-census", people=600),),
        lines=(line,),
        axis=Axis(of="lengths", label="items", values=(2,)),
        asked=question,
        measure="release",
        metrics=(MISSED_METRIC,),
        repeats=1,
    )


@pytest.mark.parametrize("name", ["det-gd", "ran-gd", "diffpart"])
def test_comparators_are_lines_like_others(name):
    (cell,) = small_experiment(Line(label=name, name=name), fraction=0.2, epsilon="1").cells(quick=True)
    first_numbers, second_numbers = measure_cell(cell, 3), measure_cell(cell, 3)
    assert first_numbers == second_numbers
    assert 0 <= first_numbers["false_negative_rate"] <= 1
    assert ("published" in first_numbers) == (name == "diffpart")


def test_comparators_want_a_threshold():
    (cell,) = small_experiment(Line(label="top", name="det-gd"), top=5).cells(quick=True)
    with pytest.raises(MisuseError) as caught:
        measure_cell(cell, 0)
    assert str(caught.value) == "det-gd finds patterns over a threshold: ask with fraction or min_count."


def test_a_protocol_is_no_release():
    (cell,) = small_experiment(Line(label="a", name="ldpminer-published", settings={"padding": 2}), top=5).cells(
        quick=True
    )
    with pytest.raises(MisuseError) as caught:
        measure_cell(cell, 0)
    assert str(caught.value) == "ldpminer-published is a protocol: measure it by simulation, not by release."


def test_some_lengths_can_be_scored_alone():
    lines = [Line(label="all", name="truncated", asked={"scored": 2}), Line(label="all", name="truncated", asked={})]
    numbers = []
    for line in lines:
        tested_experiment = small_experiment(line, fraction=0.3, epsilon="50")
        (cell,) = Experiment(**{**vars(tested_experiment), "axis": None}).cells(quick=True)
        numbers.append(measure_cell(cell, 0))
    true_counts = discreet.mine(run("", data=tested_experiment.data[0]).baskets, min_support="0.3").to_dict()
    assert numbers[0]["wanted"] == sum(len(itemset) == 2 for itemset in true_counts)
    assert numbers[1]["wanted"] == len(true_counts)


def test_bounds_are_those_of_the_theorems():
    question = {"top": 5, "lengths": 2, "epsilon": "2", "doubt": "0.1", "neighbours": "replace"}
    bounds = known.choosing(run("choosing", settings={"way": "exponential"}, **question))
    baskets = run("").baskets
    pair_count = comb(baskets.items, 2)
    last_count = sorted(discreet.mine(baskets, top=5, lengths=2).to_dict().values())[0]
    gamma = 4 * 5 / 2 * (log(2 * 5 / 0.1) + log(pair_count))
    assert gamma <= bounds["gamma"] <= gamma + 1
    assert bounds["eta"] == pytest.approx(2 * 5 / 2 * log(5 / 0.1))
    assert bounds["gamma_share"] == pytest.approx(bounds["gamma"] / last_count)
    assert bounds["says"] == (bounds["gamma"] < min(last_count, 400 - last_count))
    laplace = known.choosing(run("choosing", settings={"way": "laplace"}, **question))
    assert laplace["gamma"] == pytest.approx(8 * 5 / 2 * (log(1 / 0.1) + log(pair_count)), abs=1)
    half = known.choosing(run("choosing", settings={"way": "exponential"}, **question | {"neighbours": "add-remove"}))
    assert half["gamma"] == pytest.approx(gamma / 2, abs=1)


def test_where_fewer_occur_than_are_wanted_nothing_is_beside_the_last():
    question = {"lengths": 6, "epsilon": "2", "doubt": "0.1", "neighbours": "replace"}
    tiny_data = Data(name="made-up-groceries", people=2)
    bounds = known.choosing(run("choosing", data=tiny_data, settings={"way": "laplace"}, top=10**6, **question))
    assert set(bounds) == {"gamma", "eta"}


def test_sizes_are_counted_with_and_without_noise():
    baskets = run("").baskets
    true_count = int((baskets.sizes == 4).sum())
    assert known.sizes(run("sizes", size=4)) == {"people": true_count, "share": true_count / 400}
    assert known.sizes(run("sizes", size=10_000))["people"] == 0
    noisy = {known.sizes(run("sizes", size=4, settings={"epsilon": "0.1"}, seed=seed))["people"] for seed in range(5)}
    assert len(noisy) > 1


@pytest.mark.statistical
def test_the_law_of_the_longest_length_is_that_of_the_search():
    """Each of 400 runs: the share of an answer is within five deviations; a false alarm in less than 1e-5 of seeds."""
    question = {"fraction": 0.1, "epsilon": "1/4", "upper": 8}
    baskets, count, runs = run("").baskets, 40, 400
    law = [known.longest(run("longest", size=size, **question))["probability"] for size in range(1, 9)]
    assert sum(law) == pytest.approx(1)
    engine, observed = SealedEngine(LocalEngine(baskets)), [0] * 8
    for seed in range(runs):
        meter = Meter(Budget.of("1/4"), Neighbours.ADD_REMOVE, SimulationSource(seed))
        observed[estimate_longest_length(engine, count, meter, Fraction(1), 1, 8) - 1] += 1
    for chance, observed_count in zip(law, observed, strict=True):
        # The mechanism's floor moves a comparison by up to a hundredth, and three are made.
        assert abs(observed_count / runs - chance) < 5 * (chance * (1 - chance) / runs) ** 0.5 + 0.03


def test_the_law_without_noise_is_the_right_length():
    largest = dict(zip(range(1, 9), (90, 80, 60, 50, 20, 9, 3, 1), strict=True))
    assert _compute_law(largest, 50, 50.0, 8)[4] == pytest.approx(1)


def test_tails_of_the_noise():
    sample = discrete_laplace(SimulationSource(1), Fraction(3), 40_000)
    for bound in (-4, 0, 1, 5):
        # Five deviations of a share of 40,000 draws: a false alarm in less than 1e-5 of seeds.
        assert abs((sample >= bound).mean() - exceed_probability(bound, 1 / 3)) < 5 * 0.5 / 200
    assert exceed_probability(1, 1 / 3) + exceed_probability(0, 1 / 3) == pytest.approx(1)


def test_formulas_give_what_the_papers_print():
    assert formulas.least_epsilon(3340, 310, "0.2", "0.5")["epsilon"] == pytest.approx(18.4, abs=0.05)
    assert formulas.publishing_threshold("1", "0.05", 3, 340_183, 52)["frequency"] == pytest.approx(0.8644, abs=1e-4)
    shorter = formulas.least_epsilon(3340, 310, "0.2", "0.5", longest=10)["epsilon"]
    assert 0 < shorter < 1
    assert formulas.least_epsilon(50, 310, "0.2", "0.5", longest=50)["epsilon"] < 50 * log(2) / 126


@pytest.mark.parametrize("number", range(len(read_claims())))
def test_what_a_claim_cites_is_there(number):
    """Each command names experiments, its paper's first, tests or a module that there are, or is code that compiles."""
    claim = read_claims()[number]
    words = shlex.split(claim.command)
    if words[0] == "pytest":
        for word in words[1 : words.index("-k") if "-k" in words else None]:
            path, _, name = word.partition("::")
            text = (ROOT / path).read_text()
            assert f"def {name}(" in text or f"class {name}:" in text if name else text
    elif words[0] == "discreet":
        assert words[:3] == ["discreet", "lab", "run"]
        assert experiment(words[3]).paper == claim.paper
        assert all(experiment(word).paper in (claim.paper, "ours") for word in words[4:])
    elif words[:2] == ["python", "-m"]:
        assert (ROOT / f"{words[2].replace('.', '/')}.py").is_file()
    else:
        assert words[:2] == ["python", "-c"]
        compile(words[2], "a claim", "exec")


def test_seeds_are_those_of_the_experiment():
    """What an experiment showed names the first seeds that it runs, three or more; what is random names some."""
    for claim in read_claims():
        assert re.fullmatch(r"none|\d+|0-\d+", claim.seed), claim
        if claim.command.startswith("discreet") and claim.seed != "none":
            assert 3 <= int(claim.seed[2:]) + 1 <= experiment(claim.command.split()[3]).repeats, claim


def _cited(citation):
    """Return the figures, tables and experiments that a claim is about: Figures 3b and 3c are figure 3."""
    references = re.findall(r"(Figure|Table)s? ((?:[IVX]+|\d+)[a-f]?(?:(?:, | and )(?:[IVX]+|\d+)[a-f]?)*)", citation)
    cited_names = {
        f"{word} {number_text.rstrip('abcdef')}"
        for word, numbers_text in references
        for number_text in re.split(", | and ", numbers_text)
    }
    return cited_names | set(re.findall(r"\bE\d+", citation))


@pytest.mark.parametrize("paper", sorted(STANDS_FOR))
def test_every_figure_and_table_is_in_a_claim(paper):
    assert _cited("Section 7.2, Figures 3b and 3c, Table III") == {"Figure 3", "Table III"}
    cited = set().union(*(_cited(claim.where) for claim in read_claims() if claim.paper == paper))
    assert set(STANDS_FOR[paper]) - cited == set()


@pytest.mark.parametrize("paper", ["000", "001", "002", "003", "004"])
def test_every_experiment_of_a_paper_is_cited_by_a_claim(paper):
    commands = [claim.command.split() for claim in read_claims()]
    cited = {name for words in commands if words[:3] == ["discreet", "lab", "run"] for name in words[3:]}
    assert {paper_experiment.name for paper_experiment in of_paper(paper)} - cited == set()


def test_the_lab_and_the_forecast_state_one_theorem():
    # They said 482 and 386 here: see `tests/planning/test_bounds.py`.
    assert formulas.least_epsilon(3_340, 7, "0.2", "0.5")["epsilon"] == least_epsilon(3_340, 7)
    least_for_short = formulas.least_epsilon(3_340, 7, "0.2", "0.5", longest=10)["epsilon"]
    assert least_for_short == least_epsilon_of_short(3_340, 7, 10)
    assert formulas.enough_epsilon(3_340, 7, "0.2", "0.5", 10)["epsilon"] == sufficient_epsilon(3_340, 7, 10)
