"""A page of the lab as one HTML file with its figures inside, without any external file."""

from __future__ import annotations

import re
from html import escape, unescape
from pathlib import Path

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1, h2 { line-height: 1.25 }
h2 { margin-top: 2.5rem; border-top: 1px solid #dddddd; padding-top: 1rem }
figure { margin: 1rem 0; overflow-x: auto }
figure > * { max-width: 100%; height: auto }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: 0.85rem }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.6rem; border-bottom: 1px solid #dddddd }
code { font-size: 0.9em; overflow-wrap: anywhere }
summary { cursor: pointer; color: #0072b2 }
@media print { details > * { display: block } }
"""


def write_html(page: Path, path: Path) -> Path:
    """Write a Markdown page of `pages` as one HTML file, and return its path.

    Parameters
    ----------
    page
        The path of the Markdown page, with its figures beside it.
    path
        The path of the HTML file.
    """
    from markdown_it import MarkdownIt

    text = page.read_text(encoding="utf-8")
    # A single file has no list of the pages of a site.
    text = re.sub(r"```\{toctree\}.*?```\n", "", text, flags=re.DOTALL)
    text = re.sub(r"\]\((\w+)\.md\)", r"](\1.html)", text).replace("[the lab](../lab.md)", "`discreet lab --help`")
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    body = re.sub(
        r'<p><img src="([^"]+)" alt="([^"]*)" ?/?></p>',
        lambda match: _embed_figure(page.parent / unescape(match[1])),
        body,
    )
    body = body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
    title = text.partition("\n")[0].removeprefix("# ")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        encoding="utf-8",
    )
    return path


def _embed_figure(path: Path) -> str:
    """Return a figure as an element of the page."""
    return f"<figure>{path.read_text(encoding='utf-8')}</figure>"
