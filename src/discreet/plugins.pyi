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
    compute_threshold as compute_threshold,
    exp_rounded_down as exp_rounded_down,
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
    CandidateQuestion as CandidateQuestion,
    Estimate as Estimate,
    Partition as Partition,
    PeopleGroup as PeopleGroup,
    ProtocolResult as ProtocolResult,
    RoundGenerator as RoundGenerator,
    SizeQuestion as SizeQuestion,
    StudyGoal as StudyGoal,
)
from .planning import trial as trial
from .privacy import Budget as Budget, Meter as Meter, SealedAnswer as SealedAnswer, SealedEngine as SealedEngine
from .results import Itemsets as Itemsets

def documents() -> Path: ...
