"""Results to send on and to look at: pictures and HTML pages, made of plain values and complete in themselves.

- `charts`, `graph`, `scatter`, `matrix`, `lines` and `slopes` are functions from values to a `Drawing`; equal values
give equal bytes. All colours are in `colours`, by day and by night.
- `charts` makes a picture of drawings, and `plots` lists the pictures of a result.
- `frame` is the frame of every page, with the style sheet and the script of `static`; `tables` are its tables.
- `contents` is the content of a report, `sections` are its parts, and `page` puts it together.

Every text from outside is escaped by the function that builds its markup. Nothing here reads baskets: a report shows
results only.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
