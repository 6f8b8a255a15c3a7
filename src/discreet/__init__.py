"""Find the items that people buy, click, watch or take together, without learning about any single person.

The names below are the public surface. They are loaded on first use, so that importing the package is instant.
"""

from __future__ import annotations

from .faces import attach

__version__ = "0.1.0.dev0"

__getattr__, __dir__, __all__ = attach(__name__, __file__)
__all__ += ["__version__"]
