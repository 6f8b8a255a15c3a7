"""How the documentation is built."""

import io
import os
import sys
from pathlib import Path

import discreet

project = "discreet"
author = "The discreet authors"
copyright = "2026, the discreet authors"
release = discreet.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "discreet"
autodoc_typehints = "description"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
# The page of changes is the file at the root, which GitHub and PyPI show too.
suppress_warnings = ["myst.xref_missing"]


def write_command_help(app):
    """Write the help of every command, as the user sees it, for the page about the command line to include."""
    from typer.main import get_command

    os.environ["TERMINAL_WIDTH"] = "100"
    sys.path.insert(0, str(Path(app.srcdir).parent / "tests"))
    from discreet.cli.app import app as commands

    folder = Path(app.srcdir) / "_build" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    from typer.testing import CliRunner

    runner = CliRunner()
    text = io.StringIO()
    for name in get_command(commands).commands:
        shown = runner.invoke(commands, [name, "--help"], env={"NO_COLOR": "1"}, prog_name="discreet").output
        text.write(f"## `discreet {name}`\n\n```text\n{shown.strip()}\n```\n\n")
    (folder / "commands.md").write_text(text.getvalue())


def setup(app):
    app.connect("builder-inited", write_command_help)
