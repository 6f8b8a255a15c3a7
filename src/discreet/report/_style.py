"""The look of a page by day and by night, on a screen, a telephone and paper, and the policy that lets in nothing else.

A page says on every screenful, in every heading and on every sheet if it is not a private release, so that no excerpt
loses it.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import Literal, TypeAlias

from ..results import FOR_THE_CURATOR, NOT_PRIVATE, SIMULATED
from .colours import night, variables

Standing: TypeAlias = Literal["private", "simulated", "exact", "not private"]

_STYLE = """
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 3rem; }
body {
  margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto,
  "Helvetica Neue", Arial, sans-serif;
}
main, header, footer { max-width: 56rem; margin: 0 auto; padding: 0 1.5rem; }
header { padding-top: 2.5rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .4rem; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 {
  font-size: 1.3rem; line-height: 1.3; margin: 2.8rem 0 .7rem; padding-top: .6rem; border-top: 2px solid var(--ink);
}
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p, ul, dl, figure { margin: 0 0 1rem; }
p, li, dd { overflow-wrap: anywhere; }
a { color: var(--link); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.quiet, figcaption { color: var(--quiet); font-size: .92rem; }
.lead { font-size: 1.1rem; }
.up { margin: 0 0 .6rem; }
nav ul { list-style: none; padding: 0; margin: 1rem 0 0; display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .8rem; margin: 1.6rem 0 0; }
.figures div { border: 1px solid var(--rule); border-radius: 6px; padding: .7rem .9rem; }
.figures dt { color: var(--quiet); font-size: .85rem; }
.figures dd { margin: 0; font-size: 1.45rem; line-height: 1.25; font-variant-numeric: tabular-nums; }
.findings { padding: 0; list-style: none; }
.findings li { border-left: 5px solid var(--full); padding: .1rem 0 .1rem .9rem; margin: 0 0 .6rem; }
.facts { display: grid; grid-template-columns: minmax(8rem, 14rem) 1fr; gap: .35rem 1.2rem; }
.facts dt { color: var(--quiet); }
.facts dd { margin: 0; }
.promise { border-left: 5px solid var(--full); padding: .2rem 0 .2rem 1.1rem; margin: 0 0 1rem; }
.promise p:last-child { margin-bottom: 0; }
.filter { margin: 0 0 .4rem; font-size: .92rem; }
.filter input, .filter select {
  font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--quiet); border-radius: 4px;
  padding: .15rem .4rem; max-width: 100%;
}
details { border-top: 1px solid var(--rule); padding: .5rem 0; }
summary { cursor: pointer; font-weight: 600; }
summary .quiet { font-weight: 400; }
details > :nth-child(2) { margin-top: .7rem; }
figure g:hover > rect { opacity: .75; }
.dim [data-n] { opacity: .12; }
.dim .lit { opacity: 1; }
.tip {
  position: fixed; z-index: 5; max-width: min(22rem, 90vw); padding: .3rem .6rem; border-radius: 4px; font-size: .88rem;
  background: var(--ink); color: var(--paper); pointer-events: none; overflow-wrap: anywhere;
}
footer { color: var(--quiet); font-size: .88rem; padding-bottom: 3rem; margin-top: 3rem; }
@media (max-width: 40rem) {
  body { font-size: 15px; }
  main, header, footer { padding-left: 1rem; padding-right: 1rem; }
  header { padding-top: 1.4rem; }
  h1 { font-size: 1.5rem; }
  .figures { grid-template-columns: 1fr 1fr; gap: .5rem; margin-top: 1rem; }
  .figures dd { font-size: 1.2rem; }
  .facts { grid-template-columns: 1fr; gap: 0; }
  .facts dd { margin-bottom: .6rem; }
}
"""

# What `tables.table` and `frame.figure` draw, wherever it stands: `:where` adds no weight, so that the page around has
# the last word. Tables of others have no class `rows`.
_DRAWN = """
:where(.rows) {
  border-collapse: collapse; width: 100%; margin: 0 0 1rem; font-variant-numeric: tabular-nums; font-size: .95rem;
}
:where(.rows) caption { text-align: left; color: var(--quiet); font-size: .92rem; padding-bottom: .4rem; }
:where(.rows) :is(th, td) {
  padding: .32rem .55rem; border-bottom: 1px solid var(--rule); vertical-align: top; overflow-wrap: anywhere;
}
:where(.rows) th { text-align: left; font-weight: 600; }
:where(.rows) tbody th { font-weight: 400; min-width: 9rem; }
.many { font-size: .86rem; }
.many th, .many td { padding-left: .3rem; padding-right: .3rem; }
.many td.words { white-space: nowrap; }
.many tr > th:first-child { min-width: 12rem; }
:where(.rows) tbody tr:hover { background: var(--pale); }
:where(.rows) tbody tr.noise > * { border-top: 2px dashed var(--quiet); }
:where(.rows) tr[hidden] { display: none; }
:where(.rows) th.number, :where(.rows) td { text-align: right; white-space: nowrap; overflow-wrap: normal; }
:where(.rows) td.words { text-align: left; white-space: normal; }
:where(.rows) td svg { margin-left: .8rem; vertical-align: middle; }
:where(.rows) thead th {
  position: sticky; top: 0; background: var(--paper); border-bottom: 0; box-shadow: inset 0 -2px var(--ink);
}
.wide :where(.rows) thead th { position: static; overflow-wrap: break-word; }
.wide :where(.rows) tbody th { min-width: 12rem; overflow-wrap: break-word; }
:where(.rows) thead button { all: unset; cursor: pointer; font-weight: 600; }
:where(.rows) thead button:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
:where(.rows) thead button::after { content: "↕"; color: var(--quiet); font-size: .75em; margin-left: .25em; }
:where(.rows) [aria-sort="ascending"] button::after { content: "↑"; color: var(--ink); }
:where(.rows) [aria-sort="descending"] button::after { content: "↓"; color: var(--ink); }
figure, .wide { overflow-x: auto; }
figure svg { display: block; }
svg[viewBox] { max-width: 100%; height: auto; }
.scrolls svg[viewBox] { max-width: max(100%, 52rem); }
.narrow { display: none; }
@media (max-width: 40rem) {
  .broad { display: none; }
  .narrow { display: block; }
  :where(.rows), :where(.rows) :is(thead, tbody, caption) { display: block; }
  :where(.rows) tr { display: flex; flex-wrap: wrap; border-bottom: 1px solid var(--rule); padding: .3rem 0; }
  :where(.rows) :is(th, td) { border: 0; padding: 0 .2rem; }
  :where(.rows) tr.noise { border-top: 2px dashed var(--quiet); }
  :where(.rows) tbody tr.noise > * { border-top: 0; }
  :where(.rows) tr th:first-child { flex: 0 0 100%; min-width: 0; overflow-wrap: anywhere; }
  :where(.rows) th.number, :where(.rows) td { flex: 1 1 0; }
  :where(.rows) td.words, :where(.rows) thead th:not(.number) { flex: 0 0 100%; }
  :where(.rows) thead {
    position: sticky; top: 0; background: var(--paper); box-shadow: inset 0 -2px var(--ink); font-size: .85rem;
  }
  :where(.rows) thead th { position: static; box-shadow: none; }
  .swiped { overflow-x: auto; }
  .many tr:not([hidden]) { display: grid; }
  .many thead { position: static; font-size: .72rem; }
  .many tr > th:first-child {
    min-width: 0; max-width: calc(100vw - 2rem); grid-column: 1 / -1; position: sticky; left: 0; top: auto;
  }
  %(many)s
  :where(.rows) td svg { display: none; }
}
""".replace(
    "%(many)s",
    "\n  ".join(
        f".of-{many} tr {{ grid-template-columns: repeat({many}, minmax(5.4rem, 1fr)); }}" for many in range(4, 13)
    ),
)

_PRINTED = """
@page {
  size: A4; margin: 16mm 15mm;
  @bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif; }
}
@media print {
  html { font-size: 10pt; }
  body { font-size: 1rem; }
  main, header, footer { max-width: none; padding: 0; }
  nav, .filter, .tip { display: none; }
  .broad { display: block; }
  .narrow { display: none; }
  header { padding-top: .6rem; }
  h2 { margin-top: 2rem; }
  h2, h3, caption, .before { break-after: avoid; }
  figure:not(.pieces), .pieces svg, .before, tr, .promise, .figures, li { break-inside: avoid; }
  thead { display: table-header-group; }
  details::details-content { content-visibility: visible; display: block; }
  thead th { position: static; box-shadow: none; border-bottom: 2px solid var(--ink); }
  thead button::after { content: ""; }
  figure, .wide { overflow: visible; }
  .scrolls svg[viewBox] { max-width: 100%; }
  a { color: inherit; text-decoration: none; }
}
"""

_MARKED = """
.standing {
  position: sticky; top: 0; z-index: 2; height: 2.8rem; overflow: hidden; background: var(--alarm-paper);
  border: 4px double var(--alarm); text-align: center; font-weight: 700; padding: .35rem 1rem; margin: 0;
}
main thead, main thead th { top: 2.8rem; }
h1::before { content: "%(word)s: "; color: var(--alarm); }
h2::after { content: " (%(small)s)"; color: var(--alarm); }
@media print { .standing { position: static; } }
@page { @top-center { content: "%(said)s"; font: 700 10pt sans-serif; color: #a03030; } }
"""
STANDINGS: dict[Standing, str] = {
    "simulated": SIMULATED,
    "exact": NOT_PRIVATE,
    "not private": FOR_THE_CURATOR,
}


def style(standing: Standing) -> str:
    """Return the style sheet of a page."""
    said = STANDINGS.get(standing)
    marked = "" if said is None else _MARKED % {"word": standing.upper(), "small": standing, "said": said}
    return f"{variables()}{_STYLE}{_DRAWN}{_PRINTED}{marked}{night()}"


def drawn_style() -> str:
    """Return the colours and the rules of tables and figures, for pages that have a style sheet of their own."""
    return f"{variables()}{_DRAWN}{night()}"


def policy(sheet: str, script: str = "") -> str:
    """Return the policy that allows this style sheet and this script, and nothing else: no image, font or request."""
    run = f"; script-src {_hashed(script)}" if script else ""
    return f"default-src 'none'; style-src {_hashed(sheet)}{run}; base-uri 'none'; form-action 'none'"


def _hashed(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
