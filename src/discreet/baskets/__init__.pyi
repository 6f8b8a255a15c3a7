from ._allowance import Allowance as Allowance
from ._arrow import as_arrow as as_arrow, as_numpy as as_numpy
from ._build import (
    Labels as Labels,
    Rows as Rows,
    finish as finish,
    parse_labels as parse_labels,
    sort_labels as sort_labels,
)
from ._call import Call as Call
from ._capping import (
    MOST_BASKETS as MOST_BASKETS,
    PeopleOverCap as PeopleOverCap,
    SegmentOfPeople as SegmentOfPeople,
    checked_cap as checked_cap,
    kept_baskets as kept_baskets,
)
from ._columns import Column as Column, Table as Table
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
    nobody as nobody,
    on_this_machine as on_this_machine,
    starts as starts,
    take_rows as take_rows,
)
from ._events import (
    BLURRED as BLURRED,
    check_baskets as check_baskets,
    check_blurred as check_blurred,
    check_items as check_items,
    check_mixture as check_mixture,
    check_people as check_people,
)
from ._excel import check_extent as check_extent
from ._frames import is_spark_frame as is_spark_frame
from ._generate import (
    QUEST_PRESETS as QUEST_PRESETS,
    from_events as from_events,
    groceries as groceries,
    groceries_catalogue as groceries_catalogue,
    groceries_rows as groceries_rows,
    latent_groups as latent_groups,
    numbers as numbers,
    quest as quest,
)
from ._generate_census import census as census
from ._generate_crowds import bulk_buyers as bulk_buyers, zipf as zipf
from ._generate_relations import applets as applets, cascades as cascades, viewings as viewings
from ._hierarchy import (
    MIXED as MIXED,
    Hierarchy as Hierarchy,
    becoming as becoming,
    check_apart as check_apart,
    generalised as generalised,
    public_items as public_items,
)
from ._lineage import Lineage as Lineage, recoded as recoded
from ._list_files import Lists as Lists, read_itemset_file as read_itemset_file
from ._parquet import declared as declared
from ._places import parts_of as parts_of
from ._read import read as read, read_people as read_people
from ._recoding import (
    CHOICES as CHOICES,
    MOST_ITEMS as MOST_ITEMS,
    as_items as as_items,
    declared_items as declared_items,
    from_file as from_file,
    item_list as item_list,
    like as like,
    names as names,
    nearest_hint as nearest_hint,
    noted_list as noted_list,
    numbering as numbering,
    only as only,
    onto as onto,
    public_fact as public_fact,
    table_onto as table_onto,
)
from ._redaction import (
    hidden as hidden,
    public_name as public_name,
    public_path as public_path,
    without_options as without_options,
)
from ._resample import one_each as one_each, resample as resample
from ._seeding import seeds as seeds
from ._streams import COMPRESSIONS as COMPRESSIONS, opened as opened
from ._view import html_elsewhere as html_elsewhere
