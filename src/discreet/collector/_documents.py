"""The signed texts of a study, and the signer: Ed25519 over the exact bytes of a text, with a key in one directory.

`docs/wire.md` has the fields of the texts. A text is made once and stored; it is never built again from its parts, so
that it stays byte for byte the text that devices have seen. The signed bytes begin with their purpose (`STUDY` or
`QUESTION`), so that a signature serves one purpose. A device checks signatures with its own code
(`local/device/_ed25519.py`).
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, MisuseError
from ..local.device import QUESTION, STUDY
from ..local.study import Ask
from ._study_file import StudyPlan

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_FILE = "signing.key"
_KEY_DIGITS = 64  # hexadecimal digits of the 32 bytes of a secret key (RFC 8032, 5.1.5)

_log = logging.getLogger(__name__)


class Signer:
    """A signer with one secret key.

    Examples
    --------
    >>> signer = Signer(bytes(32))
    >>> signer.key[:8], len(signer.sign(b"a study"))
    ('3b6a27bc', 128)
    """

    def __init__(self, secret: bytes) -> None:
        self._private = _private_key(secret)
        self.key: str = self._private.public_key().public_bytes_raw().hex()

    def __repr__(self) -> str:
        return f"Signer({self.key[:8]}…)"  # the secret has no printable form

    def sign(self, message: bytes) -> str:
        """Return the signature of a message, as hexadecimal digits."""
        return self._private.sign(message).hex()

    @classmethod
    def read(cls, directory: Path, *, make: bool = True) -> Signer:
        """Return the signer of a directory; with `make`, a key is made where the directory has none."""
        path = directory / KEY_FILE
        try:
            if make:
                _make_key(path)
            digits = path.read_text("ascii").strip()
            # A warning and no error: a copied directory may have lost its permissions.
            if path.stat().st_mode & 0o077:
                _log.warning(
                    "%s can be read by others than its owner, and whoever has read it can sign in the name of this "
                    "service. Leave it to its owner: chmod 600 %s", path, path,
                )  # fmt: skip
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise InputError(f"The signing key in {path} cannot be read or made: {reason}.") from None
        try:
            return cls(bytes.fromhex(digits))
        except ValueError:
            raise InputError(
                f"{path} holds no signing key: it has {_KEY_DIGITS} hexadecimal digits. Put back the copy you keep of "
                "it; devices that know a study refuse it under another key."
            ) from None


def _make_key(path: Path) -> None:
    """Write a new key, complete or not at all; a key that exists stays."""
    if path.exists():
        return
    from secrets import token_hex

    temporary_path = path.with_name(f".{path.name}.{os.getpid()}.part")
    # A crash must not leave half a key, and two processes must agree on one: the file is complete before its name
    # exists.
    descriptor = os.open(temporary_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as stream:
            stream.write(f"{token_hex(32)}\n")
            stream.flush()
            os.fsync(stream.fileno())
        try:
            os.link(temporary_path, path)  # unlike a rename, a link replaces no key of a concurrent process
        except FileExistsError:
            return
    finally:
        temporary_path.unlink(missing_ok=True)


def _private_key(secret: bytes) -> Ed25519PrivateKey:
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError:
        raise MisuseError("Signing needs the extra: pip install 'discreet[server]'.") from None
    return Ed25519PrivateKey.from_private_bytes(secret)


@dataclass(frozen=True, kw_only=True)
class SignedText:
    """A text with its signature as hexadecimal digits."""

    text: str
    signature: str

    @classmethod
    def sign(cls, purpose: bytes, text: str, signer: Signer) -> SignedText:
        """Return a text signed for one purpose."""
        return cls(text=text, signature=signer.sign(purpose + text.encode()))


def study_id(text: str) -> str:
    """Return the id of a study: 32 hexadecimal digits of the hash of its text."""
    return sha256(text.encode()).hexdigest()[:32]


def study_document(plan: StudyPlan, signer: Signer) -> SignedText:
    """Return the signed text of a study."""
    fields = {
        "format": 1 if plan.hierarchy is None else 2,
        "name": plan.name,
        "title": plan.title,
        "asks": plan.asks,
        "protocol": plan.protocol,
        "settings": {name: _plain_value(value) for name, value in plan.settings.items()},
        "top": plan.top,
        "least": plan.least,
        "epsilon": plan.epsilon,
        "delta": plan.delta,
        # Devices map their items to codes by this list, so it is part of the signed text.
        "items": None if plan.protocol_instance.unlisted else list(plan.asked_items),
        "pairs": plan.pairs,
        "rounds": None,
        "who": plan.who,
        "key": signer.key,
    }
    # Format 2 adds the items that people hold and their ancestors, so that each device maps its own items.
    if plan.hierarchy is not None:
        fields |= {"held": list(plan.items), "become": [codes.tolist() for codes in plan.asked_codes]}
    return SignedText.sign(STUDY, _render_json(fields), signer)


def question_document(ask: Ask, study: str, number: int, expires: int | None, signer: Signer) -> SignedText:
    """Return the signed text of a question.

    Parameters
    ----------
    ask
        The round as the protocol asks it.
    study
        The id of the study.
    number
        The number of the round, from 0.
    expires
        The deadline in seconds since 1970, or None.
    signer
        The signer of the service.
    """
    fields = {
        "format": 1,
        "study": study,
        "round": number,
        "who": [ask.group.start, ask.group.stop],
        "expires": expires,
        "question": ask.form,
    }
    return SignedText.sign(QUESTION, _render_json(fields), signer)


def _plain_value(value: Any) -> Any:
    """Return a setting with floats as text: devices parse integers only."""
    if isinstance(value, list | tuple):
        return [_plain_value(element) for element in value]
    return repr(value) if isinstance(value, float) else value


def _render_json(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
