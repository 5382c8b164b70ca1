# SPDX-License-Identifier: Apache-2.0
"""The file of `quiclab run --events FILE`; only light imports, as it is opened before the sandbox is entered."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from quiclab.cli.voice import documents
from quiclab.model.errors import HostError, SpecError


@contextmanager
def event_file(place: str | None, *, as_json: bool) -> Iterator[int | None]:
    """Open a file to add events to; `-` is standard output, None no file. Yields its descriptor.

    Raises HostError where it cannot be opened, SpecError where standard output is to be one document (`as_json`).
    """
    if place is None:
        yield None
        return
    if place == "-":
        if as_json:
            raise SpecError("--events - and --json both want standard output", "name a file: --events FILE")
        sys.stdout.flush()
        yield documents().fileno()
        return
    try:
        # Without O_NONBLOCK a pipe that nobody reads would be waited for.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK
        descriptor = os.open(place, flags, 0o644)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise HostError(f"cannot write events to {place}: nobody reads it", "start its reader first") from error
        told = f"cannot write events to {place or 'a file without a name'}: {error.strerror}"
        raise HostError(told, "name another file, or - for standard output") from error
    os.set_blocking(descriptor, True)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
