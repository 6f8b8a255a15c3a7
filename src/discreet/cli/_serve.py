"""`discreet serve`, the service of live studies, and the options of commands that add up reports."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from ..errors import MisuseError
from . import options
from ._groups import check_spark_address, command
from ._signals import lift_limit
from ._terminal import say

if TYPE_CHECKING:
    from ..collector import Adder

app = typer.Typer()


_PANEL = "How reports are added up"


DEVICE_OPTION = options.option(
    "Add up reports on a graphics card (pip install 'discreet\\[gpu]'), on the cores, or where it is quicker: "
    "the result is the same.  \\[default: auto]",
    _PANEL,
    "--device",
    envvar="DISCREET_DEVICE",
)


@dataclass(frozen=True)
class AddingOptions:
    """The options of a command that adds up reports from files."""

    engine: Literal["spark"] | None = options.option(
        "Let Spark add up reports, where they outgrow this machine (pip install 'discreet\\[spark]').",
        _PANEL,
        envvar="DISCREET_ENGINE",
    )
    master: str | None = options.option(
        "Where Spark runs: spark://host:7077, yarn, local\\[4].  \\[default: as Spark is configured]",
        _PANEL,
        metavar="URL",
        envvar="DISCREET_MASTER",
    )
    remote: str | None = options.option(
        "A server of Spark Connect: sc://host:15002.", _PANEL, metavar="URL", envvar="DISCREET_REMOTE"
    )
    device: Literal["auto", "gpu", "cpu"] | None = DEVICE_OPTION

    def __post_init__(self) -> None:
        check_spark_address(self.engine, self.master, self.remote)
        # Spark would add up on its executors, and the card would stay unused without a word.
        if self.engine is not None and self.device == "gpu":
            raise MisuseError("--device gpu adds up reports on a card of this machine: leave --engine spark out.")

    def use_device(self) -> AbstractContextManager[None]:
        """Return a context in which reports are added up on the device."""
        from ..local.oracle_steps import using

        return using(self.device)


@dataclass(frozen=True)
class HandoverOptions(AddingOptions):
    """The options of a command that closes the rounds of a service."""

    handover: Path | None = options.option(
        "Where reports pass through on their way to Spark: its executors have to see it too.  "
        "\\[default: in the directory of the service]",
        _PANEL,
        metavar="FOLDER",
        envvar="DISCREET_HANDOVER",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.engine is None and self.handover is not None:
            raise MisuseError("--handover says where reports pass through to Spark: give --engine spark too.")

    def build_adder(self, directory: Path | str) -> Adder:
        """Return the function that adds up the rounds of a service, for the directory of the service."""
        from ..collector import add_up

        if self.engine is None:
            return add_up
        # By name, as the packages of Spark may be absent.
        adder: Adder = import_module("discreet.spark._reports").SparkAdder(
            folder=self.handover or Path(directory) / "handover", master=self.master, remote=self.remote
        )
        return adder


STORE_OPTION = options.option(
    "Keep studies in PostgreSQL: postgresql://user@host/database.  \\[default: a SQLite file]",
    None,
    "--store",
    metavar="ADDRESS",
    envvar="DISCREET_STORE",
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
    # Ctrl-C before the service listens is a failure, and afterwards its regular end.
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
