# SPDX-License-Identifier: Apache-2.0
"""The command line as a whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from quiclab.cli.main import main, parser


@pytest.mark.parametrize("verb", ["plan", "run", "report", "exec", "doctor", "clean"])
def test_every_verb_teaches(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`--help` says more than the usage line."""
    with pytest.raises(SystemExit) as caught:
        parser().parse_args([verb, "--help"])
    assert caught.value.code == 0
    assert len(capsys.readouterr().out) > 300


def test_a_wrong_spec_is_told_without_a_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What happened, where, what to do; exit code 2."""
    spec = tmp_path / "spec.toml"
    spec.write_text("[study]\nname = 1\nblokcs = 3\n")
    assert main(["plan", str(spec)]) == 2
    told = capsys.readouterr().err
    assert "blokcs" in told
    assert "hint:" in told


def test_a_folder_that_is_no_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 4."""
    assert main(["report", str(tmp_path)]) == 4
    assert "ledger.sqlite" in capsys.readouterr().err


def test_ctrl_c_while_the_verbs_are_imported() -> None:
    """It ends the command as at any other time."""
    finder = "type('F', (), {'find_spec': staticmethod(lambda name, *_: interrupt(name))})"
    code = f"""if True:
        import os, signal, sys
        def interrupt(name):
            if name == "quiclab.cli.report":
                os.kill(os.getpid(), signal.SIGINT)
        sys.meta_path.insert(0, {finder})
        from quiclab.cli.main import main
        sys.exit(main(["--version"]))"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (130, "interrupted\n", "")
