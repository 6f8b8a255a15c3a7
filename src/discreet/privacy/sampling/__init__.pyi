from ._samplers import (
    discrete_gaussian as discrete_gaussian,
    discrete_laplace as discrete_laplace,
    shorten_fraction as shorten_fraction,
)
from ._sources import SimulationSource as SimulationSource, Source as Source, SystemSource as SystemSource
from .intervals import Interval as Interval
from .selection import Selection as Selection, Tallies as Tallies
