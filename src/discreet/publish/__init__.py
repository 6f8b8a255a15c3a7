"""The curator's door: from baskets and a question to a release, in the order that privacy asks for.

First everything that can go wrong is checked, on public values and on the data as the operator may look at them
(`question`). Then the budget is spent, in the ledger where there is one (`api`). From that line on nothing but charged
results depends on the data: no exception, no message, no progress figure, no column (`run`).
"""

from .api import affordable, answer, count, count_by, prepare_count, quote, release, release_by
from .first_look import Preview, look, missed, preview
from .job import Job
from .question import prepare
from .run import carry_out, metered

__all__ = [
    "Job",
    "Preview",
    "affordable",
    "answer",
    "carry_out",
    "count",
    "count_by",
    "look",
    "metered",
    "missed",
    "prepare",
    "prepare_count",
    "preview",
    "quote",
    "release",
    "release_by",
]
