# SPDX-License-Identifier: Apache-2.0
"""A server of TCP that pauses in a body, with and without a window that begins anew after an idle time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from accounts import account_of, sums_ms
from stack_study import need, run_arms

pytestmark = [pytest.mark.e2e, pytest.mark.netns, pytest.mark.alone]

_SERVER = """\
import socket, ssl, sys, threading, time
from pathlib import Path
pause_s, address, port, root, cert, key, keylog = sys.argv[1:]
context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
context.load_cert_chain(cert, key)
context.set_alpn_protocols(["http/1.1"])
if keylog:
    context.keylog_filename = keylog

def serve(plain):
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
    with context.wrap_socket(plain, server_side=True) as connection:
        asked = b""
        while not asked.endswith(b"\\r\\n\\r\\n"):
            more = connection.recv(4096)
            if not more:
                return
            asked += more
        file = Path(root, asked.split()[1].decode().strip("/"))
        body = file.read_bytes() if file.is_file() else b""
        state = "200 OK" if file.is_file() else "404 Not Found"
        head = f"HTTP/1.1 {state}\\r\\nContent-Length: {len(body)}\\r\\nConnection: close\\r\\n\\r\\n".encode()
        half = len(body) // 2
        connection.sendall(head + body[:half])
        if half > 100_000:
            time.sleep(float(pause_s))
        connection.sendall(body[half:])
        time.sleep(0.5)

listening = socket.create_server((address, int(port)), family=socket.AF_INET6 if ":" in address else socket.AF_INET)
while True:
    threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()
"""
_WORDS = '"{address}", "{port}", "{root}", "{cert}", "{key}", "{keylog}"'
_TRIP_MS = 80.0


def test_a_window_begins_anew_after_an_idle_time_where_the_kernel_is_asked_to(tmp_path: Path) -> None:
    """600 KB after two seconds from 10 packets take three round trips that a kept window does not. A pause that
    is shorter than any timeout changes nothing."""
    need(("client", "curl"))
    program = tmp_path / "server.py"
    program.write_text(_SERVER)

    def arm(pause_s: float, *, restarts: bool) -> str:
        argv = f'["{sys.executable}", "-I", "{program}", "{pause_s}", {_WORDS}]'
        tcp = f'tcp = {{ congestion_control = "cubic", slow_start_after_idle = {str(restarts).lower()} }}'
        return f'protocol = "h1"\nclient = "curl"\nserver = {{ argv = {argv}, ready = "tcp" }}\n{tcp}'

    arms = {"kept": arm(2, restarts=False), "restarts": arm(2, restarts=True), "short": arm(0.1, restarts=True)}
    told = {}
    for name, trial in run_arms(tmp_path, arms, "1200 KB", delay=f"{_TRIP_MS / 2} ms").items():
        assert trial["status"] == "verified", trial["reason"]
        told[name] = sums_ms(account_of(tmp_path / "study", trial), "mechanism")
    assert told["restarts"]["slow_start_after_idle"] > 3 * _TRIP_MS
    assert not {"slow_start_after_idle"} & {*told["kept"], *told["short"]}
