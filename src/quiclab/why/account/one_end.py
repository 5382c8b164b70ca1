# SPDX-License-Identifier: Apache-2.0
"""The account of a transfer by what one end alone shows: handshake, request, data arriving, waits.

No log of a link says here when the bottleneck served. Its rate is read from the arrivals instead: what came at that
rate is `arriving`, and what is left until the last byte is `waits`. Both rest on a path whose rate does not change; the
ends of each part allow for one that does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from quiclab.evidence.metrics import Unknown
from quiclab.why.account.arrivals import Arrivals, Floats
from quiclab.why.account.capture_place import CapturePlace
from quiclab.why.account.chosen_request import ALONE, AnswerBytes, Request
from quiclab.why.account.levels import BEFORE_ANSWER, Level, Part

_LONG = 0.5
"""Share of a round trip from which a wait is called long."""
_LEAST_WAIT_NS = 100_000
_APART_NS = 1_000
"""Time between two services up to which the second follows on the first."""
_HANDSHAKE_ROUND_TRIPS = {"tcp": 2, "quic": 1}
"""Fewest round trips of a handshake without early data: TCP (RFC 9293) and TLS 1.3 (RFC 8446), or QUIC (RFC 9000)."""
_SURE = 0.8
"""Share of the time in which data arrive that must be sure for a lower bound."""
_FEWEST = 2
"""Packets of an answer below which no rate can be read from them."""


@dataclass(frozen=True)
class Span:
    """A duration in ms with the least and the most that the recording allows."""

    ms: float
    low_ms: float
    high_ms: float


@dataclass(frozen=True)
class Instant:
    """An instant with the earliest and the latest at which it may have been."""

    at_ns: int
    early_ns: int
    late_ns: int

    @classmethod
    def exactly(cls, at_ns: int) -> Instant:
        """An instant that is known."""
        return cls(at_ns, at_ns, at_ns)


@dataclass(frozen=True)
class Side:
    """Place of a capture between the ends, and how the handshake is divided there."""

    place: CapturePlace
    handshake_ns: int
    """Time of the handshake on the client's side: there and back, and in the client."""


@dataclass(frozen=True)
class Seen:
    """Transfer as one end shows it, on its own clock and as a client would see it."""

    level: Level
    transport: str
    zero_ns: int
    """The client's first packet."""
    zero_bytes: int
    """Size of it, where its own way is in the time: a large packet takes longer than the acknowledgments after it."""
    asked: Instant
    """The first packet that can carry a request."""
    last: Instant
    """Arrival of the answer's last byte."""
    arrivals: Arrivals
    """Packets from the server, from the answer's first on."""
    answer_early_ns: int
    """The earliest instant at which the answer may have begun."""
    before_bytes: int
    """Bytes of the server's packets between the request and the answer."""
    round_trip_ns: int
    resolution_ns: int
    missing: tuple[tuple[int, int], ...] | None = None
    """Times in which bytes had come that those before them kept from being read; None where that cannot be told."""
    body_bytes: int | None = None
    """Bytes of the body; None where the recording does not show them."""
    url: str | None = None
    status: int | None = None
    request: Request | None = None
    """The request, where the recording holds several; None where it is the only one."""
    bytes_meanwhile: AnswerBytes = ALONE
    """Bytes of this answer, and of others that came beside it."""
    client: tuple[Instant, int] | None = None
    """End of the handshake at the client, and the departure of the request; None where the recording does not show
    both, or the request did not wait for a handshake."""
    held: tuple[Part, ...] = ()
    """Part to which a wait before each arrival belongs, where the recording tells; empty elsewhere."""
    opened: bool = True
    """True if the recording shows where the answer ends."""
    between: Side | None = None
    """Place of a capture between the ends; None of one at an end."""
    faster: Arrivals | None = None
    """Arrivals as fast as they may have been: as packets passed that were hardly held up behind a capture."""
    slower: Arrivals | None = None
    """Arrivals as slow as they may have been: as packets were acknowledged."""
    zero_early_ns: int = 0
    """Time by which the client's first packet may have left earlier than the others tell."""
    clock_ns: int | None = None
    """Step of the recording's clock, where instants are unsure by more than that; `resolution_ns` elsewhere."""
    rate_is_shown: bool = True
    """False where packets may wait beyond the recording, or it has none, so that no times show a rate of the path."""

    @property
    def answer_bytes(self) -> int:
        """Bytes of the answer's packets, with IP headers."""
        return int(self.arrivals.size_bytes.sum())


@dataclass(frozen=True)
class Waits:
    """The waits of an answer, one by one."""

    from_ns: Floats
    until_ns: Floats

    @property
    def ms(self) -> Floats:
        """Duration of each."""
        found: Floats = (self.until_ns - self.from_ns) / 1e6
        return found


@dataclass(frozen=True)
class Stretch:
    """A stretch of the transfer's time that belongs to one part."""

    part: Part
    from_ns: int
    until_ns: int
    seen_ns: int
    """Arrival of its last packet, or of the one that ended the wait: served before it was recorded."""


@dataclass(frozen=True)
class OneEnd:
    """The account of one transfer from one end."""

    seen: Seen
    total: Span
    parts: Mapping[Part, Span]
    """Parts that add up to the total."""
    undivided: Mapping[Part, Span]
    """Parts without `CLIENT`, whose time is in the parts around it as where a recording does not show it."""
    answer: Span
    """All after the request: what `parts` has as `ANSWER`, or divides."""
    rate_bit_per_s: float | None
    """Rate at which the path served; None where packets came in bunches, which show none."""
    rates_bit_per_s: tuple[float, float]
    """Least and most that this rate can be, by what the recording leaves open."""
    waits: Waits
    """Waits longer than 0.1 ms."""

    @property
    def level(self) -> Level:
        """Evidence that the account is made from."""
        return self.seen.level

    @property
    def end_is_shown(self) -> bool:
        """True if the recording shows that the answer ended: of QUIC no packet does without keys."""
        return self.seen.opened or self.seen.transport != "quic"

    @property
    def client_side_ms(self) -> Mapping[Part, float]:
        """Time of each part before the answer that passes on the client's side of a capture between the ends, on the
        path there and in the client; the rest passes on the server's. Empty of a recording of an end."""
        side = self.seen.between
        if side is None:
            return {}
        ms = {Part.SET_UP: side.handshake_ns / 1e6, Part.REQUEST: side.place.client_ns / 1e6}
        return {part: min(each, self.parts[part].ms) for part, each in ms.items()}

    @property
    def long_waits_ms(self) -> Floats:
        """Waits of half a round trip and more."""
        ms = self.waits.ms
        found: Floats = ms[ms >= _LONG * self.seen.round_trip_ns / 1e6]
        return found

    @property
    def lower_bound_ms(self) -> Mapping[Part, float] | None:
        """Least time of each part over this path: a round trip for TCP and one for TLS 1.3, or one for QUIC; one for
        the request; the answer's bytes at the path's rate; no wait, nor a pause of the client; and of a request
        whose connection was there already no handshake. None where the recording hardly shows that rate, or its parts
        are a server's."""
        if not {Part.REQUEST, Part.ARRIVING, Part.WAITS} <= {*self.parts}:
            return None
        arriving = self.parts[Part.ARRIVING]
        if self.rate_bit_per_s is None or arriving.low_ms < _SURE * arriving.ms:
            return None
        round_trip = min(self.seen.round_trip_ns / 1e6, self.parts[Part.REQUEST].ms)
        handshake = _HANDSHAKE_ROUND_TRIPS[self.seen.transport] * round_trip
        least = {
            Part.SET_UP: min(handshake, self.parts[Part.SET_UP].low_ms),
            Part.REQUEST: round_trip,
            Part.ARRIVING: arriving.low_ms * self.seen.bytes_meanwhile.own_share,
        }
        return {part: least.get(part, 0.0) for part in self.parts}

    @property
    def missing_ms(self) -> float | None:
        """Time in which bytes had come that could not be read yet, as some before them were missing."""
        if self.seen.missing is None:
            return None
        return sum(until - begin for begin, until in self.seen.missing) / 1e6


def account_of_one_end(seen: Seen) -> OneEnd:
    """Share out the time from the client's first packet to the last byte. Raises Unknown where nothing carries it."""
    arrivals = seen.arrivals
    if len(arrivals.at_ns) < _FEWEST:
        raise Unknown("the answer came in one packet: no rate of the path can be read from it")
    rate = arrivals.rate(seen.resolution_ns)
    # An answer begins when its first packet is served: one service before it comes.
    sent_ns = seen.client[1] if seen.client else seen.asked.at_ns
    answer_ns = max(round(arrivals.at_ns[0] - arrivals.size_bytes[0] * 8e9 / rate), sent_ns)
    blur_ns = round(arrivals.size_bytes.max() * 8e9 / rate) + 2 * seen.resolution_ns
    answer = Instant(answer_ns, min(answer_ns, seen.answer_early_ns) - blur_ns, answer_ns + blur_ns)
    whole_ns = max(0, seen.last.at_ns - answer_ns)
    least, most = arrivals.service_range_ns(seen.resolution_ns)
    if seen.faster is not None:
        least = min(least, seen.faster.service_range_ns(seen.resolution_ns)[0])
    if seen.slower is not None and len(seen.slower.at_ns) >= _FEWEST:
        most = max(most, seen.slower.service_range_ns(seen.resolution_ns)[1])
    before = seen.before_bytes * 8e9 / rate
    busy = min(arrivals.service_ns(rate), whole_ns)
    longest = (seen.last.late_ns - answer.early_ns) / 1e6
    arriving = Span(busy / 1e6, min(least, busy) / 1e6, min((max(most, busy) + before) / 1e6, longest))
    waits = Span(
        (whole_ns - busy) / 1e6,
        max(0.0, (seen.last.early_ns - answer.late_ns) / 1e6 - arriving.high_ms),
        max(0.0, longest - arriving.low_ms),
    )
    early_ns = max(seen.zero_early_ns, round(seen.zero_bytes * 8e9 / rate))
    zero = Instant(seen.zero_ns, seen.zero_ns - early_ns, seen.zero_ns)
    step_ns = 2 * seen.resolution_ns
    usual = {Part.SET_UP: _span(zero, seen.asked, step_ns), Part.REQUEST: _span(seen.asked, answer, step_ns)}
    before_answer = _with_client(zero, seen.client, answer, step_ns) if seen.client else usual
    whole = _span(answer, seen.last, step_ns)
    total = _span(zero, seen.last, step_ns)
    clock_ns = seen.resolution_ns if seen.clock_ns is None else seen.clock_ns
    if not (seen.rate_is_shown and arrivals.show_a_rate(clock_ns)):
        of_answer, rate_shown = {Part.ANSWER: whole}, None
    else:
        divided = _by_cause(seen, rate, waits) if seen.held else {Part.WAITS: waits}
        of_answer, rate_shown = {Part.ARRIVING: arriving, **divided}, rate
    parts, undivided = {**before_answer, **of_answer}, {**usual, **of_answer}
    served = arrivals.service_ns(rate)
    rates = (rate * min(1.0, served / most), rate * max(1.0, served / least)) if 0 < least <= most else (0.0, rate)
    return OneEnd(seen, total, parts, undivided, whole, rate_shown, rates, _waits(arrivals, rate))


def _with_client(zero: Instant, client: tuple[Instant, int], answer: Instant, step_ns: int) -> dict[Part, Span]:
    """The parts before the answer, where the recording shows the end of the handshake and when the request was sent."""
    ready, sent = client[0], Instant.exactly(client[1])
    instants = (zero, ready, sent, answer)
    spans = (_span(begin, end, step_ns) for begin, end in pairwise(instants))
    return dict(zip(BEFORE_ANSWER, spans, strict=True))


def stretches(account: OneEnd) -> list[Stretch]:
    """The transfer's time from beginning to end, in stretches of one part each, by the likeliest instants.

    Their sums are those of the account's parts but for packets that were recorded late.
    """
    seen, rate = account.seen, account.rate_bit_per_s
    last_ns = seen.last.at_ns
    before = [account.parts[part].ms for part in BEFORE_ANSWER if part in account.parts]
    answer_ns = min(last_ns, seen.zero_ns + round(1e6 * sum(before)))
    ready_ns, sent_ns = (seen.client[0].at_ns, seen.client[1]) if seen.client else (seen.asked.at_ns,) * 2
    found = [
        Stretch(Part.SET_UP, seen.zero_ns, ready_ns, ready_ns),
        *([Stretch(Part.CLIENT, ready_ns, sent_ns, sent_ns)] if seen.client else []),
        Stretch(Part.REQUEST, sent_ns, answer_ns, int(seen.arrivals.at_ns[0])),
    ]
    if rate is None:
        return [*found, Stretch(Part.ANSWER, answer_ns, last_ns, last_ns)]
    rest = Part.OTHER_WAITS if seen.held else Part.WAITS
    served = seen.arrivals.served_ns(rate)
    begins = served - seen.arrivals.size_bytes * (8e9 / rate)
    now_ns = answer_ns

    def add(part: Part, until_ns: float, came_ns: int) -> None:
        nonlocal now_ns
        until = min(last_ns, round(until_ns))
        if found[-1].part is part:
            found[-1] = Stretch(part, found[-1].from_ns, max(now_ns, until), came_ns)
        elif until > now_ns:
            found.append(Stretch(part, now_ns, until, came_ns))
        now_ns = max(now_ns, until)

    for place, came_ns in enumerate(seen.arrivals.at_ns.tolist()):
        if place and begins[place] - now_ns > _APART_NS:
            add(seen.held[place] if seen.held else rest, begins[place], came_ns)
        add(Part.ARRIVING, served[place], came_ns)
    add(rest, last_ns, last_ns)
    return found


def _by_cause(seen: Seen, rate: float, waits: Span) -> dict[Part, Span]:
    """The waits by what had held back the packet that ended each. What is unsure of all of them is unsure of each."""
    found = dict.fromkeys((Part.WINDOW_FULL, Part.CREDIT_USED_UP, Part.OTHER_WAITS), 0.0)
    served = seen.arrivals.served_ns(rate)
    begins = served - seen.arrivals.size_bytes * (8e9 / rate)
    for part, wait_ns in zip(seen.held[1:], begins[1:] - served[:-1], strict=True):
        found[part] += wait_ns / 1e6
    known = sum(found.values())
    if known > waits.ms:  # by what packets were recorded late
        found = {part: ms * waits.ms / known for part, ms in found.items()}
    found[Part.OTHER_WAITS] += max(0.0, waits.ms - known)  # from the last arrival to the last byte
    unsure = max(waits.ms - waits.low_ms, waits.high_ms - waits.ms)
    return {part: Span(ms, max(0.0, ms - unsure), ms + unsure) for part, ms in found.items()}


def _span(begin: Instant, end: Instant, step_ns: int) -> Span:
    low_ns, high_ns = end.early_ns - begin.late_ns - step_ns, end.late_ns - begin.early_ns + step_ns
    return Span((end.at_ns - begin.at_ns) / 1e6, max(0, low_ns) / 1e6, high_ns / 1e6)


def _waits(arrivals: Arrivals, rate: float) -> Waits:
    served = arrivals.served_ns(rate)
    begins = served[1:] - arrivals.size_bytes[1:] * (8e9 / rate)
    ended = served[:-1]
    long = np.flatnonzero(begins - ended > _LEAST_WAIT_NS)
    return Waits(ended[long], begins[long])
