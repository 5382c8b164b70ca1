# SPDX-License-Identifier: Apache-2.0
"""Chromium as an HTTP/2 and HTTP/3 client for single objects, headless, with a fresh profile for each trial.

HTTP/3 is forced, not discovered: Chromium does not follow Alt-Svc to a server whose CA is not a public one. It reads
that field, though, and learns by it that the server multiplexes (`_pages.HTTP3_HERE`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from quiclab.lab.endpoints._api import Ability, Available, BoundedRun, Command, Context, Role, Unsupported
from quiclab.lab.endpoints._stacks import Launch, find_program
from quiclab.lab.endpoints._versions import Known
from quiclab.lab.endpoints.clients._player import player_settings
from quiclab.model.study import Program, Protocol, Tcp

_PROGRAM = Path(__file__).with_name("_chromium_program.py")
_PAGE_PROGRAM = Path(__file__).with_name("_chromium_page_program.py")
_VIEWPORT = (800, 600)
_FINISHING_S = 30.0
"""Time for writing a trace after the time limit."""
_VIDEO_PROGRAM = Path(__file__).with_name("_chromium_video_program.py")
_NAMES = ("chromium", "chromium-browser", "google-chrome-stable")
_INSTALL = "apt-get install -y chromium libnss3-tools"

KNOWN = Known("chromium", "156", "156")
"""Seen in its NetLog and its transport parameters."""
_DATAGRAMS = {4: 1250, 6: 1230}
"""UDP payload of its datagrams, by version of IP."""
_HTTPS = 443
_MOST_PAYLOAD = 1432
"""Largest payload: Chromium's bound is 1452 bytes over IPv4, and 20 less over IPv6."""

_ARGUMENTS = (
    *("--headless", "--disable-gpu", "--remote-debugging-pipe", "--disable-dev-shm-usage", "--no-proxy-server"),
    *("--no-first-run", "--no-default-browser-check", "--password-store=basic", "--disable-breakpad"),
    *("--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--no-pings"),
    *("--disable-domain-reliability", "--disable-client-side-phishing-detection", "--disable-sync"),
    *("--disable-extensions", "--disable-component-extensions-with-background-pages", "--metrics-recording-only"),
    # Let a video start by itself; without sound it may, but not on every page.
    "--autoplay-policy=no-user-gesture-required",
    # A page with WebRTC sends nothing to peers, and no multicast DNS for names of its own addresses.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    *("--disable-background-timer-throttling", "--disable-renderer-backgrounding"),
    "--disable-features=NetworkTimeServiceQuerying,OptimizationHints,MediaRouter,Translate,WebRtcHideLocalIpsWithMdns",
)


class Chromium:
    """Chromium, which a small program of ours drives through its DevTools pipe."""

    name = "chromium"
    role: Role = "client"
    protocols: frozenset[Protocol] = frozenset({"h2", "h3"})
    knobs: Mapping[Protocol, frozenset[str]] = {
        "h2": frozenset({"verify", "tls_version", "session", "http_cache"}),
        "h3": frozenset({"verify", "max_payload", "session", "http_cache"}),
    }
    abilities: frozenset[Ability] = frozenset({"keylog", "pages", "video", "first_visit"})

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Ask it for its version."""
        launch = _find(prefix)
        if launch is None:
            return Unsupported("there is no Chromium", _INSTALL)
        text = run([*launch.argv, "--version"])
        if text is None:
            return Unsupported(f"{launch.path} does not run", _INSTALL)
        return Available(next((word for word in text.split() if word[0].isdigit()), text.strip()), launch.path)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Reason why a value is not possible: packets have an upper bound, and there are no 0-RTT data over TCP."""
        asked = program.knobs.max_payload
        if asked is not None and asked > _MOST_PAYLOAD:
            return f"chromium sends at most {_MOST_PAYLOAD} bytes of UDP payload, not {asked}"
        if program.knobs.session == "early_data" and protocol == "h2":
            return "chromium sends no 0-RTT data over TCP"
        if program.knobs.http_cache and program.knobs.session not in ("resumed", "early_data"):
            return 'http_cache keeps what a first visit loaded: write session = "resumed" or "early_data" beside it'
        return None

    def first_payload(self, program: Program, ip_version: Literal[4, 6]) -> int:
        """UDP payload in bytes of its first datagrams."""
        return program.knobs.max_payload or _DATAGRAMS[ip_version]

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Receive windows from its NetLog and its transport parameters."""
        if protocol == "h3":
            windows = "QUIC stream window 6 MiB, connection window 15 MiB"
            return KNOWN.traits(program, {"receive_window": windows})
        largest = tcp.receive_buffer[2]
        windows = f"HTTP/2 stream window 6 MiB, connection window 15 MiB, TCP buffer up to {largest}"
        return KNOWN.traits(program, {"receive_window": windows})

    def command(self, context: Context) -> Command:
        """The job goes in a file; the program starts the browser, then waits for the word."""
        job = context.work_dir / f"{context.output.stem}-job.json"
        launch = _find(context.program.prefix) or Launch((_NAMES[0],))
        certutil = find_program("certutil")
        netlog = context.qlog_dir / "client-netlog.json" if context.qlog_dir is not None else None
        settings: dict[str, object] = {
            "url": context.url
            if context.page is None
            else f"https://{context.page.hosts[0].name}{_port(context)}/{context.page.document}",
            "protocol": context.protocol,
            "argv": [*launch.argv, *_ARGUMENTS, *_arguments(context, netlog), "about:blank"],
            "env": dict(launch.env),
            "home": str(context.work_dir / f"{context.output.stem}-chromium"),
            "netlog": None if netlog is None else str(netlog),
            "verify": context.knobs.verify,
            "ca": str(context.ca),
            "certificate": str(context.certificate),
            "certutil": None if certutil is None else list(certutil.argv),
            "certutil_env": {} if certutil is None else dict(certutil.env),
            "output": str(context.output),
        }
        program = _PROGRAM
        if context.video is not None:
            program, settings["video"] = _VIDEO_PROGRAM, player_settings(context.video)
        if context.page is not None:
            program = _PAGE_PROGRAM
            settings |= {
                "viewport": _VIEWPORT,
                "limit_s": context.page.limit_s,
                "resources": context.page.resources,
                "session": context.knobs.session,
                "http_cache": bool(context.knobs.http_cache),
            }
        return Command(
            argv=(sys.executable, "-I", str(program), str(job)),
            env={"HOME": str(context.work_dir), "TMPDIR": str(context.work_dir), "PYTHONDONTWRITEBYTECODE": "1"},
            files={job: json.dumps(settings)},
            waits_for_go=True,
            ready_file=context.output.with_suffix(".ready"),
            first_visit_file=context.output.with_suffix(".visited") if context.knobs.session else None,
            finishing_s=_FINISHING_S if context.page else 0.0,
            reports=True,
        )


def _port(context: Context) -> str:
    return "" if context.port == _HTTPS else f":{context.port}"


def _arguments(context: Context, netlog: Path | None) -> list[str]:
    """Arguments that differ between trials: names, protocol, knobs, logs."""
    names = dict.fromkeys(context.names, context.address) | {host.name: host.address for host in context.other_hosts}
    rules = [f"MAP {name} {f'[{each}]' if context.ip_version == 6 else each}" for name, each in names.items()]
    arguments = [f"--host-resolver-rules={', '.join([*rules, 'MAP * ~NOTFOUND'])}"]
    if context.protocol == "h3":
        quic = [*context.names, *(host.name for host in context.other_hosts if "h3" in host.protocols)]
        origins = ",".join(f"{name}:{context.port}" for name in quic)
        arguments += ["--enable-quic", f"--origin-to-force-quic-on={origins}"]
    else:
        arguments += ["--disable-quic"]
    if context.knobs.max_payload is not None:
        # Chromium subtracts the 20 bytes by which the header of IPv6 is longer.
        length = context.knobs.max_payload + (20 if context.ip_version == 6 else 0)
        arguments += [f"--quic-max-packet-length={length}"]
    if context.knobs.tls_version is not None:
        version = f"tls{context.knobs.tls_version}"
        arguments += [f"--ssl-version-min={version}", f"--ssl-version-max={version}"]
    if netlog is not None:
        arguments += [f"--log-net-log={netlog}", "--net-log-capture-mode=Default"]
    if context.keylog is not None:
        arguments += [f"--ssl-key-log-file={context.keylog}"]
    return arguments


def _find(prefix: str | None) -> Launch | None:
    """Find the browser itself, not the script that distributions put before it, which adds arguments and keys of its
    own."""
    for name in _NAMES:
        launch = find_program(name, prefix)
        if launch is not None:
            binary = Path(launch.path).parent.parent / "lib" / name / name
            return Launch((str(binary),), launch.env, str(binary)) if binary.is_file() else launch
    return None
