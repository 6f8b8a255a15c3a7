"""Adding up and decoding reports on an NVIDIA card: the same whole numbers as on this machine's cores, bit for bit.

`kernels.cu` is what runs there; `driver` brings arrays to the card and back, by CuPy, and says what is wrong where that
cannot be; `card` counts reports and reads tables of published seeds; `rounds` streams the reports of a round to the
card, or makes them there. Which work goes to a card is decided in one place, `local.oracle_steps.on_card`, and nothing
else knows of it: this room is called by its name, where there is a card and work that is worth it.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
