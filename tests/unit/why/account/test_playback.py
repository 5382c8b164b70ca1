# SPDX-License-Identifier: Apache-2.0
"""Accounts of a video by hand: its start-up, a stall with a loss in it, and a stall that nothing ended."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from unit.evidence.metrics.scenes import ns
from unit.why.account.stories import Tcp, sums
from unit.why.account.videos import EVENTS, dash, event_rows, fetch_rows, one_file, stall_rows

from quiclab.evidence.metrics import Evidence, Unknown, metrics_of
from quiclab.why.account import MAIN, account_of_transfer, account_table, account_totals, accounts_of, laid_out
from quiclab.why.account.edges import gaps


def test_the_start_up_is_a_chain_of_answers_and_the_players_own_time(tmp_path: Path) -> None:
    """From the request for the video, 30 ms before the first packet, to the first picture: 7 ms pass between manifest
    and segment, 10 between segment and picture."""
    edges = accounts_of(dash(tmp_path))["start_up"]
    assert sums(edges) == {
        "player": 30 + 7 + 10,
        "quic_handshake": 21,
        "request": 12 + 11,
        "pacing_or_program": 1,
        "last_flight": 20,
    }
    assert sums(edges, "what")["client"] == 30 + 7 + 10 + 2  # two of set-up and request
    files = dict.fromkeys(edge.object for edge in edges)
    assert list(files) == [None, "manifest.mpd", "1-00001.m4s"]
    evidence = {(edge.from_ns - ns(0)) / 1e6: edge.reason.evidence for edge in edges if edge.reason.why == "player"}
    assert evidence == {-30: "player_events", 43: "http_requests", 72: "player_events"}


def test_a_stall_is_explained_from_its_begin_on(tmp_path: Path) -> None:
    """The second segment was asked for 20 ms before; the timer that sends it again runs for 39 ms, of which 30 are of
    the stall. Nothing came that could have ended the second stall."""
    accounts = accounts_of(dash(tmp_path))
    assert sums(accounts["stall 1"]) == {"probe_timer": 30, "last_flight": 10, "player": 8}
    assert {edge.object for edge in accounts["stall 1"]} == {"2-00002.m4s"}
    assert sums(accounts["stall 2"]) == {"unexplained": 20}


def test_accounts_add_up_to_the_metrics(tmp_path: Path) -> None:
    """To the nanosecond, without a gap within each."""
    evidence = dash(tmp_path)
    accounts = accounts_of(evidence)
    assert not any(gap for edges in accounts.values() for gap in gaps(edges))
    metrics = {row.name: row.value for row in metrics_of(evidence, "t1")}
    totals = account_totals(account_table(evidence))
    assert totals.filter(of="start_up")["total_ns"].sum() == metrics["startup_ms"] * 1e6
    assert totals.filter(~MAIN)["total_ns"].sum() == metrics["stall_ms"] * 1e6


def test_what_a_player_goes_on_with_is_what_it_waited_for(tmp_path: Path) -> None:
    """A player that has only the first segment when it goes on did not wait for the second, but for itself."""
    events = [(ms, name, place, 0 if ms == 165 else ahead) for ms, name, place, ahead in EVENTS]
    accounts = accounts_of(dash(tmp_path, player_events=event_rows(*events)))
    assert sums(accounts["stall 1"]) == {"player": 48}


def test_a_stall_that_the_trial_cut_off_goes_back_from_what_came_next(tmp_path: Path) -> None:
    """The trial is over at 140, while the second segment is sent again at 150: the account ends with the trial."""
    accounts = accounts_of(dash(tmp_path, player_stalls=stall_rows((120, 140, False))))
    assert sums(accounts["stall 1"]) == {"probe_timer": 20}


def test_a_stall_can_begin_while_what_it_waits_for_is_held_back_by_jitter(tmp_path: Path) -> None:
    """What was sent behind it has left the link before the stall begins at 162; the segment comes at 168."""
    events = [*EVENTS[:4], (162, "waiting", 2000, 0), (173, "canplay", 2000, 2000), (176, "playing", 2000, 2000)]
    rows = {"player_events": event_rows(*events), "player_stalls": stall_rows((162, 176, True))}
    accounts = accounts_of(dash(tmp_path, jitter_ms=8, **rows))
    assert sums(accounts["stall 1"]) == {"last_flight": 6, "player": 8}


def test_stalls_of_the_decoder_have_no_account(tmp_path: Path) -> None:
    """The data was there."""
    assert list(accounts_of(dash(tmp_path, player_stalls=stall_rows((120, 140, True), cause="decoder")))) == [
        "start_up"
    ]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"player_events": []}, "the player left no log"),
        ({"player_events": event_rows((0, "requested", 0, 0), (9, "over", 0, 0))}, "the video did not start"),
        ({"http_requests": []}, "neither capture nor log of the client shows a request"),
        ({"segment": "1-00003.m4s"}, "no segment shows that was there"),
    ],
)
def test_what_has_no_account(more: dict[str, object], told: str, tmp_path: Path) -> None:
    """Its reason is told, and the tables have no rows."""
    evidence = dash(tmp_path, **more)
    with pytest.raises(Unknown, match=told):
        accounts_of(evidence)
    assert account_table(evidence).is_empty()


def test_a_video_has_no_account_of_a_transfer(tmp_path: Path) -> None:
    """Nobody waits for its last byte."""
    with pytest.raises(Unknown, match="a video has accounts of its start-up and of its stalls"):
        account_of_transfer(dash(tmp_path))


def test_stalls_are_laid_out_on_one_axis(tmp_path: Path) -> None:
    """Between them the video plays, which is of no stall; a start-up is as it is."""
    table = account_table(dash(tmp_path))
    rows = laid_out(table, "stall_ms")
    assert rows["from_ns"][1:].to_list() == rows["until_ns"][:-1].to_list()
    between = rows.filter(why="playing")
    assert between.select("from_ns", "until_ns").rows() == [(ns(168), ns(300))]
    assert laid_out(table, "startup_ms").equals(table.filter(of="start_up"))


def test_a_request_while_another_is_answered_follows_what_had_come(tmp_path: Path) -> None:
    """The segment is asked for at 40, before the manifest is there: nothing had come, so that its account goes back
    over its own wait to the set-up."""
    rows = [*fetch_rows("manifest.mpd", 0, 22, 33, 33), *fetch_rows("1-00001.m4s", 4, 40, 61, 62)]
    edges = accounts_of(dash(tmp_path, http_requests=rows, player_stalls=[]))["start_up"]
    assert {edge.object for edge in edges} == {None, "1-00001.m4s"}
    assert sum(sums(edges).values()) == 112


def _first_is_anothers(evidence: Evidence, *, ready: bool = False) -> Evidence:
    """The first packet of the client is of another port; `ready` makes it carry application data."""
    first = pl.col("time_ns") == evidence.zero_ns
    packets = evidence.table("ip_packets").with_columns(
        pl.when(first).then(50_000).otherwise("src_port").cast(pl.UInt16).alias("src_port"),
        pl.when(first).then(pl.lit(ready)).otherwise("tls_application_data").alias("tls_application_data"),
    )
    return Evidence({**evidence.tables, "ip_packets": packets}, evidence.trial)


def test_a_second_connection_waits_for_the_first(tmp_path: Path) -> None:
    """The SYN at 0 is lost; that of 250 opens another connection, over which all goes on."""
    evidence = one_file(tmp_path, Tcp(syn_at=(0, 250), syn_ack_at=(260,)), video={"decode": False})
    again, another = (accounts_of(each)["start_up"] for each in (evidence, _first_is_anothers(evidence)))
    assert sums(again) == sums(another)
    assert sums(another)["set_up_loss"] == 250
    assert sums(another)["player"] == 5 + 2


def test_a_connection_beside_one_that_is_ready_is_the_browsers_choice(tmp_path: Path) -> None:
    """Nothing was lost."""
    evidence = one_file(tmp_path, Tcp(syn_at=(0, 250), syn_ack_at=(260,)), video={"decode": False})
    found = sums(accounts_of(_first_is_anothers(evidence, ready=True))["start_up"])
    assert "set_up_loss" not in found
    assert found["player"] == 5 + 250 + 2


def test_requests_over_two_connections_are_refused(tmp_path: Path) -> None:
    """No record tells which of them the player waited for."""
    other, *_ = fetch_rows("video.mp4", 3, 60, 70, 80)
    evidence = one_file(tmp_path, Tcp(syn_at=(0, 250), syn_ack_at=(260,)), video={"decode": False})
    rows = evidence.table("http_requests")
    more = pl.DataFrame([{name: other.get(name) for name in rows.columns}], schema=rows.schema)
    more = more.with_columns(pl.lit("10.77.0.1:50000-10.77.0.2:443").alias("connection"))
    both = Evidence({**evidence.tables, "http_requests": pl.concat([rows, more])}, evidence.trial)
    with pytest.raises(Unknown, match="the player's requests went over 2 connections"):
        accounts_of(_first_is_anothers(both))
