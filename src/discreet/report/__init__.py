"""Results to send on and to look at: pictures and HTML pages, made of plain values and complete in themselves.

- `svg` has the elements of drawings; `charts`, `graph`, `scatter`, `matrix`, `lines` and `slopes` are functions from
values to a `Drawing`; equal values give equal bytes. All colours are in `colours`, by day and by night.
- `charts` makes a picture of drawings, and `plots` lists the pictures of a result.
- `templates` has the sentences and the HTML of all pages; the module of this name renders them, and escapes every text.
- `frame` adds the frame of a page, with the style sheet and the script of `static`; `tables` are the tables of pages.
- `contents` is the content of a report; `page`, `overview`, `forecast` and the two `compared` modules compute the
values of one page each.

Nothing here reads baskets: a report shows results only.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
