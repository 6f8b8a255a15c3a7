from ._basis_cover import Basis as Basis, cover_all_pairs as cover_all_pairs
from ._basis_selection import (
    CELL_STEP as CELL_STEP,
    ITEM_COUNT_STEP as ITEM_COUNT_STEP,
    PICK_STEP as PICK_STEP,
    RANK_SHARE as RANK_SHARE,
    RANK_STEP as RANK_STEP,
    BasisMechanism as BasisMechanism,
    BudgetSplit as BudgetSplit,
    min_item_count as min_item_count,
)
from ._candidate_join import join_candidates as join_candidates, rows as rows
from ._cell_estimates import Sums as Sums, add_cells as add_cells, fit_cells as fit_cells
from ._clipped_counting import (
    HISTOGRAM_SHARE as HISTOGRAM_SHARE,
    HISTOGRAM_STEP as HISTOGRAM_STEP,
    LAST_COUNT_STEP as LAST_COUNT_STEP,
    LOSS_SPREAD as LOSS_SPREAD,
    ClippedCount as ClippedCount,
    Histogram as Histogram,
    Tally as Tally,
    average_monotone as average_monotone,
    choose_total as choose_total,
    count_clipped as count_clipped,
    denoise_histogram as denoise_histogram,
    join_tallies as join_tallies,
    measure_histogram as measure_histogram,
)
from ._itemset_choice import ItemsetChoice as ItemsetChoice, check_top as check_top, slack as slack
from ._threshold_levels import Level as Level, MiningRun as MiningRun, ThresholdLevels as ThresholdLevels
from ._truncation import (
    CITATION as CITATION,
    F64 as F64,
    I64 as I64,
    SIZES as SIZES,
    Keep as Keep,
    SizeHistogram as SizeHistogram,
    bound_basket_supports as bound_basket_supports,
    bound_count_before_cut as bound_count_before_cut,
    check_choice as check_choice,
    check_numbers as check_numbers,
    check_shares as check_shares,
    choose_cut_length as choose_cut_length,
    fit_rising as fit_rising,
    posterior_means as posterior_means,
    size_share as size_share,
)
from ._winners import (
    CLIPPED_NOTE as CLIPPED_NOTE,
    FRESH_NOISE_NOTE as FRESH_NOISE_NOTE,
    SHOWN_STEP as SHOWN_STEP,
    count_shown as count_shown,
    recount as recount,
)
