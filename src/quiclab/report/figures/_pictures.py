# SPDX-License-Identifier: Apache-2.0
"""Screenshots of browsers as small pictures that a page can hold."""

from __future__ import annotations

import base64
import io

_PICTURE_PX = 220
"""Width of a frame: enough for a strip across a wide page, also at two pixels a point."""


def as_uri(image: bytes) -> str | None:
    """Return a small JPEG as a `data:` URI; None of what is no picture."""
    from PIL import Image  # imported late: few figures have pictures

    try:
        picture = Image.open(io.BytesIO(image)).convert("RGB")
    except OSError:
        return None
    picture.thumbnail((_PICTURE_PX, 4 * _PICTURE_PX))
    small = io.BytesIO()
    picture.save(small, "JPEG", quality=75)
    return "data:image/jpeg;base64," + base64.b64encode(small.getvalue()).decode("ascii")
