# SPDX-License-Identifier: Apache-2.0
"""Uploads: who is refused when the plan is made, what the others are told, and what their sender's facts are."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from contexts import CONTEXT

from quiclab.lab.endpoints import ENDPOINTS, Uploads, find, objections
from quiclab.lab.endpoints._api import Origin
from quiclab.model.study import Arm, Knobs, Program, Tcp, Workload
from quiclab.model.units import ByteCount

UPLOAD = Workload("up", ByteCount(1000), direction="upload")
ARM = Arm("x", "h3", Program("quic-go"), Program("quic-go"), Tcp("reno"))
SENDING = replace(CONTEXT, object_name="x~1", other_objects=("x~2",), uploads=Path("/lab/uploads"))


def test_both_ends_must_be_able() -> None:
    """Each that is not is named, with those that are; a download is no matter."""
    arm = replace(ARM, client=Program("aioquic"), server=Program("caddy"))
    assert objections(arm, [Workload("down", ByteCount(1000))]) == []
    client, server = objections(arm, [UPLOAD])
    assert client.startswith("the client aioquic cannot send an object: unsupported; ")
    assert "quic-go" in client
    assert server == "the server caddy cannot keep what is sent to it: unsupported; nginx, quic-go can"
    assert objections(ARM, [UPLOAD]) == []


def test_a_proxy_must_pass_on_and_its_origin_keep() -> None:
    """Each is asked for what it has to do."""
    behind = replace(ARM, proxy=Program("envoy"), server=Program("quic-go"), origin_protocol="h2")
    assert objections(behind, [UPLOAD]) == []
    proxy, server = sorted(objections(replace(behind, proxy=Program("caddy"), server=Program("caddy")), [UPLOAD]))
    assert proxy == (
        "the proxy caddy cannot pass on what is sent to it as that comes: unsupported; envoy, haproxy, nginx can"
    )
    assert server == "the server caddy cannot keep what is sent to it: unsupported; nginx, quic-go can"


def test_nginx_passes_on_what_it_gets_as_that_comes() -> None:
    """Of any size, and without a file of its own."""
    origin = Origin("10.0.0.2", 4433, "h1")
    (text,) = find("proxy", "nginx").command(replace(CONTEXT, origin=origin)).files.values()
    assert all(each in text for each in ("proxy_request_buffering off;", "client_max_body_size 0;"))


@pytest.mark.parametrize("knobs", [Knobs(session="early_data"), Knobs(migration="active")])
def test_what_goes_with_downloads_only(knobs: Knobs) -> None:
    """The reason names the knob."""
    (told,) = objections(replace(ARM, client=Program("quic-go", knobs=knobs)), [UPLOAD])
    assert "cannot upload with" in told
    assert str(knobs.session or knobs.migration) in told


def test_tcp_pacing_is_of_those_who_listen() -> None:
    """A client's socket gets no rate limit, so that its upload would not be paced."""
    (told,) = objections(replace(ARM, protocol="h2", tcp=Tcp("cubic", pacing=True)), [UPLOAD])
    assert "tcp.pacing" in told
    assert objections(replace(ARM, protocol="h2", tcp=Tcp("bbr", pacing=True)), [UPLOAD]) == []


def test_whoever_uploads_tells_its_sender_or_receiver() -> None:
    """Clients their congestion control, servers their receive window, over each protocol that they speak."""
    able = [endpoint for endpoint in ENDPOINTS if "upload" in endpoint.abilities and endpoint.role != "proxy"]
    assert {endpoint.name for endpoint in able} == {"quic-go", "nginx", "curl", "curl-cffi"}
    for endpoint in able:
        assert isinstance(endpoint, Uploads), endpoint.name
        for protocol in endpoint.protocols & {"h2", "h3"}:
            told = endpoint.upload_facts(Program(endpoint.name), protocol, Tcp("cubic"))
            assert ("congestion_control" if endpoint.role == "client" else "receive_window") in told


def test_curl_is_told_a_file_for_each_url() -> None:
    """Before its URL."""
    context = replace(SENDING, concurrency=2)
    jobs = find("client", "curl").command(context).files
    argv = next(json.loads(text)["argv"] for file, text in jobs.items() if file.suffix == ".json")
    for name in ("x~1", "x~2"):
        place = argv.index(f"https://server.test/{name}")
        assert argv[place - 2 : place] == ["--upload-file", f"/lab/uploads/{name}"]
    assert "--upload-file" not in find("client", "curl").command(CONTEXT).argv


def test_nginx_keeps_uploads_in_a_folder_of_their_own() -> None:
    """PUT goes there, everything else to the served files."""
    (text,) = find("server", "nginx").command(replace(CONTEXT, received=Path("/lab/received"))).files.values()
    assert 'map $request_method $root { default "/lab/www"; PUT "/lab/received"; }' in text
    assert "dav_methods PUT;" in text
    (text,) = find("server", "nginx").command(CONTEXT).files.values()
    assert "dav_methods" not in text
