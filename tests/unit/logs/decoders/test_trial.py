# SPDX-License-Identifier: Apache-2.0
"""All logs of a trial together."""

from __future__ import annotations

from pathlib import Path

from decoders import writers

from quiclab.logs.decoders import decode_trial
from quiclab.logs.decoders.log_files import end_of, find
from quiclab.store.packed_captures import pack_captures, packed_against
from quiclab.store.packed_logs import packed


def lay_out(trial: Path, files: dict[str, bytes]) -> None:
    """Write a trial's artefacts."""
    for name, data in files.items():
        path = trial / "raw" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def test_both_ends_and_both_logs_become_one_set_of_tables(tmp_path: Path) -> None:
    """Rows of both captures and both qlogs stand in one table each, told apart by end and vantage."""
    client, server = writers.Capture("client"), writers.Capture("server")
    client.add("up", 100, writers.udp("up", 30))
    server.add("up", 200, writers.udp("up", 30))
    lay_out(
        tmp_path,
        {
            "link.qplog": writers.packet_log([writers.record("up", 0, 100, 200)]),
            "client.pcapng": client.bytes(),
            "server.pcapng": server.bytes(),
            "client-qlog/a.sqlog": writers.Qlog("client").bytes(),
            "client.json": b"{}",
        },
    )
    decoded = decode_trial(tmp_path)
    packets = (
        decoded.tables["ip_packets"].select("vantage", "direction", "time_ns", "packet_index", "payload_bytes").rows()
    )
    assert packets == [("client", "up", 100, 0, 30), ("server", "up", 200, 0, 30)]
    assert decoded.tables["link_packets"].select("direction", "index", "arrival_ns", "due_ns").rows() == [
        ("up", 0, 100, 200)
    ]
    assert decoded.stats.select("source", "name").rows() == [
        ("raw/client-qlog/a.sqlog", "empty_trace"),
        ("raw/client-qlog/a.sqlog", "no_epoch"),
    ]


def test_a_damaged_file_is_counted_and_the_rest_decoded(tmp_path: Path) -> None:
    """An unreadable log is a row of decode_stats, not an exception."""
    lay_out(tmp_path, {"link.qplog": b"QLPKTLOG\2", "client.pcapng": writers.Capture("client").bytes()})
    decoded = decode_trial(tmp_path)
    assert decoded.stats.select("source", "name", "severity").rows() == [("raw/link.qplog", "unreadable", "error")]
    assert decoded.tables["link_packets"].height == 0


def test_a_capture_that_continues_another_is_decoded_by_its_own_name(tmp_path: Path) -> None:
    """Where the other one was changed, it is unreadable, and the rest is decoded."""
    captures = {}
    for end in ("client", "server"):
        capture = writers.Capture(end)
        for number in range(30):
            capture.add("up", 100 * number, writers.udp("up", 1000 + number))
        captures[f"{end}.pcapng"] = capture.bytes()
    lay_out(tmp_path, captures)
    before = decode_trial(tmp_path)
    pack_captures(tmp_path / "raw")
    assert not (tmp_path / "raw" / "server.pcapng").exists()
    after = decode_trial(tmp_path)
    assert all(table.equals(after.tables[name]) for name, table in before.tables.items())
    plain = {name: (tmp_path / "raw" / name).with_name(name) for name in captures}
    plain["server.pcapng"].write_bytes(captures["server.pcapng"])
    assert decode_trial(tmp_path).tables["ip_packets"].equals(before.tables["ip_packets"])
    plain["server.pcapng"].unlink()
    plain["client.pcapng"].write_bytes(writers.Capture("client").bytes())
    changed = decode_trial(tmp_path)
    assert changed.stats.select("source", "name", "severity").rows() == [("raw/server.pcapng", "unreadable", "error")]
    (tmp_path / "raw" / "client.pcapng").unlink()
    (advice,) = decode_trial(tmp_path).stats.filter(name="unreadable")["advice"]
    assert advice == "client.pcapng, which it continues, is not beside it"


def test_plain_copies_of_compressed_logs_are_not_decoded_again(tmp_path: Path) -> None:
    """As `gunzip --keep` leaves them; a log of another content stays one of its own."""
    log = writers.Qlog("client").bytes()
    lay_out(tmp_path, {"client-qlog/a.sqlog": log, "client-qlog/a.sqlog.gz": packed(log)})
    assert decode_trial(tmp_path).tables["sources"]["source"].to_list() == ["raw/client-qlog/a.sqlog"]
    files = sorted((tmp_path / "raw" / "client-qlog").iterdir())
    assert [log.name for log in find((file, file.name) for file in files).logs] == ["a.sqlog.gz"]
    lay_out(tmp_path, {"client-qlog/a.sqlog": log + b"\n"})
    assert len(decode_trial(tmp_path).tables["sources"]) == 2


def test_what_is_packed_in_the_place_of_a_capture_must_be_one(tmp_path: Path) -> None:
    """Somebody else's file of that name is told, and not left out."""
    capture = writers.Capture("client").bytes()
    lay_out(tmp_path, {"client.pcapng": capture, "server.pcapng.zst": packed_against(capture, b"hello")})
    (advice,) = decode_trial(tmp_path).stats.filter(name="unreadable")["advice"]
    assert advice == "what is packed in it is no capture"


def test_a_trial_without_logs_gives_empty_tables(tmp_path: Path) -> None:
    """Every table exists even if no log does."""
    decoded = decode_trial(tmp_path)
    assert all(frame.height == 0 and frame.width > 0 for frame in decoded.tables.values())


def test_the_end_is_read_from_the_path() -> None:
    """A folder or a file name that starts with client or server says whose log it is."""
    assert [end_of(Path(path)) for path in ("client.pcapng", "server-qlog/client.sqlog", "x.pcapng")] == [
        "client",
        "server",
        None,
    ]
