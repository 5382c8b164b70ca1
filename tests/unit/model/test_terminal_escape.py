# SPDX-License-Identifier: Apache-2.0
"""What others wrote steers no terminal."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

from rich.table import Table

import quiclab
from quiclab.cli.console import VisibleConsole
from quiclab.model.terminal_escape import visible

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
        "from quiclab.model.terminal_escape import guard_terminal; guard_terminal(); guard_terminal()\n"
        f"hostile = {_HOSTILE!r}\n"
        "import sys; from rich.table import Table; from rich.text import Text\n"
        "from quiclab.cli.console import VisibleConsole\n"
        "print(hostile); print(hostile, file=sys.stderr)\n"
        "console = VisibleConsole(width=80); console.print(hostile, markup=False)\n"
        "table = Table('x'); table.add_row(hostile); table.add_row(Text(hostile)); console.print(table)\n"
        "console.show_cursor(False)\n"
    )
    assert said.count("PWNED") == 5
    assert set(re.findall("\x1b.{4}", re.sub("\x1b\\[[0-9;]*m", "", said))) == {"\x1b[?25"}
    assert "\x07" not in said
    assert "\x9b" not in said


def test_a_pipe_gets_what_is_printed() -> None:
    """Other programs are to read it."""
    code = f"from quiclab.model.terminal_escape import guard_terminal; guard_terminal(); print({_HOSTILE!r})"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.decode()
    assert said == f"{_HOSTILE}\n"


def test_rich_shows_what_it_would_swallow() -> None:
    """A bell or a carriage return is a picture of the right width, in a table too."""
    out = io.StringIO()
    console = VisibleConsole(file=out, width=80)
    table = Table("x", "y")
    table.add_row(_HOSTILE, "z")
    console.print(table)
    top, row = out.getvalue().splitlines()[0], next(line for line in out.getvalue().splitlines() if "PWNED" in line)
    assert visible(_HOSTILE) in row
    assert len(row) == len(top)


def test_no_verb_has_a_console_of_another_kind() -> None:
    """Rich's own would let through what steers a terminal."""
    source = Path(quiclab.__file__).parent
    made = [file.name for file in source.rglob("*.py") if re.search(r"(?<!Visible)Console\(", file.read_text())]
    assert not made
