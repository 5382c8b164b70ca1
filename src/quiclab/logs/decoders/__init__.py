# SPDX-License-Identifier: Apache-2.0
"""Log files to tables: one format a file, the heavy work in Rust.

`log_files.py` recognises files by content, `decode.py` decodes each into a sink (`sinks.py`: memory for a trial,
Parquet parts for `quiclab decode`), `joins.py`, `aligned.py` and `ciphertexts.py` find the same packet in several
sources, `placing.py`, `clocks.py` and `wall_clock.py` put every source on one clock, and `decode.finished` writes
instants by that clock, with their uncertainty (docs/explanation/one-clock.md). Not a row is lost in silence: what did
not become one is counted in the table `decode_stats`, and what a log cannot tell stands in `absent`. `trial.py`
decodes the folder of a trial, once.

Whatever the format, rows go to the same tables. A decoder of the crate reads its input as a stream; full chunks leave
while the file is still being read, so memory does not grow with the file. `_api.py` is the Protocol of a format.
"""

from __future__ import annotations

from quiclab.logs.decoders._api import Context, Decoder, End, FileTables, Finding
from quiclab.logs.decoders._registry import DECODERS
from quiclab.logs.decoders.decode import Account, decode_files, finished
from quiclab.logs.decoders.log_files import UNPACK_FIRST, Found, decoder_of, find, why_unread
from quiclab.logs.decoders.placing import Source
from quiclab.logs.decoders.sinks import ParquetParts
from quiclab.logs.decoders.trial import Decoded, decode_trial, with_verdict

__all__ = [
    "DECODERS",
    "UNPACK_FIRST",
    "Account",
    "Context",
    "Decoded",
    "Decoder",
    "End",
    "FileTables",
    "Finding",
    "Found",
    "ParquetParts",
    "Source",
    "decode_files",
    "decode_trial",
    "decoder_of",
    "find",
    "finished",
    "why_unread",
    "with_verdict",
]
