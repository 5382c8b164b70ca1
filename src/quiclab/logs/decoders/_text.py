# SPDX-License-Identifier: Apache-2.0
"""Logs of lines, plain or compressed by gzip."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

from quiclab.model.errors import DecodeError
from quiclab.store.packed_logs import opened

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
MAX_LINE = 1 << 20
"""Longest line: longer ones are no log's, so they are read in pieces of this length."""


def unread(path: Path, error: Exception) -> DecodeError:
    """The error about a file that cannot be read, with what to do."""
    denied = "permission denied" in str(error).lower()
    hint = "let this account read it" if denied else "the file is damaged, or of another format"
    return DecodeError(f"cannot decode {path}: {error}", hint)


@contextmanager
def lines_of(path: Path) -> Iterator[Iterator[str]]:
    """The lines of a file, without their ends. Raises DecodeError if it cannot be read."""
    try:
        with opened(path) as plain, TextIOWrapper(plain, errors="replace") as text:
            yield _lines(text)
    except (OSError, EOFError, zlib.error) as error:
        raise unread(path, error) from error


def read_json(text: str) -> Any:
    """A JSON text whose strings are all Unicode: half a surrogate pair, which JSON can write, becomes U+FFFD.

    Raises ValueError or RecursionError for what is no JSON, or nested too deep.
    """
    content = json.loads(text, strict=False)
    return _whole(content) if _SURROGATE.search(text) else content


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_whole(each) for each in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(each) for name, each in value.items()}
    return value


def _lines(text: TextIO) -> Iterator[str]:
    while line := text.readline(MAX_LINE):
        yield line.rstrip("\r\n")


def refuse(path: Path, what: str) -> DecodeError:
    """The error for a file in which no line is one of the format's."""
    return DecodeError(f"cannot decode {path}: no line is {what}", "the file is of another format")
