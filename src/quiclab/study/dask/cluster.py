# SPDX-License-Identifier: Apache-2.0
"""The Dask cluster, as far as quiclab uses one: which workers there are, and a task for one of them. The only place
that knows Dask on the coordinator's side; it is imported when it is asked for.

A program that reaches a scheduler or a worker can run others there, and the coordinator unpickles what workers send. So
a cluster of this run alone has TLS with a certificate of its own on both sides, and no other cluster is used without
TLS unless the user says so.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from quiclab.model.errors import HostError, SpecError

_MOST_LOCAL = 64
_CONNECT_S = 20
_STOP_S = 5
_LOCAL_SILENCE = "30s"
_WORKER = f"""
import ctypes, json, sys
ctypes.CDLL(None).prctl(1, {signal.SIGTERM:d}, 0, 0, 0)  # PR_SET_PDEATHSIG: it ends when the coordinator is killed
import dask
dask.config.set(json.load(sys.stdin))
from distributed.cli.dask_worker import main
main()
"""
_NO_PAGES: dict[str, object] = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
"""Dask's pages of HTTP, which ask for no certificate and which nothing here needs."""
WITHOUT_TLS = "--without-tls"
"""Option of the command line by which a cluster without TLS is used."""


class Task:
    """Work that one worker was given."""

    def __init__(self, client: Any, future: Any) -> None:
        self._client = client
        self._future = future
        self._arriving: Future[Any] = asyncio.run_coroutine_threadsafe(self._arrive(), client.loop.asyncio_loop)

    async def _arrive(self) -> Any:
        return await self._client.gather(self._future, asynchronous=True)

    @property
    def is_over(self) -> bool:
        """True if there is an answer, or none will come."""
        return self._arriving.done()

    def answer(self) -> Any:
        """Return the answer of a task that is over. Raises what the work raised, or what Dask says in its place."""
        return self._arriving.result()

    def drop(self) -> None:
        """Forget the task: it is not run again elsewhere, and its answer is not kept."""
        with suppress(Exception):  # whatever a cluster that is going says to that
            self._future.cancel()


class Cluster:
    """A cluster that is connected."""

    def __init__(self, client: Any, *, is_local: bool) -> None:
        self._client = client
        self.is_local = is_local
        """True if it was started for this run, on this machine."""

    @property
    def scheduler_address(self) -> str:
        """Address at which its scheduler takes connections."""
        return str(self._client.scheduler.address)

    def workers(self) -> dict[str, bool]:
        """Return the workers that are there, by address, each with whether it takes work: one that is paused, closing
        or being retired does not. Raises HostError where the scheduler is gone."""
        try:
            # Not `scheduler_info`, whose answer another thread of the client may replace by one without workers.
            seen = self._client.sync(self._client.scheduler.identity, n_workers=-1)["workers"]
        except (OSError, TimeoutError, RuntimeError) as error:
            raise HostError(
                f"Dask's scheduler does not answer any more: {error}",
                "start it again and run the same command: finished trials are kept",
            ) from error
        return {str(address): each["status"] == "running" for address, each in seen.items()}

    def ask(self, address: str, name: str, work: Callable[..., Any], *arguments: Any) -> Task:
        """Give work to one worker and to no other."""
        future = self._client.submit(
            work, *arguments, key=name, workers=[address], allow_other_workers=False, pure=False, retries=0
        )
        return Task(self._client, future)

    def stop(self, addresses: list[str], work: Callable[[], None]) -> None:
        """Have workers do something at once, beside what they do."""
        with suppress(Exception):  # they may be gone; nothing depends on it
            asyncio.run_coroutine_threadsafe(
                self._client.run(work, workers=addresses, wait=True, on_error="ignore", asynchronous=True),
                self._client.loop.asyncio_loop,
            ).result(_STOP_S)


_INSTALL = "tools/setup.sh dev, where quiclab is a checkout; of a wheel: pip install './quiclab-….whl[dask]'"


def check_dask(where: str, *, without_tls: bool = False) -> None:
    """Raise SpecError for a place that names no cluster, or one without TLS unless that is said; HostError where Dask
    is not installed."""
    local = re.fullmatch(r"local:([0-9]+)", where)
    if local is not None and not 1 <= int(local[1]) <= _MOST_LOCAL:
        raise SpecError(f"--dask {where}: {local[1]} workers", f"give 1 to {_MOST_LOCAL}")
    if local is None and not re.fullmatch(r"(tcp|tls)://.+:[0-9]+", where):
        raise SpecError(f"--dask {where}: this is no cluster", "give tls://HOST:PORT of a scheduler, or local:2")
    if where.startswith("tcp:") and not without_tls:
        raise SpecError(
            f"--dask {where}: without TLS, everybody who reaches the scheduler or a worker can run programs as you, "
            "there and here",
            f"give tls://HOST:PORT and certificates (docs/how-to/run-on-many-machines.md), or add {WITHOUT_TLS} where "
            "you trust all who reach them",
        )
    if without_tls and not where.startswith("tcp:"):
        raise SpecError(f"{WITHOUT_TLS} with --dask {where}, which has TLS", f"leave out {WITHOUT_TLS}")
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise HostError(f"--dask needs Dask, which is not here: {error}", _INSTALL) from error


@contextmanager
def connected(where: str, scratch: Path, *, without_tls: bool = False) -> Iterator[Cluster]:
    """Connect to a cluster, or start one on this machine, whose workers use the folder `scratch`.

    Raises as `check_dask`, and HostError where no scheduler answers or no certificate is configured.
    """
    check_dask(where, without_tls=without_tls)
    import dask
    from distributed import Client, LocalCluster
    from distributed.security import Security

    # A worker that says nothing is done without after that time, or twice that: the scheduler looks as seldom.
    if where.startswith("local:"):
        own = {"distributed.scheduler.worker-ttl": _LOCAL_SILENCE, "temporary-directory": str(scratch)}
        dask.config.set(own | _NO_PAGES)
    for name in ("distributed", "distributed.client", "distributed.scheduler"):  # Dask gives each a level of its own
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what a user must know is said by us
    if where.startswith("local:"):
        # A certificate that only this process and its workers have: others of this machine reach the port, too.
        security = Security.temporary()  # type: ignore[no-untyped-call]
        # Dask's own way to start workers runs the program's main script again in each.
        with (
            LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0", security=security
            ) as local,
            _workers_here(int(where.removeprefix("local:")), local.scheduler_address, scratch, _as_config(security)),
            Client(local, security=security) as client,  # type: ignore[no-untyped-call]
        ):
            yield Cluster(client, is_local=True)
        return
    try:
        client = Client(where, timeout=_CONNECT_S, security=_configured(where))  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError) as error:
        raise HostError(f"no Dask scheduler answers at {where}: {error}", "start one: dask scheduler") from error
    with client:
        yield Cluster(client, is_local=False)


def _configured(where: str) -> Any:
    """Security by Dask's own configuration. Raises HostError where that has no certificates for `tls://`, or names
    files that cannot be used."""
    from distributed.security import Security

    keys = "distributed.comm.tls: ca-file, client.cert and client.key"
    hint = f"name them in Dask's configuration ({keys}; docs/how-to/run-on-many-machines.md)"
    try:
        security = Security()  # type: ignore[no-untyped-call]
        usable = security.get_connection_args("client")["ssl_context"] is not None  # type: ignore[no-untyped-call]
    except (OSError, ValueError, ImportError) as error:
        raise HostError(f"the certificates for {where} cannot be used: {error}", hint) from error
    if where.startswith("tls:") and not usable:
        raise HostError(f"{where} needs certificates, and Dask's configuration has none", hint)
    return security


def _as_config(security: Any) -> dict[str, object]:
    """The part of Dask's configuration that gives a worker these certificates."""
    tls = "distributed.comm.tls"
    pairs = {
        f"{tls}.{role}.{part}": getattr(security, f"tls_{role}_{part}")
        for role in ("client", "scheduler", "worker")
        for part in ("cert", "key")
    }
    return {"distributed.comm.require-encryption": True, f"{tls}.ca-file": security.tls_ca_file, **pairs, **_NO_PAGES}


@contextmanager
def _workers_here(number: int, scheduler: str, scratch: Path, config: Mapping[str, object]) -> Iterator[None]:
    """Workers on this machine, in sessions of their own: Ctrl-C is for the coordinator. They end with this process.

    `config` is of Dask, with the private key: it reaches them by a pipe, so that it is in no file, and in no command
    line or environment that a program under test might see.
    """
    here = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")  # Dask listens to the whole network otherwise
    options = [*here, "--nthreads", "1", "--no-dashboard", "--death-timeout", "30"]
    quiet = {"DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "critical", "PYTHONWARNINGS": "ignore"}  # of what ends abruptly
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _WORKER, scheduler, *options, "--local-directory", str(scratch)],
            start_new_session=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,  # Dask tells with a traceback that it was told to end
            env=os.environ | quiet,
        )
        for _ in range(number)
    ]
    try:
        for process in processes:
            assert process.stdin is not None
            with suppress(BrokenPipeError), process.stdin as pipe:  # one that has ended does not join
                pipe.write(json.dumps(config).encode())
        yield
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)  # the worker as well as what restarts it
        for process in processes:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(_STOP_S)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # a worker that stands still hears nothing else
    process.wait()
