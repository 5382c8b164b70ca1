# SPDX-License-Identifier: Apache-2.0
"""The account that a recording of one end carries by itself, whatever it is: capture or log, of client or server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from quiclab.logs.decoders import Found, decode_files, find, finished
from quiclab.logs.decoders.sinks import InMemory
from quiclab.model.tables import TABLES
from quiclab.why.account.from_client import seen_by_client
from quiclab.why.account.from_netlog import seen_by_browser
from quiclab.why.account.from_server import seen_by_server
from quiclab.why.account.one_end import OneEnd, account_of_one_end
from quiclab.why.account.recorded import Transport

_LOGS_OF_QUIC = ("qlog",)


def account_of_tables(tables: dict[str, pl.DataFrame], transport: Transport) -> OneEnd:
    """The account of the only transfer in one recording. Raises Unknown where it cannot carry one."""
    sources = tables["sources"]
    logs = sources.filter(pl.col("format").is_in(_LOGS_OF_QUIC), pl.col("vantage") == "server")
    if logs.height and logs.height == sources.height:
        return account_of_one_end(seen_by_server(tables))
    if transport == "tcp" and sources["format"].to_list() == ["netlog"]:
        return account_of_one_end(seen_by_browser(tables))
    return account_of_one_end(seen_by_client(tables, transport))


def tables_of(found: Found) -> dict[str, pl.DataFrame]:
    """All tables of some logs. Raises what `decode_files` raises."""
    sink = InMemory()
    account = decode_files(found, sink)
    tables = {name: finished(name, sink, account).collect() for name, table in TABLES.items() if table.from_logs}
    return {**tables, **account.tables()}


def tables_of_files(files: Sequence[Path]) -> dict[str, pl.DataFrame]:
    """All tables of some files, key logs among them."""
    return tables_of(find((path, path.name) for path in files))
