"""How the documentation is built."""

import io
from pathlib import Path

import discreet

project = "discreet"
author = "The discreet authors"
copyright = "2026, the discreet authors"
release = discreet.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build/html", "_build/doctrees", "_build/generated/*.md"]
html_theme = "furo"
html_math_renderer = "mathml"
html_title = "discreet"
autodoc_typehints = "description"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
# The page of changes is the file at the root, which GitHub and PyPI show too.
suppress_warnings = ["myst.xref_missing"]


def write_command_help(app):
    """Write the help of every command, as the user sees it, for the page about the command line to include."""
    from typer.main import get_command
    from typer.testing import CliRunner

    from discreet.cli.app import app as commands

    folder = Path(app.srcdir) / "_build" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    runner = CliRunner(env={"NO_COLOR": "1", "TERMINAL_WIDTH": "88"})
    text = io.StringIO()
    for name, command in get_command(commands).commands.items():
        for words in [[name], *([name, inner] for inner in getattr(command, "commands", {}))]:
            shown = runner.invoke(commands, [*words, "--help"], prog_name="discreet").output
            text.write(f"## `discreet {' '.join(words)}`\n\n```text\n{shown.strip()}\n```\n\n")
    (folder / "commands.md").write_text(text.getvalue())


def write_proofs(app):
    """Copy the proof pages, which live beside the code they prove, to where Sphinx finds them; list the mechanisms."""
    from discreet.catalogue import mechanisms

    source = Path(discreet.__file__).parent
    folder = Path(app.srcdir) / "_build" / "generated"
    for page in sorted(source.rglob("*.md")):
        place = folder / "proofs" / page.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(page.read_text())
    rows = [
        f"| [`{entry.name}`](_build/generated/proofs/curator/{entry.name}.md) | {', '.join(entry.answers)} "
        f"| {entry.guarantee} | {entry.summary} | {entry.citation} |\n"
        for entry in mechanisms().values()
    ]
    head = "| mechanism | answers | promises | what it does | source |\n|---|---|---|---|---|\n"
    (folder / "mechanisms.md").write_text(head + "".join(rows))


def inline_math(writer, node):
    """Write a formula as MathML, which browsers show without any script."""
    from docutils import nodes
    from latex2mathml.converter import convert

    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def display_math(writer, node):
    from docutils import nodes
    from latex2mathml.converter import convert

    writer.body.append(f"<div>{convert(node.astext(), display='block')}</div>")
    raise nodes.SkipNode


def setup(app):
    app.connect("builder-inited", write_command_help)
    app.connect("builder-inited", write_proofs)
    app.add_html_math_renderer("mathml", (inline_math, None), (display_math, None))
