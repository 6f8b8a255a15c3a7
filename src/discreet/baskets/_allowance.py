"""How much memory reading may take: what is held is counted as it grows, and refused before it is too much.

Tables go to disk where memory is short (`databases`); what is read at last, and text on its way there, do not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import LimitError, MisuseError

MEMORY = "2GB"  # unless more is said
_FORM = re.compile(r"(?=.*[1-9])(\d+(?:\.\d+)?) ?([KMGT])(i?)B", re.IGNORECASE)
_MOST = 1 << 50


@dataclass(frozen=True)
class Allowance:
    """So much memory, as it was written and in bytes."""

    written: str
    size: int

    @classmethod
    def of(cls, memory: object) -> Allowance:
        """Return what a text such as 2GB allows; anything else is refused, also where nothing needs it."""
        found = _FORM.fullmatch(memory) if isinstance(memory, str) else None
        if found is None:
            raise MisuseError.format('{memory} is {given!r}; write it as "2GB" or "500MB".', given=memory)
        power = "KMGT".index(found[2].upper()) + 1
        size = float(found[1]) * (1024 if found[3] else 1000) ** power
        if size > _MOST:
            raise MisuseError.format(
                '{memory} is {given!r}, more than any machine has; write it as "8GB".', given=memory
            )
        return cls(found[0], int(size))

    def check(self, name: str, held: int) -> None:
        """Refuse to hold more bytes of a source than are allowed."""
        if held > self.size:
            raise LimitError.format(
                '{name}: what is read takes more memory than {allowed}; give more, as in {memory="8GB"}.',
                name=name,
                allowed=self.written,
            )
