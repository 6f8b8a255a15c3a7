"""Results to send on: SVG charts and the HTML report, made of plain values and needing nothing to be shown.

`charts` and `graph` are functions from values to SVG text; the same values give the same bytes. `page` puts the report
together: one HTML file without scripts, fonts or network access. Every text from outside is escaped in `text` and
`tables`. Nothing here reads baskets: a report shows what was released, and nothing else.
"""
