# SPDX-License-Identifier: Apache-2.0
"""The verdict: what counts, what failed, and what was the laboratory's own fault."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from trial_records import record
from unit.evidence.verify.recordings import judged, proof_of, trial

from quiclab.evidence.verify.asked import objects_apart
from quiclab.evidence.verify.proof import UNPROVEN
from quiclab.evidence.verify.trial import change_problem, changed_in_vain, judge
from quiclab.logs.decoders import decode_trial
from quiclab.model.trial_record import DisturbedPart, EstimatedDisturbance

GOOD: dict[str, Any] = {
    "trial_id": "t",
    "attempt": 1,
    "failure": None,
    "protocol": "h2",
    "server_port": 443,
    "tcp_congestion_control_asked": "reno",
    "expected": {"name": "object", "body_bytes": 5, "sha256": "abc"},
    "host": {"server_tcp_congestion_control": "reno"},
    "link": {"sound": True, "unsound_reasons": []},
    "client": {"requests": [{"http_version": "HTTP/2", "status": 200, "body_bytes": 5, "sha256": "abc"}]},
}


def _judge(folder: Path, change: dict[str, Any]) -> tuple[str, str]:
    document = copy.deepcopy(GOOD)
    for path, value in change.items():
        *parents, last = path.split(".")
        place: Any = document
        for parent in parents:
            place = place[int(parent) if parent.isdigit() else parent]
        place[last] = value
    (folder / "raw").mkdir(exist_ok=True)
    (folder / "raw" / "client.out").write_text("x")
    (folder / "trial.json").write_text(json.dumps(document))
    verdict = judged(folder)
    written = json.loads((folder / "trial.json").read_text())
    assert (written["status"], written["reason"]) == (verdict.status, verdict.reason)
    assert written["artefacts"] == [{"path": "raw/client.out", "format": "text", "kind": "log", "bytes": 1}]
    return verdict.status, verdict.reason


def test_a_program_that_spoils_the_logs_has_failed(tmp_path: Path) -> None:
    """Although the link could leave no account of itself."""
    spoiled = {"link": {}, "logs_spoiled": "a program replaced raw/", "failure": "exit code 1"}
    assert _judge(tmp_path, spoiled) == ("failed", "a program replaced raw/")


def test_a_good_trial_counts(tmp_path: Path) -> None:
    """Everything as asked."""
    assert _judge(tmp_path, {}) == ("verified", "")


def test_a_reason_can_be_kept_whatever_a_program_said(tmp_path: Path) -> None:
    """Text that has no UTF-8 would end the run when the ledger keeps it."""
    assert _judge(tmp_path, {"failure": "said \ud800"}) == ("failed", "said \\ud800")
    _, reason = _judge(tmp_path, {"failure": "x" * 1_000_000 + " the end"})
    assert len(reason) < 2100
    assert reason.endswith("x the end")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"failure": "the client ended with exit code 7"}, "exit code 7"),
        ({"client.requests.0.http_version": "HTTP/1.1"}, "asked for HTTP/2, got HTTP/1.1"),
        ({"client.requests.0.body_bytes": 4}, "the body has 4 bytes instead of 5"),
        ({"client.requests.0.sha256": "abd"}, "wrong content"),
        ({"client.requests.0.status": 404}, "status 404"),
        ({"client.requests.0.error": "timed out"}, "timed out"),
        ({"host.server_tcp_congestion_control": "bbr"}, "asked for TCP congestion control reno"),
    ],
)
def test_failures_name_their_reason(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    """A trial that is not what it was to be is failed, never a slow success."""
    status, why = _judge(tmp_path, change)
    assert status == "failed"
    assert reason in why


def test_a_failure_says_what_the_path_dropped_of_a_whole_transport(tmp_path: Path) -> None:
    """Packets of both directions that it blocked, policed or lost for their size; other losses are every trial's."""
    change = {
        "failure": "the client did not end within 4 s (limits.trial)",
        "link.up": {"dropped": {"blocked": 1, "queue_full": 7}},
        "link.down": {"dropped": {"policed": 5, "oversize": 9}},
    }
    told = "the path dropped 1 packet as blocked, 5 packets as policed and 9 packets as oversize"
    assert _judge(tmp_path, change)[1].endswith(f"within 4 s (limits.trial); {told}")


@pytest.mark.parametrize("failure", [None, "the client ended with exit code 7"])
def test_an_unsound_link_voids_whatever_else_happened(tmp_path: Path, failure: str | None) -> None:
    """The laboratory's fault is no verdict on an endpoint."""
    change = {"failure": failure, "link.sound": False, "link.unsound_reasons": ["REASON"]}
    assert _judge(tmp_path, change) == ("void", "the link: REASON")
    assert _judge(tmp_path, {"failure": failure, "link": {}})[0] == "void"


def _disturbance(cost_pct: int) -> EstimatedDisturbance:
    """A disturbance of a trial of 100 ms whose time is known by a bound alone."""
    cost_ns = cost_pct * 1_000_000
    return EstimatedDisturbance(100_000_000, cost_ns, cost_ns, {"client": DisturbedPart(cost_ns, cost_ns)}, "bound")


@pytest.mark.parametrize(
    ("change", "cost_pct", "status"),
    [
        ({}, 11, "void"),
        ({"failure": "the client ended with exit code 7"}, 19, "failed"),
        ({"failure": "the client ended with exit code 7"}, 21, "void"),
        ({"client.requests.0.status": 404}, 19, "failed"),
        ({"client.requests.0.status": 404}, 21, "void"),
        ({"client": None}, 90, "unproven"),
    ],
)
def test_a_disturbance_takes_back_what_it_may_have_caused(
    tmp_path: Path, change: dict[str, Any], cost_pct: int, status: str
) -> None:
    """The way in which a trial failed does not matter; and no repeat shows what a client does not leave."""
    (tmp_path / "raw").mkdir()
    document = copy.deepcopy(GOOD) | {"tolerated": 0.01, "failure": change.get("failure")}
    if "client" in change:
        document["client"] = None
    if "client.requests.0.status" in change:
        document["client"]["requests"][0]["status"] = 404
    (tmp_path / "trial.json").write_text(json.dumps(document))
    verdict = judge(tmp_path, decode_trial(tmp_path).tables, lambda _: _disturbance(cost_pct))
    assert verdict.status == status
    own = json.loads((tmp_path / "trial.json").read_text())["own_failure"]
    assert (own is not None) is bool(change and "client" not in change), "known, whatever the verdict"


def test_a_body_that_a_users_own_client_kept_is_checked(tmp_path: Path) -> None:
    """It writes no account, but its body tells; over which version of HTTP it came, nothing does."""
    kept = {"body_bytes": 5, "sha256": "abc"}
    status, why = _judge(tmp_path, {"client": None, "client_body": kept})
    assert (status, why.partition(":")[0]) == ("unproven", "nothing shows the HTTP version")
    kept["sha256"] = "abd"
    assert "wrong content" in _judge(tmp_path, {"client": None, "client_body": kept})[1]


def test_what_cannot_be_proven_says_so(tmp_path: Path) -> None:
    """No capture and a client without an account: nothing is claimed."""
    _judge(tmp_path, {"client": None, "host": {}})
    proof = json.loads((tmp_path / "trial.json").read_text())["proof"]
    assert {proof[name] for name in ("transport", "http_version", "tls_group", "tcp_congestion_control")} == {
        "unproven"
    }


def _several(**changes: dict[str, Any]) -> dict[str, Any]:
    """Two objects at most at once, three in all; `changes` to the account of each by its name."""
    objects = [{"name": f"o~{n}", "body_bytes": n, "sha256": f"hash {n}"} for n in (1, 2, 3)]
    accounts = {
        each["name"]: {
            "url": f"https://server.test/{each['name']}",
            "http_version": "HTTP/2",
            "status": 200,
            "start_ns": 100 if number == 2 else 0,
            "last_byte_ns": 200 if number == 2 else 100,
            **each,
        }
        for number, each in enumerate(objects)
    }
    for name, change in changes.items():
        accounts[name.replace("_", "~")] |= change
    expected = {"body_bytes": 6, "concurrency": 2, "objects": objects}
    return {"expected": expected, "client": {"requests": list(accounts.values())}}


def test_several_good_objects_count(tmp_path: Path) -> None:
    """In whatever order the client tells of them; one that begins as another ends is not beside it."""
    change = _several()
    change["client"]["requests"].reverse()
    assert _judge(tmp_path, change) == ("verified", "")


@pytest.mark.parametrize(
    ("object_", "change", "reason"),
    [
        ("o_2", {"sha256": "hash 1"}, "the object o~2: the body has the right length and the wrong content"),
        ("o_3", {"body_bytes": 2}, "the object o~3: the body has 2 bytes instead of 3"),
        ("o_1", {"status": 404}, "the object o~1: the server answered with status 404"),
        ("o_3", {"error": "reset"}, "the object o~3: the client: reset"),
        ("o_2", {"url": "https://server.test/other"}, "the object o~2 is missing from the client's account"),
        ("o_3", {"start_ns": 50}, "asked for 2 objects at once, but 3 were under way"),
    ],
)
def test_one_bad_object_fails_the_trial_by_its_name(
    tmp_path: Path, object_: str, change: dict[str, Any], reason: str
) -> None:
    """However well the others came."""
    status, why = _judge(tmp_path, _several(**{object_: change}))
    assert status == "failed"
    assert reason in why


@pytest.mark.parametrize(
    ("proof", "asked", "reason"),
    [
        ({"connections": 1, "client_sockets": ["a"]}, {}, None),
        ({"connections": "unproven", "client_sockets": ["a"]}, {}, None),
        ({"connections": "unproven", "client_sockets": "unproven"}, {}, None),
        ({"connections": "unproven", "client_sockets": ["a", "b"]}, {}, "but the client had 2 (by socket)"),
        ({"connections": 3, "client_sockets": ["a"]}, {}, "but the client had 3 (by decryption)"),
        ({"connections": 1, "client_sockets": ["a", "b"]}, {"migration": "active"}, None),
        ({"connections": "unproven", "client_sockets": ["a", "b"]}, {"migration": "active"}, None),
    ],
)
def test_several_objects_come_over_one_connection(
    proof: dict[str, Any], asked: dict[str, Any], reason: str | None
) -> None:
    """Two sockets are two connections, unless the client has moved from one to the other."""
    told = objects_apart(record(GOOD | _several() | {"proof": proof, "asked": asked}))
    assert (told is None) == (reason is None)
    assert (reason or "") in (told or "")
    assert objects_apart(record(GOOD | {"proof": proof, "asked": asked})) is None, (
        "a single object may come over any number"
    )


def test_a_foreign_body_is_held_to_nothing_but_being_there(tmp_path: Path) -> None:
    """Of a probe no length or hash is expected: an empty body, or a status other than 200, is what fails."""
    foreign = {"expected.body_bytes": None, "expected.sha256": None, "tcp_congestion_control_asked": None, "host": {}}
    request = "client.requests.0"
    assert _judge(tmp_path, foreign)[0] == "verified"
    assert _judge(tmp_path, foreign | {f"{request}.body_bytes": 0}) == ("failed", "the body is empty")
    refused = _judge(tmp_path, foreign | {f"{request}.status": 503})
    assert refused == ("failed", "the server answered with status 503")


RESUMED: dict[str, Any] = {
    "address_change": {
        "old_address": "10.77.0.1",
        "new_address": "10.77.0.3",
        "changed_ns": 5,
        "reached_ns": None,
        "trouble": None,
    },
    "asked": {"on_address_change": "resume", "reconnect_session": "fresh"},
    "proof": {
        "client_addresses": {"10.77.0.1": {"client": 1, "server": 9}, "10.77.0.3": {"client": 1, "server": 9}},
        "connections": 2,
        "answers": [
            {"resumed": False, "status": 200, "content_range": None},
            {"resumed": False, "status": 206, "content_range": "bytes 400-999/1000"},
        ],
    },
    "client": {
        "requests": [
            {
                "connections": [
                    {"status": 200, "content_range": None},
                    {"status": 206, "content_range": "bytes 400-999/1000"},
                ],
                "address_change": {"body_bytes_before": 400},
            }
        ]
    },
}


def _problem(**changes: Any) -> str | None:
    document = copy.deepcopy(RESUMED)
    for path, value in changes.items():
        *parents, last = path.split("__")
        place: Any = document
        for parent in parents:
            place = place[int(parent) if parent.isdigit() else parent]
        place[int(last) if last.isdigit() else last] = value
    return change_problem(record(document))


def test_what_happened_as_asked_counts() -> None:
    """With the packets opened or not; and where the address is stable there is nothing to hold against it."""
    assert _problem() is None
    assert _problem(proof__connections=UNPROVEN, proof__answers=UNPROVEN) is None
    assert change_problem(record({"address_change": None})) is None
    assert change_problem(record({})) is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"address_change__changed_ns": None}, "the body was complete before"),
        ({"proof__client_addresses__10.77.0.3__server": 0}, "nothing came to the new one, 10.77.0.3"),
        ({"proof__connections": 3}, "the packets show 3"),
        ({"client__requests__0__connections": [{}]}, "the client had 1"),
        ({"proof__answers__1__status": 200}, "asked to resume the transfer, but the second answer had status 200"),
        (
            {"asked__on_address_change": "restart"},
            "asked to restart the transfer, but the second answer had status 206",
        ),
        ({"proof__answers__1__content_range": "bytes 0-999/1000"}, "asked to resume from byte 400"),
        ({"proof__answers__1__resumed": True}, "asked for a fresh TLS session"),
        ({"asked__reconnect_session": "resumed"}, "asked for a resumed TLS session"),
    ],
)
def test_what_went_otherwise_fails_with_its_reason(changes: dict[str, Any], words: str) -> None:
    """The packets' word goes before the client's."""
    assert words in str(_problem(**changes))


def test_a_laboratory_that_cannot_is_no_verdict_on_an_endpoint(tmp_path: Path) -> None:
    """The trial is void."""
    change = RESUMED["address_change"] | {"trouble": "the kernel does not destroy sockets"}
    assert change["trouble"] in str(changed_in_vain(record({"address_change": change})))
    for delay_ms, late in ((100, False), (101, True)):
        timed = RESUMED["address_change"] | {"reached_ns": 1, "changed_ns": 1 + delay_ms * 10**6}
        assert (changed_in_vain(record({"address_change": timed})) is not None) is late
    verdict = judged(trial(tmp_path / "t", "h2", address_change=change))
    assert (verdict.status, change["trouble"] in verdict.reason) == ("void", True)


def test_answers_are_read_from_the_packets(tmp_path: Path) -> None:
    """Of every connection the socket, whether TLS resumed, and what was answered."""
    folder = trial(tmp_path / "t", "h2-then-h3")
    judged(folder)
    first, second = proof_of(folder)["answers"]
    assert (first["status"], first["resumed"], first["content_range"]) == (200, False, None)
    assert first["client_socket"].startswith("tcp ")
    assert (second["client_socket"][:4], second["status"]) == ("udp ", 200)
