# SPDX-License-Identifier: Apache-2.0
"""For tests that run as root: the same as a plain user, wherever this checkout and its Python are."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PLAIN_ID = 1000

_REACHABLE = """\
set -e
for folder in "$1" "$2" "$3"; do
    barrier=$(setpriv --reuid={id} --regid={id} --clear-groups sh -c '
        IFS=/; for part in ${1#/}; do path=$path/$part; [ -x "$path" ] || { echo "$path"; exit; }; done
        ' sh "$folder")
    [ -n "$barrier" ] || continue
    mkdir -p "$4"; mount --bind "$folder" "$4"
    mount -t tmpfs -o mode=755 none "$barrier"; mkdir -p "$folder"; mount --move "$4" "$folder"
done
shift 4
# A shell in between: it starts quiclab without the capabilities that setpriv itself still has.
exec setpriv --reuid={id} --regid={id} --clear-groups --inh-caps=-all sh -c 'exec "$@"' sh "$@"
""".replace("{id}", str(PLAIN_ID))


@contextmanager
def as_plain_user() -> Iterator[list[str]]:
    """What to put before a command: in a mount namespace of its own where Python can be reached."""
    places = [str(Path(each).resolve()) for each in (sys.prefix, sys.base_prefix, Path(__file__).parents[1])]
    with tempfile.TemporaryDirectory() as spare:
        yield ["unshare", "--mount", "--propagation=private", "sh", "-c", _REACHABLE, "sh", *places, spare]


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter and write."""
    folder = Path(tempfile.mkdtemp(prefix="quiclab-open-"))
    folder.chmod(0o777)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
