"""Reports as they come in: one as JSON, many as a batch of bytes; and the one form in which both go on to the store.

`docs/wire.md` has both, and `tests/vectors/v1/batches.json` holds them to it. A batch that is malformed is refused as a
whole; within a good one, each report has its own outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..local.device import MOST_NESTED, parse_json
from ..local.oracle_steps import Words
from ..local.study import Ask
from ._reasons import CODES, COUNTED, Reason, RefusedRequest

MOST_BATCH = 16 << 20  # bytes
MOST_ONE = 1 << 17  # bytes of one report with its token, as JSON
# Of a piece of a batch that is expanded at a time: 36 bytes of a row become about 250 of hashes and lists of them.
MOST_PIECE_REPORTS, MOST_PIECE_BYTES = 5_000, 1 << 20
_HEADER = Struct("<4sI16sIII")
HEAD = _HEADER.size  # bytes that a batch begins with
_MAGIC, _FORMAT = b"DSCB", 1
_TOKEN = 16  # bytes, and as many for the key
_DIGITS = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, kw_only=True, eq=False)
class Upload:
    """Reports to one round, one after another.

    Parameters
    ----------
    round
        The number of the round.
    tokens, keys
        Of each report the hash of its token, and that of token and key: neither is kept as it came.
    words
        The reports, packed.
    codes
        What is known of each already: 0 for those that can be counted, or the code of a reason.
    """

    round: int
    tokens: list[bytes]
    keys: list[bytes]
    words: Words
    codes: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.tokens)


def hashed(token: bytes) -> bytes:
    """Return what is stored of a token."""
    return sha256(token).digest()


def key_hash(token: bytes, key: bytes, number: int) -> bytes:
    """Return what is stored of the key that came with a token to a round; of another device or round it is another."""
    return sha256(token + key + number.to_bytes(4, "little")).digest()[:_TOKEN]


def one_report(body: bytes) -> tuple[int, str, str, Any]:
    """Return round, token, key and report of a body of JSON."""
    if len(body) > MOST_ONE:
        raise RefusedRequest(Reason.TOO_LARGE)
    try:
        told = parse_json(body, most=MOST_ONE, depth=MOST_NESTED)
        number, token, key, report = told["round"], told["token"], told["key"], told["report"]
        if type(number) is not int or not 0 <= number < 1 << 32 or not (_hex(token) and _hex(key)):
            raise ValueError
    except (ValueError, LookupError, TypeError, RecursionError):
        raise RefusedRequest(
            Reason.MALFORMED,
            'A report is sent as {"round": 0, "token": 32 hex digits, "key": 32 hex digits, "report": …}.',
        ) from None
    return number, token, key, report


def upload_of(ask: Ask, number: int, token: str, key: str, report: Any) -> Upload:
    """Return one report to a round that is asked; one that no device makes is refused."""
    if ask.oracle.codec.find_flaw(report):
        raise RefusedRequest(Reason.REPORT_IMPOSSIBLE)
    secret, other = bytes.fromhex(token), bytes.fromhex(key)
    return Upload(
        round=number,
        tokens=[hashed(secret)],
        keys=[key_hash(secret, other, number)],
        words=ask.oracle.codec.pack(ask.oracle.codec.make_columns([report])),
        codes=np.zeros(1, np.uint8),
    )


@dataclass(frozen=True, kw_only=True)
class BatchHead:
    """What the first bytes of a batch say: the study's id, the round, and how many rows of how many bytes follow."""

    study: bytes
    round: int
    row: int
    many: int

    @classmethod
    def read(cls, body: bytes, long: int | None) -> BatchHead:
        """Return what a batch begins with that has so many bytes, if that is known; what does not fit is refused."""
        if len(body) < HEAD:
            raise RefusedRequest(Reason.MALFORMED, f"A batch begins with {HEAD} bytes.")
        magic, form, study, number, words, many = _HEADER.unpack_from(body)
        row = 2 * _TOKEN + 4 * words
        if (magic, form) != (_MAGIC, _FORMAT) or not words or (long is not None and HEAD + many * row != long):
            raise RefusedRequest(Reason.MALFORMED, "The bytes are no batch of format 1, or not as many as it says.")
        return cls(study=study, round=number, row=row, many=many)


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportBatch:
    """A batch as it travels: the study's id, the round, and rows of token, key and words."""

    study: bytes
    round: int
    rows: NDArray[np.uint8]

    @classmethod
    def read(cls, body: bytes) -> ReportBatch:
        """Return what the bytes say; the whole of them is refused where they do not fit together."""
        if len(body) > MOST_BATCH:
            raise RefusedRequest(Reason.TOO_LARGE, f"A batch has up to {MOST_BATCH:,} bytes.")
        head = BatchHead.read(body, len(body))
        rows = np.frombuffer(body, np.uint8, offset=HEAD).reshape(head.many, head.row)
        return cls(study=head.study, round=head.round, rows=rows)

    @classmethod
    def of(cls, study: bytes, number: int, tokens: list[bytes], keys: list[bytes], words: Words) -> ReportBatch:
        """Return a batch of these reports."""
        both = np.frombuffer(b"".join(one + other for one, other in zip(tokens, keys, strict=True)), np.uint8)
        packed = np.ascontiguousarray(words, "<u4").view(np.uint8).reshape(len(tokens), 4 * words.shape[1])
        return cls(study=study, round=number, rows=np.hstack((both.reshape(-1, 2 * _TOKEN), packed)))

    def pieces(self) -> Iterator[ReportBatch]:
        """Yield the batch as batches of few reports each, in order; one without reports is yielded as it is."""
        report_count, row_bytes = self.rows.shape
        step = max(1, min(MOST_PIECE_REPORTS, MOST_PIECE_BYTES // row_bytes))
        for start in range(0, max(1, report_count), step):
            yield ReportBatch(study=self.study, round=self.round, rows=self.rows[start : start + step])

    def written(self) -> bytes:
        """Return the bytes that travel."""
        many, row = self.rows.shape
        header = _HEADER.pack(_MAGIC, _FORMAT, self.study, self.round, (row - 2 * _TOKEN) // 4, many)
        return header + self.rows.tobytes()

    def upload(self, ask: Ask | None) -> Upload:
        """Return the reports to a round, with the code of those that no device makes; their tokens alone without one.

        A round that takes no reports is None here, and only tokens are looked at.
        """
        if ask is None:
            return self._hashed(np.zeros((len(self.rows), 0), np.uint32), np.zeros(len(self.rows), np.uint8))
        wide = (self.rows.shape[1] - 2 * _TOKEN) // 4
        codec = ask.oracle.codec
        if wide != codec.width:
            raise RefusedRequest(
                Reason.MALFORMED, f"A report to this round has {codec.width:,} words, and the batch has {wide:,}."
            )
        words = np.ascontiguousarray(self.rows[:, 2 * _TOKEN :]).view("<u4").astype(np.uint32, copy=False)
        codes = np.where(codec.find_good_rows(words), COUNTED, CODES[Reason.REPORT_IMPOSSIBLE]).astype(np.uint8)
        return self._hashed(words, codes)

    def _hashed(self, words: Words, codes: NDArray[np.uint8]) -> Upload:
        secrets = self.rows[:, : 2 * _TOKEN].tobytes()
        both = [secrets[at : at + 2 * _TOKEN] for at in range(0, len(secrets), 2 * _TOKEN)]
        number = self.round.to_bytes(4, "little")
        return Upload(
            round=self.round,
            tokens=[sha256(one[:_TOKEN]).digest() for one in both],
            keys=[sha256(one + number).digest()[:_TOKEN] for one in both],  # as `key_hash`
            words=words,
            codes=codes,
        )


def _hex(text: Any) -> bool:
    return isinstance(text, str) and _DIGITS.fullmatch(text) is not None
