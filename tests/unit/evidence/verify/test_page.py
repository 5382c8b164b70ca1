# SPDX-License-Identifier: Apache-2.0
"""Whether a page came whole."""

from __future__ import annotations

import pytest

from quiclab.evidence.verify.bodies import page_problem

PAGE = {
    "resources": [
        {"url": "https://server.test/index.html", "bytes": 700},
        {"url": "https://third-1.test/a.png", "bytes": 2900},
    ]
}
WHOLE = [
    {"url": "https://server.test/index.html", "status": 200, "decoded_bytes": 700},
    {"url": "https://third-1.test/a.png", "status": 200, "decoded_bytes": 2900},
]


def test_whole() -> None:
    """What came besides is no matter, nor what the browser hides."""
    assert page_problem([WHOLE[0], WHOLE[1] | {"status": None}], PAGE) is None
    assert page_problem([*WHOLE, {"url": "https://server.test/more", "status": 404, "decoded_bytes": 0}], PAGE) is None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (None, "the browser did not load https://third-1.test/a.png"),
        ({"status": None, "decoded_bytes": 0}, "https://third-1.test/a.png: no answer"),
        ({"status": 404}, "https://third-1.test/a.png: the server answered with status 404"),
        ({"decoded_bytes": 2899}, "https://third-1.test/a.png has 2899 bytes instead of 2900"),
    ],
)
def test_the_first_that_is_not(change: dict[str, int | None] | None, told: str) -> None:
    """By its address."""
    second = [] if change is None else [WHOLE[1] | change]
    assert page_problem([WHOLE[0], *second], PAGE) == told
