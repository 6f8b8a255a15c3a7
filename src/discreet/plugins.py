"""What the author of a mechanism, an oracle or a protocol imports: one place, and nothing of its own.

Every name lives in the room that it belongs to, and is loaded from there on first use. So a package of one mechanism
loads nothing of devices, and rooms may be rebuilt without a change for those who write against this page. What is not
here is ours, and may change with any version. The tutorials of a mechanism, an oracle and a protocol use this module
alone; `documents` says where they lie, in the version that is installed.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

_HOMES = {
    # Mechanisms: what a curator's algorithm is, what it asks of the data, and what it hands back.
    "Answers": "curator.mechanism",
    "Budget": "privacy.budget",
    "Found": "curator.mechanism",
    "Itemsets": "results.itemsets",
    "Mechanism": "curator.mechanism",
    "Meter": "privacy.meter",
    "Plan": "curator.mechanism",
    "Problem": "curator.problem",
    "SealedAnswer": "privacy.sealed",
    "SealedEngine": "privacy.sealed",
    "Supports": "exact.query",
    # Oracles: how one report is made random, what it gives away, and how frequencies are read from many.
    "BitsField": "local.oracle_steps.codec",
    "Counts": "local.oracle",
    "Draws": "local.device.draws",
    "Field": "local.oracle_steps.codec",
    "Loss": "local.device.loss",
    "OneValue": "local.oracle",
    "Oracle": "local.oracle",
    "Report": "local.oracle",
    "ReportColumns": "local.oracle",
    "RowField": "local.oracle_steps.codec",
    "SeedField": "local.oracle_steps.codec",
    "SetValued": "local.oracle",
    "SubsetField": "local.oracle_steps.codec",
    "WholeField": "local.oracle_steps.codec",
    "chance": "local.oracle",
    "grown": "local.oracle",
    # Protocols: who is asked what, what is heard, and what is learnt.
    "Ask": "local.study.conversation",
    "CandidateList": "local.study.questions",
    "Estimate": "local.study.conversation",
    "HowMany": "local.study.questions",
    "Learnt": "local.study.conversation",
    "Partition": "local.study.conversation",
    "Protocol": "local.protocol",
    "Talk": "local.study.conversation",
    "Wanted": "local.study.conversation",
    "Which": "local.study.questions",
    "Who": "local.study.conversation",
    # For the tests of a package.
    "audit": "auditing",
    "check_oracle": "auditing.plugin_checks",
    "check_protocol": "auditing.plugin_checks",
    "trial": "planning.trial",
}

__all__ = [
    "Answers",
    "Ask",
    "BitsField",
    "Budget",
    "CandidateList",
    "Counts",
    "Draws",
    "Estimate",
    "Field",
    "Found",
    "HowMany",
    "Itemsets",
    "Learnt",
    "Loss",
    "Mechanism",
    "Meter",
    "OneValue",
    "Oracle",
    "Partition",
    "Plan",
    "Problem",
    "Protocol",
    "Report",
    "ReportColumns",
    "RowField",
    "SealedAnswer",
    "SealedEngine",
    "SeedField",
    "SetValued",
    "SubsetField",
    "Supports",
    "Talk",
    "Wanted",
    "Which",
    "Who",
    "WholeField",
    "audit",
    "chance",
    "check_oracle",
    "check_protocol",
    "documents",
    "grown",
    "trial",
]

if TYPE_CHECKING:
    from .auditing import audit
    from .auditing.plugin_checks import check_oracle, check_protocol
    from .curator.mechanism import Answers, Found, Mechanism, Plan
    from .curator.problem import Problem
    from .exact.query import Supports
    from .local.device.draws import Draws
    from .local.device.loss import Loss
    from .local.oracle import Counts, OneValue, Oracle, Report, ReportColumns, SetValued, chance, grown
    from .local.oracle_steps.codec import BitsField, Field, RowField, SeedField, SubsetField, WholeField
    from .local.protocol import Protocol
    from .local.study.conversation import Ask, Estimate, Learnt, Partition, Talk, Wanted, Who
    from .local.study.questions import CandidateList, HowMany, Which
    from .planning.trial import trial
    from .privacy.budget import Budget
    from .privacy.meter import Meter
    from .privacy.sealed import SealedAnswer, SealedEngine
    from .results.itemsets import Itemsets


def documents() -> Path:
    """Return the folder with the documents of this version: the tutorials, and the pages that they lead to.

    A wheel brings them along; in a checkout they are those of the checkout.

    Examples
    --------
    >>> sorted(page.stem for page in (documents() / "tutorials").glob("*.md") if page.stem not in ("curator", "report"))
    ['local', 'mechanism', 'oracle', 'protocol', 'study']
    """
    packaged = Path(__file__).parent / "documents"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "docs"


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"discreet.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
