# SPDX-License-Identifier: Apache-2.0
"""What responses, as packets show them, say of the objects that a trial was to move."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from trial_records import record
from unit.evidence.verify.recordings import judged, trial

from quiclab.evidence.verify.delivered import ObjectEvidence, shown_by_packets, unproven

URL = "https://server.test/object"
GOOD: dict[str, Any] = {
    "http_version": "HTTP/2",
    "method": "GET",
    "url": URL,
    "status": 200,
    "content_encoding": None,
    "content_range": None,
    "body_bytes": 1000,
    "sent_bytes": 0,
    "ended": True,
}
CLOSED = "some packets stayed closed"


def _document(*found: dict[str, Any], closed: bool = False, **changes: Any) -> dict[str, Any]:
    """A trial that was to fetch 1000 bytes over HTTP/2; responses are GOOD but for what is given."""
    proof = {
        "http_responses": [GOOD | each for each in found],
        "unproven_because": {"http_responses": CLOSED} if closed else {},
        "transport": "tcp",
        "alpn_offered": ["h2"],
    }
    expected = {"direction": "download", "name": "object", "body_bytes": 1000, "sha256": "abc"}
    return {"protocol": "h2", "expected": expected, "client": None, "proof": proof, **changes}


def _part(start: int, end: int) -> dict[str, Any]:
    return {"status": 206, "body_bytes": end - start, "content_range": f"bytes {start}-{end - 1}/1000"}


@pytest.mark.parametrize(
    "found",
    [
        [{}],
        [{"status": 404, "body_bytes": 9}, {}],
        [{"body_bytes": 400, "ended": False}, {}],
        [{"url": None, "method": None}],
        [{"http_version": "HTTP/1.1"}, {}],
    ],
    ids=["one", "after a refusal", "begun anew", "0-RTT that stayed closed", "two versions"],
)
def test_every_byte_was_there(found: list[dict[str, Any]]) -> None:
    """In one response or in several between them, whatever else there was."""
    assert shown_by_packets(record(_document(*found))) == ObjectEvidence(proven=True)
    assert unproven(record(_document(*found))) is None


@pytest.mark.parametrize(
    "found",
    [[{"body_bytes": 400, "ended": False}, _part(400, 1000)], [_part(500, 1000), _part(0, 500)]],
    ids=["resumed", "in two parts"],
)
@pytest.mark.parametrize("closed", [False, True])
def test_parts_are_for_a_change_of_address_alone(found: list[dict[str, Any]], closed: bool) -> None:
    """Else a client that asks for parts on several connections would be held against one that has a single one."""
    problem = "object was asked for whole, but came in 2 parts, as the packets show"
    assert shown_by_packets(record(_document(*found, closed=closed))).problem == problem
    for moved in ({"address_change": {"new_address": "10.77.0.3"}}, {"asked": {"on_address_change": "resume"}}):
        assert shown_by_packets(record(_document(*found, closed=closed, **moved))) == ObjectEvidence(proven=True)
    objects = {
        "direction": "download",
        "objects": [{"name": "object", "body_bytes": 1000}, {"name": "o~2", "body_bytes": 1}],
    }
    told = shown_by_packets(record(_document(*found, closed=closed, expected=objects))).problem
    assert told == f"the object object: {problem}"


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        ({"status": 404, "body_bytes": 0}, "the server answered with status 404, as the packets show"),
        ({"body_bytes": 999}, "the body has 999 bytes instead of 1000, as the packets show"),
        ({"body_bytes": 1001}, "the body has 1001 bytes instead of 1000, as the packets show"),
        (_part(0, 500), "the body has 500 bytes instead of 1000, as the packets show"),
    ],
)
def test_what_came_to_its_end_is_told_of_any_capture(found: dict[str, Any], problem: str) -> None:
    """Packets that stayed closed cannot change it."""
    assert shown_by_packets(record(_document(found))).problem == problem
    assert shown_by_packets(record(_document(found, closed=True))).problem == problem


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        ([], "no request for object is among the packets"),
        (
            [{"url": "https://server.test/other"}],
            "no request for object is among the packets: the client asked for https://server.test/other, "
            "which got status 200",
        ),
        ([{"method": "HEAD", "body_bytes": 0}], "no request for object is among the packets"),
        ([{"status": None, "ended": False}], "no response to the request for object is among the packets"),
        ([{"body_bytes": 400, "ended": False}], "the body has 400 bytes instead of 1000, as the packets show"),
        ([{"http_version": "HTTP/1.1"}], "asked for HTTP/2, got HTTP/1.1, as the packets show"),
    ],
)
def test_what_is_missing_needs_a_capture_that_shows_all(found: list[dict[str, Any]], problem: str) -> None:
    """Else it may stand in a packet that stayed closed, and nobody knows."""
    assert shown_by_packets(record(_document(*found))).problem == problem
    partly = _document(*found, closed=True)
    assert shown_by_packets(record(partly)) == ObjectEvidence()
    assert (
        unproven(record(partly))
        == f"nothing shows what the client got: {CLOSED}, and the client left no account of its own"
    )
    assert unproven(record(partly | {"client": {"requests": [{"status": 200}]}})) is None


def test_an_encoded_body_has_a_length_that_only_its_client_knows() -> None:
    """Its status and version are shown, which is not enough without an account."""
    document = _document({"content_encoding": "gzip", "body_bytes": 300})
    assert shown_by_packets(record(document)) == ObjectEvidence()
    assert "decoded body" in (unproven(record(document)) or "")


def test_a_kept_body_needs_a_version() -> None:
    """The laboratory hashed it; QUIC without another offer than HTTP/3 says how it came, TCP does not."""
    document = _document(closed=True, client_body={"body_bytes": 1000, "sha256": "abc"})
    assert (unproven(record(document)) or "").startswith("nothing shows the HTTP version")
    document["proof"] |= {"transport": "quic", "alpn_offered": ["h3"]}
    assert unproven(record(document)) is None


def test_each_of_several_objects_is_looked_at() -> None:
    """By the last part of its URL; the first that is wrong is named."""
    objects = [{"name": f"o~{n}", "body_bytes": 1000, "sha256": "abc"} for n in (1, 2)]
    expected = {"direction": "download", "objects": objects}
    found = [{"url": f"https://server.test/o~{n}"} for n in (1, 2)]
    assert shown_by_packets(record(_document(*found, expected=expected))) == ObjectEvidence(proven=True)
    found[1]["status"] = 503  # type: ignore[assignment]
    told = shown_by_packets(record(_document(*found, expected=expected))).problem
    assert told == "the object o~2: the server answered with status 503, as the packets show"
    found[1] |= {"url": None}
    assert shown_by_packets(record(_document(*found, expected=expected))) == ObjectEvidence(), (
        "it may be the answer for the other"
    )


def test_an_upload_is_what_was_sent_and_taken() -> None:
    """The body of the answer does not matter."""
    put = {"method": "PUT", "status": 201, "body_bytes": 3, "sent_bytes": 1000}
    upload = {"direction": "upload", "name": "object", "body_bytes": 1000, "sha256": "abc"}
    assert shown_by_packets(record(_document(put, expected=upload))) == ObjectEvidence(proven=True)
    short = shown_by_packets(record(_document(put | {"sent_bytes": 9}, expected=upload))).problem
    assert short == "9 bytes were uploaded instead of 1000, as the packets show"
    refused = shown_by_packets(record(_document(put | {"status": 403}, expected=upload))).problem
    assert refused == "the server answered with status 403, as the packets show"


def test_what_the_clock_ends_needs_no_whole_body() -> None:
    """That the right answer had begun is enough; that it was a refusal is not."""
    competition = {"competition": {"lasts_ns": 1, "flows": []}, "client_exit_code": None}
    begun = {"body_bytes": 400, "ended": False}
    assert shown_by_packets(record(_document(begun, **competition))) == ObjectEvidence(proven=True)
    assert shown_by_packets(record(_document(begun | {"status": 404}, **competition))).problem is not None
    closed = _document(closed=True, **competition)
    assert unproven(record(closed)) is not None
    assert unproven(record(closed | {"client_reports": True})) is None, "it was ended before it could tell"


def test_a_resource_of_a_page_that_was_refused() -> None:
    """Whatever the browser says of it; other files of a mirrored page are its own affair."""
    page = {"page": {"resources": [{"url": URL, "bytes": 1000}]}}
    assert shown_by_packets(
        record(_document({}, {"url": "https://x/y", "status": 404}, expected=page))
    ) == ObjectEvidence(proven=True)
    assert "status 404" in (shown_by_packets(record(_document({"status": 404}, expected=page))).problem or "")


@pytest.mark.parametrize("name", ["h1", "h2", "h2-tls-1.2", "h3", "h3-caddy", "h3-early-data-closed", "h3-loss"])
def test_recorded_packets(name: str, tmp_path: Path) -> None:
    """A client that says nothing: its packets show what it got, and one byte more is missed."""
    folder = trial(tmp_path / "t", name, client=None)
    assert judged(folder).status == "verified"
    document = json.loads((folder / "trial.json").read_text())
    document["expected"]["body_bytes"] += 1
    (folder / "trial.json").write_text(json.dumps(document))
    assert judged(folder).status == "failed"
