# SPDX-License-Identifier: Apache-2.0
"""Findings about the machine during a trial, as the member `host` of trial.json: costs of programs, and waits."""

from __future__ import annotations

import msgspec

from quiclab.model.link_account import Number


class Usage(msgspec.Struct, frozen=True):
    """Use of the machine by a program and its children in a stretch of time."""

    cpu_ns: Number | None = None
    user_ns: Number | None = None
    system_ns: Number | None = None
    minor_faults: Number | None = None
    major_faults: Number | None = None
    voluntary_switches: Number | None = None
    involuntary_switches: Number | None = None


class RunDelay(msgspec.Struct, frozen=True):
    """Waits of a program's threads for a processor."""

    sum_ns: int | None = None
    longest_ns: int | None = None
    """The longest sum of one thread."""
    longest_turns: int | None = None
    """Turns of that thread on a processor."""


class StoodStill(msgspec.Struct, frozen=True):
    """Stops of a program by a signal."""

    number: int = 0
    stopped_ns: int = 0
    looks_at_children: int = 0
    """Looks at which one of its children was stopped."""


class ProgramCost(msgspec.Struct, frozen=True):
    """Cost of one program to its machine."""

    life: Usage | None = None
    transfer: Usage | None = None
    """Use between the request and the client's end."""
    peak_memory_bytes: Number | None = None
    most_processes: int | None = None
    most_threads: Number | None = None
    run_delay: RunDelay = RunDelay()
    stood_still: StoodStill = StoodStill()


class Host(msgspec.Struct, frozen=True):
    """Findings about the machine during a trial."""

    cost: dict[str, ProgramCost] = msgspec.field(default_factory=dict)
    """Role → cost of its program."""
    counters: dict[str, dict[str, Number]] = msgspec.field(default_factory=dict)
    """End → the kernel's counters of its network namespace that changed."""
    stalled_ns: dict[str, Number] = msgspec.field(default_factory=dict)
    """Resource → time for which something waited for it."""
    slow_cpu: dict[str, object] = msgspec.field(default_factory=dict)
    """Role → how the spec slows its program down."""
    tcp_queues: tuple[str, ...] = ()
    """Queues below TCP at the sender."""
    tcp_congestion_controls: dict[str, str] = msgspec.field(default_factory=dict)
    """End → congestion control of its sockets."""
    client_tcp_congestion_control: str | None = None
    server_tcp_congestion_control: str | None = None
