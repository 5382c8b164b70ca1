# SPDX-License-Identifier: Apache-2.0
"""Download or upload with libcurl, and write down when. Started as a program of its own: `python -I THIS job.json`.

It loads libcurl, waits for a line on stdin, downloads the URL once with each protocol asked for, each on a new
connection, keeps bodies in memory, and hashes them after the last byte. It reads what it uploads before that line.
Several URLs share one connection (libcurl's multi interface). All instants are CLOCK_MONOTONIC in nanoseconds.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
import time
import types
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

# The package's own __init__ loads a whole HTTP library (50 ms of CPU, twice in every trial); only its binding is used.
_package = types.ModuleType("curl_cffi")
_package.__path__ = list(getattr(find_spec("curl_cffi"), "submodule_search_locations", None) or [])
sys.modules["curl_cffi"] = _package


def _load_when_used(name: str) -> None:
    """Put off loading a module until something asks it for a name. (With importlib's LazyLoader an import statement
    loads it.)"""

    def load(attribute: str) -> Any:
        if sys.modules.get(name) is module:
            del sys.modules[name]
        return getattr(import_module(name), attribute)

    module = sys.modules[name] = types.ModuleType(name)
    vars(module)["__getattr__"] = load


# The binding looks for a default of what each job gives, the CA's certificate, with two modules that take as long to
# load as Python itself. It does not where the environment names a file, as that of the program may do anyway.
for _name in ("certifi", "ssl"):
    _load_when_used(_name)
_found = os.environ.get("SSL_CERT_FILE")
os.environ["SSL_CERT_FILE"] = os.devnull

from curl_cffi._wrapper import ffi, lib  # noqa: E402
from curl_cffi.const import CurlHttpVersion, CurlInfo, CurlMOpt, CurlOpt  # noqa: E402
from curl_cffi.curl import CURL_WRITEFUNC_ERROR, Curl, CurlError  # noqa: E402

del os.environ["SSL_CERT_FILE"]
if _found is not None:
    os.environ["SSL_CERT_FILE"] = _found

_VERSIONS = {"h1": CurlHttpVersion.V1_1, "h2": CurlHttpVersion.V2TLS, "h3": CurlHttpVersion.V3ONLY}
POLL_MS = 1000
"""Longest sleep between two looks at libcurl; it wakes up by itself when there is something to do."""
_NAMES = {1: "HTTP/1.0", 2: "HTTP/1.1", 3: "HTTP/2", 30: "HTTP/3"}


class Transfer:
    """One request and its result."""

    def __init__(self, job: dict[str, Any], url: str, protocol: str) -> None:
        self._chunks: list[bytes] = []
        self._first_byte_ns: int | None = None
        self.curl = curl = Curl()
        self.handle = curl._curl  # noqa: SLF001 - the binding has no multi interface without asyncio
        curl.setopt(CurlOpt.URL, url.encode())
        curl.setopt(CurlOpt.HTTP_VERSION, _VERSIONS[protocol])
        curl.setopt(CurlOpt.RESOLVE, [job["resolve"]])
        curl.setopt(CurlOpt.CAINFO, job["ca"].encode())
        curl.setopt(CurlOpt.PROXY, b"")
        curl.setopt(CurlOpt.WRITEFUNCTION, self._on_data)
        curl.setopt(CurlOpt.HTTP2_SETTINGS, job["h2_settings"].encode())
        curl.setopt(CurlOpt.HTTP2_WINDOW_UPDATE, job["h2_window_update"])
        if job["compression"]:
            curl.setopt(CurlOpt.ACCEPT_ENCODING, b"gzip")
        if job["uploads"]:
            self._upload(Path(job["uploads"]) / url.rpartition("/")[2])
        self.result: dict[str, Any] = {"url": url, "protocol": protocol}
        self._bytes, self._most_bytes = 0, None
        if foreign := job["foreign"]:
            self._most_bytes = foreign["most_bytes"]
            curl.setopt(CurlOpt.USERAGENT, foreign["user_agent"].encode())
            curl.setopt(CurlOpt.MAXFILESIZE_LARGE, foreign["most_bytes"])
            if foreign["insecure"]:
                curl.setopt(CurlOpt.SSL_VERIFYPEER, 0)
                curl.setopt(CurlOpt.SSL_VERIFYHOST, 0)

    def _upload(self, file: Path) -> None:
        """Send the file by PUT, from memory."""
        left = memoryview(file.read_bytes())

        def next_part(most: int) -> bytes:
            nonlocal left
            part, left = left[:most], left[most:]
            return bytes(part)

        self.curl.setopt(CurlOpt.UPLOAD, 1)
        self.curl.setopt(CurlOpt.INFILESIZE_LARGE, len(left))
        self.curl.setopt(CurlOpt.READFUNCTION, next_part)

    def _on_data(self, data: bytes) -> int:
        if self._first_byte_ns is None:
            self._first_byte_ns = time.monotonic_ns()
        self._bytes += len(data)
        if self._most_bytes is not None and self._bytes > self._most_bytes:
            return CURL_WRITEFUNC_ERROR  # libcurl ends the transfer; the binding passes no other number on
        self._chunks.append(data)
        return len(data)

    def error(self, code: int) -> str:
        """Meaning of libcurl's error code, with the details that it left in its buffer."""
        return str(self.curl._get_error(code, "perform"))  # noqa: SLF001

    def begin(self) -> None:
        """Note the instant of the request."""
        self.result["start_ns"] = time.monotonic_ns()

    def end(self, error: str | None = None) -> None:
        """Note when and how the request ended; the connection is still open."""
        result, curl = self.result, self.curl
        if error is not None:
            over = self._most_bytes is not None and self._bytes > self._most_bytes
            result["error"] = f"the body has more than {self._most_bytes} bytes" if over else error
        result["last_byte_ns"] = time.monotonic_ns()
        result["first_byte_ns"] = self._first_byte_ns
        result["status"] = curl.getinfo(CurlInfo.RESPONSE_CODE)
        result["http_version"] = _NAMES.get(cast("int", curl.getinfo(CurlInfo.HTTP_VERSION)), "unknown")
        result["congestion_control"] = _congestion_control(curl)
        if redirect := cast("bytes | None", curl.getinfo(CurlInfo.REDIRECT_URL)):
            result["redirect"] = redirect.decode(errors="replace")

    def account(self, close_ns: int) -> dict[str, object]:
        """Complete account of the request; the body is hashed only now."""
        body = b"".join(self._chunks)
        digest = hashlib.sha256(body).hexdigest()
        return self.result | {"close_ns": close_ns, "body_bytes": len(body), "sha256": digest}


def perform(transfer: Transfer) -> dict[str, object]:
    """Make one request on a new connection, which is closed before the account is returned."""
    transfer.begin()
    try:
        transfer.curl.perform()
        transfer.end()
    except CurlError as error:
        transfer.end(str(error))
    transfer.curl.close()
    return transfer.account(time.monotonic_ns())


def perform_all(transfers: list[Transfer], concurrency: int) -> list[dict[str, object]]:
    """Make requests in their order on one new connection, at most `concurrency` of them at once."""
    multi = lib.curl_multi_init()
    # By default libcurl has at most 100 streams on a connection, and opens another for the rest. The binding hands the
    # value on as it is, where libcurl takes a long.
    for option, number in ((CurlMOpt.MAX_CONCURRENT_STREAMS, len(transfers)), (CurlMOpt.MAX_HOST_CONNECTIONS, 1)):
        lib.curl_multi_setopt(multi, option, ffi.cast("void *", number))
    waiting: Iterator[Transfer] = iter(transfers)
    under_way: dict[Any, Transfer] = {}
    left = ffi.new("int *")
    while True:
        while len(under_way) < concurrency and (transfer := next(waiting, None)) is not None:
            # All but the first wait for its connection instead of opening their own.
            transfer.curl.setopt(CurlOpt.PIPEWAIT, 1)
            transfer.begin()
            lib.curl_multi_add_handle(multi, transfer.handle)
            under_way[transfer.handle] = transfer
        if not under_way:
            break
        lib.curl_multi_perform(multi, left)
        ended = False
        while (message := lib.curl_multi_info_read(multi, left)) != ffi.NULL:
            code, transfer = message.data.result, under_way.pop(message.easy_handle)
            transfer.end(None if code == 0 else transfer.error(code))
            lib.curl_multi_remove_handle(multi, transfer.handle)
            ended = True
        if not ended:
            lib.curl_multi_poll(multi, ffi.NULL, 0, POLL_MS, left)
    for transfer in transfers:
        transfer.curl.close()
    lib.curl_multi_cleanup(multi)
    close_ns = time.monotonic_ns()
    return [transfer.account(close_ns) for transfer in transfers]


def _congestion_control(curl: Curl) -> str | None:
    """Congestion control of the client's own TCP socket, from the kernel; None for UDP."""
    try:
        number = cast("int", curl.getinfo(CurlInfo.ACTIVESOCKET))
        with socket.socket(fileno=socket.dup(number)) as own:
            if own.type != socket.SOCK_STREAM:
                return None
            return own.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()
    except (OSError, ValueError, AttributeError, CurlError):
        return None


def versions() -> dict[str, str]:
    """Versions of the package, which the name of a folder beside it tells without loading anything, and of libcurl."""
    found = {"libcurl": Curl().version().decode()}
    for beside in Path(_package.__path__[0]).parent.glob("curl_cffi-*.dist-info"):
        found["curl-cffi"] = beside.stem.partition("-")[2]
    return found


def main() -> int:
    """Exit code 0 when every request got an answer."""
    job = json.loads(Path(sys.argv[1]).read_text())
    told = versions()
    urls = [job["url"], *job["other_urls"]]
    if len(urls) > 1:
        transfers = [Transfer(job, url, job["protocols"][0]) for url in urls]
        sys.stdin.readline()
        requests = perform_all(transfers, job["concurrency"])
    else:
        transfers = [Transfer(job, job["url"], protocol) for protocol in job["protocols"]]
        sys.stdin.readline()
        requests = [perform(transfer) for transfer in transfers]
    report = {"version": 1, "versions": told, "requests": requests, "close_ns": requests[-1]["close_ns"]}
    Path(job["output"]).write_text(json.dumps(report, indent=1))
    errors = [request["error"] for request in requests if "error" in request]
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
