# SPDX-License-Identifier: Apache-2.0
"""Sizes of pictures as papers ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from quiclab.model.errors import SpecError
from quiclab.model.units import Length
from quiclab.report.printing.panel import SMALLER_PX
from quiclab.report.printing.paper import POINTS

_POINTS_OF_LETTERS = SMALLER_PX * POINTS
"""Points of the letters beside the axes, where nothing is scaled."""
_WIDER = 1.1
_PX = 9525
"""EMU in a pixel, of which an inch has 96."""
_LEAST, _MOST = Length.parse("3 cm"), Length.parse("120 cm")
_LEAST_FONT, _MOST_FONT = Length.parse("4 pt"), Length.parse("30 pt")
_FONT_OF_A_WIDTH, _SMALLEST_OF_A_WIDTH = Length.parse("8 pt"), Length.parse("6 pt")
"""Letters where a width is asked for and no font, and the smallest that are taken where these have no room."""
_STEP_PT = 0.5


@dataclass(frozen=True)
class PrintSize:
    """Width of a picture, or as wide as its labels need, and the size of its letters."""

    width_px: float | None = None
    scale: float = 1.0
    """Size of all letters and lines, as a multiple of those on the screen."""
    least_scale: float = 1.0
    """The smallest that may be taken where the labels have no room."""

    @classmethod
    def asked(cls, width: Length | None, font: Length | None) -> PrintSize:
        """Return the size with a width and with letters of a size beside the axes. Raises SpecError."""
        if width is not None and not _LEAST <= width <= _MOST:
            raise SpecError(f"a picture cannot be {width} wide", f"--width takes {_LEAST} to {_MOST}, such as 8.4cm")
        if font is not None and not _LEAST_FONT <= font <= _MOST_FONT:
            told = f"--font takes {_LEAST_FONT} to {_MOST_FONT}, such as 8pt"
            raise SpecError(f"letters cannot be of {font}", told)
        least = font
        if font is None and width is not None:
            font, least = _FONT_OF_A_WIDTH, _SMALLEST_OF_A_WIDTH
        letters, smallest = (1.0 if size is None else size.pt / _POINTS_OF_LETTERS for size in (font, least))
        return cls(None if width is None else width.emu / _PX, letters, smallest)

    @property
    def scales(self) -> Iterator[float]:
        """Sizes of letters to try, the largest first."""
        return _steps(self.scale, self.least_scale)

    @property
    def smaller_scales(self) -> Iterator[float]:
        """Sizes of letters that a user can ask for and that are not tried by themselves."""
        return _steps(self.least_scale - _STEP_PT / _POINTS_OF_LETTERS, _LEAST_FONT.pt / _POINTS_OF_LETTERS)

    @property
    def wider_px(self) -> Iterator[float]:
        """Greater widths that a user can ask for."""
        width = 0.0 if self.width_px is None else self.width_px
        while (width := width * _WIDER) <= _MOST.emu / _PX:
            yield width


def font_text(scale: float) -> str:
    """A size of letters as `--font` takes it."""
    return f"{scale * _POINTS_OF_LETTERS:.1f}pt".replace(".0pt", "pt")


def _steps(largest: float, least: float) -> Iterator[float]:
    scale = largest
    while scale >= least - 1e-6:
        yield scale
        scale -= _STEP_PT / _POINTS_OF_LETTERS


AS_ON_SCREEN = PrintSize()
"""Width of a page's text, with the letters of a screen."""
