# SPDX-License-Identifier: Apache-2.0
"""Log files to tables: one format a file, the heavy work in Rust."""

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
