# SPDX-License-Identifier: Apache-2.0
"""Exported qlogs: as the drafts ask, and the same rows when they are decoded again."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from exported import QLOGS, STACKS, THREE_QLOGS, decode_to, rows, unpack
from polars.testing import assert_frame_equal
from qlog_schema import Drafts, records

from quiclab.logs.exports import Choice, Written, open_tables
from quiclab.logs.exports.qlog import Qlog
from quiclab.model.errors import DecodeError, SpecError

ROUND_TRIP = {
    "packets": ("event", "packet_type", "packet_number", "length_bytes"),
    "frames": (
        *("event", "packet_type", "packet_number", "frame_type", "stream_id", "offset", "length_bytes", "fin"),
        *("value", "detail"),
    ),
    "blocked": ("scope", "stream_id", "old_state", "new_state", "reason", "limit", "ready_bytes", "inferred"),
    "acks": ("event", "packet_type", "packet_number", "kind", "first", "last", "ack_delay_us"),
    "transport_metrics": ("cwnd_bytes", "bytes_in_flight", "smoothed_rtt_ms", "min_rtt_ms", "latest_rtt_ms"),
}
"""What must survive, with vantage, connection and time."""

SOURCES = [pytest.param(path, id=path.name) for path in QLOGS] + [*STACKS, "netlog"]


@pytest.fixture(scope="module")
def drafts() -> Drafts:
    """The schemas of the drafts."""
    return Drafts()


@pytest.fixture(scope="module", params=SOURCES)
def tables(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of a real log, which no test changes: qlogs of older versions, decrypted captures, a NetLog."""
    logs = tmp_path_factory.mktemp("logs")
    log = request.param if isinstance(request.param, Path) else unpack(request.param, logs)
    return decode_to(tmp_path_factory.mktemp("tables"), log)


def export(tables: Path, out: Path, choice: Choice = Choice()) -> Written:  # noqa: B008
    """Everything chosen, into a new folder."""
    out.mkdir()
    return Qlog().write(open_tables(tables), choice, out)


def test_what_is_written_is_what_the_drafts_ask(tables: Path, tmp_path: Path, drafts: Drafts) -> None:
    """Every record of every file fits the schema of its event and of its frames, and none is missing."""
    written = export(tables, tmp_path / "out")
    assert written.files
    for path, events in written.files.items():
        assert drafts.check(path) == events > 20


@pytest.mark.parametrize("old", [False, True])
def test_no_time_is_negative(tables: Path, tmp_path: Path, old: bool) -> None:
    """Every trace begins at 0 or later, also with no packet first, and one begins at 0."""
    (out := tmp_path / "out").mkdir()
    written = Qlog(old=old).write(open_tables(tables), Choice(), out)
    first = [min(event["time"] for event in list(records(path))[1:]) for path in written.files]
    assert min(first) >= 0
    if not old:  # qlog 0.3 has no events for all that is written
        assert min(first) == 0


def test_decoded_again_it_gives_the_same_rows(tables: Path, tmp_path: Path) -> None:
    """Packets, frames, acknowledged ranges and metrics survive, in their order, at times that moved together."""
    written = export(tables, tmp_path / "out")
    again = tmp_path / "again"
    again.mkdir()
    decode_to(again, *written.files)
    assert not rows(again, "decode_stats").filter(pl.col("severity") == "data_loss").height
    for name, columns in ROUND_TRIP.items():
        before, after = (_comparable(rows(folder, name), columns) for folder in (tables, again))
        assert before.height == after.height, name
        assert_frame_equal(before, after, abs_tol=1e-6)


def test_as_03_it_gives_the_same_rows(tables: Path, tmp_path: Path) -> None:
    """qlog 0.3 holds the same packets, frames, ranges and metrics, under the names that it has for them."""
    (out := tmp_path / "out").mkdir()
    written = Qlog(old=True).write(open_tables(tables), Choice(), out)
    for path in written.files:
        header, *events = records(path)
        assert (header["qlog_version"], header["qlog_format"]) == ("0.3", "JSON-SEQ")
        categories = {event["name"].partition(":")[0] for event in events}
        assert categories <= {"connectivity", "transport", "recovery", "http"}
    again = tmp_path / "again"
    again.mkdir()
    decode_to(again, *written.files)
    assert not rows(again, "blocked").height
    for name, columns in ROUND_TRIP.items():
        if name == "blocked":
            continue  # 0.3 has no event for it
        before, after = (_comparable(rows(folder, name), columns) for folder in (tables, again))
        if "event" in columns and name != "packets":
            # It has one name for frames that no packet is told of, whichever way they went.
            before, after = (each.filter(pl.col("packet_number").is_not_null()) for each in (before, after))
        assert before.height == after.height, name
        assert_frame_equal(before, after, abs_tol=1e-6)


SCOPES = ("connection", "stream", "datagram")
REASONS = (
    *("scheduling", "pacing", "amplification_protection", "congestion_control", "connection_flow_control"),
    *("stream_flow_control", "stream_id", "application", "a word of its own", None),
)


def test_why_a_sender_did_not_send_survives(tmp_path: Path, drafts: Drafts) -> None:
    """Every reason in every scope, with its limit: written as the drafts have it, and decoded to the same rows."""
    log = tmp_path / "server.sqlog"
    records: list[dict[str, Any]] = [
        {"file_schema": "urn:ietf:params:qlog:file:sequential", "serialization_format": "application/qlog+json-seq",
         "trace": {"vantage_point": {"type": "server"}, "common_fields": {"group_id": "0a0b"}}},
        {"time": 0, "name": "quic:packet_sent", "data": {"header": {"packet_type": "1RTT", "packet_number": 1}}},
    ]  # fmt: skip
    for number, (scope, reason) in enumerate((scope, reason) for scope in SCOPES for reason in REASONS):
        data = {"new": ("blocked", "unblocked")[number % 2], "stream_id": 4, "limit": number, "reason": reason}
        if number % 3:
            data |= {"old": "blocked", "ready_bytes": 2**40 + number, "inferred": number % 3 == 1}
        if scope != "stream":
            del data["stream_id"]
        records.append({"time": number, "name": f"quic:{scope}_data_blocked_updated", "data": data})
    log.write_text("".join(f"\x1e{json.dumps(each)}\n" for each in records))
    (tables := tmp_path / "tables").mkdir()
    (again := tmp_path / "again").mkdir()
    decode_to(tables, log)
    (path,) = (written := export(tables, tmp_path / "out")).files
    assert drafts.check(path) == len(SCOPES) * len(REASONS) + 1
    assert not written.left_out
    decode_to(again, path)
    before, after = (_comparable(rows(folder, "blocked"), ROUND_TRIP["blocked"]) for folder in (tables, again))
    assert before["reason"].n_unique() == len(REASONS)
    assert_frame_equal(before, after)


def _comparable(table: pl.DataFrame, columns: tuple[str, ...]) -> pl.DataFrame:
    if "transport" in table.columns:
        table = table.filter(pl.col("transport") == "quic")
    if "packet_type" in columns:
        table = table.with_columns(pl.col("packet_type").fill_null("unknown"))
    if "fin" in columns:
        # Only STREAM frames have one; null means false.
        table = table.with_columns(pl.col("fin").fill_null(value=False))
    if "length_bytes" in columns:
        # The draft has no place for the length of a lost packet.
        table = table.with_columns(pl.when(pl.col("event") != "lost").then("length_bytes"))
    # Events of one instant may have changed places with those of other packets of it. Frames go with their packet:
    # a coarse log may have told of them a moment later.
    since = (pl.col("time_ns") - pl.col("time_ns").min()).over("connection", "vantage")
    when = {} if "frame_type" in columns or "first" in columns else {"since": since}
    key = [*(name for name in columns if name.startswith("packet_") or name == "event"), *when]
    return table.select("vantage", "connection", *columns, **when).sort(
        "connection", "vantage", *key, maintain_order=True, nulls_last=True
    )


def test_a_schema_that_is_not_met_is_noticed(tmp_path: Path, drafts: Drafts) -> None:
    """The check of the other tests can fail: on a wrong type, an unknown member, a missing one, a frame."""
    out = tmp_path / "tables"
    out.mkdir()
    (path,) = export(decode_to(out, THREE_QLOGS[0]), tmp_path / "out").files
    whole = path.read_text()
    for old, new in (
        ('"packet_number":0', '"packet_number":"0"'),
        ('"header":{', '"colour":1,"header":{'),
        ('"frame_type":"crypto","offset":0,', '"frame_type":"crypto",'),
        ('"event_schemas"', '"event_schema"'),
        ('"packet_type":"initial"', '"packet_type":"first"'),
    ):
        assert old in whole, old
        path.write_text(whole.replace(old, new, 1))
        with pytest.raises(AssertionError):
            drafts.check(path)


@pytest.mark.parametrize("name", STACKS)
def test_frames_of_a_capture_have_all_that_the_drafts_require(name: str, tmp_path: Path, drafts: Drafts) -> None:
    """Final sizes, connection ids, kinds of streams and the numbers of types without a name are on the wire."""
    (logs := tmp_path / "logs").mkdir()
    (tables := tmp_path / "tables").mkdir()
    decode_to(tables, unpack(name, logs))
    written = export(tables, tmp_path / "out")
    for path in written.files:
        assert drafts.check(path, whole=True)
    assert not [what for what in written.left_out if "frames" in what]


def test_the_choice_is_kept_to(tmp_path: Path) -> None:
    """Source, connection and vantage each narrow what is written; what is not there is told with what is."""
    (tables := tmp_path / "tables").mkdir()
    decode_to(tables, *THREE_QLOGS)
    everything = export(tables, tmp_path / "all")
    assert len(everything.files) == 3
    (server,) = export(tables, tmp_path / "server", Choice(vantage="server")).files
    (header, *_) = records(server)
    assert header["trace"]["vantage_point"] == {"name": "quic-go-server-100kb.sqlog.gz", "type": "server"}
    (own,) = export(tables, tmp_path / "source", Choice(source="aioquic-client-100kb.qlog.gz")).files
    assert own.name == "24098a0bc23e8e3a_client.sqlog"
    with pytest.raises(SpecError) as caught:
        export(tables, tmp_path / "none", Choice(connection="24098a0bc23e8e3b"))
    assert "24098a0bc23e8e3a" in caught.value.problems
    assert caught.value.hint == "did you mean 24098a0bc23e8e3a?"


def test_both_ends_count_from_one_instant(tmp_path: Path) -> None:
    """Two logs that share a clock are comparable: a packet is received after it was sent."""
    (tables := tmp_path / "tables").mkdir()
    (logs := tmp_path / "logs").mkdir()
    decode_to(tables, *(path for path in THREE_QLOGS if not path.name.startswith("aioquic")), unpack("quinn", logs))
    for path in export(tables, tmp_path / "out").files:
        (header, first, *_) = records(path)
        assert header["trace"]["common_fields"]["time_format"] == "relative_to_epoch"
        assert abs(first["time"]) < 1000, path


def test_tcp_alone_is_told_as_such(tmp_path: Path) -> None:
    """No QUIC connection in the tables: the error names what there is."""
    (logs := tmp_path / "logs").mkdir()
    (tables := tmp_path / "tables").mkdir()
    decode_to(tables, unpack("h2", logs))
    with pytest.raises(DecodeError, match=r"no QUIC connection to write, only TCP: 10\.77\.0\.1:\d+-10\.77\.0\.2:443"):
        export(tables, tmp_path / "out")


def test_losses_of_a_capture_are_marked_as_estimates(tmp_path: Path, drafts: Drafts) -> None:
    """What the sender did not say itself says so; its packets are there."""
    (logs := tmp_path / "logs").mkdir()
    (tables := tmp_path / "tables").mkdir()
    decode_to(tables, unpack("quic-go", logs))
    (path,) = export(tables, tmp_path / "out").files
    estimates = Counter(record["name"] for record in records(path) if record.get("estimate"))
    assert estimates["quic:recovery_metrics_updated"] > 0
    names = Counter(record.get("name") for record in records(path))
    assert names["http3:frame_created"] >= 2
    assert names["http3:frame_parsed"] >= 2
    assert names["quic:connection_started"] == 1
