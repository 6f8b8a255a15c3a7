"""How results show themselves: in a terminal, a notebook and any rich console. The tables are made in `show`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from rich.console import Group

    from .patterns import Patterns
    from .rules import Rules


class Shown:
    """What patterns and rules have in common when they are looked at."""

    def show(self, rows: int = 30) -> View:
        """Return the first rows as a table: it shows itself in a notebook and at a prompt; a script prints it.

        Parameters
        ----------
        rows
            How many rows to show; a last line says how many more there are.

        Examples
        --------
        >>> import discreet
        >>> print(discreet.mine([{"tea", "milk"}] * 3, min_count=1).show(1))
        3 patterns of 3 people
        items   count   support
        ───────────────────────
        milk        3    1.0000
        … and 2 more
        """
        from ..checks import positive

        return View(cast("Patterns | Rules", self), positive("rows", rows))

    def __repr__(self) -> str:
        return repr(self._view())

    def _repr_html_(self) -> str:
        return self._view()._repr_html_()

    def __rich__(self) -> Group:
        return self._view().__rich__()

    def _view(self) -> View:
        from .show import ROWS

        return self.show(ROWS)


@dataclass(frozen=True, repr=False)
class View:
    """The first rows of patterns or rules, to be looked at."""

    result: Patterns | Rules
    rows: int

    def __repr__(self) -> str:
        from .show import text

        return text(self.result, self.rows)

    def _repr_html_(self) -> str:
        from .show import html

        return html(self.result, self.rows)

    def __rich__(self) -> Group:
        from .show import table

        return table(self.result, self.rows)
