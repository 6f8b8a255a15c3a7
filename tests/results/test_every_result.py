"""What every result can do, whatever it is of: one suite that each class of results passes."""

# internals: this module makes a ranking without a ledger.
from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import discreet
from discreet.auditing import Verdict
from discreet.planning import Forecast
from discreet.publish._ranking import Ranking
from discreet.results import ROW_FORMATS, Comparison, Result, holds_result

EARLIER = Path(__file__).parent / "earlier" / "others"
SHOP = [{"tea", "milk"}] * 300 + [{"tea", "bread"}] * 200 + [{"milk"}] * 100
SMALL_PLAN = {"people": 5_000, "items": 20, "top": 3, "sizes": 3, "names": ["exponential", "svim"]}
MINED = discreet.mine(SHOP, min_count=1)
VERDICT = discreet.audit("count", runs=20)
SCORES = {"=north": 5, "south; west": 3, "17": 1}
RANKING_QUESTION = {"top": 2, "epsilon": 1, "sensitivity": 1, "labels": "public"}
RESULTS: dict[str, Result] = {
    "patterns": MINED,
    "no patterns": MINED[:0],
    "rules": MINED.rules(0.1),
    "relations": discreet.relations(SHOP),
    "release": discreet.release(SHOP, top=3, epsilon=1, items="public"),
    "release of relations": discreet.release_relations(SHOP, top=1, epsilon=10, items="public"),
    "outcome": discreet.simulate(SHOP, "svim", top=2, epsilon=4, seed=1),
    "comparison": discreet.compare(SHOP, top=3, epsilon=["0.5", 1], mechanisms=["bases"], runs=2, seed=7),
    "differences": discreet.diff(MINED, discreet.mine([*SHOP, {"sugar"}], min_count=1), names=("one", "other")),
    "no differences": discreet.diff(MINED[:0], MINED[:0], names=("one", "other")),
    "forecast": discreet.plan(**SMALL_PLAN, epsilon=1),
    "forecast at several epsilons": discreet.plan(**SMALL_PLAN, epsilon=["0.1", 1], baskets_each=3),
    "forecast of what is needed": discreet.plan(**{**SMALL_PLAN, "people": None}, epsilon=1),
    "verdict": VERDICT,
    "verdict that nothing supports": replace(VERDICT, attempts=()),
    "verdict of an oracle": discreet.audit("grr", runs=20),
    "ranking": discreet.rank(SCORES, **RANKING_QUESTION),
    "ranking of numbers": discreet.rank({3: 5, 17: 3}, **RANKING_QUESTION),
    "ranking without scores": discreet.rank(SCORES, **RANKING_QUESTION, counts=False),
}
LOADED = {
    "patterns": discreet.Patterns, "rules": discreet.Rules, "relations": discreet.Rules, "release": discreet.Release,
    "comparison": Comparison, "differences": discreet.Differences, "forecast": Forecast, "verdict": Verdict,
    "ranking": Ranking,
}  # fmt: skip

every = pytest.mark.parametrize("name", RESULTS)
suffixes = pytest.mark.parametrize("suffix", [suffix for form in ROW_FORMATS.values() for suffix in form.suffixes])


def is_plain(result: Result) -> bool:
    """Return whether plain values are all of a result: its tables of text have the rows alone."""
    return bool(result.FORM)


def test_each_class_of_results_is_tried():
    def leaves(kind: type) -> set[type]:
        below = kind.__subclasses__()
        return set().union(*map(leaves, below)) if below else {kind}

    assert {type(result) for result in RESULTS.values()} == {
        kind for kind in leaves(Result) if kind.__module__.startswith("discreet.")
    }


@every
@suffixes
def test_it_is_saved_in_each_format_and_comes_back_where_the_format_keeps_it(name, suffix, tmp_path):
    result, place = RESULTS[name], tmp_path / f"found{suffix}"
    result.save(place)
    if is_plain(result) and ROW_FORMATS[suffix[1:] if suffix != ".feather" else "arrow"].has_file_beside:
        with pytest.raises(discreet.InputError):
            discreet.load(place)
        return
    loaded = discreet.load(place)
    assert holds_result(place)
    assert loaded.provenance == result.row_source.provenance
    if is_plain(result):
        assert (loaded.to_dict(), loaded.to_arrow()) == (result.to_dict(), result.to_arrow())
    elif suffix == ".xlsx":  # a spreadsheet keeps 16 digits
        assert len(loaded) == len(result)
    elif len(result) or suffix not in (".csv", ".tsv"):
        assert loaded == result.row_source
    else:
        assert len(loaded) == 0  # a table of text has no place for the people of an exact result without rows


@every
def test_its_plain_values_are_those_of_its_json_file(name, tmp_path):
    result = RESULTS[name]
    result.save(tmp_path / "found.json")
    document = json.loads((tmp_path / "found.json").read_text())
    assert json.loads(result.to_json()) == document
    assert document["discreet"].endswith("/1")
    if not isinstance(result, discreet.Patterns):  # whose dictionary has the count of each itemset
        assert json.loads(json.dumps(result.to_dict())) == document


@every
def test_the_frames_of_other_libraries_have_the_rows_of_its_table(name):
    result = RESULTS[name]
    table = result.to_arrow()
    assert len(result) == len(table) == len(result.to_pandas())
    assert result.to_polars().to_dicts() == table.to_pylist()
    if is_plain(result):
        assert list(result.to_pandas().columns) == table.column_names
    import pyarrow as pa

    assert pa.table(result) == table


@every
def test_it_shows_itself_everywhere(name):
    result = RESULTS[name]
    text, page = repr(result), result._repr_html_()
    assert text
    assert "<" in page
    assert str(result.show(1))
    assert result.show(1)._repr_html_()
    assert result.__rich__() is not None


@every
def test_its_class_loads_it_and_refuses_a_file_of_another_kind(name, tmp_path):
    result = RESULTS[name]
    kind = type(result)
    if name.startswith("release of relations") or name == "outcome":
        kind = type(result.found)
    result.save(tmp_path / "found.json")
    assert type(kind.load(tmp_path / "found.json")) is kind
    other_kind = RESULTS["verdict" if kind is not Verdict else "ranking"]
    other_kind.save(tmp_path / "other.json")
    with pytest.raises(discreet.InputError, match="holds no "):
        kind.load(tmp_path / "other.json")


@every
def test_a_report_or_a_picture_is_saved_or_refused_in_words(name, tmp_path):
    result = RESULTS[name]
    for suffix in (".html", ".svg"):
        place = tmp_path / f"found{suffix}"
        if isinstance(result, Verdict | Ranking) or (suffix == ".svg" and not len(result)):
            with pytest.raises(discreet.MisuseError, match=r"^There is no"):
                result.save(place)
            assert not place.exists()
        else:
            result.save(place)
            assert place.stat().st_size > 300


@pytest.mark.parametrize(("name", "key", "value", "message"), [
    ("forecast", "bounds", {}, "cannot be read as a forecast: it has no 'threshold'."),
    ("forecast", "forecasts", [{"name": 3}], "cannot be read as a forecast: 3 is not a text."),
    ("forecast at several epsilons", "forecasts", [], "cannot be read as a forecast: "),
    ("verdict", "stands", False, "cannot be read as a verdict: its attempts say something else than its 'stands'"),
    ("verdict", "seed", None, "cannot be read as a verdict: None is not a whole number."),
    ("ranking", "labels", [1.5, "a"], "cannot be read as a ranking: labels must be whole numbers or texts."),
    ("ranking", "scores", [1], "cannot be read as a ranking: it has not one number for each label."),
    ("ranking", "simulated", "no", "cannot be read as a ranking: 'no' is not true or false."),
])  # fmt: skip
def test_a_changed_file_is_refused(name, key, value, message, tmp_path):
    place = tmp_path / "found.json"
    place.write_text(json.dumps({**RESULTS[name].to_dict(), key: value}))
    with pytest.raises(discreet.InputError) as refused:
        discreet.load(place)
    assert str(refused.value).startswith(f"{place} {message}")


def test_no_cell_of_a_table_is_a_formula(tmp_path):
    RESULTS["ranking"].save(tmp_path / "found.csv")
    lines = (tmp_path / "found.csv").read_text().splitlines()
    assert lines[0].startswith('"label","score","low","high","model","neighbours","epsilon","delta","simulated"')
    assert not any(line.lstrip('"').startswith("=") for line in lines if '"""=' not in line)


def test_a_verdict_is_neither_true_nor_false():
    with pytest.raises(TypeError, match="look at its stands"):
        bool(VERDICT)


@pytest.mark.parametrize("name", ["comparison", "differences"])
def test_a_file_of_an_earlier_version_says_what_it_said(name):
    place = EARLIER / f"{name}.json"
    values = json.loads(place.read_text())
    if "sure" in values:  # the name of the coverage in earlier versions
        values["coverage"] = values.pop("sure")
    assert discreet.load(place).to_dict() == values


@pytest.mark.parametrize("name", ["comparison", "differences"])
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_table_of_an_earlier_version_is_refused_in_words(name, suffix):
    with pytest.raises(discreet.InputError):
        discreet.load(EARLIER / f"{name}.{suffix}")
