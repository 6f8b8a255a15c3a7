"""Templates: names of data stay text wherever they stand, an unknown name is an error, and Jinja is loaded late."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

import discreet
from discreet.report import SegmentPage, overview, render
from discreet.report._templates import _environment

HOSTILE = [
    "<script>alert(1)</script>",
    "\" onload='alert(1)' x=\"",
    "]]> --> </style></title>",
    "{{ 12345 * 2 }}{% raw %}",
]
BASKETS = [{*HOSTILE, "tea"}] * 30 + [{HOSTILE[0], "tea"}] * 20 + [{"tea"}] * 5
PACKAGE = Path(discreet.__file__).parent


class Elements(HTMLParser):
    """The names of all elements and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def pages() -> dict[str, str]:
    patterns = discreet.mine(BASKETS, min_count=1)
    rules = patterns.rules(0.2)
    differences = discreet.diff(patterns, discreet.mine(BASKETS[10:], min_count=1), names=(HOSTILE[0], HOSTILE[1]))
    return {
        "patterns": patterns.report(title=HOSTILE[2]),
        "rules": rules.report(title=HOSTILE[0]),
        "differences": differences.report(title=HOSTILE[0]),
        "overview": overview([SegmentPage(name, name, patterns) for name in HOSTILE], HOSTILE[0]),
        "notebook": patterns._repr_html_(),
        "notebook of differences": differences._repr_html_(),
        **{f"picture {kind}": patterns.plot(kind).svg for kind in ("bars", "graph", "matrix", "sizes")},
        **{f"rules {kind}": rules.plot(kind).svg for kind in ("scatter", "bars", "matrix")},
        "slopes": differences.plot().svg,
    }


PAGES = pages()


@pytest.mark.parametrize("name", PAGES)
def test_hostile_names_stay_text(name):
    text = PAGES[name]
    seen = Elements(text)
    # The one script of a page is its own.
    assert len(re.findall("<script", text)) == (1 if text.startswith("<!DOCTYPE") else 0)
    assert "onload" not in seen.attributes
    assert "alert(1)</script>" not in text
    assert "24690" not in text  # a template does not evaluate names
    if "rules" not in name and "sizes" not in name:  # these name no item
        assert "&lt;script&gt;" in text


def test_an_unknown_name_is_an_error_and_texts_are_escaped():
    template = _environment().from_string("{{ value }} {{ markup }} {{ unknown }}")
    with pytest.raises(UndefinedError):
        template.render(value="<b>", markup=Markup("<b>"))
    assert template.render(value="<b>", markup=Markup("<b>"), unknown="") == "&lt;b&gt; <b> "


def test_a_template_is_found_by_its_path():
    rendered = render("collector/pages/templates/refusal.html.jinja", title="<x>", parent=None, script="", sentence="&")
    assert isinstance(rendered, Markup)
    assert "<h1>&lt;x&gt;</h1>" in rendered
    assert "<p>&amp;</p>" in rendered


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.html.jinja")), ids=lambda path: path.name)
def test_no_template_turns_escaping_off(path):
    text = path.read_text(encoding="utf-8")
    assert "| safe" not in text
    assert "|safe" not in text
    assert "autoescape" not in text


def test_jinja_is_loaded_with_the_first_page():
    code = (
        "import sys, discreet; patterns = discreet.mine([{'tea'}] * 3, min_count=1); "
        "assert 'jinja2' not in sys.modules; patterns.report(); assert 'jinja2' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "DISCREET_JIT": "0"})
