"""How the documentation is built."""

import io
from pathlib import Path

import discreet
import discreet_lab

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

    from discreet.cli import app as commands

    folder = Path(app.srcdir) / "_build" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    runner = CliRunner(env={"NO_COLOR": "1", "TERMINAL_WIDTH": "88"})
    text = io.StringIO()

    def write(words, command):
        help_text = runner.invoke(commands, [*words, "--help"], prog_name="discreet").output
        text.write(f"## `{' '.join(['discreet', *words])}`\n\n```text\n{help_text.strip()}\n```\n\n")
        for name, inner in getattr(command, "commands", {}).items():
            write([*words, name], inner)

    write([], get_command(commands))
    (folder / "commands.md").write_text(text.getvalue())


def write_proofs(app):
    """Copy the proof pages, which live beside the code they prove, to where Sphinx finds them."""
    proofs = Path(app.srcdir) / "_build" / "generated" / "proofs"
    for package, folder in ((discreet, proofs), (discreet_lab, proofs / "lab")):
        source = Path(package.__file__).parent
        for page in sorted(source.rglob("*.md")):
            place = folder / page.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(page.read_text())


def write_registry(app):
    """Write a table of all mechanisms, one of all protocols and one of all oracles, each linked to its proof page."""
    from discreet.registry import mechanisms, oracles, protocols

    source = Path(discreet.__file__).parent
    for name, entries in {"mechanisms": mechanisms(), "protocols": protocols(), "oracles": oracles()}.items():
        rows = [f"| {name.removesuffix('s')} | answers | promises | what it does | source |", "|---|---|---|---|---|"]
        rows += [
            f"| [`{entry.name}`](_build/generated/proofs/{entry.proof.relative_to(source)}) "
            f"| {', '.join(entry.answers)} | {entry.guarantee} | {entry.summary} | {entry.citation} |"
            for entry in entries.values()
            if entry.package == "discreet"  # others that are installed where the pages are built are not ours to list
        ]
        (Path(app.srcdir) / "_build" / "generated" / f"{name}.md").write_text("\n".join(rows) + "\n")


def write_formats(app):
    """Write a table of all formats of files."""
    from discreet.results import FORMATS

    rows = ["| suffix | `--format` | |", "|---|---|---|"]
    for form in FORMATS:
        suffixes = ", ".join(f"`{suffix}`" for suffix in form.suffixes)
        name = f"`{form.name}`" if "rows" in form.contents else ""
        rows.append(f"| {suffixes} | {name} | {form.summary} |")
    (Path(app.srcdir) / "_build" / "generated" / "formats.md").write_text("\n".join(rows) + "\n")


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
    app.connect("builder-inited", write_registry)
    app.connect("builder-inited", write_formats)
    app.add_html_math_renderer("mathml", (inline_math, None), (display_math, None))
