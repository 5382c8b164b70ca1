# SPDX-License-Identifier: Apache-2.0
"""The command line as a whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from synthetic_study import Shape, write_study

from quiclab.cli.main import main, parser
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger

_DEMO = Path(__file__).resolve().parents[3] / "experiments" / "demo" / "spec.toml"
_RECORDING = Path(__file__).parent / "recordings" / "h3-client.sqlog.gz"


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


@pytest.mark.parametrize(
    ("words", "lacks"),
    [
        (["--version"], ["quiclab.cli.plan", "polars", "numpy", "rich"]),
        (["status", "STUDY"], ["quiclab.cli.plan", "polars", "numpy", "duckdb", "scipy", "plotly"]),
        (
            ["sql", "STUDY", "SELECT 1"],
            ["quiclab.cli.plan", "quiclab.why", "numpy", "scipy", "plotly", "jinja2", "rich"],
        ),
        (["decode", "CAPTURE", "-o", "OUT"], ["quiclab.cli.plan", "scipy", "plotly", "duckdb", "jinja2"]),
        (["figure", "--list"], ["quiclab.cli.plan", "scipy", "duckdb", "jinja2"]),
    ],
)
def test_a_verb_imports_nothing_that_it_does_not_need(words: list[str], lacks: list[str], tmp_path: Path) -> None:
    """A command that tells little must not take a second; figures and decoders import what they all need."""
    study = write_study(tmp_path / "study", Shape())
    (study / "spec.toml").write_bytes(_DEMO.read_bytes())
    (study / "ledger.sqlite").unlink(missing_ok=True)
    with open_ledger(StudyDir(study)):
        pass
    known = {"STUDY": str(study), "CAPTURE": str(_RECORDING), "OUT": str(tmp_path / "out")}
    words = [known.get(word, word) for word in words]
    code = f"""if True:
        import contextlib, sys
        from quiclab.cli.main import main
        with contextlib.suppress(SystemExit):
            assert main({words!r}) == 0
        print("imported:", [name for name in {lacks!r} if name in sys.modules])"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "imported: []"


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
        sys.exit(main(["report", "nowhere"]))"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (130, "interrupted\n", "")
