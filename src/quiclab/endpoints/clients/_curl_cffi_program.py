# SPDX-License-Identifier: Apache-2.0
"""Downloads with libcurl and writes down when. Started as a program of its own: `python -I THIS job.json`.

It loads libcurl, waits for a line on stdin, downloads the URL once with each protocol asked for, each on a new
connection, keeps bodies in memory, and hashes them after the last byte. All instants are
CLOCK_MONOTONIC in nanoseconds.
"""

from __future__ import annotations

import hashlib
import json
import socket
import sys
import time
import types
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

# The package's own __init__ loads a whole HTTP library (50 ms of CPU, twice in every trial); only its binding is used.
_package = types.ModuleType("curl_cffi")
_package.__path__ = list(getattr(find_spec("curl_cffi"), "submodule_search_locations", None) or [])
sys.modules["curl_cffi"] = _package

from curl_cffi.const import CurlHttpVersion, CurlInfo, CurlOpt  # noqa: E402
from curl_cffi.curl import Curl, CurlError  # noqa: E402

_VERSIONS = {"h2": CurlHttpVersion.V2TLS, "h3": CurlHttpVersion.V3ONLY}
_NAMES = {1: "HTTP/1.0", 2: "HTTP/1.1", 3: "HTTP/2", 30: "HTTP/3"}


def download(job: dict[str, Any], url: str, protocol: str) -> dict[str, Any]:
    """One request on a new connection; the connection is closed before the result is returned."""
    chunks: list[bytes] = []
    instants: list[int] = []

    def on_data(data: bytes) -> int:
        if not instants:
            instants.append(time.monotonic_ns())
        chunks.append(data)
        return len(data)

    curl = Curl()
    curl.setopt(CurlOpt.URL, url.encode())
    curl.setopt(CurlOpt.HTTP_VERSION, _VERSIONS[protocol])
    curl.setopt(CurlOpt.RESOLVE, [job["resolve"]])
    curl.setopt(CurlOpt.CAINFO, job["ca"].encode())
    curl.setopt(CurlOpt.PROXY, b"")
    curl.setopt(CurlOpt.WRITEFUNCTION, on_data)
    curl.setopt(CurlOpt.HTTP2_SETTINGS, job["h2_settings"].encode())
    curl.setopt(CurlOpt.HTTP2_WINDOW_UPDATE, job["h2_window_update"])
    if job["compression"]:
        curl.setopt(CurlOpt.ACCEPT_ENCODING, b"gzip")
    result: dict[str, Any] = {"url": url, "protocol": protocol, "start_ns": time.monotonic_ns()}
    try:
        curl.perform()
    except CurlError as error:
        result["error"] = str(error)
    result["last_byte_ns"] = time.monotonic_ns()
    result["first_byte_ns"] = instants[0] if instants else None
    result["status"] = curl.getinfo(CurlInfo.RESPONSE_CODE)
    result["http_version"] = _NAMES.get(cast("int", curl.getinfo(CurlInfo.HTTP_VERSION)), "unknown")
    result["congestion_control"] = _congestion_control(curl)
    curl.close()
    result["close_ns"] = time.monotonic_ns()
    body = b"".join(chunks)
    result["body_bytes"] = len(body)
    result["sha256"] = hashlib.sha256(body).hexdigest()
    return result


def _congestion_control(curl: Curl) -> str | None:
    """What the kernel says of the client's own TCP socket; None for UDP."""
    try:
        number = cast("int", curl.getinfo(CurlInfo.ACTIVESOCKET))
        with socket.socket(fileno=socket.dup(number)) as own:
            if own.type != socket.SOCK_STREAM:
                return None
            return own.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()
    except (OSError, ValueError, AttributeError, CurlError):
        return None


def main() -> int:
    """Exit code 0 when every request got an answer."""
    job = json.loads(Path(sys.argv[1]).read_text())
    versions = {"libcurl": Curl().version().decode()}
    sys.stdin.readline()
    requests = [download(job, job["url"], protocol) for protocol in job["protocols"]]
    report = {"version": 1, "versions": versions, "requests": requests, "close_ns": requests[-1]["close_ns"]}
    Path(job["output"]).write_text(json.dumps(report, indent=1))
    errors = [request["error"] for request in requests if "error" in request]
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
