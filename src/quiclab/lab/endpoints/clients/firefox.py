# SPDX-License-Identifier: Apache-2.0
"""Firefox as an HTTP/2 and HTTP/3 client (neqo) for single objects and pages, headless, a fresh profile for each trial.

HTTP/3 is forced by Firefox's own mapping for tests, in place of an Alt-Svc header or an HTTPS record.
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
from quiclab.model.study import Program, Protocol, Tcp

_PROGRAM = Path(__file__).with_name("_firefox_program.py")
_PAGE_PROGRAM = Path(__file__).with_name("_firefox_page_program.py")
_VIEWPORT = (800, 600)
KNOWN = Known("firefox", "153", "153")
"""Seen in its transport parameters, its SETTINGS and its first WINDOW_UPDATEs."""
_DATAGRAMS = {4: 1252, 6: 1232}
"""UDP payload of its datagrams, by version of IP."""
_FINISHING_S = 30.0
"""Time for writing a HAR after the time limit."""
_NAMES = ("firefox-esr", "firefox")
_INSTALL = "apt-get install -y firefox-esr"

Preference = bool | int | str

_PREFERENCES: Mapping[str, Preference] = {
    "marionette.port": 0,
    # The page's clock is not made coarse.
    "privacy.reduceTimerPrecision": False,
    "privacy.reduceTimerPrecision.unconditional": False,
    # One connection, made for the request and to one address.
    "network.http.speculative-parallel-limit": 0,
    "network.http.happy_eyeballs_enabled": False,
    "network.http.http3.backup_timer_delay": 0,
    "network.http.http3.parallel_fallback_conn_limit": 0,
    "network.http.http3.fallback_to_h2_on_error": False,
    "network.http.http3.retry_different_ip_family": False,
    "network.http.http3.disable_when_third_party_roots_found": False,
    "network.predictor.enabled": False,
    "network.prefetch-next": False,
    # Names come from the program alone.
    "network.trr.mode": 5,
    "network.dns.disablePrefetch": True,
    "network.dns.upgrade_with_https_rr": False,
    "network.dns.use_https_rr_as_altsvc": False,
    "network.proxy.type": 0,
    # A page with WebRTC sends nothing to peers, and no multicast DNS for names of its own addresses.
    "media.peerconnection.ice.proxy_only": True,
    "media.peerconnection.ice.obfuscate_host_addresses": False,
    # Nothing is cached, asked of a third party, or done beside.
    "browser.cache.disk.enable": False,
    "browser.cache.memory.enable": False,
    "security.OCSP.enabled": 0,
    "security.enterprise_roots.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "app.normandy.enabled": False,
    "messaging-system.rsexperimentloader.enabled": False,
    "dom.ipc.processPrelaunch.enabled": False,
    # Ends once connections are closed and logs are written: the profile is thrown away.
    "toolkit.shutdown.fastShutdownStage": 3,
    "app.update.disabledForTesting": True,
    "browser.aboutwelcome.enabled": False,
    "browser.newtab.preload": False,
    "browser.newtabpage.enabled": False,
    "browser.region.update.enabled": False,
    "browser.safebrowsing.update.enabled": False,
    "browser.search.update": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.push.connection.enabled": False,
    "extensions.systemAddon.update.enabled": False,
    "extensions.update.enabled": False,
    "toolkit.telemetry.enabled": False,
}


class Firefox:
    """Firefox, which a small program of ours drives through Marionette."""

    name = "firefox"
    role: Role = "client"
    protocols: frozenset[Protocol] = frozenset({"h2", "h3"})
    knobs: Mapping[Protocol, frozenset[str]] = {
        "h2": frozenset({"tls_version"}),
        "h3": frozenset({"connection_window", "stream_window"}),
    }
    abilities: frozenset[Ability] = frozenset({"keylog", "qlog", "pages"})

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Ask it for its version."""
        launch = _find(prefix)
        if launch is None:
            return Unsupported("there is no Firefox", _INSTALL)
        text = run([*launch.argv, "--version"])
        if text is None:
            return Unsupported(f"{launch.path} does not run", _INSTALL)
        return Available(text.strip().rpartition(" ")[2], launch.path)

    def unsupported(self, program: Program, protocol: Protocol) -> str | None:
        """Every value of its knobs is possible."""
        return None

    def first_payload(self, program: Program, ip_version: Literal[4, 6]) -> int:
        """UDP payload in bytes of its first datagrams."""
        return _DATAGRAMS[ip_version]

    def traits(self, program: Program, protocol: Protocol, tcp: Tcp) -> Mapping[str, str]:
        """Receive windows from its transport parameters, its SETTINGS and its first WINDOW_UPDATEs."""
        if protocol == "h3":
            stream = program.knobs.stream_window or "12 MiB"
            connection = program.knobs.connection_window or "24 MiB"
            windows = f"QUIC stream window {stream}, connection window {connection} at first"
            return KNOWN.traits(program, {"receive_window": windows})
        largest = tcp.receive_buffer[2]
        windows = f"HTTP/2 stream and connection window 12 MiB, TCP buffer up to {largest}"
        return KNOWN.traits(program, {"receive_window": windows})

    def command(self, context: Context) -> Command:
        """The job goes in a file; the program starts the browser, then waits for the word."""
        job = context.work_dir / f"{context.output.stem}-job.json"
        launch = _find(context.program.prefix) or Launch((_NAMES[0],))
        # The second makes Firefox heed services.settings.server.
        env = {"MOZ_CRASHREPORTER_DISABLE": "1", "MOZ_REMOTE_SETTINGS_DEVTOOLS": "1", **launch.env}
        if context.keylog is not None:
            env["SSLKEYLOGFILE"] = str(context.keylog)
        page = context.page
        hosts = {host.name: host.address for host in context.other_hosts}
        settings: dict[str, object] = {
            "url": context.url if page is None else f"https://{page.hosts[0].name}/{page.document}",
            "protocol": context.protocol,
            "host": context.host if page is None else page.hosts[0].name,
            "names": dict.fromkeys(context.names, context.address) | hosts,
            "argv": [*launch.argv, "--headless", "--no-remote", "--marionette", "--remote-allow-system-access"],
            "env": env,
            "home": str(context.work_dir / f"{context.output.stem}-firefox"),
            "common_preferences": dict(_PREFERENCES),
            "preferences": {**_PREFERENCES, **_preferences(context)},
            "profile": str(context.kept / "firefox-profile") if context.kept is not None else None,
            "ca": str(context.ca),
            "qlog_dir": str(context.qlog_dir) if context.qlog_dir is not None else None,
            "output": str(context.output),
        }
        program = _PROGRAM
        if page is not None:
            program = _PAGE_PROGRAM
            settings |= {"viewport": _VIEWPORT, "limit_s": page.limit_s, "resources": page.resources}
        return Command(
            argv=(sys.executable, "-I", str(program), str(job)),
            env={"HOME": str(context.work_dir), "TMPDIR": str(context.work_dir), "PYTHONDONTWRITEBYTECODE": "1"},
            files={job: json.dumps(settings)},
            waits_for_go=True,
            ready_file=context.output.with_suffix(".ready"),
            finishing_s=_FINISHING_S if page else 0.0,
            reports=True,
        )


def _preferences(context: Context) -> dict[str, Preference]:
    """Preferences that differ between trials: protocol, knobs, logs."""
    h3 = context.protocol == "h3"
    quic = [*context.names, *(host.name for host in context.other_hosts if "h3" in host.protocols)]
    mapping = ",".join(f"{name};h3=:{context.port}" for name in quic)
    preferences: dict[str, Preference] = {
        "network.http.http3.enable": h3,
        "network.http.altsvc.enabled": h3,
        "network.http.http3.alt-svc-mapping-for-testing": mapping if h3 else "",
        "network.http.http3.force-use-alt-svc-mapping-for-testing": h3,
        "network.http.http3.enable_qlog": h3 and context.qlog_dir is not None,
    }
    knobs = context.knobs
    if knobs.connection_window is not None:
        preferences["network.http.http3.max_data"] = knobs.connection_window.bytes
    if knobs.stream_window is not None:
        preferences["network.http.http3.max_stream_data"] = knobs.stream_window.bytes
    if knobs.tls_version is not None:
        version = {"1.2": 3, "1.3": 4}[knobs.tls_version]
        preferences |= {"security.tls.version.min": version, "security.tls.version.max": version}
    return preferences


def _find(prefix: str | None) -> Launch | None:
    """Find the browser itself, not the script that distributions put before it."""
    for name in _NAMES:
        launch = find_program(name, prefix)
        if launch is not None:
            binary = Path(launch.path).parent.parent / "lib" / name / name
            return Launch((str(binary),), launch.env, str(binary)) if binary.is_file() else launch
    return None
