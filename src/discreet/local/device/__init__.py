"""The side of a device, from a question to the bytes of its report. Standard library only, which a test holds.

`client` takes a question and the data of the device, and returns the report. `trust` refuses questions that are
malformed, too large (`limits`) or beyond the allowed privacy loss, which the device computes exactly from the numbers
of the question (`loss`). `answering` turns the data into values, and `draws` randomises them. `choosing` draws a basket
on a device with several. Ports to other languages follow the files here; `docs/wire.md` has them in words, and golden
vectors bind every port.
"""

from __future__ import annotations

from ._answering import END as END, OWN as OWN, find_values as find_values
from ._becoming import recode_basket as recode_basket
from ._choosing import draw_basket as draw_basket, draw_position as draw_position
from ._client import ANSWERS as ANSWERS, Answer as Answer, client as client, sample_symbol as sample_symbol
from ._documents import (
    MOST_NESTED as MOST_NESTED,
    QUESTION as QUESTION,
    STUDY as STUDY,
    QuestionText as QuestionText,
    SeenRound as SeenRound,
    StudyText as StudyText,
    parse_questions as parse_questions,
    parse_study as parse_study,
)
from ._draws import Draws as Draws, derive_seed as derive_seed, hash_item as hash_item
from ._ed25519 import is_signature as is_signature
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
    WEIGHT_SCALE as WEIGHT_SCALE,
    WORD as WORD,
    Loss as Loss,
    compute_delta as compute_delta,
    compute_ratio as compute_ratio,
    count_space_points as count_space_points,
    exp_lower_bound as exp_lower_bound,
    odds as odds,
    symmetric_ratio as symmetric_ratio,
)
from ._participant import Participant as Participant
from ._sending import opener as opener, over_http as over_http
from ._trust import check as check, parse_json as parse_json
