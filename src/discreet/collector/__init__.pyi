from ._auditing import audit_study as audit_study
from ._collector import Adder as Adder, StudyCollector as StudyCollector
from ._core import (
    AddedUp as AddedUp,
    StoredRound as StoredRound,
    StudyCore as StudyCore,
    add_up as add_up,
    added as added,
    added_over as added_over,
)
from ._documents import question_document as question_document, study_document as study_document, study_id as study_id
from ._limits import ConnectionLimits as ConnectionLimits
from ._operators import Operator as Operator, operator_at as operator_at
from ._reasons import (
    ALREADY_COUNTED as ALREADY_COUNTED,
    CODES as CODES,
    COUNTED as COUNTED,
    REFUSALS as REFUSALS,
    Reason as Reason,
    RefusedRequest as RefusedRequest,
)
from ._report_files import (
    PACKED as PACKED,
    ReportTable as ReportTable,
    add_up_files as add_up_files,
    check_torn as check_torn,
    column_of as column_of,
    files_of as files_of,
    round_of as round_of,
    save_reports as save_reports,
    sums_of_files as sums_of_files,
)
from ._routes import ASSUMED as ASSUMED, NOBODY as NOBODY, STUDY_NAME as STUDY_NAME
from ._service import Service as Service
from ._serving import collector_in as collector_in, serve as serve
from ._signing import Signer as Signer
from ._simulation import tried as tried
from ._states import TRANSITIONS as TRANSITIONS, RoundEvent as RoundEvent, RoundState as RoundState
from ._study_file import TEMPLATE as TEMPLATE, StudyPlan as StudyPlan, read_study as read_study
from ._uploads import ReportBatch as ReportBatch, Upload as Upload, hashed as hashed
