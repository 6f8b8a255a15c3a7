"""Baskets and reports that outgrow one machine: Spark stores them, and the kernels of this package count there.

`opening` opens tables; `reading` shuffles their rows by person, and `building` builds blocks; `blocks` is the
layout of baskets in the cluster. `baskets` is the data set for the rest of discreet, and `capping` limits the baskets
of a person. `engine` answers the queries of `exact`; `mining` finds frequent patterns, and `borders` rare patterns of
large data. `reports` adds up reports of devices; `sums` combines the results of tasks. `session` starts Spark and
turns its errors into one sentence. Noise is drawn on the driver, by the code of all rooms; none is drawn here.

Only data frames and `mapInArrow` are used, so that the code runs on classic Spark and on Spark Connect. No other room
imports this room: it is called by its name for baskets of Spark.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
