# SPDX-License-Identifier: Apache-2.0
"""Results of `quiclab conformance`, as its conformance.json has them."""

from __future__ import annotations

import msgspec


class TriedProgram(msgspec.Struct, frozen=True):
    """A program that was tried."""

    role: str
    name: str
    version: str


class WrittenLogs(msgspec.Struct, frozen=True):
    """Logs that the programs of a case wrote."""

    client_qlog: bool
    server_qlog: bool
    """Written by the front: a server or a proxy."""
    keys: bool


class CaseResult(msgspec.Struct, frozen=True):
    """Result of one case."""

    client: str
    front: str
    """Name of the program that answers the client."""
    role: str
    """`server` or `proxy`: the role of the front."""
    protocol: str
    what: str
    """Name of the object, `0-RTT` or `migration`."""
    outcome: str
    """Status of the trial."""
    reason: str
    logs: WrittenLogs
    proof: dict[str, object]


class ConformanceResults(msgspec.Struct, frozen=True):
    """Results of all cases, and the programs that were tried."""

    version: int
    ended_utc: str
    clients: tuple[TriedProgram, ...]
    fronts: tuple[TriedProgram, ...]
    results: tuple[CaseResult, ...]

    def results_with(self, front: TriedProgram) -> list[CaseResult]:
        """Results of one server or proxy."""
        return [each for each in self.results if (each.role, each.front) == (front.role, front.name)]
