# SPDX-License-Identifier: Apache-2.0
"""What goes wrong is told in a sentence, with the documented exit code."""

from __future__ import annotations

import errno
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from quiclab import __version__
from quiclab.cli.trouble import code_of
from quiclab.model.errors import DecodeError, ExitCode

QUICLAB = Path(sys.executable).with_name("quiclab")
PIPES = f"""
set -o pipefail
{QUICLAB} paths | head -c 1 >/dev/null && {QUICLAB} paths >&- && {QUICLAB} --version 2>&-
"""


def _raising(error: BaseException) -> Callable[[], int]:
    def work() -> int:
        raise error

    return work


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (DecodeError("no log", "another"), ExitCode.DECODE, "no log"),
        (KeyboardInterrupt(), ExitCode.INTERRUPTED, "interrupted"),
        (OSError(errno.EMFILE, "Too many open files", "x.json"), ExitCode.HOST, "ulimit -n"),
        (OSError(errno.EFBIG, "File too large"), ExitCode.HOST, "file system takes no larger file"),
        (FileNotFoundError(errno.ENOENT, "No such file", "st/trials"), ExitCode.HOST, "moved or removed"),
        (NotADirectoryError(errno.ENOTDIR, "Not a directory", ".work"), ExitCode.HOST, "in the way"),
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), ExitCode.HOST, "more processes"),
        (MemoryError(), ExitCode.HOST, "memory"),
    ],
)
def test_trouble_is_a_sentence(
    error: BaseException, code: ExitCode, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And never a traceback."""
    assert code_of(_raising(error)) == code
    said = capsys.readouterr().err
    assert told in said
    assert "Traceback" not in said


def test_a_mistake_of_quiclab_has_a_code_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    """Never 1, which says that a study is finished."""
    assert code_of(_raising(ZeroDivisionError("x"))) == ExitCode.CRASH == 70
    assert "please report" in capsys.readouterr().err


def test_an_error_that_came_of_an_interruption_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C in the import of a compiled module comes out as an ImportError."""

    def interrupted_import() -> int:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise ImportError("initialization failed")  # noqa: B904 - as the interpreter raises it

    assert code_of(interrupted_import, "interrupted: go on") == ExitCode.INTERRUPTED
    assert capsys.readouterr().err == "interrupted: go on\n"


def test_a_reader_that_goes_takes_nothing_with_it() -> None:
    """`| head`, and outputs that the caller has closed; with Python's buffers, and without."""
    for unbuffered in ("", "1"):
        done = subprocess.run(
            ["bash", "-c", PIPES],
            capture_output=True,
            text=True,
            check=False,
            env={"PYTHONUNBUFFERED": unbuffered, "PATH": "/usr/bin:/bin"},
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, f"quiclab {__version__}\n", "")


def test_an_output_that_is_full_is_told() -> None:
    """The answer is not there, so it was not done."""
    done = subprocess.run(["bash", "-c", f"{QUICLAB} paths >/dev/full"], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == ExitCode.HOST
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr
