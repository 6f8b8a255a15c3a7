from ._collect import collect as collect
from ._conversation import (
    MOST_PATTERNS as MOST_PATTERNS,
    Ask as Ask,
    Conversation as Conversation,
    Estimate as Estimate,
    Partition as Partition,
    PeopleGroup as PeopleGroup,
    ProtocolResult as ProtocolResult,
    RelationEstimates as RelationEstimates,
    RoundGenerator as RoundGenerator,
    StudyGoal as StudyGoal,
    compute_guarantee as compute_guarantee,
    converse as converse,
)
from ._device_baskets import (
    check_levels as check_levels,
    draw_baskets as draw_baskets,
    expected_counts as expected_counts,
    render_drawing_note as render_drawing_note,
    true_patterns as true_patterns,
)
from ._liars import LiarBounds as LiarBounds
from ._outcome import (
    Outcome as Outcome,
    Round as Round,
    attach_provenance as attach_provenance,
    build_outcome as build_outcome,
    build_patterns as build_patterns,
    build_rules as build_rules,
)
from ._pair_questions import (
    FoldedProjection as FoldedProjection,
    KeyQuestion as KeyQuestion,
    NumberQuestion as NumberQuestion,
    Pair as Pair,
    Projection as Projection,
    RelationItems as RelationItems,
    Relations as Relations,
    sides as sides,
)
from ._questions import (
    CandidateList as CandidateList,
    CandidateQuestion as CandidateQuestion,
    CellQuestion as CellQuestion,
    DeviceQuestion as DeviceQuestion,
    PrefixQuestion as PrefixQuestion,
    QuestionCandidates as QuestionCandidates,
    SizeQuestion as SizeQuestion,
)
from ._rounds import (
    LARGEST_SIZE as LARGEST_SIZE,
    MIN_SHARE as MIN_SHARE,
    PADDINGS as PADDINGS,
    TYPICAL_FREQUENCY as TYPICAL_FREQUENCY,
    CandidateEstimates as CandidateEstimates,
    Padding as Padding,
    SizeBinning as SizeBinning,
    SizesRound as SizesRound,
    Values as Values,
    asked_candidates as asked_candidates,
    check_candidates as check_candidates,
    check_padding as check_padding,
    check_parts as check_parts,
    check_room as check_room,
    check_shares as check_shares,
    estimate_candidates as estimate_candidates,
    frequency_at as frequency_at,
    size_bins as size_bins,
    truncation_error as truncation_error,
)
from ._scores import scored_relations as scored_relations
from ._screening import (
    RoundReader as RoundReader,
    Sums as Sums,
    count_pairs as count_pairs,
    screen_reports as screen_reports,
    screen_round as screen_round,
    sum_left_out as sum_left_out,
    sum_reports as sum_reports,
    tail_margin as tail_margin,
)
from ._seeded_words import SeededWords as SeededWords, seed_of as seed_of
from ._simulate import SimulatedPeople as SimulatedPeople, simulate as simulate
from ._texts import TextNumbers as TextNumbers, check_texts as check_texts
from ._written import parse_round as parse_round
