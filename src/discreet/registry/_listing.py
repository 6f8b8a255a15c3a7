"""The list of mechanisms, protocols and oracles: in a terminal, in a notebook and in `discreet mechanisms`."""

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
    """Entries by name, rendered as a list."""

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.padding import Padding
        from rich.text import Text

        lines: list[Any] = []
        last_kind = ""
        for entry in self.values():
            if entry.what != last_kind:
                last_kind = entry.what
                lines.append(Text(f"{_HEADS[last_kind]}\n", "bold underline"))
            lines.append(
                Text.assemble((entry.name, "bold"), f"  answers {', '.join(entry.answers)}; {entry.guarantee}")
            )
            for text, style in ((describe_entry(entry), ""), (entry.citation, "dim")):
                lines.append(Padding(Text(text, style), (0, 0, 0, 2)))
            lines.append(Text())
        return Group(*lines)


def describe_entry(entry: Entry) -> str:
    """Return the summary of an entry, or the reason why it is not run."""
    return f"{entry.unproven} It is not run." if entry.unproven else entry.summary
