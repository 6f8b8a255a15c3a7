"""A live study: a service asks the questions of a protocol over the network, and devices answer them.

Decisions are separate from storage and transport. `study_file` reads the file of an operator; `states` has the states
of a round; `documents` and `uploads` have the formats of messages; `core` derives the next steps from stored rounds and
an estimate from reports, without input or output. `storage` keeps all state, in SQLite or PostgreSQL; `collector`
carries out the steps of the core; `service` speaks HTTP, and `serving` puts it on a port. Signing and serving need the
extra ``discreet[server]``, which is imported on use.
"""

from __future__ import annotations

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
