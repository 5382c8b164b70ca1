# SPDX-License-Identifier: Apache-2.0
"""Tables appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from quiclab.store.parquet import is_whole, write_parquet

TABLE = pl.DataFrame({"a": range(1000)})


def test_a_table_is_written_with_what_is_said_of_it(tmp_path: Path) -> None:
    """Nothing but the file is left."""
    file = tmp_path / "deep" / "a.parquet"
    write_parquet(TABLE, file, {"units": "{}"})
    assert pl.read_parquet(file, glob=False).equals(TABLE)
    assert pl.read_parquet_metadata(file)["units"] == "{}"
    assert [path.name for path in file.parent.iterdir()] == ["a.parquet"]


@pytest.mark.parametrize("length", [0, 3, 4, 8, 100, -1])
def test_half_a_table_is_not_whole(tmp_path: Path, length: int) -> None:
    """Cut anywhere."""
    file = tmp_path / "a.parquet"
    write_parquet(TABLE, file)
    assert is_whole(file)
    file.write_bytes(file.read_bytes()[:length])
    assert not is_whole(file)
    assert not is_whole(tmp_path / "nowhere.parquet")
    assert not is_whole(tmp_path)
