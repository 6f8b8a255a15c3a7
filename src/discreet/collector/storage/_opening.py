"""Open the storage of a study by its address."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from ...errors import MisuseError
from ._store import StudyStore

FILE = "collector.sqlite"


def opened(address: str | None, directory: Path) -> StudyStore:
    """Return the store at an address; without one, the SQLite file of a directory. It is made where there is none.

    Parameters
    ----------
    address
        As in ``postgresql://user@host/database``, or None.
    directory
        The directory of the service.
    """
    if address is None:
        from ._sqlite import SQLiteStore

        return SQLiteStore(directory / FILE)
    scheme = urlsplit(address).scheme
    if scheme not in ("postgresql", "postgres"):
        raise MisuseError(
            f"A store is an address such as postgresql://user@host/database, and {scheme or address!r:.40} is none "
            "that is known. Leave it out for a SQLite file in the directory."
        )
    try:
        from ._postgresql import PostgreSQLStore
    except ImportError:
        raise MisuseError("A store in PostgreSQL needs the extra: pip install 'discreet[server]'.") from None
    return PostgreSQLStore(address)
