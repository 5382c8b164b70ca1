# SPDX-License-Identifier: Apache-2.0
"""What a trial is worth is seen in its packets: a client that got something else has not won, whatever it says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from by_night import by_night
from small_study import quiclab
from stack_study import run_arms

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

CLIENT = Path(__file__).parents[1] / "lying_client.py"
_SIZE = "200 KB"
_404 = (
    "no request for object is among the packets: the client asked for https://server.test/there-is-no-such-object, "
    "which got status 404"
)
_OTHER_VERSION = {
    "h2": "asked for HTTP/2, got HTTP/1.1",
    "h3": "asked for HTTP/3 over quic, but the packets were tcp",
}


def _arm(protocol: str, how: str, *, keys: bool = True) -> str:
    words = ("{url}", "{host}:{port}:{address}", "{ca}", protocol, "{root}", "{output}")
    argv = ", ".join(f'"{word}"' for word in (sys.executable, "-I", str(CLIENT), how, *words))
    env = ', env = { SSLKEYLOGFILE = "{keylog}" }' if keys else ""
    return f'protocol = "{protocol}"\nserver = "caddy"\nclient = {{ argv = [{argv}]{env} }}\n'


def _verdicts(found: dict[str, dict[str, Any]]) -> dict[str, tuple[str, str]]:
    return {name: (trial["status"], trial["reason"]) for name, trial in found.items()}


@pytest.mark.parametrize(
    ("claims", "protocol"), [("", "h2"), ("-claims", "h3"), *by_night(("", "h3"), ("-claims", "h2"))]
)
def test_what_the_packets_show_decides(tmp_path: Path, protocol: str, claims: str) -> None:
    lies = {
        "honest": "",
        "404": _404,
        "range": "the body has 1000 bytes instead of 200000, as the packets show",
        "http1": _OTHER_VERSION[protocol],
        "nothing": "no request for object is among the packets",
    }
    arms = {lie: _arm(protocol, lie + claims) for lie in (*lies, "abort")}
    found = _verdicts(run_arms(tmp_path, arms, size=_SIZE))
    status, reason = found.pop("abort")
    assert (status, reason.split(" instead ")[1]) == ("failed", "of 200000, as the packets show")
    assert found == {lie: ("failed" if why else "verified", why) for lie, why in lies.items()}


@pytest.mark.parametrize("protocol", ["h3", *by_night("h2")])
def test_an_account_is_held_against_what_is_seen_without_keys(tmp_path: Path, protocol: str) -> None:
    """Bytes that never came, a version that was never offered, instants that cannot be."""
    arms = {how: _arm(protocol, how, keys=False) for how in ("range-claims", "http1-claims", "honest-early")}
    arms |= {"late": _arm(protocol, "honest-late"), "early": _arm(protocol, "honest-early")}
    found = _verdicts(run_arms(tmp_path, arms, size=_SIZE))
    assert {status for status, _ in found.values()} == {"failed"}
    reasons = {how: reason for how, (_, reason) in found.items()}
    own = {"h2": "TCP", "h3": "QUIC"}[protocol]
    assert reasons["range-claims"].startswith(f"asked for 200000 bytes over {own}, but it carried only ")
    offered = "asked for h2, but the client's ClientHello offers http/1.1 alone"
    assert reasons["http1-claims"] == (offered if protocol == "h2" else _OTHER_VERSION["h3"])
    for how in ("honest-early", "early"):
        assert reasons[how].startswith("the client says that it had all bytes "), reasons[how]
    assert reasons["late"].startswith("the client's account begins "), reasons["late"]


@pytest.mark.parametrize("protocol", ["h3", *by_night("h2")])
def test_an_account_is_held_against_opened_packets(tmp_path: Path, protocol: str) -> None:
    """A URL that was never asked for; a first byte before any response."""
    found = _verdicts(
        run_arms(tmp_path, {how: _arm(protocol, f"honest-{how}") for how in ("url", "first")}, size=_SIZE)
    )
    assert found["url"] == ("failed", "the client's account is of https://elsewhere.test/other, and not of object")
    status, reason = found["first"]
    assert status == "failed"
    assert reason.startswith("the client says that it had a first byte "), reason
    assert reason.endswith(" ms before the head of a response had come"), reason


@pytest.mark.parametrize("protocol", ["h2", *by_night("h3")])
def test_a_body_that_came_over_the_other_transport_was_not_moved(tmp_path: Path, protocol: str) -> None:
    """With keys for a small object over the right one, and without any; payload is counted, whoever tells what."""
    arms = {"keys": _arm(protocol, "transport-claims"), "none": _arm(protocol, "transport-claims", keys=False)}
    own, other = ("TCP", "QUIC") if protocol == "h2" else ("QUIC", "TCP")
    for name, (status, reason) in _verdicts(run_arms(tmp_path, arms, size=_SIZE)).items():
        assert status == "failed", name
        told, _, carried = reason.partition(f" bytes to the client, and {other} carried ")
        assert told.startswith(f"asked for 200000 bytes over {own}, but it carried only "), (name, reason)
        assert int(carried) > 200_000, (name, reason)


@pytest.mark.parametrize("protocol", ["h2", *by_night("h3")])
def test_an_object_in_parts_on_several_connections_is_another_transfer(tmp_path: Path, protocol: str) -> None:
    """With keys each part is seen; without any, no connection carried enough bytes."""
    arms = {"keys": _arm(protocol, "ranges"), "none": _arm(protocol, "ranges-claims", keys=False)}
    found = _verdicts(run_arms(tmp_path, arms, size=_SIZE))
    assert found["keys"] == ("failed", "object was asked for whole, but came in 8 parts, as the packets show")
    status, reason = found["none"]
    assert status == "failed"
    assert reason.startswith("asked for 200000 bytes on one connection, but none carried more than "), reason


@pytest.mark.nightly
def test_a_response_to_something_else_gives_no_times(tmp_path: Path) -> None:
    """The connection with the object is closed: over TCP its times are the account's, over QUIC nothing tells them."""
    arms = {protocol: _arm(protocol, "connection-claims") for protocol in ("h2", "h3")}
    found = run_arms(tmp_path, arms, size=_SIZE)
    assert _verdicts(found) == dict.fromkeys(arms, ("verified", ""))
    done = quiclab("report", tmp_path / "study")
    assert done.returncode == 0, done.stdout + done.stderr
    metrics = pl.read_parquet(tmp_path / "study" / "metrics.parquet")
    told = {
        protocol: dict(
            metrics.filter(pl.col("trial_id") == found[protocol]["trial_id"]).select("name", "value").iter_rows()
        )
        for protocol in arms
    }
    assert told["h3"]["ttlb_ms"] is None
    least_ms = 200_000 * 8 / 50_000  # The path has 50 Mbit/s.
    assert told["h2"]["ttlb_ms"] >= told["h2"]["ttfb_ms"] > least_ms, "its account has one instant for both"
    assert told["h2"]["goodput_bit_per_s"] < 50_000_000


@pytest.mark.nightly
def test_a_client_that_says_nothing_can_be_compared(tmp_path: Path) -> None:
    """Its times are those of the packets; beside a client that tells of itself both have every number they need."""
    arms = {f"{protocol}-own": _arm(protocol, "honest") for protocol in ("h2", "h3")}
    arms["h2-known"] = 'protocol = "h2"\nserver = "caddy"\nclient = "curl-cffi"\n'
    found = run_arms(tmp_path, arms, size=_SIZE)
    assert {name: trial["status"] for name, trial in found.items()} == dict.fromkeys(arms, "verified")
    done = quiclab("report", tmp_path / "study")
    assert done.returncode == 0, done.stdout + done.stderr
    metrics = pl.read_parquet(tmp_path / "study" / "metrics.parquet")
    for name, trial in found.items():
        own = dict(metrics.filter(pl.col("trial_id") == trial["trial_id"]).select("name", "value").iter_rows())
        assert 0 < own["setup_ms"] < own["ttfb_ms"] < own["ttlb_ms"], name
        assert own["goodput_bit_per_s"] == pytest.approx(200_000 * 8 / own["ttlb_ms"] * 1e3), name


@pytest.mark.parametrize("protocol", ["h3", *by_night("h2")])
def test_what_neither_packets_nor_an_account_show_is_unproven(tmp_path: Path, protocol: str) -> None:
    """Without keys: an account counts, and without it nothing tells a good transfer from a bad one."""
    lies = ("honest", "404", "honest-claims")
    found = _verdicts(run_arms(tmp_path, {lie: _arm(protocol, lie, keys=False) for lie in lies}, size=_SIZE))
    assert {lie: status for lie, (status, _) in found.items()} == {
        "honest": "unproven",
        "404": "failed",
        "honest-claims": "verified",
    }
    assert found["404"][1].startswith("asked for 200000 bytes over "), "payload is counted without keys"
    assert found["honest"][1].startswith("nothing shows what the client got: the client left no TLS keys")
