from ._clipping import is_every_item as is_every_item
from ._engine import (
    Engine as Engine,
    ExactEngine as ExactEngine,
    FrequentSets as FrequentSets,
    LocalEngine as LocalEngine,
    RemoteBaskets as RemoteBaskets,
    engine_of as engine_of,
)
from ._judging import (
    Codes as Codes,
    ListedPatterns as ListedPatterns,
    WantedPatterns as WantedPatterns,
    judged as judged,
    listed_patterns as listed_patterns,
    tuples_of as tuples_of,
)
from ._metrics import (
    CountsLike as CountsLike,
    HasCounts as HasCounts,
    ItemsetsLike as ItemsetsLike,
    RelationScore as RelationScore,
    counts_of as counts_of,
    cumulative_rank as cumulative_rank,
    f_score as f_score,
    false_negative_rate as false_negative_rate,
    precision as precision,
    rank_itemsets as rank_itemsets,
    recall as recall,
    score_relations as score_relations,
    squared_error as squared_error,
)
from ._mine import mine as mine, rules as rules, threshold_of_rules as threshold_of_rules
from ._query import (
    LARGEST_BASIS as LARGEST_BASIS,
    PARTS as PARTS,
    BasketCount as BasketCount,
    BasketsEach as BasketsEach,
    Cells as Cells,
    ClippedCounts as ClippedCounts,
    Kth as Kth,
    KthClipped as KthClipped,
    Largest as Largest,
    LoadHistogram as LoadHistogram,
    Query as Query,
    Sensitivity as Sensitivity,
    Sizes as Sizes,
    Supports as Supports,
    Truncation as Truncation,
    lengths_for as lengths_for,
)
from ._relations import (
    MERGED_NOTE as MERGED_NOTE,
    How as How,
    checked_how as checked_how,
    held_pairs as held_pairs,
    pair_counts as pair_counts,
    relations as relations,
    usual_how as usual_how,
)
from ._rows import RowLayout as RowLayout, by_count as by_count, ranks_of as ranks_of
from ._search import (
    FoundArrays as FoundArrays,
    Progress as Progress,
    SearchBounds as SearchBounds,
    assemble_sets as assemble_sets,
    check_subset_count as check_subset_count,
    too_many as too_many,
    with_prefix as with_prefix,
)
from ._universe import MAX_NUMBER_BITS as MAX_NUMBER_BITS, Universe as Universe
