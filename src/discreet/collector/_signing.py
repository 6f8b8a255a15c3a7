"""Signatures of a service: Ed25519 over the exact bytes that travel, with a key that stays in its directory.

What is signed begins with what it is (`documents` has the words), so that no signature passes for another. The key is
made once, readable by its owner alone. A device checks with code of its own (`local/device/_ed25519.py`).
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError, MisuseError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FILE = "signing.key"
_DIGITS = 64

_log = logging.getLogger(__name__)


class Signer:
    """Signs with one key.

    Examples
    --------
    >>> signer = Signer(bytes(32))
    >>> signer.key[:8], len(signer.sign(b"a study"))
    ('3b6a27bc', 128)
    """

    def __init__(self, secret: bytes) -> None:
        self._private = _private(secret)
        self.key: str = self._private.public_key().public_bytes_raw().hex()

    def __repr__(self) -> str:
        return f"Signer({self.key[:8]}…)"  # the secret has no printable form

    def sign(self, message: bytes) -> str:
        """Return the signature of a message, as hexadecimal digits."""
        return self._private.sign(message).hex()

    @classmethod
    def of(cls, directory: Path, *, make: bool = True) -> Signer:
        """Return the signer of a directory; with `make` its key is made where there is none."""
        place = directory / FILE
        try:
            if make:
                _make(place)
            digits = place.read_text("ascii").strip()
            if place.stat().st_mode & 0o077:
                _log.warning(
                    "%s can be read by others than its owner, and whoever has read it can sign in the name of this "
                    "service. Leave it to its owner: chmod 600 %s", place, place,
                )  # fmt: skip
        except (OSError, UnicodeDecodeError) as error:
            told = error.strerror if isinstance(error, OSError) else "it is not text"
            raise InputError(f"The signing key in {place} cannot be read or made: {told}.") from None
        try:
            return cls(bytes.fromhex(digits))
        except ValueError:
            raise InputError(
                f"{place} holds no signing key: it has {_DIGITS} hexadecimal digits. Put back the copy you keep of it; "
                "devices that know a study refuse it under another key."
            ) from None


def _make(place: Path) -> None:
    """Write a new key, whole or not at all; one that is there stays."""
    if place.exists():
        return
    from secrets import token_hex

    part = place.with_name(f".{place.name}.{os.getpid()}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as stream:
            stream.write(f"{token_hex(32)}\n")
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(part, place)  # unlike a rename, it replaces nothing that another process has made meanwhile
        except FileExistsError:
            return
    finally:
        part.unlink(missing_ok=True)


def _private(secret: bytes) -> Ed25519PrivateKey:
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError:
        raise MisuseError("Signing needs the extra: pip install 'discreet[server]'.") from None
    return Ed25519PrivateKey.from_private_bytes(secret)
