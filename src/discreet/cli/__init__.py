"""The command line. Each command is a thin shell over the public API; nothing is computed here.

`_app` lists the commands; a command of some size has a module. `options` and `_groups` have the options that commands
share, `_parsing` turns their texts into arguments. `_run` turns every error into one sentence and an exit status, and
`_signals` turns SIGTERM and SIGHUP into an interrupt that reports the payment. `_delivery` writes paid releases. Text
from data passes `_terminal`, which escapes control characters.
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
    # Errors of discreet are handled in `run`; an error here is one of its own files.
    except (ImportError, OSError) as error:
        if sys.stderr is not None:
            sys.stderr.write(
                f"discreet: its own code cannot be loaded ({type(error).__name__}); the disk may be failing, or "
                "install it anew.\n"
            )
        sys.exit(1)
    except KeyboardInterrupt:
        # An interrupt before `run` starts, which would report the work.
        if sys.stderr is not None:
            sys.stderr.write("discreet: interrupted; no result was written.\n")
        sys.exit(130)
