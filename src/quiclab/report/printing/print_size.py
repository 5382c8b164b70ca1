# SPDX-License-Identifier: Apache-2.0
"""Sizes of pictures as papers ask for them."""

from __future__ import annotations

from dataclasses import dataclass

from quiclab.model.errors import SpecError
from quiclab.model.units import Length
from quiclab.report.printing.panel import SMALLER_PX
from quiclab.report.printing.paper import POINTS

_PX = 9525
"""EMU in a pixel, of which an inch has 96."""
_LEAST, _MOST = Length.parse("3 cm"), Length.parse("120 cm")
_LEAST_FONT, _MOST_FONT = Length.parse("4 pt"), Length.parse("30 pt")
_FONT_OF_A_WIDTH = Length.parse("8 pt")


@dataclass(frozen=True)
class PrintSize:
    """Width of a picture, or as wide as its labels need, and the size of its letters."""

    width_px: float | None = None
    scale: float = 1.0
    """Size of all letters and lines, as a multiple of those on the screen."""

    @classmethod
    def asked(cls, width: Length | None, font: Length | None) -> PrintSize:
        """Return the size with a width and with letters of a size beside the axes. Raises SpecError."""
        if width is not None and not _LEAST <= width <= _MOST:
            raise SpecError(f"a picture cannot be {width} wide", f"--width takes {_LEAST} to {_MOST}, such as 8.4cm")
        if font is not None and not _LEAST_FONT <= font <= _MOST_FONT:
            told = f"--font takes {_LEAST_FONT} to {_MOST_FONT}, such as 8pt"
            raise SpecError(f"letters cannot be of {font}", told)
        if font is None and width is not None:
            font = _FONT_OF_A_WIDTH
        letters = 1.0 if font is None else font.pt / (SMALLER_PX * POINTS)
        return cls(None if width is None else width.emu / _PX, letters)


AS_ON_SCREEN = PrintSize()
"""Width of a page's text, with the letters of a screen."""
