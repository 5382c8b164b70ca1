# SPDX-License-Identifier: Apache-2.0
"""Why time passes, of kinds of transfers with real packets: what was arranged is what the account names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from stack_study import need, run_arms
from trial_records import record

from quiclab.evidence.metrics import Evidence, evidence_of
from quiclab.lab.endpoints._stacks import find_program
from quiclab.model.tables import TABLES
from quiclab.why.account import account_of_transfer

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_QUIC_GO = 'protocol = "{}"\nclient = "quic-go"\nserver = {{ name = "quic-go"{} }}'
_CADDY = 'protocol = "{}"\nclient = "curl-cffi"\nserver = "caddy"'


def _evidence(folder: Path, trial: dict[str, Any]) -> Evidence:
    assert trial["status"] == "verified", trial["reason"]
    files = {name: folder / "study" / "tables" / name / f"{trial['trial_id']}.parquet" for name in TABLES}
    return evidence_of({name: pl.read_parquet(file) for name, file in files.items() if file.is_file()}, record(trial))


def _account(folder: Path, trial: dict[str, Any]) -> pl.DataFrame:
    """The rows of the table, which hold together: no gap, and the sum is the metric."""
    table = _evidence(folder, trial).table("account")
    assert table.height, trial["row"]["arm"]
    assert table["from_ns"][1:].to_list() == table["until_ns"][:-1].to_list()
    metrics = pl.read_parquet(folder / "study" / "tables" / "metrics" / f"{trial['trial_id']}.parquet")
    values = dict(metrics.select("name", "value").iter_rows())
    assert sum(_ms(table).values()) == pytest.approx(values["ttlb_ms"], abs=1e-6)
    if values.get("upload_ms"):
        assert sum(_ms(table.filter(pl.col("why") != "answer")).values()) == pytest.approx(
            values["upload_ms"], abs=1e-6
        )
    return table


def _ms(account: pl.DataFrame, label: str = "why") -> dict[str, float]:
    sums = account.group_by(label).agg((pl.col("until_ns") - pl.col("from_ns")).sum() / 1e6)
    return dict(sums.iter_rows())


def test_uploads_wait_for_the_clients_window_and_the_servers_credit(tmp_path: Path) -> None:
    """Of 300 KB over 40 ms: without a limit for the windows; with 64 KiB of credit for that, over both protocols."""
    need(("client", "quic-go"), ("server", "quic-go"))
    arms = {protocol: _QUIC_GO.format(protocol, "") for protocol in ("h2", "h3")}
    arms |= {
        f"{protocol}-{scope}": _QUIC_GO.format(protocol, f', {scope}_window = "64 KiB"')
        for protocol in ("h2", "h3")
        for scope in ("stream", "connection")
    }
    found = run_arms(tmp_path, arms, None, workload='size = "300 KB"\ndirection = "upload"', delay="20 ms")
    for arm, trial in found.items():
        account = _account(tmp_path, trial)
        why, what = _ms(account), _ms(account, "what")
        assert why["answer"] >= 20
        assert why["last_flight"] == pytest.approx(20, abs=1)
        assert what["payload"] == pytest.approx(300_000 * 8 / 50e3, rel=0.05)
        assert "unexplained" not in why
        credit = {name: why.get(f"{name}_credit", 0) for name in ("stream", "connection")}
        if "-" in arm:
            scope = arm.split("-")[1]
            assert credit[scope] > 40, (arm, why)
        else:
            assert sum(credit.values()) == 0, (arm, why)


@pytest.mark.nightly
def test_a_limit_on_streams_and_a_client_that_asks_for_few(tmp_path: Path) -> None:
    """Six objects, 40 ms. With a limit of one stream the server must know that an object has come before it gives the
    next (a round trip), and the client's request needs another; the client's own limit costs one round trip."""
    need(("client", "quic-go"), ("server", "quic-go"))
    arms = {name: _QUIC_GO.format("h3", f", max_streams = {limit}") for name, limit in (("one", 1), ("many", 100))}
    found = run_arms(tmp_path, arms, "10 KB", workload="count = 6", delay="20 ms")
    why = {arm: _ms(_account(tmp_path, trial)) for arm, trial in found.items()}
    assert why["one"]["stream_limit"] > 5 * 80 * 0.9
    assert not {"stream_limit", "later_request"} & set(why["many"])
    what = _ms(_account(tmp_path, found["one"]), "what")
    assert what["other_object"] == pytest.approx(5 * what["payload"], rel=0.1)
    (tmp_path / "few").mkdir()
    arms = {protocol: _QUIC_GO.format(protocol, "") for protocol in ("h2", "h3")}
    found = run_arms(tmp_path / "few", arms, "10 KB", workload="count = 6\nconcurrency = 2", delay="20 ms")
    for arm, trial in found.items():
        of_arm = _ms(_account(tmp_path / "few", trial))
        assert of_arm["later_request"] > 2 * 40 * 0.9, (arm, of_arm)
        assert "stream_limit" not in of_arm


@pytest.mark.parametrize(
    ("lost", "least_ms"),
    [
        ("[path.up]\nloss = [0]", {"h2": 900, "h3": 900}),  # SYN, ClientHello: a timer of a second in both
        pytest.param(
            "[path.down]\nloss = [0]", {"h2": 900, "h3": 150}, marks=pytest.mark.matrix
        ),  # SYN-ACK, ServerHello
        pytest.param("[path.down]\nloss = [2]", {"h2": 190}, marks=pytest.mark.matrix),  # ServerHello over TCP
    ],
    ids=["up 0", "down 0", "down 2"],
)
def test_a_set_up_that_loses_a_packet(tmp_path: Path, lost: str, least_ms: dict[str, float]) -> None:
    """The timer that repeats it is time of a loss in the set-up; its packets are as long on their way as ever."""
    found = run_arms(tmp_path, {arm: _CADDY.format(arm) for arm in ("h2", "h3")}, "20 KB", path=lost)
    for arm, least in least_ms.items():
        account = _account(tmp_path, found[arm])
        of_loss = account.filter(pl.col("why") == "set_up_loss")
        assert _ms(of_loss, "what")["timer"] > least
    on_the_way = _account(tmp_path, found["h2"]).filter(pl.col("what").str.starts_with("propagation"))
    trips = _ms(on_the_way.filter(pl.col("why").is_in(["tcp_handshake", "tls_round_trip"])))
    assert trips == {trip: pytest.approx(20, abs=0.1) for trip in ("tcp_handshake", "tls_round_trip")}


@pytest.mark.nightly
def test_three_times_what_came_is_a_limit_of_the_set_up_and_of_early_data(tmp_path: Path) -> None:
    """A chain of certificates beyond it costs the set-up a round trip, a response in early data a wait of its own."""
    need(("client", "quic-go"), ("server", "quic-go"))
    early = 'protocol = "h3"\nclient = { name = "quic-go", session = "early_data" }\n'
    arms = {
        "long": _CADDY.format("h3") + '\ncertificate = { key = "rsa-4096", intermediates = 3 }',
        "early": early + 'server = { name = "quic-go", early_data = true }',
        "refused": early + 'server = { name = "quic-go", early_data = false }',
    }
    found = run_arms(tmp_path, arms, "100 KB")
    why = {arm: _ms(_account(tmp_path, trial)) for arm, trial in found.items()}
    assert why["long"]["amplification_limit"] >= 20
    assert why["long"]["quic_handshake"] >= 20
    assert why["early"]["amplification_limit"] >= 10  # less what the link is busy with what was sent before
    assert why["early"].get("quic_handshake", 0) < 20
    assert why["refused"]["quic_handshake"] >= 20
    assert "set_up_loss" not in why["refused"]


def test_a_server_that_asks_the_client_to_begin_again(tmp_path: Path) -> None:
    """HelloRetryRequest over both protocols, and Retry: each is a round trip of its own before the usual ones."""
    need(("client", "curl"), ("server", "nginx"), ("server", "ngtcp2"))
    client = 'client = { name = "curl", groups = ["x25519", "secp384r1"] }\n'
    asks = client + 'server = { name = "nginx", groups = ["secp384r1"] }'
    arms = {protocol: f'protocol = "{protocol}"\n{asks}' for protocol in ("h2", "h3")}
    started = find_program("gtlsserver")
    assert started
    options = ["--quiet", "--htdocs={root}", "--mime-types-file=/dev/null", "--qlog-dir={qlog_dir}", "--validate-addr"]
    argv = json.dumps([*started.argv, *options, "{address}", "{port}", "{key}", "{cert}"])
    env = ", ".join(f'{name} = "{value}"' for name, value in {**started.env, "SSLKEYLOGFILE": "{keylog}"}.items())
    server = f'server = {{ argv = {argv}, env = {{ {env} }}, ready = "udp" }}'
    arms["retry"] = f'protocol = "h3"\nclient = "curl"\n{server}'
    found = run_arms(tmp_path, arms, "20 KB")
    for arm, trial in found.items():
        on_the_way = _account(tmp_path, trial).filter(pl.col("what").str.starts_with("propagation"))
        usual = ("tcp_handshake", "tls_round_trip") if arm == "h2" else ("quic_handshake",)
        trips = ("retry" if arm == "retry" else "hello_retry_request", *usual)
        assert _ms(on_the_way.filter(pl.col("why").is_in(trips))) == {
            trip: pytest.approx(20, abs=0.1) for trip in trips
        }


@pytest.mark.nightly
def test_nginxs_own_buffer_and_first_record(tmp_path: Path) -> None:
    """Over 100 ms it has 64 KiB of a stream under way over HTTP/3, and no log; over HTTP/2 its first record is longer
    than a window of 10 packets, so that the first byte waits for a window, but not with one of 32."""
    need(("client", "curl"), ("server", "nginx"))
    h2 = 'protocol = "h2"\nclient = "curl"\nserver = "nginx"\n'
    tcp = 'tcp = {{ congestion_control = "reno", initial_window = {} }}'
    arms = {f"h2-{window}": h2 + tcp.format(window) for window in (10, 32)}
    arms["h3"] = 'protocol = "h3"\nclient = "curl"\nserver = "nginx"'
    found = run_arms(tmp_path, arms, "500 KB", delay="50 ms")
    buffered = _account(tmp_path, found["h3"]).filter(pl.col("why") == "send_buffer")
    assert sum(_ms(buffered).values()) > 300
    assert set(buffered["evidence"]) == {"unacknowledged"}
    first_byte = {
        arm: sum(
            edge.length_ns / 1e6
            for edge in account_of_transfer(_evidence(tmp_path, trial), "ttfb_ms")
            if edge.reason.why == "slow_start"
        )
        for arm, trial in found.items()
        if arm != "h3"
    }
    assert first_byte["h2-10"] > 80
    assert first_byte["h2-32"] < 10
