from ._beliefs import Evidence as Evidence, Values as Values
from ._candidates import ErrorShare as ErrorShare, Itemset as Itemset, PatternBeliefs as PatternBeliefs
from ._matrix import (
    WIDEST as WIDEST,
    MatrixProtocol as MatrixProtocol,
    PairSupports as PairSupports,
    Step as Step,
    add_answers as add_answers,
    ask_directions as ask_directions,
    check_means as check_means,
    check_rounds as check_rounds,
    direction_of as direction_of,
    estimate_mean as estimate_mean,
    theta_at as theta_at,
)
from ._priors import ItemsetGuess as ItemsetGuess, shrink_estimates as shrink_estimates
from ._sizes import BINS as BINS, FEW_BINS as FEW_BINS, TYPICAL_SIZE as TYPICAL_SIZE, HeldSizes as HeldSizes
from ._spectral import (
    Direction as Direction,
    Matrix as Matrix,
    MatrixBelief as MatrixBelief,
    Sides as Sides,
    WholeNumbers as WholeNumbers,
    add_ranges as add_ranges,
    bounds as bounds,
    compose_matrix as compose_matrix,
    decomposed as decomposed,
    independent as independent,
    public_signs as public_signs,
    rank_of as rank_of,
    round_direction as round_direction,
    round_pairs as round_pairs,
)
from ._tree import (
    MinedTree as MinedTree,
    Tree as Tree,
    balanced as balanced,
    balanced_at_random as balanced_at_random,
    cut_share as cut_share,
)
