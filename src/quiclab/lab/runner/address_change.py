# SPDX-License-Identifier: Apache-2.0
"""The client's address changes in the middle of a transfer: when, how, and how the client learns of it.

A thread waits for the client's word that so many bytes of the body have come (or for the time), puts the new address in
the place of the old one, and lets the client know in the way that was asked for.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from quiclab.lab.testbed.link import CLIENT_ADDRESSES, NEXT_CLIENT_ADDRESSES, Link
from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.lab.testbed.process import Process
from quiclab.lab.testbed.socket_destruction import destroy_sockets
from quiclab.model import study
from quiclab.model.address_change import AddressChange
from quiclab.model.errors import HostError

WORD = b"the address has changed\n"


@dataclass
class Change:
    """Change of address as it happened, for trial.json. Instants are CLOCK_MONOTONIC; None is never."""

    old_address: str
    new_address: str
    reached_bytes: int | None = None
    """Bytes of the body that had come, by the client's report."""
    reached_ns: int | None = None
    """Instant at which the client's report was read."""
    changed_ns: int | None = None
    """Instant at which the old address was gone."""
    sockets_destroyed: int | None = None
    trouble: str | None = None


@dataclass
class ChangingAddress:
    """Context manager around the transfer of one trial; does nothing where the workload's address is stable."""

    asked: AddressChange | None
    namespace: NetworkNamespace
    path: study.Path
    link: Link
    pipe: Path
    """Into which the client says how far it is."""
    facts: Change | None = None
    _client: Process | None = None
    _began_ns: int = 0
    _begun: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _files: list[int] = field(default_factory=list)

    def __enter__(self) -> Self:
        if self.asked is not None:
            version = self.path.ip_version
            self.facts = Change(CLIENT_ADDRESSES[version], NEXT_CLIENT_ADDRESSES[version])
            os.mkfifo(self.pipe)
            self.pipe.chmod(0o666)  # the client is another user; nobody else reaches the trial's folder
            # Open for writing too: so the client's end opens at once, and its going is no end of file.
            self._files = [os.open(self.pipe, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC), os.eventfd(0)]
            self._thread = threading.Thread(target=self._work, args=(self.asked, self.facts))
            self._thread.start()
        return self

    def begin(self, client: Process) -> None:
        """The transfer begins now."""
        self._client, self._began_ns = client, time.monotonic_ns()
        self._begun.set()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> dict[str, object] | None:
        """The transfer is over; what happened."""
        if self._thread is not None:
            os.eventfd_write(self._files[1], 1)
            self._begun.set()
            self._thread.join()
            self._thread = None
        for file in self._files:
            os.close(file)
        self._files.clear()
        return None if self.facts is None else vars(self.facts)

    def _work(self, asked: AddressChange, facts: Change) -> None:
        version = self.path.ip_version
        try:
            facts.changed_ns = self.link.replace_client_address(version, lambda: self._is_due(asked, facts))
            if facts.changed_ns is None or self._client is None:
                return
            if asked.notice == "told":
                self._client.say(WORD)
            elif asked.notice == "reset":
                facts.sockets_destroyed = destroy_sockets(self.namespace, version, facts.old_address)
        except (OSError, HostError) as error:
            facts.trouble = str(error)

    def _is_due(self, asked: AddressChange, facts: Change) -> bool:
        """Wait until the address is to change; False if the transfer ended first."""
        self._begun.wait()
        pipe, stop = self._files
        patience_s = None
        if asked.at is not None:
            patience_s = max(0.0, (self._began_ns + asked.at.ns - time.monotonic_ns()) / 1e9)
        ready = select.select([stop, *([pipe] if asked.at is None else [])], [], [], patience_s)[0]
        if stop in ready:
            return False
        if pipe in ready:
            facts.reached_ns = time.monotonic_ns()
            with contextlib.suppress(ValueError):
                facts.reached_bytes = int(os.read(pipe, 64).split()[0])
        return True
