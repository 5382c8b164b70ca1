# SPDX-License-Identifier: Apache-2.0
"""A proxy's wait for its origin, written by hand: request and answer take 10 ms each way, service 2 ms down. Times in
ms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl
import pytest
from trial_records import record
from unit.why.account.test_hop import rows_of

from quiclab.evidence.metrics import Evidence
from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.model.tables import TABLES
from quiclab.why.account.amplification import Amplification
from quiclab.why.account.behind_proxy import Origin, OriginSender, origin_sender
from quiclab.why.account.contents import Content, Reached
from quiclab.why.account.critical_path import Path
from quiclab.why.account.edges import Reason
from quiclab.why.account.forward_path import Way, way
from quiclab.why.account.hop import hop
from quiclab.why.account.kernel import Kernel, Sample
from quiclab.why.account.series import Steps
from quiclab.why.account.set_up import SetUp
from quiclab.why.account.window import History

_MS = 1_000_000


def _way(direction: str, *packets: tuple[float, float, int, float | None], sizes: Sequence[int] = ()) -> Way:
    rows = rows_of(*packets, direction=direction)
    if sizes:
        rows = rows.with_columns(size_bytes=pl.Series(sizes, dtype=rows.schema["size_bytes"]))
    return way(direction, [[hop(rows)]], None)


def _origin(received: int = 2000) -> Origin:
    """Asked at 20; two packets are sent at 31, served until 33 and 35, and come at 43 and 45."""
    up = _way("up", (20, 0, 7, 30))
    down = _way("down", (31, 2, 7, 43), (31, 2, 7, 45))
    return Origin(Path(up, down, {}, {}), Steps([43 * _MS, 45 * _MS], [received // 2, received]), Steps([], []))


def _client(acknowledged: float, sent: int = 1000) -> Path:
    """A proxy that has sent one packet at 12, gets an acknowledgment, and sends another one at 45.5."""
    down = _way("down", (12, 0, 7, 13), (45.5, 0, 7, 47))
    content = {0: Content(What.PAYLOAD, sent, reached=Reached(sent, sent, sent))}
    return Path(_way("up", (acknowledged - 1, 0, 7, acknowledged)), down, {}, content)


def _wait(client: Path, origin: Origin, why: Why = Why.PACING_OR_PROGRAM) -> list[tuple[str, float]] | None:
    edges = origin.wait(client, 1, 15 * _MS, Reason(why, "ip_packets"))
    if edges is None:
        return None
    assert {edge.reason.why for edge in edges} == {Why.ORIGIN}
    ends = [edge.from_ns for edge in edges]
    assert [edge.until_ns for edge in edges] == [round(45.5 * _MS), *ends[:-1]]
    return [(str(edge.what), edge.length_ns / _MS) for edge in reversed(edges) if edge.length_ns]


_WHOLE = [
    ("server", 5),
    ("propagation_up", 10),
    ("server", 1),
    ("served", 4),
    ("propagation_down", 10),
    ("server", 0.5),
]


@pytest.mark.parametrize("why", [Why.PACING_OR_PROGRAM, Why.APPLICATION, Why.AWAITING_ACKS])
def test_what_came_from_the_origin_last_is_what_the_proxy_waited_for(why: Why) -> None:
    """The way back leads through the origin's link and server, and ends where the client's link was last busy."""
    assert _wait(_client(acknowledged=40), _origin(), why) == _WHOLE


@pytest.mark.parametrize("why", [Why.SLOW_START, Why.WINDOW_AFTER_LOSS, Why.STREAM_CREDIT, Why.LOSS_DETECTION])
def test_a_window_that_a_log_shows_to_be_full_counts_for_more(why: Why) -> None:
    """Then the proxy had something to send."""
    assert _wait(_client(acknowledged=40), _origin(), why) is None


def test_a_later_packet_of_the_client_leaves_it_to_the_bytes() -> None:
    """A proxy that had sent all it had got waits for more; one that holds 100 KB waits for the client."""
    assert _wait(_client(acknowledged=45.2), _origin()) == _WHOLE
    assert _wait(_client(acknowledged=45.2), _origin(received=200_000)) is None


@pytest.mark.parametrize(("asked", "waits"), [(20, True), (None, False), (44, True), (45.1, False)])
def test_what_a_client_sends_after_its_request_does_not_end_the_wait_for_the_answer(
    asked: float | None, waits: bool
) -> None:
    """The proxy's record shows when it had the request, and the client's packet of 45.2 is another one."""
    origin = replace(_origin(), asked_ns=None if asked is None else round(asked * _MS))
    assert (_wait(_client(acknowledged=45.2), origin, Why.REQUEST) is not None) is waits


def test_a_proxy_that_sends_long_after_its_origin_waited_only_until_that() -> None:
    """Its last packet from there is 2 ms old, its program's; one that holds 100 KB waits for something else."""
    client = _client(acknowledged=40)
    slow = Path(client.up, _way("down", (12, 0, 7, 13), (47, 0, 7, 49)), {}, client.carried_down)
    reason = Reason(Why.PACING_OR_PROGRAM, "ip_packets")
    first, *rest = _origin().wait(slow, 1, 15 * _MS, reason) or []
    assert (first.from_ns, first.until_ns, first.reason) == (45 * _MS, 47 * _MS, reason)
    assert {edge.reason.why for edge in rest} == {Why.ORIGIN}
    assert _origin(received=200_000).wait(slow, 1, 15 * _MS, reason) is None


def _upload(came: float = 44, sent_on: int = 1000) -> tuple[Path, Origin]:
    """A client that has sent 50 KB by 14; credit at 45.5. The proxy sends to its origin at 20, which is served until 30
    and acknowledged 11 ms later; the acknowledgment comes at `came`."""
    whole = {0: Content(What.PAYLOAD, 1400, reached=Reached(50_000, 50_000, 50_000))}
    client = Path(_way("up", (12, 1, 7, 14)), _way("down", (45.5, 0, 7, 47)), whole, {}, "up")
    up, down = _way("up", (20, 10, 7, 33)), _way("down", (34, 0, 7, came), sizes=[72])
    return client, Origin(Path(up, down, {}, {}, "up"), Steps([], []), Steps([20 * _MS], [sent_on]))


def test_credit_for_an_upload_comes_when_the_proxy_has_sent_on_what_it_had() -> None:
    """The way back leads over the origin's acknowledgment and link; the proxy's own time is at both ends."""
    client, origin = _upload()
    edges = origin.credit(client, 0, 15 * _MS, Reason(Why.STREAM_CREDIT, "flow_control")) or []
    assert {edge.reason.why for edge in edges} == {Why.ORIGIN}
    assert [(str(edge.what), edge.length_ns / _MS) for edge in reversed(edges) if edge.length_ns] == [
        ("server", 5),
        ("served", 10),
        ("propagation_up", 3),
        ("ack_held", 1),
        ("propagation_down", 10),
        ("server", 1.5),
    ]


@pytest.mark.parametrize(
    ("sent_on", "why"), [(40_000, Why.STREAM_CREDIT), (1000, Why.SLOW_START), (1000, Why.AWAITING_ACKS)]
)
def test_credit_of_a_proxy_that_had_sent_on_all_is_its_own_and_so_is_what_a_window_holds_back(
    sent_on: int, why: Why
) -> None:
    """It reads late, then; and no credit ends the wait for a window."""
    client, origin = _upload(sent_on=sent_on)
    assert origin.credit(client, 0, 15 * _MS, Reason(why, "flow_control")) is None


def test_what_comes_from_an_origin_last_with_data_is_its_answer() -> None:
    """One of 72 bytes is an acknowledgment; what came before the whole body had is of something else."""
    down = _way("down", (34, 0, 7, 44), (35, 0, 7, 45), (36, 0, 7, 46), sizes=[200, 200, 72])
    origin = Origin(Path(_way("up", (20, 0, 7, 30)), down, {}, {}, "up"), Steps([], []), Steps([], []))
    assert origin.answered(50 * _MS, 40 * _MS) == 1
    assert origin.answered(44 * _MS, 40 * _MS) == 0
    assert origin.answered(50 * _MS, 45 * _MS) is None


def _sampled(
    unsent: int | None,
    *,
    hidden_credit: bool = False,
    flying: int | None = None,
    state: str = "open",
    paces: bool = True,
) -> OriginSender:
    """An origin of whose TCP there is a sample at 30.9 with so many bytes that were not sent yet; None is no sample.

    Its window has ten segments, and `flying` are on their way."""
    clocks, buffer = (None, None), (None, None)
    flight = (flying, 0, 0, 0)
    first = Sample(round(30.9 * _MS), state, 10, None, unsent, *clocks, *flight, *buffer)
    samples = [] if unsent is None else [first]
    history = History(Steps([], []), "tcp_info", known=True)
    return OriginSender(Kernel([each.time_ns for each in samples], samples, history, paces), hidden_credit)


@pytest.mark.parametrize(
    ("asks", "own", "why"),
    [
        (True, _sampled(5000), "request"),
        (False, _sampled(5000), "slow_start"),
        (False, _sampled(5000, flying=7), "slow_start"),
        (False, _sampled(5000, flying=6), "pacing"),
        (False, _sampled(5000, flying=6, paces=False), "kept_in_kernel"),
        (False, _sampled(5000, flying=6, state="loss"), "slow_start"),
        (False, _sampled(0), "application"),
        (False, _sampled(0, hidden_credit=True), "awaiting_acks"),
        (False, _sampled(None), None),
    ],
)
def test_why_the_origin_had_not_sent_earlier(asks: bool, own: OriginSender, why: str | None) -> None:
    """What came to it last carries a request, or acknowledges; its kernel says whether it had something to send."""
    origin = replace(_origin(), own=own)
    up = _way("up", (20, 0, 7, 30), sizes=[1000 if asks else 72])
    origin = replace(origin, path=replace(origin.path, up=up))
    edges = origin.wait(_client(acknowledged=40), 1, 15 * _MS, Reason(Why.AWAITING_ACKS, "ip_packets")) or []
    told = [(str(edge.what), edge.origin_why) for edge in reversed(edges) if edge.length_ns]
    assert told[1:] == [
        ("propagation_up", why),
        ("server", why),
        ("served", "link_busy"),
        ("propagation_down", "last_flight"),
        ("server", None),  # the proxy's own time
    ]


def test_several_connections_to_an_origin_tell_nothing_of_one() -> None:
    """The samples of one that sent nearly all count."""
    schema = TABLES["tcp_info"].schema()
    usual = {"source": "raw/origin.tcpinfo", "time_ns": 0}

    def sender(*segments: int) -> OriginSender | None:
        rows = [usual | {"connection": str(at), "data_segs_out": each} for at, each in enumerate(segments)]
        table = pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)
        return origin_sender(Evidence({"tcp_info": table}, record({"proxy": {"origin_protocol": "h2"}})))

    assert sender() is None
    assert sender(500, 500) is None
    assert sender(970, 10) is not None


@pytest.mark.parametrize(
    ("kind", "came", "asked", "waited"),
    [
        (What.ACKNOWLEDGMENTS, 45.2, None, 30.5),
        (What.PAYLOAD, 45.2, None, 0),
        (What.PAYLOAD, 45.2, 15, 30.5),
        (What.PAYLOAD, 44, 15, 30.5),
        (What.PAYLOAD, 44, 44, 1.5),
    ],
)
def test_what_comes_meanwhile_is_not_what_a_proxy_waited_for(
    kind: What, came: float, asked: float | None, waited: float
) -> None:
    """The request comes at 15 and the origin's answer at 43 and 45; the client's next packet comes about then. Only one
    with data may be what the response at 45.5 had waited for, and that not where the proxy had the request before."""
    up = _way("up", (5, 0, 7, 15), (35, 0, 7, came))
    origin = replace(_origin(), asked_ns=None if asked is None else round(asked * _MS))
    client = Path(up, _way("down", (45.5, 1, 7, 47)), {0: Content(What.PAYLOAD), 1: Content(kind)}, {}, origin=origin)
    set_up = SetUp(Evidence({}, record({"protocol": "h2"})), client, Amplification((), (), (), (), 0))
    edges = set_up.request_edges(0, 0, 5 * _MS)
    assert sum(edge.length_ns for edge in edges) == round(40.5 * _MS)
    assert sum(edge.length_ns for edge in edges if edge.reason.why is Why.ORIGIN) / _MS == waited
