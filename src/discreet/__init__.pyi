from .auditing import audit as audit
from .baskets import Baskets as Baskets, Vocabulary as Vocabulary, read as read
from .errors import (
    BudgetError as BudgetError,
    CardError as CardError,
    ClusterError as ClusterError,
    DiscreetError as DiscreetError,
    EmptyDataError as EmptyDataError,
    InputError as InputError,
    LimitError as LimitError,
    MisuseError as MisuseError,
)
from .exact import mine as mine, relations as relations, rules as rules
from .local.study import Outcome as Outcome, simulate as simulate
from .planning import compare as compare, plan as plan
from .privacy import Guarantee as Guarantee
from .privacy.ledger import Ledger as Ledger
from .publish import (
    Question as Question,
    Release as Release,
    count as count,
    count_by as count_by,
    preview as preview,
    rank as rank,
    release as release,
    release_by as release_by,
    release_relations as release_relations,
)
from .registry import mechanisms as mechanisms
from .results import (
    Comparison as Comparison,
    Differences as Differences,
    Patterns as Patterns,
    Rules as Rules,
    diff as diff,
    load as load,
)

__version__: str
