# SPDX-License-Identifier: Apache-2.0
"""ss, Mahimahi, TCP_INFO, and what a trial says of itself: made logs with known rows, and damaged ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from quiclab.logs.decoders import DECODERS, Context, FileTables, decoder_of
from quiclab.model.errors import DecodeError

SS = Path(__file__).parent / "ss-tinm-loopback.txt"


def decoded(path: Path, expected: str, context: Context | None = None) -> FileTables:
    """The file, by the decoder that must recognise it."""
    decoder = decoder_of(path)
    assert decoder is not None
    assert decoder.format == expected
    return decoder.decode(path, context or Context())


def test_ss_as_it_prints() -> None:
    """Three real samples of both ends of a connection: windows in segments of mss, times in ms, rates in bit/s."""
    file = decoded(SS, "ss", Context("server"))
    rows = file.tables["transport_metrics"].filter(pl.col("connection") == "127.0.0.1:51190-127.0.0.1:4433")
    assert (file.clock, file.findings) == ("realtime", ())
    assert rows["time_ns"].to_list() == [1795321895383209220, 1795321895480410169, 1795321895540318789]
    row = rows.row(0, named=True)
    assert (row["cwnd_bytes"], row["bytes_in_flight"]) == (11 * 47616, 2 * 47616)
    assert (row["smoothed_rtt_ms"], row["rtt_variance_ms"], row["min_rtt_ms"]) == (0.014, 0.006, 0.014)
    assert row["bandwidth_bit_per_s"] == 22_407_528_072


def test_ss_units_and_times(tmp_path: Path) -> None:
    """Rates with a unit, one line a socket, ISO 8601, IPv6, and the study's clock where its offset is known."""
    line = (
        "ESTAB 0 0 [fd77::2]:443 [fd77::1]:5000 cubic rtt:20.5/3 mss:1400 cwnd:10 ssthresh:7 sacked:1 lost:2 unacked:9"
    )
    text = f"2026-01-01T00:00:00,000000005+00:00\n{line} retrans:1/4 pacing_rate 12.5Mbps/20Mbps minrtt:20\nnonsense\n"
    path = tmp_path / "ss.txt"
    path.write_text(text)
    offset = 1_767_225_600 * 10**9
    file = decoded(path, "ss", Context("server", offset))
    (row,) = file.tables["transport_metrics"].rows(named=True)
    assert (file.clock, row["time_ns"], row["connection"]) == ("monotonic", 5, "[fd77::1]:5000-[fd77::2]:443")
    assert (row["ssthresh_bytes"], row["bytes_in_flight"]) == (9800, 7 * 1400)
    assert row["pacing_rate_bit_per_s"] == 12.5e6
    assert [finding.name for finding in file.findings] == ["malformed_line"]


def test_mahimahi_log(tmp_path: Path) -> None:
    """Arrivals, opportunities, departures with their delay, drops; the clock is that of the first line with one."""
    path = tmp_path / "down.log.gz"
    head = "# mahimahi mm-link (downlink) [12mbps] > down.log\n# init timestamp: 1700000000000\n# base timestamp: 0\n"
    path.write_bytes(gzip.compress(f"{head}5 + 1504\n6 # 1504\n7 - 1504 2\n9 d 2 3008\n9 ? 1\n".encode()))
    file = decoded(path, "mahimahi_log")
    rows = file.tables["link_events"].drop("time_ns").rows()
    assert rows == [
        ("down", "arrival", 1, 1504, None),
        ("down", "opportunity", None, 1504, None),
        ("down", "departure", 1, 1504, 2_000_000),
        ("down", "drop", 2, 3008, None),
    ]
    assert file.tables["link_events"]["time_ns"][0] == 1_700_000_000_005 * 10**6
    assert (file.clock, [finding.name for finding in file.findings]) == ("realtime", ["malformed_line"])


def test_mahimahi_trace(tmp_path: Path) -> None:
    """A line is an opportunity for one packet; times that run backwards are told."""
    path = tmp_path / "trace"
    path.write_text("0\n5\n5\n" + "".join(f"{time}\n" for time in range(6, 2000)) + "7\n")
    file = decoded(path, "mahimahi_trace")
    assert file.tables["link_events"]["time_ns"].to_list()[:3] == [0, 5_000_000, 5_000_000]
    assert [(finding.name, finding.count) for finding in file.findings] == [("backwards", 1)]


def test_trial_document(tmp_path: Path) -> None:
    """One row of facts, two of sums a program; a value that fits no column is counted."""
    cost = {"life": {"cpu_ns": 9, "user_ns": 5}, "transfer": {"cpu_ns": 4}, "most_threads": 3}
    trial = {
        "trial_id": "a",
        "attempt": 2,
        "row": {"arm": "quic", "cell_id": "c", "seed": 2**64 - 1},
        "status": "failed",
        "reason": "why",
        "server_port": -1,
        "client": {"requests": [{"body_bytes": 7}, {"body_bytes": None}]},
        "host": {"cost": {"client": cost}},
    }
    path = tmp_path / "trial.json"
    path.write_text(json.dumps(trial))
    file = decoded(path, "trial")
    (row,) = file.tables["trials"].rows(named=True)
    assert (row["trial_id"], row["attempt"], row["arm"], row["seed"]) == ("a", 2, "quic", 2**64 - 1)
    assert (row["status"], row["reason"], row["requests"], row["body_bytes"]) == ("failed", "why", 2, 7)
    assert [(finding.name, finding.count) for finding in file.findings] == [("impossible_value", 1)]
    usage = file.tables["process_usage"].select("role", "scope", "cpu_ns", "threads").rows()
    assert usage == [("client", "transfer", 4, None), ("client", "life", 9, 3)]


def test_process_cost(tmp_path: Path) -> None:
    """One row a line; what was cut short or is no number is counted."""
    line = {"at_ns": 5, "role": "server", "processes": 1, "threads": 2, "cpu_ns": 3, "resident_bytes": 4}
    path = tmp_path / "process-cost.jsonl"
    path.write_text(
        "\n".join([json.dumps(line), json.dumps(line | {"cpu_ns": "x"}), "[" * 100_000, json.dumps(line)[:30]])
    )
    file = decoded(path, "process_cost")
    assert file.tables["process_usage"].select("time_ns", "role", "scope", "cpu_ns", "threads").rows() == [
        (5, "server", "sample", 3, 2)
    ]
    assert [(finding.name, finding.count) for finding in file.findings] == [("malformed_line", 3)]


def test_waits_for_a_processor(tmp_path: Path) -> None:
    """One row a look; what was cut short or is no number is counted, a file without its header refused."""
    head = {"run_delay": 1, "interval_ns": 20_000_000}
    line = {"at_ns": 90, "role": "server", "since_ns": 70, "ran_ns": 6, "waited_ns": 15}
    line |= {"longest_ns": 9, "held_ns": 4, "longest_held_ns": 7, "threads": 2}
    path = tmp_path / "run-delay.jsonl"
    bad = [line | {"waited_ns": -1}, line | {"threads": 2**32}, {"at_ns": 5}, [1], line | {"ran_ns": "6"}]
    path.write_text("".join(json.dumps(each) + "\n" for each in (head, line, *bad)) + json.dumps(line)[:30])
    file = decoded(path, "run_delay")
    assert file.tables["run_delays"].rows() == [(90, 70, "server", 6, 15, 9, 4, 7, 2)]
    assert [(finding.name, finding.count) for finding in file.findings] == [("malformed_line", 6)]
    earlier = {key: value for key, value in line.items() if key not in ("ran_ns", "held_ns", "longest_held_ns")}
    path.write_text("".join(json.dumps(each) + "\n" for each in (head, earlier)))
    assert decoded(path, "run_delay").tables["run_delays"].rows() == [(90, 70, "server", None, 15, 9, None, None, 2)]
    path.write_text(json.dumps(line))
    assert decoder_of(path) is None


def test_drops_at_a_socket(tmp_path: Path) -> None:
    """One row for each socket and look, of the end that the file's name tells; a file without drops has none."""
    head = {"udp_drops": 1, "interval_ns": 20_000_000}
    line = {"at_ns": 90, "since_ns": 70, "port": 443, "inode": 12345, "drops": 15}
    path = tmp_path / "client-udp-drops.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in (head, line, line | {"port": 65_536})))
    file = decoder_of(path).decode(path, Context(vantage="client"))  # type: ignore[union-attr]
    assert file.tables["udp_drops"].rows() == [("client", 90, 70, 443, 12345, 15)]
    assert [(finding.name, finding.count) for finding in file.findings] == [("malformed_line", 1)]
    path.write_text(json.dumps(head))
    assert not decoded(path, "udp_drops").tables


@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 600, b"[" * 5000, b"{" * 5000, b"\x1f\x8b\x08\x00cut", b"9" * 5000, b"\xff\xfe" * 400]
)
def test_files_of_no_format_are_refused(content: bytes, tmp_path: Path) -> None:
    """Nobody claims them; whoever is asked all the same says so, or finds no rows, and does not fail otherwise."""
    path = tmp_path / "odd"
    path.write_bytes(content)
    assert not any(decoder.sniff(content) for decoder in DECODERS)
    for decoder in DECODERS:
        try:
            file = decoder.decode(path, Context())
        except DecodeError:
            continue
        assert not file.tables
