"""Templates of pages: HTML is written in files, and every value that is put into a template is escaped.

The files ``*.html.jinja`` stand in `templates` here and in rooms above. A template escapes all texts; markup passes
unchanged, and is of the type `Markup`, so that a type checker sees it. An unknown name is an error. Jinja is imported
with the first page.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from ..results import DROWNED, NOTHING, UNITS, drowned, malicious_share, noise_text, p_text, points, shown
from ..wording import number_of
from . import _text as texts

if TYPE_CHECKING:
    from jinja2 import Environment

# The functions of all templates: numbers and names as a reader sees them.
_FUNCTIONS: tuple[Callable[..., object], ...] = (
    drowned, malicious_share, noise_text, number_of, p_text, points, shown, texts.clean, texts.count_text,
    texts.first_itemset, texts.itemset, texts.lift_text, texts.loss_text, texts.percent, texts.sentence,
)  # fmt: skip


@cache
def _environment() -> Environment:
    """Return the environment of all templates, whose names are their paths in this package."""
    # On use: most programs make no page, and the import takes 60 milliseconds.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parents[1]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.do"],
        # Templates are part of the installed package: they do not change while a process runs.
        auto_reload=False,
    )
    environment.globals |= {function.__name__: function for function in _FUNCTIONS}
    environment.globals |= {"DROWNED": DROWNED, "NOTHING": NOTHING, "UNITS": UNITS}
    environment.filters["clean"] = texts.clean
    return environment


def render(template: str, **values: object) -> Markup:
    """Return the markup of a template.

    Parameters
    ----------
    template
        The path of the template in this package: ``"report/templates/table.html.jinja"``, for example.
    values
        The values of the template by name. Texts are escaped, and `Markup` is not.
    """
    return Markup(_environment().get_template(template).render(values))  # noqa: S704 - the template escaped it
