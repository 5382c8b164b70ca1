# SPDX-License-Identifier: Apache-2.0
"""The command line offers what the registry holds."""

from __future__ import annotations

import pytest

from quiclab.cli.main import parser
from quiclab.logs.exports import EXPORTS
from quiclab.model.errors import SpecError


def test_every_format_is_offered_and_no_other() -> None:
    """The parser is made without loading the exports, so it names them itself."""
    for export in EXPORTS:
        assert parser().parse_args(["export", export.format, "x", "-o", "y"]).format == export.format
    with pytest.raises(SpecError, match="there is no format 'pdf'"):
        parser().parse_args(["export", "pdf", "x", "-o", "y"])


def test_every_export_says_what_it_writes() -> None:
    """In one sentence, under a name of its own."""
    assert len({export.format for export in EXPORTS}) == len(EXPORTS)
    assert all(export.writes for export in EXPORTS)
