"""Environment variables: each is told in one place, those of users on their page and the others to contributors."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAME = re.compile(r"DISCREET_[A-Z]+")


def named_variables(*places: Path) -> set[str]:
    """Return the variables that files name."""
    return {name for place in places for name in NAME.findall(place.read_text())}


def listed_variables(page: Path, heading: str) -> set[str]:
    """Return the variables in the table under a heading."""
    section = page.read_text().partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.+?) \|", section, re.MULTILINE)
    return {name for row in rows for name in NAME.findall(row)}


USERS = listed_variables(ROOT / "docs" / "cli.md", "Environment variables")
OURS = listed_variables(ROOT / "CONTRIBUTING.md", "Switches")


def test_every_variable_of_the_package_is_told_to_users() -> None:
    assert named_variables(*(ROOT / "src").rglob("*.py"), *(ROOT / "lab" / "src").rglob("*.py")) == USERS


def test_every_other_is_told_to_contributors() -> None:
    places = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "tests").glob("*.sh"), ROOT / "Makefile"]
    assert named_variables(*places) - USERS <= OURS | {"DISCREET_"}
    assert not USERS & OURS
