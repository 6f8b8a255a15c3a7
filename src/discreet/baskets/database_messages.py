"""What databases and their drivers complain of, in our words, and without any password."""

from __future__ import annotations

import re
from urllib.parse import unquote

from ..errors import InputError, Message, told

SAY_ENCODING = told('say what it is, as in {encoding="windows-1252"}.')
_CSV_PROBLEM = r"CSV Error on Line: (\d+)\n.*?\n((?:Expected|Value|Invalid|Maximum|Unterminated)[^\n]*)"


def public_name(address: str) -> str:
    """Return the address of a database without user, password and options: what may be shown or logged."""
    scheme, _, rest = address.partition("://")
    before, _, after = rest.rpartition("@")
    place = re.split(r"[?#]", after)[0]
    # Where it is not clear which part is the password, nothing is shown.
    if re.search(r"[?#]", before) or re.search(r":(?!\d*(?:$|[/,\]:]))", re.sub(r"\[[^]]*\]", "", place)):
        return f"{scheme}://…"
    return f"{scheme}://{place}"


def hidden(message: str, address: str) -> str:
    """Return a driver's message without what in the address is, or may be, a password."""
    rest = address.partition("://")[2]
    secrets = re.findall(r"(?:pass|key|secret)\w*=([^&#]+)", rest)
    if public_name(address).endswith("…"):
        secrets += re.split(r"[@:/?#&=]", rest)
    else:
        secrets += re.split(r"[@/]", rest.rpartition("@")[0].partition(":")[2])
    for secret in {*secrets, *map(unquote, secrets)}:
        if len(secret) > 2:
            message = message.replace(secret, "…")
    return message


def failed(name: str, message: str) -> InputError:
    """Return the error of a source that a database could not read, with what it said."""
    return InputError(told("{name}{reason}", name=name, reason=_reason(message)))


def _reason(message: str) -> str | Message:
    """Return the telling part of a database's message, on one line, as what follows the name of the source."""
    line = re.search(_CSV_PROBLEM, message, re.DOTALL)
    if line is not None and "not utf-8 encoded" in message:
        return told(", line {line}: it is not UTF-8 text; {way}", line=line[1], way=SAY_ENCODING)
    if line is not None:
        return f", line {line[1]}: {line[2].strip().rstrip('.')}."
    if "json_read expected records" in message:
        return told(
            " has lines that are not objects; with {person=} and {item=} each line is an object with these fields."
        )
    if "state machine reached an invalid state" in message:
        return (
            ": it cannot be cut into rows; all its lines must end alike (in a line feed, or all in a carriage return "
            "and a line feed), and each quote must be closed."
        )
    message = re.split(r"\n\s*\n|\nLINE |\nquery: |\nPossible |\nDid you mean", message.strip())[0]
    message = re.sub(r' in file "[^"]*"| at end of file \'[^\']*\'| Did you mean .*', "", message)
    return ": " + " ".join(message.split()).rstrip(".?!") + "."
