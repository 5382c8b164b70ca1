# SPDX-License-Identifier: Apache-2.0
"""A server of HTTP/1.1 over TLS that writes an answer in its own way: `python -I THIS HOW {words}`.

HOW is `nagle` or `nodelay` (pieces of 400 bytes, with and without Nagle's algorithm), `paced` (all at once), `corked`
(all at once, and uncorked after 120 ms), or a number of seconds between the halves of a body of more than 200 kB. Words
are address, port, root, certificate, key and key log.
"""

from __future__ import annotations

import socket
import ssl
import sys
import threading
import time
from pathlib import Path

PROGRAM = Path(__file__)
WORDS = '"{address}", "{port}", "{root}", "{cert}", "{key}", "{keylog}"'
_PIECE_BYTES = 400
_SMALL_BYTES = 200_000
"""Body up to which no pause is made: a warm-up need not wait."""


def main() -> None:
    """Serve until killed."""
    how, address, port, root, cert, key, keylog = sys.argv[1:]
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)
    context.set_alpn_protocols(["http/1.1"])
    if keylog:
        context.keylog_filename = keylog
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listening = socket.create_server((address, int(port)), family=family)
    while True:
        plain = listening.accept()[0]
        threading.Thread(target=_serve, args=(plain, context, Path(root), how), daemon=True).start()


def _serve(plain: socket.socket, context: ssl.SSLContext, root: Path, how: str) -> None:
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, how not in ("nagle", "corked"))
    with context.wrap_socket(plain, server_side=True) as connection:
        asked = b""
        while not asked.endswith(b"\r\n\r\n"):
            more = connection.recv(4096)
            if not more:
                return
            asked += more
        file = root / asked.split()[1].decode().strip("/")
        body = file.read_bytes() if file.is_file() else b""
        state = "200 OK" if file.is_file() else "404 Not Found"
        head = f"HTTP/1.1 {state}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
        _answer(connection, head, body, how)
        time.sleep(0.5)


def _answer(connection: ssl.SSLSocket, head: bytes, body: bytes, how: str) -> None:
    if how in ("nagle", "nodelay"):
        connection.sendall(head)
        for at in range(0, len(body), _PIECE_BYTES):
            connection.sendall(body[at : at + _PIECE_BYTES])
    elif how in ("paced", "corked"):
        if how == "corked":
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        connection.sendall(head)
        connection.sendall(body)
        if how == "corked":
            time.sleep(0.12)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
    else:
        half = len(body) // 2
        connection.sendall(head + body[:half])
        if len(body) > _SMALL_BYTES:
            time.sleep(float(how))
        connection.sendall(body[half:])


if __name__ == "__main__":
    main()
