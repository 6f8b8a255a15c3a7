"""The look of the report on a screen, a telephone and paper, and the policy that lets in this look and nothing else."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from ..results.promise import SIMULATED

_STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 3rem; }
body {
  margin: 0; background: #fff; color: #1a1a1a; font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto,
  "Helvetica Neue", Arial, sans-serif;
}
main, header, footer { max-width: 56rem; margin: 0 auto; padding: 0 1.5rem; }
header { padding-top: 2.5rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .4rem; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 2.8rem 0 .7rem; padding-top: .6rem; border-top: 2px solid #1a1a1a; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p, ul, dl, table, figure { margin: 0 0 1rem; }
p, li, dd, td, th { overflow-wrap: anywhere; }
a { color: #174a68; }
.quiet, figcaption { color: #555; font-size: .92rem; }
.lead { font-size: 1.1rem; }
nav ul { list-style: none; padding: 0; margin: 1rem 0 0; display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .8rem; margin: 1.6rem 0 0; }
.figures div { border: 1px solid #ccc; border-radius: 6px; padding: .7rem .9rem; }
.figures dt { color: #555; font-size: .85rem; }
.figures dd { margin: 0; font-size: 1.45rem; line-height: 1.25; font-variant-numeric: tabular-nums; }
.margin { margin: .6rem 0 0; }
.facts { display: grid; grid-template-columns: minmax(8rem, 14rem) 1fr; gap: .35rem 1.2rem; }
.facts dt { color: #555; }
.facts dd { margin: 0; }
.promise { border-left: 5px solid #3d7ea6; padding: .2rem 0 .2rem 1.1rem; margin: 0 0 1rem; }
.promise p:last-child { margin-bottom: 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .95rem; }
caption { text-align: left; color: #555; font-size: .92rem; padding-bottom: .4rem; }
th, td { padding: .32rem .55rem; border-bottom: 1px solid #ddd; vertical-align: top; }
th { text-align: left; font-weight: 600; }
tbody th { font-weight: 400; }
th.number, td { text-align: right; white-space: nowrap; overflow-wrap: normal; }
td svg { margin-left: .8rem; vertical-align: middle; }
thead th { position: sticky; top: 0; background: #fff; border-bottom: 0; box-shadow: inset 0 -2px #1a1a1a; }
figure svg { display: block; }
.wide { overflow-x: auto; }
.wide svg { min-width: 36rem; }
footer { color: #555; font-size: .88rem; padding-bottom: 3rem; margin-top: 3rem; }
@media (max-width: 40rem) {
  body { font-size: 15px; }
  main, header, footer { padding-left: 1rem; padding-right: 1rem; }
  header { padding-top: 1.4rem; }
  h1 { font-size: 1.5rem; }
  table, thead, tbody { display: block; }
  caption { display: block; }
  tr { display: flex; flex-wrap: wrap; border-bottom: 1px solid #ddd; padding: .3rem 0; }
  th, td { border: 0; padding: 0 .2rem; }
  tr th:first-child { flex: 0 0 100%; }
  th.number, td { flex: 1 1 0; }
  thead { position: sticky; top: 0; background: #fff; box-shadow: inset 0 -2px #1a1a1a; }
  thead th { position: static; box-shadow: none; }
  .facts { grid-template-columns: 1fr; gap: 0; }
  .facts dd { margin-bottom: .6rem; }
  td svg { display: none; }
}
@page {
  size: A4; margin: 16mm 15mm;
  @bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif; }
}
@media print {
  html { font-size: 10pt; }
  body { font-size: 1rem; }
  main, header, footer { max-width: none; padding: 0; }
  nav { display: none; }
  header { padding-top: .6rem; }
  h2 { margin-top: 2rem; }
  h2, h3, caption, .before { break-after: avoid; }
  figure:not(.pieces), .pieces svg, .before, tr, .promise, .figures, li { break-inside: avoid; }
  thead { display: table-header-group; }
  thead th { position: static; box-shadow: none; border-bottom: 2px solid #1a1a1a; }
  .wide { overflow: visible; }
  .wide svg { min-width: 0; }
  a { color: inherit; text-decoration: none; }
}
"""

# The word is on every screenful, in every heading and on every sheet, so that no excerpt loses it.
_SIMULATED = """
.simulated {
  position: sticky; top: 0; z-index: 2; height: 2.8rem; overflow: hidden; background: #fff3d6; border: 4px double #a33;
  text-align: center; font-weight: 700; padding: .35rem 1rem; margin: 0;
}
main thead, main thead th { top: 2.8rem; }
h1::before { content: "SIMULATED: "; color: #a33; }
h2::after { content: " (simulated)"; color: #a33; }
@media print { .simulated { position: static; } }
"""
_SHEET = f'@page {{ @top-center {{ content: "{SIMULATED}"; font: 700 10pt sans-serif; color: #a33; }} }}\n'


def style(simulated: bool) -> str:
    """Return the style sheet."""
    return _STYLE + _SIMULATED + _SHEET if simulated else _STYLE


def policy(sheet: str) -> str:
    """Return the policy that allows this style sheet and nothing else: no script, no image, no font, no request."""
    allowed = b64encode(sha256(sheet.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{allowed}'; base-uri 'none'; form-action 'none'"
