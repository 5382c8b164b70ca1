# SPDX-License-Identifier: Apache-2.0
"""quinn with h3 as an HTTP/3 file server, as it is and wrong on purpose.

A server that is wrong on purpose says `faulty` in its name, differs from its correct twin in one thing, and has no knob
for that thing:

| faulty | what is wrong | correct twin |
|---|---|---|
| `quinn-faulty-threshold` | three later packets acknowledged are a loss, however much the path reorders | \
`quinn-time-threshold`: only time tells, 9/8 of a round trip, which grows with what the path does |
| `quinn-faulty-initial-pto` | sends again what no round trip could have acknowledged on a path above 100 ms | \
`quinn`: 1 s (RFC 9002 section 6.2.2) |
| `quinn-faulty-trickle` | hands its bodies over in pieces of 16 KB, 20 ms apart, as if each came from elsewhere | \
`quinn`: as fast as the library takes them |
| `quinn-faulty-rtt-sample` | tells its congestion control of a round trip of 10 ms that nobody measured, unless a \
HelloRetryRequest was measured before; only BBR minds | `quinn`: what acknowledgments measure |
| `quinn-faulty-every-loss` | reduces its window at each loss, also of packets sent before the last reduction \
| `quinn`: once in an episode (RFC 9002 section 7.3.2) |
| `quinn-faulty-reduced-twice` | applies each reduction of its window twice, in one step | `quinn`: once |
| `quinn-faulty-coarse-timers` | its timers, those of the pacer too, expire at whole multiples of 16 ms alone \
| `quinn`: to 1 ms |

The first is how quinn itself behaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, OwnValues, Role, Unsupported
from quiclab.lab.endpoints._quinn import (
    COMMON_KNOBS,
    FIRST_PAYLOAD,
    KNOWN,
    own_values_of_quinn,
    probe_quinn,
    quinn_command,
    sending_facts,
    unsupported_by_quinn,
)
from quiclab.model.study import Program, Protocol, Tcp
from quiclab.model.units import ByteCount, Duration

_NEVER_BY_NUMBER = 2**32 - 1
_HASTY_PTO = Duration.parse("100 ms")
_PIECE = ByteCount.parse("16 KB")
_PAUSE = Duration.parse("20 ms")
_FALSE_SAMPLE = Duration.parse("10 ms")
"""Yu and Benson (WWW 2021, section 5.3) saw samples below 10 ms on a path of 115 ms."""
_TIMER_STEP = Duration.parse("16 ms")


class QuinnServer:
    """A small program of ours around the quinn and h3 libraries; one process, one thread."""

    name = "quinn"
    role: Role = "server"
    protocols: frozenset[Protocol] = frozenset({"h3"})
    knobs: Mapping[Protocol, frozenset[str]] = {"h3": COMMON_KNOBS | {"max_streams", "early_data", "scheduler"}}
    abilities: frozenset[Ability] = frozenset(
        {"keylog", "qlog", "resumption", "early_data", "migration", "ack_frequency", "content_type"}
    )

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Ask it for its version."""
        return probe_quinn(run, prefix)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Reason why a value is not possible, or None."""
        return unsupported_by_quinn(program)

    def first_payload(self, program: Program, ip_version: Literal[4, 6]) -> int:
        """UDP payload in bytes of its first datagrams."""
        return program.knobs.max_payload or FIRST_PAYLOAD

    def own_values(self, program: Program, protocol: Protocol) -> OwnValues:
        """Values that it has by itself."""
        return {key: value for key, value in own_values_of_quinn(program).items() if key in self.knobs[protocol]}

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender."""
        knobs = program.knobs
        more = {
            "loss_detection": f"{knobs.packet_threshold or 3} packets or {knobs.time_threshold or 1.125} round trips",
            "initial_pto": f"{Duration(3 * knobs.initial_rtt.ns)}" if knobs.initial_rtt else "1 s",
            "early_data": "accepted" if knobs.early_data else "refused",
            "scheduler": knobs.scheduler or "round_robin",
        }
        return {**sending_facts(program), **KNOWN.traits(program, more)}

    def command(self, context: Context) -> Command:
        """Command with the job in a file."""
        return quinn_command(context, "server")


class QuinnFaultyThreshold(QuinnServer):
    """quinn with a packet threshold that never adapts. Its correct twin is `quinn-time-threshold`."""

    name = "quinn-faulty-threshold"
    knobs: Mapping[Protocol, frozenset[str]] = {"h3": QuinnServer.knobs["h3"] - {"packet_threshold", "time_threshold"}}

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender, with the fault by name."""
        fault = {"loss_detection": "faulty on purpose: 3 packets whatever the path reorders"}
        return {**super().traits(program, protocol, tcp), **fault}

    def command(self, context: Context) -> Command:
        """Command with quinn's own thresholds, given so that no later version changes them."""
        return quinn_command(context, "server", {"packet_threshold": 3, "time_threshold": 1.125})


class QuinnTimeThreshold(QuinnServer):
    """The correct twin of `quinn-faulty-threshold`: reordering alone is never a loss."""

    name = "quinn-time-threshold"
    knobs: Mapping[Protocol, frozenset[str]] = QuinnFaultyThreshold.knobs

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender, with how it detects a loss."""
        return {**super().traits(program, protocol, tcp), "loss_detection": "1.125 round trips"}

    def command(self, context: Context) -> Command:
        """Command with a number of packets that no connection reaches."""
        return quinn_command(context, "server", {"packet_threshold": _NEVER_BY_NUMBER, "time_threshold": 1.125})


class QuinnFaultyInitialPto(QuinnServer):
    """quinn with an initial probe timeout of 100 ms, a tenth of what RFC 9002 asks for. Its correct twin is `quinn`."""

    name = "quinn-faulty-initial-pto"
    knobs: Mapping[Protocol, frozenset[str]] = {"h3": QuinnServer.knobs["h3"] - {"initial_rtt"}}

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender, with the fault by name."""
        return {**super().traits(program, protocol, tcp), "initial_pto": f"faulty on purpose: {_HASTY_PTO}"}

    def command(self, context: Context) -> Command:
        """Command with the initial RTT, which is a third of the initial PTO."""
        return quinn_command(context, "server", {"initial_rtt_ns": _HASTY_PTO.ns // 3})


class QuinnFaultyTrickle(QuinnServer):
    """quinn below a program that hands a body over piece by piece, with pauses. Its correct twin is `quinn`."""

    name = "quinn-faulty-trickle"

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender, with the fault by name."""
        return {
            **super().traits(program, protocol, tcp),
            "bodies": f"faulty on purpose: {_PIECE}, then {_PAUSE} of nothing",
        }

    def command(self, context: Context) -> Command:
        """Command with the size of a piece, and the time after each but the last."""
        trickle = {"piece_bytes": _PIECE.bytes, "pause_ns": _PAUSE.ns}
        return quinn_command(context, "server", {"trickle": trickle})


class QuinnFaultyRttSample(QuinnServer):
    """quinn whose congestion control hears of a round trip shorter than the path's. Its correct twin is `quinn`."""

    name = "quinn-faulty-rtt-sample"

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender, with the fault by name."""
        fault = f"faulty on purpose: {_FALSE_SAMPLE} that nobody measured, unless a HelloRetryRequest was"
        return {**super().traits(program, protocol, tcp), "round_trip_samples": fault}

    def command(self, context: Context) -> Command:
        """Command with the round trip that is believed."""
        return quinn_command(context, "server", {"false_rtt_sample_ns": _FALSE_SAMPLE.ns})


class QuinnFaultyEveryLoss(QuinnServer):
    """quinn whose window each loss reduces, during recovery too. Its correct twin is `quinn`."""

    name = "quinn-faulty-every-loss"

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender, with the fault by name."""
        return {**super().traits(program, protocol, tcp), "recovery": "faulty on purpose: each loss reduces the window"}

    def command(self, context: Context) -> Command:
        """Command with every loss counted."""
        return quinn_command(context, "server", {"every_loss_reduces": True})


class QuinnFaultyReducedTwice(QuinnServer):
    """quinn whose congestion control applies each reduction twice, in one step. Its correct twin is `quinn`."""

    name = "quinn-faulty-reduced-twice"

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender, with the fault by name."""
        return {**super().traits(program, protocol, tcp), "reduction": "faulty on purpose: applied twice"}

    def command(self, context: Context) -> Command:
        """Command with each reduction applied twice."""
        return quinn_command(context, "server", {"reduces_twice": True})


class QuinnFaultyCoarseTimers(QuinnServer):
    """quinn with timers as coarse as those of some systems. Its correct twin is `quinn`."""

    name = "quinn-faulty-coarse-timers"

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Facts about the sender, with the fault by name."""
        return {**super().traits(program, protocol, tcp), "timers": f"faulty on purpose: multiples of {_TIMER_STEP}"}

    def command(self, context: Context) -> Command:
        """Command with the step of all timers."""
        return quinn_command(context, "server", {"timer_step_ns": _TIMER_STEP.ns})
