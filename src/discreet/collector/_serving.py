"""A service on a port: one process, its socket, and how it begins and ends.

What cannot work is told in one line before anything is made: a port in use, a directory that another service runs in,
a store that cannot be reached.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from ..errors import InputError, MisuseError
from ._collector import Adder, StudyCollector
from ._core import add_up
from ._documents import KEY_FILE, Signer
from ._limits import ConnectionCount, ConnectionLimits, check_proxies
from .storage import open_store

LOCK = "serving.lock"


def collector_in(
    directory: Path | str, store: str | None = None, *, make: bool = True, adder: Adder = add_up
) -> StudyCollector:
    """Return the collector of a directory: its signing key, and its store there or elsewhere.

    Parameters
    ----------
    directory
        The directory of the service.
    store
        The address of a database; None for the SQLite file of the directory.
    make
        Whether to make a signing key where there is none. None is made for studies that are there already, which
        another key has signed.
    adder
        Adds up rounds that are closed.
    """
    directory = Path(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise InputError(f"The directory {directory} cannot be made: {error.strerror}.") from None
    kept = open_store(store, directory)
    try:
        is_new = make and not (directory / KEY_FILE).exists() and not kept.studies()
        has_key = is_new or (directory / KEY_FILE).exists()
        return StudyCollector(kept, partial(Signer.of, directory, make=is_new) if has_key else None, adder=adder)
    except BaseException:
        kept.close()
        raise


@contextlib.contextmanager
def alone_in(directory: Path) -> Iterator[None]:
    """Hold a directory for one service with a SQLite file: two would keep each other waiting."""
    try:
        descriptor = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise InputError(f"The directory {directory} cannot be written to: {error.strerror}.") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"Another service runs in {directory}. Stop it first; or keep the studies in PostgreSQL, where several "
                "services work side by side."
            ) from None
        yield
    finally:
        os.close(descriptor)


def bind_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens at a place; port 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's algorithm off for sockets that say they are TCP, and for no others: with protocol 0 the body
    # of each answer would wait 40 ms for the acknowledgement of its head.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except OSError as error:
        made.close()
        raise InputError(f"Port {port} of {host} cannot be used: {error.strerror}. Choose another port.") from None
    except OverflowError:
        made.close()
        raise MisuseError(f"A port is from 0 to 65535; {port} was given.") from None
    made.listen(2048)
    return made


def serve(
    directory: Path | str,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    store: str | None = None,
    rate: float = 0,
    limits: ConnectionLimits | None = None,
    trusted_proxies: Sequence[str] = (),
    adder: Adder = add_up,
    ready: Callable[[str], object] | None = None,
) -> None:
    """Run the service of a directory until it is told to stop.

    Parameters
    ----------
    directory
        Where its signing key is, and its studies unless they are in a database.
    host, port
        Where it listens.
    store
        The address of a database.
    rate
        How many requests a second one address may make; 0 for any number.
    limits
        Limits of connections; None for those that are documented.
    trusted_proxies
        Addresses and networks of proxies whose ``X-Forwarded-For`` is believed: nobody's, unless they are named.
    adder
        Adds up rounds that are closed: on this machine, or elsewhere.
    ready
        Told the address; whoever connects from then on is answered.
    """
    try:
        import uvicorn

        from ._connections import bounded_protocol
        from ._service import application
    except ImportError:
        raise MisuseError("A service needs the extra: pip install 'discreet[server]'.") from None
    check_proxies(trusted_proxies)
    limits = limits or ConnectionLimits()
    with contextlib.ExitStack() as stack:
        # The port first: where it is in use, nothing is made.
        listening = stack.enter_context(contextlib.closing(bind_socket(host, port)))
        collector = collector_in(directory, store, adder=adder)
        stack.callback(collector.store.close)
        collector.check_key()
        _ = collector.signer  # before somebody connects; a first key is made here
        collector.check_clock()
        if store is None:
            stack.enter_context(alone_in(Path(directory)))
        config = uvicorn.Config(
            application(collector, rate=rate),
            http=bounded_protocol(limits, ConnectionCount(limits, trusted_proxies)),
            ws="none",
            proxy_headers=bool(trusted_proxies),
            forwarded_allow_ips=list(trusted_proxies),
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=10,
        )
        if ready is not None:
            ready(f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}")
        uvicorn.Server(config).run(sockets=[listening])
