# SPDX-License-Identifier: Apache-2.0
"""`quiclab view`: a study in a browser of this machine: how far it is, its report, and its trials' packets and logs."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from quiclab.cli.needed_tables import make_needed_tables
from quiclab.model.errors import ExitCode, HostError, SpecError
from quiclab.store.folder_lock import LOCK, holder_of
from quiclab.store.layout import StudyDir

_DESCRIPTION = """\
Serve one page about a study to the browsers of this machine, until Ctrl-C: while it runs how far it is, what runs and
what went wrong, without any result; when it has stopped its report, and every table of a trial's packets and logs with
search and SQL. The address holds a secret word, without which other accounts of this machine get nothing. For a browser
elsewhere, forward the port: ssh -L 8000:127.0.0.1:8000 HOST.
"""

_EPILOG = """\
examples:
  quiclab view studies/demo
  quiclab view studies/demo --port 8000
  quiclab run spec.toml --watch            the same page, with what runs now
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "view", help="show a study in a browser, while it runs or later", description=_DESCRIPTION, epilog=_EPILOG
    )
    parser.add_argument("study", type=Path, metavar="STUDY", help="study directory")
    parser.add_argument("--port", type=int, default=0, metavar="PORT", help="port (default: one that is free)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C. Raises DecodeError for what is no study, HostError where the port is taken."""
    from quiclab.cli.view_server import ViewServer
    from quiclab.compare.study_tables import open_study

    if not 0 <= arguments.port < 1 << 16:
        raise SpecError(f"{arguments.port} is no port", "name one from 1024 to 65535")
    study_dir = StudyDir(arguments.study.resolve())
    if holder_of(study_dir.root / LOCK) is None:
        make_needed_tables(study_dir.root)
        open_study(study_dir.root)
    try:
        server = ViewServer(study_dir, arguments.port)
    except OSError as error:
        told = f"cannot listen on port {arguments.port} of this machine: {os.strerror(error.errno or 0)}"
        raise HostError(told, "leave out --port: one that is free is taken") from error
    print(f"{server.address}\nCtrl-C ends it.")
    sys.stdout.flush()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()
    finally:
        server.server_close()
    return ExitCode.OK
