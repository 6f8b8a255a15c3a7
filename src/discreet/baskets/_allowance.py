"""The limit of the memory that reading may take.

Tables go to disk if memory is short (`_databases`). Text and the final baskets stay in memory, so readers count their
bytes and raise an error above the limit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import LimitError, MisuseError

MEMORY = "2GB"  # the default of `read`: enough for about 200 million items, and less than most machines have
_FORM = re.compile(r"(?=.*[1-9])(\d+(?:\.\d+)?) ?([KMGT])(i?)B", re.IGNORECASE)
_MAX_BYTES = 1 << 50  # bytes; more than any machine has


@dataclass(frozen=True)
class MemoryLimit:
    """A number of bytes, and the text of the option `memory` that named it."""

    text: str
    size: int

    @classmethod
    def parse(cls, memory: object) -> MemoryLimit:
        """Return the limit of a text such as 2GB or 500MB; refuse any other value."""
        match = _FORM.fullmatch(memory) if isinstance(memory, str) else None
        if match is None:
            raise MisuseError.format('{memory} is {given!r}; write it as "2GB" or "500MB".', given=memory)
        power = "KMGT".index(match[2].upper()) + 1
        size = float(match[1]) * (1024 if match[3] else 1000) ** power
        if size > _MAX_BYTES:
            raise MisuseError.format(
                '{memory} is {given!r}, more than any machine has; write it as "8GB".', given=memory
            )
        return cls(match[0], int(size))

    def check(self, name: str, byte_count: int) -> None:
        """Check that the bytes in use for the source `name` are within the limit."""
        if byte_count > self.size:
            raise LimitError.format(
                '{name}: what is read takes more memory than {allowed}; give more, as in {memory="8GB"}.',
                name=name,
                allowed=self.text,
            )
