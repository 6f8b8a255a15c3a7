from ._arrow import as_arrow as as_arrow, as_numpy as as_numpy
from ._build import (
    Labels as Labels,
    Rows as Rows,
    build_baskets as build_baskets,
    parse_labels as parse_labels,
    sort_labels as sort_labels,
)
from ._call import ReadOptions as ReadOptions
from ._capping import (
    MOST_BASKETS as MOST_BASKETS,
    PeopleOverCap as PeopleOverCap,
    SegmentOfPeople as SegmentOfPeople,
    draw_one_basket_each as draw_one_basket_each,
    resample as resample,
    resolve_basket_cap as resolve_basket_cap,
    select_baskets as select_baskets,
    spawn_seeds as spawn_seeds,
)
from ._columns import (
    EXACT_FLOAT_LIMIT as EXACT_FLOAT_LIMIT,
    Column as Column,
    ColumnChecks as ColumnChecks,
    Table as Table,
)
from ._core import (
    AnyBaskets as AnyBaskets,
    Baskets as Baskets,
    Codes as Codes,
    Item as Item,
    ItemTable as ItemTable,
    Offsets as Offsets,
    Pairs as Pairs,
    Segments as Segments,
    Sequences as Sequences,
    Unit as Unit,
    Vocabulary as Vocabulary,
    build_empty_baskets as build_empty_baskets,
    require_local_baskets as require_local_baskets,
    starts as starts,
    take_rows as take_rows,
)
from ._frames import is_spark_frame as is_spark_frame
from ._generate import (
    build_from_events as build_from_events,
    check_counts as check_counts,
    check_shares as check_shares,
    draw_background as draw_background,
    groceries as groceries,
    groceries_catalogue as groceries_catalogue,
    groceries_rows as groceries_rows,
    number_vocabulary as number_vocabulary,
    quest as quest,
)
from ._generate_relations import applets as applets, cascades as cascades, viewings as viewings
from ._hierarchy import (
    MIXED_LEVELS as MIXED_LEVELS,
    Hierarchy as Hierarchy,
    check_unrelated as check_unrelated,
    generalised as generalised,
    map_items as map_items,
    resolve_public_items as resolve_public_items,
)
from ._lineage import Lineage as Lineage, recode_lineage as recode_lineage
from ._list_files import Lists as Lists, read_itemset_file as read_itemset_file
from ._places import list_parts as list_parts
from ._read import read as read, read_people as read_people
from ._recoding import (
    ITEM_CHOICES as ITEM_CHOICES,
    MOST_ITEMS as MOST_ITEMS,
    build_code_table as build_code_table,
    build_position_table as build_position_table,
    check_declared_items as check_declared_items,
    convert_to_names as convert_to_names,
    describe_public_list as describe_public_list,
    match_label as match_label,
    parse_items as parse_items,
    read_list_with_note as read_list_with_note,
    read_listed_items as read_listed_items,
    recode_baskets as recode_baskets,
    render_nearest_hint as render_nearest_hint,
    resolve_items as resolve_items,
    restrict_items as restrict_items,
)
from ._redaction import (
    hide_address_options as hide_address_options,
    hide_secrets as hide_secrets,
    public_name as public_name,
    public_path as public_path,
)
from ._streams import COMPRESSIONS as COMPRESSIONS, MemoryLimit as MemoryLimit, open_stream as open_stream
from ._typed_files import check_extent as check_extent, read_declared_size as read_declared_size
from ._view import render_cluster_html as render_cluster_html
