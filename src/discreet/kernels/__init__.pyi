from ._cache import cache_directory as cache_directory
from ._cells import count_cells as count_cells, count_in_columns as count_in_columns, sum_supersets as sum_supersets
from ._clipping import (
    add_weights as add_weights,
    count_members as count_members,
    load_people as load_people,
    plant as plant,
)
from ._compiler import is_kept as is_kept, measure_code as measure_code, set_compile_listener as set_compile_listener
from ._covering import merge_changes as merge_changes
from ._devices import (
    draw_tickets as draw_tickets,
    hash_item as hash_item,
    report_bits as report_bits,
    report_either as report_either,
    report_hashed as report_hashed,
    report_pieces as report_pieces,
    report_points as report_points,
    report_rows as report_rows,
    report_signed as report_signed,
    report_signs as report_signs,
    report_subsets as report_subsets,
    report_values as report_values,
    sample_sets as sample_sets,
    sample_symbols as sample_symbols,
)
from ._generate import fill_baskets as fill_baskets
from ._geometry import count_points as count_points, fold as fold, report_meeting as report_meeting
from ._jit import enabled as enabled, in_threads as in_threads, kernel as kernel, threads as threads
from ._membership import (
    count_below as count_below,
    count_held as count_held,
    count_numbered as count_numbered,
    find_prefixes as find_prefixes,
    gather_rows as gather_rows,
    list_held as list_held,
    list_numbered as list_numbered,
    sum_rows as sum_rows,
)
from ._noise import RESERVE as RESERVE, fill_discrete_laplace as fill_discrete_laplace
from ._pieces import split_rows as split_rows
from ._projecting import LEVEL as LEVEL, project as project
from ._relations import (
    add_bonds as add_bonds,
    count_chains as count_chains,
    pairs_after as pairs_after,
    pairs_given as pairs_given,
    pairs_together as pairs_together,
    project_folded as project_folded,
    project_relations as project_relations,
    project_together as project_together,
)
from ._roots import along_root as along_root, back_from_root as back_from_root, grow_root as grow_root
from ._rows import (
    close_gaps as close_gaps,
    mark_held_codes as mark_held_codes,
    mark_present as mark_present,
    parse_numbers as parse_numbers,
    scatter as scatter,
    sort_rows as sort_rows,
    split_fields as split_fields,
    translate as translate,
)
from ._rules import (
    fill_slots as fill_slots,
    find_itemsets as find_itemsets,
    find_rules as find_rules,
    hash_itemsets as hash_itemsets,
)
from ._supports import (
    COUNTING_TILE as COUNTING_TILE,
    apply_hadamard as apply_hadamard,
    count_bits as count_bits,
    count_symbols as count_symbols,
    count_together as count_together,
    count_windows as count_windows,
)
from ._tables import (
    TABLE_TILE as TABLE_TILE,
    leftover as leftover,
    meet as meet,
    published_seeds as published_seeds,
    report_numbered as report_numbered,
    report_spots as report_spots,
    share_cells as share_cells,
    sum_cells as sum_cells,
    tabulate as tabulate,
)
from ._tiers import Kernel as Kernel, recording as recording
from ._truncate import keep_some as keep_some, number_equal as number_equal
from ._truncate_smart import keep_smart as keep_smart, trim_columns as trim_columns
from .assemble import unsubsumed_by_lists as unsubsumed_by_lists
from .background import compile_one as compile_one
from .counting import count_codes as count_codes, rows_holding as rows_holding
