"""The addition and decoding of reports on an NVIDIA card: integers equal to the sums of the cores, bit for bit.

`kernels.cu` runs on the card. `driver` copies arrays to the card and back by CuPy, and raises a `CardError` with the
reason if that is impossible. `card` counts reports and reads tables of published seeds. `rounds` streams the reports of
a round to the card, or makes them there. One place decides which work goes to a card, `local.oracle_steps.on_card`; it
imports this room by its name on a machine with a card, for work of sufficient size.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
