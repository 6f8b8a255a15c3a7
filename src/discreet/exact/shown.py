"""How results show themselves: in a terminal, a notebook and any rich console. The tables are made in `show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from rich.console import Group

    from .patterns import Patterns
    from .rules import Rules


class Shown:
    """What patterns and rules have in common when they are looked at."""

    def __repr__(self) -> str:
        from .show import text

        return text(self._result())

    def _repr_html_(self) -> str:
        from .show import html

        return html(self._result())

    def __rich__(self) -> Group:
        from .show import table

        return table(self._result())

    def _result(self) -> Patterns | Rules:
        return cast("Patterns | Rules", self)
