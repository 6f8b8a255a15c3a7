"""The check whether a command may replace a file: a replaced file cannot be restored.

1. Files of a service, ledgers and further databases are never replaced (`protected.check_unprotected`).
2. A file that is empty, or has the mark of a file that discreet wrote, is replaced without a message.
3. Any further file is replaced with ``--force`` only. Tables for people and lists of tokens have no mark: many
   programs write similar text, and tokens are shown once.

Marks stand in the first bytes of a file; in Parquet, Arrow and workbooks they stand in the metadata.
"""

from __future__ import annotations

import re
from contextvars import ContextVar
from pathlib import Path

from ..errors import MisuseError, quote_word
from ..protected import check_unprotected
from ..results import FORMATS, HEAD_BYTES

_has_force = ContextVar("has_force", default=False)  # whether the command line has `--force`

SVG_MARK = "<!-- Made with discreet -->"  # the first line of a picture that a command writes
_MARKS = tuple(
    map(
        re.compile,
        (
            rb'\{\s*"discreet": "[a-z]+/\d+"',  # a result, or the side file of a table
            rb'\{\s*"ledger": \{\s*"name":',  # the export of a ledger
            rb'\{\s*"study": "\{\\"format\\":',  # the export of a study
            rb'\{"round": "(?:[^"\\]|\\.)*", "people": \d+, "supports":',  # the sums of a round
            rb'<!DOCTYPE html>\n<html[^>]*>\n<head>\n(?:<meta [^>]*>\n)*<meta name="generator" content="discreet ',
            re.escape(SVG_MARK).encode() + rb"\n<svg ",
        ),
    )
)
_GUARANTEE_COLUMNS = "(?:,model,neighbours,epsilon,delta,simulated)"
_HEADERS = re.compile(  # the whole first line of a table, without quotes and with commas
    rf"items,count,support(?:,low,high)?(?:,support_low,support_high)?,(people|baskets)(?:,\1_low,\1_high)?{_GUARANTEE_COLUMNS}?"
    rf"(?:,about)?|items,(people|baskets)(?:,\2_low,\2_high)?{_GUARANTEE_COLUMNS}(?:,about)?"
    "|antecedent,consequent,count,antecedent_count,consequent_count,support,confidence,.*,(?:people|baskets)(?:,.*)?"
    "|items,before,after,difference,low,high,change,clear"
    "|standing,mechanism,epsilon,runs,found,.*,recommended"
    "|epsilon,name,side,precision,recall,.*,recommended"
    "|name,relation,epsilon,delta,loss,means,outcome,.*,seconds"
    "|label(?:,score,low,high)?,model,neighbours,epsilon,delta,simulated"
    "|number,at,who,what,parameters,epsilon,delta,rho,own_delta,state,release,head"
)


def allow_replacing(is_allowed: bool) -> None:
    """Set whether this command may replace files without a mark."""
    _has_force.set(is_allowed)


def replacing_allowed() -> bool:
    """Return whether this command may replace files without a mark."""
    return _has_force.get()


def check_replaceable(path: Path) -> None:
    """Raise MisuseError if the file at a path is protected, or is neither marked nor replaced by ``--force``."""
    check_unprotected(path)
    if not replacing_allowed() and path.is_file() and not _is_marked(path):
        raise MisuseError(
            f"{path} holds something that discreet did not write: nothing was changed. Write to another file, or add "
            f"--force to replace {quote_word(path)}."
        )


def _is_marked(path: Path) -> bool:
    """Return whether a file is empty or has the mark of a file that discreet wrote."""
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
        binary = next((form for form in FORMATS if form.magic and head.startswith(form.magic)), None)
        if binary is not None:
            return binary.has_mark(path)
    except OSError:
        return False  # the directory may permit a replacement of a file that cannot be read
    line = head.partition(b"\n")[0].decode(errors="replace").strip("\r\ufeff").replace('"', "").replace("\t", ",")
    has_mark = any(mark.match(head) for mark in _MARKS) or _HEADERS.fullmatch(line) is not None
    return not head or has_mark
