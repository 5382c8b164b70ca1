# SPDX-License-Identifier: Apache-2.0
"""QUIC programs that take part in ECN, as their packets and acknowledgements showed over quiet paths.

A sender marks its packets ECT(0) and goes on only as long as the other end reports in its acknowledgements what arrived
(RFC 9000 section 13.4.2): without that it stops after the first ten or so. So it takes both ends.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from quiclab.model.study import Arm, Path, Program, Role
from quiclab.project import release_name
from quiclab.spec.ecn import marking


@dataclass(frozen=True)
class Ecn:
    """Use of ECN by a program by default; None is not known."""

    sends: bool | None
    """True if it sends packets with ECT(0)."""
    reports: bool | None
    """True if it reports ECN counts, in ACK frames of type 0x03."""


_BOTH, _NEITHER, _REPORTS = Ecn(True, True), Ecn(False, False), Ecn(False, True)
_BY_FAMILY = {
    "caddy": _BOTH,
    "quic-go": _BOTH,
    "quinn": _BOTH,
    "ngtcp2": _BOTH,
    "firefox": _BOTH,
    "chromium": _REPORTS,
    "envoy": _REPORTS,
    "aioquic": _NEITHER,
    "quiche": _NEITHER,
    "nginx": _NEITHER,
    "haproxy": _NEITHER,
    "curl": _NEITHER,
    "curl-cffi": _NEITHER,
}
"""Programs by name, or by its beginning for variants such as `quinn-time-threshold`."""


def ecn_of(program: Program) -> Ecn:
    """Use of ECN by a program in an arm, with regard to the knob `ecn`; nothing is known of older releases."""
    if release_name(program.prefix) is not None:
        return Ecn(False if program.knobs.ecn is False else None, None)
    families = [family for family in _BY_FAMILY if program.name == family or program.name.startswith(f"{family}-")]
    known = _BY_FAMILY[max(families, key=len)] if families else Ecn(None, None)
    return Ecn(False, known.reports) if program.knobs.ecn is False else known


def ecn_warnings(arms: Iterable[Arm], path: Path) -> list[str]:
    """Warnings, as sentences, about arms whose packets a path that marks would not mark."""
    sides = [side for side in ("down", "up") if marking(getattr(path, side))]
    l4s = [side for side in sides if marking(getattr(path, side)) == {"ect1"}]
    found = []
    if l4s:
        told = f"Path {path.name} marks ECT(1) alone ({' and '.join(l4s)}), which neither TCP with reno, cubic or bbr"
        found.append(f"{told} nor any QUIC program here sends: nothing will be marked.")
    for arm in arms:
        whys = [(side, _why(arm, side)) for side in sides if side not in l4s]
        found += [f"Path {path.name} marks, but of arm {arm.name} packets {side} {why}." for side, why in whys if why]
    return found


def _why(arm: Arm, side: str) -> str | None:
    """Reason why packets in this direction are not marked, for which the other end's reports are needed too."""
    if arm.protocol != "h3":
        return "are dropped instead, as tcp.ecn is false" if arm.tcp.ecn is False else None
    front: tuple[Role, Program] = ("proxy" if arm.proxy else "server", arm.front)
    client: tuple[Role, Program] = ("client", arm.client)
    (sending, sender), (reporting, reporter) = (front, client) if side == "down" else (client, front)
    sends, reports = ecn_of(sender).sends, ecn_of(reporter).reports
    if sends is False:
        told = "is told to send" if sender.knobs.ecn is False else "sends"
        return f"are dropped instead: the {sending} {sender.name} {told} no ECT"
    if reports is False:
        stops = f"so the {sending} {sender.name} soon stops sending ECT"
        return f"are marked at first only: the {reporting} {reporter.name} does not report what arrived, {stops}"
    if sends is None or reports is None:
        return "may be dropped instead: what its programs do with ECN is not known"
    return None
