# SPDX-License-Identifier: Apache-2.0
"""The console that verbs write to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from quiclab.cli.own_name import as_typed
from quiclab.model.terminal_escape import visible


class VisibleConsole(Console):
    """A console of Rich on which what would steer the terminal is shown, but for what Rich makes itself."""

    @property
    def file(self) -> IO[str]:
        """The stream itself: Rich takes off one of the wrappers that print to it, and a bar adds one to that of
        `visible`, which would show the bar's own control sequences instead of sending them."""
        stream = super().file
        while (inner := getattr(stream, "rich_proxied_file", None)) is not None:
            stream = inner
        return stream

    @file.setter
    def file(self, new: IO[str]) -> None:
        self._file = new

    def render_str(self, text: str, **styles: Any) -> Text:
        """Make text of a string; Rich would take out some of what steers a terminal, and let the rest through."""
        return super().render_str(visible(text), **styles)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render anything, also text that was made elsewhere; a command in it can be copied."""
        if isinstance(renderable, Text) and (typed := as_typed(renderable.plain)) != renderable.plain:
            renderable = renderable.copy()
            renderable.plain = typed
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
