from ._cells import FORMULA_MARKS as FORMULA_MARKS
from ._comparison import Comparison as Comparison, TrialSource as TrialSource, seconds_text as seconds_text
from ._differences import Difference as Difference, Differences as Differences, diff as diff, points as points
from ._files import (
    beside_table as beside_table,
    holds_result as holds_result,
    is_page as is_page,
    load as load,
    load_rows as load_rows,
    save as save,
    save_rows as save_rows,
    write as write,
)
from ._formats import (
    FORMATS as FORMATS,
    HEAD_BYTES as HEAD_BYTES,
    ROW_FORMATS as ROW_FORMATS,
    find_format as find_format,
    format_of as format_of,
    suffix_of as suffix_of,
)
from ._intervals import (
    F64 as F64,
    cut_to_range as cut_to_range,
    lower_doubtful as lower_doubtful,
    whole_counts as whole_counts,
)
from ._itemsets import Index as Index, Itemsets as Itemsets
from ._loading import guarantee_texts as guarantee_texts, parse_rows as parse_rows
from ._measures import measure_bounds as measure_bounds
from ._patterns import Pattern as Pattern, Patterns as Patterns, margins_of as margins_of
from ._picture import Picture as Picture
from ._private import PrivateResult as PrivateResult
from ._promise import (
    FOR_THE_CURATOR as FOR_THE_CURATOR,
    NOT_PRIVATE as NOT_PRIVATE,
    RELATIONS as RELATIONS,
    SIMULATED as SIMULATED,
    Relation as Relation,
    count_end as count_end,
    cut as cut,
    end_digits as end_digits,
    line as line,
    outwards as outwards,
    rounded as rounded,
    shown as shown,
)
from ._provenance import BIAS_FACT as BIAS_FACT, Provenance as Provenance, StatedGuarantee as StatedGuarantee
from ._result import Result as Result, View as View
from ._rule_search import BasketSample as BasketSample, rules as rules
from ._rules import How as How, Rule as Rule, Rules as Rules
from ._show import (
    DROWNED as DROWNED,
    NOTHING as NOTHING,
    PIPED as PIPED,
    UNITS as UNITS,
    drowned as drowned,
    headline as headline,
    malicious_share as malicious_share,
    noise_text as noise_text,
    p_text as p_text,
    promise_lines as promise_lines,
    table as table,
)
from ._trials import (
    AUTO as AUTO,
    Advice as Advice,
    BetterMechanism as BetterMechanism,
    Reason as Reason,
    RunSpread as RunSpread,
    Trial as Trial,
    Trials as Trials,
)
from ._untrusted import read_fields as read_fields
