"""What databases and their drivers complain of, in our words, and without any password or signature."""

from __future__ import annotations

import re
from urllib.parse import unquote

from ..errors import InputError, Message, build_message

QUERY = "The query"  # the name of a table that a query made
SAY_ENCODING = build_message('say what it is, as in {encoding="windows-1252"}.')
# An address, and one of which a path has made one line between two slashes; a letter alone is a drive.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.*)", re.DOTALL)
_QUOTED = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]+://[^\s'\"<>|]+")
_SECRET = re.compile(r"pass|key|secret|token|sig|cred|auth|code", re.IGNORECASE)
_SHORT = 2  # letters of a secret that may be a part of many words
_LONG = 8  # letters of an option of the web that may be a secret by whatever name
# What a database says of values that it cannot convert: DuckDB, and PostgreSQL. The message quotes the values.
_VALUE_PROBLEM = re.compile(
    r"^(?:Conversion|Out of Range) Error\b|\binvalid (?:input syntax for|byte sequence)\b|\bout of range\b|\bDETAIL:",
    re.IGNORECASE,
)
_CSV_PROBLEM = r"CSV Error on Line: (\d+)\n.*?\n((?:Expected|Value|Invalid|Maximum|Unterminated)[^\n]*)"


def public_name(address: str) -> str:
    """Return an address without user, password, options and signatures: what may be shown or logged."""
    scheme, _, rest = address.partition("://")
    before, _, after = rest.rpartition("@")
    place = re.split(r"[?#;]", after)[0]
    # Where it is not clear which part is the password, nothing is shown.
    if re.search(r"[?#]", before) or re.search(r":(?!\d*(?:$|[/,\]:]))", re.sub(r"\[[^]]*\]", "", place)):
        return f"{scheme}://…"
    return f"{scheme}://{place}"


def public_path(place: object) -> str:
    """Return the name of a file as it may be shown: an address, also one that was made a path, by its `public_name`."""
    found = _ADDRESS.fullmatch(str(place))
    return str(place) if found is None else public_name(f"{found[1]}://{found[2]}")


def hidden(message: str, address: str) -> str:
    """Return a message without what in the address is, or may be, a secret.

    Of the web, these are the user, the password and all that stands behind a question mark; of a database, passwords,
    keys and tokens. No address that the message quotes keeps any of this.
    """
    name = public_name(address)
    for written in (address, unquote(address)):
        message = message.replace(written, name)
    message = without_options(message)
    secrets = _secrets(address, name)
    for secret in sorted({*secrets, *map(unquote, secrets)} - {""}, key=len, reverse=True):
        # A short one is looked for as a word: else it would be found within others.
        short = rf"(?<!\w){re.escape(secret)}(?!\w)"
        message = re.sub(short, "…", message) if len(secret) <= _SHORT else message.replace(secret, "…")
    return message


def without_options(message: str) -> str:
    """Return a message with the addresses that it quotes as `public_name` has them."""
    return _QUOTED.sub(lambda found: public_name(found[0]), message)


def _secrets(address: str, name: str) -> list[str]:
    scheme, _, rest = address.partition("://")
    if name.endswith("…"):
        return re.split(r"[@:/?#&=;]", rest)
    before, _, after = rest.rpartition("@")
    user, _, password = before.partition(":")
    web = scheme not in ("postgresql", "postgres")
    secrets = [password, *re.split(r"[@/]", password), user if web else ""]
    asked = re.split(r"[?#;]", after, maxsplit=1)[1:]
    secrets += asked if web else []
    for option in re.split(r"[&#?;]", asked[0] if asked else ""):
        key, _, value = option.partition("=")
        if _SECRET.search(key) or (web and len(value) >= _LONG):
            secrets.append(value)
    return secrets


def clean(error: InputError, address: str) -> InputError:
    """Return an error as it may be told of an address."""
    told_of = error.message
    return type(error)(Message(hidden(told_of.python, address), hidden(told_of.typed, address), told_of.options))


def failed(name: str, message: str) -> InputError:
    """Return the error of a source that a database could not read, with its message unless that quotes values."""
    # A query may also raise an error of its own, with any text from its rows.
    if _VALUE_PROBLEM.search(message) or (name == QUERY and message.startswith("Invalid Input Error")):
        return InputError(
            f"{name}: a value cannot be read as the query or its column asks. Which value is not shown, as it may be "
            "private: cast the column to text."
        )
    return InputError.format("{name}{reason}", name=name, reason=_reason(without_options(message)))


def _reason(message: str) -> str | Message:
    """Return the telling part of a database's message, on one line, as what follows the name of the source."""
    line = re.search(_CSV_PROBLEM, message, re.DOTALL)
    if line is not None and "not utf-8 encoded" in message:
        return build_message(", line {line}: it is not UTF-8 text; {way}", line=line[1], way=SAY_ENCODING)
    if line is not None:
        return f", line {line[1]}: {line[2].strip().rstrip('.')}."
    if "json_read expected records" in message:
        return build_message(
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
