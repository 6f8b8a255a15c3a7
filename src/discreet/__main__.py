"""`python -m discreet` is the command line, where no script is on the path."""

from __future__ import annotations

from .cli import main

if __name__ == "__main__":
    main()
