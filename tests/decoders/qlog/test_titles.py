# SPDX-License-Identifier: Apache-2.0
"""Titles are what applications choose: a log's rows and its writer are the same under every title."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

from quiclab.logs.decoders import Context, FileTables, decoder_of

HERE = Path(__file__).parent
GOLDENS = sorted(HERE.glob("*.gz"))
TITLES = ("qlog title", "my quinn server", "a quiche client", "picoquic, really", "quic-go qlog")
_TITLE = re.compile(rb'"title"\s*:\s*"[^"]*"')


def _decoded(path: Path) -> FileTables:
    decoder = decoder_of(path)
    assert decoder is not None
    return decoder.decode(path, Context(realtime_minus_monotonic_ns=10**18))


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.name)
def test_rows_do_not_depend_on_the_title(golden: Path, title: str, tmp_path: Path) -> None:
    """Every table, what the program never logs, and the program's name."""
    told = json.dumps(title).encode()
    path = tmp_path / golden.name
    path.write_bytes(gzip.compress(_TITLE.sub(b'"title":' + told, gzip.decompress(golden.read_bytes()))))
    before, after = _decoded(golden), _decoded(path)
    assert (after.dialect, after.absent) == (before.dialect, before.absent)
    assert after.tables.keys() == before.tables.keys()
    for name, rows in before.tables.items():
        assert_frame_equal(after.tables[name], rows)
