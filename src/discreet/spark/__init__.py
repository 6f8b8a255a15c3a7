"""The same mechanisms where baskets or reports outgrow one machine: Spark holds them, our kernels count there.

`opening` opens tables, and `reading` makes the baskets of people of them in the cluster, by what `building` does there;
`blocks` is how baskets lie there; `baskets` hands them to the rest of discreet, and `capping` leaves so many of each
person as may take part; `engine` answers every question of `exact.query`; `mining` finds what is frequent,
and `borders` what is not, where baskets are many; `reports` adds up reports of devices; `sums` puts together what tasks
found; `session` starts Spark and says what is wrong where it cannot. Noise is drawn on the driver, by the same code as
everywhere: nothing in this room knows any.

Only data frames and `mapInArrow` are used, so that it runs on classic Spark and on Spark Connect. Nothing else imports
this room: it is called by its name, where baskets turn out to be Spark's.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
