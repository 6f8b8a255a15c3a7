"""The pages of a service, for people: which studies there are, how one goes on, and taking part in it.

They are written by the service from public values (`markup`), and say nothing that the API does not. Scripts come from
the service itself and nowhere else, and only taking part and the operators' page need one. What is drawn comes from the
room of reports.
"""

from __future__ import annotations

from ...faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
