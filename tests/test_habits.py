"""The habits of the house: quick tests, hooks, the matrix, news fragments, what is handed out, forms to fill in."""

# internals: this module needs the separator of commands from plugins.
from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import discreet
import matrix
import news
import shipping
from discreet.cli._plugin_commands import SEPARATE

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())


def targets() -> set[str]:
    (phony,) = re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
    return set(phony.split())


class TestMake:
    def test_every_target_is_there_and_is_told(self):
        for target in targets():
            assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target
        documented_targets = set(re.findall(r"make ([\w-]+)", "".join(re.findall(r"@echo .*", MAKEFILE))))
        assert targets() - {"help", "install", "clean", "evidence"} <= documented_targets

    def test_the_quick_tests_are_there(self):
        lines = (ROOT / "tests" / "quick.txt").read_text().splitlines()
        assert lines
        for line in lines:  # pytest takes each line as one argument: no comments, no empty lines
            assert (ROOT / line.partition("::")[0]).exists(), line
        assert matrix.QUICK in MAKEFILE

    def test_hooks_use_what_make_test_uses(self):
        (repo,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
        assert repo["repo"] == "local"
        assert [hook["entry"].split()[0] for hook in repo["hooks"]] == [
            ".venv/bin/ruff", ".venv/bin/ruff", ".venv/bin/mypy", "make",
        ]  # fmt: skip
        assert all(hook["language"] == "system" for hook in repo["hooks"])
        assert repo["hooks"][-1]["entry"].split()[1] in targets()

    def test_the_forge_runs_our_targets_and_our_matrix(self):
        ran = [step["run"] for job in WORKFLOW["jobs"].values() for step in job["steps"] if "run" in step]
        assert all(line.split()[0] == "make" and line.split()[1] in targets() for line in ran)
        assert {line.split()[1] for line in ran} == {"test", "matrix", "coverage", "release", "container"}
        assert tuple(WORKFLOW["jobs"]["matrix"]["strategy"]["matrix"]["python"]) == matrix.PYTHONS


class TestMatrix:
    def test_has_every_python_that_is_promised(self):
        promised = re.findall(r"Python :: (3\.\d+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE)
        assert set(promised) <= set(matrix.PYTHONS)
        assert PROJECT["requires-python"] == f">={matrix.PYTHONS[0]}"

    def test_every_range_has_a_lower_end(self):
        for requirement in matrix.requirements():
            (pin,) = Requirement(matrix.lowest(requirement)).specifier
            assert pin.version in Requirement(requirement).specifier, requirement
            assert "[" not in matrix.lowest(requirement), "pip refuses a constraint with extras"
        assert {"numpy", "pandas", "pytest", "sphinx"} <= {
            Requirement(requirement).name for requirement in matrix.requirements()
        }

    def test_tries_what_users_install_and_quick_tests_leave_out(self):
        quick = (ROOT / "tests" / "quick.txt").read_text().splitlines()
        assert all((ROOT / path).exists() and path not in quick for path in matrix.EXTRAS)
        rooms = {path.split("/")[1] for path in matrix.EXTRAS}
        assert {"baskets", "collector", "spark"} <= rooms

    def test_lower_ends_of_what_tests_need_fit_together(self):
        """schemathesis 4.0 asks for hypothesis 6.108, and psycopg 3.2 has no binary of that name."""
        ends = {
            Requirement(requirement).name: matrix.lowest(requirement).partition("==")[2]
            for requirement in matrix.requirements()
        }
        assert (ends["hypothesis"], ends["psycopg"]) == ("6.108", "3.2.1")

    def test_the_lowest_versions_read_a_table_and_know_all_commands(self):
        """duckdb 1.4 cannot hand a table over, and typer 0.16 knows no Literal: these two fail with them."""
        quick = (ROOT / "tests" / "quick.txt").read_text().splitlines()
        assert {"tests/baskets/test_read.py", "tests/test_compatibility.py"} <= set(quick)

    def test_finds_this_python_and_no_other_by_its_name(self, monkeypatch, tmp_path):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        (tmp_path / f"python{version}").symlink_to(sys.executable)
        (tmp_path / "python3.99").symlink_to(sys.executable)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
        assert matrix.interpreter(version) == f"python{version}"
        assert matrix.interpreter("3.99") is None

    def test_skips_what_is_not_here_unless_asked_for_it(self, monkeypatch, capsys):
        monkeypatch.setattr(matrix, "interpreter", lambda version: None)
        with pytest.raises(SystemExit) as exit_error:
            matrix.main([])
        assert not exit_error.value.code
        assert "3.14: not on this machine, so skipped" in capsys.readouterr().out
        with pytest.raises(SystemExit) as exit_error:
            matrix.main(["3.14"])
        assert exit_error.value.code
        with pytest.raises(SystemExit, match=r"2\.7 is no Python of the matrix"):
            matrix.main(["2.7"])


class TestIndexPage:
    """What a package index shows, made by `hatch_build.py`."""

    def test_names_authors_and_has_no_link_that_leads_nowhere(self):
        pytest.importorskip("hatchling")
        completed = subprocess.run(
            [sys.executable, "-m", "hatchling", "metadata"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        metadata = json.loads(completed.stdout)
        citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
        assert metadata["authors"] == [{"name": author["name"]} for author in citation["authors"]]
        text = metadata["readme"]["text"]
        assert re.findall(r"\]\((?!https://|#)[^)]*\)", text) == []
        assert "pip install discreet" in text

    def test_links_are_absolute_where_the_repository_has_an_address(self):
        pytest.importorskip("hatchling")
        place = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
        build = importlib.util.module_from_spec(place)
        place.loader.exec_module(build)
        link_text = "[that](https://x.example/c) and [below](#below)"
        readme = f"![A picture](docs/a.svg) of [this](docs/b.md#here), {link_text}"
        assert build.shown(readme, "https://forge.example/o/d") == (
            "![A picture](https://forge.example/o/d/raw/main/docs/a.svg) of "
            f"[this](https://forge.example/o/d/blob/main/docs/b.md#here), {link_text}"
        )
        assert build.shown(readme, "") == f" of this, {link_text}"
        assert set(build.addresses("https://forge.example/o/d")) == {"Source", "Documentation", "Changes", "Issues"}
        assert build.addresses("") == {}


LIST = "# Changes\n\n## Unreleased\n\n### Added\n\n- One.\n\n### Privacy\n\n- Two.\n\n## 0.1.0 (2026-01-01)\n\nOld.\n"


class TestNews:
    def test_fragments_are_well_formed(self):
        assert [
            fault for name, text in news.read_fragments(news.FRAGMENTS).items() for fault in news.faults(name, text)
        ] == []

    def test_the_list_is_one_that_fragments_fit_into(self):
        text = news.LIST.read_text()
        assert news.merge_fragments(text, {}) == text

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("Thing.added.md", "A thing.\n"),
            ("thing.improved.md", "A thing.\n"),
            ("thing.added.md", "- A thing.\n"),
            ("thing.added.md", "A thing"),
            ("thing.added.md", ""),
            ("thing.added.md", "A thing.\n\nAnd another.\n"),
            ("thing.added.md", "A thing.\n" * 51),
        ],
    )
    def test_others_are_refused(self, name, text):
        assert len(news.faults(name, text)) == 1

    def test_they_come_last_in_their_section(self):
        merged_list = news.merge_fragments(LIST, {"a.added.md": "Three,\nin two lines.\n", "b.fixed.md": "Four.\n"})
        assert merged_list == LIST.replace("- One.\n", "- One.\n- Three, in two lines.\n\n### Fixed\n\n- Four.\n")

    def test_a_version_takes_them_all(self):
        merged_list = news.merge_fragments(LIST, {}, "0.2.0 (2026-02-02)")
        assert merged_list == LIST.replace("## Unreleased\n", "## Unreleased\n\n## 0.2.0 (2026-02-02)\n")
        with pytest.raises(SystemExit, match="Nothing has changed"):
            news.merge_fragments(merged_list, {}, "0.3.0 (2026-03-03)")


class TestShipping:
    def test_knows_the_version_and_the_files(self):
        assert shipping.read_version() == discreet.__version__
        assert "discreet/py.typed" in shipping.source()
        assert any(name.endswith(".md") for name in shipping.source())

    def test_a_wheel_has_the_package_and_nothing_else(self):
        page = "discreet/collector/static/take-part.js"
        expected_files = {"discreet/__init__.py", "discreet/py.typed", "discreet/curator/one.md", page}
        licence = "discreet-1.dist-info/licenses/LICENSE"
        assert shipping.wheel_faults({*expected_files, licence}, expected_files) == []
        assert shipping.wheel_faults({*expected_files, licence, "tests/test_one.py"}, expected_files) == [
            "The wheel has tests/test_one.py, which is not of the package."
        ]
        assert shipping.wheel_faults({"discreet/__init__.py", licence}, expected_files) == [
            f"The wheel lacks {page}.",
            "The wheel lacks discreet/curator/one.md.",
            "The wheel lacks discreet/py.typed.",
            "The wheel has no py.typed: type checkers would not look into it.",
            "The wheel has no proof pages: without them no mechanism is run.",
            "The wheel has no take-part.js: nobody could take part on the page of a study. Type make clients.",
        ]
        assert shipping.wheel_faults(expected_files, expected_files) == ["The wheel has no licence."]

    def test_a_wheel_has_nothing_of_the_lab(self):
        files = {"discreet/lab/papers/paper_000.py", "discreet_lab/papers/paper_000.py"}
        fault = "The wheel has the lab: experiments of papers are the package discreet-lab."
        for file in files:
            assert fault in shipping.wheel_faults({file}, {file})
        assert fault not in shipping.wheel_faults(files, files, "discreet_lab")
        assert not any("discreet/lab/" in name for name in shipping.source())

    def test_the_lab_is_of_the_same_version_and_under_the_same_licence(self):
        lab = tomllib.loads((ROOT / "lab" / "pyproject.toml").read_text())["project"]
        assert shipping.read_version(shipping.LAB / "__init__.py") == discreet.__version__
        assert lab["dependencies"][0] == f"discreet=={discreet.__version__}"
        ours = {Requirement(dependency).name for dependency in PROJECT["dependencies"]}
        assert {Requirement(dependency).name for dependency in lab["dependencies"][1:]} <= ours, (
            "discreet has the ranges"
        )
        assert (ROOT / "lab" / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
        assert (lab["license"], lab["requires-python"]) == (PROJECT["license"], PROJECT["requires-python"])
        assert dict.fromkeys(lab["entry-points"]["discreet.commands"], lab["name"]) == SEPARATE

    def test_an_sdist_has_nothing_of_this_machine(self):
        faults = shipping.sdist_faults({"src/discreet/a.py", "docs/_build/html/index.html"}, {"discreet/a.py"})
        assert "The sdist lacks SECURITY.md." in faults
        assert faults[-1] == "The sdist has docs/_build/html/index.html, which was made on this machine."

    def test_the_sdist_has_all_that_a_wheel_is_made_of(self, tmp_path):
        """Two seconds: an sdist is built. A readme that metadata make anew is not put into it by itself."""
        pytest.importorskip("hatchling")
        command = [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", str(tmp_path)]
        subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
        (sdist,) = tmp_path.iterdir()
        with tarfile.open(sdist) as archive:
            inside = [name.partition("/")[2] for name in archive.getnames()]
        tracked = {name for name in shipping.source() if not name.endswith(".js")}  # `make clients` makes those
        assert shipping.sdist_faults(inside, tracked) == []


FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_for_issues_can_be_filled_in(path):
    form = yaml.safe_load(path.read_text())
    assert set(form) == {"name", "description", "labels", "body"}
    fields = [part for part in form["body"] if part["type"] != "markdown"]
    assert len({part["id"] for part in fields}) == len(fields)
    assert any(part.get("validations", {}).get("required") for part in fields)
    for part in form["body"]:
        assert part["type"] in {"markdown", "input", "textarea"}
        assert part["attributes"].get("value" if part["type"] == "markdown" else "label")


def test_the_citation_can_be_read():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert cited["license"] == PROJECT["license"]
    assert cited["type"] == "software"


def test_subjects_of_commits_name_a_room_and_a_change():
    """Since the rule stands: `room: change`, 72 characters at most."""
    command = ["git", "log", "--since=2026-11-20", "--no-merges", "--format=%s"]
    log = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if log.returncode:
        pytest.skip("there is no repository here, as in an sdist")
    for subject in log.stdout.splitlines():
        assert re.match(r"[\w., /-]+: \S", subject), subject
        assert len(subject) <= 72, subject
