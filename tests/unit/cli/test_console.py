# SPDX-License-Identifier: Apache-2.0
"""The console writes commands as they are typed here."""

from __future__ import annotations

import io

import pytest
from rich.padding import Padding
from rich.text import Text

from quiclab.cli import console
from quiclab.cli.console import VisibleConsole
from quiclab.cli.own_name import as_typed


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> VisibleConsole:
    """A console of a program that the shell finds under another name."""
    monkeypatch.setattr(console, "as_typed", lambda text: text.replace("quiclab run", ".venv/bin/quiclab run"))
    return VisibleConsole(file=io.StringIO(), width=100)


def test_a_command_can_be_copied_however_it_is_printed(printed: VisibleConsole) -> None:
    """Strings, texts, and texts within something else are printed alike."""
    styled = Text("go on: quiclab run c", style="bold")
    styled.stylize("red", 0, 2)
    for each in ("quiclab run a", Padding(Text("quiclab run b"), 1), styled):
        printed.print(each)
    assert isinstance(printed.file, io.StringIO)
    text = printed.file.getvalue()
    assert all(f".venv/bin/quiclab run {name}" in text for name in "abc"), text


def test_the_text_itself_stays_as_it_is(printed: VisibleConsole) -> None:
    """Printing changes a copy."""
    text = Text("quiclab run a")
    printed.print(text)
    assert text.plain == "quiclab run a"
    assert as_typed("no command") == "no command"
