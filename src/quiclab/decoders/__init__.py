# SPDX-License-Identifier: Apache-2.0
"""Log files to tables: one format a file, the heavy work in Rust."""

from __future__ import annotations

from quiclab.decoders._api import Context, Decoder, FileTables, Finding
from quiclab.decoders._registry import DECODERS
from quiclab.decoders.log_files import decoder_of
from quiclab.decoders.trial import Decoded, decode_trial

__all__ = ["DECODERS", "Context", "Decoded", "Decoder", "FileTables", "Finding", "decode_trial", "decoder_of"]
