# SPDX-License-Identifier: Apache-2.0
"""BibTeX of the programs of a study, in the versions that it ran, and of quiclab itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from quiclab.compare.study import Study, read_json
from quiclab.report.printing import escaped


@dataclass(frozen=True)
class Source:
    """Title of a program, with the project that makes it and the page that it has."""

    title: str
    author: str
    url: str


QUICLAB = Source("quiclab: HTTP/3 on QUIC against HTTP/2 on TCP", "The quiclab authors", "")
SOURCES: Mapping[str, Source] = {
    "aioquic": Source("aioquic", "The aioquic authors", "https://github.com/aiortc/aioquic"),
    "caddy": Source("Caddy", "The Caddy authors", "https://caddyserver.com"),
    "chromium": Source("Chromium", "The Chromium authors", "https://www.chromium.org"),
    "curl": Source("curl", "Daniel Stenberg and contributors", "https://curl.se"),
    "curl-cffi": Source("curl_cffi", "The curl_cffi authors", "https://github.com/lexiforest/curl_cffi"),
    "envoy": Source("Envoy", "The Envoy authors", "https://www.envoyproxy.io"),
    "firefox": Source("Firefox", "Mozilla", "https://www.firefox.com"),
    "haproxy": Source("HAProxy", "The HAProxy authors", "https://www.haproxy.org"),
    "nghttp": Source("nghttp2", "The nghttp2 authors", "https://nghttp2.org"),
    "nginx": Source("nginx", "The nginx authors", "https://nginx.org"),
    "ngtcp2": Source("ngtcp2", "The ngtcp2 authors", "https://github.com/ngtcp2/ngtcp2"),
    "quic-go": Source("quic-go", "The quic-go authors", "https://quic-go.net"),
    "quiche": Source("quiche", "Cloudflare", "https://github.com/cloudflare/quiche"),
    "quinn": Source("Quinn", "The Quinn authors", "https://github.com/quinn-rs/quinn"),
    "wget2": Source("GNU Wget2", "The Wget2 authors", "https://gitlab.com/gnuwget/wget2"),
}
"""Programs by the first part of their endpoint's name."""


def bibtex(study: Study) -> str:
    """Return an entry for quiclab, and one for each program and version in the study's arms, in their order."""
    host = read_json(study.directory / "host.json", [])
    own = host.get("quiclab")
    entries = {("quiclab", ""): _entry("quiclab", QUICLAB, own if isinstance(own, str) else "")}
    told = host.get("programs")
    versions: Mapping[str, object] = told if isinstance(told, dict) else {}
    for arm in study.arms.values():
        for role, program in arm.programs:
            name = str(program.command)
            version = str(versions.get(f"{role} {program.name}") or "").partition(" (")[0]
            entries.setdefault((name, version), _entry(name, source_of(name), version))
    return "\n\n".join(entries.values())


def source_of(name: str) -> Source:
    """Return the source of a program; of one that is not known its name alone."""
    variant = re.sub(r"-(faulty-.*|time-threshold)$", "", name)  # of an endpoint with a planted fault
    return SOURCES.get(variant) or Source(name, "", "")


def _entry(name: str, source: Source, version: str) -> str:
    key = re.sub(r"[^A-Za-z0-9]+", "-", f"{name} {version}").strip("-").lower() or "program"
    fields = {
        "title": f"{{{escaped(source.title)}}}",
        "author": f"{{{escaped(source.author)}}}" if source.author else "",
        "version": escaped(version),
        "note": f"Version {escaped(version)}" if version else "",
        "url": source.url,
    }
    lines = [f"  {field} = {{{value}}}," for field, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}"])
