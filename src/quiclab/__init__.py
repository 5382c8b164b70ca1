# SPDX-License-Identifier: Apache-2.0
"""quiclab: is HTTP/3 on QUIC faster or slower than HTTP/2 on TCP over this network, by how much, and why?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quiclab.api import open_study as open  # noqa: A004 - read as `quiclab.open(study)`

__version__ = "0.2.0"
__all__ = ["open"]


def __getattr__(name: str) -> object:
    """Import `open` when it is asked for: most of quiclab needs no tables."""
    if name == "open":
        from quiclab.api import open_study

        return open_study
    raise AttributeError(f"module 'quiclab' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Names that an editor or a notebook offers, with those that are not imported yet."""
    return sorted({*globals(), *__all__})
