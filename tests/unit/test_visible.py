# SPDX-License-Identifier: Apache-2.0
"""What others wrote steers no terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

from quiclab.visible import visible

_HOSTILE = "a\x1b]0;PWNED\x07b\rc\x9b2Jd\u202ee"


def test_every_control_character_is_shown() -> None:
    """But for the ends of lines and tabs."""
    assert visible(_HOSTILE) == "a\u241b]0;PWNED\u2407b\u240dc\ufffd2Jd\ufffde"
    assert visible("a\tb\nc é 漢") == "a\tb\nc é 漢"


def _on_a_terminal(code: str) -> str:
    leader, follower = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "NO_COLOR": "1"}
    with subprocess.Popen([sys.executable, "-c", code], stdout=follower, stderr=follower, env=environment) as process:
        os.close(follower)
        said = b""
        while True:
            try:
                chunk = os.read(leader, 4096)
            except OSError:  # the other end is closed
                break
            said += chunk
        assert process.wait() == 0, said
    os.close(leader)
    return said.decode()


def test_neither_print_nor_rich_hands_it_to_the_terminal() -> None:
    """By print, in Rich's text and in its tables; Rich's own sequences go through."""
    said = _on_a_terminal(
        "from quiclab.visible import guard_terminal; guard_terminal(); guard_terminal()\n"
        f"hostile = {_HOSTILE!r}\n"
        "import sys; from rich.console import Console; from rich.table import Table\n"
        "print(hostile); print(hostile, file=sys.stderr)\n"
        "console = Console(width=80); console.print(hostile, markup=False)\n"
        "table = Table('x'); table.add_row(hostile); console.print(table)\n"
        "console.show_cursor(False)\n"
    )
    assert said.count("PWNED") == 4
    assert set(re.findall("\x1b.{4}", re.sub("\x1b\\[[0-9;]*m", "", said))) == {"\x1b[?25"}
    assert "\x07" not in said
    assert "\x9b" not in said


def test_a_pipe_gets_what_is_printed() -> None:
    """Other programs are to read it."""
    code = f"from quiclab.visible import guard_terminal; guard_terminal(); print({_HOSTILE!r})"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.decode()
    assert said == f"{_HOSTILE}\n"
