from ._api import count as count, count_by as count_by, release as release, release_by as release_by
from ._case import Case as Case
from ._door import (
    LedgerLike as LedgerLike,
    Observer as Observer,
    Payer as Payer,
    Receipt as Receipt,
    answer as answer,
    build_meter as build_meter,
    compute_remaining_epsilon as compute_remaining_epsilon,
    open_ledger as open_ledger,
    render_affordability as render_affordability,
)
from ._fields import FieldWords as FieldWords, default_of as default_of, question_fields as question_fields
from ._first_look import (
    Preview as Preview,
    find_list_flaw as find_list_flaw,
    preview as preview,
    preview_cases as preview_cases,
)
from ._keywords import Keywords as Keywords, PatternOptions as PatternOptions, with_keywords as with_keywords
from ._other_questions import RankQuestion as RankQuestion, RelationQuestion as RelationQuestion
from ._question import PrivacyQuestion as PrivacyQuestion, Question as Question
from ._ranking import (
    Contest as Contest,
    Ranking as Ranking,
    build_contest as build_contest,
    has_scored_label as has_scored_label,
    rank as rank,
)
from ._relations import (
    RELATIONS_NAME as RELATIONS_NAME,
    RelationCase as RelationCase,
    build_relation_case as build_relation_case,
    release_relations as release_relations,
    run_relations as run_relations,
)
from ._resolving import PERSON_COLUMN_HINT as PERSON_COLUMN_HINT, build_cases as build_cases, read_data as read_data
from ._result import Release as Release
from ._run import carry_out as carry_out, run_case as run_case
