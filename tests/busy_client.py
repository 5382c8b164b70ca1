# SPDX-License-Identifier: Apache-2.0
"""A client that keeps processors busy while it fetches: `python -I THIS HOW {words}`.

HOW is `threads8` or `processes3` (so many that compute beside the transfer; none with `threads0`), and with `-fails`
behind it the client then ends with exit code 3. Words are the URL, host:port:address, the CA and the arm's protocol.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import threading

from curl_cffi.const import CurlHttpVersion, CurlOpt
from curl_cffi.curl import Curl

_VERSIONS = {"h1": CurlHttpVersion.V1_1, "h2": CurlHttpVersion.V2TLS, "h3": CurlHttpVersion.V3ONLY}
_BLOCK = bytes(1 << 20)


def main() -> None:
    """Compute, fetch, and end everything."""
    how, url, resolve, ca, protocol = sys.argv[1:]
    kind, number, fails = re.fullmatch(r"(threads|processes)(\d+)(-fails)?", how).groups()  # type: ignore[union-attr]
    for _ in range(int(number)):
        if kind == "threads":
            threading.Thread(target=_compute, daemon=True).start()
        elif os.fork() == 0:
            _compute()
    curl = Curl()
    curl.setopt(CurlOpt.URL, url.encode())
    curl.setopt(CurlOpt.HTTP_VERSION, _VERSIONS[protocol])
    curl.setopt(CurlOpt.RESOLVE, [resolve])
    curl.setopt(CurlOpt.CAINFO, ca.encode())
    curl.setopt(CurlOpt.PROXY, b"")
    curl.setopt(CurlOpt.WRITEFUNCTION, len)
    curl.perform()
    # The end of the first process ends the others.
    os._exit(3 if fails else 0)


def _compute() -> None:
    while True:  # a hash of so much lets other threads of Python run beside it
        hashlib.sha256(_BLOCK).digest()


main()
