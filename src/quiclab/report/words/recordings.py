# SPDX-License-Identifier: Apache-2.0
"""Sentences and a table about recordings from elsewhere: where the time of one went or two differ, and how sure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rich.table import Table
from rich.text import Text

from quiclab.model import number_text
from quiclab.model.name_lines import name_lines
from quiclab.report.words.account import decimal, longer, time_text
from quiclab.report.words.arm_heads import NUMBER_COLUMNS, fitting
from quiclab.why.account.chosen_request import Request
from quiclab.why.account.levels import Level
from quiclab.why.account.one_end import OneEnd, Side
from quiclab.why.recordings import RecordedStep, Recording, Recordings

_LEAST_MS = 0.05
"""Time below which a part, or a difference, is none."""
_HANDSHAKE = "for TCP and one for TLS 1.3, or one for QUIC, one "
_COARSE_NS = 100_000
"""Step of a recording's times from which on it is told: parts are shown in tenths of a millisecond."""
_FEW_BYTES = 100
"""Bytes of other answers below which they are not told."""
_SMALL = 0.03
"""Share of what moved in all below which a sentence leaves a part out."""


def difference_told(found: Recordings) -> str:
    """Say by how much the second transfer took longer, and in which parts."""
    first, second = found.names
    if found.is_one_twice:
        return f"{first} and {second} do not differ: they hold one transfer, packet by packet."
    ends = f"{time_text(found.second.total.ms)} against {time_text(found.first.total.ms)}"
    if abs(found.total.difference.ms) < _LEAST_MS:
        return f"{second} took as long as {first} ({time_text(found.first.total.ms)})."
    if not found.total.has_clear_sign:
        span = " … ".join(decimal(end, signed=True) for end in _ends(found.total))
        return f"The recordings do not tell if {second} took longer than {first}: {ends}, a difference of {span} ms."
    told = f"{second} took {longer(found.total.difference.ms)} than {first} ({ends})"
    large = [step for step in found.steps if step.has_clear_sign and abs(step.difference.ms) >= _SMALL * found.gross_ms]
    large.sort(key=lambda step: -abs(step.difference.ms))
    unsure = [step.part.heading for step in found.steps if step.part and not step.has_clear_sign]
    parts = number_text.listed([_phrase(step, found) for step in large])
    told = f"{told}: {parts}." if large else f"{told}. No part differs by more than the recordings leave unsure."
    if large and unsure:
        named = number_text.listed(unsure)
        told = f"{told} The recordings are not exact enough to tell a difference in: {named}."
    return told


def one_told(name: str, account: OneEnd) -> str:
    """Say how long the only transfer took, how much of it each part, and what the path allows."""
    parts = [f"{part.heading} {time_text(span.ms)}" for part, span in account.parts.items() if span.ms >= _LEAST_MS]
    told = f"{name} took {time_text(account.total.ms)}: {number_text.listed(parts)}."
    bound = account.lower_bound_ms
    if bound is None:
        return told
    least = sum(bound.values())
    return f"{told} An ideal transfer over this path takes {time_text(least)}: {longer(least - account.total.ms)}."


def ending_told(recording: Recording) -> str:
    """Say that a recording lacks its own end or those of requests, and what that leaves open; empty of a whole one."""
    request, unended = recording.account.seen.request, recording.unended
    if request is None or not unended:
        return f"{recording.file} is cut short, after this answer had ended." if recording.is_cut_short else ""
    stops = "is cut short" if recording.is_cut_short else "stops"
    lacking = f"{unended} of its {request.others + 1 + unended} requests"
    if unended == 1:
        told = f"the answer to {lacking} ends: how long that takes is unknown, and it may be the longest"
    else:
        told = f"the answers to {lacking} end: how long these take is unknown, and one of them may be the longest"
    return f"{recording.file} {stops} before {told}."


def _ends(step: RecordedStep) -> tuple[float, float]:
    return step.difference.low_ms, step.difference.high_ms


def _phrase(step: RecordedStep, found: Recordings) -> str:
    sizes = _sizes(found.second.seen.answer_bytes, found.first.seen.answer_bytes)
    return step.part.phrase.format(longer(step.difference.ms), *sizes) if step.part else ""


def _sizes(*sizes: int) -> list[str]:
    unit, scale, digits = ("MB", 1e6, 2) if max(sizes) >= 1e6 else ("kB", 1e3, 1)
    return [f"{each / scale:.{digits}f} {unit}" for each in sizes]


def evidence(name: str, account: OneEnd) -> str:
    """Say what one account was made from, and what else the recording shows."""
    seen = account.seen
    round_trip = seen.round_trip_ns / 1e6
    long = account.long_waits_ms
    silent = "packets came in bunches, which show no rate of the path"
    if not seen.rate_is_shown and seen.between is None:
        silent = "the log has no packets, by which alone a rate of the path shows"
    elif not seen.rate_is_shown:
        silent = "packets may have waited behind the capture, so that they show no rate of the path"
    rate = f"the path served at {number_text.measured(account.rate_bit_per_s or 0.0, account.rates_bit_per_s, 'bit/s')}"
    # A program logs a packet when it reads it, and takes time to answer one of QUIC.
    late = account.level is Level.E3 or (seen.between is not None and not seen.between.place.exact)
    coarse = seen.resolution_ns >= _COARSE_NS and account.level is not Level.E4  # where it stands for late reading
    lasted = f"lasted half of that or longer, {time_text(float(long.sum()))} in all"
    waits = f"{number_text.counted(len(long), 'wait')} {lasted}"
    told = [
        f"{name}: {_taken_at(seen.between) if seen.between else account.level.recorded}",
        *([_chosen(seen.request)] if seen.request else []),
        rate if account.rate_bit_per_s else silent,
        f"the first round trip took {'at most ' if late else ''}{time_text(round_trip)}",
        waits if len(long) else "no wait lasted half of that",
        *([f"its times tell an instant to ± {seen.resolution_ns / 1e6:g} ms"] if coarse else []),
    ]
    before, during = seen.bytes_meanwhile.others_before, seen.bytes_meanwhile.others_during
    came = ((before, "before its first byte"), (during, "from its first byte to its last"))
    if beside := [f"{_sizes(each)[0]} of other answers came {when}" for each, when in came if each >= _FEW_BYTES]:
        told.append(number_text.listed(beside))
    told += [
        f"{part.heading}: {time_text(ms)} on the client's side of the capture and "
        f"{time_text(account.parts[part].ms - ms)} on the server's"
        for part, ms in account.client_side_ms.items()
    ]
    if not seen.opened:
        told.append(f"the answer's packets have {_sizes(seen.answer_bytes)[0]}")
    if account.missing_ms:
        missing = time_text(account.missing_ms)
        told.append(f"for {missing} bytes had come that could not be read, as earlier ones were missing")
    return "; ".join(told) + "."


def _taken_at(side: Side) -> str:
    """Say where a capture between the ends was taken."""
    place = side.place
    client, server = (time_text(ns / 1e6) for ns in (place.client_ns, place.server_ns))
    if place.is_server:
        return f"a capture at the server, {client} from the client (there and back)"
    most = "" if place.exact else "at most "
    ends = f"{most}{client} from the client and {most}{server} from the server"
    return f"a capture between the ends, {ends} (there and back)"


def _chosen(request: Request) -> str:
    """Say which of several requests it is, and what of its connection is in its time."""
    whole = request.others + 1
    which = "the slowest" if request.is_slowest else "one"
    several = f"{which} of {number_text.counted(whole, 'request')}"
    if request.unended:
        several += f" whose {'answer ends' if whole == 1 else 'answers end'} in it"
    name = request.url or ("" if request.stream_id is None else f"stream {request.stream_id}")
    before = (
        "with its connection's handshake" if request.waited_for_handshake else "on a connection that was open already"
    )
    return f"{several} ({name}), {before}"


def limits(accounts: Sequence[OneEnd]) -> str:
    """Say what one or two recordings do not show."""
    told = (
        "One transfer each is no test: the numbers are of these two, without an interval and without a verdict. The "
        "column `unsure` has what the recordings leave open."
        if len(accounts) > 1
        else "The numbers are of this one transfer. The column `unsure` has what the recording leaves open."
    )
    if len(accounts) == 1 and accounts[0].lower_bound_ms:
        request = accounts[0].seen.request
        handshake = "" if request and not request.waited_for_handshake else _HANDSHAKE
        told += (
            f" The lower bound is a round trip {handshake}for the request, and the answer's own bytes at the path's "
            "rate, without a wait."
        )
    told = f"{told} The path's rate and delay are taken for constant."
    levels = {each.level for each in accounts}
    if Level.E2 in levels:
        told += (
            " Without keys the answer's beginning and end are told by the sizes of packets, and several requests look "
            "like one."
        )
    if Level.E5 in levels:
        told += (
            " Between the ends nothing is decrypted: the answer's beginning and end are told by the sizes of packets, "
            "and several requests look like one."
        )
    if not all(each.end_is_shown for each in accounts):
        told += (
            " No packet of QUIC shows without keys that the answer ended: a capture that stopped early, or a transfer "
            "that was given up, looks like a whole one."
        )
        told += "" if Level.E5 in levels else " The keys tell."
    if Level.E4 in levels:
        told += " A server's log tells when its program read a packet, which may be later than it came."
    return told


def parts_table(found: Recordings, width: int) -> Table:
    """Return a row for each part and one for the whole: both times, the difference and what is unsure of it, in ms;
    names of recordings that do not fit into the width are broken between their words."""
    return fitting(width, _parts_table(found, narrow=False), partial(_parts_table, found, narrow=True))


def _parts_table(found: Recordings, *, narrow: bool) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("part: ms")
    first, second = found.names
    heads = [first, second, f"{second} − {first}\n− is faster"]
    if narrow:
        heads = [*(name_lines(name, NUMBER_COLUMNS) for name in found.names), "difference\n− is faster"]
    for heading in (*heads, "unsure"):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    for step in (*found.steps, found.total):
        strong = "bold" if step.part is None else ""
        difference = step.difference
        ends = " … ".join(decimal(end, signed=True) for end in _ends(step))
        table.add_row(
            Text(step.part.heading if step.part else "time to last byte", style=strong),
            *(Text(decimal(span.ms), style=strong) for span in (step.first, step.second)),
            Text(decimal(difference.ms, signed=True), style=strong),
            Text(ends, style="dim"),
        )
    return table


def one_table(name: str, account: OneEnd) -> Table:
    """Return a row for each part of the only transfer and one for the whole: its time, the least that the path allows,
    and what is unsure, in ms."""
    table, bound = Table(box=None, padding=(0, 1, 0, 0)), account.lower_bound_ms
    table.add_column("part: ms")
    for heading in (name, *(("lower bound",) if bound else ()), "unsure"):
        table.add_column(heading, justify="right", no_wrap=True)
    for part, span in (*account.parts.items(), (None, account.total)):
        strong = "bold" if part is None else ""
        least = (sum(bound.values()) if part is None else bound[part],) if bound else ()
        table.add_row(
            Text(part.heading if part else "time to last byte", style=strong),
            Text(decimal(span.ms), style=strong),
            *(Text(decimal(each), style=strong) for each in least),
            Text(" … ".join(decimal(end) for end in (span.low_ms, span.high_ms)), style="dim"),
        )
    return table
