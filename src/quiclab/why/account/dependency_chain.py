# SPDX-License-Identifier: Apache-2.0
"""The way back from object to object over several connections: what each was waited for, down to the client's begin.

Of all that a request waited for the last to come true leads on: its connection could carry it, or an answer that
prompted it had come so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.model.activity import What
from quiclab.why.account.edges import Edge, Reason
from quiclab.why.account.loads import Load, first_on
from quiclab.why.account.object_on_connection import Wire


@dataclass(frozen=True)
class Prompt:
    """An answer without which the client could not have asked for an object, or begun its connection."""

    load: Load
    came_ns: int
    """Arrival of the packet of it that counts."""
    reason: Reason
    """Reason why the client did not act at once."""


@dataclass(frozen=True)
class Chain:
    """The objects of a trial, and what is known of their connections."""

    evidence: Evidence
    loads: Sequence[Load]
    """Objects in the order of their requests."""
    prompt: Callable[[Chain, Load, int], Prompt | None]
    """Prompt of an object's request, or of its connection, by an instant; None where nothing before it prompted it."""
    unsent: Reason
    """Reason why a client sends no request where its connection can carry one."""
    first: Reason
    """Reason of the time before the first packet of what nothing prompted."""
    _wires: dict[str, Wire] = field(default_factory=dict)

    def wire(self, load: Load) -> Wire:
        """The connection of an object."""
        if load.connection not in self._wires:
            self._wires[load.connection] = Wire.for_connection(self.evidence, load.connection, self.loads)
        return self._wires[load.connection]

    def edges(self, load: Load, until_ns: int, zero_ns: int) -> list[Edge]:
        """Edges from an instant to the arrival of a packet of an object's answer, in order."""
        found: list[Edge] = []
        for _ in self.loads:  # each step leads to an earlier request
            step, prompt = self._step(load, until_ns, zero_ns)
            found = [*(replace(edge, object=load.url) for edge in step), *found]
            if prompt is None:
                return found
            load, until_ns = prompt.load, prompt.came_ns
        raise Unknown("the objects of this trial lead back in a circle")

    def _step(self, load: Load, until_ns: int, zero_ns: int) -> tuple[list[Edge], Prompt | None]:
        """Edges of one object, in order, from what had prompted it; from `zero_ns` where nothing had."""
        wire = self.wire(load)
        edges = wire.object_edges(load, until_ns)
        at_ns, prompt = load.left_ns, self.prompt(self, load, load.left_ns)
        if prompt is None or prompt.came_ns < wire.ready_ns:
            opener = first_on(self.loads, load.connection)
            unsent = Edge(What.CLIENT, wire.ready_ns, load.left_ns, reason=self.unsent)
            edges = [*wire.set_up_edges(), unsent, *edges]
            at_ns, prompt = wire.begun_ns, self.prompt(self, opener, wire.begun_ns)
        from_ns, reason = (zero_ns, self.first) if prompt is None else (prompt.came_ns, prompt.reason)
        return [Edge(What.CLIENT, from_ns, at_ns, reason=reason), *edges], prompt
