# SPDX-License-Identifier: Apache-2.0
"""What several tests of `quiclab exec` run at the server's end."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

_ECHO = """
import socket
echo = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
echo.bind(("::", 7))
while True:
    data, sender = echo.recvfrom(2048)
    echo.sendto(data, sender)
"""


@pytest.fixture
def echo(tmp_path: Path) -> str:
    """Shell command of a server that sends every datagram back."""
    script = tmp_path / "echo.py"
    script.write_text(_ECHO)
    return f"{sys.executable} {script}"
