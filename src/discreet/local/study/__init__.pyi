from ._asked import asked as asked
from ._collect import collect as collect
from ._conversation import (
    MOST_PATTERNS as MOST_PATTERNS,
    Ask as Ask,
    Conversation as Conversation,
    Estimate as Estimate,
    Learnt as Learnt,
    Partition as Partition,
    Related as Related,
    Talk as Talk,
    Wanted as Wanted,
    Who as Who,
    converse as converse,
    promised as promised,
)
from ._levels import check_levels as check_levels
from ._liars import LiarBounds as LiarBounds
from ._one_basket import drawn as drawn, expected as expected, said as said, true_patterns as true_patterns
from ._outcome import (
    Outcome as Outcome,
    Round as Round,
    as_patterns as as_patterns,
    as_rules as as_rules,
    concluded as concluded,
    told_with as told_with,
)
from ._pair_questions import (
    Folded as Folded,
    HowManyRelations as HowManyRelations,
    Items as Items,
    NumberQuestion as NumberQuestion,
    Pair as Pair,
    Projection as Projection,
    Relations as Relations,
    Valued as Valued,
    WhichRelations as WhichRelations,
    sides as sides,
)
from ._questions import (
    BinnedCount as BinnedCount,
    CandidateList as CandidateList,
    CellOfBlock as CellOfBlock,
    DeviceQuestion as DeviceQuestion,
    HowMany as HowMany,
    Prefix as Prefix,
    Which as Which,
)
from ._rounds import (
    LEAST_SHARE as LEAST_SHARE,
    LONGEST as LONGEST,
    NEAR as NEAR,
    AskedValues as AskedValues,
    Estimated as Estimated,
    Padding as Padding,
    SizeBinning as SizeBinning,
    SizesRound as SizesRound,
    Values as Values,
    check_padding as check_padding,
    check_parts as check_parts,
    check_room as check_room,
    check_shares as check_shares,
    checked as checked,
    cut_off as cut_off,
    estimating as estimating,
    how_many as how_many,
    last_of as last_of,
    size_bins as size_bins,
)
from ._screening import (
    Over as Over,
    Sums as Sums,
    counted as counted,
    far as far,
    paired as paired,
    screened as screened,
    screened_over as screened_over,
    sifted as sifted,
)
from ._seeded_words import SeededWords as SeededWords, seed_of as seed_of
from ._simulate import SimulatedPeople as SimulatedPeople, scored_relations as scored_relations, simulate as simulate
from ._texts import TextNumbers as TextNumbers, check_texts as check_texts
