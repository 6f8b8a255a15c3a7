"""Results to send on and to look at: pictures and HTML pages, made of plain values and needing nothing to be shown.

- `charts`, `graph`, `scatter`, `matrix` are functions from values to a `Drawing`; the same values give the same bytes.
  All colours are in `colours`, by day and by night.
- `mount` makes a picture of drawings that stands by itself, and `plots` says which pictures a result has.
- `frame` is the frame of every page, with the style of `style` and the script of `script`; `tables` are its tables.
- `contents` is what a report tells, `sections` are its parts, and `page` puts it together.

Every text from outside is escaped where markup is made. Nothing here reads baskets: a report shows what was found or
released, and nothing else.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
