"""Uploaded reports: one report as JSON, many as a batch of bytes, and the common form in which both go to the store.

`docs/wire.md` has both formats, and `tests/vectors/v1/batches.json` tests them. A malformed batch is refused as a
whole; in a well-formed batch, each report has its own outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..local.device import MOST_NESTED, parse_json
from ..local.oracle_steps import Words
from ..local.study import Ask
from ._reasons import CODES, COUNTED, Reason, RefusedRequest

# Of a batch, and of one report with its token as JSON. Larger: more memory per request; smaller: gateways send more
# batches, and oracles with long reports (a set of all items) do not fit.
MAX_BATCH_BYTES, MAX_REPORT_BYTES = 16 << 20, 1 << 17
# Of a part of a batch that is expanded at a time: 36 bytes of a row become about 250 of hashes and lists.
MAX_PART_REPORTS, MAX_PART_BYTES = 5_000, 1 << 20
_HEADER = Struct("<4sI16sIII")
HEAD_BYTES = _HEADER.size
_MAGIC, _FORMAT = b"DSCB", 1
_TOKEN_BYTES = 16  # and as many of a key: 128 random bits cannot be guessed
_HEX_DIGITS = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, kw_only=True, eq=False)
class Upload:
    """Reports to one round, in rows.

    Parameters
    ----------
    round
        The number of the round, from 0.
    tokens, keys
        The hash of each report's token, and the hash of its token and key: the originals are not kept.
    words
        The packed reports.
    codes
        A code per report: 0 for a report that can be counted, or the code of a refusal.
    """

    round: int
    tokens: list[bytes]
    keys: list[bytes]
    words: Words
    codes: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.tokens)


def hash_token(token: bytes) -> bytes:
    """Return the stored hash of a token."""
    return sha256(token).digest()


def hash_key(token: bytes, key: bytes, number: int) -> bytes:
    """Return the hash of a token with its key and round, for the store: it differs between devices and rounds."""
    return sha256(token + key + number.to_bytes(4, "little")).digest()[:_TOKEN_BYTES]


def parse_report(body: bytes) -> tuple[int, str, str, Any]:
    """Return round, token, key and report of a JSON body."""
    if len(body) > MAX_REPORT_BYTES:
        raise RefusedRequest(Reason.TOO_LARGE)
    try:
        fields = parse_json(body, most=MAX_REPORT_BYTES, depth=MOST_NESTED)
        number, token, key, report = fields["round"], fields["token"], fields["key"], fields["report"]
        if type(number) is not int or not 0 <= number < 1 << 32 or not (_is_hex(token) and _is_hex(key)):
            raise ValueError
    except (ValueError, LookupError, TypeError, RecursionError):
        raise RefusedRequest(
            Reason.MALFORMED,
            'A report is sent as {"round": 0, "token": 32 hex digits, "key": 32 hex digits, "report": …}.',
        ) from None
    return number, token, key, report


def build_upload(ask: Ask | None, number: int, token: str, key: str, report: Any) -> Upload:
    """Return one report as an upload; a report that no device makes is refused.

    A round that takes no reports has no `ask`: then the upload has the token alone, without the report.
    """
    # Without the report, the store still finds out whether the token was spent with this key.
    words = np.zeros((1, 0), np.uint32)
    if ask is not None:
        # An impossible report would shift every estimate, and no honest device sends it.
        if ask.oracle.codec.find_flaw(report):
            raise RefusedRequest(Reason.REPORT_IMPOSSIBLE)
        words = ask.oracle.codec.pack(ask.oracle.codec.make_columns([report]))
    token_bytes, key_bytes = bytes.fromhex(token), bytes.fromhex(key)
    return Upload(
        round=number,
        tokens=[hash_token(token_bytes)],
        keys=[hash_key(token_bytes, key_bytes, number)],
        words=words,
        codes=np.zeros(1, np.uint8),
    )


class BatchHead(NamedTuple):
    """The head of a batch: the id of the study, the number of the round, bytes per row, and number of rows."""

    study: bytes
    round: int
    row_bytes: int
    row_count: int

    @classmethod
    def decode(cls, body: bytes, body_bytes: int | None) -> BatchHead:
        """Return the head of a batch, from its first bytes; refuse a malformed head.

        `body_bytes` is the length of the whole batch, or None without an announced length.
        """
        if len(body) < HEAD_BYTES:
            raise RefusedRequest(Reason.MALFORMED, f"A batch begins with {HEAD_BYTES} bytes.")
        magic, batch_format, study, number, word_count, row_count = _HEADER.unpack_from(body)
        row_bytes = 2 * _TOKEN_BYTES + 4 * word_count
        has_length = body_bytes is None or HEAD_BYTES + row_count * row_bytes == body_bytes
        # A wrong length shows a truncated upload before any memory is used for its rows.
        if (magic, batch_format) != (_MAGIC, _FORMAT) or not word_count or not has_length:
            raise RefusedRequest(Reason.MALFORMED, "The bytes are no batch of format 1, or not as many as it says.")
        return cls(study, number, row_bytes, row_count)


@dataclass(frozen=True, kw_only=True, eq=False)
class ReportBatch:
    """A batch of reports: the id of the study, the number of the round, and rows of token, key and words as bytes."""

    study: bytes
    round: int
    rows: NDArray[np.uint8]

    @classmethod
    def decode(cls, body: bytes) -> ReportBatch:
        """Return a batch from its bytes; refuse a malformed batch as a whole."""
        if len(body) > MAX_BATCH_BYTES:
            raise RefusedRequest(Reason.TOO_LARGE, f"A batch has up to {MAX_BATCH_BYTES:,} bytes.")
        head = BatchHead.decode(body, len(body))
        rows = np.frombuffer(body, np.uint8, offset=HEAD_BYTES).reshape(head.row_count, head.row_bytes)
        return cls(study=head.study, round=head.round, rows=rows)

    @classmethod
    def build(cls, study: bytes, number: int, tokens: list[bytes], keys: list[bytes], words: Words) -> ReportBatch:
        """Return a batch of packed reports with their tokens and keys."""
        secrets = np.frombuffer(b"".join(token + key for token, key in zip(tokens, keys, strict=True)), np.uint8)
        packed_words = np.ascontiguousarray(words, "<u4").view(np.uint8).reshape(len(tokens), 4 * words.shape[1])
        return cls(study=study, round=number, rows=np.hstack((secrets.reshape(-1, 2 * _TOKEN_BYTES), packed_words)))

    def parts(self) -> Iterator[ReportBatch]:
        """Yield the batch in small batches, in order; a batch without reports is yielded unchanged."""
        report_count, row_bytes = self.rows.shape
        step = max(1, min(MAX_PART_REPORTS, MAX_PART_BYTES // row_bytes))
        for start in range(0, max(1, report_count), step):
            yield ReportBatch(study=self.study, round=self.round, rows=self.rows[start : start + step])

    def encode(self) -> bytes:
        """Return the bytes of the batch."""
        row_count, row_bytes = self.rows.shape
        word_count = (row_bytes - 2 * _TOKEN_BYTES) // 4
        return _HEADER.pack(_MAGIC, _FORMAT, self.study, self.round, word_count, row_count) + self.rows.tobytes()

    def upload(self, ask: Ask | None) -> Upload:
        """Return the batch as an upload, with a code for each report that no device makes.

        A round that takes no reports has no `ask`: then the upload has the tokens alone, without the reports.
        """
        words, codes = np.zeros((len(self.rows), 0), np.uint32), np.zeros(len(self.rows), np.uint8)
        if ask is not None:
            word_count, codec = (self.rows.shape[1] - 2 * _TOKEN_BYTES) // 4, ask.oracle.codec
            if word_count != codec.width:
                raise RefusedRequest(
                    Reason.MALFORMED,
                    f"A report to this round has {codec.width:,} words, and the batch has {word_count:,}.",
                )
            words = np.ascontiguousarray(self.rows[:, 2 * _TOKEN_BYTES :]).view("<u4").astype(np.uint32, copy=False)
            codes = np.where(codec.find_good_rows(words), COUNTED, CODES[Reason.REPORT_IMPOSSIBLE]).astype(np.uint8)
        return self._hash_secrets(words, codes)

    def _hash_secrets(self, words: Words, codes: NDArray[np.uint8]) -> Upload:
        content = self.rows[:, : 2 * _TOKEN_BYTES].tobytes()
        secrets = [content[start : start + 2 * _TOKEN_BYTES] for start in range(0, len(content), 2 * _TOKEN_BYTES)]
        number = self.round.to_bytes(4, "little")
        return Upload(
            round=self.round,
            tokens=[sha256(secret[:_TOKEN_BYTES]).digest() for secret in secrets],
            keys=[sha256(secret + number).digest()[:_TOKEN_BYTES] for secret in secrets],  # as `hash_key`
            words=words,
            codes=codes,
        )


def _is_hex(text: Any) -> bool:
    return isinstance(text, str) and _HEX_DIGITS.fullmatch(text) is not None
