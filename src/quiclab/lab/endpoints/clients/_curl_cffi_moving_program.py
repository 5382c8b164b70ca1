# SPDX-License-Identifier: Apache-2.0
"""Download one object with libcurl while the client's address changes. Started as `python -I THIS job.json`.

When it learns of the change it leaves the connection alone and opens another: there it requests the whole object again,
or the rest of it (RFC 9110 section 14). The body that is hashed is the whole one, put together.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quiclab.lab.endpoints.clients import _curl_cffi_program as plain
else:
    sys.path.append(str(Path(__file__).parent))  # last: files beside it have the names of packages
    import _curl_cffi_program as plain

from curl_cffi._wrapper import ffi, lib
from curl_cffi.const import CurlMOpt, CurlOpt

_CONTENT_RANGE = re.compile(rb"bytes (\d+)-\d+/\d+")


class Body:
    """The object as far as it has arrived, on either connection; it reports when enough has come."""

    def __init__(self, change: dict[str, Any]) -> None:
        self._change = change
        self._said = False
        self.content = bytearray()
        self.etag: bytes | None = None
        self.bytes_of_bodies = 0
        self.bytes_before: int | None = None
        self.last_data_ns: int | None = None
        self.last_byte_before_ns: int | None = None
        self.first_byte_after_ns: int | None = None

    def add(self, at: int, data: bytes) -> None:
        """Add a piece that begins at byte `at` of the object; bytes that are there already may come again."""
        now = self.last_data_ns = time.monotonic_ns()
        self.bytes_of_bodies += len(data)
        new = at + len(data) - len(self.content)
        if new > 0:
            self.content += data[-new:]
            if self.bytes_before is None:
                self.last_byte_before_ns = now
            else:
                self.first_byte_after_ns = self.first_byte_after_ns or now
        after = self._change["after_bytes"]
        if not self._said and after is not None and len(self.content) >= after:
            self._said = True
            Path(self._change["reached"]).write_text(f"{len(self.content)}\n")


class Piece(plain.Transfer):
    """One request, for the whole object or for what follows byte `start`."""

    def __init__(self, job: dict[str, Any], body: Body, start: int) -> None:
        super().__init__(job, job["url"], job["protocols"][0])
        self._body = body
        self._at = 0
        self.content_range: str | None = None
        self.body_bytes = 0
        for option in (CurlOpt.FRESH_CONNECT, CurlOpt.FORBID_REUSE):
            self.curl.setopt(option, 1)
        self.curl.setopt(CurlOpt.HEADERFUNCTION, self._on_header)
        if start:
            self.curl.setopt(CurlOpt.RANGE, f"{start}-".encode())
            if body.etag is not None:
                self.curl.setopt(CurlOpt.HTTPHEADER, [b"If-Range: " + body.etag])

    def _on_header(self, line: bytes) -> int:
        name, _, value = line.partition(b":")
        if name.lower() == b"etag" and not value.strip().startswith(b"W/"):  # a weak one is no use (section 13.1.5)
            self._body.etag = value.strip()
        elif name.lower() == b"content-range" and (found := _CONTENT_RANGE.match(value.strip())):
            self._at, self.content_range = int(found[1]), value.strip().decode()
        return len(line)

    def _on_data(self, data: bytes) -> int:
        self._body.add(self._at, data)
        self._at += len(data)
        self.body_bytes += len(data)
        self._first_byte_ns = self._first_byte_ns or time.monotonic_ns()
        return len(data)

    def request_account(self) -> dict[str, Any]:
        """Account of this connection's request."""
        names = ("start_ns", "status", "http_version", "first_byte_ns", "last_byte_ns", "error")
        own = {name: self.result[name] for name in names if name in self.result}
        return own | {"body_bytes": self.body_bytes, "content_range": self.content_range}


class Notice:
    """Notice of its new address to the program: it is told, its connection fails, or nothing arrives for a while."""

    def __init__(self, change: dict[str, Any]) -> None:
        self._kind = change["notice"]
        self._patience_ns = change["timeout_ns"]
        self._word = threading.Event()
        self._lock = threading.Lock()
        self._multi: Any = None
        self.noticed_ns: int | None = None

    def listen(self, multi: Any) -> None:
        """Wake libcurl when a line comes."""
        self._multi = multi

        def wait() -> None:
            if sys.stdin.readline():
                self._word.set()
                with self._lock:
                    if self._multi is not None:
                        lib.curl_multi_wakeup(self._multi)

        if self._kind == "told":
            threading.Thread(target=wait, daemon=True).start()

    def ignore(self) -> None:
        """Stop waking libcurl: a notice that comes from here on is too late."""
        with self._lock:
            self._multi = None

    def comes(self, failed: bool, last_data_ns: int | None) -> bool:
        """True if the notice comes now: once, and only in the way that the job names."""
        if self.noticed_ns is not None:
            return False
        silent = self.silent_at_ns(last_data_ns)
        now = time.monotonic_ns()
        by_silence = silent is not None and now >= silent
        if {"told": self._word.is_set(), "reset": failed, "timeout": by_silence}[self._kind]:
            self.noticed_ns = now
            return True
        return False

    def silent_at_ns(self, last_data_ns: int | None) -> int | None:
        """Instant at which nothing will have arrived for long enough."""
        if self._patience_ns is None or last_data_ns is None or self.noticed_ns is not None:
            return None
        return last_data_ns + int(self._patience_ns)


def download(job: dict[str, Any]) -> dict[str, Any]:
    """Download the object, over one connection or over two."""
    change = job["address_change"]
    body, notice = Body(change), Notice(change)
    multis = [lib.curl_multi_init()]
    notice.listen(multis[0])
    pieces = [Piece(job, body, 0)]
    left = ffi.new("int *")
    _begin(multis[0], pieces[0])
    while True:
        lib.curl_multi_perform(multis[-1], left)
        ended, error = _ended(multis[-1], pieces[-1], left)
        if notice.comes(error is not None, body.last_data_ns):
            pieces[-1].end("the address changed")
            lib.curl_multi_remove_handle(multis[-1], pieces[-1].handle)
            body.bytes_before = len(body.content)
            pieces.append(Piece(job, body, body.bytes_before if job["on_address_change"] == "resume" else 0))
            if job["reconnect_session"] != "resumed":  # The tickets are the multi handle's.
                multis.append(lib.curl_multi_init())
            _begin(multis[-1], pieces[-1])
        elif ended:
            pieces[-1].end(error)
            break
        else:
            lib.curl_multi_poll(multis[-1], ffi.NULL, 0, _poll_ms(notice, body), left)
    lib.curl_multi_remove_handle(multis[-1], pieces[-1].handle)
    notice.ignore()
    for piece in pieces:
        piece.curl.close()
    lib.curl_multi_cleanup(multis[-1])
    close_ns = time.monotonic_ns()
    for multi in multis[:-1]:
        lib.curl_multi_cleanup(multi)
    first, last = pieces[0].result, pieces[-1].result
    return {
        **last,
        **{name: first[name] for name in ("start_ns", "first_byte_ns", "status")},
        "close_ns": close_ns,
        "body_bytes": len(body.content),
        "sha256": hashlib.sha256(body.content).hexdigest(),
        "connections": [piece.request_account() for piece in pieces],
        "address_change": {
            "noticed_ns": notice.noticed_ns,
            "body_bytes_before": body.bytes_before,
            "body_bytes_again": body.bytes_of_bodies - len(body.content),
            "last_byte_before_ns": body.last_byte_before_ns,
            "first_byte_after_ns": body.first_byte_after_ns,
        },
    }


def _begin(multi: Any, piece: Piece) -> None:
    lib.curl_multi_setopt(multi, CurlMOpt.MAX_HOST_CONNECTIONS, ffi.cast("void *", 2))
    piece.begin()
    lib.curl_multi_add_handle(multi, piece.handle)


def _ended(multi: Any, piece: Piece, left: Any) -> tuple[bool, str | None]:
    """Tell whether the request is over, and what went wrong."""
    while (message := lib.curl_multi_info_read(multi, left)) != ffi.NULL:
        if message.easy_handle == piece.handle:
            code = message.data.result
            return True, None if code == 0 else piece.error(code)
    return False, None


def _poll_ms(notice: Notice, body: Body) -> int:
    silent = notice.silent_at_ns(body.last_data_ns)
    longest = int(plain.POLL_MS)
    return longest if silent is None else min(longest, max(0, (silent - time.monotonic_ns()) // 1_000_000 + 1))


def main() -> int:
    """Exit code 0 when the object is there."""
    job = json.loads(Path(sys.argv[1]).read_text())
    versions = plain.versions()
    sys.stdin.readline()
    request = download(job)
    report = {"version": 1, "versions": versions, "requests": [request], "close_ns": request["close_ns"]}
    Path(job["output"]).write_text(json.dumps(report, indent=1))
    if "error" in request:
        print(request["error"])
    return 1 if "error" in request else 0


if __name__ == "__main__":
    sys.exit(main())
