"""News fragments: a change brings a small file of its own, and a new version of the package puts them together.

Two people who add a line to the same place of `CHANGELOG.md` are in each other's way; two files are not. A fragment
lies in `changes/`, is called `what-it-is-about.added.md` (or `changed`, `fixed`, `privacy`) and holds one item of the
list, without its dash.

`python tests/news.py check` says what is wrong with the fragments. `python tests/news.py write` moves them to the
section *Unreleased* of `CHANGELOG.md`; after `write 0.2.0` that section is the one of version 0.2.0.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from textwrap import TextWrapper

ROOT = Path(__file__).resolve().parents[1]
FRAGMENTS, LIST = ROOT / "changes", ROOT / "CHANGELOG.md"
SECTIONS = ("Added", "Changed", "Fixed", "Privacy")
_NAME = re.compile(rf"[a-z0-9]+(?:-[a-z0-9]+)*\.({'|'.join(SECTIONS).lower()})\.md")
_WORDS, _WIDTH = 100, 120
_UNRELEASED = "## Unreleased\n"
_ITEM = TextWrapper(_WIDTH, "- ", "  ", break_long_words=False, break_on_hyphens=False)


def read_fragments(folder: Path) -> dict[str, str]:
    """Return the fragments of a folder by their names; its README is none."""
    return {path.name: path.read_text() for path in sorted(folder.iterdir()) if path.name != "README.md"}


def faults(name: str, text: str) -> list[str]:
    """Return what is wrong with a fragment, as sentences."""
    problems = []
    if not _NAME.fullmatch(name):
        problems.append(f"is not called like what-it-is-about.added.md; the kinds are {', '.join(SECTIONS).lower()}")
    if not re.fullmatch(r"[^\s#*-].*[.)`]\n", text, re.DOTALL) or "\n\n" in text:
        problems.append("is not one paragraph of sentences, without a dash before it and with one line end after it")
    if len(text.split()) > _WORDS:
        problems.append(f"is longer than {_WORDS} words: the documentation says the rest")
    return [f"changes/{name} {problem}." for problem in problems]


def merge_fragments(text: str, fragments: Mapping[str, str], heading: str | None = None) -> str:
    """Return the list of changes with the fragments in *Unreleased*, which becomes `heading` where one is given."""
    before, unreleased, later_text = text.partition(_UNRELEASED)
    if not unreleased:
        raise SystemExit(f"{LIST.name} has no section Unreleased.")
    body, mark, earlier = later_text.partition("\n## ")
    sections = dict.fromkeys(SECTIONS, "")
    for part in body.split("\n### ")[1:]:
        title, _, items = part.partition("\n")
        sections[title] = items.strip("\n")
    for name, fragment in fragments.items():
        title = name.split(".")[-2].capitalize()
        sections[title] = f"{sections[title]}\n{_ITEM.fill(' '.join(fragment.split()))}".strip("\n")
    if heading is not None and not any(sections.values()):
        raise SystemExit("Nothing has changed since the last version.")
    titled = f"{_UNRELEASED}\n## {heading}\n" if heading else _UNRELEASED
    parts = "".join(f"\n### {title}\n\n{items}\n" for title, items in sections.items() if items)
    return f"{before}{titled}{parts}{mark}{earlier}"


def main(words: list[str]) -> None:
    """Check the fragments, or write them to the list."""
    fragments = read_fragments(FRAGMENTS)
    if wrong := [fault for name, text in fragments.items() for fault in faults(name, text)]:
        sys.exit("\n".join(wrong))
    if words[:1] == ["write"] and len(words) <= 2:
        heading = f"{words[1]} ({datetime.now(UTC):%Y-%m-%d})" if words[1:] else None
        LIST.write_text(merge_fragments(LIST.read_text(), fragments, heading))
        for name in fragments:
            (FRAGMENTS / name).unlink()
    elif words != ["check"]:
        sys.exit("Say `python tests/news.py check`, `write` or `write VERSION`.")


if __name__ == "__main__":
    main(sys.argv[1:])
