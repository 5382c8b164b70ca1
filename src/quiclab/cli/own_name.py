# SPDX-License-Identifier: Apache-2.0
"""The name by which this program can be called from here, so that commands in hints and examples can be copied."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from functools import cache
from pathlib import Path

VERBS = (
    *(
        "ask",
        "plan",
        "run",
        "paper",
        "status",
        "merge",
        "report",
        "explain",
        "causes",
        "tune",
        "history",
        "compare",
        "figure",
        "methods",
        "view",
        "sql",
        "decode",
        "export",
        "trial",
        "bundle",
        "verify",
        "note",
    ),
    *("exclude", "exec", "link", "studies", "paths", "probe", "doctor", "conformance", "clean", "completion"),
)
"""Every verb, in the order in which the help lists them."""
_COMMAND = re.compile(rf"(?<![\w./-])quiclab (?=(?:{'|'.join(VERBS)})\b|--)")


def as_typed(text: str) -> str:
    """Return the text with each `quiclab VERB` in it as it must be typed here: `.venv/bin/quiclab VERB` where the shell
    does not find the program by its name alone."""
    return _COMMAND.sub(lambda _: f"{own_name()} ", text)


@cache
def own_name() -> str:
    """Return `quiclab` where a shell finds this program by it, else the command that started this program."""
    started = Path(sys.argv[0])
    if started.parts[-2:] in {("quiclab", "__main__.py"), ("cli", "main.py")}:
        return shlex.join([sys.executable, "-m", "quiclab"])
    found = shutil.which("quiclab")
    if started.name != "quiclab" or (found is not None and Path(found).resolve() == started.resolve()):
        return "quiclab"
    here = Path.cwd()
    return shlex.quote(str(started.relative_to(here) if started.is_relative_to(here) else started))
