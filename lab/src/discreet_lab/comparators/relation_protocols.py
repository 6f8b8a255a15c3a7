"""The protocols for relations in the comparison of Dong et al. 2024, with one setting for all protocols.

Three in ten people answer for the items, seven in ten for relations. The article leaves out keys, tables and candidates
of the further protocols; the docstring of each protocol says the choice here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.exact import How
from discreet.local import Protocol
from discreet.local.protocols import CALM, PCKV, PairsProtocol, RelationMiner, RelationsFull

CHAINS = "`relations`, with chains"

# SVIM as published, with relations for its items. Its first step would keep two candidates for each of k_s, nearly all
# pairs of k items: its people answer for the candidates instead.
_SVIM: Mapping[str, Any] = {
    "finder": "svim",
    "size_oracle": "olh",
    "oracle": "grr-or-olh",
    "padding": "percentile",
    "sizes": "each",
    "prior": "none",
}


def list_protocols(
    how: How = "together", *, items: int = 64, support: int = 1600, cascade: int = 0
) -> dict[str, Protocol]:
    """Return the protocols of table 3 and figures 3 and 4 by name, and the protocols of this package.

    Both forms of LDP-RM are also run without rounds, and with the items of the second form: this separates the effect
    of the matrix from the effect of its items.

    Parameters
    ----------
    how
        The kind of relation. A table of items has no order, so that CALM is only in ``"together"``.
    items, support
        The article's k and k_s.
    cascade
        The number of relations that become items, for relations ((a, b), c): adds `relations` with chains, the only
        protocol that finds them. The further protocols find the pairs among the wanted relations.
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
