"""Results to send on: SVG charts and the HTML report, made of plain values and needing nothing to be shown."""
