# SPDX-License-Identifier: Apache-2.0
"""Clients of the user's own that leave nothing to measure by."""

from __future__ import annotations

import pathlib

import pytest
from specs import changed, study_of

from quiclab.plan.unmeasured import unmeasured

_NOTHING = "Arm h2 cannot be measured, and its trials enter no comparison: its client leaves neither TLS keys nor an"
_HEADERS = "Arm h2 cannot be measured, and its trials enter no comparison: captures keep only headers"


@pytest.mark.parametrize(
    ("client", "captures", "told"),
    [
        ('{argv = ["curl", "{url}"]}', "whole", _NOTHING),
        ('{argv = ["curl", "-o", "{work}/body", "{url}"]}', "whole", _NOTHING),
        ('{argv = ["curl", "{url}"], env = {SSLKEYLOGFILE = "{keylog}"}}', "whole", ""),
        ('{argv = ["mine", "--keys={keylog}", "{url}"]}', "whole", ""),
        ('{argv = ["curl", "{url}"], env = {SSLKEYLOGFILE = "{keylog}"}}', "headers", _HEADERS),
        ('{argv = ["mine", "{url}", "{output}"]}', "headers", ""),
        ('{argv = ["mine", "{url}"], env = {ACCOUNT = "{output}"}}', "whole", ""),
        ('"curl-cffi"', "headers", ""),
    ],
)
def test_keys_or_an_account(tmp_path: pathlib.Path, client: str, captures: str, told: str) -> None:
    """Keys open whole packets alone; programs that quiclab knows leave what is needed."""
    text = changed(('client = "curl-cffi"', f"client = {client}"), ("seed = 7", f'seed = 7\ncaptures = "{captures}"'))
    found = unmeasured(study_of(tmp_path, text))
    assert [each[: len(told)] for each in found] == ([told] if told else [])
