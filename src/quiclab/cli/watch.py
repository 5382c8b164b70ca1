# SPDX-License-Identifier: Apache-2.0
"""`quiclab run --watch`: the page of a run, served by a process of its own that ends with the run.

It hears of the run by a pipe, as a program does that reads `--events`, and computes only while nothing else wants to.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from quiclab.model.errors import HostError

_LAST_S = 3.0
"""Time after the run in which a browser can ask how it ended."""


@contextmanager
def watched(study: Path, *, asked: bool) -> Iterator[int | None]:
    """Serve the page while the context is open, where it is `asked` for, and print its address. Yields the descriptor
    that takes events. To be entered before the sandbox. Raises HostError where nothing can be served."""
    if not asked:
        yield None
        return
    server = subprocess.Popen(
        [sys.executable, "-m", "quiclab.cli.watch", str(study)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        address = server.stdout.readline().decode().strip()
        if not address:
            raise HostError("the page to watch the run cannot be served", "leave out --watch")
        print(f"watch: {address}", flush=True)
        os.set_blocking(server.stdin.fileno(), False)
        yield server.stdin.fileno()
    finally:
        with suppress(OSError):
            server.stdin.close()
        try:
            server.wait(2 * _LAST_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        server.stdout.close()


def _serve(study: Path) -> None:
    """Serve until standard input ends, and a moment longer."""
    from quiclab.cli.view_server import ViewServer
    from quiclab.store.layout import StudyDir

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the run, which then finishes what is under way
    with suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    running: dict[str, str] = {}
    server = ViewServer(StudyDir(study), running=lambda: list(running.values()))
    print(server.address, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for line in sys.stdin.buffer:
        try:
            event = json.loads(line)
        except ValueError:  # the pipe was full
            continue
        if event["event"] == "running":
            running[event["trial_id"]] = f"{event['cell_id']} {event['arm']} block {event['block']}"
        elif event["event"] == "ended":
            running.pop(event["trial_id"], None)
        elif event["event"] in ("began", "run_anew", "over"):
            running.clear()
    time.sleep(_LAST_S)


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
