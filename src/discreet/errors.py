"""Everything discreet raises on purpose, in one tree.

    DiscreetError
    ├── InputError      what was read is not what it should be (a file, a table, a column)
    │   └── NobodyError   there is nobody in the data; a release takes them as they are
    ├── MisuseError     the call or command itself is wrong (an option, a range)
    ├── LimitError      going on would take more memory or time than was allowed
    └── BudgetError     a ledger has less left than was asked for

A message says what was given, what is allowed and what to type instead. The command line ends with status 1 on any
of them; status 2 is kept for a command line that cannot be parsed. A private value never enters a message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from fractions import Fraction


class DiscreetError(Exception):
    """The base of all errors raised on purpose."""


class InputError(DiscreetError):
    """Data cannot be read as baskets: says where, and what to do about it."""


class NobodyError(InputError):
    """The data have no rows at all. Exact mining refuses them; a release may not, as that would tell."""


class MisuseError(DiscreetError, ValueError):
    """An argument is out of range or contradicts another one."""


class LimitError(DiscreetError):
    """A result would be larger than the limit that was set."""


class BudgetError(DiscreetError):
    """A ledger has less left than was asked for; nothing was spent.

    `requested`, `spent`, `remaining` and `difference` are exact fractions of what `unit` names: epsilon, rho in a
    ledger kept by zCDP, or delta.
    """

    def __init__(
        self,
        message: str,
        requested: Fraction,
        spent: Fraction,
        remaining: Fraction,
        unit: Literal["epsilon", "rho", "delta"] = "epsilon",
    ) -> None:
        super().__init__(message)
        self.requested = requested
        self.spent = spent
        self.remaining = remaining
        self.difference = requested - remaining
        self.unit = unit

    def __reduce__(self) -> tuple[Any, ...]:
        # An exception that cannot be unpickled takes a pool of processes down with it.
        return type(self), (str(self), self.requested, self.spent, self.remaining, self.unit)
