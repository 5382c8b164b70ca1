# SPDX-License-Identifier: Apache-2.0
"""Other ways to run the same study: IPv6, packet sockets, another QUIC, another congestion control, a plain user."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from by_night import by_night
from plain_user import as_plain_user, open_folder
from small_study import main_only, quiclab, trials, write_spec

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


def _run(tmp_path: Path, *options: str, **changes: str | int) -> list[dict[str, object]]:
    study = tmp_path / "study"
    done = quiclab("run", main_only(write_spec(tmp_path, **changes)), "--out", study, "--no-report", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return trials(study)


def test_ipv6(tmp_path: Path) -> None:
    """The whole study over IPv6, proven by the packets."""
    found = _run(tmp_path, path="ip_version = 6")
    assert {trial["server_address"] for trial in found} == {"fd77::2"}
    assert {trial["proof"]["transport"] for trial in found} == {"tcp", "quic"}  # type: ignore[index]


@pytest.mark.nightly
def test_packet_sockets(tmp_path: Path) -> None:
    """Where no TUN device may be opened, veth carries the same study; the two are never mixed in one study."""
    found = _run(tmp_path, "--backend", "veth")
    assert {trial["link"]["backend"] for trial in found} == {"veth"}  # type: ignore[index]
    mixed = quiclab("run", tmp_path / "study", "--backend", "tun")
    assert mixed.returncode == 2
    assert "was run over veth" in mixed.stderr


@pytest.mark.parametrize("name", ["bbr", *by_night("cubic")])
def test_tcp_congestion_control_is_what_was_asked(tmp_path: Path, name: str) -> None:
    """The server's own socket says so, whatever the machine's default or its list of allowed ones."""
    if name not in Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text():
        pytest.skip(f"this kernel has no {name}")
    h2 = [trial for trial in _run(tmp_path, congestion_control=name, size="200 KB") if trial["protocol"] == "h2"]
    assert {trial["proof"]["tcp_congestion_control"] for trial in h2} == {name}  # type: ignore[index]


def test_aioquic_at_both_ends(tmp_path: Path) -> None:
    """The other QUIC, with the congestion control that was asked of it, and a qlog at each end."""
    own = '{ name = "aioquic", congestion_control = "cubic" }'
    spec = write_spec(tmp_path, server_h3=own)
    spec.write_text(
        spec.read_text().replace('protocol = "h3"\nclient = "curl-cffi"', 'protocol = "h3"\nclient = "aioquic"')
    )
    done = quiclab("run", main_only(spec), "--out", tmp_path / "study", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    h3 = [trial for trial in trials(tmp_path / "study") if trial["protocol"] == "h3"]
    for trial in h3:
        assert trial["client"]["requests"][0]["http_version"] == "HTTP/3"
        paths = [artefact["path"] for artefact in trial["artefacts"] if artefact["format"] == "qlog"]
        assert {path.split("/")[1] for path in paths} == {"client-qlog", "server-qlog"}


def test_a_program_of_the_users_own(tmp_path: Path) -> None:
    """libcurl through our own script as a command template: without account and keys only its transport is proven."""
    script = tmp_path / "client.py"
    script.write_text(
        "import sys, pathlib\nfrom curl_cffi import Curl, CurlOpt, CurlHttpVersion\n"
        "url, ca, address, body = sys.argv[1:]\nchunks = []\ncurl = Curl()\n"
        "curl.setopt(CurlOpt.URL, url.encode())\ncurl.setopt(CurlOpt.CAINFO, ca.encode())\n"
        "curl.setopt(CurlOpt.HTTP_VERSION, CurlHttpVersion.V2TLS)\n"
        "curl.setopt(CurlOpt.RESOLVE, [f'server.test:443:{address}'])\n"
        "curl.setopt(CurlOpt.WRITEFUNCTION, lambda data: chunks.append(data) or len(data))\n"
        "curl.perform()\npathlib.Path(body).write_bytes(b''.join(chunks))\n"
    )
    argv = [sys.executable, str(script), "{url}", "{ca}", "{address}", "{work}/body"]
    client = f"{{ argv = {argv!r} }}".replace("'", '"')
    done = quiclab("run", main_only(write_spec(tmp_path, client=client)), "--out", tmp_path / "study", "--no-report")
    assert done.returncode == 1, done.stdout + done.stderr
    (h2,) = (trial for trial in trials(tmp_path / "study") if trial["protocol"] == "h2")
    assert h2["reason"].startswith("nothing shows the HTTP version: the client left no TLS keys"), h2["reason"]
    assert (h2["status"], h2["proof"]["transport"], h2["proof"]["http_version"]) == ("unproven", "tcp", "unproven")


@pytest.mark.skipif(os.geteuid() != 0, reason="already a plain user")
def test_a_plain_user(tmp_path: Path) -> None:
    """The same study as an ordinary user without any capability."""
    with open_folder() as folder, as_plain_user() as before:
        spec = main_only(write_spec(folder))
        done = quiclab("run", spec, "--out", folder / "study", before=before)
        assert done.returncode == 0, done.stdout + done.stderr
        assert {trial["status"] for trial in trials(folder / "study")} == {"verified"}
