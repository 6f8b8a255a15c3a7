"""What runs on a device, from a question to the bytes it sends. Standard library only, and a test watches that.

`client` is the one function: it takes a question and what the device holds. `trust` refuses questions that are
malformed, too large (`limits`) or that would give away more than the device allows; the privacy loss is computed anew,
exactly, on the device (`loss`). `answering` turns what is held into an answer, and `draws` randomises it. `choosing`
draws the basket that answers, where there are several. Other languages port these files; `docs/wire.md` says the same
in words, and golden vectors hold both to it.
"""

from __future__ import annotations

from ._answering import (
    END as END,
    OWN as OWN,
    held as held,
)
from ._becoming import (
    becomes as becomes,
)
from ._choosing import (
    chosen as chosen,
    place as place,
)
from ._client import (
    ANSWERS as ANSWERS,
    Answer as Answer,
    client as client,
    sampled as sampled,
)
from ._documents import (
    MOST_NESTED as MOST_NESTED,
    QUESTION as QUESTION,
    STUDY as STUDY,
    QuestionText as QuestionText,
    Seen as Seen,
    StudyText as StudyText,
    questions_of as questions_of,
    study_of as study_of,
)
from ._draws import (
    Draws as Draws,
    mixed as mixed,
    published as published,
)
from ._ed25519 import verified as verified
from ._limits import (
    MOST_CELLS as MOST_CELLS,
    MOST_NUMBERS as MOST_NUMBERS,
    MOST_QUESTION as MOST_QUESTION,
    MOST_REPORT as MOST_REPORT,
    MOST_SYMBOLS as MOST_SYMBOLS,
    MOST_TEXT as MOST_TEXT,
)
from ._loss import (
    LOSSES as LOSSES,
    WIDE as WIDE,
    WORD as WORD,
    Loss as Loss,
    both as both,
    failing as failing,
    grown_at_least as grown_at_least,
    odds as odds,
    points as points,
    ratio as ratio,
)
from ._participant import Participant as Participant
from ._sending import (
    opener as opener,
    over_http as over_http,
)
from ._trust import (
    check as check,
    parsed as parsed,
)
