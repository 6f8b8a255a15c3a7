"""The command line. Each command is a thin shell over the public API; nothing is computed here.

`app` lists the commands, and each larger one has a module. Options are written once (`options`, `groups`) and parsed in
`parsing` and `numbers`. `run` turns every error into one sentence and an exit status; `signals` makes SIGTERM and
SIGHUP an interrupt that says what was paid. What was paid for is handed over by `delivery`. Text that comes from data
passes `terminal`, so that no terminal obeys it.
"""

from __future__ import annotations

import sys

from ..faces import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
__all__ += ["main"]


def main() -> None:
    """Run the command line and exit."""
    try:
        from ._signals import Signals

        with Signals() as signals:
            from ._run import run

            run(signals)
    except (ImportError, OSError) as error:
        if sys.stderr is not None:
            sys.stderr.write(
                f"discreet: its own code cannot be loaded ({type(error).__name__}); the disk may be failing, or "
                "install it anew.\n"
            )
        sys.exit(1)
    except KeyboardInterrupt:
        # While starting, before there is anybody who could say more.
        if sys.stderr is not None:
            sys.stderr.write("discreet: interrupted; no result was written.\n")
        sys.exit(130)
