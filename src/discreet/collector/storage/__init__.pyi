from ._sqlite import SQLiteStore as SQLiteStore
from ._store import (
    STORE_FILE as STORE_FILE,
    StoreError as StoreError,
    StudyRecord as StudyRecord,
    StudyStore as StudyStore,
    decide_codes as decide_codes,
    open_store as open_store,
)
