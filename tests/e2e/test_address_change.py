# SPDX-License-Identifier: Apache-2.0
"""The client's address changes in mid-transfer, with real programs over the emulated link."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from accounts import account_of, sums_ms
from by_night import by_night
from small_study import main_only, quiclab, trials
from stack_study import need, run_arms, spec_text
from trial_records import record

from quiclab.evidence.metrics import compute_trial
from quiclab.logs.decoders import decode_trial

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_FIN = 1
OLD, NEW = "10.77.0.1", "10.77.0.3"
CHANGE = 'address_change = {{ after = "{after}", notice = "{notice}"{more} }}'
_RESTART = 'protocol = "h2"\nserver = "caddy"\nclient = { name = "curl-cffi", on_address_change = "restart" }'
_RESUME = _RESTART.replace("restart", 'resume", reconnect_session = "resumed')


def _change(after: str, notice: str = "told", more: str = "") -> str:
    return CHANGE.format(after=after, notice=notice, more=more)


def _h3(answer: str) -> str:
    return f'protocol = "h3"\nserver = "caddy"\nclient = {{ name = "quiche", on_address_change = "{answer}" }}'


def _new_socket(trial: dict[str, Any], protocol: str) -> bool:
    return bool(trial["proof"]["client_sockets"][-1].startswith(f"{protocol} {NEW}:"))


@pytest.mark.parametrize("notice", ["told", *by_night("reset")])
def test_http2_resumes_or_begins_again(notice: str, tmp_path: Path) -> None:
    """Over a second connection from the new address; what came twice is counted, and the body is whole."""
    found = run_arms(
        tmp_path, {"restart": _RESTART, "resume": _RESUME}, size="3 MB", workload=_change("300 KB", notice)
    )
    for trial in found.values():
        assert trial["status"] == "verified", trial["reason"]
        assert trial["address_change"]["reached_bytes"] >= 300_000
        assert trial["proof"]["client_addresses"][OLD]["server"] > 300_000
        assert len(trial["proof"]["client_sockets"]) == 2
        assert _new_socket(trial, "tcp")
        packets = decode_trial(tmp_path / "study" / "trials" / trial["trial_id"]).tables["ip_packets"]
        fins = packets.filter(pl.col("vantage") == "client", pl.col("src") == NEW, pl.col("tcp_flags") & _FIN > 0)
        assert fins["time_ns"].min() <= trial["client"]["close_ns"]  # by the program's own doing, not by its end
        # TCP's and TLS's round trips and the request's way there, of 50 ms; of them at most the 10 ms are not
        # the change's in which the old address is still served with what was under way to it.
        account = account_of(tmp_path / "study", trial)
        changed_ns = trial["address_change"]["changed_ns"]
        of_change = account.filter(why="change_of_address")
        after = account.filter(pl.col("until_ns") > changed_ns).sort("from_ns")
        assert of_change["until_ns"].max() - changed_ns > 50_000_000, after.rows(named=True)
        assert sums_ms(account, "why")["change_of_address"] > 40, after.rows(named=True)
        assert of_change["from_ns"].min() >= changed_ns
        assert set(of_change["event_ns"]) == {changed_ns}
        resumed = account.filter(pl.col("from_ns") > of_change["until_ns"].max())
        assert set(resumed["link"]) == {"raw/link-next.qplog"}, after.rows(named=True)
    again = {name: trial["client"]["requests"][0]["address_change"] for name, trial in found.items()}
    assert again["restart"]["body_bytes_again"] == again["restart"]["body_bytes_before"] >= 300_000
    assert again["resume"]["body_bytes_again"] == 0
    first, second = found["resume"]["proof"]["answers"]
    assert (first["status"], second["status"], first["resumed"], second["resumed"]) == (200, 206, False, True)
    assert second["content_range"] == f"bytes {again['resume']['body_bytes_before']}-2999999/3000000"


def test_http3_migrates_or_is_rebound(tmp_path: Path) -> None:
    """On one connection: the new path is validated by whoever knows of it, and the metrics end where the body does."""
    need(("client", "quiche"))
    found = run_arms(
        tmp_path, {"migrate": _h3("migrate"), "rebind": _h3("rebind")}, size="3 MB", workload=_change("300 KB")
    )
    for name, trial in found.items():
        assert trial["status"] == "verified", trial["reason"]
        proof = trial["proof"]
        assert (proof["migrated"], proof["connections"], _new_socket(trial, "udp")) == (True, 1, True)
        assert proof["new_connection_id"] is (name == "migrate")
        assert bool(proof["path_challenges"]["client"]) is (name == "migrate")
        folder = tmp_path / "study" / "trials" / trial["trial_id"]
        values = {row.name: row for row in compute_trial(folder, decode_trial(folder).tables, record(trial))}
        for metric in ("ttlb_ms", "address_change_gap_ms", "retransmitted_bytes"):
            assert values[metric].value, values[metric].note
        assert values["body_bytes_again"].value == 0
        assert sums_ms(account_of(tmp_path / "study", trial), "why")["change_of_address"] > 0


@pytest.mark.nightly
def test_a_byte_that_never_comes_fails_the_trial(tmp_path: Path) -> None:
    """With that reason; the arm that waits in vain for silence has none of it either."""
    never = _change("2 MB", "timeout", ', timeout = "20 s"')
    found = run_arms(tmp_path, {"restart": _RESTART, "resume": _RESUME}, size="100 KB", workload=never)
    assert {trial["status"] for trial in found.values()} == {"failed"}
    assert all("the body was complete before" in trial["reason"] for trial in found.values())


@pytest.mark.alone
@pytest.mark.parametrize("notice", ["told", "timeout"])
def test_a_change_at_a_time(notice: str, tmp_path: Path) -> None:
    """So long after the client was told to begin, whatever had come by then; who is not told waits for the silence."""
    need(("client", "quiche"))
    timeout = ', timeout = "700 ms"' if notice == "timeout" else ""
    change = f'address_change = {{ at = "200 ms", notice = "{notice}"{timeout} }}'
    arms = {"resume": _RESUME} | ({"migrate": _h3("migrate")} if notice == "told" else {"restart": _RESTART})
    found = run_arms(tmp_path, arms, size="3 MB", workload=change)
    for trial in found.values():
        assert trial["status"] == "verified", trial["reason"]
        # The client begins later than it is told to, by what it waits for a processor; a late change is a late one.
        request, waited = trial["client"]["requests"][0], trial["host"]["cost"]["client"]["run_delay"]["sum_ns"]
        since_start_ns = trial["address_change"]["changed_ns"] - request["start_ns"]
        assert since_start_ns > 100_000_000 - (waited or 0)
        folder = tmp_path / "study" / "trials" / trial["trial_id"]
        values = {row.name: row for row in compute_trial(folder, decode_trial(folder).tables, record(trial))}
        gap_ms = values["address_change_gap_ms"].value
        assert gap_ms is not None
        assert (gap_ms > 650) == (notice == "timeout")


_SECOND = """
[workload.address_change]
after = "200 KB"
link = { rate = "20 Mbit/s", delay = "30 ms" }
"""
_LINKS = """
[[path.link]]
name = "access"
rate = "20 Mbit/s"
delay = "5 ms"

[[path.link]]
name = "core"
rate = "50 Mbit/s"
delay = "3 ms"
"""


@pytest.mark.alone
@pytest.mark.parametrize("ip_version", [6, *by_night(4)])
def test_the_second_network_has_a_link_of_its_own(ip_version: int, tmp_path: Path) -> None:
    """Its rate and its delay are met from the change on, by one connection and by a second; captures have both."""
    need(("client", "quiche"))
    arms = {"resume": _RESUME, "migrate": _h3("migrate")}
    found = run_arms(tmp_path, arms, size="2 MB", workload=_SECOND, path=f"ip_version = {ip_version}")
    old, new = {4: (OLD, NEW), 6: ("fd77::1", "fd77::3")}[ip_version]
    for trial in found.values():
        assert trial["status"] == "verified", trial["reason"]
        first, second = trial["link"], trial["link"]["more_links"][0]
        assert (first["link"], second["link"]) == ("bottleneck", "after bottleneck")
        assert trial["second_link"]["packet_log"] == "link-next.qplog"
        addresses = trial["proof"]["client_addresses"]
        assert min(addresses[each]["server"] for each in (old, new)) > 100_000
        folder = tmp_path / "study" / "trials" / trial["trial_id"]
        values = {row.name: row for row in compute_trial(folder, decode_trial(folder).tables, record(trial))}
        assert values["path_rtt_min_ms"].value == pytest.approx(20, abs=1)
        assert values["second_link_rtt_min_ms"].value == pytest.approx(61, abs=2)
        assert values["path_rate_down_bit_per_s"].value == pytest.approx(50e6, rel=0.05)
        assert values["second_link_rate_down_bit_per_s"].value == pytest.approx(20e6, rel=0.05)
        sent = first["down"]["bytes_in"] + second["down"]["bytes_in"]
        assert values["wire_bytes_down"].value == sent
        account = account_of(tmp_path / "study", trial)
        assert set(account["link"]) == {"raw/link.qplog", "raw/link-next.qplog"}
        whys = set(account.filter(pl.col("link") == "raw/link-next.qplog")["why"])
        assert {"change_of_address", "link_busy"} <= whys


@pytest.mark.nightly
def test_a_proxy_in_mid_path_sees_the_address_change(tmp_path: Path) -> None:
    """Only the client's leg moves: the node's proxy goes on with its origin, and a byte that never comes fails there,
    too."""
    need(("client", "quiche"), ("proxy", "nginx"))
    behind = '\nproxy = "nginx"\nproxy_at = "access"'
    arms = {"resume": _RESUME + behind, "migrate": _h3("migrate") + behind, "direct": _h3("migrate")}
    spec = spec_text(arms, "1 MB", path=_LINKS, workload=_change("200 KB"))
    never = spec.replace('name = "object"', 'name = "short"').split("[[workload]]")[1].split("[[path]]")[0]
    spec = spec.replace("[[path]]", "[[workload]]" + never.replace("200 KB", "9 MB") + "[[path]]", 1)
    file = tmp_path / "spec.toml"
    file.write_text(spec.replace('rate = "50 Mbit/s"\ndelay = "10 ms"\n', "", 1))
    done = quiclab("run", main_only(file), "--out", tmp_path / "study", "--no-report", timeout=300)
    assert done.returncode == 1, done.stdout + done.stderr
    tried = trials(tmp_path / "study")
    for trial in tried:
        if trial["row"]["workload"] == "short":
            assert "the body was complete before" in trial["reason"]
            continue
        assert trial["status"] == "verified", trial["reason"]
        assert [link["link"] for link in trial["link"]["more_links"]] == ["core", "after access"]
        assert trial["link"]["more_links"][1]["down"]["delivered"] > 100
        assert trial["proof"]["migrated"] is (trial["row"]["arm"] != "resume")
        if trial["proxy"]:
            leg = trial["proof"]["origin_leg"]
            assert leg["bytes_from_origin"] > 1_000_000
    assert {(trial["row"]["workload"], trial["status"]) for trial in tried} == {
        ("object", "verified"),
        ("short", "failed"),
    }
