from ._auditing import audit_study as audit_study
from ._collector import Adder as Adder, StudyCollector as StudyCollector
from ._core import (
    RoundTotals as RoundTotals,
    StoredRound as StoredRound,
    StudyCore as StudyCore,
    add_up as add_up,
    add_up_over as add_up_over,
    sum_blocks as sum_blocks,
)
from ._documents import (
    Signer as Signer,
    question_document as question_document,
    study_document as study_document,
    study_id as study_id,
)
from ._limits import ConnectionLimits as ConnectionLimits
from ._operators import Operator as Operator, open_operator as open_operator
from ._reasons import (
    ALREADY_COUNTED as ALREADY_COUNTED,
    CODES as CODES,
    COUNTED as COUNTED,
    Reason as Reason,
    RefusedRequest as RefusedRequest,
)
from ._report_files import (
    PACKED_COLUMN as PACKED_COLUMN,
    ReportTable as ReportTable,
    add_up_files as add_up_files,
    check_torn as check_torn,
    find_report_column as find_report_column,
    list_report_files as list_report_files,
    read_round as read_round,
    save_reports as save_reports,
    sum_files as sum_files,
)
from ._routes import ASSUMED as ASSUMED, NO_SHARE as NO_SHARE, STUDY_NAME as STUDY_NAME
from ._service import Service as Service
from ._serving import collector_in as collector_in, serve as serve
from ._simulation import simulate_study as simulate_study
from ._states import TRANSITIONS as TRANSITIONS, RoundEvent as RoundEvent, RoundState as RoundState
from ._study_file import TEMPLATE as TEMPLATE, StudyPlan as StudyPlan, read_study as read_study
from ._uploads import ReportBatch as ReportBatch, Upload as Upload, hash_token as hash_token
