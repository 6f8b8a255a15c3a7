from ._budget import (
    GRID as GRID,
    Budget as Budget,
    Charge as Charge,
    Neighbours as Neighbours,
    Relation as Relation,
    compose as compose,
    epsilon_for as epsilon_for,
    exact as exact,
    rho_for as rho_for,
    rounded_up as rounded_up,
    serious as serious,
    shown as shown,
)
from ._guarantee import Guarantee as Guarantee
from ._meter import (
    CONFIDENCE as CONFIDENCE,
    Candidates as Candidates,
    ItemTuple as ItemTuple,
    Meter as Meter,
    Noisy as Noisy,
    SelectedItemsets as SelectedItemsets,
    Way as Way,
    moves as moves,
    normal_point as normal_point,
)
from ._sealed import I64 as I64, SealedAnswer as SealedAnswer, SealedEngine as SealedEngine, unsealed as unsealed
