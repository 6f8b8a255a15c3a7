"""The options of commands that add up reports: on the cores or the graphics card of this machine, or in Spark."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..errors import MisuseError
from . import options
from ._groups import check_spark_address

if TYPE_CHECKING:
    from ..collector import Adder

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
        adder: Adder = import_module("discreet.spark._reports").SparkAdder(
            folder=self.handover or Path(directory) / "handover", master=self.master, remote=self.remote
        )
        return adder
