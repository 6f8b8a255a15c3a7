"""`discreet serve`: the service of live studies, on a port."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._adding import HandingOver
from ._groups import grouped
from ._numbers import whole
from ._signals import lift_limit
from ._terminal import say

app = typer.Typer()

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="ADDRESS",
        envvar="DISCREET_STORE",
        help="Keep studies in PostgreSQL: postgresql://user@host/database.  \\[default: a SQLite file]",
        show_default=False,
    ),
]

StudyName = Annotated[str, typer.Argument(metavar="NAME", help="The name of the study.", show_default=False)]
Place = Annotated[
    str,
    typer.Option(
        "--at",
        metavar="DIRECTORY|URL",
        envvar="DISCREET_AT",
        help="Where the service is: its directory here, or its address.",
    ),
]


@app.command(
    epilog="[bold]Examples[/bold]\n\n"
    "discreet serve studies\n\n"
    "discreet serve studies --host 0.0.0.0 --port 80\n\n"
    "discreet serve studies --trusted-proxy 127.0.0.1\n\n"
    "discreet serve studies --store postgresql://collector@localhost/studies --port 8001\n\n"
    "discreet serve studies --engine spark --master spark://host:7077 --handover /shared/reports"
)
@grouped
def serve(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIRECTORY",
            help="Holds the signing key and the studies; made where there is none.",
            show_default=False,
        ),
    ],
    host: Annotated[str, typer.Option(metavar="HOST", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(parser=whole, metavar="N", help="The port; 0 takes any that is free.")] = 8000,
    store: StoreOption = None,
    rate: Annotated[
        int, typer.Option(parser=whole, metavar="N", help="Requests a second from one address; 0 for any number.")
    ] = 2000,
    proxies: Annotated[
        list[str] | None,
        typer.Option(
            "--trusted-proxy",
            metavar="ADDRESS",
            help="Believe the X-Forwarded-For of this proxy, an address or a network. Can be given again.",
            show_default=False,
        ),
    ] = None,
    connections: Annotated[
        int, typer.Option(parser=whole, metavar="N", help="Connections at the same time, at most.")
    ] = 2048,
    address_connections: Annotated[
        int,
        typer.Option(parser=whole, metavar="N", help="Of these from one address that is no trusted proxy, at most."),
    ] = 256,
    *,
    handing: HandingOver,
) -> None:
    """Run the service of live studies: devices ask it what is asked, and send their reports to it.

    It speaks HTTP; put it behind a proxy that speaks HTTPS. `discreet study` opens studies in it.
    """
    from ..collector import ConnectionLimits, serve as run

    lift_limit()
    adder = handing.adder(directory)
    served = False

    def ready(address: str) -> None:
        nonlocal served
        served = True
        say(f"Serving {directory} at {address}. Stop it with Ctrl-C.", err=True)

    try:
        with handing.used():
            run(
                directory,
                host=host,
                port=port,
                store=store,
                rate=rate,
                limits=ConnectionLimits(connections=connections, address_connections=address_connections),
                trusted_proxies=proxies or (),
                adder=adder,
                ready=ready,
            )
    except KeyboardInterrupt:
        if not served:
            raise
        # It was asked to stop, and let go of everything before this came: that is how a service ends.
        say(f"Stopped serving {directory}. What was acknowledged is stored.", err=True)
