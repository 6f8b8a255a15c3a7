"""`discreet serve`: the service of live studies, on a port."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options
from ._adding import HandoverOptions
from ._groups import command
from ._signals import lift_limit
from ._terminal import say

app = typer.Typer()

STORE_OPTION = options.option(
    "Keep studies in PostgreSQL: postgresql://user@host/database.  \\[default: a SQLite file]",
    None,
    "--store",
    metavar="ADDRESS",
    envvar="DISCREET_STORE",
)

STUDY_NAME = options.argument("NAME", "The name of the study.")
SERVICE_OPTION = options.option(
    "Where the service is: its directory here, or its address.",
    None,
    "--at",
    default="studies",
    metavar="DIRECTORY|URL",
    envvar="DISCREET_AT",
)


@command(app)
def serve(
    directory: Path = options.argument("DIRECTORY", "Holds the signing key and the studies; made where there is none."),
    host: str = options.option("Where to listen.", default="127.0.0.1", metavar="HOST"),
    port: int = options.number("The port; 0 takes any that is free.", default=8000),
    store: str | None = STORE_OPTION,
    rate: int = options.number("Requests a second from one address; 0 for any number.", default=2000),
    proxies: list[str] | None = options.option(
        "Believe the X-Forwarded-For of this proxy, an address or a network. Can be given again.",
        None,
        "--trusted-proxy",
        metavar="ADDRESS",
    ),
    connections: int = options.number("Connections at the same time, at most.", default=2048),
    address_connections: int = options.number(
        "Of these from one address that is no trusted proxy, at most.", default=256
    ),
    *,
    handing: HandoverOptions,
) -> None:
    """Run the service of live studies: devices fetch its questions, and send it their reports.

    It speaks HTTP; put it behind a proxy that speaks HTTPS. `discreet study` opens studies in it.

    Examples
    --------
    discreet serve studies

    discreet serve studies --host 0.0.0.0 --port 80

    discreet serve studies --trusted-proxy 127.0.0.1

    discreet serve studies --store postgresql://collector@localhost/studies --port 8001

    discreet serve studies --engine spark --master spark://host:7077 --handover /shared/reports
    """
    from ..collector import ConnectionLimits, serve as serve_studies

    # A service runs until a signal stops it.
    lift_limit()
    adder = handing.build_adder(directory)
    is_serving = False

    def report_ready(address: str) -> None:
        nonlocal is_serving
        is_serving = True
        say(f"Serving {directory} at {address}. Stop it with Ctrl-C.", err=True)

    try:
        with handing.use_device():
            serve_studies(
                directory,
                host=host,
                port=port,
                store=store,
                rate=rate,
                limits=ConnectionLimits(connections=connections, address_connections=address_connections),
                trusted_proxies=proxies or (),
                adder=adder,
                ready=report_ready,
            )
    except KeyboardInterrupt:
        if not is_serving:
            raise
        # Ctrl-C is the regular end of a service, which has closed its store by now: the exit status is 0.
        say(f"Stopped serving {directory}. What was acknowledged is stored.", err=True)
