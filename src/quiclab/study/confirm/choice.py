# SPDX-License-Identifier: Apache-2.0
"""Choice of the cause to be tested and of its setting: causes that are shown of the slower arm, and first what makes
the arms equal.

A setting that gives the slower arm what the other one has tests why the two *differ*. One that takes the mechanism away
from the slower arm tests what it costs there. One of the path, which both share, tests a condition of the difference.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from quiclab.lab.endpoints import find
from quiclab.lab.endpoints.senders import declared_packets
from quiclab.model.errors import SpecError
from quiclab.spec.counterfactual import Change, Value, role_of
from quiclab.study.confirm.variants import Cell, for_other, same_sender, value_of
from quiclab.why.mechanisms import BY_NAME, Mechanism, Setting, Transport

if TYPE_CHECKING:
    from quiclab.why.causes import Verdict
    from quiclab.why.confirm.predict import Suspect

_EQUAL = frozenset({"initial_window", "max_window", "pacing", "stream_window", "connection_window", "send_buffer",
                    "receive_buffer", "congestion_control", "ack_delay", "ack_frequency", "packet_threshold",
                    "time_threshold", "hystart"})  # fmt: skip
"""Keys that two arms may have alike: windows, buffers, pace, and rules of sender and receiver."""


@dataclass(frozen=True)
class Tried:
    """One way to put a mechanism to the test."""

    setting: Setting
    equal: bool
    """True if it leaves the arm as much of the mechanism as the other arm has, not none of it."""


def shown_of_slower(
    found: Sequence[Suspect], verdicts: Sequence[Verdict], arms: tuple[str, str], difference_ms: float
) -> tuple[list[Suspect], list[str]]:
    """The mechanisms that are shown to cost the slower arm time, the largest first, and a clause for each part of the
    difference that is none of them. `difference_ms` is that of the whole, of the second arm less the first."""
    slower = arms[int(difference_ms > 0)]
    by_name = {each.cause: each for each in found}
    taken: list[Suspect] = []
    refused: list[str] = []
    for verdict in verdicts:
        ms, suspect = verdict.step.difference_ms, by_name.get(verdict.name)
        if not verdict.status.found:
            continue
        if ms * difference_ms <= 0:
            refused.append(f"{verdict.name}: costs {arms[int(ms > 0)]} time, which is the faster arm")
        elif verdict.mechanism is None:
            refused.append(f"{verdict.name}: no single mechanism to be taken away")
        elif not verdict.status.names_one:
            refused.append(f"{verdict.name}: {verdict.status}")
        elif suspect is None or suspect.arm != slower:
            refused.append(f"{verdict.name}: its median is no larger in {slower}, the slower arm")
        else:
            taken.append(suspect)
    return taken, refused


def cannot_have(mechanism: Mechanism, cell: Cell) -> str | None:
    """Reason for which the other arm cannot have a mechanism at all; None where it can."""
    transport = Transport.QUIC if cell.other.protocol == "h3" else Transport.TCP
    return None if transport in mechanism.transports else f"{transport} cannot have it"


def tried(cell: Cell, mechanism: Mechanism) -> tuple[list[Tried], list[str]]:
    """The ways to put a mechanism to the test, those that make the arms equal first, and those of the path last; and a
    clause for each setting whose value both arms have, which is not what makes them differ."""
    equal: list[Tried] = []
    of_arm: list[Tried] = []
    refused: list[str] = []
    for setting in mechanism.settings:
        if setting.table == "path":
            continue
        mine, others = _known(cell, setting), None if cannot_have(mechanism, cell) else _value_of_other(cell, setting)
        if others is not None and others == mine:
            has = f"{cell.other.name} has {setting.key} = {_text(others)} too"
            refused.append(f"{setting.table}.{setting.key}: {has}, so that it is not what makes the arms differ")
            continue
        if others is not None and isinstance(others, tuple) == isinstance(setting.value, tuple):
            gain = f"The same as {cell.other.name} has."
            equal.append(Tried(replace(setting, value=others, doses=(), gain=gain), equal=True))
        of_arm.append(Tried(setting, setting.levels))
    of_path = [Tried(each, equal=False) for each in mechanism.settings if each.table == "path"]
    return [*equal, *of_arm, *of_path], refused


def _text(value: Value) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _known(cell: Cell, setting: Setting) -> Value | None:
    """The value of a key in an arm, by its spec, by what its program has by itself, or by its declared facts."""
    change = Change(setting.table, setting.key, setting.value)
    value, _ = value_of(cell, change)
    return _declared_window(cell, change) if value is None and setting.key == "initial_window" else value


def _value_of_other(cell: Cell, setting: Setting) -> Value | None:
    """The value that the other arm has, where two arms may have it alike; None where it is not known."""
    if setting.key not in _EQUAL or (setting.key == "congestion_control" and not same_sender(cell)):
        return None  # one name is not one algorithm: Linux's reno leaves half of a window, that of quic-go 70 %
    try:
        change = for_other(Change(setting.table, setting.key, setting.value), cell.other)
    except SpecError:
        return None
    return _known(replace(cell, arm=cell.other, other=cell.arm), replace(setting, table=change.table))


def _declared_window(cell: Cell, change: Change) -> int | None:
    role = role_of(change.table, cell.arm, cell.workload)
    if role is None:
        return None
    program, protocol = next((program, protocol) for each, program, protocol in cell.arm.programs() if each == role)
    told = find(role, program.name).traits(program, protocol, cell.arm.tcp).get("initial_window", "")
    return declared_packets(told)


def refuse_unknown(causes: Sequence[str]) -> None:
    """Raise SpecError where one of some causes is none that quiclab knows."""
    unknown = next((each for each in causes if each not in BY_NAME), None)
    if unknown is not None:
        near = difflib.get_close_matches(unknown, BY_NAME, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        told = f"{hint}docs/reference/causes.md has all, and `quiclab explain STUDY CELL` those of a cell"
        raise SpecError(f"there is no cause {unknown!r}", told)
