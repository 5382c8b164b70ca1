# SPDX-License-Identifier: Apache-2.0
"""A client that does not do what it was asked for, and ends with exit code 0: `python -I THIS LIE {words}`.

LIE is `honest`, `404` (asks for what is not there), `range` (1,000 bytes), `abort` (gives up after some bytes),
`http1`, `nothing` (connects and asks for nothing), `ranges` (every byte, by eight requests on as many connections), or,
with TLS keys for a small object alone, `transport` and `connection`: what it was asked for comes over the other
transport, or over a second connection. With `-claims` behind it the client also writes an account in which all is
well, with `-early` one in which it had all after a millisecond, with `-late` one in which it began a millisecond before
its end, with `-first` one in which its first byte came after a millisecond, with `-url` one of another URL. Words are
the URL, host:port:address, the CA, the arm's protocol, the folder of the objects and where its account belongs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from curl_cffi.const import CurlHttpVersion, CurlOpt
from curl_cffi.curl import CURL_WRITEFUNC_ERROR, Curl, CurlError

_VERSIONS = {"h1": CurlHttpVersion.V1_1, "h2": CurlHttpVersion.V2TLS, "h3": CurlHttpVersion.V3ONLY}
_NAMES = {"h1": "HTTP/1.1", "h2": "HTTP/2", "h3": "HTTP/3"}
_OTHER = {"h2": "h3", "h3": "h2"}
_MS = 1_000_000
_ENOUGH_BYTES = 5000
_PARTS = 8


def main() -> None:
    """Lie."""
    how, url, resolve, ca, protocol, root, output = sys.argv[1:]
    lie, _, claims = how.partition("-")
    body = Path(root, url.rpartition("/")[2]).read_bytes()
    start_ns, got = time.monotonic_ns(), 0

    def take(data: bytes) -> int:
        nonlocal got
        got += len(data)
        return CURL_WRITEFUNC_ERROR if lie == "abort" and got > _ENOUGH_BYTES else len(data)

    beside = url.rpartition("/")[0]
    asked = {"404": beside + "/there-is-no-such-object", "transport": beside + "/warm-up"}
    asked["connection"] = asked["transport"]
    version = CurlHttpVersion.V1_1 if lie == "http1" else _VERSIONS[protocol]
    for part in {"range": ["0-999"], "ranges": _parts(len(body))}.get(lie, [None]):
        _ask(asked.get(lie, url), resolve, ca, version, take, part, connect_only=lie == "nothing")
    if lie in ("transport", "connection"):
        without_keys = {name: value for name, value in os.environ.items() if name != "SSLKEYLOGFILE"}
        over = _OTHER[protocol] if lie == "transport" else protocol
        words = [sys.executable, "-I", __file__, "honest", url, resolve, ca, over, root, output]
        subprocess.run(words, env=without_keys, check=True)
    if claims:
        _write_account(Path(output), claims, url, protocol, body, start_ns)


def _parts(length: int) -> list[str]:
    step = -(-length // _PARTS)
    return [f"{start}-{min(length, start + step) - 1}" for start in range(0, length, step)]


def _ask(
    url: str,
    resolve: str,
    ca: str,
    version: CurlHttpVersion,
    take: Callable[[bytes], int],
    part: str | None,
    *,
    connect_only: bool,
) -> None:
    """One request on a connection of its own."""
    curl = Curl()
    curl.setopt(CurlOpt.URL, url.encode())
    curl.setopt(CurlOpt.HTTP_VERSION, version)
    curl.setopt(CurlOpt.RESOLVE, [resolve])
    curl.setopt(CurlOpt.CAINFO, ca.encode())
    curl.setopt(CurlOpt.PROXY, b"")
    curl.setopt(CurlOpt.WRITEFUNCTION, take)
    if part is not None:
        curl.setopt(CurlOpt.RANGE, part.encode())
    if connect_only:
        curl.setopt(CurlOpt.CONNECT_ONLY, 1)
    with contextlib.suppress(CurlError):
        curl.perform()
    curl.close()


def _write_account(output: Path, claims: str, url: str, protocol: str, body: bytes, start_ns: int) -> None:
    end_ns = time.monotonic_ns()
    if claims == "early":
        end_ns = start_ns + _MS
    if claims == "late":
        start_ns = end_ns - _MS
    request = {
        "url": "https://elsewhere.test/other" if claims == "url" else url,
        "http_version": _NAMES[protocol],
        "status": 200,
        "body_bytes": len(body),
        "sha256": hashlib.sha256(body).hexdigest(),
        "start_ns": start_ns,
        "first_byte_ns": start_ns + _MS if claims == "first" else end_ns,
        "last_byte_ns": end_ns,
        "close_ns": end_ns,
    }
    output.write_text(json.dumps({"version": 1, "versions": {}, "close_ns": end_ns, "requests": [request]}))


if __name__ == "__main__":
    main()
