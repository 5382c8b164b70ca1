# SPDX-License-Identifier: Apache-2.0
"""Pages over two connections, written by hand: which object the load waits for, and what led to it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from unit.evidence.metrics.scenes import ns
from unit.why.account.connections import DOCUMENT, IMAGE, SCRIPT, A, B, Connections, page_of_two
from unit.why.account.stories import sums

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.evidence.metrics.page import plt_ms
from quiclab.model.tables import TABLES
from quiclab.why.account import account_of_transfer
from quiclab.why.account.edges import gaps

_TRACE = pl.col("source") == "raw/client-trace.json"


def _with(evidence: Evidence, table: str, *columns: pl.Expr) -> Evidence:
    return Evidence({**evidence.tables, table: evidence.tables[table].with_columns(*columns)}, evidence.trial)


def test_a_page_to_the_nanosecond(tmp_path: Path) -> None:
    """4 ms after the first segment of the document the browser begins a connection for the script: the second segment,
    which comes at 110 ms, has no part in it. The script waits 3.5 ms for the image's segment."""
    evidence = page_of_two(tmp_path)
    edges = account_of_transfer(evidence)
    assert sum(edge.length_ns for edge in edges) == round(plt_ms(evidence) * 1e6) == 145_000_000
    assert gaps(edges) == [0] * (len(edges) - 1)
    assert all(edge.length_ns > 0 for edge in edges)
    assert sums(edges) == {
        "browser": 5 + 4 + 7.5,
        "tcp_handshake": 20 + 20,
        "tls_round_trip": 21 + 21,
        "request": 10 + 11,
        "link_busy": 3.5 + 2,
        "last_flight": 10 + 10,
    }
    whats = sums(edges, "what")
    assert whats["other_connection"] == 3.5
    assert "other_object" not in whats
    changes = [ns(-5), ns(61), ns(132.5)]
    assert [e.object for e in edges if e.from_ns in changes] == [DOCUMENT, SCRIPT, None]
    browser = [(e.from_ns, e.until_ns, e.reason.evidence) for e in edges if e.reason.why == "browser"]
    assert browser == [
        (ns(-5), ns(0), "page_events"), (ns(61), ns(65), "http_requests"), (ns(132.5), ns(140), "page_events"),
    ]  # fmt: skip


def test_a_delay_lengthens_one_label_of_each_kind_and_no_other(tmp_path: Path) -> None:
    """Metamorphic: 7 ms more before the end of any edge make one *what* and one *why* 7 ms longer."""
    evidence = page_of_two(tmp_path)
    before = account_of_transfer(evidence)
    tried = set()
    for edge in before:
        if edge.what not in ("propagation_down", "propagation_up", "client") or edge.reason.why == "tls_round_trip":
            continue  # where an endpoint is late in the set-up that is another label
        after = account_of_transfer(_delayed(evidence, edge.until_ns - 1, 7_000_000))
        for label in ("what", "why"):
            old, new = sums(before, label), sums(after, label)
            grown = {name: new.get(name, 0) - old.get(name, 0) for name in {*old, *new}}
            assert [ms for ms in grown.values() if abs(ms) > 1e-9] == [pytest.approx(7)], (edge, grown)
        tried.add(edge.reason.why)
    assert tried >= {"browser", "tcp_handshake", "request", "last_flight"}


def _delayed(evidence: Evidence, after_ns: int, by_ns: int) -> Evidence:
    """Delay everything that happened after an instant."""
    tables = {
        name: table.with_columns(
            pl.when(pl.col(column) > after_ns).then(pl.col(column) + by_ns).otherwise(pl.col(column)).alias(column)
            for column in TABLES[name].instants
            if column in table.columns
        )
        for name, table in evidence.tables.items()
    }
    return Evidence(tables, evidence.trial)


def test_a_browser_that_tells_no_initiator_leaves_the_time_before_a_request_unexplained(tmp_path: Path) -> None:
    """The document came before all else, whatever led from it to the request."""
    evidence = _with(page_of_two(tmp_path), "http_requests", pl.lit(None, pl.String).alias("initiator"))
    found = sums(account_of_transfer(evidence))
    assert found["unexplained"] == 4
    assert found["browser"] == 5 + 7.5


def test_what_the_load_event_does_not_wait_for_does_not_end_a_page(tmp_path: Path) -> None:
    """A fetch in the script's place: the image is the last that counts. Its request left at 66 ms, and the server
    answers 16.5 ms after it had sent the last of the document."""
    fetched = pl.when(_TRACE & (pl.col("url") == SCRIPT)).then(pl.lit("Fetch")).otherwise("resource_type")
    edges = account_of_transfer(_with(page_of_two(tmp_path), "http_requests", fetched.alias("resource_type")))
    assert edges[-1].from_ns == ns(130.5)
    assert edges[-1].length_ns == 9_500_000
    assert sums(edges)["request"] == 10 + 10 + 24 + 16.5
    assert sums(edges, "what")["server"] == 24 + 16.5


def test_over_http_1_an_answer_waits_for_the_one_before_it(tmp_path: Path) -> None:
    """Both objects of the other host were wanted at 62 ms; the second is asked for 2 ms after the first has come."""
    story = Connections()
    story.open(A, 0)
    story.down(A, 51, 0)
    story.open(B, 65)
    story.down(B, 117, 0)
    story.up(B, 129, 0)
    story.down(B, 140, 1)
    story.asked(A, DOCUMENT, 41, 51, 51, 61)
    story.asked(B, IMAGE, 106, 117, 117, 127, stream=None)
    story.asked(B, SCRIPT, 129, 140, 140, 150, stream=None)
    for url, kind, initiator in (
        (DOCUMENT, "Document", None),
        (IMAGE, "Image", DOCUMENT),
        (SCRIPT, "Script", DOCUMENT),
    ):
        story.told(url, -4 if initiator is None else 62, kind, initiator)
    edges = account_of_transfer(story.page(tmp_path, 152))
    assert sums(edges) == {
        "browser": 5 + 4 + 2, "tcp_handshake": 40, "tls_round_trip": 42, "request": 10 + 11 + 11, "later_request": 2,
        "last_flight": 30,
    }  # fmt: skip


def test_a_request_that_is_held_back_until_the_first_answer_leads_back_to_that(tmp_path: Path) -> None:
    """A browser that does not know a host sends one request, and the rest when an answer's header is there, at 127."""
    story = Connections()
    story.open(A, 0)
    story.down(A, 51, 0)
    story.open(B, 65)
    story.down(B, 117, 0)
    story.up(B, 129, 0)
    story.down(B, 140, 1, stream=3)
    story.down(B, 150, 2)
    story.asked(A, DOCUMENT, 41, 51, 51, 61)
    story.asked(B, IMAGE, 106, 117, 150, 160)
    story.asked(B, SCRIPT, 129, 140, 140, 150, stream=3)
    for url, kind, initiator in (
        (DOCUMENT, "Document", None),
        (IMAGE, "Fetch", DOCUMENT),
        (SCRIPT, "Script", DOCUMENT),
    ):
        story.told(url, -4 if initiator is None else 62, kind, initiator)
    evidence = story.page(tmp_path, 152)
    found = sums(account_of_transfer(evidence))
    assert found["request"] == 10 + 11 + 11
    assert found["browser"] == 5 + 4 + 2 + 2
    wanted_late = pl.when(_TRACE & (pl.col("url") == SCRIPT)).then(ns(128)).otherwise("time_ns").alias("time_ns")
    found = sums(account_of_transfer(_with(evidence, "http_requests", wanted_late)))
    assert found["browser"] == 5 + 4 + 23 + 2  # from 106 ms, when its connection could carry it


@pytest.mark.parametrize("lost", ["request", "answer"])
def test_what_is_lost_and_comes_again_is_no_time_of_the_request(lost: str, tmp_path: Path) -> None:
    """The request of the image, or the packet with its answer, is sent again 200 ms later: by a timer of the kernel
    that had sent it."""
    story = Connections()
    story.open(A, 0)
    story.down(A, 51, 0)
    for ms in (66, 266) if lost == "request" else (66,):
        story.up(A, ms, 0, lost=lost == "request" and ms == 66)
    for ms in (277,) if lost == "request" else (77, 277):
        story.down(A, ms, 1, stream=3, lost=ms == 77)
    came, begun = (276, 277) if lost == "request" else (76, 77)
    story.asked(A, DOCUMENT, 41, 51, 51, 61)
    story.asked(A, IMAGE, 66, begun, begun, 287, stream=3, came=came, headers=287)
    story.told(DOCUMENT, -4, "Document")
    story.told(IMAGE, 62, "Image", DOCUMENT)
    edges = account_of_transfer(story.page(tmp_path, 290))
    assert sums(edges) == {
        "browser": 5 + 5 + 3, "tcp_handshake": 20, "tls_round_trip": 21, "request": 10 + 11, "loss_timer": 200,
        "last_flight": 20,
    }  # fmt: skip
    assert [str(edge.what) for edge in edges if edge.reason.why == "loss_timer"] == ["timer"]
    sent = {each.packet_index: each.until_ns for each in edges if each.what == "server" and each.direction == "down"}
    assert sent[3] == ns(277 if lost == "request" else 77)  # the first sending of the answer


def test_what_carries_no_account_of_a_page_is_refused(tmp_path: Path) -> None:
    """Requests that one end alone shows; a browser without a load event; one before any object had come."""
    evidence = page_of_two(tmp_path)
    requests = evidence.tables["http_requests"]
    one_end = Evidence({**evidence.tables, "http_requests": requests.filter(_TRACE | (pl.col("vantage") == "client"))},
                       evidence.trial)  # fmt: skip
    with pytest.raises(Unknown, match="captures of both ends"):
        account_of_transfer(one_end)
    without = requests.filter(_TRACE | (pl.col("url") != DOCUMENT))
    with pytest.raises(Unknown, match="do not show the request for the document"):
        account_of_transfer(Evidence({**evidence.tables, "http_requests": without}, evidence.trial))
    events = evidence.tables["page_events"]
    never = Evidence({**evidence.tables, "page_events": events.filter(pl.col("name") != "loadEventStart")},
                     evidence.trial)  # fmt: skip
    with pytest.raises(Unknown, match="tells of no onLoad"):
        account_of_transfer(never)
    early = pl.when(pl.col("name") == "loadEventStart").then(ns(60)).otherwise("time_ns").alias("time_ns")
    with pytest.raises(Unknown, match="contradict"):
        account_of_transfer(_with(evidence, "page_events", early))
