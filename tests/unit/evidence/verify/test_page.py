# SPDX-License-Identifier: Apache-2.0
"""Whether a page came whole."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from trial_records import part

from quiclab.evidence.verify.bodies import page_problem
from quiclab.model.client_account import ClientRequest
from quiclab.model.expected_content import ExpectedPage

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


def _problem(*requests: Mapping[str, object]) -> str | None:
    return page_problem([part(each, ClientRequest) for each in requests], part(PAGE, ExpectedPage))


def test_whole() -> None:
    """What came besides is no matter, nor what the browser hides."""
    assert _problem(WHOLE[0], WHOLE[1] | {"status": None}) is None
    assert _problem(*WHOLE, {"url": "https://server.test/more", "status": 404, "decoded_bytes": 0}) is None


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
    assert _problem(WHOLE[0], *second) == told
