# SPDX-License-Identifier: Apache-2.0
"""Limits of a probe of servers that are not ours: so many requests and bytes a host, and a pause between requests.

The account is kept in the study before each request leaves, so that interrupted and continued probes share it.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

from quiclab.model.errors import DecodeError, TrialError
from quiclab.model.json_trouble import json_trouble
from quiclab.model.units import ByteCount, Duration
from quiclab.store.disk import write_atomically
from quiclab.store.forms import Each, misfit
from quiclab.store.own_files import read_mine

_HINT = "put it back from a copy of the study, or choose another directory with --out"


@dataclass(frozen=True)
class Bounds:
    """Bounds on what each host is asked for."""

    requests: int
    body_bytes: ByteCount
    pause: Duration
    """Least time from the end of a request to the next one."""


class Allowance:
    """Account of what one study has asked of each host."""

    def __init__(self, file: Path, bounds: Bounds) -> None:
        """Go on with the account in `file`. Raises DecodeError where that is no account of this user's probes: servers
        of others would be asked more than was announced."""
        self._file = file
        self._bounds = bounds
        self._used = _kept(file)
        self._ended: dict[str, float] = {}

    def used(self, host: str) -> tuple[int, int]:
        """Requests and body bytes so far."""
        account = self._used.get(host, {})
        return account.get("requests", 0), account.get("body_bytes", 0)

    def take(self, host: str, expected_bytes: int) -> int:
        """Wait until the next request may leave, enter it, and say how many bytes of body it may bring.

        Raises TrialError where a bound is reached.
        """
        requests, body_bytes = self.used(host)
        if requests >= self._bounds.requests:
            raise TrialError(
                f"{host} has had {requests} requests, as many as --max-requests allows: the rest was not run",
                "what has run is kept; the same command with a larger --max-requests continues",
            )
        left = self._bounds.body_bytes.bytes - body_bytes
        if left < max(1, expected_bytes):
            raise TrialError(
                f"{host} has sent {body_bytes} bytes and the next body is {expected_bytes}, more than --max-bytes "
                "allows: the rest was not run",
                "what has run is kept; the same command with a larger --max-bytes continues",
            )
        if host in self._ended:
            time.sleep(max(0.0, self._ended[host] + self._bounds.pause.s - time.monotonic()))
        self._enter(host, requests + 1, body_bytes + expected_bytes)
        return left

    def settle(self, host: str, expected_bytes: int, body_bytes: int) -> None:
        """Enter what a request that has ended really brought."""
        requests, before = self.used(host)
        self._enter(host, requests, before - expected_bytes + body_bytes)
        self._ended[host] = time.monotonic()

    def _enter(self, host: str, requests: int, body_bytes: int) -> None:
        self._used[host] = {"requests": requests, "body_bytes": body_bytes}
        write_atomically(self._file, json.dumps(self._used, indent=1), mode=0o600)


def _kept(file: Path) -> dict[str, dict[str, int]]:
    """The account of earlier runs, by host; empty where there was none."""
    try:
        used = json.loads(read_mine(file))
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError) as error:
        raise DecodeError(f"{file} is no account of requests: {json_trouble(error)}", _HINT) from error
    if wrong := misfit(used, Each({"requests!": int, "body_bytes!": int}), "account"):
        raise DecodeError(f"{file} is no account of requests: {wrong}", _HINT)
    if any(number < 0 for account in used.values() for number in account.values()):
        raise DecodeError(f"{file} is no account of requests: it has numbers below 0", _HINT)
    return {host: {name: account[name] for name in ("requests", "body_bytes")} for host, account in used.items()}
