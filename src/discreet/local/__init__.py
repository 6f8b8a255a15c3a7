"""The side that never sees a basket: every device sends one randomised report, and a collector learns the patterns.

``device/`` runs where the data are. It checks a question, makes one randomised answer, and needs the standard library
alone. ``oracles/`` are the ways to randomise one answer and to estimate frequencies from many; each states its exact
probabilities. ``protocols/`` lead a conversation: which questions, to which people, in which rounds. Both folders have
one file and one proof page per entry, and the registry scans them.

``study/`` holds the conversation itself: questions, rounds, `collect` (reports in, an estimate out), the outcome, and
the simulator that plays all devices. ``estimation/`` is the statistics that protocols share. `client` below is what
runs on a device; `draw_basket` is which of several baskets it answers for.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
