from pathlib import Path

from .auditing import audit as audit, check_oracle as check_oracle, check_protocol as check_protocol
from .curator import Answers as Answers, Found as Found, Mechanism as Mechanism, Plan as Plan, Problem as Problem
from .exact import Supports as Supports
from .local import (
    Counts as Counts,
    OneValue as OneValue,
    Oracle as Oracle,
    Protocol as Protocol,
    Report as Report,
    ReportColumns as ReportColumns,
    SetValued as SetValued,
    chance as chance,
    grown as grown,
)
from .local.device import Draws as Draws, Loss as Loss
from .local.oracle_steps import (
    BitsField as BitsField,
    Field as Field,
    RowField as RowField,
    SeedField as SeedField,
    SubsetField as SubsetField,
    WholeField as WholeField,
)
from .local.study import (
    Ask as Ask,
    CandidateList as CandidateList,
    Estimate as Estimate,
    HowMany as HowMany,
    Learnt as Learnt,
    Partition as Partition,
    Talk as Talk,
    Wanted as Wanted,
    Which as Which,
    Who as Who,
)
from .planning import trial as trial
from .privacy import Budget as Budget, Meter as Meter, SealedAnswer as SealedAnswer, SealedEngine as SealedEngine
from .results import Itemsets as Itemsets

def documents() -> Path: ...
