# SPDX-License-Identifier: Apache-2.0
"""What `quiclab exec` refuses: each with a sentence that says what is wrong, and the documented exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from by_night import by_night
from live_link import in_sandbox
from small_study import quiclab

from quiclab.lab.testbed import _libc

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--", "no-such-command"], 127, "there is no command no-such-command"),
        (["--", "/etc/passwd"], 126, "/etc/passwd is not an executable file"),
        (["--server", "exit 3", "--", "true"], 3, "the server ended at start with exit code 3"),
        (["--tcp", "fastest", "--", "true"], 3, "--tcp fastest: this kernel offers"),
        (["--log", "/etc/passwd", "--", "true"], 3, "cannot write /etc/passwd"),
        ([], 2, "COMMAND: there is none"),
        *by_night(
            (["--server", "no-such-server", "--", "true"], 3, "the server ended at start with exit code 127"),
            (["--"], 2, "COMMAND: there is none"),
            (["--client", "true", "--", "true"], 2, "give one of them"),
            (["--internet", "--server", "x", "--", "true"], 2, "--internet: "),
            (["--backend", "netem", "--", "true"], 2, "invalid choice: 'netem'"),
            (["--lag", "50ms", "--", "true"], 2, "unrecognized arguments: --lag"),
        ),
    ],
)
def test_bad_input(options: list[str], code: int, words: str) -> None:
    """A sentence that says what is wrong, and the documented exit code."""
    done = quiclab("exec", *options)
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == code


def test_a_usual_command_that_is_not_here_comes_with_its_package(tmp_path: Path) -> None:
    """A machine without ping is told how it gets one; nothing is known of other names."""
    for command, hint in (("ping", "apt-get install -y iputils-ping"), ("no-such-command", None)):
        done = quiclab("exec", "--", command, before=("env", f"PATH={tmp_path}"))
        assert done.returncode == 127
        assert f"there is no command {command}" in done.stderr
        assert hint is None or hint in done.stderr
        assert (hint is not None) == ("hint: " in done.stderr)


def test_every_wrong_option_at_once() -> None:
    """One round is enough to mend a command line."""
    link = ("--rate=-3mbit", "--up-loss", "120%", "--mtu", "big", "--seed=-1")
    done = quiclab("exec", *link, "--client", "a", "--", "b")
    assert done.returncode == 2
    for option in ("--rate", "--up-loss", "--mtu", "--seed", "--client"):
        assert f"  {option}: " in done.stderr


def test_log_into_a_read_only_place(tmp_path: Path) -> None:
    """Said before anything starts."""

    def work() -> list[Any]:
        _libc.mount("tmpfs", str(tmp_path), "tmpfs", _libc.MS_RDONLY)
        done = [quiclab("exec", "--log", folder, "--", "echo", "ran") for folder in (tmp_path, tmp_path / "new")]
        return [[each.returncode, each.stdout, each.stderr] for each in done]

    for code, output, errors in in_sandbox(work):
        assert (code, output) == (3, "")
        assert f"cannot write {tmp_path}" in errors
        assert "Read-only" in errors
