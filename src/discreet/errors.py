"""Everything discreet raises on purpose, in one tree.

    DiscreetError
    ├── InputError      what was read is not what it should be (a file, a table, a column)
    ├── MisuseError     the call or command itself is wrong (an option, a range)
    └── LimitError      going on would take more memory or time than was allowed

A message says what was given, what is allowed and what to type instead. The command line ends with status 1 on any
of them; status 2 is kept for a command line that cannot be parsed. A private value never enters a message.
"""

from __future__ import annotations


class DiscreetError(Exception):
    """The base of all errors raised on purpose."""


class InputError(DiscreetError):
    """Data cannot be read as baskets: says where, and what to do about it."""


class MisuseError(DiscreetError, ValueError):
    """An argument is out of range or contradicts another one."""


class LimitError(DiscreetError):
    """A result would be larger than the limit that was set."""
