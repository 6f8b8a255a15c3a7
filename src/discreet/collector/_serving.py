"""A service on a port: one process, its socket, its start and its end.

A failure that can be found early is reported in one line before anything is made: a port in use, a directory with a
running service, a store out of reach.
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
from ._limits import ConnectionCount, ConnectionLimits, check_proxies, check_rate
from .storage import open_store

LOCK_FILE = "serving.lock"
# Connections that the kernel accepts before the service does: the limit of a service (`ConnectionLimits`).
_BACKLOG = 2048


def collector_in(
    directory: Path | str, store: str | None = None, *, make: bool = True, adder: Adder = add_up
) -> StudyCollector:
    """Return the collector of a directory, with its signing key and its store.

    Parameters
    ----------
    directory
        The directory of the service.
    store
        The address of a database; None for the SQLite file of the directory.
    make
        Whether to make a missing signing key. No key is made if the store has studies: their key is lost, and
        devices would refuse a new one.
    adder
        The function that adds up closed rounds.
    """
    directory = Path(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise InputError(f"The directory {directory} cannot be made: {error.strerror}.") from None
    study_store = open_store(store, directory)
    try:
        has_key = (directory / KEY_FILE).exists()
        makes_key = make and not has_key and not study_store.studies()
        signer = partial(Signer.read, directory, make=makes_key) if has_key or makes_key else None
        return StudyCollector(study_store, signer, adder=adder)
    except BaseException:
        study_store.close()
        raise


@contextlib.contextmanager
def lock_directory(directory: Path) -> Iterator[None]:
    """Lock a directory for one service with a SQLite file: each of two services would wait for locks of the second."""
    try:
        descriptor = os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
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
    """Return a listening socket; port 0 takes any free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's algorithm off for sockets of the protocol TCP alone: with protocol 0 the body
    # of each answer would wait 40 ms for the acknowledgement of its head.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    # A service that is started again at once finds its old port in the state TIME_WAIT.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except socket.gaierror as error:
        listener.close()
        raise InputError(
            f"The host {host!r:.60} is none of this machine: {error.strerror}. Give one of its addresses with --host, "
            "such as 127.0.0.1, or 0.0.0.0 for all."
        ) from None
    except OSError as error:
        listener.close()
        raise InputError(f"Port {port} of {host} cannot be used: {error.strerror}. Choose another port.") from None
    except OverflowError:
        listener.close()
        raise MisuseError(f"A port is from 0 to 65535; {port} was given.") from None
    listener.listen(_BACKLOG)
    return listener


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
    """Run the service of a directory until a signal stops it.

    Parameters
    ----------
    directory
        The directory with the signing key, and with the studies unless `store` is given.
    host, port
        The address and port of the service.
    store
        The address of a database.
    rate
        The number of requests per second from one address; 0 for no limit.
    limits
        The limits of connections; None for the documented ones.
    trusted_proxies
        The addresses and networks of proxies with a trusted ``X-Forwarded-For``.
    adder
        The function that adds up closed rounds, on this machine or in a cluster.
    ready
        A function that is called with the address of the service, as soon as connections are accepted.
    """
    try:
        import uvicorn

        from ._connections import bounded_protocol
        from ._service import application
    except ImportError:
        raise MisuseError("A service needs the extra: pip install 'discreet[server]'.") from None
    check_proxies(trusted_proxies)
    check_rate(rate)
    limits = limits or ConnectionLimits()
    with contextlib.ExitStack() as stack:
        # The port first: if it is in use, nothing is made.
        listener = stack.enter_context(contextlib.closing(bind_socket(host, port)))
        collector = stack.enter_context(collector_in(directory, store, adder=adder))
        collector.check_key()
        _ = collector.signer  # a first key is made before the first connection
        collector.check_clock()
        if store is None:
            stack.enter_context(lock_directory(Path(directory)))
        config = uvicorn.Config(
            application(collector, rate=rate),
            http=bounded_protocol(limits, ConnectionCount(limits, trusted_proxies)),
            ws="none",
            proxy_headers=bool(trusted_proxies),
            forwarded_allow_ips=list(trusted_proxies),
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=75,  # the default of nginx (keepalive_timeout)
            timeout_graceful_shutdown=10,
        )
        if ready is not None:
            ready(f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}")
        uvicorn.Server(config).run(sockets=[listener])
