"""Before anything is spent: what each mechanism and protocol would give, and what no one can give.

A forecast reads no data. What is known in public (how many people and items there are, about how long baskets are, how
frequent items are by rank) is enough to imagine a crowd, and over that crowd runs what would run over the real one. A
comparison may be made on the data themselves: it is for the curator's eyes, and says so.
"""

from .bounds import Bounds, least_epsilon, least_epsilon_of_short, sufficient_epsilon
from .comparing import compare
from .forecast import Forecast
from .outlook import Outlook
from .planner import plan
from .shuffle import shuffled

__all__ = [
    "Bounds",
    "Forecast",
    "Outlook",
    "compare",
    "least_epsilon",
    "least_epsilon_of_short",
    "plan",
    "shuffled",
    "sufficient_epsilon",
]
