# SPDX-License-Identifier: Apache-2.0
"""A client that does not do what it was asked for, and ends with exit code 0: `python -I THIS LIE {words}`.

LIE is `honest`, `404` (asks for what is not there), `range` (1,000 bytes), `abort` (gives up after some bytes), `http1`
or `nothing` (connects and asks for nothing). With `-claims` behind it the client also writes an account in which all is
well, with `-early` one in which it had all after a millisecond, with `-late` one in which it began a millisecond before
its end. Words are the URL, host:port:address, the CA, the arm's protocol, the folder of the objects and where its
account belongs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
import time
from pathlib import Path

from curl_cffi.const import CurlHttpVersion, CurlOpt
from curl_cffi.curl import CURL_WRITEFUNC_ERROR, Curl, CurlError

_VERSIONS = {"h1": CurlHttpVersion.V1_1, "h2": CurlHttpVersion.V2TLS, "h3": CurlHttpVersion.V3ONLY}
_NAMES = {"h1": "HTTP/1.1", "h2": "HTTP/2", "h3": "HTTP/3"}
_ENOUGH_BYTES = 5000


def main() -> None:
    """Lie."""
    how, url, resolve, ca, protocol, root, output = sys.argv[1:]
    lie, _, claims = how.partition("-")
    start_ns, got = time.monotonic_ns(), 0

    def take(data: bytes) -> int:
        nonlocal got
        got += len(data)
        return CURL_WRITEFUNC_ERROR if lie == "abort" and got > _ENOUGH_BYTES else len(data)

    curl = Curl()
    asked = url.rpartition("/")[0] + "/there-is-no-such-object" if lie == "404" else url
    curl.setopt(CurlOpt.URL, asked.encode())
    curl.setopt(CurlOpt.HTTP_VERSION, CurlHttpVersion.V1_1 if lie == "http1" else _VERSIONS[protocol])
    curl.setopt(CurlOpt.RESOLVE, [resolve])
    curl.setopt(CurlOpt.CAINFO, ca.encode())
    curl.setopt(CurlOpt.PROXY, b"")
    curl.setopt(CurlOpt.WRITEFUNCTION, take)
    if lie == "range":
        curl.setopt(CurlOpt.RANGE, b"0-999")
    if lie == "nothing":
        curl.setopt(CurlOpt.CONNECT_ONLY, 1)
    with contextlib.suppress(CurlError):
        curl.perform()
    curl.close()
    if claims:
        body, end_ns = Path(root, url.rpartition("/")[2]).read_bytes(), time.monotonic_ns()
        if claims == "early":
            end_ns = start_ns + 1_000_000
        if claims == "late":
            start_ns = end_ns - 1_000_000
        request = {
            "url": url,
            "http_version": _NAMES[protocol],
            "status": 200,
            "body_bytes": len(body),
            "sha256": hashlib.sha256(body).hexdigest(),
            "start_ns": start_ns,
            **dict.fromkeys(("first_byte_ns", "last_byte_ns", "close_ns"), end_ns),
        }
        Path(output).write_text(json.dumps({"version": 1, "versions": {}, "close_ns": end_ns, "requests": [request]}))


if __name__ == "__main__":
    main()
