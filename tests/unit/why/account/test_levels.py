# SPDX-License-Identifier: Apache-2.0
"""Levels of evidence: their parts as unions, accounts from one end that are known beforehand, and the full account of
real trials summed up to each level."""

from __future__ import annotations

import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from coarsening import Compared, full_ms, in_lines, levels_of_study

from quiclab.evidence.metrics import Unknown
from quiclab.model.cause import Why
from quiclab.model.tables import TABLES
from quiclab.why.account.arrivals import Arrivals
from quiclab.why.account.from_server import _Acked, _last
from quiclab.why.account.levels import PARTS, Level, Part, members, shared
from quiclab.why.account.one_end import Instant, OneEnd, Seen, account_of_one_end, stretches
from quiclab.why.account.one_recording import seen_by_browser
from quiclab.why.account.recorded import Recorded

_ROOT = Path(__file__).parents[4]
_PACKET_BYTES = 1250
"""One millisecond of service at 10 Mbit/s."""


@pytest.mark.parametrize("level", PARTS)
def test_every_reason_is_in_one_part_of_a_level(level: Level) -> None:
    """So that the parts of a level add up to the whole time."""
    whys = [why for members in PARTS[level].values() for why in members]
    assert sorted(whys) == sorted(Why)


def test_levels_are_compared_by_what_both_tell() -> None:
    """Two of a kind by all their parts; a server's log and a capture by the waits as one."""
    assert [each.part for each in shared(Level.E4, Level.E4)] == list(PARTS[Level.E4])
    assert [each.part for each in shared(Level.E1, Level.E4)] == list(PARTS[Level.E1])
    waits = shared(Level.E1, Level.E4)[-1]
    assert waits.of_first == (Part.WAITS,)
    assert waits.of_second == (Part.WINDOW_FULL, Part.CREDIT_USED_UP, Part.OTHER_WAITS)


def test_the_page_has_the_parts_of_each_level() -> None:
    """docs/explanation/account.md has a row for each part, with the levels that tell it and the reasons in it."""
    page = (_ROOT / "docs/explanation/account.md").read_text(encoding="utf-8").partition("## From one end")[2]
    for part in Part:
        levels = [level for level in PARTS if part in PARTS[level]]
        row = next(line for line in page.splitlines() if line.startswith(f"| `{part}` |"))
        if part in (Part.ANSWER, Part.CLIENT):
            continue  # both parts in front of it; a division of these, where a recording shows the request
        _, _, told, _, members, _ = row.split("|")
        assert told.strip() == ", ".join(levels), part
        named = {word.strip("`") for word in members.replace(",", " ").split() if word.startswith("`")}
        whys = {str(why) for why in PARTS[levels[0]][part]}
        assert named == whys if len(whys) < 9 else "every other reason" in members, part


def _ns(ms: float) -> int:
    return round(ms * 1e6)


def _seen(at_ms: list[float], **changes: Any) -> Seen:
    """A transfer whose set-up takes 40 ms and whose answer comes in packets of 1 ms each."""
    at = np.array([_ns(ms) for ms in at_ms])
    seen = Seen(
        Level.E1,
        "tcp",
        0,
        0,
        Instant.exactly(_ns(40)),
        Instant.exactly(int(at[-1])),
        Arrivals(at, np.full(len(at), _PACKET_BYTES)),
        int(at[0]),
        0,
        _ns(20),
        1,
    )
    return replace(seen, **changes)


_AT_MS = [*np.arange(61.0, 91.0), *np.arange(111.0, 141.0), *np.arange(150.0, 170.0)]
"""30 packets, a wait of 20 ms, 30 packets, one of 9 ms, 20 packets."""


def _ms(account: OneEnd) -> dict[str, float]:
    return {str(part): span.ms for part, span in account.parts.items()}


def test_an_account_to_the_millisecond() -> None:
    """The first packet is served from 60 on; 80 packets take 80 ms, and 20 + 9 are waits."""
    account = account_of_one_end(_seen(_AT_MS))
    assert account.rate_bit_per_s == pytest.approx(10e6, rel=0.01)
    expected = {"set_up": 40, "request": 20, "arriving": 80, "waits": 29}
    assert _ms(account) == pytest.approx(expected, abs=0.5)
    assert sum(_ms(account).values()) == pytest.approx(account.total.ms) == 169
    assert account.long_waits_ms == pytest.approx([20], abs=0.2)  # half of a round trip is 10 ms
    for span in account.parts.values():
        assert span.low_ms <= span.ms <= span.high_ms


def _stretched(account: OneEnd) -> dict[str, float]:
    found = dict.fromkeys(map(str, account.parts), 0.0)
    for each in stretches(account):
        found[str(each.part)] += (each.until_ns - each.from_ns) / 1e6
    return found


def test_stretches_are_the_account_in_order() -> None:
    """They follow each other from the first packet to the last byte, and add up to the parts."""
    account = account_of_one_end(_seen(_AT_MS))
    found = stretches(account)
    assert [str(each.part) for each in found] == [
        "set_up",
        "request",
        "arriving",
        "waits",
        "arriving",
        "waits",
        "arriving",
    ]
    assert [each.from_ns for each in found[1:]] == [each.until_ns for each in found[:-1]]
    assert (found[0].from_ns, found[-1].until_ns) == (0, _ns(169))
    assert _stretched(account) == pytest.approx(_ms(account), abs=0.5)
    # The packet that ended the first wait came one service of 1 ms after it.
    wait = found[3]
    assert (wait.from_ns, wait.until_ns, wait.seen_ns) == pytest.approx((_ns(90), _ns(110), _ns(111)), abs=_ns(0.3))


def test_stretches_of_what_shows_no_rate() -> None:
    """The answer is one."""
    bunches = [61.0] * 40 + [81.0] * 40
    account = account_of_one_end(_seen(bunches))
    assert [str(each.part) for each in stretches(account)] == ["set_up", "request", "answer"]
    assert _stretched(account) == pytest.approx(_ms(account), abs=0.01)


def test_a_packet_that_is_recorded_late_is_no_wait() -> None:
    """A busy machine writes one packet 3 ms late, and those behind it at once."""
    late = [max(ms, 75.0) if 72 <= ms < 75 else ms for ms in _AT_MS]
    assert _ms(account_of_one_end(_seen(late))) == pytest.approx(_ms(account_of_one_end(_seen(_AT_MS))), abs=0.5)


@pytest.mark.parametrize("after", [61.5, 90.5, 145.0, 160.5])
def test_a_delay_lengthens_the_waits_alone(after: float) -> None:
    """Metamorphic: 7 ms at any place of the answer are 7 ms more of waits, and nothing else moves."""
    before = _ms(account_of_one_end(_seen(_AT_MS)))
    delayed = _ms(account_of_one_end(_seen([ms + 7 * (ms > after) for ms in _AT_MS])))
    grown = {part: delayed[part] - before[part] for part in before}
    assert grown == pytest.approx({"set_up": 0, "request": 0, "arriving": 0, "waits": 7}, abs=0.5)


def test_half_the_speed_is_twice_the_time() -> None:
    """Metamorphic: with all instants doubled each part is, and the rate is halved."""
    once = account_of_one_end(_seen(_AT_MS))
    twice = account_of_one_end(_seen([2 * ms for ms in _AT_MS], asked=Instant.exactly(_ns(80))))
    assert _ms(twice) == pytest.approx({part: 2 * ms for part, ms in _ms(once).items()}, abs=1)
    assert once.rate_bit_per_s is not None
    assert twice.rate_bit_per_s == pytest.approx(once.rate_bit_per_s / 2, rel=0.01)


def test_a_slower_stretch_is_within_what_is_unsure() -> None:
    """A path that serves at half the rate from the middle on looks like one that waits: the range has both."""
    slower = [*np.arange(61.0, 191.0), *np.arange(192.0, 452.0, 2)]
    arriving = account_of_one_end(_seen(slower)).parts[Part.ARRIVING]
    assert arriving.ms == pytest.approx(260, rel=0.02)
    assert arriving.high_ms >= 389


def test_bunches_show_no_rate() -> None:
    """Eight packets in each read, every 8 ms: they may have come one after another, or at once."""
    bunches = [69.0 + 8 * (number // 8) for number in range(80)]
    account = account_of_one_end(_seen(bunches))
    assert account.rate_bit_per_s is None
    assert list(account.parts) == [Part.SET_UP, Part.REQUEST, Part.ANSWER]
    assert sum(_ms(account).values()) == pytest.approx(account.total.ms)
    assert set(members(Level.E1, Part.ANSWER)) == {Why.LINK_BUSY, *PARTS[Level.E1][Part.WAITS]}


def test_one_packet_shows_no_rate() -> None:
    """An answer in one packet has an end, and nothing to read the path's rate from."""
    with pytest.raises(Unknown, match="in one packet"):
        account_of_one_end(_seen([61.0]))


def test_waits_by_what_had_held_them_back() -> None:
    """Where the sender's log tells, each wait has its part; the sum stays."""
    held = [Part.OTHER_WAITS] * len(_AT_MS)
    held[30], held[60] = Part.WINDOW_FULL, Part.CREDIT_USED_UP
    found = _ms(account_of_one_end(_seen(_AT_MS, level=Level.E4, held=tuple(held))))
    assert found["window_full"] == pytest.approx(20, abs=0.3)
    assert found["credit_used_up"] == pytest.approx(9, abs=0.3)
    assert sum(found.values()) == pytest.approx(169)


def test_a_limit_within_the_answer_is_a_wait_to_one_end() -> None:
    """The amplification limit of the set-up stays what it is."""
    rows = [("amplification_limit", 0, 10), ("link_busy", 10, 12), ("amplification_limit", 12, 52)]
    schema = ["why", "from_ns", "until_ns"]
    table = pl.DataFrame([(why, _ns(at), _ns(until)) for why, at, until in rows], schema=schema, orient="row")
    assert full_ms(table) == {Why.AMPLIFICATION_LIMIT: 10, Why.LINK_BUSY: 2, Why.AWAITING_ACKS: 40}
    assert Why.AWAITING_ACKS in set(members(Level.E2, Part.WAITS)) & set(PARTS[Level.E4][Part.OTHER_WAITS])


def test_what_held_up_the_request_belongs_to_the_request() -> None:
    """The client's packet with it was lost, and a timer repeats it: to one end the answer is late."""
    rows = [("tls_round_trip", 0, 20), ("loss_timer", 20, 220), ("request", 220, 235), ("link_busy", 235, 240)]
    table = pl.DataFrame(
        [(why, _ns(at), _ns(until)) for why, at, until in [*rows, ("loss_timer", 240, 250)]],
        schema=["why", "from_ns", "until_ns"],
        orient="row",
    )
    found = full_ms(table)
    assert found == {Why.TLS_ROUND_TRIP: 20, Why.REQUEST: 215, Why.LINK_BUSY: 5, Why.LOSS_TIMER: 10}


def test_a_late_packet_is_time_of_what_waited_for_it() -> None:
    """Behind the last flight that is the client: the end of the answer comes late to it, and the request is over."""
    rows = [("request", 0, 10), ("link_busy", 10, 20), ("laboratory", 20, 23), ("link_busy", 23, 28)]
    rows += [("last_flight", 28, 33), ("laboratory", 33, 35)]
    schema = ["why", "from_ns", "until_ns"]
    table = pl.DataFrame([(why, _ns(at), _ns(until)) for why, at, until in rows], schema=schema, orient="row")
    assert full_ms(table) == {Why.REQUEST: 10, Why.LINK_BUSY: 18, Why.LAST_FLIGHT: 5, Why.AWAITING_ACKS: 2}


def test_trains_of_two_leave_the_rate_unsure() -> None:
    """A sender that paces: 35 pairs, each 7 ms after the one before. What a packet may be late is much of a service."""
    at_ms = [61 + 7 * pair + second for pair in range(35) for second in (0, 1)]
    arriving = account_of_one_end(_seen(at_ms)).parts[Part.ARRIVING]
    assert arriving.low_ms < 70 < arriving.high_ms
    exact = account_of_one_end(_seen([61.0 + number for number in range(70)])).parts[Part.ARRIVING]
    assert exact.low_ms > 0.995 * 70


@pytest.mark.parametrize(("fin_in", "early_ms"), [(8, 120), (9, 160)])
def test_an_acknowledgment_tells_when_its_highest_packet_came(fin_in: int, early_ms: float) -> None:
    """It names packets 8 and 9 at once. That with the end of the answer, if it is the first of them, may have come at
    any time since the acknowledgment before."""
    groups = [_Acked(_ns(120), 2500, ((6, 8),)), _Acked(_ns(160), 2500, ((8, 10),))]
    rows = [(number, 1000 * (number - 6), 1000 * (number - 5), number == fin_in) for number in range(6, fin_in + 1)]
    carriers = pl.DataFrame(rows, schema=["packet_number", "offset", "end", "fin"], orient="row")
    nothing = Recorded({}, "quic", "c", pl.DataFrame(), 1, opened=True)
    assert _last(nothing, groups, carriers) == Instant(_ns(160), _ns(early_ms), _ns(160))


def test_a_netlog_shows_headers_when_their_record_is_whole() -> None:
    """The record may have been longer than what came at first: the answer may have begun a round trip after the
    request."""
    request = dict.fromkeys(TABLES["http_requests"].schema()) | {
        "connection": "1", "transport": "tcp", "status": 200, "connect_start_ns": 0, "secure_start_ns": _ns(20),
        "connect_end_ns": _ns(40), "send_start_ns": _ns(41), "headers_ns": _ns(90), "last_byte_ns": _ns(110),
    }  # fmt: skip
    data = dict.fromkeys(TABLES["http_frames"].schema()) | {
        "connection": "1", "frame_type": "data", "direction": "down", "length_bytes": _PACKET_BYTES,
    }  # fmt: skip
    frames = [data | {"last_byte_ns": _ns(ms)} for ms in range(91, 111)]
    seen = seen_by_browser(
        {
            "http_requests": pl.DataFrame([request], schema=TABLES["http_requests"].schema()),
            "http_frames": pl.DataFrame(frames, schema=TABLES["http_frames"].schema()),
            "sources": pl.DataFrame({"resolution_ns": [1_000_000]}),
        }
    )
    found = account_of_one_end(seen).parts[Part.REQUEST]
    assert found.low_ms < 20 < 48 < found.ms


def test_real_trials_of_a_busy_machine_agree(tmp_path: Path) -> None:
    """Their captures are of headers, and the link was late: levels without keys, a client's and a server's log."""
    for name in ("h2", "h3"):
        with tarfile.open(_ROOT / f"tests/decoders/trials/{name}-100kb.tar.xz") as archive:
            filtered: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            archive.extractall(tmp_path / "trials" / name, **filtered)
    lines, beyond = in_lines(found := levels_of_study(tmp_path))
    assert not beyond, "\n".join(lines)
    levels = {one.level for each in found.values() for one in each if isinstance(one, Compared)}
    assert levels == {Level.E2, Level.E3, Level.E4, Level.E5}
    assert "not compared" not in "\n".join(lines)
    assert "1 of 3 trials are not compared" in "\n".join(in_lines({**found, "page": []})[0])
