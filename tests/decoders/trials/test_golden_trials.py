# SPDX-License-Identifier: Apache-2.0
"""Two real trials: logs to tables to metrics, against values that Wireshark gives for the same packets."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import polars as pl
import pytest
from trial_records import record

from quiclab.evidence.metrics import METRICS, compute_trial, cost, evidence_of
from quiclab.evidence.metrics.bytes_acknowledged import bytes_acknowledged
from quiclab.evidence.metrics.unacknowledged import unacknowledged
from quiclab.logs.decoders import decode_trial

HERE = Path(__file__).parent

EXPECTED = {
    "h2": {
        "setup_ms": 44.770575,  # the client's Finished
        "ttlb_ms": 326.827985,  # fills the last hole of the response
        "to_last_packet_ms": 326.827985,
        "retransmitted_bytes": 2315,
        "lost_packets_down": 2,
        "lost_packets_up": 0,
        "wire_bytes_down": 108_729,
    },
    "h3": {
        "setup_ms": 30.619381,  # 1-RTT packet 0, the first with STREAM frames
        "ttlb_ms": 162.709148,  # packet 102 carries what the queue dropped
        "to_last_packet_ms": 162.709148,
        "retransmitted_bytes": 1155,
        "lost_packets_down": 1,
        "lost_packets_up": 0,
        "wire_bytes_down": 110_403,
    },
}
OF_PROTOCOL = {
    "h2": {
        "HTTP/2 has no QPACK",
        "the client's capture does not tell: "
        "the capture lacks bytes of TLS connections, behind which nothing can be read",
    },
    "h3": {
        "QUIC has no TLS records",
        "over QUIC no stream waits for bytes of another",
        "the client's capture could not be decrypted",
    },
}
"""Reasons why a metric has no value that hold over one protocol: packets are cut here."""
COST = {metric.name for metric in cost.COST}
"""Which these trials were too early to tell."""


@pytest.fixture(params=EXPECTED)
def trial_dir(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A trial unpacked into a directory named after its protocol."""
    trial = tmp_path / str(request.param)
    with tarfile.open(HERE / f"{request.param}-100kb.tar.xz") as archive:
        # Python 3.11.2, Debian 12's own, has no filters yet; the archive is ours.
        archive.extractall(trial, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return trial


def test_metrics_agree_with_wireshark(trial_dir: Path) -> None:
    """All is known but what takes another workload; what was found independently agrees to the nanosecond."""
    decoded = decode_trial(trial_dir)
    rows = compute_trial(trial_dir, decoded.tables, record(json.loads((trial_dir / "trial.json").read_text())))
    values = {row.name: row.value for row in rows}
    assert list(values) == [metric.name for metric in METRICS]
    # A busy link's rate is not told by the few packets that went up; nobody had looked at the hosts' counters; a
    # kernel's TCP logs no states.
    others = {*COST, "path_rate_up_bit_per_s", "client_refused_packets", "server_refused_packets"}
    others |= {"application_limited_pct", "disturbance_ms", "disturbance_most_ms"}  # judged by an earlier version
    assert {row.note for row in rows if row.value is None and row.name not in others} == {
        "nobody else used the link",
        "the link left no account of itself",
        "the client's address stayed",
        "the client's capture shows no ClientHello",
        "the packets were not decrypted",
        "the trial fetched one object",
        "the trial loaded no page",
        "the trial played no video",
        "the trial uploads nothing",
        *OF_PROTOCOL[trial_dir.name],
    }, rows
    for name, expected in EXPECTED[trial_dir.name].items():
        assert values[name] == pytest.approx(expected, abs=1e-6), name


def test_the_client_sees_its_last_byte_just_after_it_arrives(trial_dir: Path) -> None:
    """The arrival that completes the response lies before the client program's own instant, within 1 ms."""
    trial = json.loads((trial_dir / "trial.json").read_text())
    tables = decode_trial(trial_dir).tables
    ttlb_ms = next(row.value for row in compute_trial(trial_dir, tables, record(trial)) if row.name == "ttlb_ms")
    zero_ns = tables["ip_packets"].filter(vantage="client", direction="up")["time_ns"].min()
    seen_ms = (trial["client"]["requests"][0]["last_byte_ns"] - zero_ns) / 1e6
    assert ttlb_ms is not None
    assert 0 < seen_ms - ttlb_ms < 1


def test_captures_and_packet_log_agree(trial_dir: Path) -> None:
    """Each packet of the log is in the captures once per end that saw it, with the same instants and size."""
    tables = decode_trial(trial_dir).tables
    for direction, sender, receiver in (("up", "client", "server"), ("down", "server", "client")):
        log = tables["link_packets"].filter(direction=direction)
        sent = tables["ip_packets"].filter(direction=direction, vantage=sender).sort("packet_index")
        assert sent["time_ns"].to_list() == log.sort("index")["arrival_ns"].to_list()
        assert sent["size_bytes"].to_list() == log.sort("index")["size_bytes"].to_list()
        assert sent["dropped"].is_null().to_list() == (log.sort("index")["action"] == "delivered").to_list()
        received = tables["ip_packets"].filter(direction=direction, vantage=receiver).sort("packet_index")
        delivered = log.filter(action="delivered").sort("index")
        late = (delivered["due_ns"] + delivered["lateness_ns"]).to_list()
        assert received["time_ns"].to_list() == late


def test_packets_leave_the_bottleneck_a_fixed_time_before_they_are_there(trial_dir: Path) -> None:
    """The path's delay is constant: what differs is the time on the edge, 12 us at most for a packet at 1 Gbit/s."""
    log = decode_trial(trial_dir).tables["link_packets"].filter(action="delivered")
    for direction in ("up", "down"):
        rest_ns = log.filter(direction=direction).select(pl.col("due_ns") - pl.col("left_ns")).to_series()
        assert rest_ns.null_count() == 0
        assert 0 <= rest_ns.max() - rest_ns.min() <= 12_500, direction  # type: ignore[operator]


def test_bytes_acknowledged_grow_to_the_whole_response(trial_dir: Path) -> None:
    """One row per ACK, never shrinking, up to everything that the server sent."""
    trial = json.loads((trial_dir / "trial.json").read_text())
    points = bytes_acknowledged(evidence_of(decode_trial(trial_dir).tables, record(trial)))
    # Wireshark: last cumulative acknowledgment 102,015, the SYN included; the HTTP/3 stream is 100,118 bytes long.
    assert (points.height, points["bytes"][-1]) == {"h2": (38, 102_014), "h3": (48, 100_118)}[trial_dir.name]
    assert points["x_ms"].is_sorted()
    assert points["bytes"].is_sorted()


def test_what_is_unacknowledged_is_what_every_byte_tells(trial_dir: Path) -> None:
    """Against a plain reading of the sender's packets and of the ACKs that it got, one mark a byte."""
    tables = decode_trial(trial_dir).tables
    found = unacknowledged(evidence_of(tables, record(json.loads((trial_dir / "trial.json").read_text()))))
    assert found["time_ns"].is_sorted()
    of_body = found.filter(pl.col("stream_id").is_null() | (pl.col("stream_id") == 0))
    plain = _plain_reading(tables, over_quic=trial_dir.name == "h3")
    last = of_body.group_by("time_ns", maintain_order=True).last()
    got = dict(last.select("time_ns", "unacknowledged_bytes").iter_rows())
    assert got == {time_ns: plain[time_ns] for time_ns in got}
    # At the end all of the body is acknowledged; over TCP the close_notify of 24 bytes is not.
    assert (of_body["offset_bytes"][-1], of_body["unacknowledged_bytes"][-1]) == {
        "h2": (102_038, 24), "h3": (100_118, 0)
    }[trial_dir.name]  # fmt: skip
    whole = found.group_by("time_ns", maintain_order=True).last()
    others = {"h2": 0, "h3": 10}[trial_dir.name]  # the server's control stream
    assert whole["connection_offset_bytes"][-1] == of_body["offset_bytes"][-1] + others
    assert (whole["connection_unacknowledged_bytes"] >= whole["unacknowledged_bytes"]).all()


def _plain_reading(tables: dict[str, pl.DataFrame], *, over_quic: bool) -> dict[int, int]:
    """Bytes of the body's stream that are sent and not acknowledged, after each instant."""
    own = pl.col("source") == "raw/server.pcapng" if not over_quic else pl.col("source").str.starts_with("raw/server-")
    sent, acks = tables["packets"].filter(own, event="sent"), tables["acks"].filter(own, event="received")
    steps: list[tuple[int, int, str]] = []
    if over_quic:
        captured = "captured_ns"
        of_body = tables["frames"].filter(own, event="sent", frame_type="stream", stream_id=0)
        frames = of_body.select("packet_number", "offset", "length_bytes").rows()
        when = dict(sent.filter(packet_type="1RTT").select("packet_number", captured).iter_rows())
        came = tables["packets"].filter(own, event="received", packet_type="1RTT")
        arrived = dict(came.select("packet_number", captured).iter_rows())
        steps += [(when[number], number, "sent") for number, _, _ in frames]
        for number, first, last in acks.filter(packet_type="1RTT").select("packet_number", "first", "last").rows():
            steps += [(arrived[number], each, "acknowledged") for each in range(first, last + 1)]
    else:
        frames = [
            (number, number - 1, length)
            for number, length in sent.filter(pl.col("length_bytes") > 0).select("packet_number", "length_bytes").rows()
        ]
        sizes = sent.filter(pl.col("length_bytes") > 0).select("time_ns", "packet_number")
        steps += [(time_ns, number, "sent") for time_ns, number in sizes.rows()]
        for time_ns, first, last in acks.select("time_ns", "first", "last").rows():
            steps += [(time_ns, number, "acknowledged") for number, _, _ in frames if first <= number <= last]
    carried: dict[int, set[int]] = {}
    for number, offset, length in frames:
        carried.setdefault(number, set()).update(range(offset, offset + length))
    marks: dict[str, set[int]] = {"sent": set(), "acknowledged": set()}
    after = {}
    for time_ns, number, kind in sorted(steps, key=lambda step: (step[0], step[2] != "sent")):
        marks[kind] |= carried.get(number, set())
        after[time_ns] = len(marks["sent"] - marks["acknowledged"])
    return after


def test_tables_survive_parquet(trial_dir: Path, tmp_path: Path) -> None:
    """What is written is what is read."""
    for name, frame in decode_trial(trial_dir).tables.items():
        frame.write_parquet(tmp_path / name)
        assert pl.read_parquet(tmp_path / name).equals(frame)
