# SPDX-License-Identifier: Apache-2.0
"""The settings that are tried: for each knob that the programs of an arm have, values that make sense for its speed.

A knob that changes what is promised (the version of TLS, key exchange, 0-RTT, verification) or what is measured (a
warm origin, compression, a change of address) is none to be tuned. Values that no RFC allows are not tried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Literal

from quiclab.lab.endpoints import SendsByWindow, find, objections
from quiclab.model.study import Arm, Role
from quiclab.model.units import ByteCount, Duration
from quiclab.spec.counterfactual import Change, as_value
from quiclab.study.confirm.variants import Cell, magnitude, value_of

End = Literal["sender", "receiver", "both"]


@dataclass(frozen=True)
class Range:
    """The values of a knob that are tried, the most promising first."""

    values: tuple[Any, ...]
    end: End = "sender"
    """End of the transfer at which the knob can change its time."""
    of_several: bool = False
    """True of a knob that does nothing for a single object."""


def _sizes(*texts: str) -> tuple[ByteCount, ...]:
    return tuple(map(ByteCount.parse, texts))


def _buffer(default: str, most: str) -> tuple[ByteCount, ...]:
    return _sizes("4096 B", default, most)


KNOBS: Mapping[str, Range] = {
    "congestion_control": Range(("bbr", "cubic", "bbr2", "reno")),
    "initial_window": Range((32, 20, 64, 10)),
    "stream_window": Range(_sizes("16 MiB", "4 MiB", "1 MiB"), "receiver"),
    "upload_window": Range(_sizes("1 MiB", "16 MiB"), "receiver"),
    "connection_window": Range(_sizes("16 MiB", "4 MiB"), "receiver"),
    "max_window": Range(_sizes("16 MiB", "4 MiB", "1 MiB")),
    "pacing": Range((True, False)),
    "hystart": Range((True, False)),
    "packet_threshold": Range((10, 32)),
    "time_threshold": Range((1.5, 2.0)),
    "max_payload": Range((1452, 1350)),
    "path_mtu_discovery": Range((True, False)),
    "ack_frequency": Range((2, 10, 1), "receiver"),
    "ack_delay": Range(tuple(map(Duration.parse, ("5 ms", "1 ms"))), "receiver"),
    "peer_ack_frequency": Range((10, 2)),
    "gso": Range((True, False)),
    "ecn": Range((False, True)),
    "udp_receive_buffer": Range(_sizes("4 MiB", "1 MiB"), "receiver"),
    "scheduler": Range(("fifo", "round_robin"), of_several=True),
    "priorities": Range((True, False), of_several=True),
    "max_streams": Range((256, 100), "both", of_several=True),
}
"""Knobs of programs that are tried, by their names in `Knobs`."""
TCP_KNOBS: Mapping[str, Range] = {
    "congestion_control": Range(("bbr", "cubic", "reno")),
    "initial_window": Range((32, 20, 64, 10)),
    "send_buffer": Range((_buffer("1 MiB", "16 MiB"), _buffer("16384 B", "16 MiB"))),
    "receive_buffer": Range((_buffer("1 MiB", "16 MiB"), _buffer("131072 B", "32 MiB"))),
    "pacing": Range((True, False)),
    "ecn": Range((True, False)),
    "reordering": Range((10,)),
    "slow_start_after_idle": Range((False,), of_several=True),
}
"""Settings of Linux TCP that are tried, by their names in `Tcp`: both ends have them."""
_TOGETHER = ("stream_window", "connection_window")
"""Knobs that may hide each other: the smaller one of the two bounds the sender."""


@dataclass(frozen=True)
class Candidate:
    """A setting that is tried: one knob, or two that hide each other."""

    name: str
    """Name of its arm."""
    changes: tuple[Change, ...]

    @property
    def text(self) -> str:
        """The setting as a spec says it: `server.initial_window = 32`."""
        return settings_text(self.changes)

    @property
    def keys(self) -> frozenset[tuple[str, str]]:
        """Tables and keys that it sets."""
        return frozenset((each.table, each.key) for each in self.changes)


def settings_text(changes: Sequence[Change]) -> str:
    """Changes as a spec says them, joined by commas."""
    return ", ".join(f"{each.table}.{each.key} = {_text(each.value)}" for each in changes)


def candidates(cell: Cell, *, ends: Collection[str], knobs: Collection[str]) -> tuple[Candidate, ...]:
    """The settings that the programs of the cell's arm can have, and do not have already: of each knob its most
    promising value first, then of each the next one.

    Of an arm with a proxy the front is the proxy. `ends` are `client`, `server` (which means the front) or `tcp`;
    `knobs` names those that are tried, empty for all.
    """
    found: dict[str, list[list[Candidate]]] = {key: [] for key in (*KNOBS, *TCP_KNOBS)}
    for table, known in _tables(cell):
        if (table if table in ("client", "tcp") else "server") not in ends:
            continue
        of_table = {key: list(_single(cell, table, key, known[key])) for key in known if not knobs or key in knobs}
        if all(of_table.get(key) for key in _TOGETHER):
            first, second = (of_table.pop(key) for key in _TOGETHER)
            of_table[_TOGETHER[0]] = [*_windows(cell, table, first, second), *_in_turns([first, second])]
        for key, each in of_table.items():
            found[key].append(each)
    return tuple(_in_turns([each for of_key in found.values() for each in of_key]))


def tried_knobs(cell: Cell) -> tuple[str, ...]:
    """Names of the knobs that the programs of the cell's arm have, at the end where they can change the time."""
    return tuple(dict.fromkeys(key for _, known in _tables(cell) for key in known))


def _in_turns(several: Sequence[Sequence[Candidate]]) -> list[Candidate]:
    return [each for row in zip_longest(*several) for each in row if each is not None]


def _tables(cell: Cell) -> Iterator[tuple[str, Mapping[str, Range]]]:
    """Tables of settings, with their knobs that can change the time of the transfer."""
    arm, several = cell.arm, cell.workload.page is not None or len(cell.workload.object_sizes) > 1
    front: Role = "proxy" if arm.proxy else "server"
    sender, receiver = ("client", front) if cell.workload.upload else (front, "client")
    for role, program, protocol in arm.programs():
        # Knobs of a user's own program say what it has, and change nothing of it.
        if role not in (sender, receiver) or program.argv:
            continue
        endpoint = find(role, program.name)
        end = "sender" if role == sender else "receiver"
        buffers = isinstance(endpoint, SendsByWindow) and protocol in endpoint.stream_buffer
        yield (
            role,
            {
                key: each
                for key, each in KNOBS.items()
                if key in endpoint.knobs.get(protocol, ())
                and (each.end in (end, "both") or (buffers and key == "stream_window"))
                and (several or not each.of_several)
            },
        )
    if arm.protocol != "h3":
        yield "tcp", {key: each for key, each in TCP_KNOBS.items() if several or not each.of_several}


def _single(cell: Cell, table: str, key: str, values: Range) -> Iterator[Candidate]:
    for value in values.values:
        written = as_value(value)
        assert written is not None, "a value that is tried is one"
        change = Change(table, key, written)
        if _is_present(cell, change) or not _is_possible(cell, table, [(key, value)]):
            continue
        yield Candidate(_name([change]), (change,))


def _windows(cell: Cell, table: str, first: Sequence[Candidate], second: Sequence[Candidate]) -> list[Candidate]:
    """Both windows at once, at the most promising value of each."""
    changes = (first[0].changes[0], second[0].changes[0])
    if not _is_possible(cell, table, [(key, KNOBS[key].values[0]) for key in _TOGETHER]):
        return []
    return [Candidate(f"{table}-windows-{_plain(changes[0].value)}", changes)]


def _is_present(cell: Cell, change: Change) -> bool:
    """True if the arm has this value already, by its spec, by quiclab's default or by what the program has itself."""
    value, _ = value_of(cell, change)
    if value is None:
        return False
    sizes = magnitude(value), magnitude(change.value)
    return value == change.value or (None not in sizes and sizes[0] == sizes[1])


def _is_possible(cell: Cell, table: str, values: Sequence[tuple[str, Any]]) -> bool:
    """True if the programs of the arm can have these values."""
    return not objections(_with(cell.arm, table, values), [cell.workload])


def _with(arm: Arm, table: str, values: Sequence[tuple[str, Any]]) -> Arm:
    for key, value in values:
        if table == "tcp":
            arm = replace(arm, tcp=replace(arm.tcp, **{key: value}))
            continue
        program = next(program for role, program, _ in arm.programs() if role == table)
        changed = replace(program, knobs=replace(program.knobs, **{key: value}))
        arm = replace(arm, **{table: changed})  # type: ignore[arg-type]
    return arm


def _name(changes: Sequence[Change]) -> str:
    return "-".join(f"{each.table}-{each.key}-{_plain(each.value)}" for each in changes)[:64]


def _plain(value: object) -> str:
    """A value as part of a name: `4MiB`, `1.5`, `on`."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return "-".join(_plain(each) for each in value[1:])
    return str(value).replace(" ", "")


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"({', '.join(map(str, value))})" if isinstance(value, tuple) else str(value)
