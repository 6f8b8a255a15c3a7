from ._api import answer as answer, count as count, count_by as count_by, release as release, release_by as release_by
from ._case import Case as Case
from ._door import (
    LedgerLike as LedgerLike,
    Observer as Observer,
    Payer as Payer,
    Receipt as Receipt,
    affordable as affordable,
    epsilon_left as epsilon_left,
    ledger_of as ledger_of,
)
from ._fields import FieldWords as FieldWords, default_of as default_of, question_fields as question_fields
from ._first_look import Preview as Preview, look as look, missed as missed, preview as preview
from ._keywords import Keywords as Keywords, asks as asks
from ._other_questions import RankQuestion as RankQuestion, RelationQuestion as RelationQuestion
from ._question import PrivacyQuestion as PrivacyQuestion, Question as Question
from ._ranking import Contest as Contest, Ranking as Ranking, contest_of as contest_of, met as met, rank as rank
from ._relations import (
    RELATIONS_NAME as RELATIONS_NAME,
    RelationCase as RelationCase,
    answer_relations as answer_relations,
    metered_relations as metered_relations,
    relation_case as relation_case,
    release_relations as release_relations,
)
from ._resolving import WHOSE as WHOSE, cases_of as cases_of, everyone as everyone
from ._result import Release as Release
from ._run import carry_out as carry_out, metered as metered
