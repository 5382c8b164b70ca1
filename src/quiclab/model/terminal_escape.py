# SPDX-License-Identifier: Apache-2.0
"""Text of others on a terminal: characters that would control the terminal are shown instead.

Names, reasons, logs and what programs print may hold escape sequences (ECMA-48), which rename windows, write into the
clipboard or hide lines, and marks that turn the direction of text around (Unicode, UAX #9).
"""

from __future__ import annotations

import sys
from typing import Any, TextIO

_KEPT = "\n\t"
_SHOWN: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in _KEPT},  # the pictures of Unicode
    0x7F: "\u2421",
    **dict.fromkeys((*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\ufffd"),
}


def visible(text: str) -> str:
    """Replace each character that would control a terminal by a visible one."""
    return text.translate(_SHOWN)


def plain(text: str, longest: int) -> str:
    """Return text that a file and a table can keep: without lone surrogates, which have no UTF-8, and with its middle
    left out where it is longer than `longest` characters."""
    kept = text.encode(errors="backslashreplace").decode()
    half = longest // 2
    return kept if len(kept) <= longest else f"{kept[:half]} … {kept[-half:]}"


class _Visible:
    """A terminal that is written to by `print`."""

    def __init__(self, stream: TextIO) -> None:
        # Rich controls the terminal itself, and asks for it by this name.
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        return self.rich_proxied_file.write(visible(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


def guard_terminal() -> None:
    """Keep the output of this process from controlling the terminal; `quiclab.cli.console` does so for Rich. Files and
    pipes get the output unchanged."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and stream.isatty() and not isinstance(stream, _Visible):
            setattr(sys, name, _Visible(stream))
