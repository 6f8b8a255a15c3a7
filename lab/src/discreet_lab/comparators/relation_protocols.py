"""What Dong et al. 2024 compare on relations, as protocols with settings: one setting for all of them.

Three in ten people answer for the items, seven in ten for relations. Which keys, tables and candidates the others use
is not in the article; what is taken here says the docstring of each protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.exact import How
from discreet.local import Protocol
from discreet.local.protocols import CALM, PCKV, PairsProtocol, RelationMiner, RelationsFull

CHAINS = "`relations`, with chains"

# SVIM as published, with relations for its items. Its first step keeps two candidates for each of k_s, which is nearly
# all pairs of k items: those people answer for the candidates instead.
_SVIM: Mapping[str, Any] = {
    "finder": "svim",
    "size_oracle": "olh",
    "oracle": "grr-or-olh",
    "padding": "percentile",
    "sizes": "each",
    "prior": "none",
}


def compared(how: How = "together", *, items: int = 64, support: int = 1600, cascade: int = 0) -> dict[str, Protocol]:
    """Return the protocols of table 3 and figures 3 and 4 by name, and what this package adds.

    Both forms of LDP-RM are there without rounds, and with the items of the other form: what comes of the matrix, and
    what of the items it is about, is told apart.

    Parameters
    ----------
    how
        What makes a relation. A table of items says nothing about order, so CALM is there for ``"together"`` alone.
    items, support
        The article's k and k_s.
    cascade
        How many relations become items, where relations ((a, b), c) are wanted too: adds `relations` with chains, which
        alone finds any. The others find the pairs among what is wanted.
    """
    common: Mapping[str, Any] = {"how": how, "items": items, "support": support}
    tables: dict[str, Protocol] = {"CALM": CALM(items=items, support=support)} if how == "together" else {}
    chained: dict[str, Protocol] = {CHAINS: RelationMiner(cascade=cascade, **common)} if cascade else {}
    return {
        "LDP-RM": RelationMiner(form="printed", **common),
        "LDP-RM, no rounds": RelationMiner(form="printed", rounds=0, **common),
        "LDP-RM, items by `svim-better`": RelationMiner(form="printed", finder="svim-better", **common),
        "SVSM": PairsProtocol(guessed=True, **_SVIM, **common),
        **tables,
        "SVIM": PairsProtocol(**_SVIM, **common),
        "PCKV": PCKV(**common),
        "HM-RM": RelationsFull(**common),
        "`relations`": RelationMiner(**common),
        "`relations`, no rounds": RelationMiner(rounds=0, **common),
        "`relations`, items by `svim`": RelationMiner(finder="svim", **common),
        **chained,
        "`pairs`": PairsProtocol(**common),
    }
