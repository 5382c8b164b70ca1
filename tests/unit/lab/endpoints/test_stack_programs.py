# SPDX-License-Identifier: Apache-2.0
"""Commands and configurations of the programs that `make stacks` installs: every knob reaches the program."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from contexts import CONTEXT, WORK

from quiclab.lab.endpoints import Command, Context, Origin, find, objections
from quiclab.model.study import Arm, Knobs, Program, Role, Tcp
from quiclab.model.units import ByteCount, Duration

NO_KNOBS = Knobs()
ORIGIN = Origin("10.77.0.2", 8443, "h1")


def command(role: Role, name: str, knobs: Knobs = NO_KNOBS, context: Context = CONTEXT) -> Command:
    """Of one program with these knobs."""
    context = replace(context, program=Program(name, knobs=knobs))
    return find(role, name).command(replace(context, origin=ORIGIN) if role == "proxy" else context)


def job(made: Command) -> list[str]:
    """The argv that our small program starts."""
    return next(json.loads(text)["argv"] for file, text in made.files.items() if file.name.endswith("-job.json"))


def only_text(made: Command) -> str:
    """The one configuration file."""
    (text,) = made.files.values()
    return text


def test_nginx_serves_both_transports_on_one_address() -> None:
    """And refuses another name instead of answering it."""
    text = only_text(command("server", "nginx"))
    assert "listen 10.77.0.2:443 quic reuseport;" in text
    assert "listen 10.77.0.2:443 ssl;" in text
    assert "root /lab/www;" in text
    assert "ssl_early_data off;" in text
    assert "ssl_reject_handshake on;" in text


@pytest.mark.parametrize(
    ("knobs", "line"),
    [
        (Knobs(groups=("secp384r1", "x25519")), "ssl_ecdh_curve secp384r1:X25519;"),
        (Knobs(max_streams=7), "http3_max_concurrent_streams 7;"),
        (Knobs(stream_window=ByteCount(9000)), "http3_stream_buffer_size 9000;"),
        (Knobs(upload_window=ByteCount(9000)), "http2_body_preread_size 9000;"),
        (Knobs(gso=True), "quic_gso on;"),
        (Knobs(retry=True), "quic_retry on;"),
        (Knobs(udp_receive_buffer=ByteCount(9000)), "quic reuseport rcvbuf=9000;"),
        (Knobs(early_data=True), "ssl_early_data on;"),
    ],
)
def test_knobs_of_nginx(knobs: Knobs, line: str) -> None:
    """Each is a line, as a server and as a proxy."""
    assert line in only_text(command("server", "nginx", knobs))
    assert line in only_text(command("proxy", "nginx", knobs))


def test_compression_takes_both_ends() -> None:
    """One that asks alone, or does it alone, would be measured as if it did."""
    on = Knobs(compression=True)
    arm = Arm("x", "h3", Program("curl", knobs=on), Program("caddy", knobs=on), Tcp("reno"))
    assert objections(arm) == []
    assert objections(replace(arm, server=Program("caddy"))) == [
        "compression needs both ends, and the server caddy is not told to"
    ]
    assert objections(replace(arm, client=Program("curl"))) == [
        "compression needs both ends, and the client curl is not told to"
    ]


def test_who_does_not_know_ack_frequency_is_not_asked() -> None:
    """By either end."""
    asks = Knobs(peer_ack_frequency=10)
    arm = Arm("x", "h3", Program("quinn"), Program("quinn", knobs=asks), Tcp("reno"))
    assert objections(arm) == []
    (told,) = objections(replace(arm, client=Program("quiche")))
    assert told.startswith("the client quiche knows no ACK_FREQUENCY frames")
    (told,) = objections(replace(arm, client=Program("quinn", knobs=asks), server=Program("caddy")))
    assert told.startswith("the server caddy knows no ACK_FREQUENCY frames")


def test_nginx_verifies_its_origin() -> None:
    """Under the study's CA and name."""
    text = only_text(command("proxy", "nginx"))
    assert "upstream origin { server 10.77.0.2:8443; keepalive 8; }" in text
    assert "proxy_ssl_verify on;" in text
    assert "proxy_ssl_trusted_certificate /lab/tls/ca.crt;" in text


@pytest.mark.parametrize(
    ("knobs", "line"),
    [
        (Knobs(), "quic-cc-algo cubic\n"),
        (Knobs(congestion_control="reno"), "quic-cc-algo newreno\n"),
        (Knobs(congestion_control="bbr", max_window=ByteCount(65536)), "quic-cc-algo bbr(65536)\n"),
        (Knobs(hystart=True), "tune.quic.cc-hystart on"),
        (Knobs(pacing=False), "tune.quic.disable-tx-pacing"),
        (Knobs(gso=False), "tune.quic.disable-udp-gso"),
        (Knobs(retry=True), "alpn h3 quic-force-retry quic-cc-algo"),
        (Knobs(retry=True), "cluster-secret"),
        (Knobs(max_streams=5), "tune.quic.frontend.max-streams-bidi 5"),
        (Knobs(groups=("x25519mlkem768",)), "curves X25519MLKEM768"),
    ],
)
def test_knobs_of_haproxy(knobs: Knobs, line: str) -> None:
    """Each is a word of its configuration."""
    assert line in only_text(command("proxy", "haproxy", knobs))


def test_envoy_runs_cubic_by_a_flag_and_has_no_time_limit() -> None:
    """15 seconds a response would cut slow paths."""
    for name, to_bbr in (("cubic", False), ("bbr", True)):
        document = json.loads(only_text(command("proxy", "envoy", Knobs(congestion_control=name))))
        (flag,) = document["layered_runtime"]["layers"][0]["static_layer"].values()
        assert flag is to_bbr
    for listener in document["static_resources"]["listeners"]:
        manager = listener["filter_chains"][0]["filters"][0]["typed_config"]
        assert manager["route_config"]["virtual_hosts"][0]["routes"][0]["route"]["timeout"] == "0s"


@pytest.mark.parametrize(("protocol", "option"), [("h1", "--http1.1"), ("h2", "--http2"), ("h3", "--http3-only")])
def test_curl_asks_for_one_protocol(protocol: str, option: str) -> None:
    """Without a fallback to another, by the address of the server, and checks the certificate."""
    argv = job(command("client", "curl", context=replace(CONTEXT, protocols=(protocol,))))
    assert option in argv
    assert "server.test:443:10.77.0.2" in argv
    assert argv[argv.index("--cacert") + 1] == "/lab/tls/ca.crt"


def test_curl_without_verification() -> None:
    """The cost of it can be measured."""
    argv = job(command("client", "curl", Knobs(verify=False)))
    assert "--insecure" in argv
    assert "--cacert" not in argv


@pytest.mark.parametrize("role", ["client", "server"])
def test_knobs_of_ngtcp2(role: Role) -> None:
    """Client and server know the same options."""
    knobs = Knobs("bbr", groups=("secp384r1",), ack_frequency=4, initial_rtt=Duration(5_000_000), max_payload=1300)
    made = command(role, "ngtcp2", knobs)
    argv = job(made) if role == "client" else made.argv
    for option in ("--cc=bbr", "--groups=-GROUP-ALL:+GROUP-SECP384R1", "--ack-thresh=4", "--initial-rtt=5000000ns"):
        assert option in argv
    assert "--max-udp-payload-size=1300" in argv


def test_the_first_visit_of_ngtcp2_waits_for_a_ticket() -> None:
    """The measured one reads it, and only for early data the server's old transport parameters."""
    context = replace(CONTEXT, priming=True)
    first = job(command("client", "ngtcp2", Knobs(session="early_data"), context))
    assert "--wait-for-ticket" in first
    measured = job(command("client", "ngtcp2", Knobs(session="resumed")))
    assert f"--session-file={WORK / 'session'}" in measured
    assert not any(option.startswith(("--tp-file", "--token-file")) for option in measured)


def test_both_visits_of_ngtcp2_name_the_file_of_the_token() -> None:
    """The first one writes it, the measured one reads it."""
    knobs = Knobs(session="early_data", address_token=True)
    for priming in (True, False):
        visit = job(command("client", "ngtcp2", knobs, replace(CONTEXT, priming=priming)))
        assert f"--token-file={WORK / 'session.token'}" in visit


def test_nghttp_and_wget2_know_the_server_by_address() -> None:
    """Neither asks a name server, whatever the version of IP."""
    context = replace(CONTEXT, protocols=("h2",), ip_version=6, address="fd77::2")
    argv = job(command("client", "nghttp", context=context))
    assert argv[-1] == "https://[fd77::2]:443/1MB"
    assert ":authority: server.test" in argv
    wget2 = command("client", "wget2", context=context)
    assert wget2.files[WORK / "client-names"] == "fd77::2 server.test\n"


@pytest.mark.parametrize(
    ("role", "program", "protocol", "words"),
    [
        ("server", Program("ngtcp2", knobs=Knobs(early_data=False)), "h3", "accepts early data always"),
        ("server", Program("ngtcp2", knobs=Knobs("bbr2")), "h3", "one of reno, cubic, bbr"),
        ("server", Program("ngtcp2", knobs=Knobs(groups=("x25519mlkem768",))), "h3", "no group x25519mlkem768"),
        ("server", Program("nginx", knobs=Knobs("cubic")), "h3", "has no congestion_control over h3: unsupported"),
        ("proxy", Program("envoy", knobs=Knobs("reno")), "h3", "one of bbr, cubic"),
        ("proxy", Program("envoy", knobs=Knobs(stream_window=ByteCount(64_000))), "h2", "be 65535 to 2147483647 bytes"),
        ("proxy", Program("envoy", knobs=Knobs(stream_window=ByteCount(2**25))), "h3", "be 1 to 16777216 bytes, not"),
        ("client", Program("nghttp", knobs=Knobs(stream_window=ByteCount(70_000))), "h2", "power of two"),
        ("client", Program("nghttp", knobs=Knobs(verify=True)), "h2", "verifies no certificate"),
        ("client", Program("wget2"), "h3", "speaks h1, h2, not h3"),
    ],
)
def test_what_cannot_be_had_is_said_when_the_plan_is_made(
    role: Role, program: Program, protocol: str, words: str
) -> None:
    """The reason is told."""
    arm = Arm("x", protocol, Program("curl-cffi"), Program("caddy"), Tcp("reno"))  # type: ignore[arg-type]
    (objection,) = objections(replace(arm, **{role: program}))  # type: ignore[arg-type]
    assert words in objection


def test_a_proxy_speaks_certain_protocols_to_its_origin() -> None:
    """nginx 1.26 HTTP/1.1 only."""
    arm = Arm(
        "x", "h3", Program("curl-cffi"), Program("caddy"), Tcp("reno"), proxy=Program("nginx"), origin_protocol="h2"
    )
    assert objections(arm) == ["the proxy nginx speaks h1 to its origin, not h2"]


def test_files_of_the_trial_stay_in_its_folder(tmp_path: Path) -> None:
    """nginx makes its temporary folders there as well."""
    text = only_text(command("server", "nginx", context=replace(CONTEXT, work_dir=tmp_path)))
    assert text.count(str(tmp_path)) >= 6
