# SPDX-License-Identifier: Apache-2.0
"""Code that the endpoints of command-line clients share."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from quiclab.lab.endpoints._api import Available, BoundedRun, Command, Context, Unsupported
from quiclab.lab.endpoints._stacks import Launch, find_program, why_absent
from quiclab.project import MORE_PROGRAMS

INSTALL = MORE_PROGRAMS
_PROGRAM = Path(__file__).with_name("_cli_program.py")


def probe_cli(
    run: BoundedRun, started: Launch | None, name: str, version: Sequence[str], word: str = ""
) -> Available | Unsupported:
    """Ask a command for its version; without `word` in the answer the build will not do."""
    text = (
        run(["/usr/bin/env", *(f"{key}={value}" for key, value in started.env.items()), *started.argv, *version])
        if started
        else None
    )
    if started is None or not text:
        return Unsupported(why_absent(name, started), INSTALL)
    if word not in text:
        return Unsupported(f"{started.path} was built without {word}", INSTALL)
    number = re.search(r"\d+(\.\d+)+", text)
    return Available(number[0] if number else "unknown", started.path)


def cli_command(
    context: Context,
    name: str,
    arguments: Sequence[str],
    *,
    env: Mapping[str, str] = {},
    files: Mapping[Path, str] = {},
    body: Path | None = None,
    bodies: Sequence[Path] = (),
    http_version: str | None = None,
    writes_json: bool = False,
    exit_codes: Mapping[int, str] = {},
) -> Command:
    """Start the command through our small program, which times it.

    `body`: file in which the command leaves the body, if it cannot write to stdout. `http_version`: the only version
    that it speaks. `writes_json`: it ends with curl's account of itself on stderr. `exit_codes`: meaning of those that
    it leaves unexplained. `bodies`: files in which it leaves several objects; curl gives an account of each on stdout,
    while for other commands (`http_version`) only the times of all together are known.
    """
    started = find_program(name, context.program.prefix)
    job = context.work_dir / f"{context.output.stem}-job.json"
    settings = {
        "argv": [*(started.argv if started else (name,)), *arguments],
        "url": context.url,
        "urls": context.urls,
        "bodies": [str(each) for each in bodies],
        "protocol": context.protocol,
        "body": str(body) if body else None,
        "http_version": http_version,
        "json": writes_json,
        "exit_codes": {str(code): meaning for code, meaning in exit_codes.items()},
        "messages": str(context.output.with_suffix(".messages")),
        "output": str(context.output),
    }
    environment = {"HOME": str(context.work_dir), "TMPDIR": str(context.work_dir), **(started.env if started else {})}
    return Command(
        argv=(sys.executable, "-I", str(_PROGRAM), str(job)),
        env={**environment, **env},
        files={job: json.dumps(settings, indent=1), **files},
        waits_for_go=True,
        reports=True,
    )


def log_environment(context: Context) -> dict[str, str]:
    """QLOGDIR and SSLKEYLOGFILE, as OpenSSL, GnuTLS, ngtcp2 and curl know them."""
    env = {"QLOGDIR": str(context.qlog_dir)} if context.qlog_dir and context.protocol == "h3" else {}
    return env | ({"SSLKEYLOGFILE": str(context.keylog)} if context.keylog else {})
