"""A study, live: a service asks a protocol's questions over the network, and devices answer them.

What is decided is apart from how it is stored and sent. `study_file` reads what an operator wrote; `states` is the
table of what may follow what; `documents` and `uploads` are what travels; `core` goes from stored rounds to the next
ones and from reports to an estimate, without any input or output. `storage` keeps everything, in SQLite or PostgreSQL;
`collector` carries out what the core decides; `service` speaks HTTP, and `serving` puts it on a port. Signing and
serving need the extra ``discreet[server]``, which is imported where it is used.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
