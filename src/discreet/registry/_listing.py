"""How mechanisms, protocols and oracles are listed: in a terminal, in a notebook and by `discreet mechanisms`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..wording import RichDisplay

if TYPE_CHECKING:
    from rich.console import Group

    from ._entries import Entry

_HEADS = {
    "mechanism": "Mechanisms: a curator holds everyone's baskets",
    "protocol": "Protocols: devices keep their baskets, and a collector asks",
    "oracle": "Oracles: how one report is randomised",
}


class Listing(dict[str, "Entry"], RichDisplay):
    """Entries by name, which show themselves as a list."""

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.padding import Padding
        from rich.text import Text

        lines: list[Any] = []
        above = ""
        for one in self.values():
            if one.what != above:
                above = one.what
                lines.append(Text(f"{_HEADS[above]}\n", "bold underline"))
            lines.append(Text.assemble((one.name, "bold"), f"  answers {', '.join(one.answers)}; {one.guarantee}"))
            for text, style in ((told_of(one), ""), (one.citation, "dim")):
                lines.append(Padding(Text(text, style), (0, 0, 0, 2)))
            lines.append(Text())
        return Group(*lines)


def told_of(one: Entry) -> str:
    """Return what an entry says of itself, or why it is not run."""
    return f"{one.unproven} It is not run." if one.unproven else one.summary
