# SPDX-License-Identifier: Apache-2.0
"""Notice to a client of the change of its address, and the arms that can have one."""

from __future__ import annotations

from collections.abc import Iterable

from quiclab.lab.endpoints._api import Context, Endpoint
from quiclab.model.address_change import MIGRATIONS
from quiclab.model.study import Arm, Program, Workload


def address_change_job(context: Context) -> dict[str, object] | None:
    """The part of a client's job about the change of address; None where the address stays."""
    change = context.address_change
    if change is None or context.priming:
        return None
    return {
        "after_bytes": None if change.after is None else change.after.bytes,
        "notice": change.notice,
        "timeout_ns": None if change.timeout is None else change.timeout.ns,
        "reached": str(context.reached),
    }


def migration(context: Context) -> str | None:
    """Kind of the connection's move: because the workload changes the address, or else of the client's own accord."""
    if context.address_change is None:
        return context.knobs.migration
    return MIGRATIONS.get(context.knobs.on_address_change)


def objections_to_change(arm: Arm, workloads: Iterable[Workload], client: Endpoint) -> list[str]:
    """Reasons why a client cannot have its address changed."""
    names = [workload.name for workload in workloads if workload.address_change is not None]
    knobs = arm.client.knobs
    if not names:
        return []
    if knobs.migration is not None or knobs.migrate_at is not None:
        return [f"migration and migrate_at are for clients that move by themselves, but {names[0]} changes the address"]
    if knobs.on_address_change is None:
        return [f"{names[0]} changes the client's address: the client {client.name} needs on_address_change"]
    if knobs.address_token:
        return [f"{names[0]} changes the client's address, and an address token holds for one"]
    if knobs.compression and knobs.on_address_change == "resume":
        return ["a compressed body cannot be resumed by its bytes"]
    return []


def only_moves(program: Program) -> str | None:
    """Reason why a client that keeps its one connection cannot answer a new address as asked; None if it can."""
    asked = program.knobs.on_address_change
    if asked in (None, *MIGRATIONS):
        return None
    return f'the client {program.name} moves its connection: on_address_change = "{asked}" is not possible'


def only_reconnects(program: Program) -> str | None:
    """Reason why a client that opens a new connection cannot answer a new address as asked; None if it can."""
    knobs = program.knobs
    if knobs.on_address_change in MIGRATIONS:
        asked = f'on_address_change = "{knobs.on_address_change}"'
        return f"the client {program.name} opens a new connection: {asked} is not possible"
    if knobs.reconnect_session is not None and knobs.on_address_change is None:
        return "reconnect_session is for a client that opens a new connection: write on_address_change"
    return None
