"""The pages of a service, for people: the list of studies, the progress and result of each, and taking part.

The service renders them from public values (`markup`), with the facts of the API alone. Scripts come
from the service itself, and only taking part and the operators' page need one. The room `report` draws the figures.
"""

from __future__ import annotations

from ...faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
