from ._opening import FILE as FILE, opened as opened
from ._sqlite import SQLiteStore as SQLiteStore
from ._store import StoreError as StoreError, StudyRecord as StudyRecord, StudyStore as StudyStore, decide as decide
