# SPDX-License-Identifier: Apache-2.0
"""What the Tab key offers, asked by a real bash as it asks for any program."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from small_study import QUICLAB
from specs import SMALL, changed, written

from quiclab.cli.main import main

_ASK = """\
eval "$("$1" completion bash)"
COMP_LINE=$2 COMP_POINT=${#2} COMP_TYPE=9 COMP_CWORD=1 COMP_WORDS=(quiclab)
_python_argcomplete "$1"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def offered(words: str, folder: Path) -> set[str]:
    """What bash offers behind these words."""
    command = ["bash", "-c", _ASK, "bash", str(QUICLAB), f"{QUICLAB} {words}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    return {word.rstrip() for word in done.stdout.splitlines()}


def test_what_the_tab_key_offers(tmp_path: Path) -> None:
    """Verbs, options, files, figures, metrics, and what is in the spec or the study that is named."""
    written(tmp_path, SMALL)
    study = tmp_path / "study"
    study.mkdir()
    names = {"paths": ["near", "far"], "workloads": ["page"], "arms": ["tcp", "quic"]}
    resolved = {kind: [{"name": name} for name in of] for kind, of in names.items()}
    (study / "resolved.json").write_text(json.dumps(resolved))
    assert offered("re", tmp_path) == {"report"}
    assert offered("run --unt", tmp_path) == {"--until"}
    assert offered("run sp", tmp_path) == {"spec.toml"}
    assert offered("run spec.toml --cell ", tmp_path) == {"100KB/plain"}
    (tmp_path / "grid.toml").write_text(changed(('delay = "10 ms"', 'delay = ["10 ms", "20 ms"]')))
    assert offered("run grid.toml --cell ", tmp_path) == {"100KB/plain-10ms", "100KB/plain-20ms"}
    assert offered("compare study study --arm ", tmp_path) == {"tcp", "quic"}
    assert offered("figure window study --cell page/", tmp_path) == {"page/near", "page/far"}
    assert offered("figure seq", tmp_path) == {"sequence"}
    assert offered("report study --metric setup", tmp_path) == {"setup_ms"}
    assert offered("exec --profile lt", tmp_path) == {"lte"}
    assert offered("trial no-such.toml --cell ", tmp_path) <= {"", "spec.toml", "study/"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_its_lines(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """For the program by its name."""
    assert main(["completion", shell]) == 0
    assert "quiclab" in capsys.readouterr().out


def test_another_shell_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """With the nearest one."""
    assert main(["completion", "csh"]) == 2
    assert "did you mean zsh?" in capsys.readouterr().err
